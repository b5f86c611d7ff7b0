//! Blobs that are read or sent piece by piece.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use polywire_text::Blob;

type Source = Pin<Box<dyn Stream<Item = Result<Bytes, StreamError>> + Send>>;

/// The value of a blob with `@streaming`: bytes in memory, or a stream of pieces.
///
/// A stream can be read once. Clones share it: the clone that reads first gets all bytes, and the others get
/// [`StreamErrorKind::AlreadyRead`]. Bytes in memory can be read from every clone.
///
/// The end of the stream ([`None`]) means that all bytes have arrived. If the stream breaks off, the last item is an
/// error.
///
/// ```
/// use polywire_schema::{Blob, ByteStream};
///
/// let stream = ByteStream::from(b"in memory".as_slice());
/// assert_eq!(stream.len(), Some(9));
/// assert_eq!(stream.as_blob().map(Blob::as_bytes), Some(b"in memory".as_slice()));
/// ```
#[derive(Clone)]
pub struct ByteStream(Repr);

#[derive(Clone)]
enum Repr {
    Blob(Blob),
    Shared {
        shared: Arc<Shared>,
        /// Whether this clone reads the stream.
        is_reader: bool,
    },
}

struct Shared {
    len: Option<u64>,
    state: Mutex<State>,
}

struct State {
    /// Whether a clone has started to read.
    is_claimed: bool,
    /// `None` after the last item.
    source: Option<Source>,
    /// The number of bytes that were read.
    read: u64,
    /// The piece that completes the length, until the source has ended. A reader that knows the length may stop after it,
    /// so an error at the end of the source must come before it.
    last: Option<Bytes>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A source that panicked is in the state that it left, as with any other panic of a stream.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ByteStream {
    /// Creates a stream of unknown length.
    pub fn new<S>(source: S) -> Self
    where
        S: Stream<Item = Result<Bytes, StreamError>> + Send + 'static,
    {
        Self::of(Box::pin(source), None)
    }

    /// Creates a stream of `len` bytes. It ends with an error if the source has fewer bytes, or more. The last piece is
    /// returned when the source has ended.
    pub fn with_len<S>(source: S, len: u64) -> Self
    where
        S: Stream<Item = Result<Bytes, StreamError>> + Send + 'static,
    {
        Self::of(Box::pin(source), Some(len))
    }

    /// Sets the length of a stream that has not been read, as [`with_len`](Self::with_len) does. A known length is kept.
    #[must_use]
    pub fn or_len(self, len: u64) -> Self {
        match self.len() {
            Some(_) => self,
            None => Self::with_len(self, len),
        }
    }

    fn of(source: Source, len: Option<u64>) -> Self {
        let state = State {
            is_claimed: false,
            source: Some(source),
            read: 0,
            last: None,
        };
        let shared = Shared {
            len,
            state: Mutex::new(state),
        };
        Self(Repr::Shared {
            shared: Arc::new(shared),
            is_reader: false,
        })
    }

    /// The number of bytes that have not been read, by this or another clone. `None` if it is not known.
    #[must_use]
    pub fn len(&self) -> Option<u64> {
        match &self.0 {
            Repr::Blob(blob) => Some(blob.len() as u64),
            Repr::Shared { shared, .. } => shared
                .len
                .map(|len| len.saturating_sub(shared.state().returned())),
        }
    }

    /// Whether it is known that no bytes are left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The bytes, if they are in memory.
    #[must_use]
    pub const fn as_blob(&self) -> Option<&Blob> {
        match &self.0 {
            Repr::Blob(blob) => Some(blob),
            Repr::Shared { .. } => None,
        }
    }

    /// Returns the next piece, which is not empty. `None` after the last one.
    ///
    /// # Errors
    ///
    /// The stream broke off, or another clone reads it.
    pub async fn next(&mut self) -> Option<Result<Bytes, StreamError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Reads all bytes. Fails as soon as it is known that there are more than `limit` bytes. One piece, and bytes in
    /// memory, are not copied.
    ///
    /// # Errors
    ///
    /// The stream broke off or has more than `limit` bytes, or another clone reads it.
    pub async fn collect(mut self, limit: usize) -> Result<Blob, StreamError> {
        if self.len().is_some_and(|len| len > limit as u64) {
            return Err(StreamError::new(StreamErrorKind::TooLarge));
        }
        if let Repr::Blob(blob) = self.0 {
            return Ok(blob);
        }
        let mut all = BytesMut::new();
        let mut first = Bytes::new();
        while let Some(piece) = self.next().await {
            let piece = piece?;
            if first.len() + all.len() + piece.len() > limit {
                return Err(StreamError::new(StreamErrorKind::TooLarge));
            }
            if first.is_empty() && all.is_empty() {
                first = piece;
                continue;
            }
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&piece);
        }
        let bytes = if all.is_empty() { first } else { all.freeze() };
        Ok(Blob::from(bytes))
    }
}

impl Stream for ByteStream {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamError>>> {
        let (shared, is_reader) = match &mut self.get_mut().0 {
            Repr::Blob(blob) => {
                let bytes = std::mem::take(blob).into_bytes();
                let piece = (!bytes.is_empty()).then_some(Ok(bytes));
                return Poll::Ready(piece);
            }
            Repr::Shared { shared, is_reader } => (&*shared, is_reader),
        };
        let mut state = shared.state();
        if !*is_reader && state.is_claimed {
            let error = StreamError::new(StreamErrorKind::AlreadyRead);
            return Poll::Ready(Some(Err(error)));
        }
        state.is_claimed = true;
        *is_reader = true;
        state.poll(shared.len, context)
    }
}

impl State {
    /// The number of bytes that were returned.
    fn returned(&self) -> u64 {
        self.read - self.last.as_ref().map_or(0, Bytes::len) as u64
    }

    /// Polls the source, and checks its length.
    fn poll(
        &mut self,
        len: Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamError>>> {
        loop {
            let Some(source) = &mut self.source else {
                return Poll::Ready(None);
            };
            let item = match ready!(source.as_mut().poll_next(context)) {
                Some(Ok(piece)) if piece.is_empty() => continue,
                Some(Ok(piece)) => {
                    self.read += piece.len() as u64;
                    match len {
                        Some(len) if self.read > len => Some(Err(StreamError::wrong_length(len))),
                        Some(len) if self.read == len => {
                            self.last = Some(piece);
                            continue;
                        }
                        _ => Some(Ok(piece)),
                    }
                }
                None => match len {
                    Some(len) if self.read < len => {
                        Some(Err(StreamError::ended_early(self.read, len)))
                    }
                    _ => {
                        self.source = None;
                        return Poll::Ready(self.last.take().map(Ok));
                    }
                },
                error => error,
            };
            if !matches!(item, Some(Ok(_))) {
                self.source = None;
                self.last = None;
            }
            return Poll::Ready(item);
        }
    }
}

impl Default for ByteStream {
    /// No bytes.
    fn default() -> Self {
        Self(Repr::Blob(Blob::EMPTY))
    }
}

impl From<Blob> for ByteStream {
    fn from(blob: Blob) -> Self {
        Self(Repr::Blob(blob))
    }
}

macro_rules! from_bytes {
    ($($type:ty),*) => {
        $(impl From<$type> for ByteStream {
            fn from(bytes: $type) -> Self {
                Self::from(Blob::from(bytes))
            }
        })*
    };
}

from_bytes!(Bytes, Vec<u8>, &[u8]);

impl From<String> for ByteStream {
    fn from(text: String) -> Self {
        Self::from(text.into_bytes())
    }
}

impl From<&str> for ByteStream {
    fn from(text: &str) -> Self {
        Self::from(text.as_bytes())
    }
}

/// Bytes in memory are compared. A stream is equal to its clones only.
impl PartialEq for ByteStream {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Blob(own), Repr::Blob(other)) => own == other,
            (Repr::Shared { shared, .. }, Repr::Shared { shared: other, .. }) => {
                Arc::ptr_eq(shared, other)
            }
            _ => false,
        }
    }
}

impl Eq for ByteStream {}

impl fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Blob(blob) => blob.fmt(f),
            Repr::Shared { shared, .. } => {
                let mut shown = f.debug_struct("ByteStream");
                shown.field("len", &shared.len).finish_non_exhaustive()
            }
        }
    }
}

/// Why a [`ByteStream`] or an [`EventStream`](crate::EventStream) ended before its end.
///
/// `Fault::from(error)` of `polywire-protocol` is the fault that a peer gets, or has sent.
#[derive(Clone, Debug)]
pub struct StreamError {
    kind: StreamErrorKind,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// The kind of a [`StreamError`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StreamErrorKind {
    /// The peer disconnected, or the source failed.
    Interrupted,
    /// No bytes arrived in time, or not all of them before the deadline of the stream.
    TimedOut,
    /// The stream has more bytes than a limit allows.
    TooLarge,
    /// The source has another number of bytes than its length says.
    WrongLength,
    /// A check failed: a checksum, a signature, or the encoding or a constraint of an event.
    Corrupt,
    /// Another clone has started to read the stream.
    AlreadyRead,
    /// The peer ended a stream of events with an error, which is the source.
    Failed,
}

impl StreamError {
    /// Creates an error without a cause.
    #[must_use]
    pub const fn new(kind: StreamErrorKind) -> Self {
        Self { kind, source: None }
    }

    /// Adds the cause, whose text is shown instead of that of the kind.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }

    fn ended_early(read: u64, len: u64) -> Self {
        Self::new(StreamErrorKind::WrongLength)
            .with_source(format!("the stream ended after {read} of {len} bytes"))
    }

    fn wrong_length(len: u64) -> Self {
        Self::new(StreamErrorKind::WrongLength)
            .with_source(format!("the stream has more than its {len} bytes"))
    }

    /// What happened.
    #[must_use]
    pub const fn kind(&self) -> StreamErrorKind {
        self.kind
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = &self.source {
            return source.fmt(f);
        }
        f.write_str(match self.kind {
            StreamErrorKind::Interrupted => "the stream broke off",
            StreamErrorKind::TimedOut => "the stream stopped for too long",
            StreamErrorKind::TooLarge => "the stream is longer than allowed",
            StreamErrorKind::WrongLength => "the stream does not have the announced length",
            StreamErrorKind::Corrupt => "the bytes of the stream are damaged",
            StreamErrorKind::Failed => "the peer ended the stream with an error",
            StreamErrorKind::AlreadyRead => "another clone of the stream reads it",
        })
    }
}

impl std::error::Error for StreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

impl From<std::io::Error> for StreamError {
    fn from(error: std::io::Error) -> Self {
        Self::new(StreamErrorKind::Interrupted).with_source(error)
    }
}
