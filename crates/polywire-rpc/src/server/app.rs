//! From an HTTP request to its response.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http::Response;
use polywire_protocol::{Claim, Fault, FaultKind, HeadSummary, Plan, ServerProtocol};
use polywire_schema::Operation;
use tokio::sync::Semaphore;
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;
use uuid::Uuid;

use super::answer::Answer;
use super::body::RequestBody;
use super::body_filter::BodyFilters;
use super::frames::{Flow, FrameStats, Table};
use super::gate::Gate;
use super::http_service::HttpService;
use super::mount::{Mount, Mounts};
use super::pages::{to_pages, unclaimed};
use super::unoffered::UnofferedProtocols;
use super::{ServerBuilder, Timeouts};
use crate::auth::{Authenticators, Identity};
use crate::call::{Deadline, Engine, Target, catch_panic};
use crate::context::RequestId;
use crate::methods::Methods;
use crate::peer::Peer;
use crate::topics::Topics;
use crate::{Context, ServiceHandle};

/// What a layer around call heads gets, and what it may return.
pub type HeadService = BoxCloneSyncService<RoutedCall, Response<Bytes>, Fault>;

/// A server of one service on several protocols.
///
/// It is a `tower::Service` of HTTP requests, for tests and for mounting in
/// other servers; [`Server::listen`] runs it on a port. Cloning counts up.
#[derive(Clone)]
pub struct Server {
    pub(super) app: Arc<App>,
    pub(super) http: Option<HttpService>,
}

pub(super) struct App {
    /// What calls on all wires use.
    pub(super) engine: Arc<Engine>,
    pub(super) mounts: Mounts,
    pub(super) head: Option<HeadService>,
    pub(super) timeouts: Timeouts,
    /// The maximum number of bytes of a body that the handler reads itself.
    pub(super) stream_bytes: u64,
    /// Permits for connections, of all listeners.
    pub(super) connections: Arc<Semaphore>,
    /// Whether callers over HTTP/1, SCGI and frames may half-close the connection.
    pub(super) half_close: bool,
    /// Whether the variables of SCGI peers on other machines are trusted.
    pub(super) trust_remote_scgi: bool,
    /// Whether calls get ids. Default: if their protocol has a header or member for it.
    pub(super) request_ids: Option<bool>,
    pub(super) pages: Option<Pages>,
    pub(super) authenticators: Authenticators,
    pub(super) body_filters: BodyFilters,
    /// The methods and operations over frames, if frames are offered.
    pub(super) frames: Option<Arc<Table>>,
    /// The state that connections of frames share.
    pub(super) flow: Arc<Flow>,
    /// The topics over frames, if there are any.
    pub(super) topics: Option<Topics>,
    /// The endpoints of WebSocket.
    #[cfg(feature = "websocket")]
    pub(super) websockets: crate::websocket::Endpoints,
    /// Limits of connections and requests. None only if `Engine::rates` is empty too.
    pub(super) gate: Option<Gate>,
    /// Answers requests of protocols that are not offered.
    pub(super) unoffered: UnofferedProtocols,
}

/// Answers requests below `/_polywire/`.
pub(super) type Pages = Arc<dyn Fn(&http::Request<Bytes>) -> Response<Bytes> + Send + Sync>;

/// A call whose operation is known and whose body has not been read: the request of layers around heads.
pub struct RoutedCall {
    app: Arc<App>,
    protocol: usize,
    plan: Plan,
    /// The context of the call.
    pub context: Context,
    body: RequestBody,
}

impl Server {
    /// Returns a builder of a server for a service.
    pub fn builder(service: ServiceHandle) -> ServerBuilder {
        ServerBuilder::new(service)
    }

    /// Returns a builder of a server for methods, without a model.
    pub fn methods(methods: Methods) -> ServerBuilder {
        ServerBuilder::new(ServiceHandle::empty()).methods(methods)
    }

    /// The service; one without operations if the server has methods only.
    #[must_use]
    pub fn service(&self) -> &ServiceHandle {
        &self.app.engine.service
    }

    /// The offered protocols.
    pub fn protocols(&self) -> impl Iterator<Item = &dyn ServerProtocol> {
        self.mounts().map(|(_, protocol)| protocol)
    }

    /// The offered protocols with their mounts.
    pub fn mounts(&self) -> impl Iterator<Item = (&Mount, &dyn ServerProtocol)> {
        self.app.mounts.all()
    }

    /// Whether it offers frames: [`ServerBuilder::frames`](crate::ServerBuilder::frames) has been called,
    /// or the model asks for them.
    #[must_use]
    pub fn offers_frames(&self) -> bool {
        self.app.frames.is_some()
    }

    /// Returns the statistics of frames, over all listeners of the server.
    #[must_use]
    pub fn frame_stats(&self) -> FrameStats {
        self.app.flow.stats(self.app.engine.memory.taken())
    }

    /// Returns the statistics of WebSocket connections, over all listeners of the server.
    #[cfg(feature = "websocket")]
    #[must_use]
    pub fn websocket_stats(&self) -> crate::websocket::WebSocketStats {
        self.app.websockets.stats()
    }

    /// Serves an upgraded connection.
    #[cfg(feature = "websocket")]
    pub(super) async fn upgraded(
        &self,
        pending: crate::websocket::PendingUpgrade,
        stream: super::connection_stream::ConnectionStream,
        prefetched: Bytes,
        stopped: tokio::sync::watch::Receiver<bool>,
    ) {
        let held =
            crate::call::memory::MemoryReservation::nothing(Arc::clone(&self.app.engine.memory));
        let endpoints = &self.app.websockets;
        let stop = stopped.clone();
        let outcome =
            crate::websocket::serve(endpoints, pending, stream, prefetched, held, stop).await;
        if let crate::websocket::ServeOutcome::Frames(stream, peer, _guard) = outcome {
            super::frames::over_messages(self.clone(), stream, peer, stopped).await;
        }
    }
}

impl_debug!(|this| Server {
    service: this.app.engine.service
});

impl App {
    /// Starts the response to a request of an authenticated caller.
    pub(super) fn answer_to(
        self: &Arc<Self>,
        identity: Option<Identity>,
        deadline: Deadline,
        mut head: Arc<http::request::Parts>,
        mut body: RequestBody,
        peer: Peer,
    ) -> Answer {
        if let Some(identity) = &identity {
            // For WebSocket endpoints.
            Arc::make_mut(&mut head).extensions.insert(identity.clone());
        }
        let is_claimed = identity.as_ref().is_some_and(Identity::is_claimed);
        if is_claimed && self.needs_verified_caller(&head) {
            let message = "this path needs a signature that can be verified without the body";
            return Answer::Ready(self.refuse(&head, &Fault::new(FaultKind::Forbidden, message)));
        }
        if let Some(pages) = &self.pages
            && let Some(rest) = head.uri.path().strip_prefix("/_polywire")
        {
            if rest == "/metrics" && self.has_metrics() && head.method == http::Method::GET {
                return Answer::Ready(self.metrics());
            }
            if rest.starts_with('/') {
                return self.page(pages, &head, body);
            }
            if rest.is_empty() {
                return Answer::Ready(to_pages());
            }
        }
        #[cfg(feature = "websocket")]
        if !self.websockets.is_empty()
            && let Some(answer) = self.websocket(&head, &peer)
        {
            return Answer::Ready(answer);
        }
        let Some(protocol) = self.mounts.detect(Arc::make_mut(&mut head)) else {
            let answer = self.unoffered(&head, Claim::Misdirected);
            #[cfg(feature = "websocket")]
            let answer = answer.or_else(|| self.websockets.unclaimed(&head));
            return Answer::Ready(answer.unwrap_or_else(unclaimed));
        };
        let id = self.new_id(&*self.mounts.protocols[protocol]);
        let plan = match self.mounts.protocols[protocol].route(&head) {
            Ok(plan) => plan,
            Err(fault) => {
                return Answer::Ready(self.unrouted(protocol, &head, &fault, id.as_ref()));
            }
        };
        if let Some(id) = &id {
            Arc::make_mut(&mut head).extensions.insert(id.clone());
        }
        let operation = plan.route().map(|route| route.operation);
        let caller = identity.as_ref();
        let filtered =
            self.body_filters
                .filter(&self.engine, operation, caller, &mut head, &mut body);
        if let Err(fault) = filtered {
            let target = operation.map(Target::Operation);
            let mut response = self.engine.fault(protocol, target.as_ref(), &fault);
            self.tell_id(protocol, id.as_ref(), &mut response);
            return Answer::Ready(response);
        }
        let has_identity = identity.is_some();
        let mut context = Context {
            head: head.into(),
            peer,
            protocol: self.mounts.protocols[protocol].kind(),
            // There are a dozen at most.
            mount: protocol as u32,
            deadline,
            identity,
            head_with_secrets: None,
        };
        if has_identity {
            context.remove_credentials();
        }
        let Some(layers) = self.head.clone() else {
            return self.begin(protocol, plan, context, body);
        };
        let routed = RoutedCall {
            app: Arc::clone(self),
            protocol,
            plan,
            context,
            body,
        };
        let app = Arc::clone(self);
        Answer::Boxed(Box::pin(async move {
            // With layers the operation of a fault is known only from the head.
            let target = routed.target();
            let wants_detail = app.engine.wants_detail(&routed.context);
            let mut answer = Box::pin(layers.oneshot(routed));
            let ended =
                poll_fn(
                    |context| match catch_panic(|| Ok(answer.as_mut().poll(context))) {
                        Ok(poll) => poll,
                        Err(fault) => Poll::Ready(Err(fault)),
                    },
                );
            ended.await.unwrap_or_else(|fault| {
                let fault = fault.with_detail(wants_detail);
                let mut response = app.engine.fault(protocol, target.as_ref(), &fault);
                app.tell_id(protocol, id.as_ref(), &mut response);
                response
            })
        }))
    }

    /// Whether a request is for a page or an upgrade, whose caller must be verified by now.
    fn needs_verified_caller(&self, head: &http::request::Parts) -> bool {
        let is_page = head.uri.path().starts_with("/_polywire");
        is_page
            || head.headers.contains_key(http::header::UPGRADE)
            || head.method == http::Method::CONNECT
    }

    /// The response to a request that calls no operation. REST protocols claim all remaining requests, so this may be a
    /// request of a protocol that is not offered.
    #[cold]
    fn unrouted(
        &self,
        protocol: usize,
        head: &http::request::Parts,
        fault: &Fault,
        id: Option<&RequestId>,
    ) -> Response<Bytes> {
        let own = &self.mounts.protocols[protocol];
        if fault.kind() == FaultKind::UnknownOperation
            && own.claim(&HeadSummary::new(head)) < Claim::Strong
            && let Some(answer) = self.unoffered(head, Claim::Strong)
        {
            return answer;
        }
        let mut response = self.engine.fault(protocol, None, fault);
        self.tell_id(protocol, id, &mut response);
        response
    }

    /// The response of a WebSocket endpoint, if the path is that of one.
    #[cfg(feature = "websocket")]
    #[cold]
    fn websocket(&self, head: &http::request::Parts, peer: &Peer) -> Option<Response<Bytes>> {
        let gate = self.gate.as_ref();
        let pages = gate.and_then(|gate| gate.cross_origin.as_ref());
        self.websockets.respond(head, peer, pages)
    }

    /// The id of a new call, if it gets one.
    pub(super) fn new_id(&self, protocol: &dyn ServerProtocol) -> Option<RequestId> {
        let made = self.request_ids.unwrap_or(protocol.has_request_ids());
        made.then(|| RequestId(Uuid::new_v4().to_string()))
    }

    /// Adds the id of the call to its response.
    pub(super) fn tell_id(
        &self,
        protocol: usize,
        id: Option<&RequestId>,
        response: &mut Response<Bytes>,
    ) {
        if let Some(RequestId(id)) = id {
            self.mounts.protocols[protocol].add_request_id(response, id);
        }
    }
}

impl RoutedCall {
    /// The operation, if it is known from the head: not in protocols whose bodies name it.
    #[must_use]
    pub fn operation(&self) -> Option<Operation<'_>> {
        self.index()
            .map(|index| self.app.engine.service.operation(index))
    }

    fn index(&self) -> Option<u32> {
        self.plan.route().map(|route| route.operation)
    }

    fn target(&self) -> Option<Target> {
        self.index().map(Target::Operation)
    }

    /// The response behind layers: a fault is encoded here, where the operation
    /// is known, so layers see what will be sent.
    pub(super) async fn answer(self) -> Result<Response<Bytes>, Fault> {
        let answer = self
            .app
            .begin(self.protocol, self.plan, self.context, self.body);
        Ok(answer.await)
    }
}

impl_debug!(|this| RoutedCall {
    operation: this.operation(),
    context: this.context
});
