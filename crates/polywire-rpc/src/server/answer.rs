//! An answer on its way.
//!
//! A state machine by hand: whatever a future holds is moved about with it at
//! each call, and one that the compiler makes of all these steps is a thousand
//! bytes. This one holds what the step needs that it is at, and a call without
//! a body, which is most of a REST service, has begun before there is any
//! future at all.

use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Response;
use polywire_protocol::{Fault, ProtocolKind, Route, decode_content};
use polywire_schema::Body;
use tokio::time::{Instant, Sleep};

use super::app::{App, Called, DecodedCall};
use super::body::RequestBody;
use super::decoding::{decode_on_pool, is_large_body};
use super::response::{HttpResponse, ResponseBody};
use crate::call::Deadline;
use crate::call::deadline::expired;
use crate::context::RequestId;
use crate::handler::HandlerFuture;
use crate::methods::{Found, MethodFuture, MethodReply, Target};

/// A future behind a pointer.
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The answer to a request, as hyper wants it.
#[expect(
    clippy::large_enum_variant,
    reason = "most requests are of the large variant, and take no allocation for it"
)]
pub(super) enum HttpAnswer {
    Own(Answer),
    /// Behind layers around HTTP requests.
    Layered(Boxed<HttpResponse>),
    /// Turned away.
    Refused(Box<HttpResponse>),
}

/// The answer to a request.
pub(super) enum Answer {
    Ready(Response<Bytes>),
    Reading(Reading),
    Handling(Handling),
    /// Behind layers around heads, or decoded on another thread.
    Boxed(Boxed<Response<Bytes>>),
    /// A call with an id.
    Marked(Box<Marked>),
    /// Given away.
    Taken,
}

/// A call whose body is being read.
pub(super) struct Reading {
    app: Arc<App>,
    /// The operation, if the head told it.
    route: Option<Route>,
    context: crate::Context,
    body: RequestBody,
}

/// A call whose handler is at work.
pub(super) struct Handling {
    app: Arc<App>,
    protocol: usize,
    /// Whether the caller asked for details of a fault.
    wants_detail: bool,
    called: Called,
    work: Work,
    deadline: Deadline,
    /// Ends at the deadline. It is created when the handler first waits for something: most do not.
    sleep: Option<Pin<Box<Sleep>>>,
    /// Holds memory for as long as the call lasts.
    _body: RequestBody,
}

/// What a handler or method does.
enum Work {
    Operation(u32, HandlerFuture),
    Method(MethodFuture),
}

/// A call whose caller is told its id.
pub(super) struct Marked {
    app: Arc<App>,
    protocol: usize,
    id: RequestId,
    /// Of all that is logged of the call.
    span: tracing::Span,
    answer: Answer,
}

impl App {
    /// Begins a call, which may have an id.
    pub(super) fn begin(
        self: &Arc<Self>,
        protocol: usize,
        route: Option<Route>,
        context: crate::Context,
        body: RequestBody,
    ) -> Answer {
        let Some(id) = context.extensions().get::<RequestId>().cloned() else {
            return self.begin_call(protocol, route, context, body);
        };
        let span = tracing::info_span!("call", request_id = id.0);
        let answer = span.in_scope(|| self.begin_call(protocol, route, context, body));
        Answer::Marked(Box::new(Marked {
            app: Arc::clone(self),
            protocol,
            id,
            span,
            answer,
        }))
    }

    /// Begins a call: what needs no waiting is done at once.
    fn begin_call(
        self: &Arc<Self>,
        protocol: usize,
        route: Option<Route>,
        mut context: crate::Context,
        body: RequestBody,
    ) -> Answer {
        match route {
            Some(route) if body.is_empty() => {
                let called = Called::Operation(route.operation);
                let wants_detail = self.wants_detail(&context);
                let begun = caught(|| {
                    context.deadline = self.handler_deadline(context.deadline)?;
                    let deadline = context.deadline;
                    let call = self.decode(protocol, &route, context, &Body::default())?;
                    Ok((Work::Operation(route.operation, self.start(call)), deadline))
                });
                self.begun((protocol, wants_detail), called, body, begun)
            }
            route => Answer::Reading(Reading {
                app: Arc::clone(self),
                route,
                context,
                body,
            }),
        }
    }

    /// The deadline of a handler that begins now: that of its caller, or the limit of the server.
    fn handler_deadline(&self, caller: Deadline) -> Result<Deadline, Fault> {
        let now = Instant::now();
        match caller.is_over(now) {
            true => Err(expired()),
            false => Ok(caller.earlier(Deadline::after(now, self.timeouts.handler))),
        }
    }

    /// Begins a call whose body is there.
    fn begin_with(
        self: &Arc<Self>,
        (protocol, route, is_on_pool): (usize, Option<Route>, bool),
        mut context: crate::Context,
        bytes: Bytes,
        body: &mut RequestBody,
        called: &mut Called,
    ) -> Result<Work, Fault> {
        let operation = match called {
            Called::Operation(index) => Some(self.service.operation(*index)),
            _ => None,
        };
        let limit = self.limits.bytes();
        let mut grows = |len| body.grow((bytes.len(), len), limit, &self.memory);
        let decoded = decode_content(operation, context.head.make_mut(), &bytes, &mut grows)?;
        let mut bytes = decoded.unwrap_or(bytes);
        let mut whole = Body::new(bytes.clone());
        let reader = &self.mounts.protocols[protocol];
        if let Some(other) = reader.in_utf8(&context.head.headers, &whole, &self.limits)? {
            body.grow((bytes.len(), other.len()), limit, &self.memory)?;
            bytes = other.into_bytes();
            whole = Body::new(bytes.clone());
        }
        let route = match (route, &self.methods) {
            (Some(route), _) => route,
            (None, Some(_)) if has_methods(reader.kind()) => {
                let protocol = (protocol, is_on_pool);
                return self.begin_named(protocol, context, (&bytes, &whole), called);
            }
            (None, _) => reader.route_body(&context.head, &whole, &self.limits)?,
        };
        *called = Called::Operation(route.operation);
        let call = self.decode(protocol, &route, context, &whole)?;
        Ok(self.work(route.operation, call, is_on_pool))
    }

    /// Starts a call. One that was decoded on the pool is started when it is first polled, on the task of
    /// its connection: a handler may count on that, and the caller may be gone by now.
    fn work(self: &Arc<Self>, index: u32, call: DecodedCall, is_on_pool: bool) -> Work {
        if !is_on_pool {
            return Work::Operation(index, self.start(call));
        }
        let app = Arc::clone(self);
        Work::Operation(index, Box::pin(async move { app.start(call).await }))
    }

    /// Begins the call whose name stands in the body: of a method, or of an
    /// operation beside methods.
    fn begin_named(
        self: &Arc<Self>,
        (protocol, is_on_pool): (usize, bool),
        context: crate::Context,
        (bytes, body): (&Bytes, &Body),
        called: &mut Called,
    ) -> Result<Work, Fault> {
        let kind = self.mounts.protocols[protocol].kind();
        let Some(router) = &self.methods else {
            return Err(Fault::internal("a server without methods"));
        };
        let found = router.route(kind, &context.head, bytes, body, &self.limits)?;
        let Found {
            target,
            source,
            form,
        } = found;
        match target {
            Target::Operation(index) => {
                *called = Called::Operation(index);
                let route = Route::to(index);
                let call = self.decode(protocol, &route, context, body)?;
                Ok(self.work(index, call, is_on_pool))
            }
            Target::Method(entry) => {
                *called = Called::Method(Arc::clone(&entry));
                let space = (form, Vec::new());
                let reply = router.begin(self, &entry, source, context, space)?;
                Ok(Work::Method(reply))
            }
        }
    }

    fn begun(
        self: &Arc<Self>,
        (protocol, wants_detail): (usize, bool),
        called: Called,
        body: RequestBody,
        begun: Result<(Work, Deadline), Fault>,
    ) -> Answer {
        match begun {
            Ok((work, deadline)) => Answer::Handling(Handling {
                app: Arc::clone(self),
                protocol,
                wants_detail,
                called,
                work,
                deadline,
                sleep: None,
                _body: body,
            }),
            Err(fault) => {
                let fault = fault.with_detail(wants_detail);
                Answer::Ready(self.fault(protocol, &called, &fault))
            }
        }
    }
}

/// Whether a call over such a protocol whose body tells what it is may be one of a method:
/// operations over CBOR stand in the path.
const fn has_methods(kind: ProtocolKind) -> bool {
    matches!(kind, ProtocolKind::RpcV2Cbor | ProtocolKind::XmlRpc)
}

impl Future for HttpAnswer {
    type Output = HttpResponse;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<HttpResponse> {
        match &mut *self {
            Self::Own(answer) => {
                let response = ready!(Pin::new(answer).poll(context));
                Poll::Ready(response.map(ResponseBody::from))
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
                own @ Self::Reading(_) => ready!(own.poll_reading(context)),
                Self::Handling(handling) => return handling.poll(context),
                Self::Boxed(future) => return future.as_mut().poll(context),
                Self::Marked(marked) => return marked.poll(context),
                ready @ Self::Ready(_) => match mem::replace(ready, Self::Taken) {
                    Self::Ready(response) => return Poll::Ready(response),
                    other => other,
                },
                // Asked again after the response: never, by the contract of
                // futures.
                Self::Taken => return Poll::Pending,
            };
        }
    }
}

impl Answer {
    /// Reads the body, and then begins.
    fn poll_reading(&mut self, context: &mut Context<'_>) -> Poll<Self> {
        let Self::Reading(reading) = self else {
            return Poll::Pending;
        };
        let (app, body) = (&reading.app, &mut reading.body);
        let bytes = ready!(body.poll_read(app.limits.bytes(), &app.memory, context));
        Poll::Ready(match mem::replace(self, Self::Taken) {
            Self::Reading(reading) => match bytes {
                Ok(bytes) if is_large_body(reading.context.headers(), &bytes) => {
                    reading.begin_on_pool(bytes)
                }
                bytes => reading.begin(bytes, false),
            },
            other => other,
        })
    }
}

impl Reading {
    /// Begins a call with a large body on another thread.
    #[cold]
    fn begin_on_pool(self, bytes: Bytes) -> Answer {
        let app = Arc::clone(&self.app);
        let protocol = self.context.mount as usize;
        let called = self.called();
        let wants_detail = app.wants_detail(&self.context);
        let deadline = match app.handler_deadline(self.context.deadline) {
            Ok(deadline) => deadline,
            Err(fault) => {
                let fault = fault.with_detail(wants_detail);
                return Answer::Ready(app.fault(protocol, &called, &fault));
            }
        };
        let begin = move |_: &Arc<App>| Ok(self.begin(Ok(bytes), true));
        let begun = decode_on_pool(Arc::clone(&app), deadline, begin);
        Answer::Boxed(Box::pin(async move {
            match begun.await {
                Ok(answer) => answer.await,
                Err(fault) => app.fault(protocol, &called, &fault.with_detail(wants_detail)),
            }
        }))
    }

    /// What it calls, as far as the head told it.
    fn called(&self) -> Called {
        let operation = |route: &Route| Called::Operation(route.operation);
        self.route.as_ref().map_or(Called::Unknown, operation)
    }

    /// Begins, now that the body is there, or will not come. `is_on_pool`: on a thread of the blocking
    /// pool.
    fn begin(self, bytes: Result<Bytes, Fault>, is_on_pool: bool) -> Answer {
        let mut called = self.called();
        let Self {
            app,
            route,
            mut context,
            mut body,
        } = self;
        let protocol = context.mount as usize;
        let wants_detail = app.wants_detail(&context);
        let begun = caught(|| {
            let bytes = bytes?;
            context.deadline = app.handler_deadline(context.deadline)?;
            let deadline = context.deadline;
            let call = (protocol, route, is_on_pool);
            let work = app.begin_with(call, context, bytes, &mut body, &mut called)?;
            Ok((work, deadline))
        });
        app.begun((protocol, wants_detail), called, body, begun)
    }
}

impl Marked {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Response<Bytes>> {
        let _inside = self.span.enter();
        let mut response = ready!(Pin::new(&mut self.answer).poll(context));
        self.app
            .tell_id(self.protocol, Some(&self.id), &mut response);
        Poll::Ready(response)
    }
}

impl Handling {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Response<Bytes>> {
        let ended = caught(|| match &mut self.work {
            Work::Operation(index, output) => match output.as_mut().poll(context) {
                Poll::Ready(output) => {
                    let index = *index;
                    Ok(Poll::Ready(self.end(index, output)?))
                }
                Poll::Pending => Ok(Poll::Pending),
            },
            Work::Method(reply) => match reply.as_mut().poll(context) {
                Poll::Ready(reply) => Ok(Poll::Ready(self.end_method(reply?))),
                Poll::Pending => Ok(Poll::Pending),
            },
        });
        let fault = match ended {
            Ok(Poll::Ready(response)) => return Poll::Ready(response),
            Ok(Poll::Pending) => {
                let Some(at) = self.deadline.instant() else {
                    return Poll::Pending;
                };
                let sleep = || Box::pin(tokio::time::sleep_until(at));
                let sleep = self.sleep.get_or_insert_with(sleep);
                // Not by the budget of the task: a handler that uses it all up at
                // each turn would put its deadline off for good.
                let sleep = tokio::task::unconstrained(sleep.as_mut());
                ready!(pin!(sleep).poll(context));
                self.app.late(&self.called)
            }
            Err(fault) => fault,
        };
        let fault = fault.with_detail(self.wants_detail);
        Poll::Ready(self.app.fault(self.protocol, &self.called, &fault))
    }

    /// Writes the output.
    fn end(
        &self,
        operation: u32,
        output: Result<crate::Output, Fault>,
    ) -> Result<Response<Bytes>, Fault> {
        let operation = self.app.service.operation(operation);
        let protocol = &self.app.mounts.protocols[self.protocol];
        let response = protocol.encode_output(operation, output?.message());
        response.map_err(Fault::internal)
    }

    /// The response of a reply.
    fn end_method(&self, reply: MethodReply) -> Response<Bytes> {
        if let Called::Method(entry) = &self.called {
            entry.took(reply.len());
        }
        reply.into_response()
    }
}

/// What a function returns, or an internal fault if it panics: a bug in one
/// handler costs one call, not the connection and the other calls on it.
pub(crate) fn caught<T>(function: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    // Whatever the panic left half done is dropped with the call; what handlers
    // share among calls is theirs to protect, as with threads.
    catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let reason = format!("a panic: {}", text.unwrap_or("of an unknown kind"));
        Err(Fault::internal(reason))
    })
}
