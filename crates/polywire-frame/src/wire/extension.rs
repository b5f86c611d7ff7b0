//! The extension of a body: an operation's name, metadata, trace context, a topic.

use super::ProtocolError;

/// The most bytes of an extension, without its length.
pub const MAX_EXTENSION: usize = 16_384;

const OPERATION: u8 = 0x01;
const METADATA: u8 = 0x02;
const TRACE: u8 = 0x03;
const TOPIC: u8 = 0x04;

/// The fields of an extension that was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extension<'a> {
    fields: &'a [u8],
}

/// Trace context, as in the header `traceparent` of W3C.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Trace {
    /// The id of the trace.
    pub trace_id: [u8; 16],
    /// The id of the caller's span.
    pub span_id: [u8; 8],
    /// Bit 0: whether the caller records.
    pub flags: u8,
}

/// Bytes of trace context.
const TRACE_BYTES: usize = 25;

impl<'a> Extension<'a> {
    /// Splits a body, whose first byte is at `offset` of the stream, into the extension with its length and the
    /// payload. Checks the extension.
    pub(super) fn split(
        body: &'a [u8],
        offset: u64,
    ) -> Result<(&'a [u8], &'a [u8]), ProtocolError> {
        let split = body.split_first_chunk::<2>().and_then(|(len, _)| {
            let len = usize::from(u16::from_le_bytes(*len));
            body.split_at_checked(2 + len)
        });
        let Some((extension, payload)) = split else {
            return Err(ProtocolError::new(
                offset,
                "an extension that fits its body",
            ));
        };
        let fields = &extension[2..];
        if fields.len() > MAX_EXTENSION {
            let found = fields.len().to_string();
            let expected = "an extension of at most 16384 bytes";
            return Err(ProtocolError::new(offset, expected).found(found));
        }
        check(fields, offset + 2)?;
        Ok((extension, payload))
    }

    /// The extension that [`Self::split`] checked, with its length in front; empty if there is none.
    #[inline]
    pub(super) fn checked(extension: &'a [u8]) -> Self {
        Self {
            fields: extension.get(2..).unwrap_or_default(),
        }
    }

    /// The name of the operation.
    #[inline]
    #[must_use]
    pub fn operation(&self) -> Option<&'a str> {
        self.find(OPERATION)
            .and_then(|content| std::str::from_utf8(content).ok())
    }

    /// The topic of a message.
    #[must_use]
    pub fn topic(&self) -> Option<&'a str> {
        self.find(TOPIC)
            .and_then(|content| std::str::from_utf8(content).ok())
    }

    /// The trace context of the caller.
    #[must_use]
    pub fn trace(&self) -> Option<Trace> {
        self.find(TRACE).and_then(Trace::read)
    }

    /// The pairs of metadata, in order.
    pub fn metadata(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + use<'a> {
        Fields(self.fields)
            .filter(|(tag, _)| *tag == METADATA)
            .filter_map(|(_, content)| pair(content))
    }

    #[inline]
    fn find(&self, tag: u8) -> Option<&'a [u8]> {
        match self.fields {
            [] => None,
            fields => Fields(fields)
                .find(|field| field.0 == tag)
                .map(|(_, content)| content),
        }
    }
}

/// Checks fields, the first of which is at `offset` of the stream.
fn check(fields: &[u8], offset: u64) -> Result<(), ProtocolError> {
    let mut rest = Fields(fields);
    let mut seen = 0_u32;
    loop {
        let at = offset + (fields.len() - rest.0.len()) as u64;
        let Some((tag, content)) = rest.next() else {
            return match rest.0 {
                [] => Ok(()),
                _ => Err(ProtocolError::new(at, "a field that fits its extension")),
            };
        };
        let (valid, expected) = match tag {
            OPERATION => (parse_name(content).is_some(), "an operation's name"),
            TOPIC => (parse_name(content).is_some(), "a topic's name"),
            TRACE => (content.len() == TRACE_BYTES, "trace context of 25 bytes"),
            METADATA => (pair(content).is_some(), "a key of metadata and its value"),
            _ => continue,
        };
        if !valid {
            return Err(ProtocolError::new(at, expected));
        }
        if tag != METADATA {
            if seen & 1 << tag != 0 {
                return Err(ProtocolError::new(at, "such a field once").found("it again"));
            }
            seen |= 1 << tag;
        }
    }
}

impl Trace {
    fn read(content: &[u8]) -> Option<Self> {
        let content: &[u8; TRACE_BYTES] = content.try_into().ok()?;
        let (trace_id, rest) = content.split_first_chunk()?;
        let (span_id, flags) = rest.split_first_chunk()?;
        Some(Self {
            trace_id: *trace_id,
            span_id: *span_id,
            flags: *flags.first()?,
        })
    }
}

/// Iterates over fields. It ends early, with bytes left, at a field that does not fit.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let ([tag, low, high], rest) = self.0.split_first_chunk()?;
        let len = usize::from(u16::from_le_bytes([*low, *high]));
        let (content, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some((*tag, content))
    }
}

/// The name of an operation or topic: 1 to 255 bytes of UTF-8 without control characters. `None` otherwise.
#[must_use]
pub fn parse_name(content: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(content).ok()?;
    let valid = matches!(name.len(), 1..=255) && !name.chars().any(char::is_control);
    valid.then_some(name)
}

fn pair(content: &[u8]) -> Option<(&str, &[u8])> {
    let (len, rest) = content.split_first()?;
    let (key, value) = rest.split_at_checked(usize::from(*len))?;
    is_key(key).then_some(())?;
    Some((std::str::from_utf8(key).ok()?, value))
}

/// Whether this is a valid key of metadata: 1 to 255 bytes of lower-case letters, digits and `-_.`.
#[must_use]
pub fn is_key(key: &[u8]) -> bool {
    let valid = |byte: &u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    matches!(key.len(), 1..=255) && key.iter().all(valid)
}

/// Writes the extension of a frame behind its header. Writes nothing before the first field.
#[derive(Debug)]
pub struct ExtensionWriter<'a> {
    bytes: &'a mut Vec<u8>,
    /// Position of the two bytes of the length.
    start: usize,
}

impl<'a> ExtensionWriter<'a> {
    pub(super) const fn new(bytes: &'a mut Vec<u8>) -> Self {
        let start = bytes.len();
        Self { bytes, start }
    }

    /// Appends the name of an operation.
    pub fn operation(&mut self, name: &str) {
        self.field(OPERATION, &[name.as_bytes()]);
    }

    /// Appends a topic.
    pub fn topic(&mut self, name: &str) {
        self.field(TOPIC, &[name.as_bytes()]);
    }

    /// Appends trace context.
    pub fn trace(&mut self, trace: &Trace) {
        self.field(TRACE, &[&trace.trace_id, &trace.span_id, &[trace.flags]]);
    }

    /// Appends a pair of metadata.
    pub fn metadata(&mut self, key: &str, value: &[u8]) {
        self.field(METADATA, &[&[key.len() as u8], key.as_bytes(), value]);
    }

    fn field(&mut self, tag: u8, parts: &[&[u8]]) {
        if self.bytes.len() == self.start {
            self.bytes.extend_from_slice(&[0, 0]);
        }
        let len: usize = parts.iter().map(|part| part.len()).sum();
        self.bytes.push(tag);
        self.bytes.extend_from_slice(&(len as u16).to_le_bytes());
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
    }

    /// Whether there is an extension. Removes one that is too long, and returns its length as the error.
    pub(super) fn finish(self) -> Result<bool, usize> {
        let Some(len) = (self.bytes.len() - self.start).checked_sub(2) else {
            return Ok(false);
        };
        if len > MAX_EXTENSION {
            self.bytes.truncate(self.start);
            return Err(len);
        }
        self.bytes[self.start..self.start + 2].copy_from_slice(&(len as u16).to_le_bytes());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let trace = Trace {
            trace_id: [1; 16],
            span_id: [2; 8],
            flags: 1,
        };
        let mut bytes = b"before".to_vec();
        let mut writer = ExtensionWriter::new(&mut bytes);
        writer.operation("Add");
        writer.metadata("user-agent", b"x");
        writer.trace(&trace);
        writer.metadata("a.b_c", b"");
        assert_eq!(writer.finish(), Ok(true));
        bytes.extend_from_slice(b"payload");
        let (extension, payload) = Extension::split(&bytes[6..], 0).unwrap();
        let extension = Extension::checked(extension);
        assert_eq!(payload, b"payload");
        assert_eq!(extension.operation(), Some("Add"));
        assert_eq!(extension.topic(), None);
        assert_eq!(extension.trace(), Some(trace));
        let pairs: Vec<_> = extension.metadata().collect();
        assert_eq!(pairs, [("user-agent", &b"x"[..]), ("a.b_c", b"")]);
    }

    #[test]
    fn invalid_extensions() {
        for (body, expected) in [
            (&b"\x05"[..], "an extension that fits its body, at byte 7"),
            (
                b"\x05\x00\x01",
                "an extension that fits its body, at byte 7",
            ),
            (
                b"\x03\x00\x01\x01\x00",
                "a field that fits its extension, at byte 9",
            ),
            (b"\x03\x00\x01\x00\x00", "an operation's name, at byte 9"),
            (
                b"\x04\x00\x01\x01\x00\xff",
                "an operation's name, at byte 9",
            ),
            (b"\x04\x00\x04\x01\x00\x07", "a topic's name, at byte 9"),
            (
                b"\x04\x00\x03\x01\x00\x00",
                "trace context of 25 bytes, at byte 9",
            ),
            (
                b"\x05\x00\x02\x02\x00\x01A",
                "a key of metadata and its value, at byte 9",
            ),
            (
                b"\x08\x00\x01\x01\x00a\x01\x01\x00b",
                "such a field once, found it again, at byte 13",
            ),
        ] {
            let error = Extension::split(body, 7).unwrap_err().to_string();
            assert_eq!(error, format!("frames: expected {expected}"));
        }
        // Unknown tags are skipped.
        assert!(Extension::split(b"\x04\x00\x77\x01\x00\xff", 0).is_ok());
    }
}
