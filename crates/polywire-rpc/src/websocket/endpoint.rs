//! The WebSocket endpoints of a server.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, request};

use super::handshake;
use super::limits::WebSocketLimits;
use super::serve::{PendingUpgrade, Upgradable};
use super::socket::{Head, WebSocket};
use super::stats::{Count, Counts, WebSocketStats};
use crate::layers::CrossOrigin;
use crate::peer::Peer;

/// A WebSocket endpoint: the handler and the settings for one path of a server. It is added with
/// [`ServerBuilder::websocket`](crate::ServerBuilder::websocket).
///
/// An async function that takes a [`WebSocket`] converts into an endpoint with default settings. Web pages of other
/// origins may not connect by default: see [`Self::cross_origin`].
///
/// ```
/// use bytes::Bytes;
/// use http::Response;
/// use polywire_rpc::websocket::{WebSocket, WebSocketEndpoint, WebSocketLimits};
///
/// async fn relay(mut socket: WebSocket) {
///     while let Some(Ok(message)) = socket.recv().await {
///         println!("{}: {message:?}", socket.uri().path());
///     }
/// }
///
/// let endpoint = WebSocketEndpoint::new(relay)
///     .limits(WebSocketLimits::DEFAULT.with_max_message_bytes(128 << 10))
///     .protocols(["nostr"])
///     // Web pages of all origins may connect. Without it, those of the same origin may.
///     .any_origin()
///     // The response to requests for the same path without an upgrade.
///     .http_fallback(|head| {
///         let accept = head.headers.get("accept")?;
///         (accept == "application/nostr+json").then(|| Response::new(Bytes::from("{}")))
///     });
/// ```
#[must_use]
pub struct WebSocketEndpoint {
    pub(super) service: Service,
    pub(super) limits: WebSocketLimits,
    protocols: Vec<Box<str>>,
    protocol_required: bool,
    origins: Origins,
    http_fallback: Option<HttpFallback>,
}

/// The use of a connection.
pub(super) enum Service {
    Handler(Handler),
    /// The framed protocol.
    Frames,
}

/// The subprotocol name of the framed protocol.
pub(crate) const FRAMES_PROTOCOL: &str = "polywire-frames";

/// A connection handler.
pub(super) type Handler = Box<dyn Fn(WebSocket) -> HandlerFuture + Send + Sync>;

pub(super) type HandlerFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

type HttpFallback = Box<dyn Fn(&request::Parts) -> Option<Response<Bytes>> + Send + Sync>;

/// The origins of web pages that may connect.
enum Origins {
    /// The setting of the server, or the same origin only if it has none.
    Server,
    Any,
    Custom(CrossOrigin),
}

impl WebSocketEndpoint {
    /// Creates an endpoint that calls a handler for each connection. The handler runs on the task of the connection.
    ///
    /// The connection is closed when the handler drops its [`WebSocket`]. It counts against
    /// [`ServerBuilder::connections`](crate::ServerBuilder::connections) until it is closed and the handler has
    /// returned.
    pub fn new<H, F>(handler: H) -> Self
    where
        H: Fn(WebSocket) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        Self::of(Service::Handler(Box::new(move |socket| {
            Box::pin(handler(socket))
        })))
    }

    /// Creates an endpoint for the framed protocol (`docs/frame.md`). Pages of other origins may connect only if
    /// [`Self::cross_origin`] or [`Self::any_origin`] allows them, as at other endpoints. Clients must offer the subprotocol
    /// `polywire-frames`. The server must offer frames, by [`ServerBuilder::frames`](crate::ServerBuilder::frames) or
    /// by a model with `@polywire#frame`. Otherwise `ServerBuilder::build` fails with `BuildError::NoFrames`.
    ///
    /// The limits, timeouts and layers that apply to frames apply here too. Connections use
    /// [`FrameLimits`](crate::server::FrameLimits). Of [`WebSocketLimits`], only
    /// [`max_message_bytes`](WebSocketLimits::max_message_bytes) and
    /// [`max_frame_bytes`](WebSocketLimits::max_frame_bytes) apply.
    ///
    /// ```
    /// use polywire_rpc::frames::Client;
    /// use polywire_rpc::websocket::WebSocketEndpoint;
    /// use polywire_rpc::{Methods, Server};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    /// let server = Server::methods(methods)
    ///     .frames(true)
    ///     .websocket("/frames", WebSocketEndpoint::polywire_frames())
    ///     .build()?;
    /// let running = server.listen("127.0.0.1:0".parse()?).await?;
    ///
    /// let client = Client::connect(&format!("ws://{}/frames", running.address())).await?;
    /// let sum: i32 = client.call("Add", (2, 3)).await?;
    /// assert_eq!(sum, 5);
    /// # running.shutdown().await;
    /// # Ok(()) }
    /// ```
    pub fn polywire_frames() -> Self {
        let endpoint = Self::of(Service::Frames);
        endpoint.protocols([FRAMES_PROTOCOL]).require_protocol()
    }

    fn of(service: Service) -> Self {
        Self {
            service,
            limits: WebSocketLimits::DEFAULT,
            protocols: Vec::new(),
            protocol_required: false,
            origins: Origins::Server,
            http_fallback: None,
        }
    }

    /// Sets the limits and timeouts of each connection. The default is [`WebSocketLimits::DEFAULT`].
    pub fn limits(mut self, limits: WebSocketLimits) -> Self {
        self.limits = limits.capped();
        self
    }

    /// Sets the supported subprotocols, in descending order of preference. The default is none.
    ///
    /// The server selects the first subprotocol of this list that the client offers. The order of the client has no
    /// effect. A client that offers none of them connects without a subprotocol, unless [`Self::require_protocol`] is
    /// set.
    pub fn protocols<P: Into<String>>(mut self, protocols: impl IntoIterator<Item = P>) -> Self {
        let names = protocols.into_iter().map(|name| name.into().into());
        self.protocols = names.collect();
        self
    }

    /// Refuses clients that offer none of the supported subprotocols, with status 400.
    pub const fn require_protocol(mut self) -> Self {
        self.protocol_required = true;
        self
    }

    /// Sets the origins of web pages that may connect. It replaces
    /// [`ServerBuilder::cross_origin`](crate::ServerBuilder::cross_origin) for this endpoint. If neither is set, only
    /// pages of the same origin may connect, as with [`CrossOrigin::new`].
    ///
    /// Browsers do not restrict WebSocket connections by origin: a page of any origin can connect, and the browser
    /// sends the cookies of the server. A page of an origin that is not allowed gets status 403. Pages of the same
    /// origin are always allowed. So are requests without the headers `Origin` and `Sec-Fetch-Site`, which clients that
    /// are not browsers send.
    pub fn cross_origin(mut self, cross_origin: CrossOrigin) -> Self {
        self.origins = Origins::Custom(cross_origin);
        self
    }

    /// Allows web pages of all origins to connect. It replaces
    /// [`ServerBuilder::cross_origin`](crate::ServerBuilder::cross_origin) for this endpoint.
    ///
    /// Use it only for services that do not authenticate by cookies or by HTTP passwords, such as public relays.
    pub fn any_origin(mut self) -> Self {
        self.origins = Origins::Any;
        self
    }

    /// Sets a function that responds to requests for the same path that are not upgrade requests. It receives the head
    /// of the request.
    ///
    /// If it returns `None`, or is not set, the protocols of the server handle the request. If none of them accepts it,
    /// the response has status 426.
    pub fn http_fallback(
        mut self,
        fallback: impl Fn(&request::Parts) -> Option<Response<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        self.http_fallback = Some(Box::new(fallback));
        self
    }
}

impl<H, F> From<H> for WebSocketEndpoint
where
    H: Fn(WebSocket) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    fn from(handler: H) -> Self {
        Self::new(handler)
    }
}

impl_debug!(WebSocketEndpoint { limits, protocols });

/// All endpoints of a server.
#[derive(Debug, Default)]
pub(crate) struct Endpoints {
    routes: Vec<(Box<str>, Arc<WebSocketEndpoint>)>,
    counts: Arc<Counts>,
}

impl Endpoints {
    /// Adds an endpoint. Returns false if the path is already in use.
    pub(crate) fn add(&mut self, path: &str, endpoint: WebSocketEndpoint) -> bool {
        let is_free = self.at(path).is_none();
        if is_free {
            self.routes.push((path.into(), Arc::new(endpoint)));
        }
        is_free
    }

    /// Returns whether an endpoint offers frames.
    pub(crate) fn has_frames(&self) -> bool {
        let mut routes = self.routes.iter();
        routes.any(|(_, endpoint)| matches!(endpoint.service, Service::Frames))
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    pub(crate) fn stats(&self) -> WebSocketStats {
        self.counts.stats()
    }

    pub(super) const fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    fn at(&self, path: &str) -> Option<&Arc<WebSocketEndpoint>> {
        let mut routes = self.routes.iter();
        routes.find_map(|(route, endpoint)| (**route == *path).then_some(endpoint))
    }

    /// Returns whether a request is an upgrade request for an endpoint that carries frames.
    pub(crate) fn carries_frames(&self, head: &request::Parts) -> bool {
        let endpoint = self.at(head.uri.path());
        let is_frames = |own: &Arc<WebSocketEndpoint>| matches!(own.service, Service::Frames);
        endpoint.is_some_and(is_frames) && handshake::is_upgrade(&head.headers)
    }

    /// Returns the response to a request for the path of an endpoint, and `None` for other requests. `server` is the
    /// cross-origin setting of the server.
    pub(crate) fn respond(
        &self,
        head: &request::Parts,
        peer: &Peer,
        server: Option<&CrossOrigin>,
    ) -> Option<Response<Bytes>> {
        let endpoint = self.at(head.uri.path())?;
        if !handshake::is_upgrade(&head.headers) {
            return endpoint.http_fallback.as_ref()?(head);
        }
        let same_origin = CrossOrigin::new();
        let origins = match &endpoint.origins {
            Origins::Server => Some(server.unwrap_or(&same_origin)),
            Origins::Any => None,
            Origins::Custom(custom) => Some(custom),
        };
        let checked = handshake::check(head).and_then(|key| {
            if origins.is_some_and(|origins| origins.is_foreign(head)) {
                return Err(handshake::ORIGIN_NOT_ALLOWED);
            }
            let protocol = endpoint.select_protocol(&head.headers)?;
            match head.extensions.get::<Upgradable>() {
                None => Err(handshake::NO_UPGRADE),
                Some(_) => Ok((key, protocol)),
            }
        });
        Some(match checked {
            Err(refusal) => {
                self.counts.add(Count::Refused, 1);
                tracing::debug!(
                    ?peer,
                    reason = refusal.text,
                    "a WebSocket upgrade was refused"
                );
                refusal.response()
            }
            Ok((key, protocol)) => {
                let mut response = handshake::accept(key, protocol);
                let head = Head::of(head, protocol.map(Into::into), peer.clone());
                response
                    .extensions_mut()
                    .insert(PendingUpgrade::new(Arc::clone(endpoint), head));
                response
            }
        })
    }

    /// Returns the response to a request that no protocol of the server accepts, if its path has an endpoint.
    pub(crate) fn unclaimed(&self, head: &request::Parts) -> Option<Response<Bytes>> {
        self.at(head.uri.path())?;
        Some(handshake::UPGRADE_REQUIRED.response())
    }
}

impl WebSocketEndpoint {
    /// Selects the first supported subprotocol that the client offers.
    fn select_protocol(&self, headers: &HeaderMap) -> Result<Option<&str>, handshake::Refusal> {
        let offered = handshake::offered_protocols(headers)?;
        let mut supported = self.protocols.iter().map(|name| &**name);
        let selected = supported.find(|name| offered.contains(name));
        match selected.is_none() && self.protocol_required {
            true => Err(handshake::NO_PROTOCOL),
            false => Ok(selected),
        }
    }
}
