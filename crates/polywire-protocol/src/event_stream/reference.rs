//! A readable decoder of the framing, to compare [`MessageDecoder`](super::MessageDecoder) with.
//!
//! It reads a whole stream at once, one field after the other, and computes checksums bit by bit.
//! It does not say why a stream is malformed.
//!
//! ```
//! use polywire_protocol::event_stream::{MessageEncoder, MessageLimits, reference};
//!
//! let stream = MessageEncoder::new(Vec::new()).finish(b"hello")?;
//! let messages = reference::decode(&stream, MessageLimits::DEFAULT).unwrap();
//! assert_eq!(messages[0].payload().as_bytes(), b"hello");
//! assert!(reference::decode(&stream[..10], MessageLimits::DEFAULT).is_none());
//! # Ok::<(), polywire_schema::Error>(())
//! ```

use std::collections::HashSet;

use polywire_text::{Blob, Text, Timestamp};

use super::{EventHeader, EventHeaderValue, EventMessage, MessageLimits};

/// Decodes a whole stream. Returns `None` if it is malformed, truncated, or exceeds the limits.
#[must_use]
pub fn decode(stream: &[u8], limits: MessageLimits) -> Option<Vec<EventMessage>> {
    let mut messages = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let total = u32::from_be_bytes(rest.get(0..4)?.try_into().ok()?) as usize;
        let headers = u32::from_be_bytes(rest.get(4..8)?.try_into().ok()?) as usize;
        let prelude_checksum = u32::from_be_bytes(rest.get(8..12)?.try_into().ok()?);
        if prelude_checksum != crc32(&rest[0..8]) {
            return None;
        }
        if total > limits.message() || headers > limits.headers() {
            return None;
        }
        let message = rest.get(0..total)?;
        let checksum_at = total.checked_sub(4)?;
        let checksum = u32::from_be_bytes(message.get(checksum_at..)?.try_into().ok()?);
        if checksum != crc32(&message[..checksum_at]) {
            return None;
        }
        let data = message.get(12..checksum_at)?;
        let payload = data.get(headers..)?;
        let headers = decode_headers(&data[..headers])?;
        messages.push(EventMessage::new(headers, payload.to_vec()));
        rest = &rest[total..];
    }
    Some(messages)
}

fn decode_headers(bytes: &[u8]) -> Option<Vec<EventHeader>> {
    let mut headers: Vec<EventHeader> = Vec::new();
    let mut names = HashSet::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let name_length = rest[0] as usize;
        if name_length == 0 {
            return None;
        }
        let name = std::str::from_utf8(rest.get(1..1 + name_length)?).ok()?;
        if !names.insert(name) {
            return None;
        }
        let kind = *rest.get(1 + name_length)?;
        let value = rest.get(2 + name_length..)?;
        let length = match kind {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            6 | 7 => {
                let length = u16::from_be_bytes(value.get(..2)?.try_into().ok()?) as usize;
                if length > 32_767 {
                    return None;
                }
                2 + length
            }
            9 => 16,
            _ => return None,
        };
        rest = value.get(length..)?;
        let value = &value[..length];
        let value = match kind {
            0 => EventHeaderValue::Boolean(true),
            1 => EventHeaderValue::Boolean(false),
            2 => EventHeaderValue::Byte(i8::from_be_bytes(value.try_into().ok()?)),
            3 => EventHeaderValue::Short(i16::from_be_bytes(value.try_into().ok()?)),
            4 => EventHeaderValue::Integer(i32::from_be_bytes(value.try_into().ok()?)),
            5 => EventHeaderValue::Long(i64::from_be_bytes(value.try_into().ok()?)),
            6 => EventHeaderValue::Blob(Blob::from(&value[2..])),
            7 => EventHeaderValue::String(Text::from_utf8(&value[2..]).ok()?),
            8 => {
                let milliseconds = i64::from_be_bytes(value.try_into().ok()?);
                EventHeaderValue::Timestamp(Timestamp::from_milliseconds(milliseconds))
            }
            _ => EventHeaderValue::Uuid(value.try_into().ok()?),
        };
        headers.push(EventHeader::new(name, value));
    }
    Some(headers)
}

/// The CRC-32 of gzip, RFC 1952 section 8, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = 0xffff_ffff_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let is_odd = crc & 1 == 1;
            crc >>= 1;
            if is_odd {
                crc ^= 0xedb8_8320;
            }
        }
    }
    !crc
}
