//! Signed messages: the framing around a message.

use bytes::Bytes;
use polywire_protocol::event_stream::{
    EventHeader, EventHeaderValue, EventMessage, MessageDecoder, MessageEncoder, MessageLimits,
    SignedEnvelope,
};
use polywire_schema::{ErrorKind, Timestamp};

fn received(stream: Vec<u8>) -> EventMessage {
    let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
    decoder.decode(&mut Bytes::from(stream)).unwrap().unwrap()
}

#[test]
fn an_envelope_is_read_as_it_was_written() {
    let event = MessageEncoder::new(Vec::new()).finish(b"audio").unwrap();
    let date = Timestamp::from_milliseconds(1_700_000_000_123);
    let sent = SignedEnvelope::encode(Vec::new(), date, &[1; 32], &event).unwrap();
    let envelope = SignedEnvelope::from_message(received(sent)).unwrap();
    assert_eq!(envelope.date, date);
    assert_eq!(envelope.payload, event);
    let inner = envelope.event(MessageLimits::DEFAULT).unwrap().unwrap();
    assert_eq!(inner.payload().as_bytes(), b"audio");

    let end = SignedEnvelope::encode(Vec::new(), date, &[1; 32], b"").unwrap();
    let end = SignedEnvelope::from_message(received(end)).unwrap();
    assert_eq!(end.event(MessageLimits::DEFAULT).unwrap(), None);
}

#[test]
fn the_signed_header_is_what_the_envelope_contains() {
    let date = Timestamp::from_milliseconds(1_700_000_000_123);
    let header = SignedEnvelope::signed_header(date).unwrap();
    let milliseconds = 1_700_000_000_123_i64.to_be_bytes();
    assert_eq!(header, [b"\x05:date\x08", &milliseconds[..]].concat());
    let sent = SignedEnvelope::encode(Vec::new(), date, &[1; 32], b"").unwrap();
    assert_eq!(sent[12..12 + header.len()], header);
}

#[test]
fn messages_that_are_no_envelopes_are_rejected() {
    let date = || EventHeader::new(":date", EventHeaderValue::Timestamp(Timestamp::new(1, 0)));
    let signature = || {
        EventHeader::new(
            ":chunk-signature",
            EventHeaderValue::Blob(vec![1; 32].into()),
        )
    };
    let text = |name: &str| EventHeader::new(name, EventHeaderValue::String("x".into()));
    for (headers, kind) in [
        (vec![], ErrorKind::Missing),
        (vec![date()], ErrorKind::Missing),
        (vec![signature()], ErrorKind::Missing),
        (vec![text(":date"), signature()], ErrorKind::WrongType),
        (vec![date(), text(":chunk-signature")], ErrorKind::WrongType),
        (
            vec![date(), signature(), text("more")],
            ErrorKind::Structure,
        ),
    ] {
        let error = SignedEnvelope::from_message(EventMessage::new(headers, "")).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[test]
fn an_envelope_contains_exactly_one_message() {
    let event = MessageEncoder::new(Vec::new()).finish(b"audio").unwrap();
    let two = [event.clone(), event.clone()].concat();
    for (payload, kind) in [
        (&event[..event.len() - 1], ErrorKind::Truncated),
        (&two[..], ErrorKind::Structure),
        (&two[..event.len() + 1], ErrorKind::Structure),
    ] {
        let envelope = SignedEnvelope {
            date: Timestamp::new(1, 0),
            signature: vec![1; 32].into(),
            payload: Bytes::copy_from_slice(payload),
        };
        let error = envelope.event(MessageLimits::DEFAULT).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
}
