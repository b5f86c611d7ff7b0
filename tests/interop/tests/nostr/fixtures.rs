//! Keys, text that implementations escape differently, events of them, and helpers.

use std::collections::BTreeSet;
use std::time::Duration;

use polywire_nostr::negentropy::{Record, Records};
use polywire_nostr::{Event, EventBuilder, EventId, KeyPair, SecretKey};

/// The `created_at` of most events, in seconds since 1970-01-01 UTC.
pub(crate) const NOW: u64 = 1_764_000_000;

/// The timeout of operations that must finish, even on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Runs an asynchronous case.
pub(crate) fn run(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future);
}

/// The key pair with this number.
pub(crate) fn keys(number: u8) -> KeyPair {
    KeyPair::from_secret_key(&secret(number))
}

/// The secret key with this number.
pub(crate) fn secret(number: u8) -> SecretKey {
    SecretKey::from_bytes([number; 32]).unwrap()
}

/// The secret key with this number in hexadecimal.
pub(crate) fn secret_hex(number: u8) -> String {
    format!("{number:02x}").repeat(32)
}

/// The key pair with this number as a type of the crate `nostr`.
pub(crate) fn their_keys(number: u8) -> nostr::prelude::Keys {
    nostr::prelude::Keys::parse(&secret_hex(number)).unwrap()
}

/// Text with all characters that must be escaped in JSON, or that an implementation might escape.
pub(crate) fn texts() -> Vec<String> {
    let control = ('\0'..'\u{20}').collect::<String>();
    let mut texts = vec![
        String::new(),
        "plain".to_owned(),
        control.clone(),
        "\"".repeat(7),
        "\\".repeat(7),
        r#"\"\\"\n\u0000\/"#.to_owned(),
        "/ </script> & ' ` $".to_owned(),
        "\u{7f}\u{80}\u{85}\u{9f}\u{a0}\u{ad}".to_owned(),
        "line\u{2028}paragraph\u{2029}end".to_owned(),
        "\u{feff}byte order \u{feff} mark\u{feff}".to_owned(),
        "\u{fffd}\u{fffe}\u{ffff}\u{fdd0}\u{d7ff}\u{e000}".to_owned(),
        "👩🏽‍🚀 🏳️‍🌈 🇩🇪 \u{10000}\u{10ffff}".to_owned(),
        "e\u{301}\u{200b}\u{202e}abc\u{202c} שלום 𝔘 漢字".to_owned(),
        "\r\n\t \u{8}\u{c}\u{b}".to_owned(),
        r#"{"kind":1,"tags":[["e"]],"content":"inner"}"#.to_owned(),
        ('\0'..'\u{250}').collect(),
        "f".repeat(64),
        "0123456789abcdef".repeat(9),
        "1e3 -0 0.10 NaN".to_owned(),
    ];
    // Each control character, at each offset in a block of 16 bytes.
    texts.extend(control.chars().enumerate().map(|(at, character)| {
        let before = "x".repeat(at % 17);
        format!("{before}{character}{character}y")
    }));
    // Large texts with few and with many escapes.
    texts.push("A quiet line of text without anything.\n".repeat(3_000));
    texts.push(control.repeat(2_000));
    texts.push("漢\"🌧\\\u{2028}\u{7f}".repeat(8_000));
    texts
}

/// Events with [`texts`] as content and in tags.
pub(crate) fn events(author: &KeyPair) -> Vec<Event> {
    let texts = texts();
    let event = |(number, text): (usize, &String)| {
        let kinds = [0, 1, 3, 5, 13, 1059, 9735, 10_002, 20_001, 30_023, 65_535];
        let times = [0, 1, NOW, (1 << 53) - 1];
        let mut event = EventBuilder::new(
            kinds[number % kinds.len()],
            text.as_str(),
            times[number % times.len()],
        );
        if text.len() < 10_000 {
            event = event.tag(["t", text]).tag([text.as_str()]).tag([
                "e",
                &"ab".repeat(32),
                "",
                text,
                text,
            ]);
        }
        event.sign(author)
    };
    let mut events: Vec<Event> = texts.iter().enumerate().map(event).collect();
    // An event with all texts in one tag, and an event with many tags.
    let all = texts.iter().filter(|text| text.len() < 10_000);
    events.push(EventBuilder::new(1, "", NOW).tag(all).sign(author));
    let many = (0..3_000).map(|number| ["p".to_owned(), format!("{number:064x}")]);
    events.push(EventBuilder::new(3, "", NOW).tags(many).sign(author));
    events
}

/// Events of kind 1 with the content and tags of [`events`] that fit in common limits of relays,
/// with one `created_at` per second from `start`.
pub(crate) fn notes(start: u64) -> Vec<Event> {
    let events = events(&keys(1));
    let events = events
        .iter()
        .filter(|event| event.as_ref().as_json().len() < 60_000);
    let note = |(number, event): (usize, &Event)| {
        let event = event.as_ref();
        let tags = event.tags().map(|tag| tag.items());
        let builder = EventBuilder::new(1, event.content(), start + number as u64);
        builder.tags(tags).sign(&keys(1))
    };
    events.enumerate().map(note).collect()
}

/// Events of kind 1 whose content is their number, three per second from `start`.
pub(crate) fn numbered_notes(count: u64, start: u64) -> Vec<Event> {
    let note =
        |number: u64| EventBuilder::new(1, number.to_string(), start + number / 3).sign(&keys(1));
    (0..count).map(note).collect()
}

pub(crate) fn ids<'e>(events: impl IntoIterator<Item = &'e Event>) -> BTreeSet<EventId> {
    let ids = events.into_iter().map(|event| *event.as_ref().id());
    ids.collect()
}

/// The records of events, for a reconciliation.
pub(crate) fn records(events: &[Event]) -> Records {
    let record = |event: &Event| {
        let event = event.as_ref();
        Record::new(event.created_at(), *event.id()).unwrap()
    };
    events.iter().map(record).collect()
}
