//! HTTP connections.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderValue, Method, Request, Version};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::watch;

use super::activity::{Activity, CallGuard, CountedStream, IdleTimer};
use super::answer::HttpAnswer;
use super::connection_fault::ConnectionFault;
use super::connection_stream::ConnectionStream;
use super::first_bytes::{FirstBytes, InitialProtocol};
use super::frame_budget::FrameBudget;
use super::frames;
use super::incoming::{Chunks, IncomingBody};
use super::malformed;
use super::{HttpResponse, Server};
use crate::call::InFlight;
use crate::peer::Peer;

/// How long a connection without a call stays open after the server stops. Meanwhile a request
/// may arrive that the client sent before it knew of the stop. The response to an HTTP/1 request
/// in this time has `Connection: close`.
const GRACE: Duration = Duration::from_secs(1);

/// The largest head of an HTTP/1 request, in bytes. hyper reads bodies into the same buffer, at most
/// this much at once.
const MAX_HEAD: usize = 64 << 10;

/// Serves HTTP on a connection, or frames if it begins with their first byte.
pub(super) async fn connection(
    server: Server,
    mut stream: ConnectionStream,
    peer: Peer,
    stopped: watch::Receiver<bool>,
) {
    let time = server.app.timeouts.head;
    let half_close = server.app.half_close;
    let mut first = FirstBytes::default();
    let protocol = tokio::select! {
        biased;
        protocol = tokio::time::timeout(time, first.detect(&mut stream)) => protocol,
        () = stop_and_wait(stopped.clone()) => return,
    };
    let Ok(Ok(protocol)) = protocol else {
        tracing::debug!(?peer, "a connection ended before its first bytes");
        return;
    };
    if protocol == InitialProtocol::Frames && server.app.frames.is_some() {
        return frames::connection(server, stream, first, peer, stopped).await;
    }
    let http2 = protocol == InitialProtocol::Http2;
    let activity = Arc::new(Activity::new(http2));
    let service = ConnectionService {
        server,
        peer: peer.clone(),
        activity: Arc::clone(&activity),
        before: Cell::new(None),
    };
    let stream = match http2 {
        true => ConnectionStream::Http2(Box::new(FrameBudget::new(stream))),
        false => stream,
    };
    let stream = CountedStream::new(stream, first, Arc::clone(&activity));
    let driver = Driver {
        activity,
        stopped,
        time,
    };
    let ended = if http2 {
        // Boxed: it is several times as large as HTTP/1, and would enlarge the task of each idle
        // connection.
        Box::pin(serve_http2(stream, service, driver)).await
    } else {
        let mut connection = http1::Builder::new()
            // `Driver` limits the time for heads.
            .header_read_timeout(None)
            .max_buf_size(MAX_HEAD)
            // With `half_close`, the end of the stream does not cancel the call.
            // Without `pipeline_flush`, which delays a response while bytes follow the request, and
            // loses it if these bytes are not a request.
            .half_close(half_close)
            .serve_connection(stream, service);
        let activity = Arc::clone(&driver.activity);
        #[cfg(feature = "websocket")]
        let stopped = driver.stopped.clone();
        let ended = driver
            .drive(
                Pin::new(&mut connection),
                http1::Connection::graceful_shutdown,
            )
            .await;
        if activity.resets() {
            connection.into_parts().io.reset_on_drop();
            return;
        }
        #[cfg(feature = "websocket")]
        if let (Some(Ok(())), Some(accepted)) = (&ended, activity.upgraded()) {
            let parts = connection.into_parts();
            let (stream, begun) = (parts.io.into_stream(), parts.read_buf);
            // Boxed for the same reason.
            return Box::pin(
                parts
                    .service
                    .server
                    .upgraded(accepted, stream, begun, stopped),
            )
            .await;
        }
        ended
    };
    match ended {
        Some(Ok(())) => {}
        // Frequent and harmless.
        Some(Err(error)) => tracing::debug!(?peer, %error, "a connection ended early"),
        None => tracing::debug!(?peer, "a connection was cut off"),
    }
}

async fn serve_http2(
    stream: CountedStream,
    service: ConnectionService,
    driver: Driver,
) -> Option<Result<(), hyper::Error>> {
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(driver.time))
        .keep_alive_timeout(driver.time)
        .serve_connection(stream, service);
    driver
        .drive(pin!(connection), http2::Connection::graceful_shutdown)
        .await
}

/// Returns [`GRACE`] after the server has been told to stop.
pub(super) async fn stop_and_wait(mut stopped: watch::Receiver<bool>) {
    // A dropped sender means stop.
    let _ = stopped.changed().await;
    tokio::time::sleep(GRACE).await;
}

/// Handles the requests of a connection.
struct ConnectionService {
    server: Server,
    peer: Peer,
    activity: Arc<Activity>,
    /// The body of the previous request, if it was a chunked body of HTTP/1.
    before: Cell<Option<Arc<Chunks>>>,
}

impl ConnectionService {
    /// Handles a request after the body of the previous one has ended.
    #[cold]
    fn answer_after(&self, before: Arc<Chunks>, request: Request<IncomingBody>) -> HttpAnswer {
        let (server, peer) = (self.server.clone(), self.peer.clone());
        HttpAnswer::Layered(Box::pin(async move {
            let ended = tokio::time::timeout(server.app.timeouts.body, before.ended());
            if !ended.await.unwrap_or(false) {
                return *malformed::uncertain(request.version());
            }
            let (answer, in_flight) = server.answer(request, &peer);
            answer.await.map(|body| body.with_guard(in_flight))
        }))
    }
}

impl hyper::service::Service<Request<Incoming>> for ConnectionService {
    type Response = HttpResponse;
    type Error = ConnectionFault;
    type Future = ResponseFuture;

    fn call(&self, request: Request<Incoming>) -> ResponseFuture {
        let call = self.activity.call();
        let version = request.version();
        let bare = request.method() == Method::HEAD && version == Version::HTTP_2;
        #[cfg(feature = "websocket")]
        let request = upgradable(request);
        let request = request.map(|body| IncomingBody::new(version, body));
        let chunks = request.body().chunks().cloned();
        let before = self.before.replace(chunks.clone());
        let (answer, in_flight) = match before.filter(|before| !before.have_ended()) {
            Some(before) => (self.answer_after(before, request), None),
            None => self.server.answer(request, &self.peer),
        };
        ResponseFuture {
            call,
            in_flight,
            bare,
            chunks,
            answer,
        }
    }
}

/// The response to a request. hyper drops this future when it is ready.
struct ResponseFuture {
    call: CallGuard,
    in_flight: Option<InFlight>,
    /// Whether the body has to be removed here: hyper removes it in HTTP/1 only.
    bare: bool,
    /// How the body ended, if it is a chunked body of HTTP/1.
    chunks: Option<Arc<Chunks>>,
    answer: HttpAnswer,
}

impl Future for ResponseFuture {
    type Output = Result<HttpResponse, ConnectionFault>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut response = ready!(Pin::new(&mut self.answer).poll(context));
        if let Some(fault) = response.extensions().get::<ConnectionFault>().copied() {
            self.call.fail(fault);
            return Poll::Ready(Err(fault));
        }
        if self.bare {
            remove_body(&mut response);
        }
        #[cfg(feature = "websocket")]
        upgrade(&mut response, &self.call);
        let chunks = self.chunks.as_ref();
        let is_unclear = chunks.is_some_and(|chunks| chunks.are_unclear());
        if is_unclear || self.call.is_last() {
            close_after(&mut response);
        }
        if response.body().is_streaming() {
            self.extend(&mut response);
        }
        Poll::Ready(Ok(response))
    }
}

impl ResponseFuture {
    /// Extends the call until the body of its response has been sent.
    #[cold]
    fn extend(&mut self, response: &mut HttpResponse) {
        let call = (self.call.extend(), self.in_flight.take());
        let body = std::mem::take(response.body_mut());
        *response.body_mut() = body.with_guard(call);
    }
}

/// Marks a request whose connection can be upgraded. hyper adds `OnUpgrade` to upgrade requests.
#[cfg(feature = "websocket")]
fn upgradable(mut request: Request<Incoming>) -> Request<Incoming> {
    let extensions = request.extensions_mut();
    if extensions.get::<hyper::upgrade::OnUpgrade>().is_some() {
        extensions.insert(crate::websocket::Upgradable);
    }
    request
}

/// Stores the upgrade of a response with status 101 for its connection. A server that stops refuses upgrades.
#[cfg(feature = "websocket")]
fn upgrade(response: &mut HttpResponse, call: &CallGuard) {
    if response.status() == http::StatusCode::SWITCHING_PROTOCOLS
        && let Some(pending) = response.extensions_mut().remove()
    {
        if call.is_last() {
            let words = "The server is stopping.\n";
            *response = super::response::text(http::StatusCode::SERVICE_UNAVAILABLE, words);
            return;
        }
        call.upgrade(pending);
    }
}

/// Has hyper close the connection after a response (RFC 9112, section 9.6).
#[cold]
pub(super) fn close_after(response: &mut HttpResponse) {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
}

/// Removes the body of the response to a HEAD request, but not its length.
#[cold]
fn remove_body(response: &mut HttpResponse) {
    let body = std::mem::take(response.body_mut());
    let length = hyper::body::Body::size_hint(&body).exact();
    if let Some(length) = length.filter(|length| *length > 0) {
        let headers = response.headers_mut();
        headers.entry(CONTENT_LENGTH).or_insert(length.into());
    }
}

/// Drives a connection, and ends it when it is idle or the server stops.
struct Driver {
    activity: Arc<Activity>,
    stopped: watch::Receiver<bool>,
    time: Duration,
}

impl Driver {
    /// Drives the connection until it ends, is idle, or the server stops. Then lets it respond to the
    /// requests that it has read. Returns `None` if the connection was aborted.
    async fn drive<C>(
        self,
        mut connection: Pin<&mut C>,
        shut_down: fn(Pin<&mut C>),
    ) -> Option<C::Output>
    where
        C: Future,
    {
        let Self {
            activity,
            stopped,
            time,
        } = self;
        let mut changed = stopped.clone();
        let mut changed = Box::pin(async move { changed.changed().await.is_ok() });
        let mut idle = IdleTimer::new(Arc::clone(&activity), time);
        let mut moves = None;
        let own = &mut connection;
        let (seen, stop) = (&activity, &stopped);
        let ended = poll_fn(move |context| {
            if let Poll::Ready(ended) = own.as_mut().poll(context) {
                return Poll::Ready(Some(ended));
            }
            // Nearly always the connection woke the task. Then the timer and the stop signal need not
            // be polled again, unless they are due: they have the waker already.
            let now = seen.moves();
            let moved = moves.replace(now).is_some_and(|before| before != now);
            if moved && !idle.is_due() && !stop.has_changed().unwrap_or(true) {
                return Poll::Pending;
            }
            if changed.as_mut().poll(context).is_ready() || idle.poll(context).is_ready() {
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await;
        if ended.is_some() {
            return ended;
        }
        // hyper's graceful shutdown would wait for an incomplete first head. It closes a connection that is between requests.
        if activity.lacks_head() && !stopped.has_changed().unwrap_or(true) {
            return None;
        }
        // HTTP/2 tells a client with GOAWAY that the connection closes. HTTP/1 has no other signal
        // than a response. If an idle connection were closed at once, a request in flight would
        // be lost, and a client must not retry every request (RFC 9110, section 9.2.2).
        let mut grace = GRACE;
        if stopped.has_changed().unwrap_or(true) && activity.stop() {
            tokio::select! {
                biased;
                ended = connection.as_mut() => return Some(ended),
                () = activity.waiting(GRACE) => {}
                () = activity.stuck(time) => return None,
            }
            // A tenth is left for a request that the poll below reads.
            grace /= 10;
        }
        // Requests that have arrived are served too: the runtime polls the sockets before it polls
        // this task again.
        tokio::select! {
            biased;
            ended = connection.as_mut() => return Some(ended),
            () = tokio::task::yield_now() => {}
        }
        // Completes requests in progress and reads no more.
        shut_down(connection.as_mut());
        let stopping = async {
            let mut stopped = stopped;
            // A dropped sender means stop.
            let _ = stopped.changed().await;
            activity.waiting(grace).await;
        };
        tokio::select! {
            ended = connection => Some(ended),
            () = activity.stuck(time) => None,
            () = stopping => None,
        }
    }
}
