//! Where a server offers WebSocket.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, request};

use super::handshake;
use super::limits::WebSocketLimits;
use super::serve::{Accepted, Upgradable};
use super::socket::{Head, WebSocket};
use super::stats::{Count, Counts, WebSocketStats};
use crate::layers::CrossOrigin;
use crate::server::Peer;

/// What a server does with WebSocket connections at one path: see
/// [`ServerBuilder::websocket`](crate::ServerBuilder::websocket).
///
/// Any function from a [`WebSocket`] to a future is one, with the defaults.
///
/// ```
/// use bytes::Bytes;
/// use http::Response;
/// use polywire_rpc::layers::CrossOrigin;
/// use polywire_rpc::websocket::{WebSocket, WebSocketEndpoint, WebSocketLimits};
///
/// async fn relay(mut socket: WebSocket) {
///     while let Some(Ok(message)) = socket.recv().await {
///         println!("{} says {message:?}", socket.uri().path());
///     }
/// }
///
/// let endpoint = WebSocketEndpoint::new(relay)
///     .limits(WebSocketLimits::DEFAULT.with_message_bytes(128 << 10))
///     .protocols(["nostr"])
///     .cross_origin(CrossOrigin::new())
///     // What other requests for the same path are answered.
///     .page(|head| {
///         let accept = head.headers.get("accept")?;
///         (accept == "application/nostr+json").then(|| Response::new(Bytes::from("{}")))
///     });
/// ```
pub struct WebSocketEndpoint {
    pub(super) service: Service,
    pub(super) limits: WebSocketLimits,
    protocols: Vec<Box<str>>,
    protocol_required: bool,
    origins: Origins,
    page: Option<Page>,
}

/// What is done with a connection.
pub(super) enum Service {
    Handler(Handler),
    /// The framed protocol.
    Frames,
}

/// The name of the framed protocol as a subprotocol.
pub(crate) const FRAMES: &str = "polywire-frames";

/// A handler of connections.
pub(super) type Handler = Box<dyn Fn(WebSocket) -> HandlerFuture + Send + Sync>;

pub(super) type HandlerFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

type Page = Box<dyn Fn(&request::Parts) -> Option<Response<Bytes>> + Send + Sync>;

/// Whose pages may connect.
enum Origins {
    /// Those that may call the server.
    Server,
    Any,
    Own(CrossOrigin),
}

impl WebSocketEndpoint {
    /// Calls a handler for each connection, on the task of the connection. The connection is closed when the handler
    /// drops its [`WebSocket`]; it counts among
    /// [`ServerBuilder::connections`](crate::ServerBuilder::connections) until it is closed and the handler has ended.
    #[must_use]
    pub fn new<H, F>(handler: H) -> Self
    where
        H: Fn(WebSocket) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        Self::of(Service::Handler(Box::new(move |socket| {
            Box::pin(handler(socket))
        })))
    }

    /// Speaks the framed protocol with clients that offer the subprotocol `polywire-frames`: for a server that
    /// [offers frames](crate::ServerBuilder::frames). What that says of limits holds here, and
    /// [`FrameLimits`](crate::server::FrameLimits) in the place of [`WebSocketLimits`], but for those of messages.
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
    ///     .websocket("/frames", WebSocketEndpoint::frames())
    ///     .build()?;
    /// let running = server.listen("127.0.0.1:0".parse()?).await?;
    ///
    /// let client = Client::connect(&format!("ws://{}/frames", running.address())).await?;
    /// let sum: i32 = client.call("Add", (2, 3)).await?;
    /// assert_eq!(sum, 5);
    /// # running.shutdown().await;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn frames() -> Self {
        let endpoint = Self::of(Service::Frames);
        endpoint.protocols([FRAMES]).require_protocol()
    }

    fn of(service: Service) -> Self {
        Self {
            service,
            limits: WebSocketLimits::DEFAULT,
            protocols: Vec::new(),
            protocol_required: false,
            origins: Origins::Server,
            page: None,
        }
    }

    /// Sets what a connection may cost.
    #[must_use]
    pub fn limits(mut self, limits: WebSocketLimits) -> Self {
        self.limits = limits.capped();
        self
    }

    /// Names the subprotocols that the handler speaks. The first of them that a client offers is agreed on. Clients
    /// that offer none of them connect without one, unless [`Self::require_protocol`] says other.
    #[must_use]
    pub fn protocols<P: Into<String>>(mut self, protocols: impl IntoIterator<Item = P>) -> Self {
        let names = protocols.into_iter().map(|name| name.into().into());
        self.protocols = names.collect();
        self
    }

    /// Answers 400 to clients that offer none of the subprotocols.
    #[must_use]
    pub const fn require_protocol(mut self) -> Self {
        self.protocol_required = true;
        self
    }

    /// Sets which web pages may connect, whatever
    /// [`ServerBuilder::cross_origin`](crate::ServerBuilder::cross_origin) says. Browsers let pages of any origin
    /// connect, with the cookies of the server. Other pages are answered 403; clients that are no browsers are not
    /// concerned.
    #[must_use]
    pub fn cross_origin(mut self, cross_origin: CrossOrigin) -> Self {
        self.origins = Origins::Own(cross_origin);
        self
    }

    /// Lets all web pages connect, whatever
    /// [`ServerBuilder::cross_origin`](crate::ServerBuilder::cross_origin) says. For services without cookies and
    /// passwords, such as public relays.
    #[must_use]
    pub fn any_origin(mut self) -> Self {
        self.origins = Origins::Any;
        self
    }

    /// Answers requests for the same path that ask for no upgrade. Those that this does not answer go on to the
    /// protocols of the server.
    #[must_use]
    pub fn page(
        mut self,
        page: impl Fn(&request::Parts) -> Option<Response<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        self.page = Some(Box::new(page));
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

impl fmt::Debug for WebSocketEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocketEndpoint")
            .field("limits", &self.limits)
            .field("protocols", &self.protocols)
            .finish_non_exhaustive()
    }
}

/// All endpoints of a server.
#[derive(Debug, Default)]
pub(crate) struct Endpoints {
    routes: Vec<(Box<str>, Arc<WebSocketEndpoint>)>,
    counts: Arc<Counts>,
}

impl Endpoints {
    /// Adds an endpoint. False if there is one at that path.
    pub(crate) fn add(&mut self, path: &str, endpoint: WebSocketEndpoint) -> bool {
        let is_free = self.at(path).is_none();
        if is_free {
            self.routes.push((path.into(), Arc::new(endpoint)));
        }
        is_free
    }

    /// Whether frames are to be spoken at one of them.
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
        routes.find_map(|(own, endpoint)| (**own == *path).then_some(endpoint))
    }

    /// The answer to a request, if it is for an endpoint. `server` is whose pages may call the server.
    pub(crate) fn answer(
        &self,
        head: &request::Parts,
        peer: &Peer,
        server: Option<&CrossOrigin>,
    ) -> Option<Response<Bytes>> {
        let endpoint = self.at(head.uri.path())?;
        if !handshake::is_upgrade(&head.headers) {
            return endpoint.page.as_ref()?(head);
        }
        let origins = match &endpoint.origins {
            Origins::Server => server,
            Origins::Any => None,
            Origins::Own(own) => Some(own),
        };
        let checked = handshake::check(head).and_then(|key| {
            if origins.is_some_and(|origins| origins.is_foreign(head)) {
                return Err(handshake::FOREIGN);
            }
            let protocol = endpoint.choose(&head.headers)?;
            match head.extensions.get::<Upgradable>() {
                None => Err(handshake::NO_UPGRADE),
                Some(_) => Ok((key, protocol)),
            }
        });
        Some(match checked {
            Err(refusal) => {
                self.counts.add(Count::Refused, 1);
                tracing::debug!(?peer, reason = refusal.text, "an upgrade was refused");
                refusal.response()
            }
            Ok((key, protocol)) => {
                let mut response = handshake::accept(key, protocol);
                let head = Head::of(head, protocol.map(Into::into), peer.clone());
                response
                    .extensions_mut()
                    .insert(Accepted::new(Arc::clone(endpoint), head));
                response
            }
        })
    }

    /// What a request that no protocol knows is answered, if there is an endpoint at its path.
    pub(crate) fn unclaimed(&self, head: &request::Parts) -> Option<Response<Bytes>> {
        self.at(head.uri.path())?;
        Some(handshake::NO_REQUEST.response())
    }
}

impl WebSocketEndpoint {
    /// The first of the own subprotocols that a client offers.
    fn choose(&self, headers: &HeaderMap) -> Result<Option<&str>, handshake::Refusal> {
        let offered = handshake::offered_protocols(headers)?;
        let mut own = self.protocols.iter().map(|own| &**own);
        let chosen = own.find(|own| offered.contains(own));
        match chosen.is_none() && self.protocol_required {
            true => Err(handshake::NO_PROTOCOL),
            false => Ok(chosen),
        }
    }
}
