//! The MessagePack encoder.

use polywire_schema::{
    BigDecimal, BigInteger, Defaults, Encoder, Error, ErrorKind, Member, Timestamp,
};

use super::timestamp;

/// An encoder of one MessagePack value.
#[derive(Debug)]
pub struct MsgPackEncoder {
    pub(super) out: Vec<u8>,
    defaults: Defaults,
    error: Option<Error>,
}

impl MsgPackEncoder {
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
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        match self.error {
            None => Ok(self.out),
            Some(error) => Err(error),
        }
    }

    /// Writes a head with a length. `fix` is the first byte for lengths below `fix_limit`. `wide` are
    /// the first bytes for lengths of 8 bits (0 if there is none), 16 bits and 32 bits.
    #[inline]
    fn length(&mut self, len: usize, fix: u8, fix_limit: usize, wide: [u8; 3]) {
        match (u8::try_from(len), u16::try_from(len), u32::try_from(len)) {
            (Ok(len), ..) if usize::from(len) < fix_limit => self.out.push(fix | len),
            (Ok(len), ..) if wide[0] != 0 => self.out.extend_from_slice(&[wide[0], len]),
            (_, Ok(len), _) => {
                self.out.push(wide[1]);
                self.out.extend_from_slice(&len.to_be_bytes());
            }
            (_, _, Ok(len)) => {
                self.out.push(wide[2]);
                self.out.extend_from_slice(&len.to_be_bytes());
            }
            _ => self.too_long(),
        }
    }

    #[cold]
    fn too_long(&mut self) {
        let error = Error::new(ErrorKind::Unwritable).in_format("MessagePack");
        self.fail(error.expected("a length below 2^32"));
    }

    #[inline]
    pub(super) fn array(&mut self, len: usize) {
        self.length(len, 0x90, 16, [0, 0xdc, 0xdd]);
    }

    #[inline]
    pub(super) fn map(&mut self, len: usize) {
        self.length(len, 0x80, 16, [0, 0xde, 0xdf]);
    }

    #[inline]
    pub(super) fn str(&mut self, text: &str) {
        self.length(text.len(), 0xa0, 32, [0xd9, 0xda, 0xdb]);
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes an unsigned integer in the shortest form.
    #[inline]
    pub(super) fn push_unsigned(&mut self, value: u64) {
        let bytes = value.to_be_bytes();
        let (first, len): (u8, usize) = match value {
            0..=0x7f => return self.out.push(bytes[7]),
            0x80..=0xff => (0xcc, 1),
            0x100..=0xffff => (0xcd, 2),
            0x1_0000..=0xffff_ffff => (0xce, 4),
            _ => (0xcf, 8),
        };
        self.out.push(first);
        self.out.extend_from_slice(&bytes[8 - len..]);
    }

    /// Writes an integer in the shortest form.
    #[inline]
    pub(super) fn push_integer(&mut self, value: i64) {
        if let Ok(value) = u64::try_from(value) {
            return self.push_unsigned(value);
        }
        let bytes = value.to_be_bytes();
        let (first, len): (u8, usize) = match value {
            -0x20..0 => return self.out.push(bytes[7]),
            -0x80..-0x20 => (0xd0, 1),
            -0x8000..-0x80 => (0xd1, 2),
            -0x8000_0000..-0x8000 => (0xd2, 4),
            _ => (0xd3, 8),
        };
        self.out.push(first);
        self.out.extend_from_slice(&bytes[8 - len..]);
    }

    /// Writes an integer of at most 64 bits as an integer, and a longer one as text.
    pub(super) fn push_digits(&mut self, digits: &str) {
        match (digits.parse(), digits.parse()) {
            (Ok(value), _) => self.push_integer(value),
            (_, Ok(value)) => self.push_unsigned(value),
            _ => self.str(digits),
        }
    }
}

impl Encoder for MsgPackEncoder {
    #[inline]
    fn begin_structure(&mut self, _: Member<'_>, present: usize) {
        self.map(present);
    }

    #[inline]
    fn member(&mut self, at: Member<'_>) -> bool {
        self.str(at.name());
        true
    }

    #[inline]
    fn end_structure(&mut self, _: Member<'_>) {}

    #[inline]
    fn begin_list(&mut self, _: Member<'_>, len: usize) {
        self.array(len);
    }

    #[inline]
    fn end_list(&mut self, _: Member<'_>) {}

    #[inline]
    fn begin_map(&mut self, _: Member<'_>, len: usize) {
        self.map(len);
    }

    #[inline]
    fn key(&mut self, _: Member<'_>, key: &str) {
        self.str(key);
    }

    #[inline]
    fn end_map(&mut self, _: Member<'_>) {}

    #[inline]
    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.out.push(if value { 0xc3 } else { 0xc2 });
    }

    #[inline]
    fn integer(&mut self, _: Member<'_>, value: i64) {
        self.push_integer(value);
    }

    #[inline]
    fn float(&mut self, _: Member<'_>, value: f32) {
        self.out.push(0xca);
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn double(&mut self, _: Member<'_>, value: f64) {
        self.out.push(0xcb);
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    fn big_integer(&mut self, _: Member<'_>, value: &BigInteger) {
        self.push_digits(value.as_str());
    }

    fn big_decimal(&mut self, _: Member<'_>, value: &BigDecimal) {
        self.str(value.as_str());
    }

    #[inline]
    fn string(&mut self, _: Member<'_>, value: &str) {
        self.str(value);
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        // The first byte of bin never contains the length.
        self.length(value.len(), 0, 0, [0xc4, 0xc5, 0xc6]);
        self.out.extend_from_slice(value);
    }

    fn timestamp(&mut self, _: Member<'_>, value: Timestamp) {
        timestamp::push(&mut self.out, value);
    }

    fn null(&mut self, _: Member<'_>) {
        self.out.push(0xc0);
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.defaults.fills_default(at)
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
