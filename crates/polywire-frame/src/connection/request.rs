//! Calls to be made.

use std::fmt;

use crate::wire::{FrameWriter, MAX_EXTENSION, TooLarge, TooLong, Trace, is_key, parse_name};
use crate::{Flags, Header, Kind, Settings, Time};

/// An operation: its name, and the number that this client uses for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Operation<'a> {
    /// A number of at least 1 that is the same for each call of this name and for no other name; 0 for names that are
    /// used once. The name is sent instead if the server takes fewer numbers.
    pub number: u16,
    /// The name: 1 to 255 bytes of UTF-8 without control characters.
    pub name: &'a str,
}

/// A call without its payload.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    operation: Operation<'a>,
    deadline: Time,
    open: bool,
    metadata: &'a [(&'a str, &'a [u8])],
    trace: Option<Trace>,
}

impl<'a> Request<'a> {
    /// A call of an operation, without a deadline.
    #[inline]
    pub const fn new(operation: Operation<'a>) -> Self {
        Self {
            operation,
            deadline: Time::NEVER,
            open: false,
            metadata: &[],
            trace: None,
        }
    }

    /// Sets the deadline.
    #[inline]
    pub const fn with_deadline(mut self, deadline: Time) -> Self {
        self.deadline = deadline;
        self
    }

    /// Announces a stream of items: the operation has a stream as its input.
    pub const fn with_items(mut self) -> Self {
        self.open = true;
        self
    }

    /// Sets pairs of metadata. Keys are lower-case letters, digits and `-_.`.
    pub const fn with_metadata(mut self, metadata: &'a [(&'a str, &'a [u8])]) -> Self {
        self.metadata = metadata;
        self
    }

    /// Sets the trace context.
    pub const fn with_trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Checks the name and the metadata, but not the total length.
    ///
    /// # Errors
    ///
    /// [`RequestError::Invalid`] with what is wrong.
    pub fn check(&self) -> Result<(), RequestError> {
        if parse_name(self.operation.name.as_bytes()).is_none() {
            return Err(RequestError::Invalid("the name of an operation"));
        }
        check_metadata(self.metadata)
    }

    /// Whether the client sends a stream of items.
    #[inline]
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open
    }

    /// The deadline.
    #[inline]
    #[must_use]
    pub const fn deadline(&self) -> Time {
        self.deadline
    }

    /// Begins the frame of the call: its header, and its extension with what the server does not know.
    ///
    /// # Errors
    ///
    /// As [`Self::check`], or the extension is too long. Nothing is appended then.
    #[inline]
    pub fn begin(
        &self,
        now: Time,
        kind: Kind,
        bytes: &mut Vec<u8>,
        server: &Settings,
        known: &OperationNumbers,
    ) -> Result<FrameWriter, RequestError> {
        let number = match self.operation.number {
            number if u32::from(number) > server.names() => 0,
            number => number,
        };
        let header = Header {
            flags: match self.open {
                true => Flags::OPEN,
                false => Flags::NONE,
            },
            code: number,
            value: now.millis_until(self.deadline),
            ..Header::new(kind, 0)
        };
        let mut writer = FrameWriter::new(bytes, header);
        let is_known = number != 0 && known.contains(number);
        if !is_known || !self.metadata.is_empty() || self.trace.is_some() {
            let extended = self.extend(&mut writer, bytes, is_known);
            if let Err(error) = extended {
                bytes.truncate(writer.start());
                return Err(error);
            }
        }
        Ok(writer)
    }

    #[cold]
    fn extend(
        &self,
        writer: &mut FrameWriter,
        bytes: &mut Vec<u8>,
        is_known: bool,
    ) -> Result<(), RequestError> {
        self.check()?;
        let extended = writer.extend(bytes, |extension| {
            if !is_known {
                extension.operation(self.operation.name);
            }
            if let Some(trace) = &self.trace {
                extension.trace(trace);
            }
            for (key, value) in self.metadata {
                extension.metadata(key, value);
            }
        });
        extended.map_err(|_| RequestError::Invalid("an extension of at most 16384 bytes"))
    }
}

/// Why a call could not be made.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RequestError {
    /// The connection is ending: use another one.
    Ending,
    /// The limit of open calls or bytes is reached.
    Full,
    /// What was expected instead of an invalid name, key, value or topic.
    Invalid(&'static str),
    /// The frame is above the server's limit.
    TooLarge(TooLarge),
    /// The datagram is above the limit of this side. A stream has a higher limit.
    TooLong(TooLong),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ending => f.write_str("the connection is ending"),
            Self::Full => f.write_str("as many calls or bytes are open as may be"),
            Self::Invalid(expected) => write!(f, "expected {expected}"),
            Self::TooLarge(too_large) => too_large.fmt(f),
            Self::TooLong(too_long) => too_long.fmt(f),
        }
    }
}

impl std::error::Error for RequestError {}

impl From<TooLarge> for RequestError {
    fn from(error: TooLarge) -> Self {
        Self::TooLarge(error)
    }
}

/// The numbers of operations whose names the server knows.
#[derive(Debug, Default)]
pub struct OperationNumbers {
    /// One bit for each number.
    words: Vec<u64>,
}

impl OperationNumbers {
    /// Whether the server knows the name of this number.
    #[inline]
    #[must_use]
    pub fn contains(&self, number: u16) -> bool {
        let word = self.words.get(usize::from(number) / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Adds a number.
    #[cold]
    pub fn insert(&mut self, number: u16) {
        let word = usize::from(number) / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }
}

fn check_metadata(metadata: &[(&str, &[u8])]) -> Result<(), RequestError> {
    let is_invalid =
        |(key, value): &(&str, &[u8])| !is_key(key.as_bytes()) || value.len() > MAX_EXTENSION;
    match metadata.iter().any(is_invalid) {
        true => Err(RequestError::Invalid("a key of metadata")),
        false => Ok(()),
    }
}

/// Begins the frame of a call to a topic: its header, and an extension with the metadata and, in a `PUBLISH`, the topic.
/// Nothing is appended if it fails.
pub(super) fn begin_topic(
    bytes: &mut Vec<u8>,
    header: Header,
    topic: &str,
    metadata: &[(&str, &[u8])],
) -> Result<FrameWriter, RequestError> {
    if parse_name(topic.as_bytes()).is_none() {
        return Err(RequestError::Invalid("the name of a topic"));
    }
    check_metadata(metadata)?;
    let mut writer = FrameWriter::new(bytes, header);
    let extended = writer.extend(bytes, |extension| {
        if header.kind == Kind::PUBLISH {
            extension.topic(topic);
        }
        for (key, value) in metadata {
            extension.metadata(key, value);
        }
    });
    if extended.is_err() {
        bytes.truncate(writer.start());
        return Err(RequestError::Invalid("an extension of at most 16384 bytes"));
    }
    Ok(writer)
}
