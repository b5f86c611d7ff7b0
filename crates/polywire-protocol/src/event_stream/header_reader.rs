//! Reads the headers of a message whose checksum was correct.
//!
//! ```text
//! length of the name  1 byte, not 0
//! name                UTF-8
//! type                1 byte, 0 to 9
//! length of the value 2 bytes, for strings and bytes only
//! value
//! ```

use polywire_schema::{Error, ErrorKind};
use polywire_text::{Body, Text, Timestamp};

use super::{
    BLOB, BYTE, EventHeader, EventHeaderValue, FALSE, FORMAT, INTEGER, LONG, MAX_VALUE, SHORT,
    STRING, TIMESTAMP, TRUE, UUID,
};

/// Reads all headers. `base` is the offset of the first one in the stream.
pub(super) fn read(bytes: &Body, base: usize) -> Result<Vec<EventHeader>, Error> {
    let mut reader = Reader {
        body: bytes,
        rest: bytes.as_bytes(),
        base,
    };
    let mut headers = Vec::new();
    while !reader.rest.is_empty() {
        headers.push(reader.header()?);
    }
    check_unique(&headers, base)?;
    Ok(headers)
}

struct Reader<'a> {
    body: &'a Body,
    rest: &'a [u8],
    base: usize,
}

impl<'a> Reader<'a> {
    fn header(&mut self) -> Result<EventHeader, Error> {
        let [len] = self.array("the length of a header name")?;
        if len == 0 {
            return Err(self.error(ErrorKind::Syntax, "a header name of 1 to 255 bytes", 1));
        }
        let name = self.text(usize::from(len), "a header name")?;
        let [kind] = self.array("the type of a header")?;
        let value = match kind {
            TRUE => EventHeaderValue::Boolean(true),
            FALSE => EventHeaderValue::Boolean(false),
            BYTE => EventHeaderValue::Byte(i8::from_be_bytes(self.array("a byte")?)),
            SHORT => EventHeaderValue::Short(i16::from_be_bytes(self.array("a short")?)),
            INTEGER => EventHeaderValue::Integer(i32::from_be_bytes(self.array("an integer")?)),
            LONG => EventHeaderValue::Long(i64::from_be_bytes(self.array("a long")?)),
            BLOB => {
                let len = self.value_len()?;
                let value = self.take(len, "the bytes of a header")?;
                EventHeaderValue::Blob(self.body.blob(value))
            }
            STRING => {
                let len = self.value_len()?;
                EventHeaderValue::String(self.text(len, "the string of a header")?)
            }
            TIMESTAMP => {
                let milliseconds = i64::from_be_bytes(self.array("a timestamp")?);
                EventHeaderValue::Timestamp(Timestamp::from_milliseconds(milliseconds))
            }
            UUID => EventHeaderValue::Uuid(self.array("a UUID")?),
            _ => return Err(self.error(ErrorKind::Syntax, "a header type of 0 to 9", 1)),
        };
        Ok(EventHeader { name, value })
    }

    fn value_len(&mut self) -> Result<usize, Error> {
        let len = u16::from_be_bytes(self.array("the length of a header value")?);
        if usize::from(len) > MAX_VALUE {
            return Err(self.error(ErrorKind::Syntax, "a value of up to 32767 bytes", 2));
        }
        Ok(usize::from(len))
    }

    fn text(&mut self, len: usize, expected: &'static str) -> Result<Text, Error> {
        let bytes = self.take(len, expected)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(self.body.text(text)),
            Err(invalid) => {
                let back = len - invalid.valid_up_to();
                Err(self.error(ErrorKind::Characters, "UTF-8", back))
            }
        }
    }

    fn array<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], Error> {
        match self.rest.split_first_chunk() {
            Some((array, rest)) => {
                self.rest = rest;
                Ok(*array)
            }
            None => Err(self.error(ErrorKind::Syntax, expected, 0)),
        }
    }

    fn take(&mut self, len: usize, expected: &'static str) -> Result<&'a [u8], Error> {
        match self.rest.split_at_checked(len) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(self.error(ErrorKind::Syntax, expected, 0)),
        }
    }

    /// Creates an error `back` bytes before the next byte.
    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str, back: usize) -> Error {
        let at = self.body.len() - self.rest.len() - back;
        Error::new(kind)
            .in_format(FORMAT)
            .expected(expected)
            .at_offset(self.base + at)
    }
}

/// Checks that no name occurs twice, as the specification demands. Sorts if there are many headers: 128
/// KiB can have tens of thousands.
fn check_unique(headers: &[EventHeader], base: usize) -> Result<(), Error> {
    const FEW: usize = 16;
    let twice = if headers.len() <= FEW {
        let mut pairs = headers.iter().enumerate();
        pairs.find_map(|(at, header)| {
            let mut before = headers[..at].iter();
            before.find(|other| other.name == header.name)
        })
    } else {
        let mut sorted: Vec<&EventHeader> = headers.iter().collect();
        sorted.sort_unstable_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
        let mut pairs = sorted.windows(2);
        pairs.find_map(|pair| (pair[0].name == pair[1].name).then_some(pair[0]))
    };
    match twice {
        None => Ok(()),
        Some(header) => {
            let shown: String = header.name.chars().take(64).collect();
            Err(Error::new(ErrorKind::Duplicate)
                .in_format(FORMAT)
                .expected("each header once")
                .at_offset(base)
                .at_path(format!("header {}", shown.escape_debug())))
        }
    }
}
