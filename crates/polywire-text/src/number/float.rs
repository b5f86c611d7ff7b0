//! Reads floating-point numbers.

use super::digits;
use super::exact;
use super::grammar::{self, Grammar};
use super::spelling::{NonFinite, Spelling};
use crate::Malformed;

/// The floating-point numbers: `f32` and `f64`.
///
/// Sealed: use [`parse_float`] and [`push_float`](super::push_float).
pub trait Float: Copy + PartialEq + sealed::Sealed {}

impl Float for f32 {}
impl Float for f64 {}

pub(super) mod sealed {
    pub trait Sealed: zmij::Float {
        const NAN: Self;
        const INFINITY: Self;
        /// The number nearest to `mantissa * 10^exponent`; `None` if this function cannot tell.
        fn nearest(mantissa: u64, exponent: i32) -> Option<Self>;
        /// Parses by fast-float2, which accepts more than our grammars.
        fn slow(bytes: &[u8]) -> Option<Self>;
        fn negate_if(self, negative: bool) -> Self;
        fn is_finite(self) -> bool;
        fn is_nan(self) -> bool;
        fn is_negative(self) -> bool;
    }
}

macro_rules! float {
    ($float:ident, $nearest:expr) => {
        impl sealed::Sealed for $float {
            const NAN: Self = Self::NAN;
            const INFINITY: Self = Self::INFINITY;

            #[inline]
            fn nearest(mantissa: u64, exponent: i32) -> Option<Self> {
                let nearest: fn(u64, i32) -> Option<Self> = $nearest;
                nearest(mantissa, exponent)
            }

            fn slow(bytes: &[u8]) -> Option<Self> {
                fast_float2::parse(bytes).ok()
            }

            #[inline]
            fn negate_if(self, negative: bool) -> Self {
                if negative { -self } else { self }
            }

            #[inline]
            fn is_finite(self) -> bool {
                self.is_finite()
            }

            #[inline]
            fn is_nan(self) -> bool {
                self.is_nan()
            }

            #[inline]
            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
        }
    };
}

float!(f64, exact::nearest_f64);
float!(f32, exact::nearest_f32);

/// A common number: a mantissa of at most 19 digits, times a power of ten.
struct Common {
    negative: bool,
    mantissa: u64,
    exponent: i32,
    end: usize,
}

impl Common {
    /// Reads at the beginning of `bytes`. `None` if the number is not common, or invalid.
    #[inline(always)]
    fn read(bytes: &[u8], grammar: Grammar) -> Option<Self> {
        let json = grammar == Grammar::Json;
        let (negative, digits) = match bytes {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] if !json => (false, digits),
            digits => (false, digits),
        };
        let (mut rest, mut mantissa) = (digits, 0);
        let (whole, mut places, open);
        if let Some(start) = digits::start(digits) {
            if !start.open && start.next | 0x20 != b'e' {
                // Most numbers end here.
                return Some(Self {
                    negative,
                    mantissa: u64::from(start.mantissa),
                    exponent: -(start.places as i32),
                    end: bytes.len() - digits.len() + start.len,
                });
            }
            (whole, places, open) = (start.whole, start.places, start.open);
            mantissa = u64::from(start.mantissa);
            rest = digits.get(start.len..)?;
        } else {
            digits::run(&mut rest, &mut mantissa);
            whole = digits.len() - rest.len();
            if whole == 0 || (json && whole > 1 && digits[0] == b'0') {
                return None;
            }
            (places, open) = (0, rest.first() == Some(&b'.'));
            rest = &rest[usize::from(open)..];
        }
        if open {
            let fraction = rest.len();
            digits::run(&mut rest, &mut mantissa);
            places += fraction - rest.len();
            if places == 0 {
                return None;
            }
        }
        if whole + places > 19 {
            return None;
        }
        let mut exponent = -(places as i32);
        if let [b'e' | b'E', power @ ..] = rest
            && grammar != Grammar::Plain
        {
            let (down, digits) = match power {
                [b'-', digits @ ..] => (true, digits),
                [b'+', digits @ ..] => (false, digits),
                digits => (false, digits),
            };
            let mut power = 0;
            rest = digits;
            digits::few(&mut rest, &mut power);
            // More digits are zeros, or beyond the range.
            if !(1..=4).contains(&(digits.len() - rest.len())) {
                return None;
            }
            exponent += if down { -(power as i32) } else { power as i32 };
        }
        Some(Self {
            negative,
            mantissa,
            exponent,
            end: bytes.len() - rest.len(),
        })
    }

    /// The nearest float; `None` if the fast path cannot tell.
    #[inline(always)]
    fn nearest<F: Float>(&self) -> Option<F> {
        Some(F::nearest(self.mantissa, self.exponent)?.negate_if(self.negative))
    }
}

/// Fast path for a JSON number at the beginning of `bytes`. Returns the nearest `f64` and the
/// length. `None` if there are more than 19 digits, if the value is close to the ends of the range,
/// or if there is no number: call [`json_number`](super::json_number) and [`parse_f64`].
///
/// ```
/// use polywire_text::number::decimal_prefix;
///
/// assert_eq!(decimal_prefix(b"-12.75,"), Some((-12.75, 6)));
/// assert_eq!(decimal_prefix(b"1e-07]"), Some((1e-7, 5)));
/// assert_eq!(decimal_prefix(b"12345678901234567890"), None);
/// assert_eq!(decimal_prefix(b"01"), None);
/// ```
#[inline]
#[must_use]
pub fn decimal_prefix(bytes: &[u8]) -> Option<(f64, usize)> {
    let common = Common::read(bytes, Grammar::Json)?;
    Some((common.nearest()?, common.end))
}

/// The nearest float of the number at the beginning of `bytes`, and its length.
#[inline]
fn float_prefix<F: Float>(bytes: &[u8], grammar: Grammar) -> Result<(F, usize), Malformed> {
    match Common::read(bytes, grammar) {
        Some(common) => match common.nearest::<F>() {
            Some(value) => Ok((value, common.end)),
            None => by_fast_float(bytes, common.end),
        },
        None => by_fast_float(bytes, grammar::layout(bytes, grammar)?.end),
    }
}

/// The slow path of [`float_prefix`]: `end` is the end of the number by the grammar.
#[inline(never)]
fn by_fast_float<F: Float>(bytes: &[u8], end: usize) -> Result<(F, usize), Malformed> {
    match F::slow(&bytes[..end]) {
        Some(value) if value.is_finite() => Ok((value, end)),
        Some(_) => Err(Malformed::new(0, "a number within the range of its type")),
        // Unreachable: fast-float2 accepts all our grammars.
        None => Err(Malformed::new(0, "a decimal number")),
    }
}

/// Reads all of `bytes` as a float: the digits of the grammar of `spelling`, rounded to the nearest
/// float, or one of its words. Numbers too close to zero become zero. Does not allocate.
///
/// # Errors
///
/// The first byte that does not match; offset 0 if the number is beyond the largest float. Digits
/// are never read as infinity.
///
/// ```
/// use polywire_text::number::{Spelling, parse_float};
///
/// assert_eq!(parse_float(b"-INF", Spelling::XML_SCHEMA), Ok(f32::NEG_INFINITY));
/// assert_eq!(parse_float(b"1.", Spelling::SMITHY), Ok(1.0_f64));
/// assert!(parse_float::<f64>(b"1.", Spelling::JSON).is_err());
/// assert!(parse_float::<f64>(b"NaN", Spelling::JSON).is_err());
/// assert_eq!(parse_float::<f64>(b"1.5 ", Spelling::JSON).unwrap_err().offset, 3);
/// ```
#[inline]
pub fn parse_float<F: Float>(bytes: &[u8], spelling: Spelling) -> Result<F, Malformed> {
    match float_prefix(bytes, spelling.grammar) {
        Ok((value, end)) if end == bytes.len() => Ok(value),
        Ok((_, end)) => Err(Malformed::new(end, "the end of the number")),
        Err(malformed) => word(bytes, spelling.non_finite).ok_or(malformed),
    }
}

/// The float of a word.
#[cold]
fn word<F: Float>(bytes: &[u8], non_finite: NonFinite) -> Option<F> {
    let words = non_finite.words()?;
    if bytes == words.nan.as_bytes() {
        Some(F::NAN)
    } else if bytes == words.infinity.as_bytes() {
        Some(F::INFINITY)
    } else if bytes == words.negative_infinity.as_bytes() {
        Some(F::INFINITY.negate_if(true))
    } else if non_finite == NonFinite::XmlSchema && bytes == b"+INF" {
        Some(F::INFINITY)
    } else {
        None
    }
}

/// [`parse_float`] with [`Spelling::SMITHY`]: also reads `1.`, `.5` and `+5`, which JSON forbids, and
/// the words `NaN`, `Infinity` and `-Infinity`.
///
/// # Errors
///
/// As [`parse_float`].
///
/// ```
/// use polywire_text::number::parse_f64;
///
/// assert_eq!(parse_f64(b"1e-07"), Ok(1e-7));
/// assert_eq!(parse_f64(b"-Infinity"), Ok(f64::NEG_INFINITY));
/// assert!(parse_f64(b"inf").is_err());
/// assert!(parse_f64(b"1e400").is_err());
/// ```
pub fn parse_f64(bytes: &[u8]) -> Result<f64, Malformed> {
    parse_float(bytes, Spelling::SMITHY)
}

/// Like [`parse_f64`], rounded once to 32 bits.
///
/// # Errors
///
/// As [`parse_f64`].
///
/// ```
/// use polywire_text::number::parse_f32;
///
/// // The nearest `f32`, which is not always the one nearest to the nearest `f64`.
/// assert_eq!(parse_f32(b"1.000000178813934326171875001"), Ok(1.000_000_2));
/// assert!(parse_f32(b"1e39").is_err());
/// ```
pub fn parse_f32(bytes: &[u8]) -> Result<f32, Malformed> {
    parse_float(bytes, Spelling::SMITHY)
}
