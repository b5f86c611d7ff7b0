//! Errors with their offsets, limits, and what is released before a signature was checked.

use bytes::Bytes;
use polywire_aws::chunked::{
    AnySignature, ChunkAuthenticator, ChunkedErrorKind, Decoder, DecoderOptions, Event, Framing,
};

use crate::support::{decode, feed};

fn error(framing: Framing, options: &DecoderOptions, body: &str) -> String {
    let mut decoder = Decoder::new(framing, AnySignature, options.clone());
    let (_, result) = feed(&mut decoder, body.as_bytes(), &[]);
    result
        .unwrap_err()
        .to_string()
        .trim_start_matches("aws-chunked: ")
        .to_owned()
}

fn unsigned(body: &str) -> String {
    error(Framing::UnsignedTrailer, &DecoderOptions::default(), body)
}

#[test]
fn heads() {
    for (body, expected) in [
        (
            "",
            "the body ended, expected the size of a chunk in hexadecimal digits at byte 0",
        ),
        (
            "\r\n",
            "expected the size of a chunk in hexadecimal digits at byte 0",
        ),
        (
            "Hello",
            "expected the size of a chunk in hexadecimal digits at byte 0",
        ),
        ("0x5\r\n", "expected a hexadecimal digit or CR LF at byte 1"),
        (
            " 5\r\n",
            "expected the size of a chunk in hexadecimal digits at byte 0",
        ),
        ("5 \r\n", "expected a hexadecimal digit or CR LF at byte 1"),
        ("5;\r\n", "expected a hexadecimal digit or CR LF at byte 1"),
        ("5\n", "expected a hexadecimal digit or CR LF at byte 1"),
        ("5\rH", "expected LF after the head of a chunk at byte 2"),
        (
            "00000000000000005\r\n",
            "expected CR LF after 16 digits at byte 16",
        ),
        (
            "5\r\nHello0",
            "expected CR LF after the data of a chunk at byte 8",
        ),
        (
            "5\r\nHello\r0",
            "expected CR LF after the data of a chunk at byte 9",
        ),
        (
            "5\r\nHello\r\n\r\n",
            "expected the size of a chunk in hexadecimal digits at byte 10",
        ),
        (
            "5\r\nHell",
            "the body ended, expected more data of the chunk at byte 7",
        ),
    ] {
        assert_eq!(unsigned(body), expected, "{body:?}");
    }
}

#[test]
fn signatures() {
    let digits = "0123456789abcdef".repeat(4);
    for (body, expected) in [
        (
            "5\r\n".to_owned(),
            "expected a hexadecimal digit or ;chunk-signature= at byte 1",
        ),
        (
            "5;chunk_".to_owned(),
            "expected ;chunk-signature= after the size at byte 7",
        ),
        (
            format!("5;chunk-signature={}A", &digits[..63]),
            "expected a signature of 64 lower-case hexadecimal digits, and CR LF at byte 81",
        ),
        (
            format!("5;chunk-signature={}\r", &digits[..63]),
            "expected a signature of 64 lower-case hexadecimal digits, and CR LF at byte 81",
        ),
        (
            format!("5;chunk-signature={digits}0"),
            "expected a signature of 64 lower-case hexadecimal digits, and CR LF at byte 82",
        ),
        (
            format!("5;chunk-signature={}*", &digits[..63]),
            "expected a signature of 64 lower-case hexadecimal digits, and CR LF at byte 81",
        ),
        (
            format!("0;chunk-signature={digits}\r\na:b"),
            "expected the last CR LF at byte 84",
        ),
    ] {
        let options = DecoderOptions::default();
        assert_eq!(
            error(Framing::Signed, &options, &body),
            expected,
            "{body:?}"
        );
    }
}

/// Records what it is asked, and accepts it.
struct Recorder(std::sync::mpsc::Sender<String>);

impl ChunkAuthenticator for Recorder {
    fn chunk(&mut self, _: &[u8; 32], signature: &[u8]) -> bool {
        self.0
            .send(String::from_utf8_lossy(signature).into_owned())
            .is_ok()
    }

    fn trailer(&mut self, canonical: &[u8], signature: &[u8]) -> bool {
        let texts = [canonical, signature]
            .map(String::from_utf8_lossy)
            .join("|");
        self.0.send(texts).is_ok()
    }
}

#[test]
fn padding_of_ecdsa_signatures_is_removed() {
    let long = "3045".repeat(35);
    let body = format!(
        "2;chunk-signature={long}****\r\nok\r\n0;chunk-signature={:*<144}\r\n\
         B: 2 \r\na:1\r\nx-amz-trailer-signature:{:*<144}\r\n\r\n",
        "ab", "cd"
    );
    let (sender, receiver) = std::sync::mpsc::channel();
    let options = DecoderOptions::default();
    let decoder = Decoder::new(Framing::SignedEcdsaTrailer, Recorder(sender), options);
    let decoded = decode(decoder, body.as_bytes()).unwrap();
    assert_eq!(decoded.data, b"ok");
    let calls: Vec<String> = receiver.into_iter().collect();
    assert_eq!(calls, [long.as_str(), "ab", "a:1\nb:2\n|cd"]);

    let options = DecoderOptions::default();
    for signature in [
        "*".repeat(144),
        format!("ab{}c", "*".repeat(141)),
        "a".repeat(143),
    ] {
        let body = format!("0;chunk-signature={signature}\r\n\r\n");
        assert!(
            error(Framing::SignedEcdsa, &options, &body).contains("144 characters"),
            "{body}"
        );
    }
}

#[test]
fn trailers() {
    let declared = DecoderOptions {
        declared_trailers: Some(vec!["a".to_owned()]),
        ..DecoderOptions::default()
    };
    for (body, expected) in [
        (
            "0\r\na:1\r\nb:2\r\n\r\n",
            "expected a trailer that x-amz-trailer declares at byte 12",
        ),
        (
            "0\r\na:1\r\nA:1\r\n\r\n",
            "expected each trailer once at byte 12",
        ),
        (
            "0\r\n\r\n",
            "expected all trailers that x-amz-trailer declares at byte 3",
        ),
        (
            "0\r\n:1\r\n",
            "expected a trailer or the last CR LF at byte 3",
        ),
        (
            "0\r\n a:1\r\n",
            "expected a trailer or the last CR LF at byte 3",
        ),
        (
            "0\r\na :1\r\n",
            "expected the name of a trailer, and a colon at byte 4",
        ),
        (
            "0\r\na\r\n",
            "expected the name of a trailer, and a colon at byte 4",
        ),
        (
            "0\r\na:1\n\r\n",
            "expected the value of a trailer, and CR LF at byte 6",
        ),
        (
            "0\r\na:\u{e4}\r\n",
            "expected the value of a trailer, and CR LF at byte 5",
        ),
        ("0\r\na:1\ra", "expected LF after a trailer at byte 7"),
        ("0\r\na:1\r\n\ra", "expected the last CR LF at byte 9"),
        (
            "0\r\na:1\r\n\r\n\r\n",
            "expected the end of the body at byte 10",
        ),
        (
            "0\r\na:1\r\n",
            "the body ended, expected a trailer or the last CR LF at byte 8",
        ),
    ] {
        let found = error(Framing::UnsignedTrailer, &declared, body);
        assert_eq!(found, expected, "{body:?}");
    }
    let signed = format!("0;chunk-signature={}\r\n", "0".repeat(64));
    for (trailers, expected) in [
        (
            "\r\n",
            "expected a trailer or x-amz-trailer-signature at byte 84",
        ),
        (
            "x-amz-trailer-signature:00\r\n\r\n",
            "expected all trailers that x-amz-trailer declares at byte 111",
        ),
        (
            "a:1\r\nx-amz-trailer-signature:00\r\n\r\n",
            "expected a signature in lower-case hexadecimal digits at byte 116",
        ),
    ] {
        let body = format!("{signed}{trailers}");
        assert_eq!(
            error(Framing::SignedTrailer, &declared, &body),
            expected,
            "{body:?}"
        );
    }
    // Nothing may follow the signature, not even another trailer.
    let signature = format!("x-amz-trailer-signature:{}\r\n", "0".repeat(64));
    let body = format!("{signed}{signature}a:1\r\n\r\n");
    let found = error(Framing::SignedTrailer, &DecoderOptions::default(), &body);
    assert_eq!(found, "expected the last CR LF at byte 174");
}

#[test]
fn line_feeds_end_trailers_if_allowed() {
    let options = DecoderOptions {
        line_feed_trailers: true,
        ..DecoderOptions::default()
    };
    for (body, expected) in [
        (
            "0\r\na:1\n\r\n",
            "the body ended, expected the last CR LF at byte 9",
        ),
        ("0\r\na:1\n\r\nb:2\n", "expected the last CR LF at byte 9"),
        (
            "0\r\na:1\n\n",
            "expected a trailer or an empty line at byte 7",
        ),
        ("0\r\na:1\n\rb", "expected LF after an empty line at byte 8"),
        (
            "0\r\na\n",
            "expected the name of a trailer, and a colon at byte 4",
        ),
        (
            "0\na:1\n",
            "expected a hexadecimal digit or CR LF at byte 1",
        ),
    ] {
        assert_eq!(
            error(Framing::UnsignedTrailer, &options, body),
            expected,
            "{body:?}"
        );
    }
    let signed = format!("0;chunk-signature={}\r\na:1\n\r\nb:2\n", "0".repeat(64));
    assert_eq!(
        error(Framing::SignedTrailer, &options, &signed),
        "expected x-amz-trailer-signature after the empty line at byte 93"
    );
}

#[test]
fn limits() {
    let options = DecoderOptions {
        max_chunk: 16,
        max_trailers: 2,
        ..DecoderOptions::default()
    };
    let unsigned = |body: &str| error(Framing::UnsignedTrailer, &options, body);
    assert_eq!(
        unsigned("11\r\n"),
        "chunk of 17 bytes, expected at most 16 at byte 3"
    );
    assert!(unsigned("10\r\n").contains("the body ended"));
    let trailers = "0\r\na:1\r\nb:1\r\nc:1\r\n\r\n";
    assert_eq!(
        unsigned(trailers),
        "expected fewer or shorter trailers at byte 17"
    );

    let options = DecoderOptions {
        max_trailer_bytes: 10,
        ..DecoderOptions::default()
    };
    let unsigned = |body: &str| error(Framing::UnsignedTrailer, &options, body);
    assert_eq!(
        unsigned("0\r\na:12345678\r\nb"),
        "expected fewer or shorter trailers at byte 15"
    );
    assert_eq!(
        unsigned(&format!("0\r\n{}", "a".repeat(1 << 20))),
        "expected fewer or shorter trailers at byte 13"
    );

    let options = DecoderOptions {
        max_chunk: u64::MAX,
        ..DecoderOptions::default()
    };
    let found = error(Framing::UnsignedTrailer, &options, "ffffffffffffffff\r\nx");
    assert_eq!(
        found,
        "the body ended, expected more data of the chunk at byte 19"
    );
}

#[test]
fn the_decoded_length_has_to_match() {
    let options = DecoderOptions {
        decoded_length: Some(5),
        ..DecoderOptions::default()
    };
    let found = |body: &str| {
        let decoder = Decoder::unsigned(options.clone());
        decode(decoder, body.as_bytes()).unwrap_err()
    };
    let long = found("3\r\nHel\r\n3\r\nlo!\r\n0\r\n\r\n");
    assert_eq!(
        long.kind,
        ChunkedErrorKind::Length {
            declared: 5,
            found: 6
        }
    );
    assert_eq!(
        (long.offset, long.code(), long.status()),
        (10, "IncompleteBody", 400)
    );
    let short = found("3\r\nHel\r\n0\r\n\r\n");
    assert_eq!(
        short.kind,
        ChunkedErrorKind::Length {
            declared: 5,
            found: 3
        }
    );
    assert!(
        decode(
            Decoder::unsigned(options.clone()),
            b"5\r\nHello\r\n0\r\n\r\n"
        )
        .is_ok()
    );
}

#[test]
fn events_before_the_end_have_to_be_read() {
    let mut decoder = Decoder::unsigned(DecoderOptions::default());
    let mut input = Bytes::from("0\r\n\r\n");
    assert!(
        matches!(decoder.feed(&mut input), Ok(Event::Trailers(trailers)) if trailers.is_empty())
    );
    assert!(decoder.finish().is_err());
    assert_eq!(decoder.feed(&mut input), Ok(Event::End));
    assert_eq!(decoder.feed(&mut input), Ok(Event::End));
    decoder.finish().unwrap();
    assert_eq!(decoder.offset(), 5);
    let error = decoder.feed(&mut Bytes::from("0")).unwrap_err();
    assert_eq!(
        (error.offset, error.kind),
        (5, ChunkedErrorKind::TrailingData)
    );
}

#[test]
fn data_is_a_slice_of_the_input() {
    let body = Bytes::from("5\r\nHello\r\n0\r\n\r\n");
    let mut decoder = Decoder::unsigned(DecoderOptions::default());
    let Ok(Event::Data(data)) = decoder.feed(&mut body.clone()) else {
        panic!("no data")
    };
    assert_eq!(data.as_ptr(), body[3..].as_ptr());
}

/// Rejects everything.
struct Nothing;

impl ChunkAuthenticator for Nothing {
    fn chunk(&mut self, _: &[u8; 32], _: &[u8]) -> bool {
        false
    }

    fn trailer(&mut self, _: &[u8], _: &[u8]) -> bool {
        false
    }
}

#[test]
fn the_last_piece_of_a_chunk_is_released_after_its_signature_was_checked() {
    let body = format!("5;chunk-signature={}\r\nHello\r\n", "0".repeat(64));
    let released = |verified_chunks, splits: &[usize]| {
        let options = DecoderOptions {
            verified_chunks,
            ..DecoderOptions::default()
        };
        let mut decoder = Decoder::new(Framing::Signed, Nothing, options);
        let (decoded, result) = feed(&mut decoder, body.as_bytes(), splits);
        let error = result.unwrap_err();
        assert_eq!(error.kind, ChunkedErrorKind::ChunkSignature);
        assert_eq!(
            (error.offset, error.code(), error.status()),
            (89, "SignatureDoesNotMatch", 403)
        );
        decoded.data
    };
    assert_eq!(released(None, &[]), b"");
    assert_eq!(released(None, &[86, 88]), b"Hell");
    assert_eq!(released(Some(5), &[]), b"");
    assert_eq!(released(Some(5), &[86, 88]), b"");
}

#[test]
fn verified_chunks_that_come_at_once_are_not_copied() {
    let body = Bytes::from(format!("5;chunk-signature={}\r\nHello\r\n", "0".repeat(64)));
    let options = DecoderOptions {
        verified_chunks: Some(5),
        ..DecoderOptions::default()
    };
    let mut decoder = Decoder::new(Framing::Signed, AnySignature, options);
    let Ok(Event::Data(data)) = decoder.feed(&mut body.clone()) else {
        panic!("no data")
    };
    assert_eq!(data.as_ptr(), body[84..].as_ptr());
}

#[test]
fn verified_chunks_are_limited_before_they_are_buffered() {
    let options = DecoderOptions {
        verified_chunks: Some(4),
        ..DecoderOptions::default()
    };
    let body = format!("5;chunk-signature={}\r\n", "0".repeat(64));
    let mut decoder = Decoder::new(Framing::Signed, AnySignature, options);
    let error = decoder.feed(&mut Bytes::from(body)).unwrap_err();
    assert_eq!(
        error.kind,
        ChunkedErrorKind::ChunkSize { size: 5, limit: 4 }
    );
    assert_eq!(error.code(), "InvalidChunkSizeError");
}
