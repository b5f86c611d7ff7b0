//! `Blob`, compared with `[u8]` and `Vec<u8>`.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use polywire_text::{Blob, Body, INLINE_CAPACITY};
use proptest::prelude::*;

/// The same bytes in all forms.
fn forms(bytes: &[u8]) -> Vec<Blob> {
    let around = [&[1], bytes, &[2]].concat();
    let body = Body::from(around.clone());
    let inside = 1..=bytes.len();
    let mut forms = vec![
        Blob::from(bytes),
        Blob::from(&bytes.to_vec()),
        Blob::from(bytes.to_vec()),
        Blob::from(Box::<[u8]>::from(bytes)),
        Blob::from(Arc::<[u8]>::from(bytes)),
        Blob::from(Rc::<[u8]>::from(bytes)),
        Blob::from(Cow::Borrowed(bytes)),
        Blob::from(Cow::<'_, [u8]>::Owned(bytes.to_vec())),
        Blob::from(Bytes::copy_from_slice(bytes)),
        bytes.iter().copied().collect(),
        body.blob(&body.as_bytes()[inside.clone()]),
        Blob::from(around.clone()).slice(inside.clone()).unwrap(),
        Blob::from(&around[..]).slice(inside).unwrap(),
    ];
    forms.extend(forms.clone());
    forms
}

fn back(blob: Blob, bytes: &[u8], way: usize) {
    match way % 7 {
        0 => assert_eq!(Vec::from(blob), bytes),
        1 => assert_eq!(&*Box::<[u8]>::from(blob), bytes),
        2 => assert_eq!(&*Arc::<[u8]>::from(blob), bytes),
        3 => assert_eq!(&*Rc::<[u8]>::from(blob), bytes),
        4 => assert_eq!(Bytes::from(blob), bytes),
        5 => assert_eq!(Cow::<'_, [u8]>::from(blob), bytes),
        _ => assert_eq!(blob.into_owned(), bytes),
    }
}

fn check(bytes: &[u8]) {
    let forms = forms(bytes);
    for blob in &forms {
        assert_eq!(blob.as_bytes(), bytes);
        assert_eq!(blob.len(), bytes.len());
        assert_eq!(blob.is_empty(), bytes.is_empty());
        assert_eq!(*blob, forms[0]);
        assert_eq!(blob.is_inline(), bytes.len() <= INLINE_CAPACITY);
        assert_eq!(HashMap::from([(blob.clone(), 1)]).get(bytes), Some(&1));
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(format!("{blob:x}"), hex);
        assert_eq!(format!("{blob:#X}"), format!("0x{}", hex.to_uppercase()));
    }
    for (at, blob) in forms.iter().enumerate() {
        back(blob.clone(), bytes, at);
    }
    for (at, blob) in forms.into_iter().enumerate() {
        back(blob, bytes, at);
    }
}

#[test]
fn every_form_of_every_length() {
    let source: Vec<u8> = (0..=255).collect();
    // Lengths around the limits of forms, words and registers; fewer under Miri.
    let lengths = match cfg!(miri) {
        true => vec![0, 7, 23, 24],
        false => (0..=40).chain([63, 64, 65, 127, 128, 129]).collect(),
    };
    for len in lengths {
        check(&source[255 - len..255]);
    }
}

proptest! {
    #[test]
    fn compares_as_bytes(one in prop::collection::vec(0..3_u8, 0..30), other in prop::collection::vec(0..3_u8, 0..30)) {
        let (blob, second) = (Blob::from(&one), Blob::from(&other));
        prop_assert_eq!(blob == second, one == other);
        prop_assert_eq!(blob == other, one == other);
        prop_assert_eq!(blob == other[..], one == other);
        let (slice, bytes) = (&other[..], Bytes::from(other.clone()));
        prop_assert_eq!(blob == slice, one == other);
        prop_assert_eq!(blob == bytes, one == other);
        prop_assert_eq!(one == second, one == other);
        prop_assert_eq!(one[..] == second, one == other);
        prop_assert_eq!(blob.cmp(&second), one.cmp(&other));
        prop_assert_eq!(blob.partial_cmp(&other), one.partial_cmp(&other));
        prop_assert_eq!(one.partial_cmp(&second), one.partial_cmp(&other));
    }
}

#[test]
fn compares_with_arrays() {
    let blob = Blob::from([1, 2, 3]);
    assert_eq!(blob, [1, 2, 3]);
    assert_eq!(blob, &[1, 2, 3]);
    assert_eq!([1, 2, 3], blob);
    assert_ne!(blob, [1, 2]);
    assert!(blob > [1, 2]);
    assert_eq!(Blob::from(b"abc"), "abc".as_bytes());
    assert_eq!(Blob::default(), Blob::EMPTY);
}

#[test]
fn is_shown_as_a_byte_string() {
    assert_eq!(format!("{:?}", Blob::from(b"a\x00\"")), r#"b"a\x00\"""#);
    let long = format!("{:?}", Blob::from(vec![b'x'; 100]));
    assert_eq!(long, format!("b\"{}\"... (100 bytes)", "x".repeat(64)));
}
