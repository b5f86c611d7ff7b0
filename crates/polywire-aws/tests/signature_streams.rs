//! Signatures of chunks and of events: order, changes, and both versions.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::time::Duration;

use polywire_aws::signature::*;
use polywire_text::Timestamp;

fn credentials() -> Credentials {
    Credentials::new("AKIDEXAMPLE", "secret")
}

fn time() -> SigningTime {
    SigningTime::parse("20150830T123600Z").unwrap()
}

fn key() -> SigningKey {
    SigningKey::derive(&credentials(), time().date(), "us-east-1", "s3")
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    match Payload::of(bytes) {
        Payload::Sha256(hash) => hash,
        _ => unreachable!(),
    }
}

#[test]
fn chunks_in_order() {
    let seed = key().sign(b"request");
    let mut signer = ChunkSigner::new(&key(), &seed, time()).unwrap();
    let first = signer.sign_chunk(b"first");
    let second = signer.clone().sign_chunk(b"second");
    assert_eq!(second, signer.sign_chunk_hash(&sha256(b"second")));
    let last = signer.sign_chunk(b"");
    let trailer = signer.sign_trailer(b"x-amz-checksum-crc32:AAAAAA==\n");

    let mut verifier = ChunkVerifier::new(&key(), &seed, time());
    // Not in order, changed, or not a signature: the chain stays where it is.
    let mut upper = first;
    upper.make_ascii_uppercase();
    for signature in [
        &second[..],
        &last,
        &upper,
        &first[1..],
        b"",
        &[0; 64],
        &[b'0'; 144],
    ] {
        let error = verifier
            .verify_chunk(&sha256(b"first"), signature)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Mismatch);
        assert_eq!(error.code(ErrorDialect::S3), "SignatureDoesNotMatch");
    }
    assert!(verifier.verify_chunk(&sha256(b"First"), &first).is_err());
    verifier.verify_chunk(&sha256(b"first"), &first).unwrap();
    assert!(verifier.verify_chunk(&sha256(b"first"), &first).is_err());
    verifier.verify_chunk(&sha256(b"second"), &second).unwrap();
    assert!(verifier.verify_trailer(b"", &last).is_err());
    verifier.verify_chunk(&sha256(b""), &last).unwrap();
    assert!(
        verifier
            .verify_trailer(b"x-amz-checksum-crc32:AAAAAQ==\n", &trailer)
            .is_err()
    );
    verifier
        .verify_trailer(b"x-amz-checksum-crc32:AAAAAA==\n", &trailer)
        .unwrap();
    assert!(EcdsaChunkSigner::new(&key(), &seed, time()).is_err());
    assert!(!format!("{signer:?} {verifier:?}").contains("secret\""));
}

#[cfg(feature = "sigv4a")]
#[test]
fn chunks_of_version_4a() {
    let key = SigningKey::derive_v4a(&credentials(), time().date(), "*", "s3");
    let mut parts = http::Request::put("https://bucket.example.com/key")
        .body(())
        .unwrap()
        .into_parts()
        .0;
    let payload = Payload::StreamingEcdsaTrailer;
    let seed = sign_request(&mut parts, payload, &key, &Settings::S3, time()).unwrap();
    let request = SignedRequest::parse(&parts).unwrap();
    let now = Timestamp::new(time().seconds(), 0);
    let verifier = Verifier::s3().with_region("eu-central-1");
    let own = KeyCache::default().key_for(&request, &credentials());
    let verified = verifier.verify(&request, &own, now, None).unwrap();

    let mut signer = EcdsaChunkSigner::new(&key, &seed, time()).unwrap();
    let mut verifier = verified.chunk_verifier().unwrap();
    for chunk in [&b"first"[..], b"second", b""] {
        let signature = signer.sign_chunk(chunk);
        assert!(
            verifier
                .verify_chunk(&sha256(b"other"), &signature)
                .is_err()
        );
        verifier.verify_chunk(&sha256(chunk), &signature).unwrap();
    }
    let trailer = signer.sign_trailer(b"a:b\n");
    verifier.verify_trailer(b"a:b\n", &trailer).unwrap();
    assert!(verifier.verify_trailer(b"a:b\n", b"").is_err());
    assert!(verifier.verify_trailer(b"a:b\n", &[b'*'; 144]).is_err());
    assert!(ChunkSigner::new(&key, &seed, time()).is_err());
    assert!(EventSigner::new(&key, &seed).is_err());

    // A region that the signature is not for.
    let key = SigningKey::derive_v4a(&credentials(), time().date(), "us-*,eu-west-1", "s3");
    sign_request(&mut parts, payload, &key, &Settings::S3, time()).unwrap();
    let request = SignedRequest::parse(&parts).unwrap();
    for (region, is_valid) in [
        ("us-east-1", true),
        ("eu-west-1", true),
        ("eu-west-2", false),
    ] {
        let verifier = Verifier::s3().with_region(region);
        assert_eq!(
            verifier.verify(&request, &key, now, None).is_ok(),
            is_valid,
            "{region}"
        );
    }
}

/// Encodes a message of an event stream with one header of the type string.
fn message(name: &str, value: &str, payload: &[u8]) -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        let crc = crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32IsoHdlc, bytes);
        (crc as u32).to_be_bytes()
    };
    let mut headers = vec![name.len() as u8];
    headers.extend(name.as_bytes());
    headers.push(7);
    headers.extend((value.len() as u16).to_be_bytes());
    headers.extend(value.as_bytes());
    let mut message = ((16 + headers.len() + payload.len()) as u32)
        .to_be_bytes()
        .to_vec();
    message.extend((headers.len() as u32).to_be_bytes());
    message.extend(crc(&message));
    message.extend(headers);
    message.extend(payload);
    message.extend(crc(&message));
    message
}

/// The string to sign in a test of the crate aws-sigv4 1.3.8 (Apache-2.0), `event_stream.rs`.
#[test]
fn string_to_sign_of_an_event() {
    let date = Timestamp::new(123_456_789, 1234);
    let day = SigningTime::new(date).unwrap().date();
    let key = SigningKey::derive(&credentials(), day, "us-east-1", "testservice");
    let seed = Payload::of(b"last message sts").to_string();
    let seed = Signature::parse(Algorithm::V4, seed.as_bytes()).unwrap();
    let payload = message("some-header", "value", b"test payload");
    let header = date_header(date).unwrap();
    let mut verifier = EventVerifier::new(&key, &seed).unwrap();
    let error = verifier
        .verify_event(date, &header, &payload, &[0; 32], date)
        .unwrap_err();
    let expected = "AWS4-HMAC-SHA256-PAYLOAD\n19731129T213309Z\n\
         19731129/us-east-1/testservice/aws4_request\n\
         be1f8c7d79ef8e1abc5254a2c70e4da3bfaf4f07328f527444e1fc6ea67273e2\n\
         0c0e3b3bf66b59b976181bd7d401927bbd624107303c713fd1e5f3d3c8dd1b1e\n\
         f2eba0f2e95967ee9fbc6db5e678d2fd599229c0d04b11e4fc8e0f2a02a806c6";
    assert_eq!(str::from_utf8(error.string_to_sign()).unwrap(), expected);
    let signature = EventSigner::new(&key, &seed)
        .unwrap()
        .sign_event(date, &header, &payload);
    let Some(expected) = Signature::parse(Algorithm::V4, key.sign(expected.as_bytes()).as_bytes())
    else {
        unreachable!()
    };
    let mut hex = Vec::new();
    polywire_text::hex::push(&mut hex, &signature.unwrap());
    assert_eq!(hex, expected.as_bytes());
}

#[test]
fn events_past_midnight() {
    let mut parts = http::Request::post("https://transcribe.example.com/stream")
        .body(())
        .unwrap()
        .into_parts()
        .0;
    let evening = SigningTime::parse("20150830T235959Z").unwrap();
    let date = evening.date();
    let key = SigningKey::derive(&credentials(), date, "us-east-1", "transcribe");
    let payload = Payload::StreamingEvents;
    let seed = sign_request(&mut parts, payload, &key, &Settings::STANDARD, evening).unwrap();
    assert_eq!(
        parts.headers["x-amz-content-sha256"],
        "STREAMING-AWS4-HMAC-SHA256-EVENTS"
    );
    let request = SignedRequest::parse(&parts).unwrap();
    let at = |seconds| Timestamp::new(evening.seconds() + seconds, 0);
    let verified = Verifier::new("transcribe")
        .verify(&request, &key, at(0), None)
        .unwrap();
    assert!(verified.chunk_verifier().is_none());

    let mut signer = EventSigner::new(&key, &seed).unwrap();
    let mut verifier = verified.event_verifier().unwrap();
    for (seconds, payload) in [(0, &b"first"[..]), (2, b"second"), (3, b"")] {
        let header = date_header(at(seconds)).unwrap();
        let signature = signer.sign_event(at(seconds), &header, payload).unwrap();
        let mut verify = |date, payload: &[u8], signature: &[u8], now| {
            verifier.verify_event(date, &header, payload, signature, now)
        };
        let date = at(seconds);
        assert!(verify(at(seconds + 1), payload, &signature, date).is_err());
        let error = verify(date, b"other", &signature, date).unwrap_err();
        let day = if seconds == 0 { "20150830" } else { "20150831" };
        let scope = format!("\n{day}/us-east-1/transcribe/aws4_request\n");
        assert!(String::from_utf8_lossy(error.string_to_sign()).contains(&scope));
        assert!(verify(date, payload, &signature[1..], date).is_err());
        let skew = verify(date, payload, &signature, at(seconds + 901)).unwrap_err();
        assert_eq!(skew.kind(), ErrorKind::TooSkewed);
        verify(date, payload, &signature, date).unwrap();
        assert!(verify(date, payload, &signature, date).is_err());
    }
    let mut narrow = EventVerifier::new(&key, &seed)
        .unwrap()
        .with_max_skew(Duration::ZERO);
    let header = date_header(at(0)).unwrap();
    assert!(
        narrow
            .verify_event(at(0), &header, b"", &[0; 32], at(1))
            .is_err()
    );
    assert!(
        signer
            .sign_event(Timestamp::new(i64::MAX, 0), &header, b"")
            .is_err()
    );
    assert!(date_header(Timestamp::new(i64::MAX, 0)).is_none());
}

#[test]
fn cached_keys() {
    let mut cache = KeyCache::default();
    let other = Credentials::new("AKIDEXAMPLE", "another secret");
    let a = cache.key(&credentials(), time(), "us-east-1", "s3");
    let b = cache.key(&other, time(), "us-east-1", "s3");
    // A store may replace the secret of an access key.
    assert_ne!(a.sign(b"").as_str(), b.sign(b"").as_str());
    for region in 0..KeyCache::CAPACITY {
        cache.key(&credentials(), time(), &region.to_string(), "s3");
    }
    let again = cache.key(&credentials(), time(), "us-east-1", "s3");
    assert!(!std::sync::Arc::ptr_eq(&a, &again));
    assert_eq!(a.sign(b"").as_str(), again.sign(b"").as_str());
}
