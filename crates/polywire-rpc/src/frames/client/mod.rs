//! A client over frames.

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

use std::fmt;
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
pub(crate) use open::Opening;
pub use rate::Rate;
pub(crate) use retry::CallOptions;
pub use stats::Stats;

/// A client of the framed protocol, with or without a model.
///
/// One connection carries as many calls at once as the limits of both sides allow; further ones wait
/// for room, in their order. A connection that ends is made again in the background, and calls wait
/// for it; a call that the server has certainly not begun is then tried again, and any other if it is
/// [idempotent](Self::idempotent). What all of that may cost is bounded, see [`ClientBuilder`].
///
/// Clones are one client; two clients share nothing. It needs tokio's runtime, whose tasks drive the
/// connections; they end when the last clone is dropped and all is answered. A call begins when its
/// future is first polled, and to drop the future cancels it, at the server too.
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
    within: Duration,
    /// The same of calls with streams, once they have begun.
    lasts: Duration,
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
        self.state.leave();
    }
}

impl Client {
    /// Makes a client of one's own choice.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Connects to `tcp://HOST:PORT`, `tcp+tls://HOST:PORT`, `udp://HOST:PORT`, `unix:///PATH` or, in the same process,
    /// `inproc://NAME`, with default settings.
    ///
    /// Over UDP a call and its answer have some 1,300 bytes each; what is longer is refused, and so are
    /// streams and topics.
    ///
    /// # Errors
    ///
    /// The URL is none of these, or nobody listens there who speaks frames.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::builder().endpoint(url).connect().await
    }

    /// Speaks frames on a stream that is connected already, within tokio's runtime. When it ends,
    /// so does the client: all further calls fail.
    #[must_use]
    pub fn over<S>(stream: S) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Self::builder().over(stream)
    }

    /// Waits until there is a connection, or none of the first tries has made one.
    async fn connected(&self) -> Result<(), ConnectError> {
        let state = &self.inner.state;
        loop {
            let mut attempted = std::pin::pin!(state.attempted.notified());
            attempted.as_mut().enable();
            {
                let flow = state.flow();
                let lanes = flow.lanes();
                if lanes.iter().any(|lane| lane.link.is_some()) {
                    return Ok(());
                }
                if lanes.iter().all(|lane| lane.why.is_some())
                    && let (Some(first), Some(why)) = (self.inner.endpoints.first(), &lanes[0].why)
                {
                    return Err(ConnectError::new(&first.name, why.clone()));
                }
            }
            attempted.await;
        }
    }

    /// The same client with another time for its calls, from their beginning to their end, waiting
    /// for room included; 60 seconds unless this says other.
    #[must_use]
    pub fn with_deadline(&self, within: Duration) -> Self {
        Self {
            within,
            ..self.clone()
        }
    }

    /// The same client with a time for its calls with streams, from their beginning to their end: none
    /// unless this says other. The server is told, and stops as well.
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
    pub fn with_stream_deadline(&self, within: Duration) -> Self {
        Self {
            lasts: within,
            ..self.clone()
        }
    }

    /// The same client for operations that may be carried out twice: what is idempotent, or only
    /// reads. Its calls are tried again also when nobody knows what became of the first try.
    #[must_use]
    pub fn idempotent(&self) -> Self {
        Self {
            idempotent: true,
            ..self.clone()
        }
    }

    /// Calls a method with parameters that serde writes: a tuple of them, or `()`.
    ///
    /// The call begins when the future is first polled; to drop it cancels the call.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply, or the reply is not of that type.
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

    /// Calls an operation whose input and output are bytes as they are.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply.
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

    /// As [`Self::call_bytes`], and appends what comes to a buffer: once it has room, a call of a
    /// [method of bytes](crate::Methods::bytes) allocates nothing on either side.
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
    /// The call ended in something else than a reply. Then nothing was appended.
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

    /// Calls a method whose items are wanted: [`Methods::stream`](crate::Methods::stream).
    ///
    /// The client's deadline is that for the beginning of the call; once it has begun it may be as long
    /// as it likes, or as [`Self::with_stream_deadline`] says.
    ///
    /// # Errors
    ///
    /// The call could not be begun.
    pub async fn stream(
        &self,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<CallStream, CallError> {
        self.open(RequestKind::Stream, method, parameters).await
    }

    /// As [`Self::stream`], and sends items too.
    ///
    /// # Errors
    ///
    /// The call could not be begun.
    pub async fn two_way(
        &self,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<CallStream, CallError> {
        self.open(RequestKind::TwoWay, method, parameters).await
    }

    /// As [`Self::stream`], for an operation whose input is these bytes as they are; its items are read
    /// by [`CallStream::next_bytes`], and the answer by [`CallStream::result_bytes`].
    ///
    /// # Errors
    ///
    /// The call could not be begun.
    pub async fn stream_bytes(
        &self,
        operation: &str,
        input: &[u8],
    ) -> Result<CallStream, CallError> {
        self.opened(RequestKind::Stream, operation, input.to_vec())
            .await
    }

    /// As [`Self::stream_bytes`], and sends items too, by [`CallStream::send_bytes`].
    ///
    /// # Errors
    ///
    /// The call could not be begun.
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
        what: RequestKind,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<CallStream, CallError> {
        let mut payload = Vec::new();
        payload::write_parameters(&parameters, &mut payload)?;
        self.opened(what, method, payload).await
    }

    async fn opened(
        &self,
        what: RequestKind,
        operation: &str,
        payload: Vec<u8>,
    ) -> Result<CallStream, CallError> {
        let pairs = self.pairs(&[]);
        let call = self.template(what, operation, &pairs);
        let (open, opening) = Opening::begin(&self.inner.state, &call, payload).await?;
        Ok(CallStream::new(open, opening, self.inner.limits))
    }

    /// Subscribes to a topic: what is published to it from now on. The client's deadline is that for the
    /// server's consent; the subscription then lasts as long as it likes.
    ///
    /// # Errors
    ///
    /// The server has no topics, or does not let this client subscribe.
    pub async fn subscribe(&self, topic: &str) -> Result<Subscription, CallError> {
        let pairs = self.pairs(&[]);
        let call = self.template(RequestKind::Subscribe, topic, &pairs);
        let open = self.inner.state.subscribe(&call).await?;
        Ok(Subscription::new(open, self.inner.limits))
    }

    /// Publishes a message to a topic, and says how many subscriptions it was handed to.
    ///
    /// # Errors
    ///
    /// The server has no topics, or does not let this client publish.
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

    /// Calls a method without waiting for it: nobody tells what becomes of it. Returns when the call
    /// is on its way to the socket, and waits for that no longer than its deadline.
    ///
    /// # Errors
    ///
    /// The parameters cannot be written, its time is over, or the connection has ended.
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

    /// How many calls have begun and not ended.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.inner.state.pending()
    }

    /// What it has done and is doing.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.state.stats()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}
