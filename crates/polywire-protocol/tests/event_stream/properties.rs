//! Properties of the framing: what is written is read, and the readable decoder agrees.

use polywire_protocol::event_stream::{
    EventHeader, EventHeaderValue, EventMessage, MessageEncoder, MessageLimits, reference,
};
use polywire_schema::Timestamp;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::framing::decode_pieces;

fn value() -> impl Strategy<Value = EventHeaderValue> {
    prop_oneof![
        any::<bool>().prop_map(EventHeaderValue::Boolean),
        any::<i8>().prop_map(EventHeaderValue::Byte),
        any::<i16>().prop_map(EventHeaderValue::Short),
        any::<i32>().prop_map(EventHeaderValue::Integer),
        any::<i64>().prop_map(EventHeaderValue::Long),
        vec(any::<u8>(), 0..60).prop_map(|bytes| EventHeaderValue::Blob(bytes.into())),
        ".{0,30}".prop_map(|text| EventHeaderValue::String(text.into())),
        any::<i64>()
            .prop_map(|time| EventHeaderValue::Timestamp(Timestamp::from_milliseconds(time))),
        any::<[u8; 16]>().prop_map(EventHeaderValue::Uuid),
    ]
}

fn message() -> impl Strategy<Value = EventMessage> {
    let headers = btree_map(".{1,20}", value(), 0..24);
    (headers, vec(any::<u8>(), 0..200)).prop_map(|(headers, payload)| {
        let headers = headers.into_iter();
        let headers = headers.map(|(name, value)| EventHeader::new(name, value));
        EventMessage::new(headers.collect(), payload)
    })
}

/// A stream, and positions at which it is split.
fn stream() -> impl Strategy<Value = (Vec<EventMessage>, Vec<u8>, Vec<usize>)> {
    vec(message(), 0..5).prop_flat_map(|messages| {
        let encode = |message| MessageEncoder::encode(message).unwrap();
        let stream: Vec<u8> = messages.iter().flat_map(encode).collect();
        let ends = vec(0..=stream.len(), 0..6).prop_map(|mut ends| {
            ends.sort_unstable();
            ends
        });
        ends.prop_map(move |ends| {
            let encode = |message| MessageEncoder::encode(message).unwrap();
            let decoded = reference::decode(&stream, MessageLimits::DEFAULT).unwrap();
            assert_eq!(stream, decoded.iter().flat_map(encode).collect::<Vec<u8>>());
            (decoded, stream.clone(), ends)
        })
    })
}

/// Replaces the checksums of the first message with correct ones, if its lengths are within the
/// stream, so that changes reach the code behind the checksums.
fn repair(stream: &mut [u8]) {
    if stream.len() < 16 {
        return;
    }
    let prelude = crc32fast::hash(&stream[..8]).to_be_bytes();
    stream[8..12].copy_from_slice(&prelude);
    let total = u32::from_be_bytes([stream[0], stream[1], stream[2], stream[3]]) as usize;
    if (16..=stream.len()).contains(&total) {
        let checksum = crc32fast::hash(&stream[..total - 4]).to_be_bytes();
        stream[total - 4..total].copy_from_slice(&checksum);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read((messages, stream, ends) in stream()) {
        let read = decode_pieces(&stream, ends, MessageLimits::DEFAULT).unwrap();
        prop_assert_eq!(read, messages);
    }

    #[test]
    fn changed_streams_are_read_as_by_the_readable_decoder(
        (_, mut stream, ends) in stream(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        is_repaired in any::<bool>(),
    ) {
        for (at, byte) in changes {
            if !stream.is_empty() {
                let at = at.index(stream.len());
                stream[at] = byte;
            }
        }
        if is_repaired {
            repair(&mut stream);
        }
        let read = decode_pieces(&stream, ends, MessageLimits::DEFAULT).ok();
        prop_assert_eq!(read, reference::decode(&stream, MessageLimits::DEFAULT));
    }

    #[test]
    fn arbitrary_bytes_are_read_as_by_the_readable_decoder(
        mut stream in vec(any::<u8>(), 0..100),
        is_repaired in any::<bool>(),
        split in any::<prop::sample::Index>(),
    ) {
        if is_repaired && stream.len() >= 16 {
            let len = stream.len() as u32;
            stream[..4].copy_from_slice(&len.to_be_bytes());
            stream[4..8].copy_from_slice(&(len - 16).to_be_bytes());
            repair(&mut stream);
        }
        let split = split.index(stream.len() + 1);
        let read = decode_pieces(&stream, [split], MessageLimits::DEFAULT).ok();
        prop_assert_eq!(read, reference::decode(&stream, MessageLimits::DEFAULT));
    }
}
