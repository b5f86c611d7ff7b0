//! The grammars of decimal numbers.

use super::digits;
use crate::Malformed;

/// The grammar of decimal numbers in a format.
///
/// None of them has white space, digits other than ASCII, separators between digits, or another
/// base. For words such as `NaN` see [`NonFinite`](super::NonFinite).
// Not `#[non_exhaustive]`: formats that match on it should fail to compile if there is a new one.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Grammar {
    /// RFC 8259, section 6, the strictest and the default: no `+`, no leading zeros, digits on both
    /// sides of a point.
    ///
    /// ```text
    /// number = [ "-" ] int [ "." 1*DIGIT ] [ ("e" / "E") [ "-" / "+" ] 1*DIGIT ]
    /// int    = "0" / ( %x31-39 *DIGIT )
    /// ```
    #[default]
    Json,
    /// XML Schema 1.1, part 2: `xs:integer` (3.4.13) for integers, `xs:double` (3.3.5) for floats.
    /// Either sign, leading zeros, and the digits on one side of the point may be missing. Forms
    /// have no grammar and are read by this one, which accepts everything that browsers (HTML,
    /// "rules for parsing floating-point number values") and services write.
    ///
    /// ```text
    /// integer = [ "+" / "-" ] 1*DIGIT
    /// double  = [ "+" / "-" ] ( 1*DIGIT [ "." *DIGIT ] / "." 1*DIGIT ) [ exponent ]
    /// exponent = ("e" / "E") [ "+" / "-" ] 1*DIGIT
    /// ```
    XmlSchema,
    /// The same without an exponent: `xs:decimal` (3.3.3), and the double of XML-RPC.
    Plain,
}

/// The parts of a number, as offsets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Layout {
    /// The length of the sign: 0 or 1.
    pub(super) sign: usize,
    /// The end of the digits before the point.
    pub(super) whole: usize,
    /// The end of the digits after the point, or `whole` without a point.
    pub(super) fraction: usize,
    /// The end of the number.
    pub(super) end: usize,
}

impl Layout {
    /// Whether there is neither a point nor an exponent.
    pub(super) fn is_integer(self) -> bool {
        self.whole == self.end
    }
}

/// The number at the beginning of `bytes`.
pub(super) fn layout(bytes: &[u8], grammar: Grammar) -> Result<Layout, Malformed> {
    let json = grammar == Grammar::Json;
    let sign = match bytes.first() {
        Some(b'-') => 1,
        Some(b'+') if !json => 1,
        _ => 0,
    };
    let whole = digits::end(bytes, sign);
    if json && whole == sign {
        return Err(Malformed::new(sign, "a digit"));
    }
    if json && whole - sign > 1 && bytes[sign] == b'0' {
        return Err(Malformed::new(sign + 1, "no digit after a leading zero"));
    }
    let mut fraction = whole;
    if bytes.get(whole) == Some(&b'.') {
        fraction = digits::end(bytes, whole + 1);
        if fraction == whole + 1 && (json || whole == sign) {
            return Err(Malformed::new(fraction, "a digit after the decimal point"));
        }
    } else if whole == sign {
        return Err(Malformed::new(sign, "a decimal number"));
    }
    let mut end = fraction;
    if let Some(b'e' | b'E') = bytes.get(end)
        && grammar != Grammar::Plain
    {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let first = end + 1 + signed;
        end = digits::end(bytes, first);
        if end == first {
            return Err(Malformed::new(first, "a digit of the exponent"));
        }
    }
    Ok(Layout {
        sign,
        whole,
        fraction,
        end,
    })
}

/// Checks the JSON number at the beginning of `bytes` (RFC 8259, section 6). Returns its length,
/// and whether it has neither fraction nor exponent.
///
/// # Errors
///
/// The first byte that does not match the grammar.
///
/// ```
/// use polywire_text::number::json_number;
///
/// assert_eq!(json_number(b"-0.5e+3]"), Ok((7, false)));
/// assert_eq!(json_number(b"12]"), Ok((2, true)));
/// assert_eq!(json_number(b"01").unwrap_err().offset, 1);
/// assert_eq!(json_number(b"1.").unwrap_err().offset, 2);
/// ```
pub fn json_number(bytes: &[u8]) -> Result<(usize, bool), Malformed> {
    let layout = layout(bytes, Grammar::Json)?;
    Ok((layout.end, layout.is_integer()))
}
