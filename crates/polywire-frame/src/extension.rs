//! The extension of a body: an operation's name, metadata, trace context, a topic.

use crate::broken::Broken;

/// The most bytes of an extension.
pub const MAX_EXTENSION: usize = 16_384;

const OPERATION: u8 = 0x01;
const METADATA: u8 = 0x02;
const TRACE: u8 = 0x03;
const TOPIC: u8 = 0x04;

/// The fields of an extension, which has been checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extension<'a> {
    fields: &'a [u8],
    /// The name of the operation.
    pub operation: Option<&'a str>,
    /// The topic of a message.
    pub topic: Option<&'a str>,
    /// What the call is part of.
    pub trace: Option<Trace>,
}

/// Trace context, as `traceparent` of W3C has it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Trace {
    /// The trace.
    pub trace_id: [u8; 16],
    /// The span of the caller.
    pub span_id: [u8; 8],
    /// Bit 0: whether the caller records.
    pub flags: u8,
}

/// Bytes of trace context.
const TRACE_BYTES: usize = 25;

impl<'a> Extension<'a> {
    /// Takes the extension off a body, whose first byte is at `offset` of the stream: it and the
    /// payload.
    pub(crate) fn split(body: &'a [u8], offset: u64) -> Result<(Self, &'a [u8]), Broken> {
        let whole = body.split_first_chunk::<2>().and_then(|(len, rest)| {
            let len = usize::from(u16::from_le_bytes(*len));
            rest.split_at_checked(len)
        });
        let Some((fields, payload)) = whole else {
            return Err(Broken::new(offset, "an extension that fits its body"));
        };
        if fields.len() > MAX_EXTENSION {
            let found = format!("{}", fields.len());
            return Err(Broken::new(offset, "an extension of at most 16384 bytes").found(found));
        }
        Ok((Self::read(fields, offset + 2)?, payload))
    }

    fn read(fields: &'a [u8], offset: u64) -> Result<Self, Broken> {
        let mut extension = Self {
            fields,
            ..Self::default()
        };
        let mut each = Fields(fields);
        loop {
            let at = offset + (fields.len() - each.0.len()) as u64;
            let Some((tag, content)) = each.next() else {
                return match each.0 {
                    [] => Ok(extension),
                    _ => Err(Broken::new(at, "a field that fits its extension")),
                };
            };
            let again = match tag {
                OPERATION => {
                    let name =
                        name(content).ok_or_else(|| Broken::new(at, "an operation's name"))?;
                    extension.operation.replace(name).is_some()
                }
                TOPIC => {
                    let topic = name(content).ok_or_else(|| Broken::new(at, "a topic's name"))?;
                    extension.topic.replace(topic).is_some()
                }
                TRACE => {
                    let trace = Trace::read(content)
                        .ok_or_else(|| Broken::new(at, "trace context of 25 bytes"))?;
                    extension.trace.replace(trace).is_some()
                }
                METADATA => {
                    if pair(content).is_none() {
                        return Err(Broken::new(at, "a key of metadata and its value"));
                    }
                    false
                }
                _ => false,
            };
            if again {
                return Err(Broken::new(at, "such a field once").found("it again"));
            }
        }
    }

    /// The pairs of metadata, in their order.
    pub fn metadata(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + use<'a> {
        Fields(self.fields)
            .filter(|(tag, _)| *tag == METADATA)
            .filter_map(|(_, content)| pair(content))
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

/// Fields one by one; what is left when there is none is no field.
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

/// The name of an operation or topic: 1 to 255 bytes of UTF-8 without control characters.
pub(crate) fn name(content: &[u8]) -> Option<&str> {
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

/// Whether metadata may have such a key.
pub(crate) fn is_key(key: &[u8]) -> bool {
    let valid = |byte: &u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    matches!(key.len(), 1..=255) && key.iter().all(valid)
}

/// Writes the extension of a frame behind its header. Nothing is there until the first field.
pub(crate) struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    /// Where the two bytes of the length are.
    start: usize,
}

impl<'a> Writer<'a> {
    pub(crate) const fn new(bytes: &'a mut Vec<u8>) -> Self {
        let start = bytes.len();
        Self { bytes, start }
    }

    pub(crate) fn operation(&mut self, name: &str) {
        self.field(OPERATION, &[name.as_bytes()]);
    }

    pub(crate) fn topic(&mut self, name: &str) {
        self.field(TOPIC, &[name.as_bytes()]);
    }

    pub(crate) fn trace(&mut self, trace: &Trace) {
        self.field(TRACE, &[&trace.trace_id, &trace.span_id, &[trace.flags]]);
    }

    pub(crate) fn metadata(&mut self, key: &str, value: &[u8]) {
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

    /// Whether there is an extension; false if it was too long, and is taken back.
    pub(crate) fn finish(self) -> Result<bool, usize> {
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
    fn written_and_read() {
        let trace = Trace {
            trace_id: [1; 16],
            span_id: [2; 8],
            flags: 1,
        };
        let mut bytes = b"before".to_vec();
        let mut writer = Writer::new(&mut bytes);
        writer.operation("Add");
        writer.metadata("user-agent", b"x");
        writer.trace(&trace);
        writer.metadata("a.b_c", b"");
        assert_eq!(writer.finish(), Ok(true));
        bytes.extend_from_slice(b"payload");
        let (extension, payload) = Extension::split(&bytes[6..], 0).unwrap();
        assert_eq!(payload, b"payload");
        assert_eq!(extension.operation, Some("Add"));
        assert_eq!(extension.topic, None);
        assert_eq!(extension.trace, Some(trace));
        let pairs: Vec<_> = extension.metadata().collect();
        assert_eq!(pairs, [("user-agent", &b"x"[..]), ("a.b_c", b"")]);
    }

    #[test]
    fn wrong_ones() {
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
            let broken = Extension::split(body, 7).unwrap_err().to_string();
            assert_eq!(broken, format!("frames: expected {expected}"));
        }
        // Nobody knows this one, which is no reason to mind.
        assert!(Extension::split(b"\x04\x00\x77\x01\x00\xff", 0).is_ok());
    }
}
