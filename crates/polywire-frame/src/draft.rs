//! A frame that is being written.

use bytes::Bytes;

use crate::deflate::Packer;
use crate::extension::Writer;
use crate::{Features, Flags, HEADER, Header, Kind, Output, Settings};

/// A frame at the end of an output, whose header is filled in when it is finished.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Where the header is to be.
    start: usize,
    /// Where the payload begins.
    payload: usize,
    header: Header,
    large: Option<Bytes>,
}

/// A frame is longer than the other side takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLarge {
    /// The bytes that its body would have had.
    pub length: usize,
    /// The most that are taken.
    pub most: u32,
}

impl Draft {
    #[inline]
    pub(crate) fn new(output: &mut Output, header: Header) -> Self {
        let start = output.bytes.len();
        output.bytes.extend_from_slice(&[0; HEADER]);
        Self {
            start,
            payload: start + HEADER,
            header,
            large: None,
        }
    }

    /// Writes the extension, before any payload. Its length, if it is too long.
    pub(crate) fn extend(
        &mut self,
        output: &mut Output,
        write: impl FnOnce(&mut Writer<'_>),
    ) -> Result<(), usize> {
        let mut writer = Writer::new(&mut output.bytes);
        write(&mut writer);
        if writer.finish()? {
            self.header.flags = self.header.flags.with(Flags::EXTENSION);
        }
        self.payload = output.bytes.len();
        Ok(())
    }

    /// A payload that is there already; if it is large it will not be copied. The last part.
    pub(crate) fn share(&mut self, output: &mut Output, payload: Bytes) {
        if payload.len() < Output::LARGE {
            output.bytes.extend_from_slice(&payload);
        } else {
            self.large = Some(payload);
        }
    }

    /// The id, which is known only when all else is.
    #[inline]
    pub(crate) const fn set_id(&mut self, id: u32) {
        self.header.id = id;
    }

    /// Where it begins.
    #[inline]
    pub(crate) const fn start(&self) -> usize {
        self.start
    }

    /// The code in its header.
    #[inline]
    pub(crate) const fn number(&self) -> u16 {
        self.header.code
    }

    #[inline]
    pub(crate) const fn kind(&self) -> Kind {
        self.header.kind
    }

    #[inline]
    pub(crate) const fn is_extended(&self) -> bool {
        self.header.flags.has(Flags::EXTENSION)
    }

    /// The uncompressed length of the body in bytes, which must not be above the receiver's limit. Compresses the
    /// payload if `packer` and the receiver want it.
    #[inline]
    pub(crate) fn check(
        &mut self,
        output: &mut Output,
        receiver: &Settings,
        packer: &mut Packer,
    ) -> Result<u32, TooLarge> {
        let large = self.large.as_ref().map_or(0, Bytes::len);
        let length = output.bytes.len() - self.start - HEADER + large;
        let payload = output.bytes.len() - self.payload + large;
        let most = receiver.frame();
        if length > most as usize {
            return Err(TooLarge { length, most });
        }
        // It is not above `most`, which has 32 bits.
        self.header.length = length as u32;
        if packer.wants(payload) && receiver.features().has(Features::DEFLATE) {
            self.pack(output, packer, payload);
        }
        Ok(length as u32)
    }

    /// Compresses the payload, which has so many bytes, if that makes it shorter.
    #[cold]
    fn pack(&mut self, output: &mut Output, packer: &mut Packer, bytes: usize) {
        if !self.header.kind.flags().has(Flags::DEFLATE) {
            return;
        }
        let payload = match &self.large {
            // What stands before it would have to be compressed with it; nobody does so.
            Some(_) if output.bytes.len() > self.payload => return,
            Some(large) => large,
            None => &output.bytes[self.payload..],
        };
        let Some(packed) = packer.pack(payload) else {
            return;
        };
        output.bytes.truncate(self.payload);
        output.bytes.extend_from_slice(packed);
        self.large = None;
        self.header.flags = self.header.flags.with(Flags::DEFLATE);
        // It is shorter, so that nothing is below zero.
        self.header.length -= (bytes - packed.len()) as u32;
    }

    /// Completes the frame, which has been checked.
    #[inline]
    pub(crate) fn finish(&mut self, output: &mut Output) {
        let header = self.header.bytes();
        output.bytes[self.start..self.start + HEADER].copy_from_slice(&header);
        if self.large.is_some() {
            self.finish_large(output);
        }
    }

    #[cold]
    fn finish_large(&mut self, output: &mut Output) {
        if let Some(large) = self.large.take() {
            output.push_large(large);
        }
    }

    /// Takes back what is there, before it was finished.
    pub(crate) fn undo(&mut self, output: &mut Output) {
        output.bytes.truncate(self.start);
    }
}

/// Appends a frame without a body.
#[inline]
pub(crate) fn bare(output: &mut Output, header: &Header) {
    output.bytes.extend_from_slice(&header.bytes());
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { length, most } = self;
        write!(
            f,
            "a frame of {length} bytes, where the other side takes {most}"
        )
    }
}

impl std::error::Error for TooLarge {}
