//! Client connections.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Uri, response};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tungstenite::handshake::client::generate_key;
use tungstenite::protocol::Role;

use super::byte_stream::MessageStream;
use super::codec::Codec;
use super::driver::Driver;
use super::endpoint::FRAMES_PROTOCOL;
use super::error::ConnectError;
use super::handshake;
use super::limits::WebSocketLimits;
use super::queue::Queue;
use super::socket::{Head, WebSocket};
use super::stats::Counts;
use crate::connect::{
    ConnectOptions, Dialer, NO_USER, Proxy, ServerUrl, Step, Stream, TransportError, UrlError,
    guarded,
};
use crate::peer::Peer;

/// The maximum size of the body of a response that is included in [`ConnectError::Refused`].
const MAX_ERROR_BODY: usize = 1 << 10;

/// Configures and opens a client connection. It is created by [`WebSocket::builder`].
///
/// ```no_run
/// use http::HeaderValue;
/// use http::header::AUTHORIZATION;
/// use polywire_rpc::websocket::{ConnectError, WebSocket, WebSocketLimits};
///
/// async fn connect() -> Result<WebSocket, ConnectError> {
///     WebSocket::builder("wss://kettle.example/events")
///         .header(AUTHORIZATION, HeaderValue::from_static("Bearer 7"))
///         .protocol("kettle.1")
///         .limits(WebSocketLimits::DEFAULT.with_max_message_bytes(64 << 10))
///         .connect()
///         .await
/// }
/// ```
#[must_use]
pub struct WebSocketBuilder {
    url: Box<str>,
    headers: HeaderMap,
    protocols: Vec<Box<str>>,
    limits: WebSocketLimits,
    options: ConnectOptions,
}

impl WebSocketBuilder {
    pub(super) fn new(url: &str) -> Self {
        Self {
            url: url.into(),
            headers: HeaderMap::new(),
            protocols: Vec::new(),
            limits: WebSocketLimits::DEFAULT,
            options: ConnectOptions::new(),
        }
    }

    /// Sets a header of the upgrade request. It replaces an earlier value of the same name.
    ///
    /// The client overwrites `Upgrade`, `Connection`, `Sec-WebSocket-Key` and `Sec-WebSocket-Version`, and
    /// `Sec-WebSocket-Protocol` if [`Self::protocol`] is used. `Host` is the host of the URL unless it is set here.
    ///
    /// The values of `Authorization`, `Proxy-Authorization` and `Cookie` are marked as
    /// [sensitive](HeaderValue::is_sensitive).
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        let value = guarded(&name, value);
        self.headers.insert(name, value);
        self
    }

    /// Offers a subprotocol. Repeated calls offer several, in descending order of preference. The name must be a token
    /// (RFC 9110, section 5.6.2) and must not be repeated: [`Self::connect`] checks this.
    ///
    /// The server selects one or none: see [`WebSocket::protocol`].
    pub fn protocol(mut self, name: &str) -> Self {
        self.protocols.push(name.into());
        self
    }

    /// Sets the limits and timeouts of the connection. The default is [`WebSocketLimits::DEFAULT`].
    pub const fn limits(mut self, limits: WebSocketLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the timeout for connecting, and the timeout for the response to the upgrade request. Connecting includes
    /// name resolution, the proxy and TLS. The default is 5 seconds for each of the two.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.options.timeout = time;
        self
    }

    /// Sets the proxy. The client opens a tunnel with `CONNECT`, for `ws://` too. The default is no proxy.
    pub fn proxy(mut self, proxy: impl Into<Option<Proxy>>) -> Self {
        self.options.proxy = proxy.into();
        self
    }

    /// Sets the TLS configuration for `wss://`. By default the certificate authorities of the system are trusted.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: crate::tls::ClientTls) -> Self {
        self.options.tls = tls;
        self
    }

    /// Connects to the server, and spawns the task of the connection.
    ///
    /// # Errors
    ///
    /// The URL or a subprotocol name is not valid, the server cannot be reached or does not respond in time, it refuses
    /// the upgrade, or its response violates RFC 6455.
    ///
    /// # Panics
    ///
    /// If it is polled outside a Tokio runtime with I/O and time enabled.
    pub async fn connect(self) -> Result<WebSocket, ConnectError> {
        // The box keeps `open` out of line: an async body is compiled in each crate that awaits it.
        Box::pin(self.open()).await
    }

    async fn open(self) -> Result<WebSocket, ConnectError> {
        let url = ServerUrl::for_websocket(&self.url)?;
        if url.credentials.is_some() {
            return Err(UrlError::new(&self.url, NO_USER).into());
        }
        let invalid =
            self.protocols.iter().enumerate().find(|(at, name)| {
                !handshake::is_token(name) || self.protocols[..*at].contains(name)
            });
        if let Some((_, name)) = invalid {
            let reason = format!(
                "the subprotocol name `{}` is not a token or is repeated",
                name.escape_debug()
            );
            return Err(ConnectError::Handshake(reason));
        }
        let dialer = Dialer::new(url, &self.options)?;
        let stream = dialer.connect().await?;
        let request = UpgradeRequest {
            url: dialer.url(),
            headers: self.headers,
            protocols: &self.protocols,
            timeout: self.options.timeout,
        };
        let upgraded = upgrade(stream, request).await?;
        let limits = self.limits.capped();
        let queue = Arc::new(Queue::new(&limits, None));
        let codec = Codec::new(upgraded.stream, &upgraded.prefetched, Role::Client, &limits);
        let counts = Arc::new(Counts::default());
        let mut driver = Driver::new(codec, Arc::clone(&queue), counts, limits);
        let task_queue = Arc::clone(&queue);
        tokio::spawn(async move {
            let _guard = EndOnDrop(Arc::clone(&task_queue));
            poll_fn(|cx| {
                loop {
                    if driver.poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                    if task_queue.register_waker(cx) {
                        return Poll::Pending;
                    }
                }
            })
            .await;
        });
        let head = Head {
            uri: Uri::from(dialer.url().target_or("/")),
            headers: upgraded.head.headers,
            protocol: upgraded.protocol,
            peer: Peer::default(),
            identity: None,
        };
        Ok(WebSocket::new(queue, Arc::new(head)))
    }
}

impl_debug!(|this| WebSocketBuilder {
    url: crate::connect::without_secrets(&this.url),
    protocols: this.protocols,
    limits: this.limits
});

/// Closes the queue when the task of the connection is dropped, as by a shutdown of its runtime.
struct EndOnDrop(Arc<Queue>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let frame = super::CloseFrame::new(super::CloseCode::ABNORMAL_CLOSURE, "");
        self.0.close_now(frame, Some(super::WebSocketError::Reset));
    }
}

/// The parameters of an upgrade request.
pub(crate) struct UpgradeRequest<'a> {
    pub(crate) url: &'a ServerUrl,
    pub(crate) headers: HeaderMap,
    pub(crate) protocols: &'a [Box<str>],
    /// The timeout for the response.
    pub(crate) timeout: Duration,
}

impl<'a> UpgradeRequest<'a> {
    /// Creates a request for the subprotocol of frames.
    pub(crate) fn for_frames(url: &'a ServerUrl, timeout: Duration) -> Self {
        static PROTOCOLS: LazyLock<[Box<str>; 1]> = LazyLock::new(|| [FRAMES_PROTOCOL.into()]);
        Self {
            url,
            headers: HeaderMap::new(),
            protocols: &*PROTOCOLS,
            timeout,
        }
    }
}

/// A connection after the handshake.
pub(crate) struct UpgradedConnection {
    pub(crate) stream: Stream,
    /// The bytes that were received after the response.
    pub(crate) prefetched: Bytes,
    head: response::Parts,
    protocol: Option<Box<str>>,
}

impl UpgradedConnection {
    /// Converts the connection into the byte stream of frames.
    ///
    /// # Errors
    ///
    /// The server did not select the subprotocol of frames.
    pub(crate) fn into_bytes(self) -> io::Result<MessageStream<Stream>> {
        if self.protocol.is_none() {
            let reason = "the WebSocket server does not support the subprotocol polywire-frames";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        // The framed protocol has its own limits, so this one is generous.
        let limits = WebSocketLimits::DEFAULT.with_max_message_bytes(MAX_FRAMES_MESSAGE_BYTES);
        let codec = Codec::unbuffered(self.stream, &self.prefetched, Role::Client, &limits);
        Ok(MessageStream::new(codec))
    }
}

/// The maximum size of a received message that carries frames.
const MAX_FRAMES_MESSAGE_BYTES: usize = 16 << 20;

/// Performs the handshake on a connection.
pub(crate) async fn upgrade(
    stream: Stream,
    request: UpgradeRequest<'_>,
) -> Result<UpgradedConnection, ConnectError> {
    let address = stream.known.address.clone();
    let (shown, timeout) = (request.url.shown().to_owned(), request.timeout);
    match tokio::time::timeout(timeout, handshake(stream, request)).await {
        Ok(upgraded) => upgraded,
        Err(_) => {
            let error = TransportError::new(&shown, Step::Read).at(address);
            Err(error.timed_out(timeout).into())
        }
    }
}

async fn handshake(
    stream: Stream,
    request: UpgradeRequest<'_>,
) -> Result<UpgradedConnection, ConnectError> {
    let UpgradeRequest {
        url,
        mut headers,
        protocols,
        ..
    } = request;
    let transport_error = |error: hyper::Error| {
        let transport = TransportError::new(url.shown(), Step::Read);
        ConnectError::Transport(transport.with_source(error))
    };
    let key = generate_key();
    let key = HeaderValue::try_from(key)
        .map_err(|error| ConnectError::Handshake(format!("the key: {error}")))?;
    handshake::write_request_headers(&mut headers, &key, protocols);
    if !headers.contains_key(HOST) {
        let host = HeaderValue::try_from(url.authority.as_str());
        let host = host.map_err(|error| ConnectError::Handshake(format!("the host: {error}")))?;
        headers.insert(HOST, host);
    }
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.uri_mut() = Uri::from(url.target_or("/"));
    *request.headers_mut() = headers;

    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(transport_error)?;
    let mut connection = pin!(connection.without_shutdown());
    // The connection future does the I/O of the request. It must not be polled again after it is ready.
    let mut ended = None;
    let response = {
        let mut response = pin!(sender.send_request(request));
        poll_fn(|cx| {
            if ended.is_none()
                && let Poll::Ready(parts) = connection.as_mut().poll(cx)
            {
                ended = Some(parts);
            }
            response.as_mut().poll(cx)
        })
        .await
        .map_err(transport_error)?
    };
    let (head, body) = response.into_parts();
    if head.status != StatusCode::SWITCHING_PROTOCOLS {
        let mut body = pin!(Limited::new(body, MAX_ERROR_BODY).collect());
        let text = poll_fn(|cx| {
            if ended.is_none()
                && let Poll::Ready(parts) = connection.as_mut().poll(cx)
            {
                ended = Some(parts);
            }
            body.as_mut().poll(cx)
        });
        // A longer body is probably a web page. It would not help in an error message.
        let text = text.await.map(|body| body.to_bytes()).unwrap_or_default();
        return Err(ConnectError::Refused {
            status: head.status,
            text: String::from_utf8_lossy(&text).into_owned(),
        });
    }
    let protocol = handshake::validate_response(&head, &key, protocols)
        .map_err(|reason| ConnectError::Handshake(reason.to_owned()))?;
    let parts = match ended {
        Some(parts) => parts,
        None => connection.await,
    };
    let parts = parts.map_err(transport_error)?;
    Ok(UpgradedConnection {
        stream: parts.io.into_inner(),
        prefetched: parts.read_buf,
        head,
        protocol,
    })
}
