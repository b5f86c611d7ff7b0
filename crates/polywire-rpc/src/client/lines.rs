//! Clients of JSON-RPC over byte streams: one message per line, in both directions.

use std::collections::HashMap;
use std::io;
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

impl ClientBuilder {
    /// Creates a client of JSON-RPC over a byte stream, such as the pipes of a child process, or a connection. Each line is a
    /// message, in UTF-8. Several calls can be in flight: their ids count up, and a response belongs to the call with its id.
    /// An error with the id null belongs to the only call in flight. If there are several, it is ignored, because it could
    /// belong to any of them. Calls that ended before their response are in flight until the response arrives.
    ///
    /// The deadline and the limits apply; other settings do not. A line that is longer than
    /// [`Limits::bytes`](polywire_schema::Limits::bytes) ends the connection, and so does one that is not a JSON object. At the
    /// end of the connection all calls end with an error, and so do later ones. The connection ends once the client and its
    /// clones are dropped. Must be called within the runtime of tokio.
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

/// A call that has not been written.
struct OutgoingLine {
    id: u64,
    /// With its end.
    line: Bytes,
}

/// The calls that wait for their responses.
#[derive(Default)]
struct Calls {
    last_id: u64,
    /// By id.
    pending: HashMap<u64, PendingCall>,
    /// The number of calls that were written and then dropped before their response.
    dropped: usize,
    /// Why the connection has ended, if it has.
    ended: Option<Cause>,
}

struct PendingCall {
    response: oneshot::Sender<Bytes>,
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

    /// Removes a call that ends without its response, if it does.
    fn drop_call(&mut self, id: u64) {
        let call = self.pending.remove(&id);
        self.dropped += usize::from(call.is_some_and(|call| call.is_written));
    }

    /// Takes the call that a response belongs to, unless it was dropped.
    fn take(&mut self, id: ResponseId) -> Option<PendingCall> {
        match id {
            ResponseId::Call(id) => {
                let call = self.pending.remove(&id);
                if call.is_none() && id <= self.last_id {
                    self.dropped = self.dropped.saturating_sub(1);
                }
                call
            }
            ResponseId::Unknown => {
                let written = self.pending.iter().filter(|(_, call)| call.is_written);
                let ids: Vec<u64> = written.map(|(id, _)| *id).take(2).collect();
                match (&ids[..], self.dropped) {
                    ([id], 0) => self.pending.remove(id),
                    ([], _) => {
                        self.dropped = self.dropped.saturating_sub(1);
                        None
                    }
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
        let timeout = CallTimeout::start(self.deadline);
        let (outgoing, calls) = (self.outgoing.clone(), Arc::clone(&self.calls));
        let limit = self.limits.bytes();
        Box::pin(async move {
            let call = call(&outgoing, &calls, payload, limit);
            match timeout.timeout(call).await {
                Some(response) => {
                    let (head, ()) = http::Response::new(()).into_parts();
                    Ok((head, Body::new(response?)))
                }
                None => Err(CallError::deadline(Some(timeout.total()))),
            }
        })
    }
}

/// Sends a call, and waits for its response.
async fn call(
    outgoing: &mpsc::Sender<OutgoingLine>,
    calls: &Arc<Mutex<Calls>>,
    payload: Bytes,
    limit: usize,
) -> Result<Bytes, CallError> {
    // The server could not tell to which call its error belongs.
    if payload.len() > limit {
        let reason = format!("the call is longer than {limit} bytes (Limits::bytes)");
        return Err(CallError::encode_text(reason));
    }
    let (sender, response) = oneshot::channel();
    let (guard, call) = {
        let mut locked = lock(calls);
        if let Some(why) = &locked.ended {
            return Err(CallError::lost(false, why.clone()));
        }
        locked.last_id += 1;
        let id = locked.last_id;
        let pending = PendingCall {
            response: sender,
            is_written: false,
        };
        locked.pending.insert(id, pending);
        let calls = Arc::clone(calls);
        (CallGuard { id, calls }, JsonRpc::with_id(payload, id))
    };
    let ended = || lock(calls).ended.clone().unwrap_or_else(|| closed().into());
    let mut line = Vec::with_capacity(call.len() + 1);
    line.extend_from_slice(&call);
    line.push(b'\n');
    let line = OutgoingLine {
        id: guard.id,
        line: line.into(),
    };
    if outgoing.send(line).await.is_err() {
        return Err(CallError::lost(false, ended()));
    }
    let response = response.await;
    drop(guard);
    response.map_err(|_| CallError::lost(true, ended()))
}

const fn closed() -> &'static str {
    "the connection is closed"
}

/// Writes calls and reads responses until one of the two ends.
async fn drive<S: AsyncRead + AsyncWrite>(
    stream: S,
    queue: mpsc::Receiver<OutgoingLine>,
    calls: Arc<Mutex<Calls>>,
    limits: Limits,
) {
    let (read, write) = tokio::io::split(stream);
    let write = Box::pin(write);
    let why = tokio::select! {
        written = write_lines(write, queue, &calls) => match written {
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
    mut queue: mpsc::Receiver<OutgoingLine>,
    calls: &Mutex<Calls>,
) -> io::Result<()> {
    while let Some(call) = queue.recv().await {
        if lock(calls).begin_write(call.id) {
            stream.write_all(&call.line).await?;
        }
        if queue.is_empty() {
            stream.flush().await?;
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
        let call = lock(calls).take(id);
        match call {
            // It may have been dropped in the meantime.
            Some(call) => drop(call.response.send(line)),
            None => tracing::debug!(?id, "a response of no call in flight was ignored"),
        }
    }
}
