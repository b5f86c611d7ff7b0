//! Spellings of floating-point numbers, and writers.

use std::fmt;

use super::decimal::Decimal;
use super::float::Float;
use super::grammar::Grammar;
use super::integer::push_i64;

/// The words for not-a-number and the infinities.
// Not `#[non_exhaustive]`: formats that match on it should fail to compile if there is a new one.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum NonFinite {
    /// None: these numbers are errors, as in JSON and XML-RPC. The default.
    #[default]
    Reject,
    /// `NaN`, `Infinity`, `-Infinity`: Smithy's protocols in XML, forms, headers and labels.
    Smithy,
    /// The same in quotes, such as `"NaN"`: Smithy's protocols in JSON.
    SmithyQuoted,
    /// `NaN`, `INF`, `-INF` (XML Schema 1.1, part 2, 3.3.5). `+INF`, which version 1.0 does not
    /// have, is only read.
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
            Self::Reject => return None,
            Self::Smithy => ["NaN", "Infinity", "-Infinity"],
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

/// The spelling of floating-point numbers in a format. The default is [`Spelling::JSON`].
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Spelling {
    /// The grammar of digits, for readers. Writers only distinguish [`Grammar::Plain`], which has
    /// no exponent.
    pub grammar: Grammar,
    /// The words for not-a-number and the infinities.
    pub non_finite: NonFinite,
}

impl Spelling {
    /// RFC 8259: no words.
    pub const JSON: Self = Self::new(Grammar::Json, NonFinite::Reject);
    /// Smithy's protocols in JSON: `"NaN"` in quotes.
    pub const SMITHY_JSON: Self = Self::new(Grammar::Json, NonFinite::SmithyQuoted);
    /// Smithy's protocols in XML, forms, headers and labels: the digits of `xs:double`, and the
    /// words `NaN`, `Infinity`, `-Infinity`.
    pub const SMITHY: Self = Self::new(Grammar::XmlSchema, NonFinite::Smithy);
    /// XML Schema: `NaN`, `INF`, `-INF`.
    pub const XML_SCHEMA: Self = Self::new(Grammar::XmlSchema, NonFinite::XmlSchema);
    /// The double of XML-RPC: no exponent, no words. To read the exponents that some peers send,
    /// such as Python's `1e-07`, use another grammar.
    pub const XML_RPC: Self = Self::new(Grammar::Plain, NonFinite::Reject);

    /// A spelling with this grammar and these words.
    #[must_use]
    pub const fn new(grammar: Grammar, non_finite: NonFinite) -> Self {
        Self {
            grammar,
            non_finite,
        }
    }
}

/// The error of [`push_float`]: the number is not finite, and the spelling has no word for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NotFinite;

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number that is not finite has no spelling here")
    }
}

impl std::error::Error for NotFinite {}

/// Appends the shortest decimal that is read as `value`, or its word. Whole numbers have no
/// fraction: `5`, not `5.0`.
///
/// Numbers below 10^-5, and of 10^16 and above, have an exponent (`1e-7`, `1.5e+300`), except with
/// [`Grammar::Plain`], which may need 327 bytes.
///
/// # Errors
///
/// The spelling has no word for `value`. `out` is unchanged.
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

/// Appends the output of zmij, at most 24 bytes, without `.0`.
#[inline]
fn push_shortest(out: &mut Vec<u8>, shortest: &[u8]) {
    let shortest = shortest.strip_suffix(b".0").unwrap_or(shortest);
    // Two overlapping moves of fixed width: cheaper than the call for a copy of variable length.
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
    // Always `Ok`: zmij writes JSON numbers, and zero without an exponent.
    if let Ok(decimal) = Decimal::parse(shortest.as_bytes()) {
        decimal.push_plain(out);
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

/// [`push_float`] with [`Spelling::SMITHY`], which has words for all numbers.
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
    // Cannot fail: the spelling has words for all numbers.
    let _ = push_float(out, value, Spelling::SMITHY);
}

/// The value as an integer, if its digits are the shortest spelling: a third of the cost for counts
/// and sizes that are doubles. `None` for minus zero.
#[inline]
fn whole(value: f64) -> Option<i64> {
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    // False for not-a-number.
    if value.abs() < EXACT as f64 {
        // SAFETY: the number is finite and within `i64`. (A checked cast takes several instructions
        // more.)
        let whole = unsafe { value.to_int_unchecked::<i64>() };
        if whole as f64 == value && (whole != 0 || value.is_sign_positive()) {
            return Some(whole);
        }
    }
    None
}

/// Like [`push_f64`], with the shortest decimal for 32 bits.
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
