//! [`MessageEncoder`]: writes one message.

use polywire_schema::{Error, ErrorKind};

use super::{
    BLOB, BYTE, CHECKSUM, EventHeaderValue, EventMessage, FALSE, FORMAT, INTEGER, LONG, MAX_VALUE,
    MessageLimits, PRELUDE, SHORT, STRING, TIMESTAMP, TRUE, UUID,
};

/// An encoder of one message: first the headers, then the payload.
///
/// It appends to a buffer, so that a buffer can be reused or take several messages. It keeps its
/// first error and returns it at the end.
///
/// ```
/// use polywire_protocol::event_stream::{EventHeaderValue, MessageEncoder};
///
/// let mut encoder = MessageEncoder::new(Vec::new());
/// encoder.header("attempt", &EventHeaderValue::Integer(3));
/// let message = encoder.finish(b"payload")?;
/// assert_eq!(message.len(), 12 + 13 + 7 + 4);
/// assert_eq!(message[..4], 36_u32.to_be_bytes());
/// # Ok::<(), polywire_schema::Error>(())
/// ```
#[derive(Debug)]
pub struct MessageEncoder {
    buffer: Vec<u8>,
    /// Where the message begins in the buffer.
    start: usize,
    error: Option<Error>,
}

impl MessageEncoder {
    /// Creates an encoder that appends to `buffer`.
    #[must_use]
    pub fn new(mut buffer: Vec<u8>) -> Self {
        let start = buffer.len();
        buffer.extend_from_slice(&[0; PRELUDE]);
        Self {
            buffer,
            start,
            error: None,
        }
    }

    /// Encodes a whole message.
    ///
    /// # Errors
    ///
    /// As [`finish_with`](Self::finish_with).
    pub fn encode(message: &EventMessage) -> Result<Vec<u8>, Error> {
        let mut encoder = Self::new(Vec::new());
        for header in message.headers() {
            encoder.header(&header.name, &header.value);
        }
        encoder.finish(message.payload().as_bytes())
    }

    /// Writes a header. The caller writes no name twice. Names have 1 to 255 bytes; strings and
    /// bytes have up to 32,767. Timestamps are truncated to milliseconds.
    pub fn header(&mut self, name: &str, value: &EventHeaderValue) {
        self.name(name);
        match value {
            EventHeaderValue::Boolean(true) => self.buffer.push(TRUE),
            EventHeaderValue::Boolean(false) => self.buffer.push(FALSE),
            EventHeaderValue::Byte(value) => self.fixed(BYTE, value.to_be_bytes()),
            EventHeaderValue::Short(value) => self.fixed(SHORT, value.to_be_bytes()),
            EventHeaderValue::Integer(value) => self.fixed(INTEGER, value.to_be_bytes()),
            EventHeaderValue::Long(value) => self.fixed(LONG, value.to_be_bytes()),
            EventHeaderValue::Blob(value) => self.bytes(name, BLOB, value.as_bytes()),
            EventHeaderValue::String(value) => self.bytes(name, STRING, value.as_bytes()),
            EventHeaderValue::Timestamp(value) => match value.as_milliseconds() {
                Some(milliseconds) => self.fixed(TIMESTAMP, milliseconds.to_be_bytes()),
                None => self.fail(unwritable(name, "a timestamp of 64-bit milliseconds")),
            },
            EventHeaderValue::Uuid(value) => self.fixed(UUID, *value),
        }
    }

    /// Writes a header with a string. As [`header`](Self::header), without a value of its own.
    pub fn string(&mut self, name: &str, value: &str) {
        self.name(name);
        self.bytes(name, STRING, value.as_bytes());
    }

    /// Records an error, unless there is one.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// The headers alone, as encoded.
    pub(super) fn into_headers(mut self) -> Result<Vec<u8>, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.buffer.split_off(self.start + PRELUDE)),
        }
    }

    /// Writes the payload and completes the message. Returns the buffer.
    ///
    /// # Errors
    ///
    /// As [`finish_with`](Self::finish_with).
    pub fn finish(self, payload: &[u8]) -> Result<Vec<u8>, Error> {
        self.finish_with(|mut buffer| {
            buffer.extend_from_slice(payload);
            Ok(buffer)
        })
    }

    /// Has a function append the payload to the buffer, so that no copy is made, and completes the
    /// message. Returns the buffer.
    ///
    /// # Errors
    ///
    /// The error of the function. A name or value is too long, the headers exceed 128 KiB, or the
    /// payload exceeds 24 MiB.
    pub fn finish_with(
        self,
        payload: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, Error>,
    ) -> Result<Vec<u8>, Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (start, headers_end) = (self.start, self.buffer.len());
        let headers = headers_end - start - PRELUDE;
        if headers > MessageLimits::SPECIFICATION.headers() {
            return Err(too_long("headers of up to 128 KiB", headers));
        }
        let mut buffer = payload(self.buffer)?;
        let payload = buffer.len() - headers_end;
        if payload > 24 << 20 {
            return Err(too_long("a payload of up to 24 MiB", payload));
        }
        let total = headers + payload + PRELUDE + CHECKSUM;
        // Both fit: they were checked above.
        let lengths = (total as u64) << 32 | headers as u64;
        buffer[start..start + 8].copy_from_slice(&lengths.to_be_bytes());
        let prelude = crc32fast::hash(&buffer[start..start + 8]);
        buffer[start + 8..start + PRELUDE].copy_from_slice(&prelude.to_be_bytes());
        let checksum = crc32fast::hash(&buffer[start..]);
        buffer.extend_from_slice(&checksum.to_be_bytes());
        Ok(buffer)
    }

    fn name(&mut self, name: &str) {
        match u8::try_from(name.len()) {
            Ok(len @ 1..) => {
                self.buffer.push(len);
                self.buffer.extend_from_slice(name.as_bytes());
            }
            _ => self.fail(unwritable(name, "a name of 1 to 255 bytes")),
        }
    }

    fn fixed<const N: usize>(&mut self, kind: u8, value: [u8; N]) {
        self.buffer.push(kind);
        self.buffer.extend_from_slice(&value);
    }

    fn bytes(&mut self, name: &str, kind: u8, value: &[u8]) {
        match u16::try_from(value.len()) {
            Ok(len) if value.len() <= MAX_VALUE => {
                self.fixed(kind, len.to_be_bytes());
                self.buffer.extend_from_slice(value);
            }
            _ => self.fail(unwritable(name, "a value of up to 32767 bytes")),
        }
    }
}

#[cold]
fn unwritable(name: &str, expected: &'static str) -> Error {
    let shown: String = name.chars().take(64).collect();
    Error::new(ErrorKind::Unwritable)
        .in_format(FORMAT)
        .expected(expected)
        .at_path(format!("header {shown}"))
}

#[cold]
fn too_long(expected: &'static str, len: usize) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format(FORMAT)
        .expected(expected)
        .found(format!("{len} bytes"))
}
