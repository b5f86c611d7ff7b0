//! What a handler knows about its call besides the input.

use std::net::SocketAddr;

use http::{Extensions, HeaderMap, Method, Uri, request};
use polywire_protocol::ProtocolKind;

/// The circumstances of a call: who calls, over what, with which head.
#[derive(Debug)]
pub struct Context {
    /// Boxed, since it is large and handed on many times.
    pub(crate) head: Box<request::Parts>,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) protocol: ProtocolKind,
}

/// The id of a call, among the extensions of its head.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

impl Context {
    /// The caller's address, where the transport has one.
    #[must_use]
    pub const fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// The protocol of the call.
    #[must_use]
    pub const fn protocol(&self) -> ProtocolKind {
        self.protocol
    }

    /// The headers of the request.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The method of the request.
    #[must_use]
    pub const fn method(&self) -> &Method {
        &self.head.method
    }

    /// The target of the request.
    #[must_use]
    pub const fn uri(&self) -> &Uri {
        &self.head.uri
    }

    /// The id of the call that its answer tells the caller, where the server makes one
    /// ([`ServerBuilder::request_ids`](crate::ServerBuilder::request_ids)).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        let id = self.head.extensions.get::<RequestId>();
        id.map(|RequestId(id)| id.as_str())
    }

    /// What layers have left for the handler.
    #[must_use]
    pub const fn extensions(&self) -> &Extensions {
        &self.head.extensions
    }

    /// What layers leave for the handler.
    #[must_use]
    pub const fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.head.extensions
    }
}
