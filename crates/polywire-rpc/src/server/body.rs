//! The body of a request: read whole, or read and forgotten.

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
use tokio::time::{Instant, Sleep};

use super::BodyError;
use super::incoming::IncomingBody;
use super::memory::{FREE, Held, Memory};
use crate::call::Deadline;
use crate::call::admission::{MemoryUse, Rejection};

/// The body of a request: to be read, or, once it has been read, the memory that it takes.
///
/// If the body is dropped before it has been read, the rest is read and discarded, for at most the
/// time that a body may take. Otherwise the connection would be closed with unread bytes, the next
/// write of the client would fail, and most clients would report this instead of the response.
pub(super) struct RequestBody {
    source: Option<Source>,
    /// What has come, unless all of it came at once.
    pieces: Option<Box<Pieces>>,
    time: Duration,
    /// Of the call: the body is not waited for beyond it.
    deadline: Deadline,
    /// Whether to read and discard the rest when this is dropped.
    linger: bool,
}

enum Source {
    Incoming(IncomingBody),
    Boxed(BoxBody<Bytes, BodyError>),
    Read { held: Held },
}

impl RequestBody {
    pub(super) fn incoming(head: &request::Parts, body: IncomingBody, time: Duration) -> Self {
        let source = (!body.is_end_stream()).then_some(Source::Incoming(body));
        Self::new(head, source, time)
    }

    pub(super) fn boxed(
        head: &request::Parts,
        body: BoxBody<Bytes, BodyError>,
        time: Duration,
    ) -> Self {
        let source = (!body.is_end_stream()).then_some(Source::Boxed(body));
        Self::new(head, source, time)
    }

    /// A body behind layers around HTTP requests. What the server gave to the outermost layer
    /// discards the rest itself.
    pub(super) fn layered(body: BoxBody<Bytes, BodyError>, time: Duration) -> Self {
        Self {
            source: (!body.is_end_stream()).then_some(Source::Boxed(body)),
            pieces: None,
            time,
            deadline: Deadline::NONE,
            linger: false,
        }
    }

    fn new(head: &request::Parts, source: Option<Source>, time: Duration) -> Self {
        // HTTP/2 can reset one stream. A client that sent `Expect` waits before it sends the body.
        let linger = source.is_some()
            && head.version < Version::HTTP_2
            && !head.headers.contains_key(header::EXPECT);
        Self {
            source,
            pieces: None,
            time,
            deadline: Deadline::NONE,
            linger,
        }
    }

    /// Does not wait for the body beyond the deadline of the call.
    pub(super) const fn set_deadline(&mut self, deadline: Deadline) {
        self.deadline = deadline;
    }

    /// Whether there is nothing to read.
    pub(super) const fn is_empty(&self) -> bool {
        self.source.is_none()
    }

    /// Takes the memory for a body that came compressed, in so many bytes, and has
    /// become this long.
    pub(super) fn grow(
        &mut self,
        (came, len): (usize, usize),
        limit: usize,
        memory: &Arc<Memory>,
    ) -> Result<(), Fault> {
        if len > limit {
            return Err(too_large(limit));
        }
        if came + len <= FREE {
            return Ok(());
        }
        if !matches!(self.source, Some(Source::Read { .. })) {
            let held = Held::nothing(Arc::clone(memory));
            self.source = Some(Source::Read { held });
            self.linger = false;
        }
        let grown = match &mut self.source {
            Some(Source::Read { held }) => held.grow(came + len),
            _ => false,
        };
        if grown { Ok(()) } else { Err(overloaded()) }
    }

    /// The whole body, if it comes in time, is not longer than `limit` bytes,
    /// and there is memory for it. To be asked for until it is there.
    pub(super) fn poll_read(
        &mut self,
        limit: usize,
        memory: &Arc<Memory>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bytes, Fault>> {
        let room = Room {
            limit,
            memory,
            time: match self.deadline.left(Instant::now()) {
                Some(left) => self.time.min(left),
                None => self.time,
            },
        };
        let pieces = &mut self.pieces;
        let result = ready!(match &mut self.source {
            None | Some(Source::Read { .. }) => return Poll::Ready(Ok(Bytes::new())),
            Some(Source::Incoming(body)) => room.poll(body, pieces, context),
            Some(Source::Boxed(body)) => room.poll(body, pieces, context),
        });
        let held = self.pieces.take().and_then(|pieces| pieces.held);
        if let Err(fault) = &result
            && matches!(fault.kind(), FaultKind::TooLarge | FaultKind::Overloaded)
        {
            // The caller is still writing: the rest stays, to be forgotten.
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

/// How much a body may be, and how long it may take.
struct Room<'a> {
    limit: usize,
    memory: &'a Arc<Memory>,
    time: Duration,
}

impl Room<'_> {
    /// Most bodies are there when they are first asked for, in one piece, which
    /// then is the body, uncopied, and needs no clock.
    fn poll<B>(
        &self,
        body: &mut B,
        pieces: &mut Option<Box<Pieces>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bytes, Fault>>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        if let Some(pieces) = pieces {
            return pieces.poll(self, body, context);
        }
        // A length that is told ahead is refused without reading.
        if body.size_hint().lower() > self.limit as u64 {
            return Poll::Ready(Err(too_large(self.limit)));
        }
        let mut begun = Pieces::default();
        match Pin::new(&mut *body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    if body.is_end_stream() && data.len() <= self.limit.min(FREE) {
                        return Poll::Ready(Ok(data));
                    }
                    begun.add(self, data, body)?;
                }
            }
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(broken(error))),
            Poll::Ready(None) => return Poll::Ready(Ok(Bytes::new())),
            Poll::Pending => {}
        }
        // Asked again, if it was not there, so that its time begins.
        let pieces = pieces.insert(Box::new(begun));
        pieces.poll(self, body, context)
    }
}

/// A body that comes bit by bit.
#[derive(Default)]
struct Pieces {
    /// The only piece so far.
    first: Bytes,
    /// All pieces, once there are several.
    rest: BytesMut,
    len: usize,
    held: Option<Held>,
    /// From when it is first waited for.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Pieces {
    fn poll<B>(
        &mut self,
        room: &Room<'_>,
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
                        self.add(room, data, body)?;
                    }
                }
                Some(Err(error)) => return Poll::Ready(Err(broken(error))),
                None => return Poll::Ready(Ok(self.whole())),
            }
        }
        let sleep = || Box::pin(tokio::time::sleep(room.time));
        let deadline = self.deadline.get_or_insert_with(sleep);
        // Not by the budget of the task: a body that uses it all up at each turn
        // would put its deadline off for good.
        let deadline = tokio::task::unconstrained(deadline.as_mut());
        ready!(pin!(deadline).poll(context));
        Poll::Ready(Err(late(room.time)))
    }

    fn add(&mut self, room: &Room<'_>, data: Bytes, body: &impl Body) -> Result<(), Fault> {
        self.len += data.len();
        if self.len > room.limit.min(FREE) {
            self.grow(room)?;
        }
        if self.first.is_empty() {
            self.first = data;
            return Ok(());
        }
        if self.rest.is_empty() {
            // What is claimed is believed up to as much as has come: a length
            // costs a caller nothing, bytes do.
            let claimed = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
            let len = self.len;
            self.rest.reserve(len + claimed.min(len.max(64 * 1024)));
            self.rest.extend_from_slice(&self.first);
        }
        self.rest.extend_from_slice(&data);
        Ok(())
    }

    /// Whether a body that is not small may be of this length.
    #[cold]
    fn grow(&mut self, room: &Room<'_>) -> Result<(), Fault> {
        if self.len > room.limit {
            return Err(too_large(room.limit));
        }
        let held = self
            .held
            .get_or_insert_with(|| Held::nothing(Arc::clone(room.memory)));
        if held.grow(self.len) {
            return Ok(());
        }
        Err(overloaded())
    }

    fn whole(&mut self) -> Bytes {
        if self.rest.is_empty() {
            return std::mem::take(&mut self.first);
        }
        std::mem::take(&mut self.rest).freeze()
    }
}

/// The body as layers around HTTP requests read it.
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

impl Drop for RequestBody {
    fn drop(&mut self) {
        let Some(source) = self.source.take().filter(|_| self.linger) else {
            return;
        };
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let time = self.time;
            runtime.spawn(async move {
                let discard = async {
                    match source {
                        Source::Incoming(body) => discard(body).await,
                        Source::Boxed(body) => discard(body).await,
                        Source::Read { .. } => {}
                    }
                };
                // After this time the body is dropped, and the connection closes.
                let _ = tokio::time::timeout(time, discard).await;
            });
        }
    }
}

async fn discard<B: Body>(body: B) {
    let mut body = std::pin::pin!(body);
    while let Some(Ok(_)) = body.frame().await {}
}

fn broken(error: impl std::error::Error + Send + Sync + 'static) -> Fault {
    let any: &dyn std::error::Error = &error;
    if let Some(BodyError(error)) = any.downcast_ref()
        && error.is::<LengthLimitError>()
    {
        return Fault::new(
            FaultKind::TooLarge,
            "the body is longer than a layer allows",
        );
    }
    Fault::new(FaultKind::Malformed, "the body ended too early").with_source(error)
}

fn late(time: Duration) -> Fault {
    let message = format!("the body did not arrive within {} s", time.as_secs_f64());
    Fault::new(FaultKind::RequestTimeout, message)
}

pub(super) fn overloaded() -> Fault {
    Rejection::NoMemory(MemoryUse::Inputs).fault()
}

fn too_large(limit: usize) -> Fault {
    let message = format!("the body is longer than {limit} bytes (Limits::bytes)");
    Fault::new(FaultKind::TooLarge, message)
}
