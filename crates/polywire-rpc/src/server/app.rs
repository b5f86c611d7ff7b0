//! From an HTTP request to its response.

use std::fmt;
use std::future::Future;
use std::mem;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{self, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use polywire_protocol::{Fault, FaultKind, Plan, Protocol, ReadPlan, Route, detect};
use polywire_schema::{Body, Limits, Operation};
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt};

use super::body::RequestBody;
use super::memory::Memory;
use super::{ServerBuilder, Timeouts};
use crate::handler::HandlerFuture;
use crate::{Call, Context, Handler, Output, ServiceHandle};

/// A response of the server.
pub type HttpResponse = Response<Full<Bytes>>;

/// What a layer around call heads gets, and what it may return.
pub type HeadService = BoxCloneSyncService<Arriving, Response<Bytes>, Fault>;
/// What a layer around decoded calls gets, and what it may return.
pub type CallService = BoxCloneSyncService<Call, Output, Fault>;
/// What a layer around HTTP requests gets, and what it may return.
pub type HttpService =
    BoxCloneSyncService<Request<BoxBody<Bytes, BodyError>>, HttpResponse, std::convert::Infallible>;

/// Why the body of a request broke off.
#[derive(Debug)]
pub struct BodyError(Box<dyn std::error::Error + Send + Sync>);

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for BodyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

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
    pub(super) service: ServiceHandle,
    pub(super) protocols: Vec<Box<dyn Protocol>>,
    /// Handlers by the index of their operation.
    pub(super) handlers: Vec<Option<Arc<dyn Handler>>>,
    /// Handlers behind layers, if there are any.
    pub(super) layered: Vec<Option<CallService>>,
    pub(super) head: Option<HeadService>,
    pub(super) limits: Limits,
    pub(super) memory: Arc<Memory>,
    pub(super) timeouts: Timeouts,
    pub(super) connections: usize,
    pub(super) pages: Option<Pages>,
}

/// Answers what lies below `/_polywire/`.
pub(super) type Pages = Arc<dyn Fn(&http::request::Parts) -> Response<Bytes> + Send + Sync>;

/// A call whose operation is known and whose body has not been read: what
/// layers around call heads see.
pub struct Arriving {
    app: Arc<App>,
    protocol: usize,
    route: Option<Route>,
    /// The circumstances.
    pub context: Context,
    body: RequestBody,
}

impl Server {
    /// Begins to build a server of a service.
    #[must_use]
    pub fn builder(service: ServiceHandle) -> ServerBuilder {
        ServerBuilder::new(service)
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> &ServiceHandle {
        &self.app.service
    }

    /// The protocols that it is offered on.
    pub fn protocols(&self) -> impl Iterator<Item = &dyn Protocol> {
        self.app.protocols.iter().map(|protocol| &**protocol)
    }

    /// Answers a request that came over a connection.
    pub(super) fn answer(
        &self,
        request: Request<hyper::body::Incoming>,
        peer: Option<SocketAddr>,
    ) -> Answer {
        if let Some(http) = &self.http {
            let mut request =
                request.map(|body| BoxBody::new(body.map_err(|error| BodyError(Box::new(error)))));
            if let Some(peer) = peer {
                request.extensions_mut().insert(Peer(peer));
            }
            let http = http.clone();
            return Answer::Running(Box::pin(async move {
                match http.oneshot(request).await {
                    Ok(response) => response,
                    Err(never) => match never {},
                }
            }));
        }
        let (head, body) = request.into_parts();
        let body = RequestBody::incoming(&head, body, self.app.timeouts.body);
        self.app.answer(Box::new(head), body, peer)
    }
}

/// A response, there already or on its way.
///
/// The future is boxed: hyper moves it about, and it is large.
pub(super) enum Answer {
    Ready(HttpResponse),
    Running(Pin<Box<dyn Future<Output = HttpResponse> + Send>>),
    Taken,
}

impl Future for Answer {
    type Output = HttpResponse;

    fn poll(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<HttpResponse> {
        match &mut *self {
            Self::Running(future) => future.as_mut().poll(context),
            ready => match mem::replace(ready, Self::Taken) {
                Self::Ready(response) => Poll::Ready(response),
                // Asked again after the response: never, by the contract of futures.
                _ => Poll::Pending,
            },
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("service", &self.app.service)
            .finish_non_exhaustive()
    }
}

/// The caller's address, on its way through HTTP layers.
#[derive(Clone, Copy)]
struct Peer(SocketAddr);

impl<B> Service<Request<B>> for Server
where
    B: http_body::Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = HttpResponse;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let app = &self.app;
        let (head, body) = request.into_parts();
        let peer = head.extensions.get::<Peer>().map(|peer| peer.0);
        let body = BoxBody::new(body.map_err(|error| BodyError(error.into())));
        let body = RequestBody::boxed(&head, body, app.timeouts.body);
        let answer = app.answer(Box::new(head), body, peer);
        Box::pin(async move { Ok(answer.await) })
    }
}

impl App {
    /// Begins to answer a request: what the head tells is done at once.
    fn answer(
        self: &Arc<Self>,
        head: Box<http::request::Parts>,
        body: RequestBody,
        peer: Option<SocketAddr>,
    ) -> Answer {
        let ready = |response: Response<Bytes>| Answer::Ready(response.map(Full::new));
        if let Some(pages) = &self.pages
            && let Some(rest) = head.uri.path().strip_prefix("/_polywire")
        {
            if rest.starts_with('/') {
                return ready(pages(&head));
            }
            if rest.is_empty() {
                return ready(to_pages());
            }
        }
        let Some(protocol) = detect(&self.protocols, &head) else {
            return ready(nobody());
        };
        let route = match self.protocols[protocol].route(&head) {
            Ok(Plan::Buffer(route)) => Some(route),
            Ok(_) => None,
            Err(fault) => return ready(self.fault(protocol, None, &fault)),
        };
        let arriving = Arriving {
            protocol,
            route,
            context: Context {
                head,
                peer,
                protocol: self.protocols[protocol].kind(),
            },
            body,
            app: Arc::clone(self),
        };
        Answer::Running(match self.head.clone() {
            None => Box::pin(arriving.respond()),
            Some(layers) => Box::pin(async move {
                // Behind layers the operation of a fault is known only if the
                // head told it.
                let (app, operation) = (Arc::clone(&arriving.app), arriving.index());
                let ended = caught(Box::pin(layers.oneshot(arriving)).as_mut()).await;
                app.respond(protocol, operation, ended.and_then(|ended| ended))
            }),
        })
    }

    fn respond(
        &self,
        protocol: usize,
        operation: Option<u32>,
        result: Result<Response<Bytes>, Fault>,
    ) -> HttpResponse {
        let response = match result {
            Ok(response) => response,
            Err(fault) => self.fault(protocol, operation, &fault),
        };
        response.map(Full::new)
    }

    /// Reads the body, decodes, calls, encodes. Also tells the operation, which
    /// the body may have named.
    async fn run(
        &self,
        protocol: usize,
        route: Option<Route>,
        context: Context,
        mut body: RequestBody,
    ) -> (Option<u32>, Result<Response<Bytes>, Fault>) {
        let mut operation = route.as_ref().map(|route| route.operation);
        let handling = async {
            // Boxed where there is anything to wait for, which is not the rule.
            let body = Body::new(match body.is_empty() {
                true => Bytes::new(),
                false => Box::pin(body.read(self.limits.bytes(), &self.memory)).await?,
            });
            let route = match route {
                Some(route) => route,
                None => self.protocols[protocol].route_body(&context.head, &body, &self.limits)?,
            };
            operation = Some(route.operation);
            // The input has what it needs of route and body.
            self.begin(protocol, &route, context, &body)
        };
        let result = match handling.await {
            Ok(handling) => {
                let output = within(self.timeouts.handler, handling).await;
                self.end(protocol, operation, output)
            }
            Err(fault) => Err(fault),
        };
        (operation, result)
    }

    /// Decodes the input of a call and hands it to its handler.
    fn begin(
        &self,
        protocol: usize,
        route: &Route,
        context: Context,
        body: &Body,
    ) -> Result<HandlerFuture, Fault> {
        let operation = self.service.operation(route.operation);
        let index = route.operation as usize;
        let Some(Some(handler)) = self.handlers.get(index) else {
            let message = format!("{} has no handler", operation.name());
            return Err(Fault::new(FaultKind::UnknownOperation, message));
        };
        let plan = ReadPlan {
            head: &context.head,
            body,
            route,
            limits: &self.limits,
        };
        let input = handler.decode(&*self.protocols[protocol], operation, &plan)?;
        let service = self.service.clone();
        let call = Call {
            service,
            operation: route.operation,
            context,
            input,
        };
        Ok(match self.layered.get(index) {
            Some(Some(layered)) => Box::pin(layered.clone().oneshot(call)),
            _ => handler.call(call),
        })
    }

    /// Writes the output of a call, if there was one in time.
    fn end(
        &self,
        protocol: usize,
        operation: Option<u32>,
        output: Option<Result<Output, Fault>>,
    ) -> Result<Response<Bytes>, Fault> {
        let Some(operation) = operation else {
            return Err(Fault::internal("a call of no operation has an output"));
        };
        let operation = self.service.operation(operation);
        let Some(output) = output else {
            let message = format!("{} took too long", operation.name());
            return Err(Fault::new(FaultKind::DeadlineExceeded, message));
        };
        let response = self.protocols[protocol].encode_output(operation, output?.message());
        response.map_err(Fault::internal)
    }

    fn fault(&self, protocol: usize, operation: Option<u32>, fault: &Fault) -> Response<Bytes> {
        let operation = operation.map(|index| self.service.operation(index));
        let name = operation.map_or("", Operation::name);
        if fault.kind() == FaultKind::Internal {
            let reason = std::error::Error::source(fault);
            tracing::error!(
                operation = name,
                reason = reason.map(tracing::field::display),
                "internal fault"
            );
        }
        if fault.kind() == FaultKind::Modelled
            && operation.is_none_or(|operation| operation.find_error(fault.shape()).is_none())
        {
            tracing::error!(
                operation = name,
                error = fault.shape(),
                "an error that the model does not allow here, so the caller gets an internal fault"
            );
        }
        self.protocols[protocol].encode_fault(operation, fault)
    }
}

impl Arriving {
    /// The operation, where the head tells it: not in XML-RPC.
    #[must_use]
    pub fn operation(&self) -> Option<Operation<'_>> {
        self.index().map(|index| self.app.service.operation(index))
    }

    fn index(&self) -> Option<u32> {
        self.route.as_ref().map(|route| route.operation)
    }

    /// The response, whatever happens on the way.
    async fn respond(self) -> HttpResponse {
        let routed = self.index();
        let (app, protocol) = (self.app, self.protocol);
        let run = pin!(app.run(protocol, self.route, self.context, self.body));
        let (operation, result) = caught(run)
            .await
            .unwrap_or_else(|fault| (routed, Err(fault)));
        app.respond(protocol, operation, result)
    }

    /// The response behind layers around heads: a fault is encoded here, where
    /// the operation is known, and a panic is for the outermost to catch.
    pub(super) async fn answer(self) -> Result<Response<Bytes>, Fault> {
        let (app, protocol) = (self.app, self.protocol);
        let run = app.run(protocol, self.route, self.context, self.body);
        let (operation, result) = run.await;
        Ok(result.unwrap_or_else(|fault| app.fault(protocol, operation, &fault)))
    }
}

impl fmt::Debug for Arriving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arriving")
            .field("operation", &self.operation())
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

/// The output of a handler, if it comes in time. Most handlers are done when
/// they are first asked, and then no timer is made.
async fn within(
    time: std::time::Duration,
    mut future: HandlerFuture,
) -> Option<Result<Output, Fault>> {
    let first = std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
    match first {
        Poll::Ready(output) => Some(output),
        Poll::Pending => Box::pin(tokio::time::timeout(time, future)).await.ok(),
    }
}

/// The output of a future, or an internal fault if it panics: a bug in one
/// handler costs one call, not the connection and the other calls on it.
fn caught<F: Future>(mut future: Pin<&mut F>) -> impl Future<Output = Result<F::Output, Fault>> {
    std::future::poll_fn(move |context| {
        // Whatever the panic left half done is dropped with the future; what
        // handlers share among calls is theirs to protect, as with threads.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => {
                let text = panic
                    .downcast_ref::<&str>()
                    .copied()
                    .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
                let reason = format!("a panic: {}", text.unwrap_or("of an unknown kind"));
                Poll::Ready(Err(Fault::internal(reason)))
            }
        }
    })
}

/// To the pages, for who has forgotten the slash.
fn to_pages() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = http::StatusCode::PERMANENT_REDIRECT;
    let place = http::HeaderValue::from_static("/_polywire/");
    response.headers_mut().insert(http::header::LOCATION, place);
    response
}

/// A request that no protocol of this server claims.
fn nobody() -> Response<Bytes> {
    let text = "No protocol of this server knows such a request.\n";
    let mut response = Response::new(Bytes::from_static(text.as_bytes()));
    *response.status_mut() = http::StatusCode::NOT_FOUND;
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        http::HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}
