//! The response to an HTTP request, as a future.
//!
//! It is a state machine written by hand, which stores only the data of the current step: the future of an `async fn` would
//! have about 1,000 bytes, which are moved several times for each call. A call without a body starts before the future is
//! first polled.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Response;
use http::header::CONTENT_ENCODING;
use polywire_protocol::event_stream::PayloadEvents;
use polywire_protocol::{
    Fault, FaultKind, PayloadStream, Plan, ProtocolKind, Route, decode_content, decodes_gzip,
};
use polywire_schema::{Body, Direction};

use super::app::App;
use super::body::RequestBody;
use super::response::{HttpResponse, of_call};
use crate::auth::Identity;
use crate::call::decoding::{decode_on_pool, is_large_body};
use crate::call::{Deadline, Engine, Invocation, Reply, ServerEvents, Target, catch_panic};
use crate::context::RequestId;
use crate::events::{ReceivedMessages, is_event_stream};
use crate::methods::RouteMatch;

/// A future behind a pointer.
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The future of a response, as hyper needs it.
#[expect(
    clippy::large_enum_variant,
    reason = "most requests are of the large variant, and take no allocation for it"
)]
pub(super) enum HttpAnswer {
    Own(Answer),
    /// Behind layers around HTTP requests.
    Layered(Boxed<HttpResponse>),
    /// Rejected before the layers.
    Refused(Box<HttpResponse>),
}

/// The future of a response, inside of layers around HTTP requests.
pub(super) enum Answer {
    Ready(Response<Bytes>),
    PendingBody(PendingBody),
    PendingCall(PendingCall),
    /// Behind layers around heads, or decoded on another thread.
    Boxed(Boxed<Response<Bytes>>),
    /// A call with an id.
    CallWithId(Box<CallWithId>),
    /// The response was returned.
    Done,
}

/// A call, or several in one message, whose body is being read.
pub(super) struct PendingBody {
    pub(super) app: Arc<App>,
    /// What to do with the body.
    pub(super) plan: Plan,
    pub(super) context: crate::Context,
    pub(super) body: RequestBody,
}

/// A call whose handler is in progress.
pub(super) struct PendingCall {
    app: Arc<App>,
    protocol: usize,
    /// Whether the caller asked for details of a fault.
    wants_detail: bool,
    target: Option<Target>,
    run: Invocation,
    /// Holds the memory of the body until the call ends.
    _body: RequestBody,
}

/// A call with an id, which the response contains.
pub(super) struct CallWithId {
    app: Arc<App>,
    protocol: usize,
    id: RequestId,
    /// The span of the log of the call.
    span: tracing::Span,
    answer: Answer,
}

impl App {
    /// Starts a call, which may have an id.
    pub(super) fn begin(
        self: &Arc<Self>,
        protocol: usize,
        plan: Plan,
        context: crate::Context,
        body: RequestBody,
    ) -> Answer {
        let Some(id) = context.extensions().get::<RequestId>().cloned() else {
            return self.begin_call(protocol, plan, context, body);
        };
        let span = tracing::info_span!("call", request_id = id.0);
        let answer = span.in_scope(|| self.begin_call(protocol, plan, context, body));
        Answer::CallWithId(Box::new(CallWithId {
            app: Arc::clone(self),
            protocol,
            id,
            span,
            answer,
        }))
    }

    /// Starts a call. Runs synchronously as far as possible.
    fn begin_call(
        self: &Arc<Self>,
        protocol: usize,
        plan: Plan,
        mut context: crate::Context,
        body: RequestBody,
    ) -> Answer {
        match plan {
            Plan::Buffer(route) if body.is_empty() => {
                let wants_detail = self.engine.wants_detail(&context);
                let run = catch_panic(|| {
                    let deadline = self.handler_deadline(context.deadline)?;
                    context.deadline = deadline;
                    let reader = &*self.mounts.protocols[protocol];
                    let body = Body::default();
                    let run = self
                        .engine
                        .run_operation(reader, &route, context, &body, false)?;
                    Ok(run.with_deadline(deadline))
                });
                let target = Some(Target::Operation(route.operation));
                self.into_answer((protocol, wants_detail), target, body, run)
            }
            Plan::Buffer(route)
                if self
                    .engine
                    .streams_events(route.operation, Direction::Request)
                    && is_event_stream(context.headers()) =>
            {
                Answer::Boxed(Box::pin(
                    Arc::clone(self).begin_events(protocol, route, context, body),
                ))
            }
            Plan::Buffer(route) if self.streams_input(protocol, &route, &context) => {
                self.begin_stream(protocol, &route, context, body)
            }
            plan => Answer::PendingBody(PendingBody {
                app: Arc::clone(self),
                plan,
                context,
                body,
            }),
        }
    }

    /// Whether the handler reads the body itself.
    fn streams_input(&self, protocol: usize, route: &Route, context: &crate::Context) -> bool {
        let handler = self.engine.handlers.get(route.operation as usize);
        let is_streaming = matches!(handler, Some(Some(handler)) if handler.is_streaming());
        let operation = || self.engine.service.operation(route.operation);
        let is_claimed = context.identity().is_some_and(Identity::is_claimed);
        // A compressed body is decompressed as a whole.
        is_streaming
            && !is_claimed
            && !(context.headers().contains_key(CONTENT_ENCODING) && decodes_gzip(operation()))
            && self.mounts.protocols[protocol].has_input_stream(operation())
    }

    /// Starts a call whose handler reads the body.
    fn begin_stream(
        self: &Arc<Self>,
        protocol: usize,
        route: &Route,
        mut context: crate::Context,
        body: RequestBody,
    ) -> Answer {
        let wants_detail = self.engine.wants_detail(&context);
        let run = catch_panic(|| {
            let deadline = context.deadline.for_handler(self.timeouts.stream)?;
            context.deadline = deadline;
            let stream = body.into_stream(deadline, self.stream_bytes)?;
            context.extensions_mut().insert(PayloadStream(stream));
            let reader = &*self.mounts.protocols[protocol];
            let body = Body::default();
            let run = self
                .engine
                .run_operation(reader, route, context, &body, false)?;
            Ok(run.with_deadline(deadline))
        });
        let target = Some(Target::Operation(route.operation));
        self.into_answer((protocol, wants_detail), target, RequestBody::empty(), run)
    }

    /// Starts a call whose input has a stream of events, after its initial message was read.
    async fn begin_events(
        self: Arc<Self>,
        protocol: usize,
        route: Route,
        mut context: crate::Context,
        body: RequestBody,
    ) -> Response<Bytes> {
        let wants_detail = self.engine.wants_detail(&context);
        let target = Some(Target::Operation(route.operation));
        let run = async {
            if context.identity().is_some_and(Identity::is_claimed) {
                let message =
                    "an event stream needs a signature that can be verified without the body";
                return Err(Fault::new(FaultKind::Forbidden, message));
            }
            let deadline = context.deadline.for_handler(self.timeouts.stream)?;
            context.deadline = deadline;
            let stream = body.into_stream(deadline, self.stream_bytes)?;
            let owner = Arc::new(ServerEvents {
                engine: Arc::clone(&self.engine),
                protocol,
            });
            let place = (route.operation, Direction::Request);
            let mut messages = ReceivedMessages::new(owner, place, stream);
            let initial = Body::new(messages.read_initial().await?);
            context
                .extensions_mut()
                .insert(PayloadEvents::new(messages));
            catch_panic(|| {
                let reader = &*self.mounts.protocols[protocol];
                let run = self
                    .engine
                    .run_operation(reader, &route, context, &initial, false)?;
                Ok(run.with_deadline(deadline))
            })
        };
        let run = run.await;
        let body = RequestBody::empty();
        self.into_answer((protocol, wants_detail), target, body, run)
            .await
    }

    /// The earlier of the caller's deadline and the limit of the server, which counts from now.
    pub(super) fn handler_deadline(&self, caller: Deadline) -> Result<Deadline, Fault> {
        caller.for_handler(self.timeouts.handler)
    }

    /// The body without its content coding, in UTF-8.
    pub(super) fn decode_body(
        &self,
        (protocol, target): (usize, Option<&Target>),
        context: &mut crate::Context,
        mut bytes: Bytes,
        body: &mut RequestBody,
    ) -> Result<Bytes, Fault> {
        let limit = self.engine.limits.bytes();
        // The head may be shared, and then cloned.
        if context.headers().contains_key(CONTENT_ENCODING) {
            let operation = target.and_then(|target| target.operation(&self.engine));
            let mut grows = |len| body.grow((bytes.len(), len), limit, &self.engine.memory);
            let head = context.head.make_mut();
            if let Some(decoded) = decode_content(operation, head, &bytes, &mut grows)? {
                bytes = decoded;
            }
        }
        let reader = &self.mounts.protocols[protocol];
        let whole = Body::new(bytes);
        match reader.in_utf8(&context.head.headers, &whole, &self.engine.limits)? {
            None => Ok(whole.into_bytes()),
            Some(other) => {
                body.grow((whole.len(), other.len()), limit, &self.engine.memory)?;
                Ok(other.into_bytes())
            }
        }
    }

    /// Starts a call with its body.
    fn begin_with(
        self: &Arc<Self>,
        (protocol, plan, is_on_pool): (usize, Plan, bool),
        mut context: crate::Context,
        bytes: Bytes,
        body: &mut RequestBody,
        target: &mut Option<Target>,
    ) -> Result<Invocation, Fault> {
        let bytes = self.decode_body((protocol, target.as_ref()), &mut context, bytes, body)?;
        let whole = Body::new(bytes.clone());
        let reader = &self.mounts.protocols[protocol];
        let route = match (plan, &self.engine.methods) {
            (Plan::Buffer(route), _) => route,
            (_, Some(_)) if has_methods(reader.kind()) => {
                let protocol = (protocol, is_on_pool);
                return self.begin_named(protocol, context, (&bytes, &whole), target);
            }
            _ => reader.route_body(&context.head, &whole, &self.engine.limits)?,
        };
        *target = Some(Target::Operation(route.operation));
        self.engine
            .run_operation(&**reader, &route, context, &whole, is_on_pool)
    }

    /// Starts a call whose name is in the body: of a method, or of an operation at the same path.
    fn begin_named(
        self: &Arc<Self>,
        (protocol, is_on_pool): (usize, bool),
        context: crate::Context,
        (bytes, body): (&Bytes, &Body),
        called: &mut Option<Target>,
    ) -> Result<Invocation, Fault> {
        let protocol = &*self.mounts.protocols[protocol];
        let Some(router) = &self.engine.methods else {
            return Err(Fault::internal("a server without methods"));
        };
        let found = router.route(
            protocol.kind(),
            &context.head,
            bytes,
            body,
            &self.engine.limits,
        )?;
        let RouteMatch {
            target,
            source,
            format,
        } = found;
        match called.insert(target) {
            Target::Operation(index) => {
                let route = Route::to(*index);
                self.engine
                    .run_operation(protocol, &route, context, body, is_on_pool)
            }
            Target::Method(entry) => {
                let answer = (format, Vec::new(), None);
                let future = router.start(&self.engine, entry, source, context, answer)?;
                Ok(Invocation::of_method(future))
            }
        }
    }

    pub(super) fn into_answer(
        self: &Arc<Self>,
        (protocol, wants_detail): (usize, bool),
        target: Option<Target>,
        body: RequestBody,
        run: Result<Invocation, Fault>,
    ) -> Answer {
        match run {
            Ok(run) => Answer::PendingCall(PendingCall {
                app: Arc::clone(self),
                protocol,
                wants_detail,
                target,
                run,
                _body: body,
            }),
            Err(fault) => {
                let fault = fault.with_detail(wants_detail);
                Answer::Ready(self.engine.fault(protocol, target.as_ref(), &fault))
            }
        }
    }
}

/// Whether calls of methods are possible over a protocol whose name is in the body.
const fn has_methods(kind: ProtocolKind) -> bool {
    matches!(kind, ProtocolKind::RpcV2Cbor | ProtocolKind::XmlRpc)
}

impl Future for HttpAnswer {
    type Output = HttpResponse;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<HttpResponse> {
        match &mut *self {
            Self::Own(answer) => {
                let response = ready!(Pin::new(answer).poll(context));
                Poll::Ready(of_call(response))
            }
            Self::Layered(future) => future.as_mut().poll(context),
            Self::Refused(response) => Poll::Ready(mem::take(response)),
        }
    }
}

impl Future for Answer {
    type Output = Response<Bytes>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response<Bytes>> {
        loop {
            *self = match &mut *self {
                own @ Self::PendingBody(_) => ready!(own.poll_body(context)),
                Self::PendingCall(call) => return call.poll(context),
                Self::Boxed(future) => return future.as_mut().poll(context),
                Self::CallWithId(call) => return call.poll(context),
                ready @ Self::Ready(_) => match mem::replace(ready, Self::Done) {
                    Self::Ready(response) => return Poll::Ready(response),
                    other => other,
                },
                // Polled after the response: never, by the contract of futures.
                Self::Done => return Poll::Pending,
            };
        }
    }
}

impl Answer {
    /// Reads the body, and starts the call.
    fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<Self> {
        let Self::PendingBody(pending) = self else {
            return Poll::Pending;
        };
        let (app, body) = (&pending.app, &mut pending.body);
        let bytes = ready!(body.poll_read(app.engine.limits.bytes(), &app.engine.memory, context));
        Poll::Ready(match mem::replace(self, Self::Done) {
            Self::PendingBody(pending) => match bytes {
                Ok(bytes) if is_large_body(pending.context.headers(), &bytes) => {
                    pending.begin_on_pool(bytes)
                }
                bytes => pending.begin(bytes, false),
            },
            other => other,
        })
    }
}

impl PendingBody {
    /// Starts a call with a large body on the pool.
    #[cold]
    pub(super) fn begin_on_pool(mut self, bytes: Bytes) -> Answer {
        let app = Arc::clone(&self.app);
        let protocol = self.context.mount as usize;
        let target = self.target();
        let wants_detail = app.engine.wants_detail(&self.context);
        let deadline = match app.handler_deadline(self.context.deadline) {
            Ok(deadline) => deadline,
            Err(fault) => {
                let fault = fault.with_detail(wants_detail);
                return Answer::Ready(app.engine.fault(protocol, target.as_ref(), &fault));
            }
        };
        // Decoding and the handler have this time together.
        self.context.deadline = deadline;
        let begin = move |_: &Arc<Engine>| Ok(self.begin(Ok(bytes), true));
        let started = decode_on_pool(Arc::clone(&app.engine), deadline, begin);
        Answer::Boxed(Box::pin(async move {
            match started.await {
                Ok(answer) => answer.await,
                Err(fault) => {
                    let fault = fault.with_detail(wants_detail);
                    app.engine.fault(protocol, target.as_ref(), &fault)
                }
            }
        }))
    }

    /// The target, if it is known from the head.
    fn target(&self) -> Option<Target> {
        let operation = |route: &Route| Target::Operation(route.operation);
        self.plan.route().map(operation)
    }

    /// Starts the call with the result of reading the body. `is_on_pool`: on a thread of the pool.
    pub(super) fn begin(self, bytes: Result<Bytes, Fault>, is_on_pool: bool) -> Answer {
        if let Plan::BufferThenSplit = self.plan {
            return self.begin_batch(bytes);
        }
        let mut target = self.target();
        let Self {
            app,
            plan,
            mut context,
            mut body,
        } = self;
        let protocol = context.mount as usize;
        let wants_detail = app.engine.wants_detail(&context);
        let run = catch_panic(|| {
            let bytes = bytes?;
            let deadline = app.handler_deadline(context.deadline)?;
            context.deadline = deadline;
            let call = (protocol, plan, is_on_pool);
            let run = app.begin_with(call, context, bytes, &mut body, &mut target)?;
            Ok(run.with_deadline(deadline))
        });
        app.into_answer((protocol, wants_detail), target, body, run)
    }
}

impl CallWithId {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Response<Bytes>> {
        let _inside = self.span.enter();
        let mut response = ready!(Pin::new(&mut self.answer).poll(context));
        self.app
            .tell_id(self.protocol, Some(&self.id), &mut response);
        Poll::Ready(response)
    }
}

impl PendingCall {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Response<Bytes>> {
        let (app, target) = (&self.app, self.target.as_ref());
        let encode = |reply: Reply| reply.into_response(&app.engine, self.protocol, target);
        let response = ready!(self.run.poll(&app.engine, target, context, encode));
        Poll::Ready(response.unwrap_or_else(|fault| {
            let fault = fault.with_detail(self.wants_detail);
            app.engine.fault(self.protocol, target, &fault)
        }))
    }
}
