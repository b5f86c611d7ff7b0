//! The binary storage form: comparison with the same event as JSON.

use polywire_nostr::{BinaryEvent, EventRef, Profile};

use super::tags_of;

pub(crate) fn any(data: &[u8]) {
    let event = match BinaryEvent::parse(data) {
        Ok(event) => event,
        Err(error) => {
            assert!(error.offset <= data.len(), "{error}");
            return;
        }
    };
    let tag = |tag: polywire_nostr::BinaryTag<'_>| tag.map(|item| item.to_string()).collect();
    let tags: Vec<Vec<String>> = event.tags().map(tag).collect();
    assert_eq!(event.tags().len(), tags.len());
    let mut json = Vec::new();
    event.push_json(&mut json);
    // The binary form allows times that the JSON parser rejects.
    let read = EventRef::parse_with(&json, Profile::COMPATIBLE, &super::wide());
    if event.created_at() >= 1 << 53 {
        read.unwrap_err();
        return;
    }
    let read = read.unwrap();
    assert_eq!(
        (read.id(), read.pubkey(), read.sig()),
        (event.id(), event.pubkey(), event.sig())
    );
    assert_eq!(
        (read.created_at(), read.kind()),
        (event.created_at(), event.kind())
    );
    assert_eq!(read.content(), event.content());
    assert_eq!(tags_of(&read), tags);
    assert_eq!(read.compute_id(), event.compute_id());
    // Written again, it is the same event. Items may be stored as hexadecimal or as text.
    let mut again = Vec::new();
    assert!(read.push_binary(&mut again));
    assert!(again.len() <= data.len() + 2 * tags.iter().flatten().count());
    let mut same = Vec::new();
    BinaryEvent::parse(&again).unwrap().push_json(&mut same);
    assert_eq!(same, json);
    // Truncated input and trailing bytes are errors.
    BinaryEvent::parse(&data[..data.len() - 1]).unwrap_err();
    BinaryEvent::parse(&[data, b" "].concat()).unwrap_err();
}
