//! The writer: what a map or list holds is collected first, and counted.

use polywire_schema::{
    BigDecimal, BigInteger, Defaults, Encoder, Error, ErrorKind, Member, Timestamp,
};
use polywire_text::reference::timestamp;

use super::big;

/// The twin of [`crate::cbor::CborEncoder`].
#[derive(Debug)]
pub struct CborEncoder {
    /// What has been written at the top and in each map and list that is open.
    levels: Vec<Level>,
    defaults: Defaults,
    error: Option<Error>,
}

#[derive(Debug, Default)]
struct Level {
    bytes: Vec<u8>,
    /// Data items in it: of a map twice its entries.
    count: usize,
    /// How many elements were announced.
    announced: usize,
}

impl CborEncoder {
    /// A writer of one data item, which writes these members with their default
    /// where they are not there.
    #[must_use]
    pub fn new(defaults: Defaults) -> Self {
        Self {
            levels: vec![Level::default()],
            defaults,
            error: None,
        }
    }

    /// The bytes.
    ///
    /// # Errors
    ///
    /// The first error that a call met.
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        match (self.error, self.levels.pop()) {
            (Some(error), _) => Err(error),
            (None, Some(level)) if self.levels.is_empty() => Ok(level.bytes),
            _ => Err(unbalanced()),
        }
    }

    /// A whole data item, or a tag and its content.
    fn item(&mut self, bytes: &[u8]) {
        if let Some(level) = self.levels.last_mut() {
            level.bytes.extend_from_slice(bytes);
            level.count += 1;
        }
    }

    fn begin(&mut self, announced: usize) {
        self.levels.push(Level {
            announced,
            ..Level::default()
        });
    }

    fn end(&mut self, major: u8, items_an_element: usize) {
        let Some(level) = self.levels.pop() else {
            return self.fail(unbalanced());
        };
        if level.count != level.announced * items_an_element {
            self.fail(unbalanced());
        }
        let mut bytes = head(major, level.announced as u64);
        bytes.extend(level.bytes);
        self.item(&bytes);
    }
}

fn unbalanced() -> Error {
    Error::new(ErrorKind::Internal)
        .in_format("CBOR")
        .expected("as many elements and ends as were announced")
}

/// Section 3: the major type, and the argument in the fewest bytes.
fn head(major: u8, argument: u64) -> Vec<u8> {
    let bytes = argument.to_be_bytes();
    let (info, bytes) = match argument {
        0..24 => (argument as u8, &bytes[8..]),
        24..0x100 => (24, &bytes[7..]),
        0x100..0x1_0000 => (25, &bytes[6..]),
        0x1_0000..0x1_0000_0000 => (26, &bytes[4..]),
        _ => (27, &bytes[..]),
    };
    [&[major << 5 | info], bytes].concat()
}

fn text(text: &str) -> Vec<u8> {
    [&head(3, text.len() as u64)[..], text.as_bytes()].concat()
}

fn double(value: f64) -> Vec<u8> {
    [&[0xfb][..], &value.to_be_bytes()].concat()
}

fn integer(value: i64) -> Vec<u8> {
    match u64::try_from(value) {
        Ok(value) => head(0, value),
        Err(_) => head(1, (-1 - i128::from(value)) as u64),
    }
}

/// Section 3.4.3: as an integer where 64 bits are enough, else a byte string
/// behind tag 2 or 3.
fn big_integer(value: &BigInteger) -> Result<Vec<u8>, Error> {
    let (negative, bytes) = match value.as_str().strip_prefix('-') {
        _ if value.as_str().len() > 3 * big::MOST_BYTES => (false, vec![1; big::MOST_BYTES + 1]),
        Some(digits) => (true, big::bytes_of_digits(&big::minus_one(digits))),
        None => (false, big::bytes_of_digits(value.as_str())),
    };
    if bytes.len() > big::MOST_BYTES {
        return Err(Error::new(ErrorKind::Unwritable)
            .in_format("CBOR")
            .expected("an integer of at most 512 bytes"));
    }
    if bytes.len() <= 8 {
        let value = bytes
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte));
        return Ok(head(if negative { 1 } else { 0 }, value));
    }
    let tag = head(6, if negative { 3 } else { 2 });
    Ok([tag, head(2, bytes.len() as u64), bytes].concat())
}

/// Section 3.4.4: tag 4 before the exponent of ten and the digits without it.
fn big_decimal(value: &BigDecimal) -> Result<Vec<u8>, Error> {
    let unwritable = || {
        Error::new(ErrorKind::Unwritable)
            .in_format("CBOR")
            .expected("a decimal number whose exponent fits 64 bits")
    };
    let text = value.as_str();
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent: i64 = exponent.parse().map_err(|_| unwritable())?;
    let exponent = exponent.checked_sub(fraction.len() as i64);
    let exponent = exponent.ok_or_else(unwritable)?;
    let mantissa: BigInteger = format!("{whole}{fraction}")
        .parse()
        .map_err(|_| unwritable())?;
    let mantissa = big_integer(&mantissa)?;
    Ok([head(6, 4), head(4, 2), integer(exponent), mantissa].concat())
}

impl Encoder for CborEncoder {
    fn begin_structure(&mut self, _: Member<'_>, present: usize) {
        self.begin(present);
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        self.item(&text(at.name()));
        true
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.end(5, 2);
    }

    fn begin_list(&mut self, _: Member<'_>, len: usize) {
        self.begin(len);
    }

    fn end_list(&mut self, _: Member<'_>) {
        self.end(4, 1);
    }

    fn begin_map(&mut self, _: Member<'_>, len: usize) {
        self.begin(len);
    }

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.item(&text(key));
    }

    fn end_map(&mut self, _: Member<'_>) {
        self.end(5, 2);
    }

    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.item(&head(7, if value { 21 } else { 20 }));
    }

    fn integer(&mut self, _: Member<'_>, value: i64) {
        self.item(&integer(value));
    }

    fn float(&mut self, _: Member<'_>, value: f32) {
        self.item(&[&[0xfa][..], &value.to_be_bytes()].concat());
    }

    fn double(&mut self, _: Member<'_>, value: f64) {
        self.item(&double(value));
    }

    fn big_integer(&mut self, _: Member<'_>, value: &BigInteger) {
        match big_integer(value) {
            Ok(bytes) => self.item(&bytes),
            Err(error) => self.fail(error),
        }
    }

    fn big_decimal(&mut self, _: Member<'_>, value: &BigDecimal) {
        match big_decimal(value) {
            Ok(bytes) => self.item(&bytes),
            Err(error) => self.fail(error),
        }
    }

    fn string(&mut self, _: Member<'_>, value: &str) {
        self.item(&text(value));
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.item(&[&head(2, value.len() as u64)[..], value].concat());
    }

    /// Section 3.4.2: tag 1 before seconds, whole where they are.
    fn timestamp(&mut self, _: Member<'_>, value: Timestamp) {
        let seconds = match value.nanoseconds() {
            0 => integer(value.seconds()),
            _ => double(timestamp::as_f64(value)),
        };
        self.item(&[head(6, 1), seconds].concat());
    }

    fn null(&mut self, _: Member<'_>) {
        self.item(&head(7, 22));
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.defaults.fills(at)
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
