//! Presigned URLs, and headers of the SDKs.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::header::USER_AGENT;
use polywire_protocol::ProtocolKind;
use polywire_rpc::Client;
use polywire_rpc::aws::{SignatureAuthenticator, Signer};
use polywire_schema::{ByteStream, Map, Value};

use crate::script::{Endpoint, Reply};
use crate::support::{BYTES, KEY, Site, keys, pieces, put, service, within};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn presigned_urls_are_accepted() {
    let site = Site::start(SignatureAuthenticator::s3(keys()).with_region("eu-west-1")).await;
    let signer = Signer::new(KEY(), "eu-west-1", "s3");
    let client = site.plain_client();
    let input = Map::from_iter([("key", "a b")]);
    let get = within(signer.presign(&client, "Get", input, MINUTE))
        .await
        .unwrap();
    let uri = get.uri().to_string();
    assert!(
        uri.contains("X-Amz-Expires=60") && !uri.contains("wJalrXUtnFEMI"),
        "{uri}"
    );
    // A browser needs no header but the host.
    assert!(
        get.headers().keys().all(|name| name == "content-type"),
        "{:?}",
        get.headers()
    );
    let reply = within(site.send(get)).await;
    assert!(
        reply.starts_with("HTTP/1.1 200") && reply.contains("hello"),
        "{reply}"
    );
    // Any body can be sent.
    let empty = Value::Blob(b"".as_slice().into());
    let mut request = within(signer.presign(&client, "Put", put("a", empty), MINUTE))
        .await
        .unwrap();
    *request.body_mut() = Bytes::from_static(b"hello");
    let reply = within(site.send(request)).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert_eq!(site.completed(), 1);
    // Another key is not signed.
    let input = Map::from_iter([("key", "a")]);
    let mut request = within(signer.presign(&client, "Get", input.clone(), MINUTE))
        .await
        .unwrap();
    let other = request.uri().to_string().replace("/a?", "/b?");
    *request.uri_mut() = other.parse().unwrap();
    let reply = within(site.send(request)).await;
    assert!(reply.contains("SignatureDoesNotMatch"), "{reply}");
    for expires in [Duration::ZERO, Duration::from_secs(8 * 24 * 3600)] {
        let error = within(signer.presign(&client, "Get", input.clone(), expires)).await;
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("1 second to 7 days")
        );
    }
}

#[tokio::test]
async fn other_services_sign_the_body_of_presigned_urls() {
    let site = Site::start(SignatureAuthenticator::service("example", keys())).await;
    let signer = Signer::new(KEY(), "us-east-1", "example");
    let input = Map::from_iter([("name", "ada")]);
    let client = site.plain_client();
    let request = within(signer.presign(&client, "Describe", input, MINUTE))
        .await
        .unwrap();
    assert!(!request.body().is_empty());
    let reply = within(site.send(request)).await;
    assert!(reply.contains("ada"), "{reply}");
    let stream = ByteStream::with_len(pieces(1), BYTES as u64);
    let error = within(signer.presign(&client, "Put", put("a", stream), MINUTE)).await;
    assert!(error.unwrap_err().to_string().contains("a body in memory"));
}

#[tokio::test]
async fn user_agents() {
    let server = Endpoint::start(|_, _| Reply::Body(200, String::new())).await;
    let builder = || {
        Client::builder(service(), ProtocolKind::RestXml).interceptor(Signer::new(
            KEY(),
            "us-east-1",
            "s3",
        ))
    };
    let own = builder().header(USER_AGENT, HeaderValue::from_static("own/1"));
    for client in [builder(), own] {
        let client = client.connect(&server.url).unwrap();
        let input = Map::from_iter([("key", "a")]);
        within(client.call("Get", input)).await.unwrap();
    }
    let [default, own] = &*server.requests() else {
        panic!()
    };
    let version = env!("CARGO_PKG_VERSION");
    let long = format!("\r\nuser-agent: polywire/{version} ua/2.1 os/");
    assert!(
        default.contains(&long) && default.contains(" lang/rust api/s3\r\n"),
        "{default}"
    );
    let short = format!("\r\nx-amz-user-agent: polywire/{version} api/s3\r\n");
    assert!(default.contains(&short), "{default}");
    assert!(default.contains(";x-amz-user-agent"), "{default}");
    assert!(
        own.contains("\r\nuser-agent: own/1\r\n") && !own.contains("x-amz-user-agent"),
        "{own}"
    );
}

/// S3 sends the status before it knows the result, and then white space until it does.
#[tokio::test]
async fn errors_in_responses_with_the_status_200() {
    let error = "<Error><Code>SlowDown</Code><Message>m</Message></Error>";
    let space = " \n".repeat(5000);
    let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    for body in [
        error.to_owned(),
        format!("{declaration}\n{error}"),
        format!("{declaration}{space}{error}"),
        format!("{space}{error}"),
    ] {
        let reply = body.clone();
        let server = Endpoint::start(move |_, _| Reply::Body(200, reply.clone())).await;
        let client = Client::builder(service(), ProtocolKind::RestXml);
        let client = client.connect(&server.url).unwrap();
        let input = Map::from_iter([("key", "a")]);
        let error = within(client.call("Copy", input)).await.unwrap_err();
        let fault = error.fault().unwrap();
        assert_eq!(fault.name(), "SlowDown", "{body:.80}");
    }
}

/// Streams of operations with `@requestCompression` are compressed while they are sent.
#[tokio::test]
async fn streams_are_compressed() {
    use std::io::Read as _;
    let server = Endpoint::start(|_, _| Reply::Body(200, String::new())).await;
    let client = Client::builder(service(), ProtocolKind::RestXml);
    let client = client.connect(&server.url).unwrap();
    let text = b"hello ".repeat(100_000);
    let in_memory = ByteStream::from(polywire_schema::Blob::from(&*text));
    let pieces = ByteStream::with_len(pieces(20), 20 * BYTES as u64);
    let mut expected = Vec::new();
    for number in (0..20_u8).rev() {
        expected.resize(expected.len() + BYTES, number);
    }
    for (stream, expected, has_length) in [(in_memory, text, true), (pieces, expected, false)] {
        let input = Map::from_iter([("body", Value::from(stream))]);
        within(client.call("Log", input)).await.unwrap();
        let (head, body) = server.last();
        assert!(head.contains("\r\ncontent-encoding: gzip\r\n"), "{head}");
        assert_eq!(head.contains("\r\ncontent-length: "), has_length, "{head}");
        assert!(body.len() < 20_000, "{}", body.len());
        let mut decoded = Vec::new();
        flate2::read::GzDecoder::new(&*body)
            .read_to_end(&mut decoded)
            .unwrap();
        assert!(decoded == expected);
    }
    // A source that fails never has the end of a gzip file.
    let short = ByteStream::with_len(self::pieces(1), 2 * BYTES as u64);
    let input = Map::from_iter([("body", Value::from(short))]);
    let before = server.requests().len();
    within(client.call("Log", input)).await.unwrap_err();
    assert_eq!(server.requests().len(), before);
}
