//! Surrogate pairs: characters above U+FFFF that are written as two character references.

use std::borrow::Cow;

use polywire_text::Malformed;
use polywire_text::escape::{XmlPlace, XmlReading, unescape_xml};

/// Like [`unescape_xml`] for character data, but accepts surrogate pairs. A single surrogate is an
/// error.
///
/// Takes linear time, whatever the number of pairs.
#[cold]
pub(super) fn unescape(text: &str, reading: XmlReading) -> Result<Cow<'_, str>, Malformed> {
    let read = |start: usize, end: usize| {
        unescape_xml(&text[start..end], XmlPlace::Text, reading)
            .map_err(|malformed| Malformed::new(start + malformed.offset, malformed.expected))
    };
    let mut whole = String::new();
    let mut start = 0;
    while let Some((at, character, len)) = first_pair(&text[start..]) {
        whole.push_str(&read(start, start + at)?);
        whole.push(character);
        start += at + len;
    }
    let rest = read(start, text.len())?;
    if start == 0 {
        return Ok(rest);
    }
    whole.push_str(&rest);
    Ok(Cow::Owned(whole))
}

/// Finds the first pair. Returns its offset, its character and its length.
fn first_pair(text: &str) -> Option<(usize, char, usize)> {
    memchr::memmem::find_iter(text.as_bytes(), b"&#").find_map(|at| {
        let (high, high_len) = reference(&text[at..])?;
        // Fails early for most references, which are not surrogates.
        let high = high.checked_sub(0xd800).filter(|high| *high < 0x400)?;
        let (low, low_len) = reference(&text[at + high_len..])?;
        let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        let character = char::from_u32(0x1_0000 + (high << 10 | low))?;
        Some((at, character, high_len + low_len))
    })
}

/// Parses a character reference at the start of the text. Returns its number and its length.
fn reference(text: &str) -> Option<(u32, usize)> {
    let rest = text.strip_prefix("&#")?;
    let (rest, radix) = match rest.strip_prefix('x') {
        Some(rest) => (rest, 16),
        None => (rest, 10),
    };
    // `from_str_radix` accepts a sign, which is not allowed here.
    let len = rest
        .bytes()
        .take_while(|byte| char::from(*byte).is_digit(radix));
    let (digits, rest) = rest.split_at(len.count());
    let rest = rest.strip_prefix(';')?;
    let number = u32::from_str_radix(digits, radix).ok()?;
    Some((number, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs() {
        let read = |text| unescape(text, XmlReading::Strict);
        for (text, expected) in [
            ("a", "a"),
            ("&#55357;&#56832;", "\u{1f600}"),
            ("&#xD83D;&#xde00;", "\u{1f600}"),
            ("&#55357;&#xDE00;", "\u{1f600}"),
            ("&#055357;&#56832;", "\u{1f600}"),
            ("&#55296;&#56320;&#56319;&#57343;", "\u{10000}\u{10ffff}"),
            ("a&amp;&#55357;&#56832;\r\n&#66;", "a&\u{1f600}\nB"),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        for (text, offset) in [
            ("a&#55357;", 3),
            ("a&#56832;&#55357;", 3),
            ("&#55357; &#56832;", 2),
            ("&#55357;&#65;", 2),
            ("&#55357;&#+56832;", 2),
            ("&#55357;&#56832", 2),
            ("&#55357;&#56832;&#55357;", 18),
            ("&#55357;&#56832;a\u{1}", 17),
            ("&#X D83D;", 2),
        ] {
            assert_eq!(read(text).unwrap_err().offset, offset, "{text}");
        }
    }
}
