//! The head of a call.

use http::{HeaderMap, request};

use crate::peer::Peer;

/// What is known of a call before its body or payload is read.
#[derive(Clone, Copy, Debug)]
pub struct CallHead<'a> {
    peer: &'a Peer,
    headers: &'a HeaderMap,
    target: &'a str,
    request: Option<&'a request::Parts>,
}

impl<'a> CallHead<'a> {
    pub(crate) const fn new(peer: &'a Peer, headers: &'a HeaderMap, target: &'a str) -> Self {
        Self {
            peer,
            headers,
            target,
            request: None,
        }
    }

    /// The head of a request over HTTP.
    pub(crate) fn of_request(peer: &'a Peer, head: &'a request::Parts) -> Self {
        Self {
            request: Some(head),
            ..Self::new(peer, &head.headers, head.uri.path())
        }
    }

    /// The head of the request, for calls over HTTP: with method and query as they were received. `None` over frames.
    #[must_use]
    pub const fn request(&self) -> Option<&'a request::Parts> {
        self.request
    }

    /// The other end of the connection: its address, its certificate, the process at a Unix socket.
    #[must_use]
    pub const fn peer(&self) -> &'a Peer {
        self.peer
    }

    /// The headers of a request over HTTP, or the metadata of a call over frames.
    #[must_use]
    pub const fn headers(&self) -> &'a HeaderMap {
        self.headers
    }

    /// The path of a request over HTTP; the name of the operation, method or topic over frames.
    #[must_use]
    pub const fn target(&self) -> &'a str {
        self.target
    }
}
