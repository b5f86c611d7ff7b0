//! Nostr: comparison with the reference implementations, and round trips.

pub(crate) mod binary;
pub(crate) mod event;
pub(crate) mod filter;
pub(crate) mod message;
pub(crate) mod names;
pub(crate) mod negentropy;
pub(crate) mod nip44;

use polywire_nostr::{Error, EventRef, Limits, Profile};

/// The strict profile, a profile for each leniency, and the compatible profile.
fn profiles() -> [Profile; 8] {
    let strict = Profile::STRICT;
    [
        strict,
        Profile {
            upper_case_hex: true,
            ..strict
        },
        Profile {
            whole_floats: true,
            ..strict
        },
        Profile {
            duplicate_keys: true,
            ..strict
        },
        Profile {
            lone_surrogates: true,
            ..strict
        },
        Profile {
            raw_control_characters: true,
            ..strict
        },
        Profile {
            empty_tags: true,
            ..strict
        },
        Profile::COMPATIBLE,
    ]
}

/// Checks that the offset is in the input, and that a relay can send the text.
fn check_error(error: &Error, input: &[u8]) {
    assert!(error.offset <= input.len(), "{error:?}");
    let text = error.to_string();
    assert!(
        text.starts_with("invalid: ") || text.starts_with("unsupported: "),
        "{text}"
    );
    assert!(
        text.len() < 200 && !text.contains(char::is_control),
        "{text}"
    );
}

/// The items of the tags of an event.
fn tags_of(event: &EventRef<'_>) -> Vec<Vec<String>> {
    let items = |tag: polywire_nostr::Tag<'_>| tag.items().map(Into::into).collect();
    event.tags().map(items).collect()
}

/// Limits that no fuzzer input reaches.
fn wide() -> Limits {
    Limits::DEFAULT.with_bytes(64 << 20).with_tags(1 << 20)
}
