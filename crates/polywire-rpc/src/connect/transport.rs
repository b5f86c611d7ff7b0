//! Requests and responses of HTTP and SCGI, over pooled connections.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
#[cfg(feature = "tls")]
use http::HeaderMap;
use http::header::{EXPECT, PROXY_AUTHORIZATION};
use http::{Extensions, HeaderValue, Request, Response, StatusCode, response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::{CaptureConnection, Connected, capture_connection};
use hyper_util::client::legacy::{self, Client as Pool};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use polywire_protocol::PayloadStream;
use polywire_schema::{ByteStream, StreamError, StreamErrorKind};

use super::dial::{ConnectOptions, Dialer};
#[cfg(feature = "tls")]
use super::proxy::Proxy;
use super::stream::{ConnectionError, ConnectionInfo};
use super::url::{ServerUrl, UrlError, Wire};
use super::{Step, TransportError, scgi};
use crate::call::{CallTimeout, Deadline};
use crate::payload::{Gate, IncomingStream, OutgoingBody, Progress, ReceiveLimits};

/// How long an unused connection is kept. Many servers, ours included, close it after 30 seconds. A client that closes
/// it first never writes into a closed one.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(25);
/// The maximum number of unused connections.
const IDLE_CONNECTIONS: usize = 100;
/// The longest time that a connection is kept. A clock cannot represent every `Duration`.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Requests to one server. Clones share connections.
#[derive(Clone)]
pub(crate) struct Transport {
    dialer: Dialer,
    pool: Pool<Dialer, OutgoingBody>,
    /// Whether all connections use HTTP/2.
    http2: bool,
    expect_continue_from: Option<u64>,
    /// For a proxy that receives the requests.
    proxy_authorization: Option<HeaderValue>,
}

impl Transport {
    /// Connections are made when requests need them.
    pub(crate) fn new(url: ServerUrl, options: &ConnectOptions) -> Result<Self, UrlError> {
        let dialer = Dialer::new(url, options)?;
        let forwarding = dialer.forwarding();
        let credentials = forwarding.and_then(|hop| hop.credentials.as_ref());
        let pool = Pool::builder(TokioExecutor::new())
            .pool_idle_timeout(options.idle_timeout.min(YEAR))
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .http2_only(options.http2)
            .build(dialer.clone());
        Ok(Self {
            proxy_authorization: credentials.map(|credentials| credentials.basic()),
            http2: options.http2,
            expect_continue_from: options.expect_continue_from.filter(|_| !options.http2),
            dialer,
            pool,
        })
    }

    pub(crate) fn url(&self) -> &ServerUrl {
        self.dialer.url()
    }

    /// Sends a request with an absolute URL and reads its response, whose body may have up to
    /// `limit` bytes.
    ///
    /// The body is the [`PayloadStream`] of the request, if it has one. Then the timeout starts again with each piece.
    /// If `is_stream` returns true for the head of the response, its body is not read, but becomes its
    /// [`PayloadStream`]. Then the timeout is the longest time without a byte.
    ///
    /// Not an `async fn`, whose body is compiled again in each crate that awaits it: hyper's client
    /// took a fifth of the build time of the program.
    #[inline(never)]
    pub(crate) fn exchange<'a>(
        &'a self,
        request: Request<Bytes>,
        limit: usize,
        timeout: CallTimeout,
        is_stream: Option<&'a (dyn Fn(&response::Parts) -> bool + Sync)>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, TransportError>> + Send + 'a>> {
        Box::pin(self.send(request, limit, timeout, is_stream))
    }

    async fn send(
        &self,
        mut request: Request<Bytes>,
        limit: usize,
        timeout: CallTimeout,
        is_stream: Option<&(dyn Fn(&response::Parts) -> bool + Sync)>,
    ) -> Result<Response<Bytes>, TransportError> {
        if self.url().wire == Wire::Scgi {
            return scgi::exchange(&self.dialer, request, limit, timeout).await;
        }
        if let Some(value) = &self.proxy_authorization {
            let headers = request.headers_mut();
            headers.insert(PROXY_AUTHORIZATION, value.clone());
        }
        let gate = self.expect_continue(&mut request);
        let (mut request, progress) = with_body(request, gate.as_ref());
        let captured = capture_connection(&mut request);
        let answer = async {
            let response = self.pool.request(request).await;
            let response = response.map_err(|error| self.failed(&error))?;
            let (mut head, body) = response.into_parts();
            if let Some(gate) = &gate {
                match head.status.is_success() {
                    true => gate.open(),
                    false => gate.reject(),
                }
            }
            if is_stream.is_some_and(|is_stream| is_stream(&head)) {
                let address = known(&captured);
                let stream = self.receive(body, timeout, address.as_deref());
                head.extensions.insert(PayloadStream(stream));
                return Ok(Response::from_parts(head, Bytes::new()));
            }
            let collected = Limited::new(body, limit).collect().await;
            if let Some(gate) = &gate {
                gate.close();
            }
            match collected {
                Ok(body) => Ok(Response::from_parts(head, body.to_bytes())),
                Err(error) => Err(self.broken(&*error, limit, known(&captured).as_deref())),
            }
        };
        // Pinned here, so that the inner future holds a pointer instead of a copy.
        let answer = match progress {
            None => timeout.timeout(pin!(answer)).await,
            Some(progress) => {
                let guard = CancelGuard(Some(&captured).filter(|_| !self.http2));
                let answer = progress.timeout(timeout, pin!(answer)).await;
                if answer.is_some() {
                    guard.disarm();
                }
                match (answer, progress.error()) {
                    (Some(Err(_)), Some(error)) => {
                        Some(Err(self.error(Step::Write).with_source(error)))
                    }
                    (answer, _) => answer,
                }
            }
        };
        match answer {
            Some(answer) => answer,
            None => Err(match known(&captured) {
                Some(known) => self.error(Step::Read).at(&known.address),
                None => self.error(Step::Connect),
            }
            .past_deadline(timeout.total())),
        }
    }

    /// Asks the server whether it wants the body, if that is a long stream. The signature does not cover this header.
    fn expect_continue(&self, request: &mut Request<Bytes>) -> Option<Gate> {
        let PayloadStream(stream) = request.extensions().get()?;
        if stream.len()? < self.expect_continue_from? || request.headers().contains_key(EXPECT) {
            return None;
        }
        let value = HeaderValue::from_static("100-continue");
        request.headers_mut().insert(EXPECT, value);
        let gate = Gate::new();
        let own = gate.clone();
        hyper::ext::on_informational(request, move |response| {
            if response.status() == StatusCode::CONTINUE {
                own.open();
            }
        });
        Some(gate)
    }

    /// The stream of a response.
    fn receive(
        &self,
        body: Incoming,
        timeout: CallTimeout,
        known: Option<&ConnectionInfo>,
    ) -> ByteStream {
        let limits = ReceiveLimits {
            idle: timeout.total().min(YEAR),
            deadline: Deadline::NONE,
            bytes: u64::MAX,
        };
        let own = self.clone();
        let address = address(known).to_owned();
        let body = body.map_err(move |error| {
            let error = own.cause(&error, None).at(&address);
            StreamError::new(StreamErrorKind::Interrupted).with_source(error)
        });
        IncomingStream::stream(body, limits)
    }

    fn error(&self, step: Step) -> TransportError {
        TransportError::new(self.url().shown(), step)
    }

    /// Converts an error of the pool.
    #[cold]
    fn failed(&self, error: &legacy::Error) -> TransportError {
        let mut extensions = Extensions::new();
        if let Some(info) = error.connect_info() {
            info.get_extras(&mut extensions);
        }
        let known = extensions
            .get::<Arc<ConnectionInfo>>()
            .map(|known| &**known);
        self.cause(error, known)
    }

    /// Converts an error of reading a body.
    #[cold]
    fn broken(
        &self,
        error: &(dyn std::error::Error + Send + Sync + 'static),
        limit: usize,
        known: Option<&ConnectionInfo>,
    ) -> TransportError {
        if error.downcast_ref::<LengthLimitError>().is_some() {
            return too_large(self.error(Step::Read), limit).at(address(known));
        }
        self.cause(error, known)
    }

    fn cause(
        &self,
        error: &(dyn std::error::Error + 'static),
        known: Option<&ConnectionInfo>,
    ) -> TransportError {
        let mut next = Some(error);
        let mut failure = self.error(Step::Read).at(address(known));
        let mut last = error;
        while let Some(error) = next {
            if let Some(own) = error.downcast_ref::<TransportError>() {
                return own.clone();
            }
            if let Some(own) = error.downcast_ref::<ConnectionError>() {
                let step = own.step;
                failure = self.error(step).at(address(known));
            }
            if let Some(own) = error.downcast_ref::<hyper::Error>() {
                if own.is_incomplete_message() {
                    let reason = "the server closed the connection before its answer had come";
                    failure = failure.because(reason);
                } else if own.is_parse() {
                    failure = failure.invalid_response();
                    let tls = self.url().wire == Wire::Http { tls: true };
                    failure = failure.because(match tls {
                        true => "what came is no HTTP",
                        false => "what came is no HTTP; the server may want https",
                    });
                }
            }
            last = error;
            next = error.source();
        }
        let stale = known.is_some_and(ConnectionInfo::is_stale);
        // The innermost error is the most precise. The outer ones only name crates.
        failure
            .with_source(SourceText::of(last))
            .on_stale_connection(stale)
    }
}

/// Moves the body or the stream of a request into its body. Returns the progress of a stream.
fn with_body(
    mut request: Request<Bytes>,
    gate: Option<&Gate>,
) -> (Request<OutgoingBody>, Option<Progress>) {
    match request.extensions_mut().remove::<PayloadStream>() {
        None => (request.map(OutgoingBody::from), None),
        Some(PayloadStream(stream)) => {
            let progress = Progress::new();
            let stream = progress.watch(stream);
            let stream = match gate {
                Some(gate) => gate.guard(stream),
                None => stream,
            };
            (
                request.map(|_| OutgoingBody::Stream(stream)),
                Some(progress),
            )
        }
    }
}

/// Sends a GET request over a connection of its own, for programs that fetch a model from the server that they call.
#[cfg(feature = "tls")]
pub async fn get(
    url: &str,
    headers: HeaderMap,
    tls: crate::tls::ClientTls,
    proxy: Option<Proxy>,
    limit: usize,
    deadline: Duration,
) -> Result<Response<Bytes>, Box<dyn std::error::Error + Send + Sync>> {
    let url = ServerUrl::for_http(url)?;
    let options = ConnectOptions {
        tls,
        proxy,
        ..ConnectOptions::new()
    };
    let uri = http::Uri::builder()
        .scheme(url.http_scheme())
        .authority(url.authority.clone())
        .path_and_query(url.target_or("/"))
        .build()?;
    let mut request = Request::get(uri).body(Bytes::new())?;
    *request.headers_mut() = headers;
    let transport = Transport::new(url, &options)?;
    let answer = transport.exchange(request, limit, CallTimeout::start(deadline), None);
    Ok(answer.await?)
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transport").field(self.url()).finish()
    }
}

pub(crate) fn too_large(error: TransportError, limit: usize) -> TransportError {
    error.invalid_response().because(format!(
        "the answer has more than {limit} bytes, the limit that `Limits::bytes` sets"
    ))
}

/// Ends the connection of a request whose body is a stream, if the call is cancelled.
struct CancelGuard<'a>(Option<&'a CaptureConnection>);

impl CancelGuard<'_> {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        let Some(captured) = self.0 else { return };
        // HTTP/2 resets the stream.
        let is_http2 = captured
            .connection_metadata()
            .as_ref()
            .is_some_and(Connected::is_negotiated_h2);
        if let Some(known) = known(captured).filter(|_| !is_http2) {
            known.cancel();
        }
    }
}

fn address(known: Option<&ConnectionInfo>) -> &str {
    known.map_or("", |known| &known.address)
}

/// The connection of a request, if it has one.
fn known(captured: &CaptureConnection) -> Option<Arc<ConnectionInfo>> {
    let mut extensions = Extensions::new();
    let connected = captured.connection_metadata();
    Connected::get_extras(connected.as_ref()?, &mut extensions);
    extensions.remove()
}

/// The text of an error that cannot be moved, with its kind if it is the system's.
#[derive(Debug)]
struct SourceText(String);

impl SourceText {
    fn of(error: &(dyn std::error::Error + 'static)) -> Box<dyn std::error::Error + Send + Sync> {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            let copy = match io.raw_os_error() {
                Some(code) => std::io::Error::from_raw_os_error(code),
                None => std::io::Error::new(io.kind(), io.to_string()),
            };
            return Box::new(copy);
        }
        Box::new(Self(error.to_string()))
    }
}

impl fmt::Display for SourceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SourceText {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_connections_are_closed_before_our_servers_close_them() {
        let server = crate::server::Timeouts::DEFAULT.head;
        assert!(ConnectOptions::new().idle_timeout < server);
    }
}
