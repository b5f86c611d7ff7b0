//! Numbers, byte by byte, with strings of digits and the standard library: see [`crate::number`].

use crate::Malformed;
use crate::number::{Grammar, NonFinite, Spelling};

/// The number of digits at the beginning of `bytes`.
fn digits(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

fn sign(bytes: &[u8], grammar: Grammar) -> usize {
    match bytes.first() {
        Some(b'-') => 1,
        Some(b'+') if grammar != Grammar::Json => 1,
        _ => 0,
    }
}

/// The length of the number at the beginning of `bytes`, and whether it has neither point nor
/// exponent.
///
/// # Errors
///
/// The first byte that does not match the grammar.
pub fn number(bytes: &[u8], grammar: Grammar) -> Result<(usize, bool), Malformed> {
    let json = grammar == Grammar::Json;
    let mut at = sign(bytes, grammar);
    let whole = digits(&bytes[at..]);
    if json && whole == 0 {
        return Err(Malformed::new(at, "a digit"));
    }
    // int = "0" / ( %x31-39 *DIGIT )
    if json && whole > 1 && bytes[at] == b'0' {
        return Err(Malformed::new(at + 1, "no digit after a leading zero"));
    }
    at += whole;
    let mut integer = true;
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        integer = false;
        let places = digits(&bytes[at..]);
        if places == 0 && (json || whole == 0) {
            return Err(Malformed::new(at, "a digit after the decimal point"));
        }
        at += places;
    } else if whole == 0 {
        return Err(Malformed::new(at, "a decimal number"));
    }
    if grammar != Grammar::Plain && matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        integer = false;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits(&bytes[at..]);
        if exponent == 0 {
            return Err(Malformed::new(at, "a digit of the exponent"));
        }
        at += exponent;
    }
    Ok((at, integer))
}

/// The integer at the beginning of `bytes`: its length, and its digits without leading zeros, with
/// a minus if it is negative.
///
/// # Errors
///
/// The first byte that does not match the grammar.
pub fn integer(bytes: &[u8], grammar: Grammar) -> Result<(usize, String), Malformed> {
    let sign = sign(bytes, grammar);
    let count = digits(&bytes[sign..]);
    if count == 0 {
        return Err(Malformed::new(sign, "a decimal integer"));
    }
    if grammar == Grammar::Json && count > 1 && bytes[sign] == b'0' {
        return Err(Malformed::new(sign + 1, "no digit after a leading zero"));
    }
    let digits: String = bytes[sign..sign + count]
        .iter()
        .map(|byte| char::from(*byte))
        .collect();
    let value = match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits if bytes.first() == Some(&b'-') => format!("-{digits}"),
        digits => digits.to_owned(),
    };
    Ok((sign + count, value))
}

/// All of `bytes` as a double, by the standard library.
///
/// # Errors
///
/// As [`crate::number::parse_float`].
pub fn double(bytes: &[u8], spelling: Spelling) -> Result<f64, Malformed> {
    let words: [&[u8]; 3] = match spelling.non_finite {
        NonFinite::Reject => [b"", b"", b""],
        NonFinite::Smithy => [b"NaN", b"Infinity", b"-Infinity"],
        NonFinite::SmithyQuoted => [b"\"NaN\"", b"\"Infinity\"", b"\"-Infinity\""],
        NonFinite::XmlSchema => [b"NaN", b"INF", b"-INF"],
    };
    for (word, value) in words
        .into_iter()
        .zip([f64::NAN, f64::INFINITY, f64::NEG_INFINITY])
    {
        if !bytes.is_empty() && bytes == word {
            return Ok(value);
        }
    }
    if spelling.non_finite == NonFinite::XmlSchema && bytes == b"+INF" {
        return Ok(f64::INFINITY);
    }
    let (len, _) = number(bytes, spelling.grammar)?;
    let text: String = bytes[..len].iter().map(|byte| char::from(*byte)).collect();
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && len < bytes.len() => {
            Err(Malformed::new(len, "the end of the number"))
        }
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(Malformed::new(0, "a number within the range of its type")),
    }
}

/// A text that is the same for equal numbers: minus, digits without zeros at either end, and the
/// exponent of the last digit if it is not 0. Zero is `0`. Exponents are limited to 2^62.
#[must_use]
pub fn canonical(text: &str) -> String {
    let negative = text.starts_with('-');
    let text = text.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, places) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let endless = 1 << 62;
    let mut exponent = exponent.parse().unwrap_or(if exponent.starts_with('-') {
        -endless
    } else {
        endless
    });
    exponent = exponent.clamp(-endless, endless) - places.len() as i64;
    let mut digits = format!("{whole}{places}");
    while digits.ends_with('0') {
        digits.pop();
        exponent += 1;
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return "0".to_owned();
    }
    let sign = if negative { "-" } else { "" };
    match exponent {
        0 => format!("{sign}{digits}"),
        exponent => format!("{sign}{digits}e{exponent}"),
    }
}

/// A number without an exponent, with the zeros at the end of its fraction.
#[must_use]
pub fn plain(text: &str) -> String {
    let sign = if text.starts_with('-') { "-" } else { "" };
    let text = text.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, places) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (mut before, mut after) = (whole.to_owned(), places.to_owned());
    // Zero has no exponent.
    let zero = mantissa.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let exponent: i64 = if zero {
        0
    } else {
        exponent.parse().unwrap_or(0)
    };
    // Moves the point by one digit at a time.
    for _ in 0..exponent.max(0) {
        before.push(if after.is_empty() {
            '0'
        } else {
            after.remove(0)
        });
    }
    for _ in 0..(-exponent).max(0) {
        after.insert(0, before.pop().unwrap_or('0'));
    }
    let before = match before.trim_start_matches('0') {
        "" => "0",
        before => before,
    };
    match after.as_str() {
        "" => format!("{sign}{before}"),
        after => format!("{sign}{before}.{after}"),
    }
}
