//! From an HTTP request to its response.

use std::fmt;
use std::future::Future;
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
    pub(super) timeouts: Timeouts,
    pub(super) connections: usize,
    pub(super) pages: Option<Pages>,
}

/// Answers what lies below `/_polywire/`.
pub(super) type Pages = Arc<dyn Fn(&http::request::Parts) -> Response<Bytes> + Send + Sync>;

/// A call whose operation is known and whose body has not been read: what
/// layers around call heads see.
pub struct Arriving {
    pub(super) app: Arc<App>,
    pub(super) protocol: usize,
    pub(super) operation: Option<u32>,
    pub(super) route: Option<Route>,
    /// The circumstances.
    pub context: Context,
    pub(super) body: RequestBody,
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
    ///
    /// The future is boxed: hyper moves it about, and it is large.
    pub(super) fn answer(
        &self,
        request: Request<hyper::body::Incoming>,
        peer: Option<SocketAddr>,
    ) -> ResponseFuture {
        if let Some(http) = &self.http {
            let mut request =
                request.map(|body| BoxBody::new(body.map_err(|error| BodyError(Box::new(error)))));
            if let Some(peer) = peer {
                request.extensions_mut().insert(Peer(peer));
            }
            let http = http.clone();
            return Box::pin(async move {
                match http.oneshot(request).await {
                    Ok(response) => response,
                    Err(never) => match never {},
                }
            });
        }
        let (head, body) = request.into_parts();
        let body = RequestBody::incoming(&head, body, self.app.timeouts.body);
        Box::pin(Arc::clone(&self.app).answer(Box::new(head), body, peer))
    }
}

/// A response on its way.
pub(super) type ResponseFuture = Pin<Box<dyn Future<Output = HttpResponse> + Send>>;

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
        let app = Arc::clone(&self.app);
        let (head, body) = request.into_parts();
        let peer = head.extensions.get::<Peer>().map(|peer| peer.0);
        let body = BoxBody::new(body.map_err(|error| BodyError(error.into())));
        let body = RequestBody::boxed(&head, body, app.timeouts.body);
        Box::pin(async move { Ok(app.answer(Box::new(head), body, peer).await) })
    }
}

impl App {
    async fn answer(
        self: Arc<Self>,
        head: Box<http::request::Parts>,
        body: RequestBody,
        peer: Option<SocketAddr>,
    ) -> HttpResponse {
        if let Some(pages) = &self.pages
            && head.uri.path().starts_with("/_polywire/")
        {
            return pages(&head).map(Full::new);
        }
        let Some(protocol) = self.detect(&head) else {
            return nobody().map(Full::new);
        };
        let app = Arc::clone(&self);
        let (operation, result) = match self.arrive(protocol, head, body, peer) {
            Ok(arriving) => {
                let operation = arriving.operation;
                let ended = match app.head.clone() {
                    None => caught(pin!(arriving.run())).await,
                    Some(layers) => {
                        // Behind layers the operation of a fault is known only
                        // if the head told it.
                        let ended = async { (operation, layers.oneshot(arriving).await) };
                        caught(Box::pin(ended).as_mut()).await
                    }
                };
                ended.unwrap_or_else(|fault| (operation, Err(fault)))
            }
            Err(fault) => (None, Err(fault)),
        };
        let response = match result {
            Ok(response) => response,
            Err(fault) => app.fault(protocol, operation, &fault),
        };
        response.map(Full::new)
    }

    fn detect(&self, head: &http::request::Parts) -> Option<usize> {
        let protocols = self.protocols.iter().map(|protocol| &**protocol);
        let found = detect(protocols, head)?;
        // One protocol of a kind stands on a server.
        self.protocols
            .iter()
            .position(|protocol| protocol.kind() == found.kind())
    }

    /// Routes by the head.
    fn arrive(
        self: Arc<Self>,
        protocol: usize,
        head: Box<http::request::Parts>,
        body: RequestBody,
        peer: Option<SocketAddr>,
    ) -> Result<Arriving, Fault> {
        let route = match self.protocols[protocol].route(&head)? {
            Plan::Buffer(route) => Some(route),
            _ => None,
        };
        let kind = self.protocols[protocol].kind();
        Ok(Arriving {
            app: self,
            protocol,
            operation: route.as_ref().map(|route| route.operation),
            route,
            context: Context {
                head,
                peer,
                protocol: kind,
            },
            body,
        })
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
        operation: u32,
        output: Option<Result<Output, Fault>>,
    ) -> Result<Response<Bytes>, Fault> {
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
        self.operation
            .map(|index| self.app.service.operation(index))
    }

    /// As [`Arriving::run`], behind layers: a fault is encoded here, where the
    /// operation is known.
    pub(super) async fn answer(self) -> Result<Response<Bytes>, Fault> {
        let (app, protocol) = (Arc::clone(&self.app), self.protocol);
        let (operation, result) = self.run().await;
        Ok(result.unwrap_or_else(|fault| app.fault(protocol, operation, &fault)))
    }

    /// Reads the body, decodes, calls, encodes. Also tells the operation, which
    /// the body may have named.
    pub(super) fn run(self) -> impl Future<Output = (Option<u32>, Result<Response<Bytes>, Fault>)> {
        // Taken apart out here, so that the future holds each part once.
        let Self {
            app,
            protocol,
            operation,
            route,
            context,
            body,
        } = self;
        async move {
            // Boxed where there is anything to wait for, which is not the rule.
            let bytes = match body.is_empty() {
                true => Ok(Bytes::new()),
                false => Box::pin(body.read(app.limits.bytes())).await,
            };
            let route = bytes.and_then(|bytes| {
                let body = Body::new(bytes);
                match route {
                    Some(route) => Ok((route, body)),
                    None => {
                        let protocol = &app.protocols[protocol];
                        Ok((
                            protocol.route_body(&context.head, &body, &app.limits)?,
                            body,
                        ))
                    }
                }
            });
            let (route, body) = match route {
                Ok(routed) => routed,
                Err(fault) => return (operation, Err(fault)),
            };
            let operation = route.operation;
            let result = match app.begin(protocol, &route, context, &body) {
                Ok(handling) => {
                    // The input has what it needs of the body.
                    drop((route, body));
                    let output = within(app.timeouts.handler, handling).await;
                    app.end(protocol, operation, output)
                }
                Err(fault) => Err(fault),
            };
            (Some(operation), result)
        }
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
