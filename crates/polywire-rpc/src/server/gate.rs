//! What turns requests and connections away before they cost anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ORIGIN, RETRY_AFTER};
use http::{HeaderValue, Method, Response, StatusCode, request};
use polywire_codec::xmlrpc::code;
use polywire_frame::{Flags, Header, Kind, PREFACE, Reason};
use polywire_protocol::{Fault, FaultKind, ProtocolKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::app::App;
use super::byte_stream::ByteStream;
use super::faults::log_internal;
use super::pages::unclaimed;
use super::peer::Peer;
use super::response::{HttpResponse, ResponseBody};
use crate::call::CallHead;
use crate::call::admission::{RateScope, Rejection};
use crate::layers::{Callers, Connected, CrossOrigin, Firewall};

const FOREIGN: &str = "a web page of another origin may not call this (CrossOrigin::allow)";

/// Stands before a server that has limits of this kind.
pub(super) struct Gate {
    pub(super) firewall: Option<Firewall>,
    pub(super) cross_origin: Option<CrossOrigin>,
    pub(super) callers: Vec<Callers>,
    pub(super) calls: Option<Calls>,
}

impl Gate {
    /// Counts a request, or rejects it.
    fn request(&self, head: &CallHead<'_>) -> Result<(), Fault> {
        if let Some(firewall) = &self.firewall {
            let limited = |time| Rejection::RateLimited(RateScope::Address, time).fault();
            firewall.request(head.peer()).map_err(limited)?;
        }
        self.callers
            .iter()
            .try_for_each(|callers| callers.request(head))
    }
}

/// How many calls may begin.
pub(super) struct Calls {
    limit: usize,
    left: Arc<AtomicUsize>,
}

impl Calls {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            left: Arc::new(AtomicUsize::new(limit)),
        }
    }

    fn begin(&self) -> Option<InFlight> {
        let less = |left: usize| left.checked_sub(1);
        // A count and nothing else: no other memory depends on its order.
        let begun = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        begun.ok().map(|_| InFlight(Arc::clone(&self.left)))
    }
}

/// A call that counts until this is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<AtomicUsize>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl App {
    /// Lets a connection in, which counts as long as what this returns is there.
    pub(super) fn connect(&self, peer: &Peer) -> Result<Option<Connected>, Rejection> {
        let firewall = self.gate.as_ref().and_then(|gate| gate.firewall.as_ref());
        firewall.map(|firewall| firewall.connect(peer)).transpose()
    }

    /// Lets a request in, or answers it. It takes its head only if it answers it.
    #[inline]
    pub(super) fn admit(
        &self,
        head: &request::Parts,
        peer: &Peer,
    ) -> Result<Option<InFlight>, Box<HttpResponse>> {
        match &self.gate {
            None => Ok(None),
            Some(gate) => self.admit_through(gate, head, peer),
        }
    }

    fn admit_through(
        &self,
        gate: &Gate,
        head: &request::Parts,
        peer: &Peer,
    ) -> Result<Option<InFlight>, Box<HttpResponse>> {
        let call = CallHead::new(peer, &head.headers, head.uri.path());
        if let Err(fault) = gate.request(&call) {
            let mut response = self.shed(head, &fault);
            if fault.kind() == FaultKind::Overloaded {
                *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            }
            return Err(Box::new(response));
        }
        if let Some(cross_origin) = &gate.cross_origin
            && cross_origin.is_foreign(head)
            && let Some(response) = self.refuse_foreign(head)
        {
            return Err(Box::new(response));
        }
        let Some(calls) = &gate.calls else {
            return Ok(None);
        };
        if let Some(begun) = calls.begin() {
            return Ok(Some(begun));
        }
        // Who watches a busy server has to see how busy it is.
        if self.pages.is_some() && head.uri.path().starts_with("/_polywire/") {
            return Ok(None);
        }
        let fault = Rejection::ServerCallLimit(calls.limit).fault();
        Err(Box::new(self.shed(head, &fault)))
    }

    /// Lets one more call of a request in that has several, each of which counts as a
    /// request: who is held to ten guesses shall not make a thousand in one message.
    pub(crate) fn admit_more(&self, head: &CallHead<'_>) -> Result<(), Fault> {
        let Some(gate) = &self.gate else {
            return Ok(());
        };
        gate.request(head)
    }

    /// Lets a call in that has no head of HTTP.
    #[inline]
    pub(super) fn admit_call(&self, head: &CallHead<'_>) -> Result<Option<InFlight>, Fault> {
        let Some(gate) = &self.gate else {
            return Ok(None);
        };
        self.admit_more(head)?;
        let Some(calls) = &gate.calls else {
            return Ok(None);
        };
        let too_many = || Rejection::ServerCallLimit(calls.limit).fault();
        calls.begin().map(Some).ok_or_else(too_many)
    }

    /// The answer to a call that is not begun, in the caller's wire.
    #[cold]
    fn shed(&self, head: &request::Parts, fault: &Fault) -> HttpResponse {
        self.refuse(head, fault).map(ResponseBody::from)
    }

    /// The answer to what a page of another origin calls; `None` if it may, since it changes
    /// nothing.
    #[cold]
    fn refuse_foreign(&self, head: &request::Parts) -> Option<HttpResponse> {
        let protocol = self.mounts.detect(&mut head.clone());
        // By definition, and by the model of who has made it.
        let safe = matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let by_query = |kind| matches!(kind, ProtocolKind::AwsQuery | ProtocolKind::Ec2Query);
        if safe && !protocol.is_some_and(|at| by_query(self.mounts.protocols[at].kind())) {
            return None;
        }
        tracing::debug!(origin = ?head.headers.get(ORIGIN), "a page of another origin was turned away");
        let fault = Fault::new(FaultKind::Forbidden, FOREIGN);
        let fault = fault.with_code(code::INVALID_REQUEST);
        Some(self.refuse_by(protocol, &fault).map(ResponseBody::from))
    }

    /// The response to a request that is rejected by its head: in its protocol, or as text if it has none. The status is
    /// that of the fault in all protocols, since proxies and callers without the protocol know nothing else.
    #[cold]
    pub(super) fn refuse(&self, head: &request::Parts, fault: &Fault) -> Response<Bytes> {
        self.refuse_by(self.mounts.detect(&mut head.clone()), fault)
    }

    fn refuse_by(&self, protocol: Option<usize>, fault: &Fault) -> Response<Bytes> {
        let mut response = match protocol {
            Some(protocol) => self.fault(protocol, None, fault),
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

/// Makes an answer that says in its own wire that the server is overloaded say so
/// to proxies and balancers too, which know HTTP and nothing else.
pub(super) fn overloaded(response: &mut Response<Bytes>) {
    let status = response.status_mut();
    if !status.is_server_error() && *status != StatusCode::TOO_MANY_REQUESTS {
        *status = StatusCode::SERVICE_UNAVAILABLE;
    }
    let headers = response.headers_mut();
    let soon = HeaderValue::from_static("1");
    headers.entry(RETRY_AFTER).or_insert(soon);
}

/// What connections that are one too many are told over HTTP.
pub(super) const BUSY_HTTP: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    Retry-After: 1\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 43\r\n\
    Connection: close\r\n\r\n\
    Too many connections are open, try again.\r\n";

/// The same over SCGI.
pub(super) const BUSY_SCGI: &[u8] = b"Status: 503 Service Unavailable\r\n\
    Retry-After: 1\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 43\r\n\r\n\
    Too many connections are open, try again.\r\n";

/// How long a peer has to show what it speaks, before it is told so in HTTP.
const SPEAKS: Duration = Duration::from_millis(100);

/// The same over frames.
fn busy_frames() -> Vec<u8> {
    let fault = Rejection::TooManyConnections.fault();
    let words = fault.message();
    let goaway = Header {
        length: words.len() as u32,
        kind: Kind::GOAWAY,
        flags: Flags::NONE,
        code: Reason::FULL.0,
        id: 0,
        value: 0,
    };
    [&PREFACE[..], &goaway.bytes(), words.as_bytes()].concat()
}

/// Turns connections away.
pub(super) struct Door {
    words: &'static [u8],
    /// Peers may speak frames too.
    frames: bool,
    places: Arc<Semaphore>,
}

impl Door {
    pub(super) fn new(words: &'static [u8], frames: bool) -> Self {
        Self {
            words,
            frames,
            places: Arc::new(Semaphore::new(64)),
        }
    }

    /// Says why, and ends the connection. One with unread bytes would be reset
    /// and its peer would not see the words, so what it sends is read for a
    /// moment; but not for more than a few at a time.
    pub(super) fn refuse(&self, mut stream: ByteStream, peer: &Peer, why: Rejection) {
        tracing::debug!(?peer, ?why, "a connection was rejected");
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return;
        };
        // A handshake would cost more than the connection.
        #[cfg(feature = "tls")]
        if matches!(stream, ByteStream::Tls(_)) {
            return;
        }
        let (words, frames) = (self.words, self.frames);
        tokio::spawn(async move {
            let _place: OwnedSemaphorePermit = place;
            let end = async {
                let mut first = [0];
                if frames {
                    // Who speaks frames begins at once. All others are told in HTTP.
                    let _ = tokio::time::timeout(SPEAKS, stream.read(&mut first)).await;
                }
                match first == PREFACE[..1] {
                    true => stream.write_all(&busy_frames()).await?,
                    false => stream.write_all(words).await?,
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
    fn words_have_their_length() {
        for words in [BUSY_HTTP, BUSY_SCGI] {
            let words = std::str::from_utf8(words).unwrap();
            let (head, body) = words.split_once("\r\n\r\n").unwrap();
            assert!(
                head.contains(&format!("Content-Length: {}\r\n", body.len()))
                    || head.ends_with(&format!("Content-Length: {}", body.len())),
                "{}",
                body.len()
            );
        }
    }
}
