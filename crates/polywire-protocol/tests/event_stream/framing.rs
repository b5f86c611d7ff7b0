//! The framing: splits, truncation, limits and errors.

use bytes::Bytes;
use polywire_protocol::event_stream::{
    EventHeader, EventHeaderValue, EventMessage, MessageDecoder, MessageEncoder, MessageLimits,
};
use polywire_schema::{Error, ErrorKind, LimitKind, Timestamp};

/// Feeds a stream in pieces, which end at these positions.
pub(crate) fn decode_pieces(
    stream: &[u8],
    ends: impl IntoIterator<Item = usize>,
    limits: MessageLimits,
) -> Result<Vec<EventMessage>, Error> {
    let mut decoder = MessageDecoder::new(limits);
    let mut messages = Vec::new();
    let mut start = 0;
    for end in ends.into_iter().chain([stream.len()]) {
        let mut piece = Bytes::copy_from_slice(&stream[start..end]);
        while let Some(message) = decoder.decode(&mut piece)? {
            messages.push(message);
        }
        assert!(piece.is_empty(), "the decoder takes all bytes");
        start = end;
    }
    decoder.finish()?;
    Ok(messages)
}

/// A header of each type, in front of a payload.
fn rich_message() -> EventMessage {
    let header = EventHeader::new;
    let headers = vec![
        header("true", EventHeaderValue::Boolean(true)),
        header("false", EventHeaderValue::Boolean(false)),
        header("byte", EventHeaderValue::Byte(-1)),
        header("short", EventHeaderValue::Short(i16::MIN)),
        header("integer", EventHeaderValue::Integer(i32::MAX)),
        header("long", EventHeaderValue::Long(i64::MIN)),
        header("blob", EventHeaderValue::Blob(vec![0, 255].into())),
        header("string", EventHeaderValue::String("na\u{ef}ve".into())),
        header("empty", EventHeaderValue::String("".into())),
        header(
            "time",
            EventHeaderValue::Timestamp(Timestamp::new(-1, 999_000_000)),
        ),
        header("uuid", EventHeaderValue::Uuid([9; 16])),
    ];
    EventMessage::new(headers, b"payload".to_vec())
}

fn encoded(messages: &[EventMessage]) -> Vec<u8> {
    let encode = |message| MessageEncoder::encode(message).unwrap();
    messages.iter().flat_map(encode).collect()
}

/// Encodes headers as they are, which the encoder would not write, with correct checksums.
fn raw(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    stream.extend_from_slice(&((16 + headers.len() + payload.len()) as u32).to_be_bytes());
    stream.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    stream.extend_from_slice(&crc32fast::hash(&stream).to_be_bytes());
    stream.extend_from_slice(headers);
    stream.extend_from_slice(payload);
    stream.extend_from_slice(&crc32fast::hash(&stream).to_be_bytes());
    stream
}

fn error_of(stream: &[u8]) -> Error {
    decode_pieces(stream, [], MessageLimits::DEFAULT).unwrap_err()
}

#[test]
fn every_split_gives_the_same_messages() {
    let sent = [rich_message(), EventMessage::default(), rich_message()];
    let stream = encoded(&sent);
    for first in 0..=stream.len() {
        let read = decode_pieces(&stream, [first], MessageLimits::DEFAULT).unwrap();
        assert_eq!(read, sent, "split at {first}");
    }
    for size in 1..stream.len() {
        let ends = (size..stream.len()).step_by(size);
        let read = decode_pieces(&stream, ends, MessageLimits::DEFAULT).unwrap();
        assert_eq!(read, sent, "pieces of {size}");
    }
}

#[test]
fn every_truncation_is_reported() {
    let stream = encoded(&[rich_message(), EventMessage::default()]);
    let first = stream.len() - 16;
    for len in 0..stream.len() {
        for pieces in [vec![], vec![len / 2]] {
            let read = decode_pieces(&stream[..len], pieces, MessageLimits::DEFAULT);
            if len == 0 || len == first {
                assert!(read.is_ok());
                continue;
            }
            let error = read.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated);
            assert_eq!(error.offset(), Some(len));
        }
    }
    let error = error_of(&stream[..first + 13]);
    assert_eq!(
        error.to_string(),
        format!(
            "event stream: ends too early: expected 3 more bytes of a message, at byte {}",
            first + 13
        )
    );
}

#[test]
fn every_changed_bit_is_detected() {
    let stream = encoded(&[rich_message()]);
    for bit in 0..stream.len() * 8 {
        let mut changed = stream.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let error = error_of(&changed);
        // The checksums find any single bit, before lengths or headers are read.
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "bit {bit}: {error}");
    }
}

#[test]
fn a_payload_in_one_piece_shares_its_memory() {
    let mut piece = Bytes::from(encoded(&[EventMessage::new(vec![], vec![7; 1000])]));
    let within = piece.as_ptr_range();
    let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
    let message = decoder.decode(&mut piece).unwrap().unwrap();
    assert!(within.contains(&message.payload().as_bytes().as_ptr()));
}

#[test]
fn lengths_are_checked_before_the_message_is_buffered() {
    let mut prelude = 0xffff_ffff_u32.to_be_bytes().to_vec();
    prelude.extend_from_slice(&[0; 4]);
    // A wrong checksum, after 12 of four billion bytes.
    let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
    let wrong = [&prelude[..], &[0; 4]].concat();
    let error = decoder.decode(&mut Bytes::from(wrong)).unwrap_err();
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::InvalidValue, Some(8))
    );
    // A correct checksum, and a length above the limit.
    let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
    let checksum = crc32fast::hash(&prelude).to_be_bytes();
    let large = [&prelude[..], &checksum].concat();
    let error = decoder.decode(&mut Bytes::from(large)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit(LimitKind::Bytes(16 << 20)));
}

#[test]
fn limits_are_exact() {
    let stream = encoded(&[rich_message()]);
    let headers = stream.len() - 16 - 7;
    let exact = MessageLimits::DEFAULT
        .with_message(stream.len())
        .with_headers(headers);
    assert!(decode_pieces(&stream, [5], exact).is_ok());
    for limits in [
        exact.with_message(stream.len() - 1),
        exact.with_headers(headers - 1),
    ] {
        let error = decode_pieces(&stream, [5], limits).unwrap_err();
        assert!(error.is_limit(), "{error}");
    }
}

#[test]
fn an_error_ends_the_stream() {
    let mut stream = encoded(&[rich_message(), rich_message()]);
    let second = stream.len() / 2;
    stream[second + 20] ^= 1;
    let mut input = Bytes::from(stream.clone());
    let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
    assert!(decoder.decode(&mut input).unwrap().is_some());
    assert!(decoder.is_between_messages());
    let error = decoder.decode(&mut input).unwrap_err().to_string();
    // The offset of the second checksum, from the start of the stream.
    assert!(
        error.ends_with(&format!("at byte {}", stream.len() - 4)),
        "{error}"
    );
    let mut next = Bytes::from(encoded(&[rich_message()]));
    assert_eq!(decoder.decode(&mut next).unwrap_err().to_string(), error);
    assert_eq!(decoder.finish().unwrap_err().to_string(), error);
    assert!(!decoder.is_between_messages());
}

#[test]
fn malformed_headers_are_rejected() {
    let cases: [(&[u8], ErrorKind, usize); 9] = [
        (b"\x00", ErrorKind::Syntax, 12),
        (b"\x02a", ErrorKind::Syntax, 13),
        (b"\x01a", ErrorKind::Syntax, 14),
        (b"\x01\xff\x00", ErrorKind::Characters, 13),
        (b"\x01a\x0a", ErrorKind::Syntax, 14),
        (b"\x01a\x04\x00\x00\x00", ErrorKind::Syntax, 15),
        (b"\x01a\x07\x00\x02a", ErrorKind::Syntax, 17),
        (b"\x01a\x06\x80\x00", ErrorKind::Syntax, 15),
        (b"\x01a\x00\x01a\x01", ErrorKind::Duplicate, 12),
    ];
    for (headers, kind, offset) in cases {
        let error = error_of(&raw(headers, b""));
        assert_eq!(
            (error.kind(), error.offset()),
            (kind, Some(offset)),
            "{error}"
        );
    }
    // A message whose lengths contradict each other.
    let mut prelude = 15_u32.to_be_bytes().to_vec();
    prelude.extend_from_slice(&[0; 4]);
    prelude.extend_from_slice(&crc32fast::hash(&prelude).to_be_bytes());
    prelude.extend_from_slice(&[0; 4]);
    assert_eq!(error_of(&prelude).kind(), ErrorKind::Syntax);
}

#[test]
fn duplicates_are_found_among_many_headers() {
    let mut headers = Vec::new();
    for number in 0..40_000_u32 {
        // Two letters and two digits: 26^2 * 10^2 names are distinct.
        let name = [
            b'a' + (number % 26) as u8,
            b'a' + (number / 26 % 26) as u8,
            b'0' + (number / 676 % 10) as u8,
            b'0' + (number / 6760 % 10) as u8,
        ];
        headers.extend_from_slice(&[4]);
        headers.extend_from_slice(&name);
        headers.push(0);
    }
    let limits = MessageLimits::DEFAULT.with_headers(headers.len() + 6);
    let read = decode_pieces(&raw(&headers, b""), [], limits).unwrap();
    assert_eq!(read[0].headers().len(), 40_000);
    headers.extend_from_slice(b"\x04aa00\x01");
    let error = decode_pieces(&raw(&headers, b""), [], limits).unwrap_err();
    assert_eq!(
        (error.kind(), error.path()),
        (ErrorKind::Duplicate, "header aa00")
    );
}

#[test]
fn what_the_format_cannot_hold_is_not_written() {
    let write = |name: &str, value: EventHeaderValue| {
        let mut encoder = MessageEncoder::new(Vec::new());
        encoder.header(name, &value);
        encoder.finish(b"")
    };
    assert!(write(&"n".repeat(255), EventHeaderValue::Boolean(true)).is_ok());
    for name in ["", &"n".repeat(256)] {
        let error = write(name, EventHeaderValue::Boolean(true)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unwritable);
    }
    let string = |len: usize| EventHeaderValue::String("s".repeat(len).into());
    assert!(write("a", string(32_767)).is_ok());
    let error = write("a", string(32_768)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event stream: cannot be written: expected a value of up to 32767 bytes, in header a"
    );
    // Milliseconds that need more than 64 bits.
    let time = EventHeaderValue::Timestamp(Timestamp::new(i64::MAX, 0));
    assert!(write("a", time).is_err());
    // Headers of more than 128 KiB, and a payload of more than 24 MiB.
    let mut encoder = MessageEncoder::new(Vec::new());
    for name in ["a", "b", "c", "d", "e"] {
        encoder.header(name, &string(32_767));
    }
    assert!(encoder.finish(b"").is_err());
    let payload = vec![0; (24 << 20) + 1];
    assert!(MessageEncoder::new(Vec::new()).finish(&payload).is_err());
    assert!(
        MessageEncoder::new(Vec::new())
            .finish(&payload[1..])
            .is_ok()
    );
}

#[test]
fn messages_are_appended_to_a_buffer() {
    let buffer = MessageEncoder::new(Vec::new()).finish(b"one").unwrap();
    let buffer = MessageEncoder::new(buffer).finish(b"two").unwrap();
    let read = decode_pieces(&buffer, [], MessageLimits::DEFAULT).unwrap();
    let payloads: Vec<_> = read
        .iter()
        .map(|message| message.payload().as_bytes())
        .collect();
    assert_eq!(payloads, [b"one", b"two"]);
}
