//! Streams of events: the values of unions with `@streaming`.

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::{Decode, Decoder, Encode, Encoder, Error, Member, StreamError, StreamErrorKind};

type Source<T> = Pin<Box<dyn Stream<Item = Result<T, StreamError>> + Send>>;

/// The value of a union with `@streaming`: a stream of events. The default has no events.
///
/// A stream can be read once. Clones share it: the clone that reads first gets the events, and the others get
/// [`StreamErrorKind::AlreadyRead`].
///
/// The end ([`None`]) means that the peer has ended the stream. If it breaks off, the last item is an error. If the peer
/// ends it with an error, the last item is an error of the kind [`StreamErrorKind::Failed`], whose source is the fault.
/// On servers, an error in a stream that is sent ends it the same way for the peer: put the fault into its source. Clients
/// cannot send errors, so their stream breaks off.
///
/// <https://smithy.io/2.0/spec/streaming.html#event-streams>
///
/// ```
/// use std::pin::Pin;
/// use std::task::{Context, Poll, Waker};
///
/// use futures_core::Stream;
/// use polywire_schema::{EventStream, StreamError};
///
/// struct Countdown(u32);
///
/// impl Stream for Countdown {
///     type Item = Result<u32, StreamError>;
///
///     fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
///         let next = self.0.checked_sub(1);
///         self.0 = next.unwrap_or_default();
///         Poll::Ready(next.map(Ok))
///     }
/// }
///
/// let mut events = EventStream::new(Countdown(1));
/// let mut context = Context::from_waker(Waker::noop());
/// assert!(matches!(Pin::new(&mut events).poll_next(&mut context), Poll::Ready(Some(Ok(0)))));
/// assert!(matches!(Pin::new(&mut events).poll_next(&mut context), Poll::Ready(None)));
/// ```
pub struct EventStream<T>(Option<Shared<T>>);

struct Shared<T> {
    state: Arc<Mutex<State<T>>>,
    /// Whether this clone reads the stream.
    is_reader: bool,
}

struct State<T> {
    /// Whether a clone has started to read.
    is_claimed: bool,
    /// `None` after the last item.
    source: Option<Source<T>>,
}

impl<T> EventStream<T> {
    /// Creates a stream of a source.
    pub fn new<S>(source: S) -> Self
    where
        S: Stream<Item = Result<T, StreamError>> + Send + 'static,
    {
        let state = State {
            is_claimed: false,
            source: Some(Box::pin(source) as Source<T>),
        };
        Self(Some(Shared {
            state: Arc::new(Mutex::new(state)),
            is_reader: false,
        }))
    }

    /// Returns the next event. `None` at the end.
    ///
    /// # Errors
    ///
    /// The stream broke off, the peer ended it with an error, or another clone reads it.
    pub async fn next(&mut self) -> Option<Result<T, StreamError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<T> Unpin for EventStream<T> {}

impl<T> Stream for EventStream<T> {
    type Item = Result<T, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(shared) = &mut self.0 else {
            return Poll::Ready(None);
        };
        // A source that panicked is in the state that it left, as with any other panic of a stream.
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_claimed && !shared.is_reader {
            let error = StreamError::new(StreamErrorKind::AlreadyRead);
            return Poll::Ready(Some(Err(error)));
        }
        state.is_claimed = true;
        shared.is_reader = true;
        let Some(source) = &mut state.source else {
            return Poll::Ready(None);
        };
        let item = ready!(source.as_mut().poll_next(context));
        if !matches!(item, Some(Ok(_))) {
            state.source = None;
        }
        Poll::Ready(item)
    }
}

impl<T> Clone for EventStream<T> {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|shared| Shared {
            state: Arc::clone(&shared.state),
            is_reader: false,
        }))
    }
}

impl<T> Default for EventStream<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A stream is equal to its clones only. Streams without a source are equal.
impl<T> PartialEq for EventStream<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(own), Some(other)) => Arc::ptr_eq(&own.state, &other.state),
            _ => false,
        }
    }
}

impl<T> fmt::Debug for EventStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStream")
    }
}

/// An event that any encoder can write. Implemented for all types that implement [`Encode`].
pub trait EncodeEvent: Send {
    /// Writes the event as the union of `at`.
    fn encode_event(&self, at: Member<'_>, encoder: &mut dyn Encoder);
}

impl<T: Encode + Send> EncodeEvent for T {
    fn encode_event(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.encode(at, encoder);
    }
}

/// Events of any type, to be sent.
pub type OutgoingEvents =
    Pin<Box<dyn Stream<Item = Result<Box<dyn EncodeEvent>, StreamError>> + Send>>;

/// The events that a transport has received.
pub trait EventSource: Send {
    /// Reads the next event, and calls `decode` with a decoder for it. At the end it returns `None` without a call.
    ///
    /// # Errors
    ///
    /// As [`EventStream::next`], or what `decode` returns.
    fn poll_event(
        &mut self,
        context: &mut Context<'_>,
        decode: &mut DecodeEvent<'_>,
    ) -> Poll<Option<Result<(), StreamError>>>;
}

/// A function that decodes an event. The target of the member is the union.
pub type DecodeEvent<'a> =
    dyn for<'de> FnMut(Member<'_>, &mut dyn Decoder<'de>) -> Result<(), Error> + 'a;

impl<T: Encode + Send + 'static> EventStream<T> {
    /// Converts the stream to one of events of any type.
    fn outgoing(&self) -> OutgoingEvents {
        Box::pin(Outgoing(self.clone()))
    }
}

struct Outgoing<T>(EventStream<T>);

impl<T: Encode + Send + 'static> Stream for Outgoing<T> {
    type Item = Result<Box<dyn EncodeEvent>, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(Pin::new(&mut self.0).poll_next(context));
        Poll::Ready(event.map(|event| event.map(|event| Box::new(event) as _)))
    }
}

/// Passes the events to [`Encoder::event_stream`].
impl<T: Encode + Send + 'static> Encode for EventStream<T> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encoder.event_stream(at, &mut || self.outgoing());
    }
}

impl<T: for<'a> Decode<'a> + Send + 'static> EventStream<T> {
    /// Creates a stream of the events that a transport has received.
    #[must_use]
    pub fn received(source: Box<dyn EventSource>) -> Self {
        Self::new(Received {
            source,
            event: PhantomData,
        })
    }
}

struct Received<T> {
    source: Box<dyn EventSource>,
    event: PhantomData<fn() -> T>,
}

impl<T: for<'a> Decode<'a>> Stream for Received<T> {
    type Item = Result<T, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut event = None;
        let polled = self.source.poll_event(context, &mut |at, decoder| {
            event = Some(T::decode(at, decoder)?);
            Ok(())
        });
        Poll::Ready(match ready!(polled) {
            None => None,
            Some(Err(error)) => Some(Err(error)),
            Some(Ok(())) => event.map(Ok),
        })
    }
}

/// Takes the events of [`Decoder::event_stream`]. Decoders without events give an empty stream.
impl<'de, T: for<'a> Decode<'a> + Send + 'static> Decode<'de> for EventStream<T> {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        Ok(match decoder.event_stream(at)? {
            Some(source) => Self::received(source),
            None => Self::default(),
        })
    }
}
