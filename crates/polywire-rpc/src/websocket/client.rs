//! Connections of clients.

use std::fmt;
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
use super::endpoint::FRAMES;
use super::error::ConnectError;
use super::handshake;
use super::limits::WebSocketLimits;
use super::queue::Queue;
use super::socket::{Head, WebSocket};
use super::stats::Counts;
use crate::connect::{
    Dialer, Endpoint, NO_USER, Options, Proxy, Step, Stream, TransportError, UrlError, guarded,
};
use crate::server::Peer;

/// The bytes that are shown of an answer that refuses.
const SHOWN: usize = 1 << 10;

/// Builds the connection of a client: see [`WebSocket::builder`].
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
///         .limits(WebSocketLimits::DEFAULT.with_message_bytes(64 << 10))
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
    options: Options,
}

impl WebSocketBuilder {
    pub(super) fn new(url: &str) -> Self {
        Self {
            url: url.into(),
            headers: HeaderMap::new(),
            protocols: Vec::new(),
            limits: WebSocketLimits::DEFAULT,
            options: Options::new(),
        }
    }

    /// Adds a header to the request. Those of the handshake itself are set by this client. The values of
    /// `Authorization`, `Proxy-Authorization` and `Cookie` are marked as
    /// [sensitive](HeaderValue::is_sensitive).
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        let value = guarded(&name, value);
        self.headers.insert(name, value);
        self
    }

    /// Offers a subprotocol; of several, those that were offered first are liked best. The server may choose none:
    /// see [`WebSocket::protocol`].
    pub fn protocol(mut self, name: &str) -> Self {
        self.protocols.push(name.into());
        self
    }

    /// Sets what the connection may cost.
    pub const fn limits(mut self, limits: WebSocketLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long the connection may take to be made: looked up, connected, through a proxy, and with TLS; and
    /// how long the server may then take to answer. 5 seconds each.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.options.connect_timeout = time;
        self
    }

    /// Connects through a proxy, which is asked for a tunnel, without TLS too.
    pub fn proxy(mut self, proxy: impl Into<Option<Proxy>>) -> Self {
        self.options.proxy = proxy.into();
        self
    }

    /// Sets how TLS is spoken and who is trusted, for `wss://`.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: crate::connect::Tls) -> Self {
        self.options.tls = tls;
        self
    }

    /// Connects, within tokio's runtime, in which the connection has a task.
    ///
    /// # Errors
    ///
    /// The URL is none of a WebSocket, the server cannot be reached, refuses, or answers against RFC 6455.
    pub async fn connect(self) -> Result<WebSocket, ConnectError> {
        // The body of this is compiled in each crate that awaits it.
        Box::pin(self.open()).await
    }

    async fn open(self) -> Result<WebSocket, ConnectError> {
        let endpoint = Endpoint::parse_websocket(&self.url)?;
        if endpoint.credentials.is_some() {
            return Err(UrlError::new(&self.url, NO_USER).into());
        }
        let invalid =
            self.protocols.iter().enumerate().find(|(at, name)| {
                !handshake::is_token(name) || self.protocols[..*at].contains(name)
            });
        if let Some((_, name)) = invalid {
            let reason = format!(
                "`{}` is no name for a subprotocol, or a double",
                name.escape_debug()
            );
            return Err(ConnectError::Handshake(reason));
        }
        let dialer = dialer(endpoint.clone(), &self.options)?;
        let stream = dialer.connect().await?;
        let asked = Asked {
            endpoint: &endpoint,
            headers: self.headers,
            protocols: &self.protocols,
            within: self.options.connect_timeout,
        };
        let upgraded = upgrade(stream, asked).await?;
        let limits = self.limits.capped();
        let queue = Arc::new(Queue::new(&limits, None));
        let codec = Codec::new(upgraded.stream, &upgraded.begun, Role::Client, &limits);
        let counts = Arc::new(Counts::default());
        let mut driver = Driver::new(codec, Arc::clone(&queue), counts, limits);
        let own = Arc::clone(&queue);
        tokio::spawn(async move {
            let _ending = Ending(Arc::clone(&own));
            poll_fn(|cx| {
                loop {
                    if driver.poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                    if own.park(cx) {
                        return Poll::Pending;
                    }
                }
            })
            .await;
        });
        let head = Head {
            uri: Uri::from(endpoint.target_or("/")),
            headers: upgraded.head.headers,
            protocol: upgraded.protocol,
            peer: Peer::default(),
        };
        Ok(WebSocket::new(queue, Arc::new(head)))
    }
}

impl fmt::Debug for WebSocketBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocketBuilder")
            .field("url", &crate::connect::without_secrets(&self.url))
            .field("protocols", &self.protocols)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Ends the connection with its task, which may end with its runtime.
struct Ending(Arc<Queue>);

impl Drop for Ending {
    fn drop(&mut self) {
        let frame = super::CloseFrame::new(super::CloseCode::ABNORMAL, "");
        self.0.end(frame, Some(super::WebSocketError::Reset));
    }
}

/// What connects to a server of WebSocket.
pub(crate) fn dialer(endpoint: Endpoint, options: &Options) -> Result<Dialer, UrlError> {
    #[cfg(not(feature = "tls"))]
    if endpoint.wire.is_tls() {
        let reason = "wss is not built in: the feature `tls` of polywire-rpc is off";
        return Err(UrlError::new(endpoint.shown(), reason));
    }
    let hop = options.proxy.as_ref();
    let hop = hop.and_then(|proxy| proxy.hop(&endpoint));
    #[cfg(feature = "tls")]
    let tls = crate::connect::Secured::new(&endpoint, &options.tls, Some(b"http/1.1"))?;
    Ok(Dialer::new(
        Arc::new(endpoint),
        options.connect_timeout,
        hop,
        #[cfg(feature = "tls")]
        tls,
    ))
}

/// What a server is asked.
pub(crate) struct Asked<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) headers: HeaderMap,
    pub(crate) protocols: &'a [Box<str>],
    pub(crate) within: Duration,
}

impl<'a> Asked<'a> {
    /// Asks for frames.
    pub(crate) fn for_frames(endpoint: &'a Endpoint, within: Duration) -> Self {
        static PROTOCOLS: LazyLock<[Box<str>; 1]> = LazyLock::new(|| [FRAMES.into()]);
        Self {
            endpoint,
            headers: HeaderMap::new(),
            protocols: &*PROTOCOLS,
            within,
        }
    }
}

/// A connection that speaks WebSocket from now on.
pub(crate) struct Upgraded {
    pub(crate) stream: Stream,
    /// What has come behind the answer.
    pub(crate) begun: Bytes,
    head: response::Parts,
    protocol: Option<Box<str>>,
}

impl Upgraded {
    /// The bytes of frames, in messages.
    ///
    /// # Errors
    ///
    /// The server does not speak frames.
    pub(crate) fn into_bytes(self) -> io::Result<MessageStream<Stream>> {
        if self.protocol.is_none() {
            let words = "the server speaks WebSocket and not its subprotocol polywire-frames";
            return Err(io::Error::new(io::ErrorKind::InvalidData, words));
        }
        // Frames themselves bound what comes.
        let limits = WebSocketLimits::DEFAULT.with_message_bytes(MOST_OF_FRAMES);
        let codec = Codec::unbuffered(self.stream, &self.begun, Role::Client, &limits);
        Ok(MessageStream::new(codec))
    }
}

/// The bytes of a message with frames that a client takes.
const MOST_OF_FRAMES: usize = 16 << 20;

/// Asks for a WebSocket on a connection.
pub(crate) async fn upgrade(stream: Stream, asked: Asked<'_>) -> Result<Upgraded, ConnectError> {
    let address = stream.known.address.clone();
    let (shown, within) = (asked.endpoint.shown().to_owned(), asked.within);
    match tokio::time::timeout(within, handshake(stream, asked)).await {
        Ok(upgraded) => upgraded,
        Err(_) => {
            let error = TransportError::new(&shown, Step::Read).at(address);
            Err(error.timed_out(within).into())
        }
    }
}

async fn handshake(stream: Stream, asked: Asked<'_>) -> Result<Upgraded, ConnectError> {
    let Asked {
        endpoint,
        mut headers,
        protocols,
        ..
    } = asked;
    let broken = |error: hyper::Error| {
        let failed = TransportError::new(endpoint.shown(), Step::Read);
        ConnectError::Transport(failed.with_source(error))
    };
    let key = generate_key();
    let key = HeaderValue::try_from(key)
        .map_err(|error| ConnectError::Handshake(format!("the key: {error}")))?;
    handshake::ask(&mut headers, &key, protocols);
    if !headers.contains_key(HOST) {
        let host = HeaderValue::try_from(endpoint.authority.as_str());
        let host = host.map_err(|error| ConnectError::Handshake(format!("the host: {error}")))?;
        headers.insert(HOST, host);
    }
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.uri_mut() = Uri::from(endpoint.target_or("/"));
    *request.headers_mut() = headers;

    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    let mut connection = pin!(connection.without_shutdown());
    let mut ended = None;
    let answer = {
        let mut answer = pin!(sender.send_request(request));
        poll_fn(|cx| {
            if ended.is_none()
                && let Poll::Ready(parts) = connection.as_mut().poll(cx)
            {
                ended = Some(parts);
            }
            answer.as_mut().poll(cx)
        })
        .await
        .map_err(broken)?
    };
    let (head, body) = answer.into_parts();
    if head.status != StatusCode::SWITCHING_PROTOCOLS {
        let mut body = pin!(Limited::new(body, SHOWN).collect());
        let text = poll_fn(|cx| {
            if ended.is_none()
                && let Poll::Ready(parts) = connection.as_mut().poll(cx)
            {
                ended = Some(parts);
            }
            body.as_mut().poll(cx)
        });
        // Of a longer one nothing is shown: it is a page.
        let text = text.await.map(|body| body.to_bytes()).unwrap_or_default();
        return Err(ConnectError::Refused {
            status: head.status,
            text: String::from_utf8_lossy(&text).into_owned(),
        });
    }
    let protocol = handshake::confirm(&head, &key, protocols)
        .map_err(|reason| ConnectError::Handshake(reason.to_owned()))?;
    let parts = match ended {
        Some(parts) => parts,
        None => connection.await,
    };
    let parts = parts.map_err(broken)?;
    Ok(Upgraded {
        stream: parts.io.into_inner(),
        begun: parts.read_buf,
        head,
        protocol,
    })
}
