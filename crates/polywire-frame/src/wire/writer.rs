//! Writes one frame.

use std::fmt;

use bytes::Bytes;

use super::{Compressor, ExtensionWriter, Features, Flags, HEADER, Header, Kind, Output, Settings};

/// A frame at the end of a buffer: 16 bytes for the header, the extension, then the payload, which the caller appends.
///
/// The header is written last, by [`finish`](Self::finish) or [`write_header`](Self::write_header). To drop the frame
/// instead, truncate the buffer to [`start`](Self::start).
#[derive(Debug)]
pub struct FrameWriter {
    /// Position of the header.
    start: usize,
    /// Position of the payload.
    payload: usize,
    header: Header,
    large: Option<Bytes>,
}

/// A frame is longer than the receiver takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLarge {
    /// Length of the body in bytes, before compression.
    pub length: usize,
    /// The receiver's limit.
    pub most: u32,
}

/// A call or an answer is longer than a datagram may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLong {
    /// Length of the datagram in bytes.
    pub length: usize,
    /// The limit of this side.
    pub most: usize,
}

impl FrameWriter {
    /// Begins a frame at the end of the buffer.
    #[inline]
    pub fn new(bytes: &mut Vec<u8>, header: Header) -> Self {
        let start = bytes.len();
        bytes.extend_from_slice(&[0; HEADER]);
        Self {
            start,
            payload: start + HEADER,
            header,
            large: None,
        }
    }

    /// Writes the extension, before any payload.
    ///
    /// # Errors
    ///
    /// The length of the extension, if it is above [`MAX_EXTENSION`](super::MAX_EXTENSION).
    pub fn extend(
        &mut self,
        bytes: &mut Vec<u8>,
        write: impl FnOnce(&mut ExtensionWriter<'_>),
    ) -> Result<(), usize> {
        let mut writer = ExtensionWriter::new(bytes);
        write(&mut writer);
        if writer.finish()? {
            self.header.flags = self.header.flags.union(Flags::EXTENSION);
        }
        self.payload = bytes.len();
        Ok(())
    }

    /// Appends the rest of the payload. From [`Output::LARGE`] bytes on it is not copied.
    pub fn share(&mut self, output: &mut Output, payload: Bytes) {
        if payload.len() < Output::LARGE {
            output.bytes.extend_from_slice(&payload);
        } else {
            self.large = Some(payload);
        }
    }

    /// Sets the id of the call.
    #[inline]
    pub const fn set_id(&mut self, id: u32) {
        self.header.id = id;
    }

    /// The position of the header in the buffer.
    #[inline]
    #[must_use]
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The code of the header.
    #[inline]
    #[must_use]
    pub const fn code(&self) -> u16 {
        self.header.code
    }

    /// The kind of the frame.
    #[inline]
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.header.kind
    }

    /// Whether the frame has an extension.
    #[inline]
    #[must_use]
    pub const fn is_extended(&self) -> bool {
        self.header.flags.contains(Flags::EXTENSION)
    }

    /// Fixes the length, and returns that of the body before compression, in bytes. Compresses the payload if
    /// `compressor` wants to and the receiver can read it.
    ///
    /// # Errors
    ///
    /// The body is longer than the receiver takes.
    #[inline]
    pub fn check(
        &mut self,
        bytes: &mut Vec<u8>,
        receiver: &Settings,
        compressor: &mut Compressor,
    ) -> Result<u32, TooLarge> {
        let large = self.large.as_ref().map_or(0, Bytes::len);
        let length = bytes.len() - self.start - HEADER + large;
        let payload = bytes.len() - self.payload + large;
        let most = receiver.frame();
        if length > most as usize {
            return Err(TooLarge { length, most });
        }
        // At most `most`, which has 32 bits.
        self.header.length = length as u32;
        if compressor.wants(payload) && receiver.features().contains(Features::DEFLATE) {
            self.compress(bytes, compressor, payload);
        }
        Ok(length as u32)
    }

    /// Compresses the payload of `length` bytes if that makes it shorter.
    #[cold]
    fn compress(&mut self, bytes: &mut Vec<u8>, compressor: &mut Compressor, length: usize) {
        if !self.header.kind.flags().contains(Flags::DEFLATE) {
            return;
        }
        let payload = match &self.large {
            // A shared part behind a copied one would have to be joined first. No caller does that.
            Some(_) if bytes.len() > self.payload => return,
            Some(large) => large,
            None => &bytes[self.payload..],
        };
        let Some(compressed) = compressor.compress(payload) else {
            return;
        };
        bytes.truncate(self.payload);
        bytes.extend_from_slice(compressed);
        self.large = None;
        self.header.flags = self.header.flags.union(Flags::DEFLATE);
        // `compressed` is shorter than the payload.
        self.header.length -= (length - compressed.len()) as u32;
    }

    /// Writes the header of a frame that was checked, and appends a shared payload.
    #[inline]
    pub fn finish(&mut self, output: &mut Output) {
        self.write_header(&mut output.bytes);
        if self.large.is_some() {
            self.push_large(output);
        }
    }

    /// Writes the header of a frame that was checked and shares no payload.
    #[inline]
    pub fn write_header(&self, bytes: &mut [u8]) {
        bytes[self.start..self.start + HEADER].copy_from_slice(&self.header.bytes());
    }

    #[cold]
    fn push_large(&mut self, output: &mut Output) {
        if let Some(large) = self.large.take() {
            output.push_large(large);
        }
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length, most } = self;
        write!(
            f,
            "a frame of {length} bytes, where the other side takes {most}"
        )
    }
}

impl std::error::Error for TooLarge {}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length, most } = self;
        write!(
            f,
            "a datagram of {length} bytes, where at most {most} are sent"
        )
    }
}

impl std::error::Error for TooLong {}
