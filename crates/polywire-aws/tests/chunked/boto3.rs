//! Requests of boto3 1.44 (PutObject over TLS with its defaults, and with `ChecksumAlgorithm`), recorded by a socket
//! server: the heads without what does not matter here, and the bodies without the chunks of HTTP around them.

use http::HeaderMap;
use polywire_aws::checksum::Algorithm;
use polywire_aws::chunked::{
    BodyChecksums, BodyVerifier, Decoder, DecoderOptions, Framing, Trailers,
};

use crate::support::decode;

fn headers(algorithm: &str, length: &str) -> HeaderMap {
    let trailer = format!("x-amz-checksum-{}", algorithm.to_lowercase());
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("transfer-encoding", "chunked"),
        ("content-encoding", "aws-chunked"),
        ("x-amz-trailer", trailer.as_str()),
        ("x-amz-decoded-content-length", length),
        ("x-amz-sdk-checksum-algorithm", algorithm),
        ("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
    ] {
        headers.insert(
            http::HeaderName::from_bytes(name.as_bytes()).unwrap(),
            value.parse().unwrap(),
        );
    }
    headers
}

fn receive(headers: &HeaderMap, body: &[u8]) -> (Vec<u8>, BodyChecksums) {
    let value = headers["x-amz-content-sha256"].to_str().unwrap();
    assert_eq!(
        Framing::from_content_sha256(value),
        Some(Framing::UnsignedTrailer)
    );
    let options = DecoderOptions::from_headers(headers).unwrap();
    let decoded = decode(Decoder::unsigned(options), body).unwrap();
    let mut verifier = BodyVerifier::from_headers(headers).unwrap();
    verifier.update(&decoded.data).unwrap();
    verifier
        .trailers(decoded.trailers.as_ref().unwrap_or(&Trailers::default()))
        .unwrap();
    (decoded.data, verifier.finish().unwrap())
}

#[test]
fn the_default_is_crc32() {
    let body = b"36\r\nHello, checksums!\nHello, checksums!\nHello, checksums!\n\r\n\
                 0\r\nx-amz-checksum-crc32:b1Kmdw==\r\n\r\n";
    let (data, checksums) = receive(&headers("CRC32", "54"), body);
    assert_eq!(data, b"Hello, checksums!\n".repeat(3));
    assert_eq!(checksums.sent().unwrap().to_string(), "b1Kmdw==");
    assert_eq!(checksums.sent(), checksums.get(Algorithm::Crc32));
}

#[test]
fn crc64nvme() {
    let body = b"5\r\nHello\r\n0\r\nx-amz-checksum-crc64nvme:bgPua0coiu0=\r\n\r\n";
    let (data, checksums) = receive(&headers("CRC64NVME", "5"), body);
    assert_eq!(data, b"Hello");
    assert_eq!(checksums.sent().unwrap().algorithm(), Algorithm::Crc64Nvme);
}

#[test]
fn chunks_have_one_mebibyte() {
    let mut body = b"100000\r\n".to_vec();
    body.resize(body.len() + (1 << 20), b'x');
    body.extend_from_slice(
        b"\r\n4\r\ntail\r\n0\r\n\
          x-amz-checksum-sha256:sB6lZeZuqFsjUHoizN+P+CjCpCwRO3wKpUFIRNxBgCg=\r\n\r\n",
    );
    let (data, checksums) = receive(&headers("SHA256", "1048580"), &body);
    assert_eq!(data.len(), 1_048_580);
    assert_eq!(checksums.len(), 1_048_580);
}

#[test]
fn an_empty_object() {
    let (data, checksums) = receive(
        &headers("CRC32", "0"),
        b"0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n",
    );
    assert!(data.is_empty() && checksums.is_empty());
}
