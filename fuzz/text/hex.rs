//! As hex and base64, by every policy.

use polywire_text::base64::{Alphabet, Base64, Padding};
use polywire_text::cpu::{self, Level};
use polywire_text::hex::{self, Case};
use polywire_text::reference;

pub(crate) fn any(data: &[u8]) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        hexadecimal(data);
    }
    for alphabet in [Alphabet::Standard, Alphabet::UrlSafe] {
        for padding in [Padding::Required, Padding::Forbidden, Padding::Optional] {
            base64(data, alphabet, padding);
        }
    }
}

fn hexadecimal(data: &[u8]) {
    let mut digits = Vec::new();
    hex::push(&mut digits, data);
    assert_eq!(digits, reference::hex::encode(data).as_bytes());
    let mut bytes = Vec::new();
    hex::push_decoded(&mut bytes, &digits, Case::Lower).unwrap();
    assert_eq!(bytes, data);
    for case in [Case::Any, Case::Lower] {
        bytes.clear();
        let found = hex::push_decoded(&mut bytes, data, case).map(|()| bytes.clone());
        assert_eq!(found, reference::hex::decode(data, None, case));
        let found = hex::decode_to_array::<32>(data, case).map(Vec::from);
        assert_eq!(found, reference::hex::decode(data, Some(32), case));
    }
}

fn base64(data: &[u8], alphabet: Alphabet, padding: Padding) {
    let base64 = Base64::new(alphabet, padding);
    let mut text = Vec::new();
    base64.push(&mut text, data);
    let twin = reference::base64::encode(data, alphabet, padding);
    assert_eq!(text, twin.as_bytes());
    assert_eq!(base64.decode(&text).unwrap(), data);

    let twin = reference::base64::decode(data, alphabet, padding, false);
    assert_eq!(base64.decode(data).map(|blob| blob.to_vec()), twin);
    let mut space = vec![0; data.len()];
    let found = base64.decode_to_slice(data, &mut space);
    assert_eq!(found.map(|bytes| bytes.to_vec()), twin);
    let twin = reference::base64::decode(data, alphabet, padding, true);
    let found = base64.decode_with_white_space(data);
    assert_eq!(found.map(|blob| blob.to_vec()), twin);
}
