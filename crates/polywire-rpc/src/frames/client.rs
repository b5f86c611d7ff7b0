//! A client over frames.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use polywire_frame::Settings;
use polywire_frame::flow::AdaptiveLimit;
use polywire_schema::Limits;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::error::CallError;
use super::link::{Link, LinkOptions};
use super::payload;
use super::state::{Asked, What};
use super::streams::{CallStream, Subscription};

/// Calls methods and operations over frames.
///
/// One connection carries as many calls at once as the limits of both sides allow; further ones wait
/// for room, in their order. Clones are one client. It needs tokio's runtime, whose task drives the
/// connection; it ends when the last clone is dropped and all is answered.
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
}

struct Inner {
    link: Link,
    limits: Limits,
}

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

impl Client {
    /// Connects to `tcp://HOST:PORT` or `unix:///PATH`, with default settings.
    ///
    /// # Errors
    ///
    /// The URL is none of these, or nobody listens there.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        let connected = tokio::time::timeout(CONNECT, Self::connect_to(url)).await;
        connected.unwrap_or_else(|_| Err(ConnectError::new(url, &"it took too long")))
    }

    async fn connect_to(url: &str) -> Result<Self, ConnectError> {
        let failed = |error: io::Error| ConnectError::new(url, &error);
        if let Some(address) = url.strip_prefix("tcp://") {
            let stream = TcpStream::connect(address).await.map_err(failed)?;
            // What is small must not wait for more.
            stream.set_nodelay(true).map_err(failed)?;
            return Ok(Self::over(stream));
        }
        #[cfg(unix)]
        if let Some(path) = url.strip_prefix("unix://") {
            let stream = tokio::net::UnixStream::connect(path).await;
            return Ok(Self::over(stream.map_err(failed)?));
        }
        let expected = "expected tcp://HOST:PORT or unix:///PATH";
        Err(ConnectError::new(url, &expected))
    }

    /// Speaks frames on a stream that is connected already, within tokio's runtime.
    #[must_use]
    pub fn over<S>(stream: S) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let limits = Limits::DEFAULT;
        let frame = u32::try_from(limits.bytes()).unwrap_or(u32::MAX);
        let options = LinkOptions {
            settings: Settings::DEFAULT.with_frame(frame),
            limit: AdaptiveLimit::default(),
            most_waiting: 1 << 16,
        };
        let link = Link::over(stream, options);
        Self {
            inner: Arc::new(Inner { link, limits }),
            within: Duration::from_secs(60),
        }
    }

    /// The same client with another time for its calls, from their beginning to their end, waiting
    /// for room included; 60 seconds unless this says other.
    #[must_use]
    pub fn with_deadline(&self, within: Duration) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            within,
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
        let read = |bytes: &[u8]| {
            payload::read(bytes, limits).map_err(|error| CallError::unreadable(&error))
        };
        self.inner
            .link
            .ask(self.asked(What::Call, method), &mut write, read)
            .await
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
        let read = |bytes: &[u8]| Ok(bytes.to_vec());
        let asked = self.asked(What::Call, operation);
        self.inner.link.ask(asked, &mut write, read).await
    }

    /// Calls a method whose items are wanted: [`Methods::stream`](crate::Methods::stream).
    ///
    /// The client's deadline is that for the beginning of the call; once it has begun it may be as long
    /// as it likes.
    ///
    /// # Errors
    ///
    /// The call could not be begun.
    pub async fn stream(
        &self,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<CallStream, CallError> {
        self.open(What::Stream, method, parameters).await
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
        self.open(What::TwoWay, method, parameters).await
    }

    async fn open(
        &self,
        what: What,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<CallStream, CallError> {
        let mut payload = Vec::new();
        payload::write_parameters(&parameters, &mut payload)?;
        let asked = self.asked(what, method);
        let open = self.inner.link.open(asked, &payload).await?;
        Ok(CallStream::new(open, self.inner.limits))
    }

    /// Subscribes to a topic: what is published to it from now on.
    ///
    /// # Errors
    ///
    /// The server has no topics, or does not let this client subscribe.
    pub async fn subscribe(&self, topic: &str) -> Result<Subscription, CallError> {
        let asked = self.asked(What::Subscribe, topic);
        let open = self.inner.link.open(asked, &[]).await?;
        let subscription = Subscription::new(open, self.inner.limits);
        subscription.accepted().await?;
        Ok(subscription)
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
            payload::write(&message, out).map_err(|error| CallError::Invalid(error.to_string()))
        };
        let read = |bytes: &[u8]| match bytes.try_into() {
            Ok(count) => Ok(u32::from_le_bytes(count)),
            Err(_) => Err(CallError::Unreadable(
                "a count of four bytes was expected".into(),
            )),
        };
        let asked = self.asked(What::Publish, topic);
        self.inner.link.ask(asked, &mut write, read).await
    }

    /// Calls a method without waiting for it: nobody tells what becomes of it. Returns when the call
    /// is on its way to the socket.
    ///
    /// # Errors
    ///
    /// The parameters cannot be written, or the connection has ended.
    pub async fn notify(
        &self,
        method: &str,
        parameters: impl Serialize + Send,
    ) -> Result<(), CallError> {
        let mut payload = Vec::new();
        payload::write_parameters(&parameters, &mut payload)?;
        let asked = self.asked(What::Call, method);
        self.inner.link.notify(asked, &payload).await
    }

    const fn asked<'a>(&self, what: What, operation: &'a str) -> Asked<'a> {
        Asked {
            what,
            operation,
            within: self.within,
            metadata: &[],
        }
    }

    /// How many calls are open or wait for room.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.inner.link.pending()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}

/// A connection that could not be made.
#[derive(Clone, Debug)]
pub struct ConnectError {
    url: Box<str>,
    why: Box<str>,
}

impl ConnectError {
    fn new(url: &str, why: &dyn fmt::Display) -> Self {
        Self {
            url: url.into(),
            why: why.to_string().into(),
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot connect to {}: {}", self.url, self.why)
    }
}

impl std::error::Error for ConnectError {}
