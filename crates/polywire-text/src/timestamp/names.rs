//! The names of days and months in HTTP-dates: as words with the byte that
//! stands behind them, and found by a hash that knows nothing else.

use super::fields::Fields;
use crate::Malformed;

pub(super) const DAYS: [[u8; 3]; 7] = [
    *b"Mon", *b"Tue", *b"Wed", *b"Thu", *b"Fri", *b"Sat", *b"Sun",
];
const FULL_DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
pub(super) const MONTHS: [[u8; 3]; 12] = [
    *b"Jan", *b"Feb", *b"Mar", *b"Apr", *b"May", *b"Jun", *b"Jul", *b"Aug", *b"Sep", *b"Oct",
    *b"Nov", *b"Dec",
];

/// `Mon,` and so on, from Monday.
pub(super) const DAY_WORDS: [u32; 7] = {
    let mut words = [0; 7];
    let mut at = 0;
    while at < 7 {
        let [a, b, c] = DAYS[at];
        words[at] = u32::from_le_bytes([a, b, c, b',']);
        at += 1;
    }
    words
};

/// `Jan ` and so on, from 1.
pub(super) const MONTH_WORDS: [u32; 16] = {
    let mut words = [0; 16];
    let mut at = 0;
    while at < 12 {
        let [a, b, c] = MONTHS[at];
        words[at + 1] = u32::from_le_bytes([a, b, c, b' ']);
        at += 1;
    }
    words
};

/// Where a word of [`MONTH_WORDS`] stands in [`MONTH_OF_HASH`]: the multiplier
/// was found by trying.
const fn month_hash(word: u32) -> usize {
    (word.wrapping_mul(0x0741_c7a9) >> 28) as usize
}

/// The months by their hashes. A month that shared its hash with another would
/// not be read back, and the test of all months would fail.
const MONTH_OF_HASH: [u8; 16] = {
    let mut months = [0; 16];
    let mut month = 1;
    while month <= 12 {
        months[month_hash(MONTH_WORDS[month])] = month as u8;
        month += 1;
    }
    months
};

/// The same for the words of [`DAY_WORDS`].
const fn day_hash(word: u32) -> usize {
    (word.wrapping_mul(0x3a90_2931) >> 29) as usize
}

const DAY_OF_HASH: [u32; 8] = {
    let mut days = [0; 8];
    let mut at = 0;
    while at < 7 {
        days[day_hash(DAY_WORDS[at])] = DAY_WORDS[at];
        at += 1;
    }
    days
};

/// The days' names in full, by the same hashes: the first eight bytes of the
/// name and what follows it, and the length of the name.
const FULL_DAY_OF_HASH: [(u64, usize); 8] = {
    let mut days = [(0, 0); 8];
    let mut at = 0;
    while at < 7 {
        let name = FULL_DAYS[at].as_bytes();
        let mut bytes = [0; 8];
        let mut place = 0;
        while place < 8 {
            bytes[place] = match place.checked_sub(name.len()) {
                None => name[place],
                Some(0) => b',',
                Some(_) => b' ',
            };
            place += 1;
        }
        days[day_hash(DAY_WORDS[at])] = (u64::from_le_bytes(bytes), name.len());
        at += 1;
    }
    days
};

/// Whether a name of six to nine bytes, which these bytes begin with, is a
/// day's in full.
#[inline]
pub(super) fn is_full_day(bytes: &[u8], len: usize) -> bool {
    let Some(chunk) = bytes.first_chunk() else {
        return false;
    };
    let word = u64::from_le_bytes(*chunk);
    let short = word as u32 & 0x00ff_ffff | u32::from(b',') << 24;
    let (full, full_len) = FULL_DAY_OF_HASH[day_hash(short)];
    // Only Wednesday has a ninth letter.
    (word, len) == (full, full_len) && (len < 9 || bytes.get(8) == Some(&b'y'))
}

/// The month that a word with a space is.
#[inline]
pub(super) const fn month_of(word: u32) -> Option<u32> {
    let month = MONTH_OF_HASH[month_hash(word)];
    if month == 0 || MONTH_WORDS[(month & 15) as usize] != word {
        return None;
    }
    Some(month as u32)
}

/// Whether a word is the name of a day with a comma.
#[inline]
pub(super) const fn is_day(word: u32) -> bool {
    // A word of zeros is at the place that no day has; it comes from no text
    // that a pattern of this file fits, but need not be relied on.
    word != 0 && DAY_OF_HASH[day_hash(word)] == word
}

/// A day of the week; whether its name is in full.
pub(super) fn weekday(fields: &mut Fields<'_>) -> Result<bool, Malformed> {
    let start = fields.at;
    let word = fields.word();
    if DAYS.iter().any(|day| day == word) {
        return Ok(false);
    }
    if FULL_DAYS.iter().any(|day| day.as_bytes() == word) {
        return Ok(true);
    }
    Err(Malformed::new(start, "a day of the week"))
}

pub(super) fn month_name(fields: &mut Fields<'_>) -> Result<u32, Malformed> {
    let start = fields.at;
    let word = fields.word();
    match MONTHS.iter().position(|month| month == word) {
        Some(index) => Ok(index as u32 + 1),
        None => Err(Malformed::new(start, "a month of three letters")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name() {
        for (at, word) in DAY_WORDS.into_iter().enumerate() {
            assert!(is_day(word), "{at}");
        }
        for month in 1..=12 {
            assert_eq!(month_of(MONTH_WORDS[month as usize]), Some(month));
        }
        assert!(!is_day(0));
        assert_eq!(month_of(0), None);
    }
}
