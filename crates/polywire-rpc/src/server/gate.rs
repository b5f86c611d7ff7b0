//! Rejects requests and connections before their bodies are read.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::ORIGIN;
use http::{Method, Response, StatusCode, request};
use polywire_codec::xmlrpc::code;
use polywire_frame::{Flags, Header, Kind, PREFACE, Reason};
use polywire_protocol::{Fault, FaultKind, ProtocolKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::app::App;
use super::connection_stream::ConnectionStream;
use super::pages::unclaimed;
use super::response::{HttpResponse, ResponseBody};
use crate::call::admission::Rejection;
use crate::call::faults::{log_internal, overloaded};
use crate::call::{CallHead, CallLimit, InFlight};
use crate::layers::{ConnectionPermit, CrossOrigin};
use crate::peer::Peer;

const CROSS_ORIGIN_MESSAGE: &str =
    "a web page of another origin may not call this (CrossOrigin::allow)";

/// The limits that a server checks on the head of a request, besides the rates of its [`Engine`](crate::call::Engine).
pub(super) struct Gate {
    pub(super) cross_origin: Option<CrossOrigin>,
    pub(super) calls: Option<CallLimit>,
}

impl App {
    /// Counts a connection in the firewall, until the returned value is dropped, or rejects it.
    pub(super) fn connect(&self, peer: &Peer) -> Result<Option<ConnectionPermit>, Rejection> {
        let firewall = self.engine.rates.firewall.as_ref();
        firewall.map(|firewall| firewall.connect(peer)).transpose()
    }

    /// Counts a request in the rates and takes a permit of [`CallLimit`] for it, or returns the response that rejects it.
    #[inline]
    pub(super) fn check_limits(
        &self,
        head: &request::Parts,
        peer: &Peer,
    ) -> Result<Option<InFlight>, Box<HttpResponse>> {
        match &self.gate {
            None => Ok(None),
            Some(gate) => self.check_gate(gate, head, peer),
        }
    }

    fn check_gate(
        &self,
        gate: &Gate,
        head: &request::Parts,
        peer: &Peer,
    ) -> Result<Option<InFlight>, Box<HttpResponse>> {
        let call = CallHead::of_request(peer, head);
        if let Err(fault) = self.engine.rates.request(&call) {
            let mut response = self.shed(head, &fault);
            if fault.kind() == FaultKind::Overloaded {
                *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            }
            return Err(Box::new(response));
        }
        if let Some(cross_origin) = &gate.cross_origin
            && cross_origin.is_foreign(head)
            && let Some(response) = self.reject_cross_origin(head)
        {
            return Err(Box::new(response));
        }
        let Some(calls) = &gate.calls else {
            return Ok(None);
        };
        if let Some(in_flight) = calls.try_acquire() {
            return Ok(Some(in_flight));
        }
        // Monitoring must work while the server is overloaded.
        if self.pages.is_some() && head.uri.path().starts_with("/_polywire/") {
            return Ok(None);
        }
        let fault = Rejection::ServerCallLimit(calls.limit).fault();
        Err(Box::new(self.shed(head, &fault)))
    }

    /// Like `check_limits`, for a call that is not an HTTP request.
    #[inline]
    pub(super) fn check_call_limits(&self, head: &CallHead<'_>) -> Result<Option<InFlight>, Fault> {
        let Some(gate) = &self.gate else {
            return Ok(None);
        };
        self.engine.rates.request(head)?;
        let Some(calls) = &gate.calls else {
            return Ok(None);
        };
        let too_many = || Rejection::ServerCallLimit(calls.limit).fault();
        calls.try_acquire().map(Some).ok_or_else(too_many)
    }

    /// The response to a rejected request, in its protocol.
    #[cold]
    fn shed(&self, head: &request::Parts, fault: &Fault) -> HttpResponse {
        self.refuse(head, fault).map(ResponseBody::from)
    }

    /// The response to a request of a web page of another origin. `None` if the request is safe in the sense of RFC 9110.
    #[cold]
    fn reject_cross_origin(&self, head: &request::Parts) -> Option<HttpResponse> {
        let protocol = self.mounts.detect(&mut head.clone());
        // GET requests of the query protocols call any operation, so they are not safe.
        let safe = matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let by_query = |kind| matches!(kind, ProtocolKind::AwsQuery | ProtocolKind::Ec2Query);
        if safe && !protocol.is_some_and(|at| by_query(self.mounts.protocols[at].kind())) {
            return None;
        }
        tracing::debug!(origin = ?head.headers.get(ORIGIN), "a page of another origin was rejected");
        let fault = Fault::new(FaultKind::Forbidden, CROSS_ORIGIN_MESSAGE);
        let fault = fault.with_code(code::INVALID_REQUEST);
        Some(self.refuse_by(protocol, &fault).map(ResponseBody::from))
    }

    /// The response to a request that is rejected by its head: in its protocol, or as text without one. All protocols use
    /// the status of the fault, for proxies and clients that do not know the protocol.
    ///
    /// A response with status 401 must have a challenge (RFC 9110, section 15.5.2). If no authenticator has one, the
    /// status is 403: a client cannot authenticate by HTTP.
    #[cold]
    pub(super) fn refuse(&self, head: &request::Parts, fault: &Fault) -> Response<Bytes> {
        let protocol = self.mounts.detect(&mut head.clone());
        let unauthenticated = fault.kind() == FaultKind::Unauthenticated;
        if unauthenticated && self.authenticators.challenges().next().is_none() {
            let forbidden = Fault::new(FaultKind::Forbidden, fault.message());
            return self.refuse_by(protocol, &forbidden);
        }
        self.refuse_by(protocol, fault)
    }

    fn refuse_by(&self, protocol: Option<usize>, fault: &Fault) -> Response<Bytes> {
        let mut response = match protocol {
            Some(protocol) => self.engine.fault(protocol, None, fault),
            None => {
                log_internal(fault, "");
                let mut response = unclaimed();
                *response.body_mut() = format!("{}\n", fault.message()).into();
                response
            }
        };
        *response.status_mut() = fault.status();
        if fault.kind() == FaultKind::Overloaded {
            overloaded(&mut response);
        }
        response
    }
}

/// The response on a rejected HTTP connection.
pub(super) const BUSY_HTTP: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    Retry-After: 1\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 43\r\n\
    Connection: close\r\n\r\n\
    Too many connections are open, try again.\r\n";

/// The response on a rejected SCGI connection.
pub(super) const BUSY_SCGI: &[u8] = b"Status: 503 Service Unavailable\r\n\
    Retry-After: 1\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 43\r\n\r\n\
    Too many connections are open, try again.\r\n";

/// The time to wait for the first byte of a rejected connection, to distinguish frames from HTTP. After it, HTTP is
/// assumed.
const DETECTION_TIMEOUT: Duration = Duration::from_millis(100);

/// The bytes to send on a rejected connection with frames: a GOAWAY frame.
fn busy_frames() -> Vec<u8> {
    let fault = Rejection::TooManyConnections.fault();
    let message = fault.message();
    let goaway = Header {
        length: message.len() as u32,
        kind: Kind::GOAWAY,
        flags: Flags::NONE,
        code: Reason::FULL.0,
        id: 0,
        value: 0,
    };
    [&PREFACE[..], &goaway.bytes(), message.as_bytes()].concat()
}

/// Rejects connections with a response.
pub(super) struct ConnectionRejecter {
    response: &'static [u8],
    /// Whether the server offers frames.
    offers_frames: bool,
    permits: Arc<Semaphore>,
}

impl ConnectionRejecter {
    pub(super) fn new(response: &'static [u8], offers_frames: bool) -> Self {
        Self {
            response,
            offers_frames,
            permits: Arc::new(Semaphore::new(64)),
        }
    }

    /// Sends the response and closes the connection.
    ///
    /// A TCP connection with unread bytes is reset, and its peer may not receive the response. So up to 64 KiB are read and
    /// discarded, for at most a second. Beyond 64 such connections at a time, further ones are closed without a response.
    pub(super) fn reject(&self, mut stream: ConnectionStream, peer: &Peer, why: Rejection) {
        tracing::debug!(?peer, ?why, "a connection was rejected");
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            return;
        };
        // A TLS handshake would be too expensive.
        #[cfg(feature = "tls")]
        if matches!(stream, ConnectionStream::Tls(_)) {
            return;
        }
        let (response, offers_frames) = (self.response, self.offers_frames);
        tokio::spawn(async move {
            let _permit: OwnedSemaphorePermit = permit;
            let end = async {
                let mut first = [0];
                if offers_frames {
                    // Clients with frames send the preface at once.
                    let _ = tokio::time::timeout(DETECTION_TIMEOUT, stream.read(&mut first)).await;
                }
                match first == PREFACE[..1] {
                    true => stream.write_all(&busy_frames()).await?,
                    false => stream.write_all(response).await?,
                }
                stream.shutdown().await?;
                let mut rest = [0; 1024];
                for _ in 0..64 {
                    if stream.read(&mut rest).await? == 0 {
                        break;
                    }
                }
                std::io::Result::Ok(())
            };
            let _ = tokio::time::timeout(Duration::from_secs(1), end).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_length_is_correct() {
        for response in [BUSY_HTTP, BUSY_SCGI] {
            let response = std::str::from_utf8(response).unwrap();
            let (head, body) = response.split_once("\r\n\r\n").unwrap();
            assert!(
                head.contains(&format!("Content-Length: {}\r\n", body.len()))
                    || head.ends_with(&format!("Content-Length: {}", body.len())),
                "{}",
                body.len()
            );
        }
    }
}
