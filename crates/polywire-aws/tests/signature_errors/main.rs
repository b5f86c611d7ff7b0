//! Requests that must be rejected, and what services answer.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

mod keys;
mod malformed;
mod rules;

use std::time::Duration;

use http::request::Parts;
use polywire_aws::signature::*;
use polywire_text::Timestamp;

const SECRET: &str = "a secret that must not leak";
const TOKEN: &str = "a-token-that-must-not-leak";

fn credentials() -> Credentials {
    Credentials::new("AKIDEXAMPLE", SECRET)
}

fn time() -> SigningTime {
    SigningTime::parse("20150830T123600Z").unwrap()
}

fn now() -> Timestamp {
    Timestamp::new(time().seconds(), 0)
}

fn key_of(credentials: &Credentials) -> SigningKey {
    SigningKey::derive(credentials, time().date(), "us-east-1", "s3")
}

fn unsigned() -> Parts {
    let request = http::Request::get("https://bucket.example.com/key?list-type=2&prefix=a%20b");
    request
        .header("x-amz-meta-a", "1")
        .body(())
        .unwrap()
        .into_parts()
        .0
}

fn signed_with(credentials: &Credentials, payload: Payload) -> Parts {
    let mut parts = unsigned();
    sign_request(
        &mut parts,
        payload,
        &key_of(credentials),
        &Settings::S3,
        time(),
    )
    .unwrap();
    parts
}

fn signed() -> Parts {
    signed_with(&credentials(), Payload::of(b""))
}

fn presigned() -> Parts {
    let mut parts = unsigned();
    let hour = Duration::from_secs(3600);
    let key = key_of(&credentials());
    presign_request(
        &mut parts,
        Payload::Unsigned,
        &key,
        &Settings::S3,
        time(),
        hour,
    )
    .unwrap();
    parts
}

fn verifier() -> Verifier {
    Verifier::s3().with_region("us-east-1")
}

fn verify_at(parts: &Parts, now: Timestamp) -> Result<VerifiedRequest, SignatureError> {
    let request = SignedRequest::parse(parts)?;
    verifier().verify(&request, &request.signing_key(&credentials()), now, None)
}

fn error(parts: &Parts) -> SignatureError {
    let error = verify_at(parts, now()).unwrap_err();
    let texts = format!("{error} {error:?}");
    assert!(!texts.contains(SECRET) && !texts.contains(TOKEN), "{texts}");
    error
}

#[track_caller]
fn assert_error(parts: &Parts, kind: ErrorKind, s3: &str, status: u16) {
    let error = error(parts);
    assert_eq!(error.kind(), kind, "{error}");
    assert_eq!(error.code(ErrorDialect::S3), s3);
    assert_eq!(error.status(ErrorDialect::S3).as_u16(), status);
}

fn with_header(mut parts: Parts, name: &'static str, value: &str) -> Parts {
    parts.headers.insert(name, value.parse().unwrap());
    parts
}

fn authorization(change: impl Fn(&str) -> String) -> Parts {
    let parts = signed();
    let value = change(parts.headers["authorization"].to_str().unwrap());
    with_header(parts, "authorization", &value)
}

fn query(change: impl Fn(&str) -> String) -> Parts {
    let mut parts = presigned();
    parts.uri = change(&parts.uri.to_string()).parse().unwrap();
    parts
}
