//! Fast paths for XML tags.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::scan::{TAG, is_end_tag, next_tag, tag_contents, tag_repeats};
use proptest::prelude::*;

/// The window of `line`.
const LINE: usize = 33 + TAG;

fn window(input: &[u8], at: usize) -> Option<&[u8; TAG]> {
    input.get(at..)?.first_chunk()
}

proptest! {
    #[test]
    fn lines(
        space in "[\n\r\t ]{0,2} {0,40}[\n\t]{0,1}",
        rest in "[<a]{0,70}",
        before in "[a\n ]{0,3}",
    ) {
        let input = format!("{space}{rest}");
        let input = format!("{before}{input}");
        if let Some((at, tag)) = next_tag(input.as_bytes(), before.len()) {
            prop_assert_eq!(at, before.len() + space.len());
            prop_assert_eq!(&tag[..], &rest.as_bytes()[..TAG]);
        } else {
            let enough = input.len() >= before.len() + LINE;
            let common = space.is_empty()
                || space.len() <= 32 && space[1..].bytes().all(|byte| byte == b' ')
                    && space.starts_with('\n');
            prop_assert!(!enough || !common);
        }
    }

    #[test]
    fn contents_of_tags(first in "[<a]", name in "[a </]{0,34}", behind in "[>a]{35}") {
        let input = format!("{first}{name}>{behind}");
        let expected = (first == "<" && name.len() <= 30).then_some(name.as_bytes());
        prop_assert_eq!(tag_contents(window(input.as_bytes(), 0).unwrap()), expected);
    }

    #[test]
    fn repeated_bytes(
        input in proptest::collection::vec(b'a'..b'c', 0..120),
        again in any::<bool>(),
        earlier in 0..130_usize,
        at in 0..100_usize,
        len in 0..40_usize,
    ) {
        let mut input = input;
        if again && let Some(part) = input.get(earlier..earlier + len) {
            let part = part.to_vec();
            input.truncate(at);
            input.extend(part);
            input.extend([b'b'; 40]);
        }
        let part = |start: usize| input.get(start..start + len);
        let expected = part(earlier).is_some() && part(earlier) == part(at);
        if let Some(tag) = window(&input, at) {
            let found = tag_repeats(tag, &input, earlier, len);
            let quick = len <= 32 && earlier + 32 <= input.len();
            prop_assert_eq!(found, expected && quick);
        }
    }

    #[test]
    fn end_tags(
        name in "[a-c]{0,40}",
        before in "[a-c<]{0,5}",
        between in "[<>a-c]{0,40}",
        change in prop::option::of((0..50_usize, prop::sample::select(vec![b'<', b'/', b'>', b'a', b' ']))),
        behind in "[a-c]{0,40}",
    ) {
        let mut input = format!("{before}<{name}>{between}</{name}>{behind}").into_bytes();
        let start = before.len() + 1;
        let at = start + name.len() + 1 + between.len();
        if let Some((offset, byte)) = change
            && let Some(place) = input.get_mut(at + offset)
        {
            *place = byte;
        }
        let end = format!("</{name}>");
        for at in [at, 0, at - 1] {
            if let Some(tag) = window(&input, at) {
                let expected = input[at..].starts_with(end.as_bytes());
                let quick = name.len() <= 29;
                let found = is_end_tag(tag, &input, start, name.len());
                prop_assert_eq!(found, expected && quick);
            }
        }
    }
}
