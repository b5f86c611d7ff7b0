//! Reading and discarding request bodies.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Version, header, request};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, LengthLimitError, combinators::BoxBody};
use polywire_protocol::{Fault, FaultKind};
use polywire_schema::{ByteStream, StreamError, StreamErrorKind};
use tokio::time::{Instant, Sleep};

use super::BodyError;
use super::incoming::IncomingBody;
use crate::call::Deadline;
use crate::call::admission::{MemoryUse, Rejection};
use crate::call::memory::{FREE, Memory, MemoryReservation};
use crate::payload::{IncomingStream, ReceiveLimits};

/// The body of a request before it has been read, or the memory that it takes after.
///
/// If the body is dropped before it has been read, the rest is read and discarded, for at most the body
/// timeout. Otherwise the connection would be closed with unread bytes, the next
/// write of the client would fail, and most clients would report this instead of the response.
pub(super) struct RequestBody {
    source: Option<Source>,
    /// The received part of an incomplete body.
    partial: Option<Box<PartialBody>>,
    timeout: Duration,
    /// The deadline of the call, which also limits the time for the body.
    deadline: Deadline,
    /// The bytes for which no memory is taken.
    free: usize,
    /// Whether to read and discard the rest when this is dropped.
    linger: bool,
}

/// An extension of a request: the number of bytes of the body for which its sender holds memory, until there is a response.
#[derive(Clone, Copy)]
pub(super) struct CountedLength(pub(super) usize);

enum Source {
    Incoming(IncomingBody),
    Boxed(BoxBody<Bytes, BodyError>),
    Read { held: MemoryReservation },
}

impl RequestBody {
    pub(super) fn incoming(head: &request::Parts, body: IncomingBody, timeout: Duration) -> Self {
        let source = (!body.is_end_stream()).then_some(Source::Incoming(body));
        Self::new(head, source, timeout)
    }

    pub(super) fn boxed(
        head: &request::Parts,
        body: BoxBody<Bytes, BodyError>,
        timeout: Duration,
    ) -> Self {
        let source = (!body.is_end_stream()).then_some(Source::Boxed(body));
        let mut body = Self::new(head, source, timeout);
        body.free = free_bytes(head);
        body
    }

    /// A body that has passed layers around HTTP requests. The body that the outermost layer received discards the rest
    /// itself.
    pub(super) fn layered(
        head: &request::Parts,
        body: BoxBody<Bytes, BodyError>,
        timeout: Duration,
    ) -> Self {
        Self {
            source: (!body.is_end_stream()).then_some(Source::Boxed(body)),
            partial: None,
            timeout,
            deadline: Deadline::NONE,
            free: free_bytes(head),
            linger: false,
        }
    }

    /// An empty body.
    pub(super) const fn empty() -> Self {
        Self {
            source: None,
            partial: None,
            timeout: Duration::ZERO,
            deadline: Deadline::NONE,
            free: FREE,
            linger: false,
        }
    }

    fn new(head: &request::Parts, source: Option<Source>, timeout: Duration) -> Self {
        // HTTP/2 can reset one stream. A client that sent `Expect` waits before it sends the body.
        let linger = source.is_some()
            && head.version < Version::HTTP_2
            && !head.headers.contains_key(header::EXPECT);
        Self {
            source,
            partial: None,
            timeout,
            deadline: Deadline::NONE,
            free: FREE,
            linger,
        }
    }

    /// The timeout and the deadline.
    pub(super) const fn times(&self) -> (Duration, Deadline) {
        (self.timeout, self.deadline)
    }

    pub(super) const fn set_deadline(&mut self, deadline: Deadline) {
        self.deadline = deadline;
    }

    /// Whether there is nothing to read.
    pub(super) const fn is_empty(&self) -> bool {
        self.source.is_none()
    }

    /// Takes the memory for a body that has been decompressed from `compressed_len` to `len` bytes.
    pub(super) fn grow(
        &mut self,
        (compressed_len, len): (usize, usize),
        limit: usize,
        memory: &Arc<Memory>,
    ) -> Result<(), Fault> {
        if len > limit {
            return Err(too_large(limit));
        }
        if compressed_len + len <= FREE {
            return Ok(());
        }
        if !matches!(self.source, Some(Source::Read { .. })) {
            let held = MemoryReservation::nothing(Arc::clone(memory));
            self.source = Some(Source::Read { held });
            self.linger = false;
        }
        let grown = match &mut self.source {
            Some(Source::Read { held }) => held.grow(compressed_len + len),
            _ => false,
        };
        if grown { Ok(()) } else { Err(overloaded()) }
    }

    /// Returns the body as a stream, which reads and discards the rest when it is dropped.
    ///
    /// # Errors
    ///
    /// The declared length is above the limit.
    pub(super) fn into_stream(self, deadline: Deadline, bytes: u64) -> Result<ByteStream, Fault> {
        if self.size_hint().lower() > bytes {
            let message = format!("the body is longer than {bytes} bytes");
            return Err(Fault::new(FaultKind::TooLarge, message));
        }
        let limits = ReceiveLimits {
            idle: self.timeout,
            deadline,
            bytes,
        };
        Ok(IncomingStream::stream(self, limits))
    }

    /// Reads the whole body. Fails if it takes longer than the timeout, has more than `limit` bytes, or exceeds `memory`.
    pub(super) fn poll_read(
        &mut self,
        limit: usize,
        memory: &Arc<Memory>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bytes, Fault>> {
        let reader = BodyReader {
            limit,
            memory,
            timeout: self.timeout,
            deadline: self.deadline,
            free: self.free,
        };
        let partial = &mut self.partial;
        let result = ready!(match &mut self.source {
            None | Some(Source::Read { .. }) => return Poll::Ready(Ok(Bytes::new())),
            Some(Source::Incoming(body)) => reader.poll(body, partial, context),
            Some(Source::Boxed(body)) => reader.poll(body, partial, context),
        });
        let held = self.partial.take().and_then(|partial| partial.held);
        if let Err(fault) = &result
            && matches!(fault.kind(), FaultKind::TooLarge | FaultKind::Overloaded)
        {
            // The client is still writing: `drop` discards the rest.
            return Poll::Ready(result);
        }
        self.source = None;
        if let Some(held) = held {
            self.source = Some(Source::Read { held });
            self.linger = false;
        }
        Poll::Ready(result)
    }
}

/// Reads a body within limits.
struct BodyReader<'a> {
    limit: usize,
    memory: &'a Arc<Memory>,
    timeout: Duration,
    deadline: Deadline,
    free: usize,
}

impl BodyReader<'_> {
    /// Most bodies are received in one piece at the first poll. They are not copied and need no timer.
    fn poll<B>(
        &self,
        body: &mut B,
        partial: &mut Option<Box<PartialBody>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bytes, Fault>>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        if let Some(partial) = partial {
            return partial.poll(self, body, context);
        }
        // The declared length is checked before reading.
        if body.size_hint().lower() > self.limit as u64 {
            return Poll::Ready(Err(too_large(self.limit)));
        }
        let mut first = PartialBody::default();
        match Pin::new(&mut *body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    if body.is_end_stream() && data.len() <= self.limit.min(self.free) {
                        return Poll::Ready(Ok(data));
                    }
                    first.add(self, data, body)?;
                }
            }
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(read_error(error))),
            Poll::Ready(None) => return Poll::Ready(Ok(Bytes::new())),
            Poll::Pending => {}
        }
        // The poll below starts the timer.
        let partial = partial.insert(Box::new(first));
        partial.poll(self, body, context)
    }
}

/// The received part of a body.
#[derive(Default)]
struct PartialBody {
    /// The first piece.
    first: Bytes,
    /// All pieces, if there are several.
    buffer: BytesMut,
    len: usize,
    held: Option<MemoryReservation>,
    /// Started when the body is first waited for.
    timer: Option<Pin<Box<Sleep>>>,
}

impl PartialBody {
    fn poll<B>(
        &mut self,
        reader: &BodyReader<'_>,
        body: &mut B,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bytes, Fault>>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        while let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(context) {
            match frame {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.add(reader, data, body)?;
                    }
                }
                Some(Err(error)) => return Poll::Ready(Err(read_error(error))),
                None => return Poll::Ready(Ok(self.take())),
            }
        }
        let sleep = || {
            let left = reader.deadline.left(Instant::now());
            let time = left.map_or(reader.timeout, |left| reader.timeout.min(left));
            Box::pin(tokio::time::sleep(time))
        };
        let timer = self.timer.get_or_insert_with(sleep);
        // Without tokio's coop budget: a body that exhausts it at each poll would never time out.
        let timer = tokio::task::unconstrained(timer.as_mut());
        ready!(pin!(timer).poll(context));
        Poll::Ready(Err(match reader.deadline.is_over(Instant::now()) {
            true => past_deadline(),
            false => timed_out(reader.timeout),
        }))
    }

    fn add(&mut self, reader: &BodyReader<'_>, data: Bytes, body: &impl Body) -> Result<(), Fault> {
        self.len += data.len();
        if self.len > reader.limit.min(reader.free) {
            self.grow(reader)?;
        }
        if self.first.is_empty() {
            self.first = data;
            return Ok(());
        }
        if self.buffer.is_empty() {
            // Reserves at most as much as has been received, because a declared length costs the client nothing.
            let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
            let len = self.len;
            self.buffer.reserve(len + declared.min(len.max(64 * 1024)));
            self.buffer.extend_from_slice(&self.first);
        }
        self.buffer.extend_from_slice(&data);
        Ok(())
    }

    /// Checks the limit and takes memory for a body larger than what is free.
    #[cold]
    fn grow(&mut self, reader: &BodyReader<'_>) -> Result<(), Fault> {
        if self.len > reader.limit {
            return Err(too_large(reader.limit));
        }
        let held = self
            .held
            .get_or_insert_with(|| MemoryReservation::nothing(Arc::clone(reader.memory)));
        if held.grow(self.len) {
            return Ok(());
        }
        Err(overloaded())
    }

    fn take(&mut self) -> Bytes {
        if self.buffer.is_empty() {
            return std::mem::take(&mut self.first);
        }
        std::mem::take(&mut self.buffer).freeze()
    }
}

/// Used by layers around HTTP requests.
impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let own = self.get_mut();
        let frame = ready!(match &mut own.source {
            Some(Source::Incoming(body)) =>
                Pin::new(body).poll_frame(context).map_err(BodyError::new),
            Some(Source::Boxed(body)) => Pin::new(body).poll_frame(context),
            None | Some(Source::Read { .. }) => Poll::Ready(None),
        });
        if !matches!(frame, Some(Ok(_))) || own.is_end_stream() {
            own.source = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Some(Source::Incoming(body)) => body.is_end_stream(),
            Some(Source::Boxed(body)) => body.is_end_stream(),
            None | Some(Source::Read { .. }) => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Some(Source::Incoming(body)) => body.size_hint(),
            Some(Source::Boxed(body)) => body.size_hint(),
            None | Some(Source::Read { .. }) => SizeHint::with_exact(0),
        }
    }
}

impl From<BodyError> for StreamError {
    fn from(BodyError(error): BodyError) -> Self {
        let error = match error.downcast::<Fault>() {
            Ok(fault) => return Self::new(StreamErrorKind::Corrupt).with_source(*fault),
            Err(error) => error,
        };
        if error.is::<LengthLimitError>() {
            return Self::new(StreamErrorKind::TooLarge)
                .with_source("the body is longer than a layer allows");
        }
        Self::new(StreamErrorKind::Interrupted)
            .with_source(format!("the body ended too early: {}", innermost(&*error)))
    }
}

/// The most precise cause of an error.
fn innermost<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> &'e (dyn std::error::Error + 'static) {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let Some(source) = self.source.take().filter(|_| self.linger) else {
            return;
        };
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let timeout = self.timeout;
            runtime.spawn(async move {
                let discard = async {
                    match source {
                        Source::Incoming(body) => discard(body).await,
                        Source::Boxed(body) => discard(body).await,
                        Source::Read { .. } => {}
                    }
                };
                // After this time the body is dropped, and the connection closes.
                let _ = tokio::time::timeout(timeout, discard).await;
            });
        }
    }
}

async fn discard<B: Body>(body: B) {
    let mut body = std::pin::pin!(body);
    while let Some(Ok(_)) = body.frame().await {}
}

/// The bytes of a body for which no memory is taken.
fn free_bytes(head: &request::Parts) -> usize {
    let counted = head.extensions.get::<CountedLength>();
    counted.map_or(FREE, |counted| counted.0.max(FREE))
}

fn read_error(error: impl std::error::Error + Send + Sync + 'static) -> Fault {
    let any: &dyn std::error::Error = &error;
    if let Some(BodyError(error)) = any.downcast_ref() {
        if let Some(fault) = error.downcast_ref::<Fault>() {
            return fault.clone();
        }
        if error.is::<LengthLimitError>() {
            return Fault::new(
                FaultKind::TooLarge,
                "the body is longer than a layer allows",
            );
        }
    }
    Fault::new(FaultKind::Malformed, "the body ended too early").with_source(error)
}

fn timed_out(timeout: Duration) -> Fault {
    let message = format!("the body did not arrive within {} s", timeout.as_secs_f64());
    Fault::new(FaultKind::RequestTimeout, message)
}

fn past_deadline() -> Fault {
    let message = "the body did not arrive before the deadline of the call";
    Fault::new(FaultKind::RequestTimeout, message)
}

pub(super) fn overloaded() -> Fault {
    Rejection::NoMemory(MemoryUse::Inputs).fault()
}

fn too_large(limit: usize) -> Fault {
    let message = format!("the body is longer than {limit} bytes (Limits::bytes)");
    Fault::new(FaultKind::TooLarge, message)
}
