//! The published test vectors of the framing. `vectors/README.md` says where they are from.

use bytes::Bytes;
use polywire_protocol::event_stream::{
    EventHeaderValue, EventMessage, MessageDecoder, MessageEncoder, MessageLimits, reference,
};
use polywire_schema::{Error, ErrorKind};
use polywire_text::base64;
use serde_json::Value;

macro_rules! vector {
    ($name:literal) => {
        include_bytes!(concat!("vectors/", $name, ".bin"))
    };
}

macro_rules! described {
    ($name:literal) => {
        (
            $name,
            vector!($name).as_slice(),
            include_str!(concat!("vectors/", $name, ".json")),
        )
    };
}

/// Reads one message, in one piece.
fn read(stream: &[u8]) -> Result<EventMessage, Error> {
    let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
    let mut input = Bytes::copy_from_slice(stream);
    let message = decoder.decode(&mut input)?;
    decoder.finish()?;
    assert!(input.is_empty());
    Ok(message.expect("a message"))
}

fn bytes(json: &Value) -> Vec<u8> {
    base64::decode(json.as_str().unwrap().as_bytes())
        .unwrap()
        .as_bytes()
        .to_vec()
}

/// Whether a header is what a description says.
fn is_described(found: &EventHeaderValue, kind: u64, value: &Value) -> bool {
    match (found, kind) {
        (EventHeaderValue::Boolean(found), 0 | 1) => {
            *found == value.as_bool().unwrap() && *found == (kind == 0)
        }
        (EventHeaderValue::Byte(found), 2) => i64::from(*found) == value.as_i64().unwrap(),
        (EventHeaderValue::Short(found), 3) => i64::from(*found) == value.as_i64().unwrap(),
        (EventHeaderValue::Integer(found), 4) => i64::from(*found) == value.as_i64().unwrap(),
        (EventHeaderValue::Long(found), 5) => *found == value.as_i64().unwrap(),
        (EventHeaderValue::Blob(found), 6) => found.as_bytes() == bytes(value),
        (EventHeaderValue::String(found), 7) => found.as_bytes() == bytes(value),
        (EventHeaderValue::Timestamp(found), 8) => found.as_milliseconds() == value.as_i64(),
        (EventHeaderValue::Uuid(found), 9) => found.as_slice() == bytes(value),
        _ => false,
    }
}

#[test]
fn described_messages_are_read_and_written() {
    for (name, stream, description) in [
        described!("go/positive/all_headers"),
        described!("go/positive/empty_message"),
        described!("go/positive/int32_header"),
        described!("go/positive/payload_no_headers"),
        described!("go/positive/payload_one_str_header"),
    ] {
        let message = read(stream).unwrap();
        let described: Value = serde_json::from_str(description).unwrap();
        assert_eq!(described["total_length"], stream.len(), "{name}");
        let headers = described["headers"].as_array().unwrap();
        assert_eq!(message.headers().len(), headers.len(), "{name}");
        for (header, described) in message.headers().iter().zip(headers) {
            assert_eq!(header.name, described["name"].as_str().unwrap(), "{name}");
            let kind = described["type"].as_u64().unwrap();
            assert!(
                is_described(&header.value, kind, &described["value"]),
                "{name}: {header:?} is not {described}"
            );
        }
        assert_eq!(
            message.payload().as_bytes(),
            bytes(&described["payload"]),
            "{name}"
        );
        assert_eq!(MessageEncoder::encode(&message).unwrap(), stream, "{name}");
    }
}

#[test]
fn messages_without_description_are_written_as_they_were_read() {
    for stream in [
        vector!("rust/valid_empty_payload").as_slice(),
        vector!("rust/valid_no_headers"),
        vector!("rust/valid_with_all_headers_and_payload"),
    ] {
        let message = read(stream).unwrap();
        assert_eq!(MessageEncoder::encode(&message).unwrap(), stream);
    }
    let message = read(vector!("rust/valid_with_all_headers_and_payload")).unwrap();
    assert_eq!(message.headers().len(), 10);
}

#[test]
fn corrupted_messages_are_rejected() {
    let cases: [(&[u8], ErrorKind, &str); 12] = [
        (
            vector!("go/negative/corrupted_header_len"),
            ErrorKind::InvalidValue,
            "the checksum of the prelude",
        ),
        (
            vector!("go/negative/corrupted_headers"),
            ErrorKind::InvalidValue,
            "the checksum of the message",
        ),
        (
            vector!("go/negative/corrupted_length"),
            ErrorKind::InvalidValue,
            "the checksum of the prelude",
        ),
        (
            vector!("go/negative/corrupted_payload"),
            ErrorKind::InvalidValue,
            "the checksum of the message",
        ),
        (
            vector!("rust/invalid_header_name_length"),
            ErrorKind::Syntax,
            "a header name",
        ),
        (
            vector!("rust/invalid_header_name_length_too_long"),
            ErrorKind::Syntax,
            "a header name",
        ),
        (
            vector!("rust/invalid_header_string_length_cut_off"),
            ErrorKind::Syntax,
            "the length of a header value",
        ),
        (
            vector!("rust/invalid_header_string_value_length"),
            ErrorKind::Syntax,
            "a value of up to 32767 bytes",
        ),
        (
            vector!("rust/invalid_header_value_type"),
            ErrorKind::Syntax,
            "a header type of 0 to 9",
        ),
        (
            vector!("rust/invalid_headers_length"),
            ErrorKind::Syntax,
            "headers within the message",
        ),
        (
            vector!("rust/invalid_message_checksum"),
            ErrorKind::InvalidValue,
            "the checksum of the message",
        ),
        (
            vector!("rust/invalid_prelude_checksum"),
            ErrorKind::InvalidValue,
            "the checksum of the prelude",
        ),
    ];
    for (stream, kind, expected) in cases {
        assert!(reference::decode(stream, MessageLimits::DEFAULT).is_none());
        let mut error = read(stream).unwrap_err();
        // Some vectors have malformed headers and a checksum of other headers.
        if error.kind() != kind {
            assert!(
                error
                    .what_was_expected()
                    .starts_with("the checksum of the message")
            );
            let total = u32::from_be_bytes(*stream.first_chunk().unwrap()) as usize;
            let content = &stream[..total - 4];
            let repaired = [content, &crc32fast::hash(content).to_be_bytes()].concat();
            assert!(reference::decode(&repaired, MessageLimits::DEFAULT).is_none());
            error = read(&repaired).unwrap_err();
        }
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.what_was_expected().starts_with(expected), "{error}");
        assert!(
            error.offset().is_some_and(|offset| offset < stream.len()),
            "{error}"
        );
    }
}
