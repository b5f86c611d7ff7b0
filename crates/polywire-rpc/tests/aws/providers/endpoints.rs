//! The endpoints of containers and instances.

use polywire_rpc::aws::providers::{ContainerProvider, InstanceMetadataProvider};

use super::{environment, failed, found};
use crate::script::{Endpoint, Reply};

const ANSWER: &str = r#"{ "Code": "Success", "AccessKeyId": "AKID", "SecretAccessKey": "SECRET",
    "Token": "SECRET token", "Expiration": "2199-01-01T00:00:00Z" }"#;
const FULL_URI: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
const TOKEN: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
const TOKEN_FILE: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";

fn body(status: u16, text: &str) -> Reply {
    Reply::Body(status, text.to_owned())
}

#[tokio::test]
async fn containers_send_their_token() {
    let endpoint = Endpoint::start(|_, _| body(200, ANSWER)).await;
    let url = format!("{}/creds?id=1", endpoint.url);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "from-file").unwrap();
    let path = file.path().to_str().unwrap();
    let provider = ContainerProvider::new(environment(&[
        (FULL_URI, &url),
        (TOKEN, "from-variable"),
        (TOKEN_FILE, path),
    ]));
    let credentials = found(&provider).await;
    assert_eq!(credentials.access_key_id(), "AKID");
    assert_eq!(credentials.session_token(), Some("SECRET token"));
    // The file is read again.
    std::fs::write(file.path(), "rotated").unwrap();
    found(&provider).await;
    let provider = ContainerProvider::new(environment(&[(FULL_URI, &url), (TOKEN, "own")]));
    found(&provider).await;
    let requests = endpoint.requests();
    let tokens = ["from-file", "rotated", "own"];
    for (request, token) in requests.iter().zip(tokens) {
        assert!(
            request.starts_with("GET /creds?id=1 HTTP/1.1\r\n"),
            "{request}"
        );
        assert!(
            request.contains(&format!("authorization: {token}\r\n")),
            "{request}"
        );
    }
    assert_eq!(requests.len(), tokens.len());
    // A token that would be two headers is not sent.
    std::fs::write(file.path(), "SECRET\r\nx-evil: 1").unwrap();
    let provider = ContainerProvider::new(environment(&[(FULL_URI, &url), (TOKEN_FILE, path)]));
    let text = failed(&provider).await;
    assert!(text.contains("the token has a line break"), "{text}");
    let provider =
        ContainerProvider::new(environment(&[(FULL_URI, &url), (TOKEN_FILE, "/no/such")]));
    assert!(
        failed(&provider)
            .await
            .contains("there is no file /no/such")
    );
    assert_eq!(endpoint.requests().len(), tokens.len());
}

#[tokio::test]
async fn container_endpoints_are_checked_and_tried_again() {
    for (url, reason) in [
        (
            "http://example.com/",
            "neither this machine nor one of containers",
        ),
        ("ftp://127.0.0.1/", "is not valid"),
    ] {
        let text = failed(&ContainerProvider::new(environment(&[(FULL_URI, url)]))).await;
        assert!(
            text.starts_with("no credentials from the container endpoint: "),
            "{text}"
        );
        assert!(text.contains(reason), "{text}");
    }
    let endpoint = Endpoint::start(|_, number| match number {
        0 => Reply::Close,
        1 => body(500, "SECRET"),
        _ => body(200, ANSWER),
    })
    .await;
    let provider = ContainerProvider::new(environment(&[(FULL_URI, &endpoint.url)]));
    found(&provider).await;
    assert_eq!(endpoint.requests().len(), 3);
    for (status, answer, reason) in [
        (
            403,
            r#"{"code":"AccessDenied","message":"SECRET"}"#,
            "the error `AccessDenied`",
        ),
        (404, "SECRET", "the status 404"),
        (200, "SECRET", "is not a JSON object"),
        (503, "SECRET", "the status 503"),
    ] {
        let endpoint = Endpoint::start(move |_, _| body(status, answer)).await;
        let text = failed(&ContainerProvider::new(environment(&[(
            FULL_URI,
            &endpoint.url,
        )])))
        .await;
        assert!(text.contains(reason), "{text}");
    }
}

/// A metadata service.
fn metadata(head: &str, answer: &str) -> Reply {
    let line = head.lines().next().unwrap();
    let has_token = head.contains("x-aws-ec2-metadata-token: the-token\r\n");
    match line {
        "PUT /latest/api/token HTTP/1.1" => {
            assert!(
                head.contains("x-aws-ec2-metadata-token-ttl-seconds: 21600\r\n"),
                "{head}"
            );
            body(200, "the-token")
        }
        _ if !has_token => body(401, ""),
        "GET /latest/meta-data/iam/security-credentials/ HTTP/1.1" => body(200, "role-1\n"),
        "GET /latest/meta-data/iam/security-credentials/role-1 HTTP/1.1" => body(200, answer),
        _ => body(404, ""),
    }
}

const METADATA: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT";

#[tokio::test]
async fn instances_use_version_2() {
    let endpoint = Endpoint::start(|head, _| metadata(head, ANSWER)).await;
    let url = format!("{}/", endpoint.url);
    let provider = InstanceMetadataProvider::new(environment(&[(METADATA, &url)]));
    assert_eq!(found(&provider).await.access_key_id(), "AKID");
    assert_eq!(endpoint.requests().len(), 3);
    // Without a token there is no second form of the request.
    let old = Endpoint::start(|_, _| body(404, "")).await;
    let provider = InstanceMetadataProvider::new(environment(&[(METADATA, &old.url)]));
    assert!(failed(&provider).await.contains("the status 404"));
    assert_eq!(old.requests().len(), 1);
}

#[tokio::test]
async fn expired_credentials_of_instances_are_used_for_some_minutes() {
    let expired = ANSWER.replace("2199", "2001");
    let endpoint = Endpoint::start(move |head, _| metadata(head, &expired)).await;
    let provider = InstanceMetadataProvider::new(environment(&[(METADATA, &endpoint.url)]));
    let expiry = found(&provider).await.expiry().unwrap().seconds();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64;
    assert!((now + 500..=now + 600).contains(&expiry));
}

#[tokio::test]
async fn settings_of_instances() {
    let silent = Endpoint::start(|_, number| match number {
        0 | 1 => Reply::Silence,
        _ => Reply::Close,
    })
    .await;
    let provider = InstanceMetadataProvider::new(environment(&[
        (METADATA, &silent.url),
        ("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "3"),
    ]));
    let started = std::time::Instant::now();
    let text = failed(&provider).await;
    assert!(text.contains("the instance metadata service"), "{text}");
    assert!(started.elapsed().as_millis() >= 2000);
    assert_eq!(silent.requests().len(), 3);
    for (name, value, reason) in [
        (
            "AWS_EC2_METADATA_DISABLED",
            "TRUE",
            "AWS_EC2_METADATA_DISABLED is true",
        ),
        (
            "AWS_METADATA_SERVICE_TIMEOUT",
            "0",
            "AWS_METADATA_SERVICE_TIMEOUT: expected a number",
        ),
    ] {
        let provider =
            InstanceMetadataProvider::new(environment(&[(METADATA, &silent.url), (name, value)]));
        assert!(failed(&provider).await.contains(reason));
    }
    assert_eq!(silent.requests().len(), 3);
}
