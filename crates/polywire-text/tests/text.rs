//! `Text`, compared with `str` and `String`.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use polywire_text::{Blob, Body, INLINE_CAPACITY, Text};
use proptest::prelude::*;

/// The same string in all forms.
fn forms(string: &str) -> Vec<Text> {
    let body = Body::from(format!("<{string}>"));
    let inside = std::str::from_utf8(&body.as_bytes()[1..=string.len()]).unwrap();
    let mut roomy = String::with_capacity(3 * string.len() + 100);
    roomy.push_str(string);
    let mut forms = vec![
        Text::from(string),
        Text::from(&string.to_owned()),
        Text::from(string.to_owned()),
        Text::from(&mut *string.to_owned()),
        Text::from(roomy),
        Text::from(Box::<str>::from(string)),
        Text::from(Rc::<str>::from(string)),
        Text::from(Arc::<str>::from(string)),
        Text::from(Cow::Borrowed(string)),
        Text::from(Cow::<'_, str>::Owned(string.to_owned())),
        string.parse().unwrap(),
        Text::from_utf8(string.as_bytes()).unwrap(),
        Text::from_utf8_lossy(string.as_bytes()),
        Text::try_from(string.as_bytes()).unwrap(),
        Text::try_from(string.as_bytes().to_vec()).unwrap(),
        Text::try_from(Bytes::copy_from_slice(string.as_bytes())).unwrap(),
        Text::try_from(Blob::from(string.as_bytes())).unwrap(),
        Text::format(format_args!("{string}")).unwrap(),
        string.chars().collect(),
        string.split_inclusive(' ').collect(),
        string.split_inclusive(' ').map(String::from).collect(),
        string.split_inclusive(' ').map(Text::from).collect(),
        body.text(inside),
        body.text(inside).into_owned(),
        Text::from(format!("<{string}>"))
            .slice(1..=string.len())
            .unwrap(),
        Text::from(format!("<{string}>").as_str())
            .slice(1..=string.len())
            .unwrap(),
    ];
    forms.extend(Text::inline_prefix(
        &format!("{string} and what follows it"),
        string.len(),
    ));
    forms.extend(Text::inline_prefix(string, string.len()));
    forms.extend(Text::ascii_prefix(string.as_bytes(), string.len()));
    forms.extend(forms.clone());
    let into_owned: Vec<_> = forms.iter().cloned().map(Text::into_owned).collect();
    forms.extend(into_owned);
    forms
}

fn check(string: &str) {
    let state = RandomState::new();
    let hash = state.hash_one(string);
    let forms = forms(string);
    for text in &forms {
        assert_eq!(text.as_str(), string);
        assert_eq!(text.len(), string.len());
        assert_eq!(text.is_empty(), string.is_empty());
        assert_eq!(state.hash_one(text), hash);
        assert_eq!(*text, forms[0]);
        assert_eq!(text.cmp(&forms[0]), std::cmp::Ordering::Equal);
        assert_eq!(
            format!("{text}|{text:?}|{text:>30}"),
            format!("{string}|{string:?}|{string:>30}")
        );
        assert!(text.is(string.as_bytes()));
        assert_eq!(HashMap::from([(text.clone(), 1)]).get(string), Some(&1));
        assert_eq!(BTreeMap::from([(text.clone(), 1)]).get(string), Some(&1));
        if text.is_inline() {
            assert!(string.len() <= INLINE_CAPACITY);
            assert_eq!(text.heap_size(), 0);
        } else {
            assert!(string.len() > INLINE_CAPACITY);
            assert!(text.heap_size() >= string.len());
        }
        assert!(!text.clone().into_owned().is_shared());
    }
    // Without and with clones.
    for (at, text) in forms.iter().enumerate() {
        back(text.clone(), string, at);
    }
    for (at, text) in forms.into_iter().enumerate() {
        back(text, string, at);
    }
}

fn back(text: Text, string: &str, way: usize) {
    match way % 10 {
        0 => assert_eq!(String::from(text), string),
        1 => assert_eq!(&*Box::<str>::from(text), string),
        2 => assert_eq!(&*Arc::<str>::from(text), string),
        3 => assert_eq!(&*Rc::<str>::from(text), string),
        4 => assert_eq!(Bytes::from(text), string),
        5 => assert_eq!(Blob::from(text), string.as_bytes()),
        6 => assert_eq!(Vec::from(text), string.as_bytes()),
        7 => assert_eq!(Cow::<'_, str>::from(text), string),
        8 => assert_eq!(Text::try_from(text.into_bytes()).unwrap(), string),
        _ => assert_eq!(Text::try_from(text.into_blob()).unwrap(), string),
    }
}

#[test]
fn every_form_of_every_length() {
    // Lengths around the limits of forms, words and registers; fewer under Miri.
    let lengths = match cfg!(miri) {
        true => vec![0, 7, 23, 24],
        false => (0..=40).chain([63, 64, 65, 127, 128, 129]).collect(),
    };
    for len in lengths {
        let mut string = "é😀 abc ".chars().cycle().take(len).collect::<String>();
        check(&string);
        let ascii = "x".repeat(len);
        check(&ascii);
        string.push('ü');
        check(&string);
    }
    if !cfg!(miri) {
        check(&"0123456789".repeat(10_000));
    }
}

proptest! {
    #[test]
    fn every_form_of_any_string(string in "\\PC{0,60}") {
        check(&string);
    }

    #[test]
    fn compares_as_str(one in "[a-c]{0,30}", other in "[a-c]{0,30}", same in 0..30_usize) {
        let other = format!("{}{other}", one.get(..same).unwrap_or(&one));
        let (text, slow) = (Text::from(&one), Text::from(&other));
        let (one, other): (&str, &str) = (&one, &other);
        let (one_owned, other_owned) = (one.to_owned(), other.to_owned());
        prop_assert_eq!(text == slow, one == other);
        prop_assert_eq!(text == *other, one == other);
        prop_assert_eq!(text == other, one == other);
        prop_assert_eq!(text == other_owned, one == other);
        prop_assert_eq!(text == Cow::Borrowed(other), one == other);
        prop_assert_eq!(*one == slow, one == other);
        prop_assert_eq!(one == slow, one == other);
        prop_assert_eq!(one_owned == slow, one == other);
        prop_assert_eq!(Cow::Borrowed(one) == slow, one == other);
        let order = one.partial_cmp(other);
        prop_assert_eq!(text.partial_cmp(&slow), order);
        prop_assert_eq!(text.partial_cmp(other), order);
        prop_assert_eq!(text.partial_cmp(&other), order);
        prop_assert_eq!(text.partial_cmp(&other.to_owned()), order);
        prop_assert_eq!(one.partial_cmp(&slow), order);
        prop_assert_eq!(one.to_owned().partial_cmp(&slow), order);
        prop_assert_eq!(Some(text.cmp(&slow)), order);
    }

    #[test]
    fn parts_are_those_of_str(string in "\\PC{0,80}", start in 0..100_usize, end in 0..100_usize) {
        for text in forms(&string) {
            assert_eq!(text.slice(start..end).as_deref(), string.get(start..end));
            assert_eq!(text.slice(start..=end).as_deref(), string.get(start..=end));
            assert_eq!(text.slice(start..).as_deref(), string.get(start..));
            assert_eq!(text.slice(..end).as_deref(), string.get(..end));
            assert_eq!(text.slice(..).as_deref(), Some(&*string));
            if let Some(part) = string.get(start..end) {
                // Of another allocation, and of the same.
                prop_assert_eq!(&*text.slice_ref(part), part);
                let part = text.slice_ref(&text[start..end]);
                let again = part.slice_ref(&part);
                drop(text);
                prop_assert_eq!(&*again, &string[start..end]);
            }
        }
    }

    #[test]
    fn bytes_are_text_when_they_are_utf8(bytes in prop::collection::vec(any::<u8>(), 0..40), tail in "\\PC{0,40}") {
        let bytes = [tail.as_bytes(), &bytes[..]].concat();
        let expected = std::str::from_utf8(&bytes);
        let offset = expected.map_err(|error| error.valid_up_to());
        for found in [
            Text::from_utf8(&bytes),
            Text::try_from(bytes.clone()),
            Text::try_from(Bytes::from(bytes.clone())),
            Text::try_from(Blob::from(bytes.clone())),
        ] {
            let found = found.map_err(|malformed| malformed.offset);
            prop_assert_eq!(found.as_deref().map_err(|offset| *offset), offset);
        }
        prop_assert_eq!(Text::from_utf8_lossy(&bytes), String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn ascii_is_text_without_a_check(bytes in prop::collection::vec(0x70..0x82_u8, 0..40), len in 0..45_usize) {
        let expected = bytes.get(..len).filter(|bytes| bytes.len() <= INLINE_CAPACITY && bytes.is_ascii());
        let found = Text::ascii_prefix(&bytes, len);
        prop_assert_eq!(found.as_deref().map(str::as_bytes), expected);
    }

    #[test]
    fn pieces_add_up(pieces in prop::collection::vec("\\PC{0,12}", 0..6)) {
        let whole = pieces.concat();
        prop_assert_eq!(pieces.iter().map(String::as_str).collect::<Text>(), &*whole);
        prop_assert_eq!(pieces.iter().map(Text::from).collect::<Text>(), &*whole);
        prop_assert_eq!(pieces.iter().map(|piece| Cow::Borrowed(&**piece)).collect::<Text>(), &*whole);
        prop_assert_eq!(whole.chars().collect::<Text>(), &*whole);
        prop_assert_eq!(pieces.into_iter().collect::<Text>(), whole);
    }
}

#[test]
fn borrows_as_strings_do() {
    let text = Text::from("folder/name");
    let borrowed: &str = text.borrow();
    assert_eq!(borrowed, "folder/name");
    assert_eq!(AsRef::<str>::as_ref(&text), "folder/name");
    assert_eq!(AsRef::<[u8]>::as_ref(&text), b"folder/name");
    assert_eq!(AsRef::<OsStr>::as_ref(&text), "folder/name");
    assert_eq!(AsRef::<Path>::as_ref(&text), Path::new("folder/name"));
    assert_eq!(Cow::from(&text), "folder/name");
    assert_eq!(String::from(&text), "folder/name");
    assert_eq!(Text::from(&text), text);
    assert_eq!(Text::from('é'), "é");
    assert_eq!(Text::default(), Text::EMPTY);
    assert_eq!(Some(Text::EMPTY), Some(Text::from("")));
}

#[test]
fn a_failed_format_is_an_error() {
    struct Fails;
    impl fmt::Display for Fails {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("half of ")?;
            Err(fmt::Error)
        }
    }
    assert!(Text::format(format_args!("{Fails}")).is_err());
}

#[test]
fn strings_cross_threads() {
    let body = Body::from("a sentence that is longer than twenty-three bytes");
    let text = body.text(std::str::from_utf8(body.as_bytes()).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let text = text.clone();
            scope.spawn(move || {
                for _ in 0..100 {
                    assert_eq!(text.clone().slice(2..).unwrap().len(), 47);
                }
            });
        }
    });
    drop(body);
    assert!(text.starts_with("a sentence"));
}

#[test]
fn a_part_never_keeps_much_more_than_itself() {
    let large = Text::from("x".repeat(1 << 20));
    for len in [24, 100, 1 << 12, (1 << 12) + 1, 1 << 19] {
        let part = large.slice(10..10 + len).unwrap();
        assert!(part.heap_size() <= 256 * len, "{len}");
        assert_eq!(part.is_shared(), len >= 1 << 12, "{len}");
        assert_eq!(part.into_owned().heap_size(), len);
    }
}

#[test]
fn a_prefix_never_splits_a_character() {
    for window in ["aé€😀 and more text to fill the window", "aé€😀 short", ""] {
        for len in 0..=window.len() + 1 {
            let prefix = Text::inline_prefix(window, len);
            let expected = window
                .get(..len)
                .filter(|text| text.len() <= INLINE_CAPACITY);
            assert_eq!(prefix.as_deref(), expected);
        }
    }
}

#[test]
fn every_difference_is_found() {
    let all = "abcdefghijklmnopqrstuvwxyz".repeat(3);
    for len in 0..=all.len() {
        let text = Text::from(&all[..len]);
        assert_eq!(text, all[..len]);
        assert_eq!(text, Text::from(&all[..len]));
        for at in 0..len {
            let mut other = all[..len].to_owned();
            other.replace_range(at..=at, "!");
            assert_ne!(text, other.as_str());
            assert_ne!(text, Text::from(other));
        }
        if len > 0 {
            assert_ne!(text, all[..len - 1]);
        }
    }
}
