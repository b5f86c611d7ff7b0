//! Clients of JSON-RPC over byte streams: one message per line, in both directions.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use polywire_protocol::{JsonRpc, MountError, ProtocolKind, ResponseId};
use polywire_schema::{Body, Limits};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

use super::framed::{ExchangeFuture, MessageCarrier};
use super::{Carrier, Client, ClientBuilder, ConnectError};
use crate::CallError;
use crate::call::CallTimeout;
use crate::error::Cause;
use crate::lines::{Line, LineReader};

/// The number of calls that wait until the stream accepts them. Further ones wait to become one of these.
const WAITING: usize = 64;

/// Beyond this number of calls in flight, dropped calls are forgotten before their responses arrive.
const MAX_PENDING: usize = 4096;

impl ClientBuilder {
    /// Creates a client of JSON-RPC over a byte stream, such as the pipes of a child process, or a connection. Each line is a
    /// message, in UTF-8. Several calls can be in flight: their ids count up, and a response belongs to the call with its id.
    /// An error with the id null belongs to the only call in flight. If there are several, or if the client has sent a
    /// [notification](Client::notify), it is ignored, because it could belong to another message, and its call ends at the
    /// deadline. Calls that ended before their response are in flight until the response arrives.
    ///
    /// A [batch](Client::call_batch) is one line, and so is its response: it counts as one call here.
    ///
    /// The deadline and the limits apply; other settings do not. A line that is longer than
    /// [`Limits::bytes`](polywire_schema::Limits::bytes) ends the connection, and so does one that is neither a JSON object
    /// nor a list with entries. At the end of the connection all calls end with an error, and so do later ones. The connection
    /// ends once the client and its clones are dropped. Must be called within the runtime of tokio.
    ///
    /// ```
    /// use polywire_protocol::ProtocolKind;
    /// use polywire_rpc::client::ConnectError;
    /// use polywire_rpc::{Client, ServiceHandle};
    /// use tokio::net::TcpStream;
    ///
    /// fn client(service: ServiceHandle, stream: TcpStream) -> Result<Client, ConnectError> {
    ///     Client::builder(service, ProtocolKind::JsonRpc).connect_lines(stream)
    /// }
    /// # let _ = client;
    /// ```
    ///
    /// # Errors
    ///
    /// The protocol is not JSON-RPC.
    pub fn connect_lines<S>(self, stream: S) -> Result<Client, ConnectError>
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        if let Ok(protocol) = &self.protocol
            && protocol.kind() != ProtocolKind::JsonRpc
        {
            return Err(ConnectError::Mount(MountError::no_lines(protocol.kind())));
        }
        let (outgoing, queue) = mpsc::channel(WAITING);
        let carrier = LineCarrier {
            outgoing,
            calls: Arc::default(),
            deadline: self.deadline,
            limits: self.limits,
        };
        tokio::spawn(drive(
            stream,
            queue,
            Arc::clone(&carrier.calls),
            self.limits,
        ));
        self.with_carrier(Carrier::Messages(Box::new(carrier)))
    }
}

/// A connection.
struct LineCarrier {
    /// The calls to write.
    outgoing: mpsc::Sender<OutgoingLine>,
    calls: Arc<Mutex<Calls>>,
    deadline: Duration,
    limits: Limits,
}

/// A message that has not been written.
struct OutgoingLine {
    kind: LineKind,
    /// With its end.
    line: Bytes,
}

enum LineKind {
    /// Calls. The first has this id.
    Calls(u64),
    /// A notification. It gets an empty response when it is written.
    Notification(oneshot::Sender<Bytes>),
}

/// The calls in flight. A batch is one of them.
#[derive(Default)]
struct Calls {
    last_id: u64,
    /// By the first id.
    pending: BTreeMap<u64, PendingCall>,
    /// Whether a notification was written.
    has_notified: bool,
    /// Why the connection has ended, if it has.
    ended: Option<Cause>,
}

struct PendingCall {
    /// The end of its ids.
    end: u64,
    /// None if the call was dropped after it was written: the server will still answer it.
    response: Option<oneshot::Sender<Bytes>>,
    is_written: bool,
}

impl Calls {
    /// Whether a call is still wanted. It will be written.
    fn begin_write(&mut self, id: u64) -> bool {
        let call = self.pending.get_mut(&id);
        call.is_some_and(|call| {
            call.is_written = true;
            true
        })
    }

    /// Ends a call without its response, if it is still in flight. A call that was written stays until its response arrives.
    fn drop_call(&mut self, id: u64) {
        match self.pending.get_mut(&id) {
            Some(call) if call.is_written => call.response = None,
            _ => drop(self.pending.remove(&id)),
        }
        // A server that does not answer must not make the client grow.
        if self.pending.len() > MAX_PENDING {
            let mut calls = self.pending.iter();
            let oldest = calls.find_map(|(id, call)| call.response.is_none().then_some(*id));
            oldest.and_then(|id| self.pending.remove(&id));
        }
    }

    /// Takes the call that has one of these ids.
    fn take_one_of(&mut self, ids: &[u64]) -> Option<PendingCall> {
        let first = ids.iter().find_map(|id| {
            let (first, call) = self.pending.range(..=id).next_back()?;
            (*id < call.end).then_some(*first)
        });
        self.pending.remove(&first?)
    }

    /// Takes the call that a response belongs to.
    fn take(&mut self, id: &ResponseId) -> Option<PendingCall> {
        match id {
            ResponseId::Call(id) => self.take_one_of(&[*id]),
            ResponseId::Batch(ids) => self.take_one_of(ids),
            ResponseId::Unknown if self.has_notified => None,
            ResponseId::Unknown => {
                let written = self.pending.iter().filter(|(_, call)| call.is_written);
                let ids: Vec<u64> = written.map(|(id, _)| *id).take(2).collect();
                match ids[..] {
                    [id] => self.pending.remove(&id),
                    _ => None,
                }
            }
            ResponseId::None => None,
        }
    }
}

/// Removes a call when it ends.
struct CallGuard {
    id: u64,
    calls: Arc<Mutex<Calls>>,
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        lock(&self.calls).drop_call(self.id);
    }
}

// Nothing is half done while the lock is held.
fn lock(calls: &Mutex<Calls>) -> MutexGuard<'_, Calls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

impl_debug!(LineCarrier { deadline });

impl MessageCarrier for LineCarrier {
    fn exchange(&self, _: u32, payload: Bytes) -> ExchangeFuture {
        let ids = self.reserve_ids(1);
        let call = JsonRpc::with_id(payload, ids.start);
        self.exchange_message(ids, call)
    }

    fn reserve_ids(&self, count: u64) -> Range<u64> {
        let mut calls = lock(&self.calls);
        let first = calls.last_id + 1;
        calls.last_id += count;
        first..first + count
    }

    fn exchange_message(&self, ids: Range<u64>, message: Bytes) -> ExchangeFuture {
        let timeout = CallTimeout::start(self.deadline);
        let (outgoing, calls) = (self.outgoing.clone(), Arc::clone(&self.calls));
        let limit = self.limits.bytes();
        Box::pin(async move {
            let response = send(&outgoing, &calls, ids, message, limit);
            match timeout.timeout(response).await {
                Some(response) => {
                    let (head, ()) = http::Response::new(()).into_parts();
                    Ok((head, Body::new(response?)))
                }
                None => Err(CallError::deadline(Some(timeout.total()))),
            }
        })
    }
}

/// Sends a message with the calls of these ids, and waits for its response. Without ids the response is empty, and comes when
/// the message is written.
async fn send(
    outgoing: &mpsc::Sender<OutgoingLine>,
    calls: &Arc<Mutex<Calls>>,
    ids: Range<u64>,
    message: Bytes,
    limit: usize,
) -> Result<Bytes, CallError> {
    // The server could not tell to which call its error belongs.
    if message.len() > limit {
        let reason = format!("the call is longer than {limit} bytes (Limits::bytes)");
        return Err(CallError::encode_text(reason));
    }
    let mut line = Vec::with_capacity(message.len() + 1);
    line.extend_from_slice(&message);
    line.push(b'\n');
    let line = Bytes::from(line);
    let (sender, response) = oneshot::channel();
    let (kind, guard) = {
        let mut locked = lock(calls);
        if let Some(why) = &locked.ended {
            return Err(CallError::lost(false, why.clone()));
        }
        match ids.is_empty() {
            true => (LineKind::Notification(sender), None),
            false => {
                let pending = PendingCall {
                    end: ids.end,
                    response: Some(sender),
                    is_written: false,
                };
                locked.pending.insert(ids.start, pending);
                let (id, calls) = (ids.start, Arc::clone(calls));
                (LineKind::Calls(id), Some(CallGuard { id, calls }))
            }
        }
    };
    let ended = || lock(calls).ended.clone().unwrap_or_else(|| closed().into());
    if outgoing.send(OutgoingLine { kind, line }).await.is_err() {
        return Err(CallError::lost(false, ended()));
    }
    let response = response.await;
    drop(guard);
    if response.is_err() {
        // The queue is closed once it is known why the connection ended.
        outgoing.closed().await;
    }
    response.map_err(|_| CallError::lost(true, ended()))
}

const fn closed() -> &'static str {
    "the connection is closed"
}

/// Writes calls and reads responses until one of the two ends.
async fn drive<S: AsyncRead + AsyncWrite>(
    stream: S,
    mut queue: mpsc::Receiver<OutgoingLine>,
    calls: Arc<Mutex<Calls>>,
    limits: Limits,
) {
    let (read, write) = tokio::io::split(stream);
    let write = Box::pin(write);
    let why = tokio::select! {
        written = write_lines(write, &mut queue, &calls) => match written {
            Ok(()) => closed().into(),
            Err(error) => Cause::of(error),
        },
        why = read_lines(Box::pin(read), &calls, &limits) => why,
    };
    let pending = {
        let mut calls = lock(&calls);
        calls.ended = Some(why);
        std::mem::take(&mut calls.pending)
    };
    // Wakes the calls, which find the reason.
    drop(pending);
}

/// Writes calls until all clients are dropped. A call that was dropped in the queue is skipped.
async fn write_lines(
    mut stream: impl AsyncWrite + Unpin,
    queue: &mut mpsc::Receiver<OutgoingLine>,
    calls: &Mutex<Calls>,
) -> io::Result<()> {
    while let Some(OutgoingLine { kind, line }) = queue.recv().await {
        let is_wanted = match &kind {
            LineKind::Calls(id) => lock(calls).begin_write(*id),
            LineKind::Notification(written) => !written.is_closed(),
        };
        if is_wanted {
            if matches!(kind, LineKind::Notification(_)) {
                lock(calls).has_notified = true;
            }
            stream.write_all(&line).await?;
        }
        if queue.is_empty() || matches!(kind, LineKind::Notification(_)) {
            stream.flush().await?;
        }
        if let LineKind::Notification(written) = kind {
            // The client may have stopped waiting.
            let _ = written.send(Bytes::new());
        }
    }
    stream.shutdown().await
}

/// Passes responses to their calls until the connection ends, and returns why.
async fn read_lines(
    stream: impl AsyncRead + Unpin,
    calls: &Mutex<Calls>,
    limits: &Limits,
) -> Cause {
    let mut lines = LineReader::new(stream, limits.bytes());
    loop {
        let line = match lines.next(|_| true).await {
            Ok(Line::Text(line)) => line,
            Ok(Line::TooLong) => {
                let limit = limits.bytes();
                return format!("a response is longer than {limit} bytes (Limits::bytes)").into();
            }
            // Without a timeout no line is too slow.
            Ok(Line::End | Line::TooSlow) => return "the server closed the connection".into(),
            Err(error) => return Cause::of(error),
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let id = match JsonRpc::response_id(&Body::new(line.clone()), limits) {
            Ok(id) => id,
            Err(error) => {
                return format!(
                    "a line of the server is not a response: {}",
                    error.message()
                )
                .into();
            }
        };
        let call = lock(calls).take(&id);
        match call.and_then(|call| call.response) {
            // It may have been dropped in the meantime.
            Some(response) => drop(response.send(line)),
            None => tracing::debug!(?id, "a response of no call in flight was ignored"),
        }
    }
}
