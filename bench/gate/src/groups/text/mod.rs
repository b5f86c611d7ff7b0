//! The primitives of `polywire-text` that the codecs call in their inner loops.

pub mod base64;
pub mod json;
pub mod list;
pub mod number;
pub mod percent;
pub mod quotes;
pub mod scan;
pub mod strings;
pub mod timestamp;
pub mod xml;

use crate::Group;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    number::cases(group);
    timestamp::cases(group);
    json::cases(group);
    xml::cases(group);
    percent::cases(group);
    base64::cases(group);
    list::cases(group);
    quotes::cases(group);
    scan::cases(group);
    strings::cases(group);
}

/// A data file: 8 KB of text as people write it, in several scripts.
pub const REAL_TEXT: &str = "bench/nostr/text_real_8k.bin";

/// Pseudo-random numbers, the same in each run (xorshift64*).
pub(crate) fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
}

/// A text of `len` lower-case letters. Of each 1000 characters, about `special` are taken
/// from a given set instead.
pub(crate) fn letters(len: usize, special: u64, set: [char; 4]) -> String {
    let mut random = random(0x9e37_79b9);
    let mut next = move |below: u64| random() % below;
    (0..len)
        .map(|_| match next(1000) {
            kind if kind < special => set[next(4) as usize],
            _ => char::from(b'a' + next(26) as u8),
        })
        .collect()
}

/// 1000 pieces of 12 to 28 bytes of an ASCII text.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    (0..1000)
        .map(|at| text[at * 37..at * 37 + 12 + at * 7 % 17].to_owned())
        .collect()
}
