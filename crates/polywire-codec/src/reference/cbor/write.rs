//! Data items as bytes, in the shortest encoding: RFC 8949, section 4.1.

use polywire_schema::{BigInteger, Defaults, Error, Member};
use polywire_text::reference::timestamp;

use super::{CborFormat, DECIMAL, EPOCH, NEGATIVE, UNSIGNED, big};
use crate::cbor::CborProfile;
use crate::reference::encode::{EncodeFormat, TreeEncoder, unwritable};
use crate::reference::node::{Data, Node};

/// The reference implementation of [`crate::cbor::CborEncoder`].
pub type CborEncoder = TreeEncoder<CborFormat>;

impl CborEncoder {
    /// Creates an encoder of one data item. `defaults` are the missing members that are written with
    /// their default.
    #[must_use]
    pub fn new(defaults: Defaults) -> Self {
        let mut profile = CborProfile::DEFAULT;
        profile.rules.defaults = defaults;
        Self::of(CborFormat(profile))
    }
}

fn tagged(tag: u64, data: Data) -> Data {
    Data::Tagged(tag, Box::new(data.into()))
}

impl EncodeFormat for CborFormat {
    const COUNTS: bool = true;

    /// Section 3.4.2: a timestamp is tag 1 and the seconds, as an integer if possible.
    fn of_scalar(&self, _: Member<'_>, value: Data) -> Result<Data, Error> {
        match value {
            Data::Digits(digits) => big_integer(&digits),
            Data::Decimal(text) => big_decimal(&text),
            Data::Timestamp(value) => Ok(tagged(
                EPOCH,
                match value.nanoseconds() {
                    0 => Data::Integer(value.seconds().into()),
                    _ => Data::Double(timestamp::as_f64(value)),
                },
            )),
            value => Ok(value),
        }
    }

    fn write(&self, node: &Node) -> Result<Vec<u8>, Error> {
        Ok(written(node))
    }
}

/// Section 3.4.3: an integer if it fits in 64 bits, else tag 2 or 3 and a byte string.
fn big_integer(digits: &str) -> Result<Data, Error> {
    if let Ok(value) = digits.parse::<i128>()
        && (-1 - i128::from(u64::MAX)..=u64::MAX.into()).contains(&value)
    {
        return Ok(Data::Integer(value));
    }
    let (tag, bytes) = match digits.strip_prefix('-') {
        _ if digits.len() > 3 * big::MOST_BYTES => (UNSIGNED, vec![1; big::MOST_BYTES + 1]),
        Some(digits) => (NEGATIVE, big::bytes_of_digits(digits, 1)),
        None => (UNSIGNED, big::bytes_of_digits(digits, 0)),
    };
    match bytes.len() <= big::MOST_BYTES {
        true => Ok(tagged(tag, Data::Bytes(bytes))),
        false => Err(unwritable("an integer of at most 512 bytes")),
    }
}

/// Section 3.4.4: tag 4 and an array of the decimal exponent and the mantissa.
fn big_decimal(text: &str) -> Result<Data, Error> {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent = exponent.parse::<i64>().ok();
    let exponent = exponent.and_then(|exponent| exponent.checked_sub(fraction.len() as i64));
    let mantissa = format!("{whole}{fraction}").parse::<BigInteger>();
    let (Some(exponent), Ok(mantissa)) = (exponent, mantissa) else {
        return Err(unwritable("a decimal number whose exponent fits 64 bits"));
    };
    let parts = [
        Data::Integer(exponent.into()),
        big_integer(mantissa.as_str())?,
    ];
    Ok(tagged(DECIMAL, Data::List(parts.map(Node::from).into())))
}

/// Section 3: the major type, and the argument in the shortest form.
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

fn written(node: &Node) -> Vec<u8> {
    let string = |major, bytes: &[u8]| [&head(major, bytes.len() as u64), bytes].concat();
    match &node.data {
        Data::Integer(value) if *value < 0 => head(1, (-1 - value) as u64),
        Data::Integer(value) => head(0, *value as u64),
        Data::Bytes(bytes) => string(2, bytes),
        Data::Text(text) => string(3, text.as_bytes()),
        Data::List(items) => {
            let head = head(4, items.len() as u64);
            [head, items.iter().flat_map(written).collect()].concat()
        }
        Data::Map(entries) => {
            let head = head(5, entries.len() as u64);
            let entries = entries.iter().flat_map(|(key, value)| [key, value]);
            [head, entries.flat_map(written).collect()].concat()
        }
        Data::Tagged(tag, inner) => [head(6, *tag), written(inner)].concat(),
        Data::Boolean(value) => head(7, if *value { 21 } else { 20 }),
        Data::Single(value) => [&[0xfa][..], &value.to_be_bytes()].concat(),
        Data::Double(value) => [&[0xfb][..], &value.to_be_bytes()].concat(),
        _ => head(7, 22),
    }
}
