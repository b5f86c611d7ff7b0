//! Names of days and months in HTTP-dates: four-byte words that include the following byte, found
//! by a perfect hash.

use super::fields::Fields;
use crate::Malformed;

const DAYS: [[u8; 3]; 7] = [
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
const MONTHS: [[u8; 3]; 12] = [
    *b"Jan", *b"Feb", *b"Mar", *b"Apr", *b"May", *b"Jun", *b"Jul", *b"Aug", *b"Sep", *b"Oct",
    *b"Nov", *b"Dec",
];

/// `Mon,` to `Sun,`.
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

/// `Jan ` to `Dec `, from index 1.
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

/// The index of a word of [`MONTH_WORDS`] in [`MONTH_OF_HASH`]. The multiplier was found by search.
const fn month_hash(word: u32) -> usize {
    (word.wrapping_mul(0x0741_c7a9) >> 28) as usize
}

/// Months by hash. With a collision, the test below would fail.
const MONTH_OF_HASH: [u8; 16] = {
    let mut months = [0; 16];
    let mut month = 1;
    while month <= 12 {
        months[month_hash(MONTH_WORDS[month])] = month as u8;
        month += 1;
    }
    months
};

/// The index of a word of [`DAY_WORDS`] in [`DAY_OF_HASH`].
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

/// Full names of days, by the same hash: the first eight bytes, padded with a comma and spaces, and
/// the length of the name.
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

/// Whether `bytes` start with the full name of a day, which must have `len` bytes.
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

/// The month of a word such as `Jan `.
#[inline]
pub(super) const fn month_of(word: u32) -> Option<u32> {
    let month = MONTH_OF_HASH[month_hash(word)];
    if month == 0 || MONTH_WORDS[(month & 15) as usize] != word {
        return None;
    }
    Some(month as u32)
}

/// Whether a word is one such as `Mon,`.
#[inline]
pub(super) const fn is_day(word: u32) -> bool {
    // The unused entry of the table is zero.
    word != 0 && DAY_OF_HASH[day_hash(word)] == word
}

/// Reads the name of a day. Returns whether it is the full name.
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

/// Reads the name of a month: 1 to 12.
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
