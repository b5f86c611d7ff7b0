//! How floating-point numbers are spelled, and writing them so.

use std::fmt;

use super::decimal::Decimal;
use super::float::Float;
use super::grammar::Grammar;
use super::integer::push_i64;

/// The spelling of not-a-number in Smithy's text formats.
pub const NAN: &str = "NaN";
/// The spelling of positive infinity in Smithy's text formats.
pub const INFINITY: &str = "Infinity";
/// The spelling of negative infinity in Smithy's text formats.
pub const NEGATIVE_INFINITY: &str = "-Infinity";

/// What not-a-number and the infinities are, read and written.
// Exhaustive on purpose: who matches on it should hear of a new one.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum NonFinite {
    /// Errors: JSON and XML-RPC have no word for them. The default.
    #[default]
    Refuse,
    /// `NaN`, `Infinity`, `-Infinity`, as Smithy's protocols have them in XML,
    /// forms, headers and labels.
    Smithy,
    /// The same as strings of JSON, quotes included: `"NaN"`, as Smithy's
    /// protocols have them there.
    SmithyQuoted,
    /// `NaN`, `INF`, `-INF` (XML Schema 1.1, part 2, 3.3.5). `+INF` is read,
    /// which 1.1 allows, and not written, since 1.0 does not.
    XmlSchema,
}

pub(super) struct Words {
    pub(super) nan: &'static str,
    pub(super) infinity: &'static str,
    pub(super) negative_infinity: &'static str,
}

impl NonFinite {
    pub(super) fn words(self) -> Option<Words> {
        let [nan, infinity, negative_infinity] = match self {
            Self::Refuse => return None,
            Self::Smithy => [NAN, INFINITY, NEGATIVE_INFINITY],
            Self::SmithyQuoted => ["\"NaN\"", "\"Infinity\"", "\"-Infinity\""],
            Self::XmlSchema => ["NaN", "INF", "-INF"],
        };
        Some(Words {
            nan,
            infinity,
            negative_infinity,
        })
    }
}

/// How a format spells floating-point numbers: the grammar of digits, and the
/// words for what has none. The default is [`Spelling::JSON`], the strictest.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Spelling {
    /// What digits may look like. [`Grammar::Plain`] is written without
    /// exponent too.
    pub grammar: Grammar,
    /// What stands for not-a-number and the infinities.
    pub non_finite: NonFinite,
}

impl Spelling {
    /// RFC 8259: no words.
    pub const JSON: Self = Self::new(Grammar::Json, NonFinite::Refuse);
    /// JSON as Smithy's protocols have it: `"NaN"` in quotes.
    pub const SMITHY_JSON: Self = Self::new(Grammar::Json, NonFinite::SmithyQuoted);
    /// XML, forms, headers and labels as Smithy's protocols have them: the
    /// digits of `xs:double`, and the words `NaN`, `Infinity`, `-Infinity`.
    pub const SMITHY: Self = Self::new(Grammar::XmlSchema, NonFinite::Smithy);
    /// XML Schema's own: `NaN`, `INF`, `-INF`.
    pub const XML_SCHEMA: Self = Self::new(Grammar::XmlSchema, NonFinite::XmlSchema);
    /// The double of XML-RPC: decimal point notation, no exponent, no words.
    /// Peers send exponents all the same (Python's `1e-07`); who would read
    /// them takes another grammar for reading.
    pub const XML_RPC: Self = Self::new(Grammar::Plain, NonFinite::Refuse);

    /// A spelling of these two.
    #[must_use]
    pub const fn new(grammar: Grammar, non_finite: NonFinite) -> Self {
        Self {
            grammar,
            non_finite,
        }
    }
}

/// The number is not finite, and the format has no word for that.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NotFinite;

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number that is not finite has no spelling here")
    }
}

impl std::error::Error for NotFinite {}

/// Appends the shortest decimal that reads back as `value`, or its word. A whole
/// number has no fraction: `5`, not `5.0`.
///
/// Exponents stand where the plain form would be long: below 10^-5 and from
/// 10^16 on (`1e-7`, `1.5e+300`). With [`Grammar::Plain`] there are none, and
/// the same digits are laid out with zeros, at most 327 bytes.
///
/// # Errors
///
/// That the spelling has no word for `value`. `out` is then as it was.
///
/// ```
/// use polywire_text::number::{NotFinite, Spelling, push_float};
///
/// let mut out = Vec::new();
/// push_float(&mut out, 0.000_000_1, Spelling::JSON)?;
/// out.push(b' ');
/// push_float(&mut out, 0.000_000_1, Spelling::XML_RPC)?;
/// out.push(b' ');
/// push_float(&mut out, f32::NEG_INFINITY, Spelling::XML_SCHEMA)?;
/// assert_eq!(out, b"1e-7 0.0000001 -INF");
/// assert_eq!(push_float(&mut out, f64::NAN, Spelling::JSON), Err(NotFinite));
/// # Ok::<(), NotFinite>(())
/// ```
#[inline]
pub fn push_float<F: Float>(
    out: &mut Vec<u8>,
    value: F,
    spelling: Spelling,
) -> Result<(), NotFinite> {
    if !value.is_finite() {
        return push_word(out, value, spelling.non_finite);
    }
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(value);
    if spelling.grammar == Grammar::Plain && shortest.contains('e') {
        push_plain(out, shortest);
    } else {
        push_shortest(out, shortest.as_bytes());
    }
    Ok(())
}

/// Appends what zmij wrote, without an empty fraction.
#[inline]
fn push_shortest(out: &mut Vec<u8>, shortest: &[u8]) {
    let shortest = shortest.strip_suffix(b".0").unwrap_or(shortest);
    // Two moves of a fixed width that overlap, for nearly all lengths: cheaper
    // than a call for a copy of some length.
    // At most 24 bytes, says zmij.
    let before_last = (out.len() + shortest.len()).wrapping_sub(8);
    if let (Some(first), Some(last)) = (shortest.first_chunk::<16>(), shortest.last_chunk::<8>()) {
        out.extend_from_slice(first);
        out.truncate(before_last);
        out.extend_from_slice(last);
    } else if let (Some(first), Some(last)) =
        (shortest.first_chunk::<8>(), shortest.last_chunk::<8>())
    {
        out.extend_from_slice(first);
        out.truncate(before_last);
        out.extend_from_slice(last);
    } else {
        out.extend_from_slice(shortest);
    }
}

#[inline(never)]
fn push_plain(out: &mut Vec<u8>, shortest: &str) {
    // What zmij writes is JSON's, and far from any limit.
    if let Ok(decimal) = Decimal::parse(shortest.as_bytes(), Grammar::Json) {
        let _ = decimal.push_plain(out, usize::MAX);
    }
}

#[cold]
fn push_word<F: Float>(
    out: &mut Vec<u8>,
    value: F,
    non_finite: NonFinite,
) -> Result<(), NotFinite> {
    let words = non_finite.words().ok_or(NotFinite)?;
    let word = match (value.is_nan(), value.is_negative()) {
        (true, _) => words.nan,
        (false, false) => words.infinity,
        (false, true) => words.negative_infinity,
    };
    out.extend_from_slice(word.as_bytes());
    Ok(())
}

/// Appends the shortest decimal that reads back as `value`; `NaN`, `Infinity`
/// and `-Infinity` as those words, for the caller to quote or refuse
/// ([`Spelling::SMITHY`]). A whole number has no fraction: `5`, not `5.0`.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::number::push_f64(&mut out, 0.1);
/// out.push(b' ');
/// polywire_text::number::push_f64(&mut out, 5.0);
/// assert_eq!(out, b"0.1 5");
/// ```
#[inline]
pub fn push_f64(out: &mut Vec<u8>, value: f64) {
    if let Some(whole) = whole(value) {
        return push_i64(out, whole);
    }
    // Has a word for everything.
    let _ = push_float(out, value, Spelling::SMITHY);
}

/// A whole number whose digits are its shortest spelling: counts and sizes that
/// models have as doubles, at a third of the price. Minus zero is none.
#[inline]
fn whole(value: f64) -> Option<i64> {
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    // Not-a-number is not below either.
    if value.abs() < EXACT as f64 {
        // SAFETY: the number is finite, and without its fraction an `i64`. (A cast that
        // looks for itself is several instructions more.)
        let whole = unsafe { value.to_int_unchecked::<i64>() };
        if whole as f64 == value && (whole != 0 || value.is_sign_positive()) {
            return Some(whole);
        }
    }
    None
}

/// As [`push_f64`], shortest for 32 bits.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::number::push_f32(&mut out, 0.1);
/// assert_eq!(out, b"0.1");
/// ```
#[inline]
pub fn push_f32(out: &mut Vec<u8>, value: f32) {
    let _ = push_float(out, value, Spelling::SMITHY);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<F: Float>(value: F, spelling: Spelling) -> String {
        let mut out = Vec::new();
        push_float(&mut out, value, spelling).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn shortest() {
        for (value, expected) in [
            (-0.0, "-0"),
            (0.0, "0"),
            (0.1, "0.1"),
            (0.3, "0.3"),
            (12.75, "12.75"),
            (1e300, "1e+300"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(written(value, Spelling::SMITHY), expected);
        }
        assert_eq!(written(0.1_f32, Spelling::JSON), "0.1");
    }

    #[test]
    fn plain() {
        for (value, expected) in [
            (-0.0, "-0".to_owned()),
            // What a peer wrote as 0.10000000000000001.
            (0.1, "0.1".to_owned()),
            (1e-7, "0.0000001".to_owned()),
            (-1.5e-9, "-0.0000000015".to_owned()),
            (1e16, format!("1{}", "0".repeat(16))),
            (f64::MAX, format!("17976931348623157{}", "0".repeat(292))),
            (5e-324, format!("0.{}5", "0".repeat(323))),
        ] {
            assert_eq!(written(value, Spelling::XML_RPC), expected);
        }
        assert_eq!(written(-f64::MIN_POSITIVE, Spelling::XML_RPC).len(), 327);
    }

    #[test]
    fn words() {
        for (spelling, expected) in [
            (Spelling::SMITHY, ["NaN", "Infinity", "-Infinity"]),
            (Spelling::XML_SCHEMA, ["NaN", "INF", "-INF"]),
            (
                Spelling::SMITHY_JSON,
                ["\"NaN\"", "\"Infinity\"", "\"-Infinity\""],
            ),
        ] {
            for (value, expected) in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY]
                .into_iter()
                .zip(expected)
            {
                assert_eq!(written(value, spelling), expected);
                let read: f64 = super::super::parse_float(expected.as_bytes(), spelling).unwrap();
                assert!(read == value || read.is_nan() && value.is_nan());
            }
        }
        for spelling in [Spelling::JSON, Spelling::XML_RPC] {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut out = b"kept".to_vec();
                assert_eq!(push_float(&mut out, value, spelling), Err(NotFinite));
                assert_eq!(out, b"kept");
            }
        }
    }
}
