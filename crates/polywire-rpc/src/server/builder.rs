//! The builder of servers.

mod build;
mod error;
mod limits;

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use http_body::Body;
use polywire_protocol::{Fault, ProtocolKind, ServerProtocol};
use polywire_schema::Limits;
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service};

use super::Timeouts;
use super::app::{HeadService, Pages, RoutedCall};
use super::body_filter::{BodyFilter, BodyFilters};
use super::frames::FrameLimits;
use super::http_service::{HttpRequest, HttpService};
use super::mount::Mount;
use super::unoffered::Hint;
use crate::auth::{Authenticator, Authenticators};
use crate::handler::CallService;
use crate::layers::{Callers, CrossOrigin, Firewall};
use crate::methods::Methods;
use crate::topics::Topics;
use crate::{Call, Handler, Output, ServiceHandle};

pub use error::BuildError;

/// Builds a [`Server`](super::Server).
#[must_use]
pub struct ServerBuilder {
    service: ServiceHandle,
    protocols: Vec<(Mount, ProtocolKind)>,
    custom_protocols: Vec<Box<dyn ServerProtocol>>,
    handlers: Vec<(String, Arc<dyn Handler>)>,
    methods: Option<Methods>,
    limits: Limits,
    validation: Validation,
    body_memory: Option<usize>,
    timeouts: Timeouts,
    stream_bytes: u64,
    connections: usize,
    half_close: bool,
    trust_remote_scgi: bool,
    frames: bool,
    frames_bypass_layers: bool,
    frame_limits: FrameLimits,
    topics: Option<Topics>,
    #[cfg(feature = "websocket")]
    websockets: Vec<(String, crate::websocket::WebSocketEndpoint)>,
    request_ids: Option<bool>,
    pages: Option<Pages>,
    missing_protocol_hint: Option<Hint>,
    firewall: Option<Firewall>,
    cross_origin: Option<CrossOrigin>,
    callers: Vec<Callers>,
    authenticators: Authenticators,
    body_filters: BodyFilters,
    calls: Option<usize>,
    http_layers: Vec<Box<dyn FnOnce(HttpService) -> HttpService>>,
    head_layers: Vec<Box<dyn FnOnce(HeadService) -> HeadService>>,
    call_layers: Vec<Box<dyn Fn(CallService) -> CallService>>,
}

/// Which constraints of a model are checked in inputs: `@required`, `@length`, `@range`, `@pattern`, `@uniqueItems` and
/// the values of enums.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Validation {
    /// All constraints. If a pattern has features that no linear-time engine supports, the server cannot be built.
    #[default]
    All,
    /// All constraints except patterns with unsupported features.
    WithoutUncheckedPatterns,
    /// No constraints. Dynamic handlers also receive inputs without required members. Typed handlers do not, because their
    /// input types cannot represent them.
    Off,
}

impl ServerBuilder {
    pub(super) fn new(service: ServiceHandle) -> Self {
        Self {
            service,
            protocols: Vec::new(),
            custom_protocols: Vec::new(),
            handlers: Vec::new(),
            methods: None,
            limits: Limits::DEFAULT,
            validation: Validation::All,
            body_memory: None,
            timeouts: Timeouts::DEFAULT,
            stream_bytes: u64::MAX,
            connections: 10_000,
            half_close: true,
            frames: false,
            frames_bypass_layers: false,
            frame_limits: FrameLimits::new(),
            topics: None,
            #[cfg(feature = "websocket")]
            websockets: Vec::new(),
            trust_remote_scgi: false,
            request_ids: None,
            pages: None,
            missing_protocol_hint: None,
            firewall: None,
            cross_origin: None,
            callers: Vec::new(),
            authenticators: Authenticators::default(),
            body_filters: BodyFilters::default(),
            calls: None,
            http_layers: Vec::new(),
            head_layers: Vec::new(),
            call_layers: Vec::new(),
        }
    }

    /// Offers the service over a protocol. Default: the protocols that the model names. [`ProtocolKind::Frame`] is the
    /// same as [`frames`](Self::frames).
    pub fn protocol(self, kind: ProtocolKind) -> Self {
        self.protocol_at(Mount::default(), kind)
    }

    /// Offers the service over a protocol at a mount. Protocols whose requests cannot be distinguished can so share a port.
    ///
    /// ```
    /// use polywire_protocol::ProtocolKind;
    /// use polywire_rpc::ServerBuilder;
    /// use polywire_rpc::server::{Mount, MountPathError};
    ///
    /// fn offer(builder: ServerBuilder) -> Result<ServerBuilder, MountPathError> {
    ///     let builder = builder.protocol(ProtocolKind::RestJson1);
    ///     Ok(builder.protocol_at(Mount::path("/xml")?, ProtocolKind::RestXml))
    /// }
    /// ```
    pub fn protocol_at(mut self, mount: Mount, kind: ProtocolKind) -> Self {
        let entry = (mount, kind);
        if !self.protocols.contains(&entry) {
            self.protocols.push(entry);
        }
        self
    }

    /// Offers the service over a protocol with settings of its own, such as XML-RPC at another path.
    pub fn custom_protocol(mut self, protocol: Box<dyn ServerProtocol>) -> Self {
        self.custom_protocols.push(protocol);
        self
    }

    /// Sets the handler of an operation.
    pub fn operation(mut self, name: impl Into<String>, handler: impl Handler) -> Self {
        self.handlers.push((name.into(), Arc::new(handler)));
        self
    }

    /// Like [`ServerBuilder::operation`], with a shared handler.
    pub fn operation_arc(mut self, name: impl Into<String>, handler: Arc<dyn Handler>) -> Self {
        self.handlers.push((name.into(), handler));
        self
    }

    /// Offers named methods: over XML-RPC at the paths of [`Methods::path`], and over CBOR if [`Methods::cbor`] is set. If
    /// the service is offered over XML-RPC, its operations can be called at these paths too.
    pub fn methods(mut self, methods: Methods) -> Self {
        self.methods = Some(methods);
        self
    }

    /// Sets which constraints of the model are checked in inputs. Default: all.
    pub fn validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// Whether the variables `REMOTE_ADDR` and `HTTPS` of an SCGI peer on another machine are
    /// trusted. Default: false, and the address of the peer is that of the caller. Peers at
    /// loopback addresses and Unix sockets are always trusted.
    ///
    /// Any client that reaches the listener can set these variables. Limits by address have no
    /// effect then, and [`BasicAuth`](crate::auth::BasicAuth) accepts passwords if the variables
    /// claim TLS. Use it only on a network in which the web server is alone.
    pub const fn trust_remote_scgi(mut self, trusted: bool) -> Self {
        self.trust_remote_scgi = trusted;
        self
    }

    /// Sets whether a client over HTTP/1, SCGI or frames may shut down its write side after a request and still receive the
    /// response, as `nc -N` and `socat` do. Default: true. Over frames, subscriptions and calls that need more items or
    /// credit end then.
    ///
    /// A client that has died cannot be distinguished from one that has shut down its write side. So its call runs to its
    /// end or until the handler timeout, and counts against [`ServerBuilder::connections`] and [`ServerBuilder::calls`]
    /// meanwhile. With `false`, the end of the stream cancels the call: its handler is dropped at its current `await`. This
    /// costs one more system call for handlers that wait.
    ///
    /// Over HTTP/2, a call always ends with its connection or stream.
    pub const fn half_close(mut self, half_close: bool) -> Self {
        self.half_close = half_close;
        self
    }

    /// Also offers the methods and operations over frames, on the same ports and sockets. Connections with frames begin
    /// with the byte `0xf7`; `docs/frame.md` specifies the protocol. Default: false, or true if the model has
    /// `@polywire#frame`.
    ///
    /// A handler is first polled on the task of its connection, and moves to its own task if it is pending. Operations that
    /// are measured to use a processor for more than 100 µs before they first wait go to a run queue, which runs as many at
    /// once as the runtime has threads (`docs/tuning.md`). A handler that blocks or computes for seconds still delays other
    /// tasks of its thread, and no timeout can interrupt it: use [`tokio::task::spawn_blocking`] or
    /// [`Methods::blocking`].
    ///
    /// Limits, timeouts, the firewall, [authenticators](Self::authenticate) and layers around decoded calls apply. Layers
    /// around HTTP requests and heads do not. Since one of these could be a security check, a server with both cannot be
    /// built, except with [`Self::frames_bypass_layers`].
    pub const fn frames(mut self, frames: bool) -> Self {
        self.frames = frames;
        self
    }

    /// Allows frames to bypass the layers around HTTP requests and heads. Use it if none of these layers is a security
    /// check.
    pub const fn frames_bypass_layers(mut self) -> Self {
        self.frames_bypass_layers = true;
        self
    }

    /// Offers topics over frames, to which clients subscribe and publish. The server publishes with a clone. Without topics
    /// such calls fail with a fault.
    pub fn topics(mut self, topics: Topics) -> Self {
        self.topics = Some(topics);
        self
    }

    /// Adds a WebSocket endpoint at a path, on the same ports and sockets. The endpoint is an async function that takes
    /// a [`WebSocket`](crate::websocket::WebSocket), or a
    /// [`WebSocketEndpoint`](crate::websocket::WebSocketEndpoint) with more settings.
    ///
    /// The path must begin with `/` and contain no `?` or `#`. It is compared with the path of the request without
    /// percent-decoding. Paths below it do not match.
    ///
    /// Requests for the path that are not upgrade requests are handled by
    /// [`WebSocketEndpoint::http_fallback`](crate::websocket::WebSocketEndpoint::http_fallback), then by the protocols
    /// of the server. An invalid upgrade request gets an error status:
    ///
    /// | status | cause |
    /// |---|---|
    /// | 400 | a header of the handshake is missing or not valid, or the request has a body |
    /// | 403 | the origin of the web page is not allowed |
    /// | 405 | the method is not GET |
    /// | 426 | the version is not 13 |
    /// | 501 | the connection cannot be upgraded |
    ///
    /// Layers around HTTP requests apply to the upgrade request. Layers around heads and calls do not apply, and
    /// connections do not count against [`Self::calls`]. When the server stops, connections are closed with 1001.
    #[cfg(feature = "websocket")]
    pub fn websocket(
        mut self,
        path: impl Into<String>,
        endpoint: impl Into<crate::websocket::WebSocketEndpoint>,
    ) -> Self {
        self.websockets.push((path.into(), endpoint.into()));
        self
    }

    /// Rejects requests of browsers for web pages of other origins, except those that `cross_origin` allows. Default: off
    /// in programs, on in `polywire serve`. WebSocket endpoints always reject such requests.
    pub fn cross_origin(mut self, cross_origin: CrossOrigin) -> Self {
        self.cross_origin = Some(cross_origin);
        self
    }

    /// Adds an authenticator: a call over any protocol starts only if one of the authenticators of the server accepts
    /// the caller. See [`auth`](crate::auth). Without authenticators all callers are accepted.
    pub fn authenticate(mut self, authenticator: impl Authenticator) -> Self {
        self.authenticators.add(authenticator);
        self
    }

    /// Adds a filter of request bodies, which decodes or checks them while they are read. Filters run in the order in
    /// which they were added, over HTTP and SCGI only.
    pub fn body_filter(mut self, filter: impl BodyFilter) -> Self {
        self.body_filters.add(filter);
        self
    }

    /// Sets whether calls get an id, a random UUID. It is in [`Context::request_id`](crate::Context::request_id), in the
    /// field `request_id` of the tracing span, in the response header `x-amzn-requestid`, which AWS SDKs read, and in the
    /// response body if the protocol defines it. Default: only for protocols that define it: awsQuery, ec2Query and restXml.
    pub const fn request_ids(mut self, request_ids: bool) -> Self {
        self.request_ids = Some(request_ids);
        self
    }

    /// Sets a function that responds to requests below `/_polywire/`. `/_polywire` redirects there. The body is complete and
    /// within the limit for calls; the function must not block. The server itself
    /// responds to `/_polywire/metrics`, if it offers frames or WebSockets, with its statistics for Prometheus, such as
    /// [`FrameStats`](super::FrameStats).
    pub fn pages(
        mut self,
        pages: impl Fn(&http::Request<Bytes>) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        self.pages = Some(Arc::new(pages));
        self
    }

    /// Sets a function that returns a hint how to enable a protocol. The hint is added to the error response to requests of
    /// protocols that the server does not offer, which names the protocols of the request's host.
    pub fn missing_protocol_hint(
        mut self,
        hint: impl Fn(ProtocolKind) -> String + Send + Sync + 'static,
    ) -> Self {
        self.missing_protocol_hint = Some(Box::new(hint));
        self
    }

    /// Adds a layer around HTTP requests. The layer that is added last is the outermost one, here
    /// and for the other kinds of layers.
    ///
    /// The layers of tower and tower-http work unchanged. A layer may return a response with any
    /// body: one without a known length is sent in chunks over HTTP/1.1. An error of a layer
    /// becomes a response: 503 if it is tower's `Overloaded`, 504 if it is tower's `Elapsed`, and
    /// 500 for all others, which are logged.
    ///
    /// Rejections by [`Self::firewall`], [`Self::cross_origin`] and [`Self::calls`] do not pass
    /// layers.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use http::{HeaderValue, StatusCode, header};
    /// use polywire_rpc::ServerBuilder;
    /// use tower_http::compression::CompressionLayer;
    /// use tower_http::set_header::SetResponseHeaderLayer;
    /// use tower_http::timeout::TimeoutLayer;
    /// use tower_http::trace::TraceLayer;
    ///
    /// fn add_layers(builder: ServerBuilder) -> ServerBuilder {
    ///     let no_sniff = HeaderValue::from_static("nosniff");
    ///     let (time, late) = (Duration::from_secs(5), StatusCode::GATEWAY_TIMEOUT);
    ///     builder
    ///         .http_layer(TimeoutLayer::with_status_code(late, time))
    ///         .http_layer(CompressionLayer::new())
    ///         .http_layer(SetResponseHeaderLayer::if_not_present(
    ///             header::X_CONTENT_TYPE_OPTIONS,
    ///             no_sniff,
    ///         ))
    ///         .http_layer(TraceLayer::new_for_http())
    /// }
    /// ```
    pub fn http_layer<L, B>(mut self, layer: L) -> Self
    where
        L: Layer<HttpService> + 'static,
        L::Service: Service<HttpRequest, Response = Response<B>> + Clone + Send + Sync + 'static,
        <L::Service as Service<HttpRequest>>::Future: Send,
        <L::Service as Service<HttpRequest>>::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        self.http_layers
            .push(Box::new(move |inner| HttpService::new(layer.layer(inner))));
        self
    }

    /// Adds a layer around the heads of calls, before their bodies are read. A [`Fault`] that it returns is encoded in the
    /// protocol of the call.
    pub fn head_layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<HeadService> + 'static,
        L::Service: Service<RoutedCall, Response = Response<Bytes>, Error = Fault>
            + Clone
            + Send
            + Sync
            + 'static,
        <L::Service as Service<RoutedCall>>::Future: Send,
    {
        self.head_layers.push(Box::new(move |inner| {
            BoxCloneSyncService::new(layer.layer(inner))
        }));
        self
    }

    /// Adds a layer around decoded calls.
    pub fn call_layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<CallService> + 'static,
        L::Service: Service<Call, Response = Output, Error = Fault> + Clone + Send + Sync + 'static,
        <L::Service as Service<Call>>::Future: Send,
    {
        self.call_layers.push(Box::new(move |inner| {
            BoxCloneSyncService::new(layer.layer(inner))
        }));
        self
    }
}

impl_debug!(ServerBuilder { service, protocols });
