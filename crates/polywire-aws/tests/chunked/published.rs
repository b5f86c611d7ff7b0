//! The examples of S3's documentation: 66,560 bytes `a` in chunks of 64 KiB, with and without a signed trailer. The
//! signatures are facts from "Signature calculations for the Authorization header: Transferring payload in multiple
//! chunks" and "Signature calculations for trailing headers".

use bytes::Bytes;
use polywire_aws::checksum::Algorithm;
use polywire_aws::chunked::{
    DEFAULT_CHUNK_SIZE, DecoderOptions, Encoder, Framing, without_aws_chunked,
};

use crate::support::{Sigv4, decode, signed};

static DATA: [u8; 66_560] = [b'a'; 66_560];

const SEED: &str = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
const CHUNKS: [&str; 3] = [
    "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
    "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
    "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
];

const TRAILER_SEED: &str = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";
const TRAILER_CHUNKS: [&str; 3] = [
    "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
    "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
    "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
];
const TRAILER: &str = "x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:\
                       d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n";

fn body(signatures: [&str; 3], trailer: &str) -> Vec<u8> {
    let mut body = Vec::new();
    for (signature, data) in signatures.iter().zip([&DATA[..65_536], &DATA[..1024], b""]) {
        let head = format!("{:x};chunk-signature={signature}\r\n", data.len());
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(data);
        body.extend_from_slice(if data.is_empty() { b"" } else { b"\r\n" });
    }
    body.extend_from_slice(trailer.as_bytes());
    body.extend_from_slice(b"\r\n");
    body
}

#[test]
fn the_signed_body() {
    let body = body(CHUNKS, "");
    // The Content-Length of the documentation.
    assert_eq!(body.len(), 66_824);

    let options = DecoderOptions {
        decoded_length: Some(66_560),
        ..DecoderOptions::default()
    };
    let decoded = decode(signed(Framing::Signed, SEED, options.clone()), &body).unwrap();
    assert_eq!(decoded.data, DATA);
    assert_eq!(decoded.trailers, None);
    let error = decode(signed(Framing::Signed, TRAILER_SEED, options), &body).unwrap_err();
    assert_eq!(error.code(), "SignatureDoesNotMatch");

    let mut out = Vec::new();
    let mut encoder = Encoder::signed(Sigv4::new(SEED), DEFAULT_CHUNK_SIZE, None);
    assert_eq!(encoder.encoded_length(66_560), Some(66_824));
    encoder.push(Bytes::from_static(&DATA), &mut out).unwrap();
    encoder.finish(&mut out).unwrap();
    assert_eq!(out.concat(), body);
}

#[test]
fn the_signed_body_with_a_trailer() {
    let body = body(TRAILER_CHUNKS, TRAILER);
    let options = DecoderOptions {
        decoded_length: Some(66_560),
        declared_trailers: Some(vec!["x-amz-checksum-crc32c".to_owned()]),
        ..DecoderOptions::default()
    };
    let decoded = decode(signed(Framing::SignedTrailer, TRAILER_SEED, options), &body).unwrap();
    assert_eq!(decoded.data, DATA);
    assert_eq!(
        decoded.trailers.unwrap().get("x-amz-checksum-crc32c"),
        Some("sOO8/Q==")
    );

    let mut out = Vec::new();
    let signer = Sigv4::new(TRAILER_SEED);
    let mut encoder = Encoder::signed(signer, DEFAULT_CHUNK_SIZE, Some(Algorithm::Crc32c));
    assert_eq!(encoder.encoded_length(66_560), Some(body.len() as u64));
    let mut headers = http::HeaderMap::new();
    headers.insert("content-encoding", "gzip".parse().unwrap());
    encoder.apply_headers(&mut headers, 66_560);
    assert_eq!(
        headers["x-amz-content-sha256"],
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
    );
    assert_eq!(headers["x-amz-trailer"], "x-amz-checksum-crc32c");
    assert_eq!(headers["content-length"], "66946");
    assert_eq!(headers["content-encoding"], "gzip,aws-chunked");
    assert_eq!(
        without_aws_chunked("gzip,aws-chunked").as_deref(),
        Some("gzip")
    );
    // Pieces that do not fit the chunks.
    for piece in DATA.chunks(10_000) {
        encoder
            .push(Bytes::from_static(&DATA[..piece.len()]), &mut out)
            .unwrap();
    }
    assert_eq!(
        encoder.finish(&mut out).unwrap().unwrap().to_string(),
        "sOO8/Q=="
    );
    assert_eq!(out.concat(), body);
}
