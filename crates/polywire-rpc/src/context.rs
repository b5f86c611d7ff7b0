//! The context of a call: everything except its input.

use std::fmt;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use http::header::AUTHORIZATION;
use http::{Extensions, HeaderMap, Method, Uri, request};
use polywire_protocol::ProtocolKind;
use polywire_protocol::scgi::Variables;
use tokio::time::Instant;

use crate::auth::Identity;
use crate::call::{CallHead, Deadline};
use crate::peer::Peer;

/// The context of a call: the peer, the caller's identity, the protocol, headers and the deadline.
///
/// Cloning is cheap. Each call of a multicall has its own clone.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) head: Head,
    pub(crate) peer: Peer,
    pub(crate) protocol: ProtocolKind,
    /// The index of the protocol in `Engine::protocols`. Over frames it has no meaning and is 0.
    pub(crate) mount: u32,
    pub(crate) deadline: Deadline,
    /// The caller, if the server has authenticators.
    pub(crate) identity: Option<Identity>,
    /// The head including credentials, for the keys of rate limits per caller. None if `head` has not been changed.
    pub(crate) head_with_secrets: Option<Head>,
}

/// The shared head of a call.
///
/// Most calls over frames have no head and use a static empty one. It is not reference-counted, so that threads do not
/// contend for a counter.
#[derive(Clone, Default)]
pub(crate) struct Head(Option<Arc<request::Parts>>);

/// The head of calls without one.
static EMPTY: LazyLock<request::Parts> = LazyLock::new(|| http::Request::new(()).into_parts().0);

impl Head {
    /// Clones the head if it is shared.
    pub(crate) fn make_mut(&mut self) -> &mut request::Parts {
        let own = self.0.get_or_insert_with(|| Arc::new(EMPTY.clone()));
        Arc::make_mut(own)
    }
}

impl From<Arc<request::Parts>> for Head {
    fn from(head: Arc<request::Parts>) -> Self {
        Self(Some(head))
    }
}

impl Deref for Head {
    type Target = request::Parts;

    fn deref(&self) -> &request::Parts {
        self.0.as_deref().unwrap_or_else(|| &EMPTY)
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The id of a call, in the extensions of its head.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

impl Context {
    /// Removes the credentials of an authenticated call, which handlers do not need.
    pub(crate) fn remove_credentials(&mut self) {
        if self.head.headers.contains_key(AUTHORIZATION) {
            self.head_with_secrets = Some(self.head.clone());
            let head = self.head.make_mut();
            head.headers.remove(AUTHORIZATION);
            if let Some(variables) = head.extensions.get_mut::<Variables>() {
                variables.remove("HTTP_AUTHORIZATION");
            }
        }
    }

    /// The input of authenticators and rate limits, for a call to this target.
    pub(crate) fn call_head<'a>(&'a self, target: &'a str) -> CallHead<'a> {
        let head = self.head_with_secrets.as_ref().unwrap_or(&self.head);
        CallHead::new(&self.peer, &head.headers, target)
    }

    /// The address of the peer, if the transport has addresses.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer.address()
    }

    /// The peer as known by the transport: the user and group of a process at a Unix socket, or the TLS certificate.
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

    /// The id of the call, which the response contains, if
    /// [`ServerBuilder::request_ids`](crate::ServerBuilder::request_ids) is enabled.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        let id = self.head.extensions.get::<RequestId>();
        id.map(|RequestId(id)| id.as_str())
    }

    /// The authenticated caller: by an [authenticator](crate::auth) of the server, or by a layer around HTTP requests.
    #[must_use]
    pub fn identity(&self) -> Option<&Identity> {
        let own = self.identity.as_ref();
        own.or_else(|| self.head.extensions.get::<Identity>())
    }

    /// The name of the authenticated caller.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.identity().map(Identity::name)
    }

    /// The time at which the server drops the handler: the deadline of the caller, or the limit
    /// [`Timeouts::handler`](crate::Timeouts) of the server, whichever is earlier. None for calls without either.
    ///
    /// Calls over frames carry a deadline. A request over HTTP has one if it has the header `polywire-timeout-ms`: the
    /// number of milliseconds, 1 to 8 digits, that the caller waits for the response.
    ///
    /// A handler uses it to skip work that would end too late, and as the deadline of calls that it makes.
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_rpc::frames::Client;
    /// use polywire_rpc::{Context, Methods, Server};
    /// use tokio::time::Instant;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let methods = Methods::new().method("Left", |(): (), context: Context| async move {
    ///     let left = context.deadline()?.saturating_duration_since(Instant::now());
    ///     Some(left.as_secs_f64())
    /// });
    /// # let server = Server::methods(methods).frames(true).build()?;
    /// # let running = server.listen("127.0.0.1:0".parse()?).await?;
    /// # let url = format!("tcp://{}", running.address());
    /// let client = Client::connect(&url).await?.with_deadline(Duration::from_secs(5));
    /// let left: Option<f64> = client.call("Left", ()).await?;
    /// assert!(left.is_some_and(|seconds| seconds <= 5.0));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline.instant()
    }

    /// The extensions that layers have set for the handler.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.head.extensions
    }

    /// The extensions, for layers that pass data to the handler.
    #[must_use]
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.head.make_mut().extensions
    }
}
