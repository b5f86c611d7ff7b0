//! Pre-encoded names.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::scan::{Name, Run};
use polywire_text::{INLINE_CAPACITY, Text};
use proptest::prelude::*;

proptest! {
    #[test]
    fn runs_compare_as_slices_do(
        pool in proptest::collection::vec(0..3_u8, 0..80),
        len in 0..80_usize,
        input in proptest::collection::vec(0..3_u8, 0..80),
        same in any::<bool>(),
    ) {
        let run = Run::new(&pool, len);
        let input = if same { [run.as_bytes(), &input].concat() } else { input };
        prop_assert_eq!(run.starts(&input), input.starts_with(run.as_bytes()));
        let mut out = b"before".to_vec();
        run.push_to(&mut out);
        prop_assert_eq!(&out[6..], run.as_bytes());
        match Name::short(run.as_bytes()) {
            Some(name) => {
                prop_assert_eq!(name.run(&[]).as_bytes(), run.as_bytes());
                let found = name.starts(&input);
                prop_assert!(found.is_none_or(|len| len == run.len()));
                let enough = input.len() >= 31;
                prop_assert!(!enough || found.is_some() == input.starts_with(run.as_bytes()));
                out.clear();
                prop_assert!(name.push_to(&mut out));
                prop_assert_eq!(&out[..], run.as_bytes());
            }
            None => {
                let name = Name::long(1, run.len() as u32);
                let shifted = [&[9][..], run.as_bytes()].concat();
                prop_assert_eq!(name.run(&shifted).as_bytes(), run.as_bytes());
                prop_assert_eq!(name.starts(&input), None);
                prop_assert!(!name.push_to(&mut out));
            }
        }
        // As a name with a head and as a text, of which the first may go on.
        let own = run.as_bytes();
        let headed = Name::short(&[&[0x60], own].concat()).unwrap_or(Name::long(0, 32));
        let text = headed.text_after_head();
        let expected = (own.len() <= INLINE_CAPACITY).then_some(own);
        prop_assert_eq!(text.as_deref().map(str::as_bytes), expected);
        for other in [own, &input, &input[..input.len().min(own.len())]] {
            let text = Text::from_utf8(other).unwrap();
            let equal = own.len() <= INLINE_CAPACITY && own == other;
            prop_assert_eq!(headed.matches_after_head(&text), equal);
        }
        for place in 0..own.len() {
            let mut other = own.to_vec();
            other[place] ^= 1;
            prop_assert!(!headed.matches_after_head(&Text::from_utf8(&other).unwrap()));
        }
    }
}
