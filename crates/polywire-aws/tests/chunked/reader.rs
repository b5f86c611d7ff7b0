//! Decoder and verifier together.

use bytes::Bytes;
use http::HeaderMap;
use polywire_aws::chunked::{
    AnySignature, BodyChecksums, BodyError, BodyReader, ChunkAuthenticator, DecoderOptions,
};

use crate::support::Sigv4;
use crate::verifier::headers;

const FRAMED: [(&str, &str); 4] = [
    ("content-length", "52"),
    ("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
    ("x-amz-decoded-content-length", "9"),
    ("x-amz-trailer", "x-amz-checksum-crc32"),
];
const BODY: &str = "5\r\n12345\r\n4\r\n6789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n";

fn read(
    headers: &HeaderMap,
    authenticator: impl ChunkAuthenticator + Send + Sync + 'static,
    body: &str,
    piece: usize,
) -> Result<(Vec<u8>, BodyChecksums), BodyError> {
    let mut reader = BodyReader::new(headers, authenticator, &DecoderOptions::default())?;
    let mut data = Vec::new();
    for piece in body.as_bytes().chunks(piece) {
        let mut input = Bytes::copy_from_slice(piece);
        loop {
            match reader.feed(&mut input) {
                Ok(Some(slice)) => data.extend_from_slice(&slice),
                Ok(None) => break,
                Err(error) => {
                    // The error stays, and nothing can be confirmed.
                    assert_eq!(reader.feed(&mut Bytes::new()), Err(error.clone()));
                    assert_eq!(reader.finish(), Err(error.clone()));
                    return Err(error);
                }
            }
        }
        assert!(input.is_empty());
    }
    Ok((data, reader.finish()?))
}

fn code(entries: &[(&str, &str)], body: &str) -> &'static str {
    read(&headers(entries), AnySignature, body, 3).map_or_else(|error| error.code(), |_| "ok")
}

#[test]
fn a_framed_body() {
    for piece in 1..BODY.len() {
        let (data, checksums) = read(&headers(&FRAMED), AnySignature, BODY, piece).unwrap();
        assert_eq!(data, b"123456789");
        assert_eq!(checksums.sent().unwrap().to_string(), "y/Q5Jg==");
    }
}

#[test]
fn a_plain_body() {
    let head = [
        ("content-length", "9"),
        ("content-md5", "JfnnlDI7RTiF9RgfG2JNCw=="),
    ];
    let (data, checksums) = read(&headers(&head), AnySignature, "123456789", 4).unwrap();
    assert_eq!(data, b"123456789");
    assert_eq!(checksums.len(), 9);
    assert_eq!(code(&head, "12345678"), "IncompleteBody");
    assert_eq!(code(&head, "1234567890"), "IncompleteBody");
    assert_eq!(code(&head, "123456780"), "BadDigest");
    assert_eq!(code(&[("content-length", "0")], ""), "ok");
}

#[test]
fn wrong_bodies() {
    for len in 0..BODY.len() {
        assert_eq!(code(&FRAMED, &BODY[..len]), "IncompleteBody");
    }
    assert_eq!(code(&FRAMED, &format!("{BODY}\n")), "InvalidRequest");
    assert_eq!(code(&FRAMED, &BODY.replace("6789", "6780")), "BadDigest");
    assert_eq!(code(&FRAMED, &BODY.replace("y/Q5", "y/Q6")), "BadDigest");
    assert_eq!(
        code(&FRAMED, &BODY.replace("y/Q5Jg==", "y")),
        "MalformedTrailerError"
    );
    assert_eq!(
        code(&FRAMED, &BODY.replace("crc32", "crc32c")),
        "MalformedTrailerError"
    );
    // Not encoded: digits could be a size.
    assert_eq!(code(&FRAMED, "123456789"), "IncompleteBody");
    assert_eq!(code(&FRAMED, "{\"a\": 123}"), "InvalidRequest");
    assert_eq!(code(&FRAMED[..3], BODY), "MalformedTrailerError");
    assert_eq!(
        code(&[FRAMED[0], FRAMED[2], FRAMED[3]], BODY),
        "InvalidRequest"
    );
}

#[test]
fn signatures_are_checked() {
    let head = [
        ("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
        ("x-amz-decoded-content-length", "0"),
    ];
    let body = format!("0;chunk-signature={}\r\n\r\n", "0".repeat(64));
    let (data, _) = read(&headers(&head), AnySignature, &body, 10).unwrap();
    assert!(data.is_empty());
    let error = read(&headers(&head), Sigv4::new("seed"), &body, 10).unwrap_err();
    assert_eq!(
        (error.code(), error.status()),
        ("SignatureDoesNotMatch", 403)
    );
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, error.to_string());
}

#[test]
fn limits_are_those_of_the_caller() {
    let options = DecoderOptions {
        max_chunk: 4,
        // Replaced by the head.
        decoded_length: Some(1),
        declared_trailers: Some(Vec::new()),
        ..DecoderOptions::default()
    };
    let mut reader = BodyReader::new(&headers(&FRAMED), AnySignature, &options).unwrap();
    let error = reader.feed(&mut Bytes::from(BODY)).unwrap_err();
    assert_eq!(error.code(), "InvalidChunkSizeError");
    let options = DecoderOptions {
        max_chunk: 5,
        ..options
    };
    let mut reader = BodyReader::new(&headers(&FRAMED), AnySignature, &options).unwrap();
    let mut input = Bytes::from(BODY);
    while reader.feed(&mut input).unwrap().is_some() {}
    reader.finish().unwrap();
}
