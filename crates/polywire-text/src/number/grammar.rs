//! Which digits, signs and points a format takes.

use super::digits;
use crate::Malformed;

/// The grammar of decimal numbers in a format.
///
/// None of them has white space, other digits than ASCII's, separators between
/// digits, or another base. Words for what is no number are a
/// [`NonFinite`](super::NonFinite).
// Exhaustive on purpose: who matches on it should hear of a new one.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Grammar {
    /// RFC 8259, section 6, the strictest and the default: `-` or no sign, no
    /// leading zeros, digits on both sides of a point.
    ///
    /// ```text
    /// number = [ "-" ] int [ "." 1*DIGIT ] [ ("e" / "E") [ "-" / "+" ] 1*DIGIT ]
    /// int    = "0" / ( %x31-39 *DIGIT )
    /// ```
    #[default]
    Json,
    /// XML Schema 1.1, part 2: `xs:integer` (3.4.13) for integers, `xs:double`
    /// (3.3.5) for others. Either sign, leading zeros, and of the digits before
    /// and behind the point one side may be missing. Forms have no grammar of
    /// their own and are read by this one, which takes all that browsers (HTML,
    /// "rules for parsing floating-point number values") and services write.
    ///
    /// ```text
    /// integer = [ "+" / "-" ] 1*DIGIT
    /// double  = [ "+" / "-" ] ( 1*DIGIT [ "." *DIGIT ] / "." 1*DIGIT ) [ exponent ]
    /// exponent = ("e" / "E") [ "+" / "-" ] 1*DIGIT
    /// ```
    XmlSchema,
    /// The same without an exponent: `xs:decimal` (3.3.3), and the double of
    /// XML-RPC, which knows decimal point notation alone.
    Plain,
}

/// What a number looked like on the way to its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Layout {
    /// The length of the sign: 0 or 1.
    pub(super) sign: usize,
    /// Where the digits before the point end, and with them the integer.
    pub(super) whole: usize,
    /// Where the digits behind the point end, or `whole` without a point.
    pub(super) fraction: usize,
    /// Where the number ends.
    pub(super) end: usize,
}

impl Layout {
    /// Neither a point nor an exponent.
    pub(super) fn is_integer(self) -> bool {
        self.whole == self.end
    }
}

/// Follows `grammar` from the beginning of `bytes` as far as it goes.
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

/// The length of the JSON number at the beginning of `bytes` by the grammar of
/// RFC 8259, section 6, and whether it is an integer (no fraction, no
/// exponent).
///
/// # Errors
///
/// The offset at which the grammar was left, and what it asked for.
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
