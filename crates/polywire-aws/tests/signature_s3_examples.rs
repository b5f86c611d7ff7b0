//! The examples of the Amazon S3 API reference: "Examples: Signature calculations", "Authenticating
//! requests: using query parameters", "Signature calculations ... chunked upload", "... trailing
//! headers", and "Example: browser-based upload using HTTP POST".
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::time::Duration;

use http::request::Parts;
use polywire_aws::signature::*;
use polywire_text::Timestamp;

const HOST: &str = "examplebucket.s3.amazonaws.com";

fn credentials() -> Credentials {
    Credentials::new(
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    )
}

fn time() -> SigningTime {
    SigningTime::parse("20130524T000000Z").unwrap()
}

fn now() -> Timestamp {
    Timestamp::new(time().seconds(), 0)
}

fn key() -> SigningKey {
    SigningKey::derive(&credentials(), time().date(), "us-east-1", "s3")
}

fn head(method: &str, uri: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = http::Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

/// Signs a request, compares the signature, and verifies it.
fn check(mut parts: Parts, payload: Payload, names: &str, expected: &str) -> VerifiedRequest {
    let signature = sign_request(&mut parts, payload, &key(), &Settings::S3, time()).unwrap();
    let value = format!(
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
         SignedHeaders={names}, Signature={expected}",
    );
    assert_eq!(parts.headers["authorization"], value);
    assert_eq!(signature.as_str(), expected);
    let request = SignedRequest::parse(&parts).unwrap();
    let key = request.signing_key(&credentials());
    let verifier = Verifier::s3().with_region("us-east-1");
    let verified = verifier.verify(&request, &key, now(), None).unwrap();
    assert_eq!(verified.payload(), payload);
    assert_eq!(verified.access_key_id(), "AKIAIOSFODNN7EXAMPLE");
    assert_eq!(
        verified.scope().as_str(),
        "20130524/us-east-1/s3/aws4_request"
    );
    assert_eq!(
        verified.signed_headers().collect::<Vec<_>>().join(";"),
        names
    );
    verified
}

#[test]
fn get_object_with_range() {
    check(
        head(
            "GET",
            "/test.txt",
            &[("host", HOST), ("range", "bytes=0-9")],
        ),
        Payload::of(b""),
        "host;range;x-amz-content-sha256;x-amz-date",
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
}

#[test]
fn put_object() {
    let headers = [
        ("host", HOST),
        ("date", "Fri, 24 May 2013 00:00:00 GMT"),
        ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
    ];
    check(
        head("PUT", "/test$file.text", &headers),
        Payload::of(b"Welcome to Amazon S3."),
        "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    );
}

#[test]
fn get_bucket_lifecycle() {
    check(
        head("GET", "/?lifecycle", &[("host", HOST)]),
        Payload::of(b""),
        "host;x-amz-content-sha256;x-amz-date",
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    );
}

#[test]
fn list_objects() {
    // The host is that of the URI, without its port.
    check(
        head(
            "GET",
            &format!("https://{HOST}:443/?max-keys=2&prefix=J"),
            &[],
        ),
        Payload::of(b""),
        "host;x-amz-content-sha256;x-amz-date",
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    );
}

#[test]
fn presigned_get() {
    let mut parts = head("GET", &format!("https://{HOST}/test.txt"), &[]);
    let day = Duration::from_secs(86400);
    let (payload, settings) = (Payload::Unsigned, Settings::S3);
    presign_request(&mut parts, payload, &key(), &settings, time(), day).unwrap();
    let expected = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
    assert_eq!(
        parts.uri.to_string(),
        format!(
            "https://{HOST}/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=\
             AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
             &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
             &X-Amz-Signature={expected}"
        )
    );
    let request = SignedRequest::parse(&parts).unwrap();
    let key = request.signing_key(&credentials());
    let at = |seconds| Timestamp::new(time().seconds() + seconds, 0);
    let verifier = Verifier::s3();
    verifier.verify(&request, &key, at(86399), None).unwrap();
    let error = verifier
        .verify(&request, &key, at(86400), None)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Expired);
}

fn put_in_chunks(payload: &str, extra: &[(&str, &str)]) -> Parts {
    let mut headers = vec![
        ("host", "s3.amazonaws.com"),
        ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ("x-amz-content-sha256", payload),
        ("content-encoding", "aws-chunked"),
        ("x-amz-decoded-content-length", "66560"),
    ];
    headers.extend(extra);
    head("PUT", "/examplebucket/chunkObject.txt", &headers)
}

/// Chunks of 64 KiB, 1 KiB and nothing.
const CHUNKS: [&[u8]; 3] = [&[b'a'; 65536], &[b'a'; 1024], b""];

fn sha256(bytes: &[u8]) -> [u8; 32] {
    match Payload::of(bytes) {
        Payload::Sha256(hash) => hash,
        _ => unreachable!(),
    }
}

#[test]
fn put_in_signed_chunks() {
    let payload = Payload::StreamingSigned;
    let verified = check(
        put_in_chunks(&payload.to_string(), &[("content-length", "66824")]),
        payload,
        "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;\
         x-amz-decoded-content-length;x-amz-storage-class",
        "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
    );
    let signatures = [
        "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
        "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
        "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
    ];
    let mut signer = ChunkSigner::new(&key(), verified.signature(), time()).unwrap();
    let mut verifier = verified.chunk_verifier().unwrap();
    for (chunk, signature) in CHUNKS.into_iter().zip(signatures) {
        assert_eq!(signer.sign_chunk(chunk), signature.as_bytes());
        verifier
            .verify_chunk(&sha256(chunk), signature.as_bytes())
            .unwrap();
    }
}

#[test]
fn put_in_signed_chunks_with_trailer() {
    let payload = Payload::StreamingSignedTrailer;
    let verified = check(
        put_in_chunks(
            &payload.to_string(),
            &[("x-amz-trailer", "x-amz-checksum-crc32c")],
        ),
        payload,
        "content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;\
         x-amz-storage-class;x-amz-trailer",
        "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
    );
    let signatures = [
        "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
        "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
        "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
    ];
    let mut signer = ChunkSigner::new(&key(), verified.signature(), time()).unwrap();
    let mut verifier = verified.chunk_verifier().unwrap();
    for (chunk, signature) in CHUNKS.into_iter().zip(signatures) {
        assert_eq!(signer.sign_chunk(chunk), signature.as_bytes());
        verifier
            .verify_chunk(&sha256(chunk), signature.as_bytes())
            .unwrap();
    }
    let trailer = b"x-amz-checksum-crc32c:sOO8/Q==\n";
    let expected = b"d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435";
    assert_eq!(&signer.sign_trailer(trailer), expected);
    verifier.verify_trailer(trailer, expected).unwrap();
}

/// The policy of the example, in base64.
const POLICY: &str = "\
    eyAiZXhwaXJhdGlvbiI6ICIyMDE1LTEyLTMwVDEyOjAwOjAwLjAwMFoiLA0KICAiY29uZGl0aW9ucyI6IFsNCiAgICB7\
    ImJ1Y2tldCI6ICJzaWd2NGV4YW1wbGVidWNrZXQifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRrZXkiLCAidXNlci91\
    c2VyMS8iXSwNCiAgICB7ImFjbCI6ICJwdWJsaWMtcmVhZCJ9LA0KICAgIHsic3VjY2Vzc19hY3Rpb25fcmVkaXJlY3Qi\
    OiAiaHR0cDovL3NpZ3Y0ZXhhbXBsZWJ1Y2tldC5zMy5hbWF6b25hd3MuY29tL3N1Y2Nlc3NmdWxfdXBsb2FkLmh0bWwi\
    fSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRDb250ZW50LVR5cGUiLCAiaW1hZ2UvIl0sDQogICAgeyJ4LWFtei1tZXRh\
    LXV1aWQiOiAiMTQzNjUxMjM2NTEyNzQifSwNCiAgICB7IngtYW16LXNlcnZlci1zaWRlLWVuY3J5cHRpb24iOiAiQUVT\
    MjU2In0sDQogICAgWyJzdGFydHMtd2l0aCIsICIkeC1hbXotbWV0YS10YWciLCAiIl0sDQoNCiAgICB7IngtYW16LWNy\
    ZWRlbnRpYWwiOiAiQUtJQUlPU0ZPRE5ON0VYQU1QTEUvMjAxNTEyMjkvdXMtZWFzdC0xL3MzL2F3czRfcmVxdWVzdCJ9\
    LA0KICAgIHsieC1hbXotYWxnb3JpdGhtIjogIkFXUzQtSE1BQy1TSEEyNTYifSwNCiAgICB7IngtYW16LWRhdGUiOiAi\
    MjAxNTEyMjlUMDAwMDAwWiIgfQ0KICBdDQp9";

#[test]
fn form_upload() {
    let form = FormPolicy {
        policy: POLICY,
        algorithm: "AWS4-HMAC-SHA256",
        credential: "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request",
        date: "20151229T000000Z",
        signature: "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e",
        security_token: None,
    };
    let signed = form.parse().unwrap();
    assert_eq!(signed.access_key_id(), "AKIAIOSFODNN7EXAMPLE");
    let key = signed.signing_key(&credentials());
    let now = Timestamp::parse_date_time("2015-12-30T00:00:00Z").unwrap();
    let policy = signed.verify(&key, Some("us-east-1"), now).unwrap();
    assert!(policy.starts_with(b"{ \"expiration\": \"2015-12-30T12:00:00.000Z\","));

    let kind = |form: FormPolicy<'_>, key: &SigningKey, region, now| {
        let signed = form.parse()?;
        signed.verify(key, region, now).map(drop)
    };
    let kind = |form, key, region, now| kind(form, key, region, now).unwrap_err().kind();
    let changed = POLICY.replacen("eyA", "eyB", 1);
    let other = FormPolicy {
        policy: &changed,
        ..form
    };
    assert_eq!(kind(other, &key, None, now), ErrorKind::Mismatch);
    assert_eq!(
        kind(form, &key, Some("eu-west-1"), now),
        ErrorKind::WrongScope
    );
    let early = Timestamp::parse_date_time("2015-12-28T23:44:00Z").unwrap();
    assert_eq!(kind(form, &key, None, early), ErrorKind::TooSkewed);
    let late = Timestamp::parse_date_time("2016-01-05T00:00:01Z").unwrap();
    assert_eq!(kind(form, &key, None, late), ErrorKind::Expired);
    let other = FormPolicy {
        security_token: Some("token"),
        ..form
    };
    assert_eq!(kind(other, &key, None, now), ErrorKind::InvalidToken);
    let other = FormPolicy {
        algorithm: "AWS4-ECDSA-P256-SHA256",
        ..form
    };
    assert_eq!(
        kind(other, &key, None, now),
        ErrorKind::UnsupportedAlgorithm
    );
    for (credential, date, signature) in [
        (
            "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3",
            form.date,
            form.signature,
        ),
        (form.credential, "20151229", form.signature),
        (form.credential, form.date, "8AFDBF"),
    ] {
        let other = FormPolicy {
            credential,
            date,
            signature,
            ..form
        };
        assert_eq!(kind(other, &key, None, now), ErrorKind::Malformed);
    }
    let other = FormPolicy {
        date: "20151230T000000Z",
        ..form
    };
    assert_eq!(kind(other, &key, None, now), ErrorKind::WrongScope);
}
