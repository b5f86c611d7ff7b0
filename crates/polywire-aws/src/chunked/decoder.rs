//! The decoder: data, signatures and events. `grammar.rs` reads what is between the data.

use std::fmt;

use bytes::{Buf, Bytes, BytesMut};
use sha2::{Digest, Sha256};

use super::grammar::State;
use super::{
    ChunkAuthenticator, ChunkedError, ChunkedErrorKind, DecoderOptions, Framing, Trailers,
};

/// What [`Decoder::feed`] found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// All input is used: call again with more, or [`Decoder::finish`] if there is none.
    NeedInput,
    /// The next data: a slice of the input, not empty.
    ///
    /// Treat it as uncommitted until [`Event::End`], because an error may follow. In signed framings it also is not
    /// authentic yet, except the last piece of each chunk: the decoder checks the signature of a chunk before it
    /// returns that piece. With [`DecoderOptions::verified_chunks`] all data is authentic.
    Data(Bytes),
    /// The trailers, once, after all data; only in framings with trailers. Checked if they are signed.
    Trailers(Trailers),
    /// The body is complete. No input may follow; [`Decoder::finish`] confirms it.
    End,
}

/// Decodes a body in `aws-chunked` from pieces of any size.
///
/// Memory: one trailer section of at most [`DecoderOptions::max_trailer_bytes`], and one chunk if
/// [`DecoderOptions::verified_chunks`] is set. Data is not copied, except then.
///
/// The data, the trailers and the error do not depend on how the input is split, only the sizes of the pieces of data
/// do. After an error every call returns this error.
///
/// ```
/// use bytes::Bytes;
/// use polywire_aws::chunked::{ChunkAuthenticator, Decoder, DecoderOptions, Event, Framing};
///
/// /// Compares with a list. `signature::ChunkVerifier` computes them.
/// struct List(Vec<&'static [u8]>);
///
/// impl ChunkAuthenticator for List {
///     fn chunk(&mut self, _sha256: &[u8; 32], signature: &[u8]) -> bool {
///         self.0.pop() == Some(signature)
///     }
///
///     fn trailer(&mut self, _canonical_trailers: &[u8], _signature: &[u8]) -> bool {
///         false
///     }
/// }
///
/// let list = List(vec![&[b'b'; 64], &[b'a'; 64]]);
/// let mut decoder = Decoder::new(Framing::Signed, list, DecoderOptions::default());
/// let (first, last) = ("a".repeat(64), "c".repeat(64));
/// let body = format!("2;chunk-signature={first}\r\nok\r\n0;chunk-signature={last}\r\n\r\n");
/// let mut input = Bytes::from(body);
/// assert_eq!(decoder.feed(&mut input)?, Event::Data(Bytes::from("ok")));
/// let error = decoder.feed(&mut input).unwrap_err();
/// assert_eq!(error.to_string(), "aws-chunked: the signature of the chunk does not match at byte 171");
/// # Ok::<(), polywire_aws::chunked::ChunkedError>(())
/// ```
pub struct Decoder {
    pub(super) framing: Framing,
    pub(super) options: DecoderOptions,
    authenticator: Box<dyn ChunkAuthenticator + Send + Sync>,
    pub(super) state: State,
    /// The number of bytes read.
    offset: u64,
    error: Option<ChunkedError>,

    /// The size in the head of the chunk, and its number of digits.
    pub(super) size: u64,
    pub(super) digits: usize,
    /// The signature in the head of the chunk: its digits, and the number of `*` after them.
    pub(super) signature: Vec<u8>,
    pub(super) padding: usize,
    /// `remaining <= size`: the data of the chunk that has not come yet.
    remaining: u64,
    /// The sizes of all chunks so far. At most `options.decoded_length`.
    pub(super) total: u64,
    hash: Sha256,
    /// The data of a chunk that has not come completely. Only with `verified_chunks`.
    collected: BytesMut,

    /// The current line of the trailers, and the number of bytes of all lines.
    pub(super) line: Vec<u8>,
    pub(super) trailer_bytes: usize,
    pub(super) trailers: Trailers,
    /// A trailer ended with LF alone: an empty line has to follow the last one.
    pub(super) empty_line_due: bool,
    /// The empty line has come: only the signature may follow.
    pub(super) empty_line_seen: bool,
    pub(super) trailers_authenticated: bool,
}

impl Decoder {
    /// A decoder of this framing. The authenticator is not called if the framing has no signatures.
    pub fn new(
        framing: Framing,
        authenticator: impl ChunkAuthenticator + Send + Sync + 'static,
        options: DecoderOptions,
    ) -> Self {
        Self {
            framing,
            options,
            authenticator: Box::new(authenticator),
            state: State::Size,
            offset: 0,
            error: None,
            size: 0,
            digits: 0,
            signature: Vec::new(),
            padding: 0,
            remaining: 0,
            total: 0,
            hash: Sha256::new(),
            collected: BytesMut::new(),
            line: Vec::new(),
            trailer_bytes: 0,
            trailers: Trailers::default(),
            empty_line_due: false,
            empty_line_seen: false,
            trailers_authenticated: false,
        }
    }

    /// A decoder of [`Framing::UnsignedTrailer`].
    #[must_use]
    pub fn unsigned(options: DecoderOptions) -> Self {
        Self::new(Framing::UnsignedTrailer, NoSignature, options)
    }

    /// The number of bytes of `input` that were read so far, over all calls.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads from the beginning of `input`, up to the next event. Call it until it returns [`Event::NeedInput`] or
    /// [`Event::End`].
    ///
    /// # Errors
    ///
    /// The first byte that is wrong, or the place at which a limit, a length or a signature was found to be wrong.
    /// `input` begins there.
    pub fn feed(&mut self, input: &mut Bytes) -> Result<Event, ChunkedError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.next(input).map_err(|kind| {
            let error = ChunkedError::new(self.offset, kind);
            self.error = Some(error);
            error
        })
    }

    /// Confirms that the body is complete. Call it at the end of the body, after [`Event::End`].
    ///
    /// # Errors
    ///
    /// [`ChunkedErrorKind::Truncated`] if [`feed`](Self::feed) has not returned [`Event::End`]; else its error, if
    /// it returned one.
    pub fn finish(&self) -> Result<(), ChunkedError> {
        match (self.error, self.state) {
            (Some(error), _) => Err(error),
            (None, State::End) => Ok(()),
            (None, _) => {
                let expected = self.expected();
                Err(ChunkedError::new(
                    self.offset,
                    ChunkedErrorKind::Truncated { expected },
                ))
            }
        }
    }

    fn next(&mut self, input: &mut Bytes) -> Result<Event, ChunkedErrorKind> {
        loop {
            match self.state {
                State::Data => match self.data(input)? {
                    Some(data) => return Ok(Event::Data(data)),
                    None if input.is_empty() => return Ok(Event::NeedInput),
                    None => {}
                },
                State::TrailersDue => {
                    self.state = State::EndDue;
                    return Ok(Event::Trailers(std::mem::take(&mut self.trailers)));
                }
                State::EndDue | State::End if !input.is_empty() => {
                    return Err(ChunkedErrorKind::TrailingData);
                }
                State::EndDue | State::End => {
                    self.state = State::End;
                    return Ok(Event::End);
                }
                _ if input.is_empty() => return Ok(Event::NeedInput),
                _ => self.between_data(input)?,
            }
        }
    }

    /// Reads bytes of heads and trailers until data or an event is due.
    fn between_data(&mut self, input: &mut Bytes) -> Result<(), ChunkedErrorKind> {
        let mut used = 0;
        let mut result = Ok(());
        for &byte in input.iter() {
            result = self.byte(byte);
            if result.is_err() {
                break;
            }
            used += 1;
            if self.state.is_event() {
                break;
            }
        }
        self.skip(used);
        input.advance(used);
        result
    }

    /// The next data of the chunk; none if there is none in `input`, or the chunk is collected and not complete.
    fn data(&mut self, input: &mut Bytes) -> Result<Option<Bytes>, ChunkedErrorKind> {
        // What does not fit in a `usize` is certainly more than `input` has.
        let len = usize::try_from(self.remaining).map_or(input.len(), |len| len.min(input.len()));
        if len == 0 {
            return Ok(None);
        }
        let piece = input.split_to(len);
        self.skip(len);
        self.remaining -= len as u64;
        let complete = self.remaining == 0;
        if self.framing.is_signed() {
            self.hash.update(&piece);
        }
        let collects = self.framing.is_signed() && self.options.verified_chunks.is_some();
        let piece = if !collects || complete && self.collected.is_empty() {
            Some(piece)
        } else {
            // Grows with the data that comes, not with the size that the chunk claims.
            self.collected.extend_from_slice(&piece);
            complete.then(|| self.collected.split().freeze())
        };
        if complete {
            self.authenticate_chunk()?;
            self.state = State::DataCr;
        }
        Ok(piece)
    }

    /// The head of a chunk is complete.
    pub(super) fn start_chunk(&mut self) -> Result<(), ChunkedErrorKind> {
        let size = self.size;
        let mut limit = self.options.max_chunk;
        if let Some(verified) = self
            .options
            .verified_chunks
            .filter(|_| self.framing.is_signed())
        {
            limit = limit.min(verified as u64);
        }
        if size > limit {
            return Err(ChunkedErrorKind::ChunkSize { size, limit });
        }
        let limit = self.options.decoded_length.unwrap_or(u64::MAX);
        let found = self.total.checked_add(size);
        let is_short = size == 0
            && self
                .options
                .decoded_length
                .is_some_and(|len| len > self.total);
        match found {
            Some(found) if found <= limit && !is_short => self.total = found,
            _ => {
                let found = found.unwrap_or(u64::MAX);
                return Err(ChunkedErrorKind::Length {
                    declared: limit,
                    found,
                });
            }
        }
        if size == 0 {
            self.authenticate_chunk()?;
            self.state = State::TrailerLine;
        } else {
            self.remaining = size;
            self.state = State::Data;
        }
        Ok(())
    }

    /// Checks the signature of the chunk whose data was hashed.
    fn authenticate_chunk(&mut self) -> Result<(), ChunkedErrorKind> {
        if self.framing.is_signed() {
            let hash = self.hash.finalize_reset();
            if !self.authenticator.chunk(&hash.into(), &self.signature) {
                return Err(ChunkedErrorKind::ChunkSignature);
            }
        }
        Ok(())
    }

    /// Checks the signature of the trailers.
    pub(super) fn authenticate_trailers(
        &mut self,
        signature: &[u8],
    ) -> Result<(), ChunkedErrorKind> {
        if !self
            .authenticator
            .trailer(&self.trailers.canonical(), signature)
        {
            return Err(ChunkedErrorKind::TrailerSignature);
        }
        self.trailers_authenticated = true;
        Ok(())
    }

    fn skip(&mut self, len: usize) {
        self.offset += len as u64;
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("framing", &self.framing)
            .field("state", &self.state)
            .field("offset", &self.offset)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

/// The authenticator of decoders without signatures: never called.
struct NoSignature;

impl ChunkAuthenticator for NoSignature {
    fn chunk(&mut self, _: &[u8; 32], _: &[u8]) -> bool {
        false
    }

    fn trailer(&mut self, _: &[u8], _: &[u8]) -> bool {
        false
    }
}
