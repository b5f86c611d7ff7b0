//! Event streams: the decoder of messages with pieces of any size, and its readable twin.

use bytes::Bytes;
use polywire_protocol::event_stream::{
    EventMessage, MessageDecoder, MessageEncoder, MessageLimits, reference,
};

/// The first byte is the size of the pieces, and whether the checksums are made correct, so that the
/// code behind them is reached.
pub(crate) fn any(data: &[u8]) {
    let Some((first, stream)) = data.split_first() else {
        return;
    };
    let size = usize::from(first & 0x7f) + 1;
    let mut stream = stream.to_vec();
    if first & 0x80 != 0 {
        repair(&mut stream);
    }
    let limits = MessageLimits::DEFAULT
        .with_message(1 << 12)
        .with_headers(1 << 11);
    let whole = read(&stream, stream.len().max(1), limits);
    assert_eq!(whole, read(&stream, size, limits));
    assert_eq!(whole, reference::decode(&stream, limits));
    for message in whole.into_iter().flatten() {
        let _ = message.kind();
        let written = MessageEncoder::encode(&message).unwrap();
        assert_eq!(
            reference::decode(&written, MessageLimits::DEFAULT),
            Some(vec![message])
        );
    }
}

fn read(stream: &[u8], size: usize, limits: MessageLimits) -> Option<Vec<EventMessage>> {
    let mut decoder = MessageDecoder::new(limits);
    let mut messages = Vec::new();
    for piece in stream.chunks(size) {
        let mut piece = Bytes::copy_from_slice(piece);
        while let Some(message) = decoder.decode(&mut piece).ok()? {
            messages.push(message);
        }
        assert!(piece.is_empty());
    }
    decoder.finish().ok()?;
    Some(messages)
}

/// Makes the checksums of all messages correct, as far as their lengths are.
fn repair(stream: &mut [u8]) {
    let mut rest = stream;
    while rest.len() >= 16 {
        let prelude = crc32(&rest[..8]).to_be_bytes();
        rest[8..12].copy_from_slice(&prelude);
        let total = u32::from_be_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
        if !(16..=rest.len()).contains(&total) {
            return;
        }
        let checksum = crc32(&rest[..total - 4]).to_be_bytes();
        rest[total - 4..total].copy_from_slice(&checksum);
        rest = &mut rest[total..];
    }
}

/// The CRC-32 of gzip.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}
