//! Layouts, lengths and headers of the encoder.

use std::num::NonZeroUsize;

use bytes::Bytes;
use http::HeaderMap;
use polywire_aws::checksum::Algorithm;
use polywire_aws::chunked::{BodyError, ChunkLayout, Encoder, Framing, without_aws_chunked};

use crate::support::Sigv4;

fn encode(mut encoder: Encoder, pieces: &[&'static str]) -> String {
    let mut out = Vec::new();
    for piece in pieces {
        encoder
            .push(Bytes::from_static(piece.as_bytes()), &mut out)
            .unwrap();
    }
    encoder.finish(&mut out).unwrap();
    String::from_utf8(out.concat()).unwrap()
}

fn fixed(size: usize) -> ChunkLayout {
    ChunkLayout::Fixed(NonZeroUsize::new(size).unwrap())
}

#[test]
fn layouts() {
    let pieces = ["Hel", "", "lo, world"];
    let encode = |layout| encode(Encoder::unsigned(layout, None), &pieces);
    assert_eq!(
        encode(ChunkLayout::Pieces),
        "3\r\nHel\r\n9\r\nlo, world\r\n0\r\n\r\n"
    );
    assert_eq!(
        encode(ChunkLayout::Single(12)),
        "c\r\nHello, world\r\n0\r\n\r\n"
    );
    assert_eq!(
        encode(fixed(5)),
        "5\r\nHello\r\n5\r\n, wor\r\n2\r\nld\r\n0\r\n\r\n"
    );
    assert_eq!(encode(fixed(12)), "c\r\nHello, world\r\n0\r\n\r\n");
}

#[test]
fn no_data() {
    for layout in [ChunkLayout::Pieces, ChunkLayout::Single(0), fixed(5)] {
        assert_eq!(encode(Encoder::unsigned(layout, None), &[]), "0\r\n\r\n");
        assert_eq!(
            encode(Encoder::unsigned(layout, None), &["", ""]),
            "0\r\n\r\n"
        );
        let encoder = Encoder::unsigned(layout, Some(Algorithm::Crc32));
        assert_eq!(
            encode(encoder, &[]),
            "0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"
        );
    }
}

#[test]
fn a_single_chunk_has_its_length() {
    let mut out = Vec::new();
    let mut encoder = Encoder::unsigned(ChunkLayout::Single(4), None);
    encoder.push(Bytes::from("abc"), &mut out).unwrap();
    let written = out.len();
    let error = encoder.push(Bytes::from("de"), &mut out).unwrap_err();
    assert_eq!(
        error,
        BodyError::IncompleteBody {
            expected: 4,
            found: 5
        }
    );
    assert_eq!(out.len(), written);
    let error = encoder.finish(&mut out).unwrap_err();
    assert_eq!(
        error,
        BodyError::IncompleteBody {
            expected: 4,
            found: 3
        }
    );
    assert_eq!(out.len(), written);
}

#[test]
fn data_is_not_copied() {
    let data = Bytes::from(vec![7; 64]);
    for (layout, pieces) in [
        (fixed(32), 2),
        (ChunkLayout::Pieces, 1),
        (ChunkLayout::Single(64), 1),
    ] {
        let mut out = Vec::new();
        let mut encoder = Encoder::unsigned(layout, Some(Algorithm::Sha256));
        encoder.push(data.clone(), &mut out).unwrap();
        assert_eq!(out.len(), 2 * pieces, "a head and the data of each chunk");
        assert_eq!(out[1].as_ptr(), data.as_ptr());
    }
}

#[test]
fn lengths() {
    let unsigned = Encoder::unsigned(fixed(16), None);
    for (decoded, encoded) in [(0, 5), (1, 11), (15, 25), (16, 27), (17, 33), (32, 49)] {
        assert_eq!(unsigned.encoded_length(decoded), Some(encoded), "{decoded}");
    }
    assert_eq!(unsigned.encoded_length(u64::MAX), None);
    assert_eq!(
        Encoder::unsigned(ChunkLayout::Pieces, None).encoded_length(1),
        None
    );
    let single = Encoder::unsigned(ChunkLayout::Single(u64::MAX), None);
    assert_eq!(single.encoded_length(u64::MAX), None);
    assert_eq!(single.encoded_length(1), None);
}

#[test]
fn headers() {
    let mut headers = HeaderMap::new();
    headers.insert("content-encoding", "gzip".parse().unwrap());
    headers.append("content-encoding", "br".parse().unwrap());
    headers.insert("content-length", "9".parse().unwrap());
    headers.insert("x-amz-trailer", "x-amz-checksum-sha1".parse().unwrap());
    let encoder = Encoder::unsigned(ChunkLayout::Pieces, None);
    assert_eq!(encoder.framing(), Framing::UnsignedTrailer);
    encoder.apply_headers(&mut headers, 9);
    assert_eq!(headers["content-encoding"], "gzip,br,aws-chunked");
    assert_eq!(
        headers["x-amz-content-sha256"],
        "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
    );
    assert_eq!(headers["x-amz-decoded-content-length"], "9");
    assert!(!headers.contains_key("content-length"));
    assert!(!headers.contains_key("x-amz-trailer"));
    assert_eq!(headers.get_all("content-encoding").iter().count(), 1);

    let encoder = Encoder::signed(Sigv4::new(""), NonZeroUsize::MIN, None);
    encoder.apply_headers(&mut headers, 0);
    assert_eq!(
        headers["x-amz-content-sha256"],
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
    );
    assert_eq!(headers["content-length"], "86");
}

#[test]
fn content_encodings_to_store() {
    for (sent, stored) in [
        ("", None),
        (" , ", None),
        ("aws-chunked", None),
        ("AWS-Chunked , aws-chunked", None),
        ("gzip", Some("gzip")),
        ("deflate, gzip", Some("deflate, gzip")),
        ("gzip,aws-chunked", Some("gzip")),
        ("aws-chunked, gzip, aws-chunked", Some("gzip")),
        ("aws-chunked,deflate,gzip", Some("deflate, gzip")),
    ] {
        assert_eq!(without_aws_chunked(sent).as_deref(), stored, "{sent:?}");
    }
}
