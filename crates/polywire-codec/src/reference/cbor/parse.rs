//! A data item as a tree: RFC 8949, section 3, major type by major type.

use polywire_schema::{Error, ErrorKind, Limits};

use crate::reference::node::{Data, Node, check_depth, error};

/// The first unknown tag (section 3.4). Unknown tags may precede any value.
const NO_MEANING: u64 = 5;

/// Reads one data item.
pub(super) fn parse(bytes: &[u8], start: usize, limits: &Limits) -> Result<Node, Error> {
    let mut parser = Parser {
        bytes,
        at: start,
        depth: 0,
        limits: *limits,
    };
    parser.item()
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The number of open arrays and maps.
    depth: usize,
    limits: Limits,
}

const BREAK: u8 = 0xff;

impl Parser<'_> {
    fn byte(&mut self) -> Result<u8, Error> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn take(&mut self, len: u64) -> Result<Vec<u8>, Error> {
        let left = self.bytes.len() - self.at;
        if len > left as u64 {
            return Err(error(ErrorKind::Truncated, self.at, "more bytes"));
        }
        let end = self.at + len as usize;
        let taken = self.bytes[self.at..end].to_vec();
        self.at = end;
        Ok(taken)
    }

    /// The argument for the additional information. `None` for 31, an indefinite length.
    fn argument(&mut self, info: u8) -> Result<Option<u64>, Error> {
        let size = match info {
            0..=23 => return Ok(Some(u64::from(info))),
            24 => 1,
            25 => 2,
            26 => 4,
            27 => 8,
            31 => return Ok(None),
            _ => return Err(self.reserved()),
        };
        let mut argument = 0;
        for _ in 0..size {
            argument = argument << 8 | u64::from(self.byte()?);
        }
        Ok(Some(argument))
    }

    fn reserved(&self) -> Error {
        error(ErrorKind::Syntax, self.at - 1, "a valid first byte")
    }

    fn item(&mut self) -> Result<Node, Error> {
        let start = self.at;
        let mut tags = Vec::new();
        let mut data = loop {
            let first = self.byte()?;
            let (major, info) = (first >> 5, first & 0x1f);
            break match (major, self.argument(info)?) {
                (0, Some(value)) => Data::Integer(value.into()),
                (1, Some(value)) => Data::Integer(-1 - i128::from(value)),
                (2, length) => Data::Bytes(self.string(2, length)?),
                (3, length) => Data::Text(self.text(length)?),
                (4, length) => Data::List(self.elements(length, Self::item)?),
                (5, length) => {
                    Data::Map(self.elements(length, |this| Ok((this.item()?, this.item()?)))?)
                }
                (6, Some(tag)) => {
                    tags.push(tag);
                    continue;
                }
                (7, Some(value)) => self.simple(info, value)?,
                _ => return Err(self.reserved()),
            };
        };
        // The outermost known tag applies. A second known tag is an error later.
        let end = self.at;
        let tags = tags.into_iter().filter(|tag| *tag < NO_MEANING);
        for tag in tags.take(2).collect::<Vec<_>>().into_iter().rev() {
            data = Data::Tagged(tag, Box::new(Node { start, end, data }));
        }
        Ok(Node { start, end, data })
    }

    /// Section 3.2.3: a string of indefinite length is a sequence of definite strings of the same type
    /// up to a break.
    fn string(&mut self, major: u8, length: Option<u64>) -> Result<Vec<u8>, Error> {
        if let Some(length) = length {
            let bytes = self.take(length)?;
            if major == 3 && std::str::from_utf8(&bytes).is_err() {
                return Err(error(ErrorKind::InvalidValue, self.at, "UTF-8"));
            }
            return Ok(bytes);
        }
        let mut whole = Vec::new();
        loop {
            let first = self.byte()?;
            if first == BREAK {
                return Ok(whole);
            }
            let Some(length) = self.argument(first & 0x1f)? else {
                return Err(self.reserved());
            };
            if first >> 5 != major {
                return Err(self.reserved());
            }
            whole.extend(self.string(major, Some(length))?);
        }
    }

    fn text(&mut self, length: Option<u64>) -> Result<String, Error> {
        let bytes = self.string(3, length)?;
        String::from_utf8(bytes).map_err(|_| error(ErrorKind::InvalidValue, self.at, "UTF-8"))
    }

    /// Whether the container ends after `count` elements, because of its length or a break.
    fn ends(&mut self, length: Option<u64>, count: u64) -> bool {
        match length {
            Some(length) => count == length,
            None if self.bytes.get(self.at) == Some(&BREAK) => {
                self.at += 1;
                true
            }
            None => false,
        }
    }

    /// The items of an array, or the entries of a map.
    fn elements<T>(
        &mut self,
        length: Option<u64>,
        element: fn(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.depth += 1;
        check_depth(&self.limits, self.depth, self.at)?;
        let mut elements = Vec::new();
        while !self.ends(length, elements.len() as u64) {
            elements.push(element(self)?);
        }
        self.depth -= 1;
        Ok(elements)
    }

    /// Section 3.3.
    fn simple(&mut self, info: u8, value: u64) -> Result<Data, Error> {
        Ok(match info {
            // "An encoder MUST NOT issue two-byte sequences that start with
            // 0xf8 and continue with a byte less than 0x20."
            24 if value < 32 => return Err(self.reserved()),
            20 | 21 => Data::Boolean(info == 21),
            // Undefined is read as null.
            22 | 23 => Data::Null,
            0..=24 => Data::Other,
            25 => Data::Double(half(value as u16)),
            26 => Data::Single(f32::from_bits(value as u32)),
            _ => Data::Double(f64::from_bits(value)),
        })
    }
}

/// Appendix D: one bit for the sign, five for the exponent, ten for the fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x03ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    }
}
