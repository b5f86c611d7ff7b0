//! Reading floating-point numbers.

use super::digits;
use super::exact;
use super::grammar::{self, Grammar};
use super::spelling::{NonFinite, Spelling};
use crate::Malformed;

/// The floating-point numbers: `f32` and `f64`.
///
/// Sealed: what it can do are the functions [`parse_float`], [`float_prefix`]
/// and [`push_float`](super::push_float).
pub trait Float: Copy + PartialEq + sealed::Sealed {}

impl Float for f32 {}
impl Float for f64 {}

pub(super) mod sealed {
    pub trait Sealed: zmij::Float {
        const NAN: Self;
        const INFINITY: Self;
        /// The number nearest to `mantissa * 10^exponent`; `None` if the
        /// exponent is too large for here.
        fn nearest(mantissa: u64, exponent: i32) -> Option<Self>;
        /// By fast-float2, which reads all that our grammars hold, and words.
        fn any(bytes: &[u8]) -> Option<Self>;
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

            fn any(bytes: &[u8]) -> Option<Self> {
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

/// A number as it mostly is: a mantissa of at most nineteen digits, times a
/// power of ten.
struct Common {
    negative: bool,
    mantissa: u64,
    exponent: i32,
    end: usize,
}

impl Common {
    /// Reads from the beginning of `bytes`. `None` says nothing but that the
    /// number is not so common, or no number.
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
                // Most are read by now.
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
            // Nothing finite and larger than zero has more.
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

    /// The nearest number; `None` if the power is too large for here.
    #[inline(always)]
    fn nearest<F: Float>(&self) -> Option<F> {
        Some(F::nearest(self.mantissa, self.exponent)?.negate_if(self.negative))
    }
}

/// Reads a decimal number from the beginning of `bytes`: the common case of
/// JSON's grammar, in one pass. `None` says nothing but that the number is not
/// so common (more than nineteen digits, too close to the ends of the range) or
/// no number;
/// [`float_prefix`] tells these apart.
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

/// Reads a number from the beginning of `bytes` by `grammar`, to the nearest
/// number of its width, and says how many bytes it took. Does not allocate.
///
/// Digits beyond the largest number are an error, never infinity. Digits below
/// the smallest one are zero: that is the nearest number, and there is no
/// number of digits that would not round somewhere.
///
/// # Errors
///
/// Where the grammar was left; or offset 0 if the number is beyond the range of
/// its type.
///
/// ```
/// use polywire_text::number::{Grammar, float_prefix};
///
/// assert_eq!(float_prefix::<f64>(b"1e300,", Grammar::Json), Ok((1e300, 5)));
/// assert_eq!(float_prefix::<f32>(b"+.5", Grammar::XmlSchema), Ok((0.5, 3)));
/// assert_eq!(float_prefix::<f64>(b"1e-400", Grammar::Json), Ok((0.0, 6)));
/// assert!(float_prefix::<f32>(b"1e39", Grammar::Json).is_err());
/// ```
#[inline]
pub fn float_prefix<F: Float>(bytes: &[u8], grammar: Grammar) -> Result<(F, usize), Malformed> {
    match Common::read(bytes, grammar) {
        Some(common) => match common.nearest::<F>() {
            Some(value) => Ok((value, common.end)),
            None => by_fast_float(bytes, common.end),
        },
        None => by_fast_float(bytes, grammar::layout(bytes, grammar)?.end),
    }
}

/// What ends at `end` by the grammar. fast-float2 has a wider one.
#[inline(never)]
fn by_fast_float<F: Float>(bytes: &[u8], end: usize) -> Result<(F, usize), Malformed> {
    match F::any(&bytes[..end]) {
        Some(value) if value.is_finite() => Ok((value, end)),
        Some(_) => Err(Malformed::new(0, "a number within the range of its type")),
        // Not reached: it reads all that the grammars hold.
        None => Err(Malformed::new(0, "a decimal number")),
    }
}

/// Reads all of `bytes` as a floating-point number, as `spelling` has it: as
/// [`float_prefix`] reads digits, and the words of its [`NonFinite`].
///
/// # Errors
///
/// As [`float_prefix`]; where the number ends, if something follows it; offset 0
/// if the bytes are neither digits nor a word.
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

/// One of the words that stand for what is no number.
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

/// Reads all of `bytes` as a floating-point number with [`Spelling::SMITHY`]:
/// decimal digits with an optional sign (`-` or `+`), point and exponent, or
/// one of the words `NaN`, `Infinity` and `-Infinity`. Of the digits before and
/// behind the point either may be missing, as XML Schema's `xs:double` has it:
/// `1.`, `.5`, `+5`; formats that forbid those look themselves
/// ([`json_number`](super::json_number)). No other words, no white space, no
/// hexadecimal.
///
/// # Errors
///
/// As [`parse_float`]: digits are never read as infinity.
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

/// As [`parse_f64`], rounded once to 32 bits.
///
/// # Errors
///
/// As [`parse_f64`].
///
/// ```
/// use polywire_text::number::parse_f32;
///
/// // Nearest to the digits, not to the double that is nearest to them.
/// assert_eq!(parse_f32(b"1.000000178813934326171875001"), Ok(1.000_000_2));
/// assert!(parse_f32(b"1e39").is_err());
/// ```
pub fn parse_f32(bytes: &[u8]) -> Result<f32, Malformed> {
    parse_float(bytes, Spelling::SMITHY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_name_and_by_digits() {
        assert!(parse_f64(b"NaN").unwrap().is_nan());
        for bad in [
            &b""[..],
            b"-",
            b"nan",
            b"inf",
            b"-NaN",
            b"1e",
            b"0x1",
            b"1 ",
            b"+Infinity",
            b".",
            b"+",
            b"-.",
            b"+-5",
            b"-+5",
            b".e1",
        ] {
            assert!(parse_f64(bad).is_err(), "{bad:?}");
        }
        for (text, value) in [
            (&b"1."[..], 1.0),
            (b".5", 0.5),
            (b"+5", 5.0),
            (b"-.5e1", -5.0),
            (b"+.5", 0.5),
            (b"007", 7.0),
        ] {
            assert_eq!(parse_f64(text), Ok(value), "{text:?}");
        }
        assert!(parse_f64(b"-0").unwrap().is_sign_negative());
        assert!(parse_f32(b"-0").unwrap().is_sign_negative());
    }
}
