//! [`MessageDecoder`]: a state machine that is fed with bytes.
//!
//! ```text
//! total length    4 bytes, of the message from this field to the last checksum
//! headers length  4 bytes
//! checksum        4 bytes, CRC-32 of the 8 bytes before
//! headers
//! payload
//! checksum        4 bytes, CRC-32 of all bytes before
//! ```
//!
//! The prelude, which is the first 12 bytes, is checked before the rest is buffered. So a
//! corrupted length causes an error at once, and not a wait for gigabytes.

use bytes::{Buf, Bytes};
use polywire_schema::{Error, ErrorKind, LimitKind};
use polywire_text::Body;

use super::{CHECKSUM, EventMessage, FORMAT, MessageLimits, PRELUDE, header_reader};

/// A decoder of the messages of one stream.
///
/// The caller passes the bytes that it receives, in any pieces. Memory is bounded by
/// [`MessageLimits::message`]: a message that arrives in several pieces is copied together, and
/// one that is within a piece shares its memory.
///
/// ```
/// use bytes::Bytes;
/// use polywire_protocol::event_stream::{MessageDecoder, MessageEncoder, MessageLimits};
///
/// let sent = MessageEncoder::new(Vec::new()).finish(b"hello")?;
/// let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
/// let mut payloads = Vec::new();
/// for piece in sent.chunks(7) {
///     let mut piece = Bytes::copy_from_slice(piece);
///     while let Some(message) = decoder.decode(&mut piece)? {
///         payloads.push(message.into_parts().1.into_bytes());
///     }
/// }
/// decoder.finish()?;
/// assert_eq!(payloads, ["hello"]);
/// # Ok::<(), polywire_schema::Error>(())
/// ```
#[derive(Debug)]
pub struct MessageDecoder {
    limits: MessageLimits,
    /// The bytes of a message that has not arrived completely: `partial.len() < total`.
    partial: Vec<u8>,
    /// The prelude of the message in `partial`, once it has arrived and is checked.
    prelude: Option<Prelude>,
    /// The position of the next message in the stream, in bytes.
    offset: usize,
    error: Option<Error>,
}

#[derive(Clone, Copy, Debug)]
struct Prelude {
    /// `PRELUDE + headers + CHECKSUM <= total`
    total: usize,
    headers: usize,
}

impl MessageDecoder {
    /// Creates a decoder at the start of a stream.
    #[must_use]
    pub const fn new(limits: MessageLimits) -> Self {
        Self {
            limits,
            partial: Vec::new(),
            prelude: None,
            offset: 0,
            error: None,
        }
    }

    /// Reads the next message. `input` continues where the input of the last call ended, and
    /// advances by what was read. `None` means that all of it was read and a message needs more.
    ///
    /// # Errors
    ///
    /// A checksum or length is wrong, a header is malformed or occurs twice, or the message exceeds
    /// the limits. Offsets count from the start of the stream. Nothing after an error can be read:
    /// each further call returns the same error.
    pub fn decode(&mut self, input: &mut Bytes) -> Result<Option<EventMessage>, Error> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let message = self.next(input);
        if let Err(error) = &message {
            self.partial = Vec::new();
            self.error = Some(error.clone());
        }
        message
    }

    /// Whether the last message is complete, so that the stream may end here.
    #[must_use]
    pub const fn is_between_messages(&self) -> bool {
        self.partial.is_empty() && self.error.is_none()
    }

    /// Checks that the stream may end here.
    ///
    /// # Errors
    ///
    /// The stream ends within a message, or [`decode`](Self::decode) has returned an error.
    pub fn finish(&self) -> Result<(), Error> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if self.partial.is_empty() {
            return Ok(());
        }
        let needed = self.prelude.map_or(PRELUDE, |prelude| prelude.total);
        let missing = needed - self.partial.len();
        let part = match self.prelude {
            Some(_) => "a message",
            None => "a prelude",
        };
        Err(Error::new(ErrorKind::Truncated)
            .in_format(FORMAT)
            .expected(format!("{missing} more bytes of {part}"))
            .at_offset(self.offset.saturating_add(self.partial.len())))
    }

    fn next(&mut self, input: &mut Bytes) -> Result<Option<EventMessage>, Error> {
        if self.partial.is_empty() {
            if let Some(prelude) = input.first_chunk::<PRELUDE>() {
                let prelude = self.check(prelude)?;
                if input.len() >= prelude.total {
                    return self.message(prelude, &input.split_to(prelude.total));
                }
                self.prelude = Some(prelude);
            } else if input.is_empty() {
                return Ok(None);
            }
        }
        if self.prelude.is_none() {
            self.gather(input, PRELUDE);
            let Some(prelude) = self.partial.first_chunk::<PRELUDE>() else {
                return Ok(None);
            };
            self.prelude = Some(self.check(prelude)?);
        }
        let Some(prelude) = self.prelude else {
            return Ok(None);
        };
        self.gather(input, prelude.total);
        if self.partial.len() < prelude.total {
            return Ok(None);
        }
        self.prelude = None;
        let message = Bytes::from(std::mem::take(&mut self.partial));
        self.message(prelude, &message)
    }

    /// Moves bytes of `input` to the message until it has `len` bytes. The buffer grows with the
    /// bytes that arrive, not with the length that the sender promises.
    fn gather(&mut self, input: &mut Bytes, len: usize) {
        let taken = input.len().min(len - self.partial.len());
        self.partial.extend_from_slice(&input[..taken]);
        input.advance(taken);
    }

    fn check(&self, prelude: &[u8; PRELUDE]) -> Result<Prelude, Error> {
        let [lengths, checksum] = [&prelude[..8], &prelude[8..]];
        let found = crc32fast::hash(lengths);
        check_checksum("prelude", found, checksum, self.offset + 8)?;
        let (total, headers) = (number(&lengths[..4]), number(&lengths[4..]));
        let error = |kind: ErrorKind, expected: &'static str, found: usize, offset: usize| {
            Err(Error::new(kind)
                .in_format(FORMAT)
                .expected(expected)
                .found(format!("{found} bytes"))
                .at_offset(self.offset + offset))
        };
        if total < PRELUDE + CHECKSUM {
            return error(ErrorKind::Syntax, "a message of 16 or more bytes", total, 0);
        }
        if headers > total - PRELUDE - CHECKSUM {
            return error(ErrorKind::Syntax, "headers within the message", headers, 4);
        }
        if total > self.limits.message() {
            let limit = ErrorKind::Limit(LimitKind::Bytes(self.limits.message()));
            return error(limit, "a message within the limit", total, 0);
        }
        if headers > self.limits.headers() {
            let limit = ErrorKind::Limit(LimitKind::Bytes(self.limits.headers()));
            return error(limit, "headers within the limit", headers, 4);
        }
        Ok(Prelude { total, headers })
    }

    fn message(
        &mut self,
        prelude: Prelude,
        message: &Bytes,
    ) -> Result<Option<EventMessage>, Error> {
        let payload_end = prelude.total - CHECKSUM;
        let (content, checksum) = message.split_at(payload_end);
        let found = crc32fast::hash(content);
        check_checksum("message", found, checksum, self.offset + payload_end)?;
        let headers_end = PRELUDE + prelude.headers;
        let headers = Body::new(message.slice(PRELUDE..headers_end));
        let headers = header_reader::read(&headers, self.offset + PRELUDE)?;
        self.offset = self.offset.saturating_add(prelude.total);
        let payload = message.slice(headers_end..payload_end);
        Ok(Some(EventMessage::new(headers, payload)))
    }
}

/// Returns a number of four bytes. `usize` has at least 32 bits.
fn number(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | usize::from(*byte))
}

fn check_checksum(part: &str, actual: u32, found: &[u8], offset: usize) -> Result<(), Error> {
    if actual.to_be_bytes() == found {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidValue)
        .in_format(FORMAT)
        .expected(format!("the checksum of the {part}, {actual:#010x}"))
        .found(format!("{:#010x}", number(found)))
        .at_offset(offset))
}
