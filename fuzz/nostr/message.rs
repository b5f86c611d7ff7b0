//! Messages of clients and relays: round trips.

use polywire_nostr::{ClientMessage, FilterLimits, Limits, MessageLimits, Profile, RelayMessage};

use super::check_error;

pub(crate) fn any(data: &[u8]) {
    let small = MessageLimits::DEFAULT
        .with_bytes(900)
        .with_event(Limits::DEFAULT.with_bytes(700).with_tags(2).with_depth(2))
        .with_filter(FilterLimits::DEFAULT.with_filters(2).with_items(2));
    for profile in super::profiles() {
        for limits in [MessageLimits::DEFAULT, small] {
            client(data, profile, &limits);
            relay(data, profile, &limits);
        }
    }
    // `peek_event_id` returns the id of every valid EVENT message, and `None` for other messages.
    let id = ClientMessage::peek_event_id(data);
    let message = ClientMessage::parse(data, Profile::STRICT, &MessageLimits::DEFAULT);
    match message {
        Ok(ClientMessage::Event(event)) => assert_eq!(id.as_ref(), Some(event.id())),
        Ok(_) => assert_eq!(id, None),
        Err(_) => {}
    }
}

fn client(data: &[u8], profile: Profile, limits: &MessageLimits) {
    match ClientMessage::parse(data, profile, limits) {
        Ok(message) => {
            let json = message.to_json();
            // Escapes can make the output longer than the input, so use the default limits.
            let again = ClientMessage::parse(&json, profile, &MessageLimits::DEFAULT).unwrap();
            assert_eq!(again, message);
            assert_eq!(again.to_json(), json);
            let wide = ClientMessage::parse(data, profile, &MessageLimits::DEFAULT);
            assert_eq!(wide.as_ref(), Ok(&message));
            // Only NEG-MSG is valid in both directions.
            if !matches!(message, ClientMessage::NegMsg { .. }) {
                RelayMessage::parse(data, profile, limits).unwrap_err();
            }
        }
        Err(error) => check_error(&error, data),
    }
}

fn relay(data: &[u8], profile: Profile, limits: &MessageLimits) {
    match RelayMessage::parse(data, profile, limits) {
        Ok(message) => {
            let json = message.to_json();
            let again = RelayMessage::parse(&json, profile, &MessageLimits::DEFAULT).unwrap();
            assert_eq!(again, message);
            assert_eq!(again.to_json(), json);
            let wide = RelayMessage::parse(data, profile, &MessageLimits::DEFAULT);
            assert_eq!(wide.as_ref(), Ok(&message));
        }
        Err(error) => check_error(&error, data),
    }
}
