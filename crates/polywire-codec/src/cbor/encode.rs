//! The CBOR encoder.

use polywire_schema::{
    BigDecimal, BigInteger, Defaults, Encoder, Error, ErrorKind, Member, NameEncoding, Text,
    Timestamp, Value,
};
use polywire_text::INLINE_CAPACITY;

use super::big;

/// An encoder of one CBOR data item.
#[derive(Debug)]
pub struct CborEncoder {
    pub(super) out: Vec<u8>,
    defaults: Defaults,
    error: Option<Error>,
}

/// The major types, RFC 8949, section 3.1, in the upper three bits.
pub(super) const UNSIGNED: u8 = 0x00;
pub(super) const NEGATIVE: u8 = 0x20;
const BYTES: u8 = 0x40;
const TEXT: u8 = 0x60;
pub(super) const ARRAY: u8 = 0x80;
pub(super) const MAP: u8 = 0xa0;
const TAG: u8 = 0xc0;

impl CborEncoder {
    /// Creates an encoder that appends to `out`, so that a buffer can be reused.
    #[must_use]
    pub const fn new(out: Vec<u8>) -> Self {
        Self {
            out,
            defaults: Defaults::Server,
            error: None,
        }
    }

    /// Sets which missing members are written with their default. By default, all are.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// Returns the message.
    ///
    /// # Errors
    ///
    /// The first error of a previous call.
    #[inline]
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        match self.error {
            None => Ok(self.out),
            Some(error) => Err(error),
        }
    }

    #[cfg(feature = "reference")]
    pub(crate) const fn defaults(&self) -> Defaults {
        self.defaults
    }

    /// Appends an encoded data item.
    pub fn raw(&mut self, item: &[u8]) {
        self.out.extend_from_slice(item);
    }

    /// Writes a head in the shortest form.
    #[inline]
    pub(super) fn head(&mut self, major: u8, argument: u64) {
        if argument < 24 {
            self.out.push(major | argument as u8);
        } else {
            self.long_head(major, argument);
        }
    }

    #[inline]
    fn long_head(&mut self, major: u8, argument: u64) {
        let (info, size) = match argument {
            0..=0xff => (24, 1),
            0x100..=0xffff => (25, 2),
            0x1_0000..=0xffff_ffff => (26, 4),
            _ => (27, 8),
        };
        // A copy of fixed size and a truncation are faster than a copy of variable size.
        let mut head = [0; 9];
        head[0] = major | info;
        let word = argument << (64 - 8 * size);
        head[1..].copy_from_slice(&word.to_be_bytes());
        let end = self.out.len() + 1 + size;
        self.out.extend_from_slice(&head);
        self.out.truncate(end);
    }

    #[inline]
    pub(super) fn push_integer(&mut self, value: i64) {
        if value >= 0 {
            self.head(UNSIGNED, value as u64);
        } else {
            // -1 - value, which is the complement and never overflows.
            self.head(NEGATIVE, !value as u64);
        }
    }

    /// Writes digits with an optional minus sign as an integer or a bignum.
    pub(super) fn push_big(&mut self, digits: &str) {
        let (negative, digits) = match digits.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, digits),
        };
        // The conversion takes quadratic time. Skip it if the result would be too long anyway.
        if digits.len() > big::MAX_DIGITS {
            return self.too_long(digits);
        }
        // A negative number n is written as -1 - n.
        let bytes = if negative {
            big::bytes(&big::decrement(digits))
        } else {
            big::bytes(digits)
        };
        if bytes.len() > big::MAX_BYTES {
            return self.too_long(digits);
        }
        let mut small = [0; 8];
        if bytes.len() <= 8 {
            small[8 - bytes.len()..].copy_from_slice(&bytes);
            let argument = u64::from_be_bytes(small);
            return self.head(if negative { NEGATIVE } else { UNSIGNED }, argument);
        }
        self.head(TAG, if negative { 3 } else { 2 });
        self.head(BYTES, bytes.len() as u64);
        self.out.extend_from_slice(&bytes);
    }

    #[cold]
    fn too_long(&mut self, digits: &str) {
        let error = Error::new(ErrorKind::Unwritable)
            .in_format("CBOR")
            .expected(format!("an integer of at most {} bytes", big::MAX_BYTES))
            .found(format!("{} digits", digits.len()));
        self.fail(error);
    }
}

impl Encoder for CborEncoder {
    #[inline(always)]
    fn begin_structure(&mut self, _: Member<'_>, present: usize) {
        self.head(MAP, present as u64);
    }

    #[inline(always)]
    fn member(&mut self, at: Member<'_>) -> bool {
        if !at.encoded(NameEncoding::Cbor).push_to(&mut self.out) {
            at.run(NameEncoding::Cbor).push_to(&mut self.out);
        }
        true
    }

    #[inline(always)]
    fn end_structure(&mut self, _: Member<'_>) {}

    #[inline(always)]
    fn begin_list(&mut self, _: Member<'_>, len: usize) {
        self.head(ARRAY, len as u64);
    }

    #[inline(always)]
    fn end_list(&mut self, _: Member<'_>) {}

    #[inline]
    fn begin_map(&mut self, _: Member<'_>, len: usize) {
        self.head(MAP, len as u64);
    }

    #[inline]
    fn key(&mut self, at: Member<'_>, key: &str) {
        self.string(at, key);
    }

    #[inline]
    fn text_key(&mut self, at: Member<'_>, key: &Text) {
        self.text(at, key);
    }

    #[inline]
    fn end_map(&mut self, _: Member<'_>) {}

    #[inline]
    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.out.push(if value { 0xf5 } else { 0xf4 });
    }

    #[inline]
    fn integer(&mut self, _: Member<'_>, value: i64) {
        self.push_integer(value);
    }

    #[inline]
    fn float(&mut self, _: Member<'_>, value: f32) {
        let [a, b, c, d] = value.to_be_bytes();
        self.out.extend_from_slice(&[0xfa, a, b, c, d]);
    }

    #[inline]
    fn double(&mut self, _: Member<'_>, value: f64) {
        self.out.push(0xfb);
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    fn big_integer(&mut self, _: Member<'_>, value: &BigInteger) {
        self.push_big(value.as_str());
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        // Tag 4: an array of exponent and mantissa, RFC 8949, section 3.4.4.
        let (digits, exponent) = match value.as_str().split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()),
            None => (value.as_str(), Some(0)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let exponent = exponent.and_then(|exponent| exponent.checked_sub(fraction.len() as i64));
        let mantissa = format!("{whole}{fraction}").parse::<BigInteger>();
        let (Some(exponent), Ok(mantissa)) = (exponent, mantissa) else {
            let error = Error::new(ErrorKind::Unwritable).in_format("CBOR");
            let error = error.expected("a decimal number whose exponent fits 64 bits");
            return self.fail(error.at_path(format!("{at:?}")));
        };
        self.head(TAG, 4);
        self.head(ARRAY, 2);
        self.push_integer(exponent);
        self.push_big(mantissa.as_str());
    }

    #[inline]
    fn string(&mut self, _: Member<'_>, value: &str) {
        self.head(TEXT, value.len() as u64);
        self.out.extend_from_slice(value.as_bytes());
    }

    // Inlining a short string takes fewer instructions than a call.
    #[inline(always)]
    fn text(&mut self, at: Member<'_>, value: &Text) {
        // An inline string is short enough for a head of one byte.
        const _: () = assert!(INLINE_CAPACITY < 24);
        if !value.push_inline(&mut self.out, |len| TEXT | len) {
            self.string(at, value);
        }
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.head(BYTES, value.len() as u64);
        self.out.extend_from_slice(value);
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        // Tag 1: seconds since the epoch, RFC 8949, section 3.4.2.
        self.head(TAG, 1);
        if value.nanoseconds() == 0 {
            self.push_integer(value.seconds());
        } else {
            self.double(at, value.as_f64());
        }
    }

    #[inline]
    fn null(&mut self, _: Member<'_>) {
        self.out.push(0xf6);
    }

    fn document(&mut self, _: Member<'_>, value: &Value) {
        self.document_value(value);
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.defaults.fills_default(at)
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
