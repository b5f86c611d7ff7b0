//! The client of the framed protocol.

mod attempts;
mod builder;
mod call;
mod endpoint;
mod flow;
mod metadata;
mod open;
mod rate;
mod reconnect;
mod retry;
mod state;
mod stats;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use polywire_schema::Limits;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;

use self::endpoint::Endpoint;
use self::metadata::CallMetadata;
use self::state::ClientState;
use super::payload::{self, Payload};
use super::request::RequestKind;
use super::streams::{CallStream, Subscription};
use crate::error::CallError;

pub use builder::ClientBuilder;
pub use endpoint::ConnectError;
pub(crate) use open::OpenRequest;
pub use rate::Rate;
pub(crate) use retry::CallOptions;
pub use stats::Stats;

/// A client of the framed protocol, with or without a model.
///
/// A connection carries as many concurrent calls as the limits of both sides allow. Further calls wait in a queue. The
/// client reconnects in the background, and calls wait for the connection. A call that the server has certainly not
/// started is then retried, and any other call if it is [idempotent](Self::idempotent). [`ClientBuilder`] has limits for
/// all of this.
///
/// Clones share connections and limits. The client needs the runtime of tokio for the tasks of its connections. They end
/// when the last clone is dropped and all calls are answered. A call begins when its future is first polled. Dropping the
/// future cancels the call, at the server too.
///
/// ```
/// use polywire_rpc::frames::Client;
/// use polywire_rpc::{Methods, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
/// let server = Server::methods(methods).frames(true).build()?;
/// let running = server.listen("127.0.0.1:0".parse()?).await?;
///
/// let client = Client::connect(&format!("tcp://{}", running.address())).await?;
/// let sum: i32 = client.call("Add", (2, 3)).await?;
/// assert_eq!(sum, 5);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
    timeout: Duration,
    /// The time of calls with streams, from their start to their end.
    stream_timeout: Duration,
    idempotent: bool,
    metadata: Option<Arc<CallMetadata>>,
}

struct Inner {
    state: Arc<ClientState>,
    /// The tasks that keep the connections open.
    tasks: Vec<AbortHandle>,
    endpoints: Vec<Arc<Endpoint>>,
    limits: Limits,
}

impl Drop for Inner {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        self.state.release();
    }
}

impl Client {
    /// Creates a builder with default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Connects to `tcp://HOST:PORT`, `tcp+tls://HOST:PORT`, `udp://HOST:PORT`, `unix:///PATH` or, in the same process,
    /// `inproc://NAME`, with default settings.
    ///
    /// Over UDP a call and its reply have about 1,300 bytes each. Longer ones, streams and topics are rejected.
    ///
    /// # Errors
    ///
    /// The URL is not one of these, or no server of frames listens there.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::builder().endpoint(url).connect().await
    }

    /// A client over a connected stream, within the runtime of tokio. When the stream ends, all further calls fail.
    #[must_use]
    pub fn over<S>(stream: S) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Self::builder().over(stream)
    }

    /// Waits until there is a connection, or the first attempt of each lane has failed.
    async fn connected(&self) -> Result<(), ConnectError> {
        let state = &self.inner.state;
        loop {
            let mut attempted = std::pin::pin!(state.connect_attempt.notified());
            attempted.as_mut().enable();
            {
                let flow = state.flow();
                let lanes = flow.lanes();
                if lanes.iter().any(|lane| lane.link.is_some()) {
                    return Ok(());
                }
                if lanes.iter().all(|lane| lane.cause.is_some())
                    && let (Some(first), Some(cause)) =
                        (self.inner.endpoints.first(), &lanes[0].cause)
                {
                    return Err(ConnectError::new(&first.name, cause.clone()));
                }
            }
            attempted.await;
        }
    }

    /// The same client with another time limit for calls, from start to end, including the time in the queue. The default
    /// is 60 seconds.
    #[must_use]
    pub fn with_deadline(&self, timeout: Duration) -> Self {
        Self {
            timeout,
            ..self.clone()
        }
    }

    /// The same client with a time limit for calls with streams, from start to end. The default is no limit. The server
    /// receives the limit, and ends the call too.
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_protocol::Fault;
    /// use polywire_rpc::frames::Client;
    /// use polywire_rpc::{Methods, Server, StreamCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let methods = Methods::new().stream("Ticks", |(): (), mut call: StreamCall| async move {
    ///     loop {
    ///         call.send("tick").await?;
    ///         tokio::time::sleep(Duration::from_millis(5)).await;
    ///     }
    ///     # #[allow(unreachable_code)]
    ///     Ok::<_, Fault>(())
    /// });
    /// # let server = Server::methods(methods).frames(true).build()?;
    /// # let running = server.listen("127.0.0.1:0".parse()?).await?;
    /// # let url = format!("tcp://{}", running.address());
    /// let client = Client::connect(&url).await?;
    /// let client = client.with_stream_deadline(Duration::from_millis(50));
    /// let mut ticks = client.stream("Ticks", ()).await?;
    /// let end = loop {
    ///     if let Err(error) = ticks.next::<String>().await {
    ///         break error;
    ///     }
    /// };
    /// assert!(end.is_deadline(), "{end}");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_stream_deadline(&self, timeout: Duration) -> Self {
        Self {
            stream_timeout: timeout,
            ..self.clone()
        }
    }

    /// The same client for idempotent operations. Its calls are retried even if the server may have executed an earlier
    /// attempt.
    #[must_use]
    pub fn idempotent(&self) -> Self {
        Self {
            idempotent: true,
            ..self.clone()
        }
    }

    /// Calls a method with a tuple of parameters, or `()`.
    ///
    /// The call begins when the future is first polled. Dropping the future cancels the call.
    ///
    /// # Errors
    ///
    /// The call did not end with a reply, or the reply is not of this type.
    pub async fn call<R: DeserializeOwned>(
        &self,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<R, CallError> {
        let mut write = move |out: &mut Vec<u8>| payload::write_parameters(&parameters, out);
        let limits = &self.inner.limits;
        let read = |payload: Payload<'_>| {
            let read = payload.read(limits);
            read.map_err(CallError::decode)
        };
        let pairs = self.pairs(&[]);
        let call = self.template(RequestKind::Call, method, &pairs);
        self.ask(&call, &mut write, read).await
    }

    /// Calls an operation with bytes as input and output.
    ///
    /// # Errors
    ///
    /// The call did not end with a reply.
    pub async fn call_bytes(&self, operation: &str, input: &[u8]) -> Result<Vec<u8>, CallError> {
        let mut write = |out: &mut Vec<u8>| {
            out.extend_from_slice(input);
            Ok(())
        };
        let read = |payload: Payload<'_>| Ok(payload.into_vec());
        let pairs = self.pairs(&[]);
        let call = self.template(RequestKind::Call, operation, &pairs);
        self.ask(&call, &mut write, read).await
    }

    /// Like [`Self::call_bytes`], and appends the output to a buffer. If the buffer has enough capacity, a call of a
    /// [method of bytes](crate::Methods::bytes) does not allocate on either side.
    ///
    /// ```
    /// use polywire_rpc::frames::Client;
    /// use polywire_rpc::{Methods, Server};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let methods = Methods::new().bytes("reverse", |input, output, _| {
    ///     output.extend(input.iter().rev());
    ///     Ok(())
    /// });
    /// let server = Server::methods(methods).frames(true).build()?;
    /// let running = server.listen("127.0.0.1:0".parse()?).await?;
    ///
    /// let client = Client::connect(&format!("tcp://{}", running.address())).await?;
    /// let mut output = Vec::new();
    /// client.call_bytes_into("reverse", b"live", &mut output).await?;
    /// assert_eq!(output, b"evil");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The call did not end with a reply. Then the buffer is unchanged.
    pub async fn call_bytes_into(
        &self,
        operation: &str,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), CallError> {
        let mut write = |out: &mut Vec<u8>| {
            out.extend_from_slice(input);
            Ok(())
        };
        // `read` is an `Fn`, because each attempt gets a reference to it. Only one attempt calls it.
        let output = Mutex::new(output);
        let output = &output;
        let read = move |payload: Payload<'_>| {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            output.extend_from_slice(&payload);
            Ok(())
        };
        let pairs = self.pairs(&[]);
        let call = self.template(RequestKind::Call, operation, &pairs);
        self.ask(&call, &mut write, read).await
    }

    /// Calls a method that sends items: [`Methods::stream`](crate::Methods::stream).
    ///
    /// The deadline of the client is the one for opening the call. [`Self::with_stream_deadline`] limits the whole call.
    ///
    /// # Errors
    ///
    /// The call could not be opened.
    pub async fn stream(
        &self,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<CallStream, CallError> {
        self.open(RequestKind::Stream, method, parameters).await
    }

    /// Like [`Self::stream`], and the client can send items too.
    ///
    /// # Errors
    ///
    /// The call could not be opened.
    pub async fn two_way(
        &self,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<CallStream, CallError> {
        self.open(RequestKind::TwoWay, method, parameters).await
    }

    /// Like [`Self::stream`], with bytes as input. [`CallStream::next_bytes`] reads the items, and
    /// [`CallStream::result_bytes`] the reply.
    ///
    /// # Errors
    ///
    /// The call could not be opened.
    pub async fn stream_bytes(
        &self,
        operation: &str,
        input: &[u8],
    ) -> Result<CallStream, CallError> {
        self.opened(RequestKind::Stream, operation, input.to_vec())
            .await
    }

    /// Like [`Self::stream_bytes`], and the client can send items too, with [`CallStream::send_bytes`].
    ///
    /// # Errors
    ///
    /// The call could not be opened.
    pub async fn two_way_bytes(
        &self,
        operation: &str,
        input: &[u8],
    ) -> Result<CallStream, CallError> {
        self.opened(RequestKind::TwoWay, operation, input.to_vec())
            .await
    }

    async fn open(
        &self,
        kind: RequestKind,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<CallStream, CallError> {
        let mut payload = Vec::new();
        payload::write_parameters(&parameters, &mut payload)?;
        self.opened(kind, method, payload).await
    }

    async fn opened(
        &self,
        kind: RequestKind,
        operation: &str,
        payload: Vec<u8>,
    ) -> Result<CallStream, CallError> {
        let pairs = self.pairs(&[]);
        let call = self.template(kind, operation, &pairs);
        let (open, opening) = OpenRequest::begin(&self.inner.state, &call, payload).await?;
        Ok(CallStream::new(open, opening, self.inner.limits))
    }

    /// Subscribes to the messages of a topic from now on. The deadline of the client is the one for the acceptance by the
    /// server. The subscription has no deadline.
    ///
    /// # Errors
    ///
    /// The server has no topics, or does not allow the subscription.
    pub async fn subscribe(&self, topic: &str) -> Result<Subscription, CallError> {
        let pairs = self.pairs(&[]);
        let call = self.template(RequestKind::Subscribe, topic, &pairs);
        let open = self.inner.state.subscribe(&call).await?;
        Ok(Subscription::new(open, self.inner.limits))
    }

    /// Publishes a message to a topic. Returns the number of subscriptions that it was passed to.
    ///
    /// # Errors
    ///
    /// The server has no topics, or does not allow the publication.
    pub async fn publish(
        &self,
        topic: &str,
        message: impl Serialize + Send,
    ) -> Result<u32, CallError> {
        let mut write = move |out: &mut Vec<u8>| {
            payload::write(&message, out).map_err(|error| CallError::encode_text(error.to_string()))
        };
        let read = |payload: Payload<'_>| match (*payload).try_into() {
            Ok(count) => Ok(u32::from_le_bytes(count)),
            Err(_) => Err(CallError::decode_text("expected a count of four bytes")),
        };
        let pairs = self.pairs(&[]);
        let call = self.template(RequestKind::Publish, topic, &pairs);
        self.inner.state.ask(&call, &mut write, read).await
    }

    /// Makes a one-way call, which has no result. Returns when the call is in the output of a connection. Waits for that
    /// until the deadline.
    ///
    /// # Errors
    ///
    /// The parameters cannot be written, the deadline has passed, or the connection has ended.
    pub async fn notify(
        &self,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<(), CallError> {
        let mut payload = Vec::new();
        payload::write_parameters(&parameters, &mut payload)?;
        let pairs = self.pairs(&[]);
        let call = self.template(RequestKind::Call, method, &pairs);
        self.inner.state.notify(&call, &payload).await
    }

    /// The number of calls that have begun and not ended.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.inner.state.pending()
    }

    /// The counters of the client.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.state.stats()
    }
}

impl_debug!(|this| Client {
    pending: this.pending()
});
