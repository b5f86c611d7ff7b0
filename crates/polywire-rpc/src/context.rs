//! What a handler knows about its call besides the input.

use std::net::SocketAddr;
use std::sync::Arc;

use http::{Extensions, HeaderMap, Method, Uri, request};
use polywire_protocol::ProtocolKind;

use crate::layers::User;
use crate::server::Peer;

/// The circumstances of a call: who calls, over what, with which head.
///
/// Cloning counts up: the calls of a multicall have one each.
#[derive(Clone, Debug)]
pub struct Context {
    /// Behind a pointer, since it is large and handed on many times.
    pub(crate) head: Arc<request::Parts>,
    pub(crate) peer: Peer,
    pub(crate) protocol: ProtocolKind,
    /// The place of that protocol among those of the server.
    pub(crate) mount: usize,
}

/// The id of a call, among the extensions of its head.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

impl Context {
    /// The caller's address, where the transport has one.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer.address()
    }

    /// All that the transport knows of the caller: of a process at a Unix socket
    /// its user and group, of a peer over TLS its certificate.
    #[must_use]
    pub const fn caller(&self) -> &Peer {
        &self.peer
    }

    /// The protocol of the call.
    #[must_use]
    pub const fn protocol(&self) -> ProtocolKind {
        self.protocol
    }

    /// The headers of the request.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The method of the request.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.head.method
    }

    /// The target of the request.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.head.uri
    }

    /// The id of the call that its answer tells the caller, where the server makes one
    /// ([`ServerBuilder::request_ids`](crate::ServerBuilder::request_ids)).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        let id = self.head.extensions.get::<RequestId>();
        id.map(|RequestId(id)| id.as_str())
    }

    /// The name of the user who calls, where a layer has made sure of it:
    /// [`BasicAuth`](crate::layers::BasicAuth) does.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        let user = self.head.extensions.get::<User>();
        user.map(|User(name)| &**name)
    }

    /// What layers have left for the handler.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.head.extensions
    }

    /// What layers leave for the handler.
    #[must_use]
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut Arc::make_mut(&mut self.head).extensions
    }
}
