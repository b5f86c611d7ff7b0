//! The results of checks, and comparisons that describe the difference.

use std::fmt::{Debug, Display};

/// The result of a check: a `bool`, or a `Result` with a description of the error.
pub trait Verdict {
    /// `Err` with a reason if the answer is wrong.
    fn into_result(self) -> Result<(), String>;
}

impl Verdict for bool {
    fn into_result(self) -> Result<(), String> {
        if self {
            Ok(())
        } else {
            Err("the check returned false".to_owned())
        }
    }
}

impl<E: Display> Verdict for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

/// Compares two values and shows both when they differ.
pub fn same<A, B>(got: &A, expected: &B) -> Result<(), String>
where
    A: Debug + PartialEq<B> + ?Sized,
    B: Debug + ?Sized,
{
    if got == expected {
        return Ok(());
    }
    Err(format!(
        "expected {}, got {}",
        shortened(&format!("{expected:?}")),
        shortened(&format!("{got:?}"))
    ))
}

/// Compares bytes and shows the first difference.
pub fn same_bytes(got: &[u8], expected: &[u8]) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    let offset = got
        .iter()
        .zip(expected)
        .take_while(|(left, right)| left == right)
        .count();
    let window = |bytes: &[u8]| {
        let start = offset.saturating_sub(20).min(bytes.len());
        let end = (offset + 40).min(bytes.len());
        bytes[start..end].escape_ascii().to_string()
    };
    Err(format!(
        "differs at byte {offset} of {} (expected {}): expected ..{}.., got ..{}..",
        got.len(),
        expected.len(),
        window(expected),
        window(got)
    ))
}

/// The start of a long text, because a whole document is unreadable in a terminal.
fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 200;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}.. ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_pass() {
        assert!(same(&1, &1).is_ok());
        assert!(same_bytes(b"abc", b"abc").is_ok());
        assert!(true.into_result().is_ok());
        assert!(Ok::<(), String>(()).into_result().is_ok());
    }

    #[test]
    fn differences_are_shown() {
        assert_eq!(same(&1, &2).unwrap_err(), "expected 2, got 1");
        let difference = same_bytes(b"abd", b"abcd").unwrap_err();
        assert_eq!(
            difference,
            "differs at byte 2 of 3 (expected 4): expected ..abcd.., got ..abd.."
        );
        assert!(same_bytes(b"", &[b'a'; 1000]).is_err());
        assert!(same("x".repeat(1000).as_str(), "y").unwrap_err().len() < 300);
    }
}
