//! Hexadecimal: see [`hex`](crate::hex).

use crate::Malformed;
use crate::hex::Case;

/// The digits of `bytes` in lower case.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of `text`: exactly `len`, if given.
///
/// # Errors
///
/// The first byte that is wrong.
pub fn decode(text: &[u8], len: Option<usize>, case: Case) -> Result<Vec<u8>, Malformed> {
    let mut bytes = Vec::new();
    let mut high = None;
    for (offset, byte) in text.iter().enumerate() {
        if len == Some(bytes.len()) {
            let expected = "the end of the hexadecimal digits";
            return Err(Malformed::new(offset, expected));
        }
        let digit = digit(*byte, case).ok_or(Malformed::new(offset, expected(case)))?;
        match high.take() {
            None => high = Some(digit),
            Some(high) => bytes.push(16 * high + digit),
        }
    }
    if high.is_some() {
        let expected = "the second hexadecimal digit of a byte";
        return Err(Malformed::new(text.len(), expected));
    }
    if len.is_some_and(|len| bytes.len() < len) {
        return Err(Malformed::new(text.len(), "more hexadecimal digits"));
    }
    Ok(bytes)
}

fn digit(byte: u8, case: Case) -> Option<u8> {
    let ten = match (byte, case) {
        (b'0'..=b'9', _) => return Some(byte - b'0'),
        (b'a'..=b'f', Case::Any | Case::Lower) => b'a',
        (b'A'..=b'F', Case::Any) => b'A',
        _ => return None,
    };
    Some(byte - ten + 10)
}

fn expected(case: Case) -> &'static str {
    match case {
        Case::Any => "a hexadecimal digit",
        Case::Lower => "a hexadecimal digit in lower case",
    }
}
