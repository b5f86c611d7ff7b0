//! Signatures, `aws-chunked` and checksums between our client and our server.
#![cfg(feature = "aws")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod endpoints;
mod providers;
mod requests;
mod retries;
mod script;
mod support;
mod waiters;

use bytes::Bytes;
use polywire_aws::signature::Credentials;
use polywire_rpc::CallErrorKind;
use polywire_rpc::aws::{Algorithm, Calculation, SignatureAuthenticator, Signer};
use polywire_schema::{ByteStream, Map, StreamErrorKind, Value};

use self::support::{BYTES, KEY, Site, keys, pieces, put, within};

#[tokio::test]
async fn bodies_in_memory_are_signed_and_have_checksums() {
    let site = Site::start(SignatureAuthenticator::s3(keys()).with_region("eu-west-1")).await;
    let client = site.client(Signer::new(KEY(), "eu-west-1", "s3"));
    for algorithm in [
        None,
        Some("CRC64NVME"),
        Some("SHA1"),
        Some("SHA256"),
        Some("CRC32C"),
    ] {
        let mut input = put("a b/ö", Value::Blob(b"hello".as_slice().into()));
        if let Some(algorithm) = algorithm {
            input.insert("algorithm", algorithm);
        }
        let output = within(client.call("Put", input)).await.unwrap();
        assert_eq!(output["caller"].as_str(), Some("AKIDEXAMPLE"));
        assert_eq!(output["length"].as_i64(), Some(5));
        // CRC-32 of `hello`, as the server has computed it.
        let expected = algorithm.is_none().then_some("NhCmhg==");
        assert_eq!(output["crc32"].as_str(), expected, "{algorithm:?}");
    }
}

#[tokio::test]
async fn streams_are_sent_in_signed_chunks() {
    let site = Site::start(SignatureAuthenticator::s3(keys())).await;
    for calculation in [Calculation::WhenSupported, Calculation::WhenRequired] {
        let signer = Signer::new(KEY(), "us-east-1", "s3").with_request_checksums(calculation);
        let client = site.client(signer);
        let mut input = put("a", ByteStream::with_len(pieces(300), 300 * BYTES as u64));
        input.insert("encoding", "gzip");
        let output = within(client.call("Put", input)).await.unwrap();
        assert_eq!(output["length"].as_i64(), Some(300 * BYTES as i64));
        assert_eq!(output["encoding"].as_str(), Some("gzip"));
        let has_checksum = calculation == Calculation::WhenSupported;
        assert_eq!(output["crc32"].as_str().is_some(), has_checksum);
    }
    let client = site.client(Signer::new(KEY(), "us-east-1", "s3"));
    let error = within(client.call("Put", put("a", ByteStream::new(pieces(3))))).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Encode);
    assert!(error.to_string().contains("known length"), "{error}");
}

#[tokio::test]
async fn a_server_without_keys_decodes_chunks() {
    let site = Site::without_keys().await;
    let client = site.client(Signer::new(KEY(), "us-east-1", "s3"));
    let input = put("a", ByteStream::with_len(pieces(3), 3 * BYTES as u64));
    let output = within(client.call("Put", input)).await.unwrap();
    assert_eq!(output["length"].as_i64(), Some(3 * BYTES as i64));
    assert_eq!(output["caller"].as_str(), Some("nobody"));
}

#[tokio::test]
async fn wrong_signatures_are_rejected_with_the_errors_of_s3() {
    let site = Site::start(SignatureAuthenticator::s3(keys()).with_region("us-east-1")).await;
    let other = Credentials::new("AKIDOTHER", "secret");
    let wrong = Credentials::new("AKIDEXAMPLE", "not the secret");
    for (credentials, region, code) in [
        (other, "us-east-1", "InvalidAccessKeyId"),
        (wrong, "us-east-1", "SignatureDoesNotMatch"),
        (KEY(), "eu-west-1", "AuthorizationHeaderMalformed"),
    ] {
        let client = site.client(Signer::new(credentials, region, "s3"));
        let error = within(client.call("Get", Map::from_iter([("key", "a")])))
            .await
            .unwrap_err();
        let text = error.to_string();
        let fault = error.into_fault().unwrap();
        assert_eq!(fault.name(), code, "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    let client = site.plain_client();
    let error = within(client.call("Get", Map::from_iter([("key", "a")])))
        .await
        .unwrap_err();
    assert_eq!(error.into_fault().unwrap().name(), "AccessDenied");
}

#[tokio::test]
async fn damaged_bodies_never_reach_the_end() {
    let site = Site::start(SignatureAuthenticator::s3(keys())).await;
    // A request as the client signs it, with one byte changed.
    let stream = ByteStream::with_len(pieces(3), 3 * BYTES as u64);
    for at in [200, 100_000] {
        let request = site.signed("Put", put("a", stream_of(&stream))).await;
        let reply = within(site.send_damaged(request, at)).await;
        assert!(
            reply.contains("<Code>SignatureDoesNotMatch</Code>"),
            "{reply}"
        );
        assert_eq!(site.completed(), 0);
    }
    // A wrong checksum of a body in memory.
    let mut request = site
        .signed("Put", put("a", Value::Blob(b"hello".as_slice().into())))
        .await;
    *request.body_mut() = Bytes::from_static(b"jello");
    let reply = within(site.send(request)).await;
    assert!(
        reply.contains("<Code>XAmzContentSHA256Mismatch</Code>"),
        "{reply}"
    );
    assert_eq!(site.completed(), 0);
}

/// A new stream of the same bytes: each can be read once.
fn stream_of(stream: &ByteStream) -> ByteStream {
    ByteStream::with_len(pieces(3), stream.len().unwrap())
}

#[tokio::test]
async fn services_without_a_hash_in_the_head_verify_the_body() {
    let authenticator = SignatureAuthenticator::service("example", keys());
    let site = Site::start(authenticator).await;
    let client = site.client(Signer::new(KEY(), "us-east-1", "example"));
    let input = Map::from_iter([("name", "ada")]);
    let output = within(client.call("Describe", input.clone()))
        .await
        .unwrap();
    assert_eq!(output["name"].as_str(), Some("ada"));
    let mut request = site.signed_for("example", "Describe", input).await;
    let text = String::from_utf8(request.body().to_vec()).unwrap();
    *request.body_mut() = Bytes::from(text.replace("ada", "eve"));
    let reply = within(site.send(request)).await;
    assert!(reply.contains("Signature"), "{reply}");
    assert!(!reply.contains("eve"), "{reply}");
}

#[tokio::test]
async fn nothing_starts_before_a_signature_over_the_body_is_verified() {
    let site = Site::start(SignatureAuthenticator::service("example", keys())).await;
    // A signature that is wrong, with a body whose hash is not in the head.
    let forge = |mut request: http::Request<Bytes>, path: &str| {
        let value = request.headers()["authorization"]
            .to_str()
            .unwrap()
            .to_owned();
        let (head, _) = value.split_at(value.len() - 64);
        let value = format!("{head}{}", "0".repeat(64));
        request
            .headers_mut()
            .insert("authorization", value.parse().unwrap());
        request.headers_mut().remove("x-amz-content-sha256");
        let uri = format!("http://{}{path}", request.uri().authority().unwrap());
        *request.uri_mut() = uri.parse().unwrap();
        request
    };
    let input = || put("a", Value::Blob(b"hello".as_slice().into()));
    let signed = || site.signed_for("example", "Put", input());
    // A handler that reads the body itself, a page, and a request without a body.
    let reply = within(site.send(forge(signed().await, "/a"))).await;
    assert!(
        reply.starts_with("HTTP/1.1 4") && reply.contains("ignature"),
        "{reply}"
    );
    assert_eq!(site.completed(), 0);
    let reply = within(site.send(forge(signed().await, "/_polywire/metrics"))).await;
    assert!(reply.starts_with("HTTP/1.1 403"), "{reply}");
    let input = Map::from_iter([("key", "a")]);
    let request = site.signed_for("example", "Get", input).await;
    let reply = within(site.send(forge(request, "/a"))).await;
    assert!(reply.starts_with("HTTP/1.1 4"), "{reply}");
    // The right signature is accepted.
    let reply = within(site.send(signed().await)).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert_eq!(site.completed(), 1);
}

#[tokio::test]
async fn checksums_of_responses_are_checked() {
    let site = Site::start(SignatureAuthenticator::s3(keys())).await;
    let client = site.client(Signer::new(KEY(), "us-east-1", "s3"));
    // The server returns the body `hello`, and the checksum that the key names.
    let call = |key: &str| client.call_streaming("Get", Map::from_iter([("key", key)]));
    for (key, is_right) in [("NhCmhg==", true), ("NhCmhw==", false)] {
        let Value::Map(mut output) = within(call(key)).await.unwrap() else {
            panic!()
        };
        let body = output.remove("body").and_then(Value::into_stream).unwrap();
        match (within(body.collect(100)).await, is_right) {
            (Ok(bytes), true) => assert_eq!(bytes.as_bytes(), b"hello"),
            (Err(error), false) => assert_eq!(error.kind(), StreamErrorKind::Corrupt),
            (other, _) => panic!("{key}: {other:?}"),
        }
    }
    let error = within(client.call("Get", Map::from_iter([("key", "NhCmhw==")]))).await;
    assert_eq!(error.unwrap_err().kind(), CallErrorKind::Decode);
    let lenient = Signer::new(KEY(), "us-east-1", "s3")
        .with_response_checksums(Calculation::WhenRequired)
        .with_default_algorithm(Algorithm::Crc64Nvme);
    let client = site.client(lenient);
    within(client.call("Get", Map::from_iter([("key", "a")])))
        .await
        .unwrap();
}
