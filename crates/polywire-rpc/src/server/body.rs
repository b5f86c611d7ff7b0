//! The body of a request: read whole, or read and forgotten.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Request, Version, header, request};
use http_body::Body;
use http_body_util::{BodyExt, combinators::BoxBody};
use hyper::body::Incoming;
use polywire_protocol::{Fault, FaultKind};

use super::memory::{FREE, Held, Memory};
use super::{BodyError, Timeouts};

/// The body of a request: to be read, or, once it has been, what it takes of
/// the server's memory until this is dropped.
///
/// When it is dropped unread, because the answer is there already, the rest is
/// read and forgotten for as long as a body may take. Otherwise the connection
/// would be closed with bytes in it, the caller's next write would fail, and
/// most callers would report that and not the answer.
pub(super) struct RequestBody {
    source: Option<Source>,
    time: Duration,
    /// Whether a caller may be in the middle of writing it.
    linger: bool,
}

/// hyper's body, or one that went through layers; or what was taken for it.
enum Source {
    Incoming(Incoming),
    Boxed(BoxBody<Bytes, BodyError>),
    Read { held: Held },
}

impl RequestBody {
    pub(super) fn incoming(head: &request::Parts, body: Incoming, time: Duration) -> Self {
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

    fn new(head: &request::Parts, source: Option<Source>, time: Duration) -> Self {
        // HTTP/2 can refuse one body and go on, and who asks whether to send a
        // body will not send it after an answer.
        let linger = source.is_some()
            && head.version < Version::HTTP_2
            && !head.headers.contains_key(header::EXPECT);
        Self {
            source,
            time,
            linger,
        }
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
    /// and there is memory for it. To be asked for once.
    pub(super) async fn read(
        &mut self,
        limit: usize,
        memory: &Arc<Memory>,
    ) -> Result<Bytes, Fault> {
        let mut room = Room {
            small: limit.min(FREE),
            limit,
            memory,
            held: None,
        };
        let result = match &mut self.source {
            None | Some(Source::Read { .. }) => return Ok(Bytes::new()),
            Some(Source::Incoming(body)) => read(body, &mut room, self.time).await,
            Some(Source::Boxed(body)) => read(body, &mut room, self.time).await,
        };
        if let Err(fault) = &result
            && matches!(fault.kind(), FaultKind::TooLarge | FaultKind::Overloaded)
        {
            // The caller is still writing: the rest stays, to be forgotten.
            return result;
        }
        self.source = None;
        if let Some(held) = room.held {
            self.source = Some(Source::Read { held });
            self.linger = false;
        }
        result
    }
}

/// How much a body may be.
struct Room<'a> {
    /// What needs no thought.
    small: usize,
    limit: usize,
    memory: &'a Arc<Memory>,
    held: Option<Held>,
}

impl Room<'_> {
    /// Whether a body that is not small may be of this length.
    #[cold]
    fn grow(&mut self, len: usize) -> Result<(), Fault> {
        if len > self.limit {
            return Err(too_large(self.limit));
        }
        let held = self
            .held
            .get_or_insert_with(|| Held::nothing(Arc::clone(self.memory)));
        if held.grow(len) {
            return Ok(());
        }
        Err(overloaded())
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
                let forget = async {
                    match source {
                        Source::Incoming(body) => read_on(body).await,
                        Source::Boxed(body) => read_on(body).await,
                        Source::Read { .. } => {}
                    }
                };
                // In time or not: then the body is dropped for good.
                let _ = tokio::time::timeout(time, forget).await;
            });
        }
    }
}

/// Reads and forgets the body of a request that has been answered without it.
pub(crate) fn forget(request: Request<BoxBody<Bytes, BodyError>>) {
    let (head, body) = request.into_parts();
    drop(RequestBody::boxed(&head, body, Timeouts::DEFAULT.body));
}

async fn read_on<B: Body>(body: B) {
    let mut body = std::pin::pin!(body);
    while let Some(Ok(_)) = body.frame().await {}
}

async fn read<B>(body: &mut B, room: &mut Room<'_>, time: Duration) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    // A length that is told ahead is refused without reading.
    if body.size_hint().lower() > room.limit as u64 {
        return Err(too_large(room.limit));
    }
    match tokio::time::timeout(time, collect(body, room)).await {
        Ok(result) => result,
        Err(_) => {
            let message = format!("the body did not arrive within {} s", time.as_secs_f64());
            Err(Fault::new(FaultKind::RequestTimeout, message))
        }
    }
}

async fn collect<B>(body: &mut B, room: &mut Room<'_>) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    // Most bodies come in one piece, which is then the body, uncopied.
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    let mut len = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Fault::new(FaultKind::Malformed, "the body ended too early").with_source(error)
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        len += data.len();
        if len > room.small {
            room.grow(len)?;
        }
        if first.is_empty() {
            first = data;
        } else {
            if rest.is_empty() {
                // What is claimed is believed up to as much as has come: a
                // length costs a caller nothing, bytes do.
                let claimed = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
                rest.reserve(len + claimed.min(len.max(64 * 1024)));
                rest.extend_from_slice(&first);
            }
            rest.extend_from_slice(&data);
        }
    }
    Ok(if rest.is_empty() {
        first
    } else {
        rest.freeze()
    })
}

fn overloaded() -> Fault {
    let message = "the bodies of too many calls are here already, try again later";
    Fault::new(FaultKind::Overloaded, message)
}

fn too_large(limit: usize) -> Fault {
    let message = format!("the body is longer than {limit} bytes (Limits::bytes)");
    Fault::new(FaultKind::TooLarge, message)
}
