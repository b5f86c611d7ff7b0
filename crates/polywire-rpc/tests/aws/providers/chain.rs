//! The default chain.

use polywire_rpc::aws::providers::DefaultChain;

use super::{environment, failed, found};
use crate::script::{Endpoint, Reply};

const KEYS: [(&str, &str); 2] = [
    ("AWS_ACCESS_KEY_ID", "ENV"),
    ("AWS_SECRET_ACCESS_KEY", "SECRET"),
];

#[tokio::test]
async fn the_first_that_is_configured_counts() {
    let endpoint = Endpoint::start(|_, _| {
        let answer = r#"{ "AccessKeyId": "CONTAINER", "SecretAccessKey": "SECRET", "Token": "t",
            "Expiration": "2199-01-01T00:00:00Z" }"#;
        Reply::Body(200, answer.to_owned())
    })
    .await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("credentials");
    let text = "[default]\naws_access_key_id = FILE\naws_secret_access_key = SECRET\n";
    std::fs::write(&file, text).unwrap();
    let file = ("AWS_SHARED_CREDENTIALS_FILE", file.to_str().unwrap());
    let container = ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*endpoint.url);
    for (variables, expected) in [
        (&[KEYS[0], KEYS[1], file, container][..], "ENV"),
        (&[file, container], "FILE"),
        (&[container], "CONTAINER"),
    ] {
        let chain = DefaultChain::from_environment(environment(variables));
        for _ in 0..2 {
            assert_eq!(found(&chain).await.access_key_id(), expected);
        }
    }
    // Asked once: the chain keeps credentials.
    assert_eq!(endpoint.requests().len(), 1);
    let variables = [KEYS[0], KEYS[1], file];
    let chain = DefaultChain::from_profile(environment(&variables), "default");
    assert_eq!(found(&chain).await.access_key_id(), "FILE");
}

#[tokio::test]
async fn a_provider_that_fails_ends_the_search() {
    let refused = "http://127.0.0.1:1";
    for (variables, reason) in [
        (
            &[KEYS[0], ("AWS_EC2_METADATA_DISABLED", "true")][..],
            "AWS_SECRET_ACCESS_KEY is missing",
        ),
        (&[("AWS_PROFILE", "none")], "there is no profile `none`"),
        (
            &[("AWS_WEB_IDENTITY_TOKEN_FILE", "f")],
            "web identity is not supported",
        ),
        (
            &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", refused)],
            "the container endpoint: http://127.0.0.1:1: connecting",
        ),
        (
            &[("AWS_EC2_METADATA_DISABLED", "true")],
            "from the default chain: the environment has no keys",
        ),
        (
            &[("AWS_EC2_METADATA_SERVICE_ENDPOINT", refused)],
            "no container endpoint; no credentials from the instance metadata service: http://127.0.0.1:1/latest/api/token: connecting",
        ),
    ] {
        let text = failed(&DefaultChain::from_environment(environment(variables))).await;
        assert!(text.contains(reason), "{text}");
    }
}
