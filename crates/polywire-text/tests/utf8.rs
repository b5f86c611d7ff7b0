//! UTF-8, compared with the standard library.

use polywire_text::utf8::{ascii_without, into_string, validate};
use polywire_text::{Malformed, cpu};
use proptest::prelude::*;

fn agrees(bytes: &[u8]) {
    let expected =
        str::from_utf8(bytes).map_err(|error| Malformed::new(error.valid_up_to(), "UTF-8"));
    assert_eq!(validate(bytes), expected, "{}", bytes.escape_ascii());
}

#[test]
fn one_character_or_part_of_one_at_each_place() {
    let what: [&[u8]; 9] = [
        "é".as_bytes(),
        "日".as_bytes(),
        "😀".as_bytes(),
        b"\x80",
        b"\xff",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe6\x97",
    ];
    for len in 1..=130 {
        let clean = vec![b'a'; len];
        agrees(&clean);
        for what in what {
            for at in 0..len {
                let mut bytes = clean.clone();
                bytes.splice(at..at + 1, what.iter().copied());
                agrees(&bytes);
                // Truncated after it, and within it.
                agrees(&bytes[..at + what.len()]);
                agrees(&bytes[..at + what.len() - 1]);
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        agrees(&bytes);
    }

    #[test]
    fn any_text(text in ".{0,100}", at in 0..400_usize, byte: u8) {
        let mut bytes = text.into_bytes();
        agrees(&bytes);
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
            agrees(&bytes);
        }
    }
}

#[test]
fn ascii_without_a_byte() {
    for level in [cpu::Level::Baseline, cpu::Level::Avx2] {
        cpu::limit(level);
        for len in (0..=100).chain([255, 256, 257, 300, 511, 512, 530]) {
            let mut bytes = vec![b'a'; len];
            assert!(ascii_without(&bytes, b']').is_some());
            for at in 0..len {
                for bad in [b']', 0x80, 0xff] {
                    bytes[at] = bad;
                    assert!(ascii_without(&bytes, b']').is_none(), "{len} {at}");
                }
                bytes[at] = b'a';
            }
        }
    }
}

#[test]
fn the_offset_is_that_of_the_first_bad_byte() {
    for len in (1..=66).chain([200]) {
        let mut bytes = vec![b'a'; len];
        assert!(validate(&bytes).is_ok());
        assert_eq!(into_string(bytes.clone()).unwrap().as_bytes(), bytes);
        for at in 0..len {
            bytes[at] = 0xff;
            assert_eq!(validate(&bytes).unwrap_err().offset, at);
            let (same, error) = into_string(bytes.clone()).unwrap_err();
            assert_eq!((same, error.offset), (bytes.clone(), at));
            bytes[at] = b'a';
        }
    }
}
