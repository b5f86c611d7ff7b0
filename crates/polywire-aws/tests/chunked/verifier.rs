//! What a server says about a body and its head.

use http::{HeaderMap, HeaderName};
use polywire_aws::checksum::{Algorithm, Checksum};
use polywire_aws::chunked::{
    BodyChecksums, BodyError, BodyVerifier, ChecksumSource, DecoderOptions, Trailers,
};

const DATA: &[u8] = b"123456789";
const UNSIGNED_TRAILER: (&str, &str) =
    ("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER");
const SHA256: &str = "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225";

pub(crate) fn headers(entries: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in entries {
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            value.parse().unwrap(),
        );
    }
    headers
}

fn verify(
    entries: &[(&str, &str)],
    trailers: Option<&[(&str, &str)]>,
    data: &[u8],
) -> Result<BodyChecksums, BodyError> {
    let mut verifier = BodyVerifier::from_headers(&headers(entries))?;
    for byte in data.chunks(2) {
        verifier.update(byte)?;
    }
    if let Some(trailers) = trailers {
        verifier.trailers(&trailers.iter().copied().collect::<Trailers>())?;
    }
    verifier.finish()
}

fn code(entries: &[(&str, &str)], data: &[u8]) -> &'static str {
    verify(entries, None, data).map_or_else(|error| error.code(), |_| "ok")
}

#[test]
fn no_header_expects_nothing() {
    let checksums = verify(&[], None, DATA).unwrap();
    assert_eq!(checksums.len(), 9);
    assert_eq!(checksums.sent(), None);
    assert_eq!(checksums.get(Algorithm::Crc32), None);
    verify(&[("x-amz-content-sha256", "UNSIGNED-PAYLOAD")], None, DATA).unwrap();
}

#[test]
fn content_md5() {
    let header = [("content-md5", "JfnnlDI7RTiF9RgfG2JNCw==")];
    assert_eq!(code(&header, DATA), "ok");
    let error = verify(&header, None, b"12345678").unwrap_err();
    assert!(matches!(
        error,
        BodyError::BadDigest {
            source: ChecksumSource::ContentMd5,
            ..
        }
    ));
    assert_eq!(error.code(), "BadDigest");
    for value in [
        "",
        "JfnnlDI7RTiF9RgfG2JNCw=",
        "y/Q5Jg==",
        "25f9e794323b453885f5181f1b624d0b",
    ] {
        assert_eq!(
            code(&[("content-md5", value)], DATA),
            "InvalidDigest",
            "{value}"
        );
    }
}

#[test]
fn content_sha256() {
    assert_eq!(code(&[("x-amz-content-sha256", SHA256)], DATA), "ok");
    assert_eq!(
        code(&[("x-amz-content-sha256", SHA256)], b"1"),
        "XAmzContentSHA256Mismatch"
    );
    for value in [
        "",
        "unsigned-payload",
        &SHA256.to_uppercase(),
        &SHA256[1..],
        "STREAMING",
    ] {
        assert_eq!(
            code(&[("x-amz-content-sha256", value)], DATA),
            "InvalidArgument",
            "{value}"
        );
    }
    let error = verify(&[("x-amz-content-sha256", SHA256)], None, b"").unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the body has the SHA-256 {}, expected {SHA256} as in x-amz-content-sha256",
            Checksum::of(Algorithm::Sha256, b"").to_hex()
        )
    );
}

#[test]
fn checksum_headers() {
    for algorithm in Algorithm::ALL {
        let text = Checksum::of(algorithm, DATA).to_string();
        let header = [(algorithm.header_name(), text.as_str())];
        let checksums = verify(&header, None, DATA).unwrap();
        assert_eq!(checksums.sent(), checksums.get(algorithm));
        assert_eq!(code(&header, b"12345678"), "BadDigest");
        for wrong in ["", "y/Q5", &format!("{text}-2"), &format!("{text}=")] {
            assert_eq!(
                code(&[(header[0].0, wrong)], DATA),
                "InvalidRequest",
                "{wrong}"
            );
        }
        let twice = [header[0], header[0]];
        assert_eq!(code(&twice, DATA), "InvalidRequest");
    }
    let two = [
        ("x-amz-checksum-crc32", "y/Q5Jg=="),
        ("x-amz-checksum-crc32c", "4waSgw=="),
    ];
    assert_eq!(code(&two, DATA), "InvalidRequest");
    // A checksum that cannot be checked must not be accepted.
    assert_eq!(
        code(&[("x-amz-checksum-xxhash64", "AAAAAAAAAAA=")], DATA),
        "InvalidRequest"
    );
    // These are about an upload.
    assert_eq!(code(&[("x-amz-checksum-type", "COMPOSITE")], DATA), "ok");
    let error = verify(&[("x-amz-checksum-crc32", "y/Q5Jg==")], None, b"").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the body has the checksum AAAAAA==, expected y/Q5Jg== as in x-amz-checksum-crc32"
    );
}

#[test]
fn everything_together_is_checked() {
    let all = [
        ("content-md5", "JfnnlDI7RTiF9RgfG2JNCw=="),
        ("content-length", "9"),
        (
            "x-amz-checksum-sha256",
            "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=",
        ),
        ("x-amz-content-sha256", SHA256),
        ("x-amz-sdk-checksum-algorithm", "SHA256"),
    ];
    assert_eq!(code(&all, DATA), "ok");
    assert_eq!(code(&all, b"12345678"), "IncompleteBody");
    assert_eq!(code(&all, b"1234567890"), "IncompleteBody");
    assert_eq!(code(&all, b"123456780"), "XAmzContentSHA256Mismatch");
}

#[test]
fn trailer_checksums() {
    let head = [UNSIGNED_TRAILER, ("x-amz-trailer", "x-amz-checksum-crc32")];
    let right = [("x-amz-checksum-crc32", "y/Q5Jg==")];
    let checksums = verify(&head, Some(&right), DATA).unwrap();
    assert_eq!(checksums.sent().unwrap().to_string(), "y/Q5Jg==");
    let error = verify(&head, Some(&right), b"x").unwrap_err();
    assert!(matches!(
        error,
        BodyError::BadDigest {
            source: ChecksumSource::Trailer,
            ..
        }
    ));

    for trailers in [
        &[][..],
        &[("x-amz-checksum-crc32", "y/Q5Jg")],
        &[("x-amz-checksum-crc32", "")],
        &[("x-amz-checksum-crc32c", "4waSgw==")],
        &[
            ("x-amz-checksum-crc32", "y/Q5Jg=="),
            ("x-amz-checksum-crc32c", "4waSgw=="),
        ],
        &[("x-amz-meta-a", "1")],
    ] {
        let error = verify(&head, Some(trailers), DATA).unwrap_err();
        assert_eq!(error.code(), "MalformedTrailerError", "{trailers:?}");
    }
    // A checksum that was computed, but not declared, does not replace the declared one.
    let mut verifier = BodyVerifier::from_headers(&headers(&head)).unwrap();
    verifier.compute(Algorithm::Crc32c);
    verifier.update(DATA).unwrap();
    let trailers = [("x-amz-checksum-crc32c", "4waSgw==")]
        .into_iter()
        .collect();
    assert_eq!(
        verifier.trailers(&trailers).unwrap_err().code(),
        "MalformedTrailerError"
    );
    // The trailers never came.
    assert_eq!(
        verify(&head, None, DATA).unwrap_err().code(),
        "MalformedTrailerError"
    );
}

#[test]
fn declarations_have_to_make_sense() {
    let trailer = ("x-amz-trailer", "x-amz-checksum-crc32");
    let header = ("x-amz-checksum-crc32", "y/Q5Jg==");
    for (entries, name) in [
        (&[trailer][..], "a trailer without a framing"),
        (
            &[
                trailer,
                ("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
            ],
            "signed",
        ),
        (&[trailer, UNSIGNED_TRAILER, header], "header and trailer"),
        (
            &[
                UNSIGNED_TRAILER,
                ("x-amz-trailer", "x-amz-checksum-xxhash3"),
            ],
            "not supported",
        ),
        (
            &[UNSIGNED_TRAILER, ("x-amz-trailer", "x-amz-meta-a")],
            "not a checksum",
        ),
        (&[UNSIGNED_TRAILER, ("x-amz-trailer", "")], "no name"),
        (
            &[
                UNSIGNED_TRAILER,
                (
                    "x-amz-trailer",
                    "x-amz-checksum-crc32, x-amz-checksum-crc32c",
                ),
            ],
            "two trailers",
        ),
        (
            &[("x-amz-sdk-checksum-algorithm", "CRC32")],
            "an algorithm without a checksum",
        ),
        (
            &[("x-amz-sdk-checksum-algorithm", "CRC31"), header],
            "no algorithm",
        ),
        (
            &[UNSIGNED_TRAILER, ("x-amz-decoded-content-length", "+9")],
            "a sign",
        ),
        (
            &[UNSIGNED_TRAILER, ("x-amz-decoded-content-length", "")],
            "no digit",
        ),
        (
            &[("content-length", "9"), ("content-length", "9")],
            "two lengths",
        ),
    ] {
        assert_eq!(code(entries, DATA), "InvalidRequest", "{name}");
    }
    assert_eq!(
        code(&[header, ("x-amz-sdk-checksum-algorithm", "crc32")], DATA),
        "ok"
    );
}

#[test]
fn the_decoded_length_counts_for_framings() {
    let head = [
        UNSIGNED_TRAILER,
        ("content-length", "123"),
        ("x-amz-decoded-content-length", "9"),
    ];
    assert_eq!(code(&head, DATA), "ok");
    assert_eq!(code(&head, b"12345678"), "IncompleteBody");
    let options = DecoderOptions::from_headers(&headers(&head)).unwrap();
    assert_eq!(options.decoded_length, Some(9));
    let error = DecoderOptions::from_headers(&headers(&[("x-amz-decoded-content-length", "x")]));
    assert_eq!(
        error.unwrap_err().to_string(),
        "x-amz-decoded-content-length: expected a number of bytes"
    );
}

#[test]
fn declared_names_are_limited() {
    let names = vec!["a"; 17].join(",");
    let error = DecoderOptions::from_headers(&headers(&[("x-amz-trailer", &names)]));
    assert_eq!(error.unwrap_err().code(), "InvalidRequest");
}

#[test]
fn a_store_computes_more() {
    let mut verifier = BodyVerifier::new();
    verifier.compute(Algorithm::Md5);
    verifier.compute(Algorithm::Md5);
    verifier.expect(
        ChecksumSource::Header,
        Checksum::of(Algorithm::Crc64Nvme, DATA),
    );
    verifier.expect_len(9);
    verifier.update(DATA).unwrap();
    let checksums = verifier.finish().unwrap();
    assert_eq!(
        checksums.get(Algorithm::Md5).unwrap().to_hex(),
        "25f9e794323b453885f5181f1b624d0b"
    );
    assert_eq!(checksums.sent().unwrap().algorithm(), Algorithm::Crc64Nvme);
}
