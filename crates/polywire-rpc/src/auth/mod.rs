//! Authentication of callers, on every wire, before a body or payload is decoded.
//!
//! [`ServerBuilder::authenticate`](crate::ServerBuilder::authenticate) adds an [`Authenticator`]. It sees the
//! [`CallHead`] of each call: the peer, the headers or metadata, and the target. Several authenticators are
//! alternatives: the first that accepts the caller decides. If none does, the call ends with status 401 and
//! `WWW-Authenticate`, or 403, in the protocol of the caller; over frames with `unauthenticated` or `forbidden`. The
//! status is 403 also if no authenticator has a [challenge](Authenticator::challenge): certificates, Unix users and
//! functions have none, and a response with status 401 must have one (RFC 9110, section 15.5.2).
//!
//! | authenticator | accepts | name of the caller |
//! |---|---|---|
//! | [`BasicAuth`] | a user name and password (RFC 7617) | the user name |
//! | [`BearerAuth`] | a token (RFC 6750) | the name that belongs to the token |
//! | [`ClientCertificateAuth`] | a TLS client certificate | the name that you give it, or its SHA-256 fingerprint |
//! | [`UnixUserAuth`] | a process at a Unix socket, by user id | `uid:1000`, or the name that you give it |
//! | a function of [`CallHead`] | callers that the function accepts | the name that it returns |
//!
//! The order of checks for a call over HTTP is: limits of the [`Firewall`](crate::layers::Firewall) and
//! [`rate_per_caller`](crate::ServerBuilder::rate_per_caller), pages of other origins, calls in progress, layers around HTTP
//! requests, authentication, layers around heads, decoding. Over frames, for each call: deadline
//! and overload, the same rates and calls in progress, authentication, decoding. Malformed requests are rejected before
//! authentication. Pages, requests without a protocol and WebSocket upgrade requests are checked too, except upgrades to
//! frames, whose calls are checked.
//!
//! ```
//! use polywire_rpc::auth::{BasicAuth, UnixUserAuth};
//! use polywire_rpc::frames::Client;
//! use polywire_rpc::{Context, Methods, Server};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let methods = Methods::new().method("Name", |(): (), context: Context| async move {
//!     context.user().map(str::to_owned)
//! });
//! let server = Server::methods(methods)
//!     .frames(true)
//!     // Processes of user 0 need no password.
//!     .authenticate(UnixUserAuth::uids([0]))
//!     .authenticate(BasicAuth::users("kitchen", [("ada", "correct horse")]))
//!     .build()?;
//! let running = server.listen("127.0.0.1:0".parse()?).await?;
//!
//! let client = Client::connect(&format!("tcp://{}", running.address())).await?;
//! assert!(client.call::<Option<String>>("Name", ()).await.is_err());
//! let client = client.with_metadata("authorization", "Basic YWRhOmNvcnJlY3QgaG9yc2U=");
//! assert_eq!(client.call::<Option<String>>("Name", ()).await?.as_deref(), Some("ada"));
//! # Ok(()) }
//! ```

mod basic;
mod bearer;
#[cfg(feature = "tls")]
mod certificate;
mod secret;
mod unix;

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, poll_fn, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use http::header::AUTHORIZATION;
use http::{Extensions, HeaderMap, HeaderValue};
use polywire_protocol::{Fault, FaultKind};

pub use basic::BasicAuth;
pub use bearer::BearerAuth;
#[cfg(feature = "tls")]
pub use certificate::ClientCertificateAuth;
pub use secret::constant_time_eq;
pub use unix::UnixUserAuth;

pub use crate::call::CallHead;
use crate::call::catch_panic;
use crate::peer::Peer;

/// Decides from the head of a call who the caller is.
///
/// Functions of [`CallHead`] that return an [`Authentication`], or a `Result<Identity, AuthError>`, are authenticators.
///
/// ```
/// use polywire_rpc::auth::{AuthError, Authenticator, CallHead, Identity, constant_time_eq};
///
/// fn api_key(head: &CallHead<'_>) -> Result<Identity, AuthError> {
///     let key = head.headers().get("x-api-key").ok_or(AuthError::MissingCredentials)?;
///     match constant_time_eq(key, "secret") {
///         true => Ok(Identity::new("kettle")),
///         false => Err(AuthError::InvalidCredentials),
///     }
/// }
/// fn is_authenticator(_: impl Authenticator) {}
/// is_authenticator(api_key);
/// ```
pub trait Authenticator: Send + Sync + 'static {
    /// Authenticates the caller. It must not block. If the result needs time, it returns [`Authentication::Pending`].
    fn authenticate(&self, head: &CallHead<'_>) -> Authentication;

    /// Returns the challenge for `WWW-Authenticate` (RFC 9110, section 11.6.1) of responses with status 401. If no
    /// authenticator of a server has one, the status is 403.
    fn challenge(&self) -> Option<HeaderValue> {
        None
    }
}

impl<F, R> Authenticator for F
where
    F: Fn(&CallHead<'_>) -> R + Send + Sync + 'static,
    R: Into<Authentication>,
{
    fn authenticate(&self, head: &CallHead<'_>) -> Authentication {
        self(head).into()
    }
}

/// The result of an [`Authenticator`].
pub enum Authentication {
    /// The result is known.
    Ready(Result<Identity, AuthError>),
    /// The result comes later. The body of the call is not read meanwhile.
    Pending(AuthFuture),
}

/// The result of an authenticator that takes time. It is dropped when the call is cancelled or its deadline is exceeded.
pub type AuthFuture = Pin<Box<dyn Future<Output = Result<Identity, AuthError>> + Send>>;

impl Authentication {
    /// Creates a pending result from a future.
    pub fn pending(
        future: impl Future<Output = Result<Identity, AuthError>> + Send + 'static,
    ) -> Self {
        Self::Pending(Box::pin(future))
    }

    /// Polls a pending result once: most are ready at the first poll.
    fn poll_once(self) -> Self {
        let Self::Pending(mut future) = self else {
            return self;
        };
        // A pending future is polled again with the waker of its task.
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(result) => Self::Ready(result),
            Poll::Pending => Self::Pending(future),
        }
    }
}

impl From<Result<Identity, AuthError>> for Authentication {
    fn from(result: Result<Identity, AuthError>) -> Self {
        Self::Ready(result)
    }
}

impl fmt::Debug for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(result) => f.debug_tuple("Ready").field(result).finish(),
            Self::Pending(_) => f.write_str("Pending"),
        }
    }
}

/// The error of an [`Authenticator`].
#[derive(Clone, Debug, thiserror::Error)]
pub enum AuthError {
    /// The call has no credentials of this kind: status 401.
    #[error("authentication is required")]
    MissingCredentials,
    /// The credentials are wrong: status 401. The server logs it.
    #[error("the credentials are not valid")]
    InvalidCredentials,
    /// The caller is not allowed to call, whatever its credentials: status 403, with this message.
    #[error("{0}")]
    Forbidden(Cow<'static, str>),
    /// The call ends with this fault, such as an error that the service defines. The server logs it.
    #[error("{0}")]
    Fault(Box<Fault>),
}

/// An authenticated caller. [`Context::identity`](crate::Context::identity) returns it to handlers. Cloning is cheap.
///
/// A layer around HTTP requests that authenticates by itself puts it into the extensions of the request.
#[derive(Clone)]
pub struct Identity(Arc<Inner>);

struct Inner {
    name: Box<str>,
    extensions: Extensions,
    is_claimed: bool,
}

impl Identity {
    /// The caller with this name: a user, a key, a service.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self::with_extensions(name, Extensions::new())
    }

    /// The same with data for handlers, such as the claims of a token.
    #[must_use]
    pub fn with_extensions(name: impl Into<Box<str>>, extensions: Extensions) -> Self {
        Self(Arc::new(Inner {
            name: name.into(),
            extensions,
            is_claimed: false,
        }))
    }

    /// An identity that is verified with the body of the request, by a
    /// [`BodyFilter`](crate::server::BodyFilter) that [verifies callers](crate::server::BodyFilter::verifies_callers).
    ///
    /// The server passes the body to its handler only after it was read to its end. Such a caller can open no page, event
    /// stream or WebSocket, and calls nothing without such a filter. Layers around heads see the claimed name.
    #[must_use]
    pub fn claimed(name: impl Into<Box<str>>, extensions: Extensions) -> Self {
        Self(Arc::new(Inner {
            name: name.into(),
            extensions,
            is_claimed: true,
        }))
    }

    /// Whether the identity is verified with the body.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        self.0.is_claimed
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The data for handlers.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&self.name()).finish()
    }
}

/// The authenticators of a server.
#[derive(Default)]
pub(crate) struct Authenticators(Vec<Box<dyn Authenticator>>);

/// The result of all authenticators of a server.
pub(crate) enum AuthResult {
    Ready(Result<Identity, Fault>),
    Pending(Pin<Box<dyn Future<Output = Result<Identity, Fault>> + Send>>),
}

impl Authenticators {
    pub(crate) fn add(&mut self, authenticator: impl Authenticator) {
        self.0.push(Box::new(authenticator));
    }

    /// Whether calls need no authentication.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Authenticates the caller of a call. A panic of an authenticator is an internal fault.
    pub(crate) fn authenticate(&self, head: &CallHead<'_>) -> AuthResult {
        catch_panic(|| Ok(self.ask(head))).unwrap_or_else(|fault| AuthResult::Ready(Err(fault)))
    }

    fn ask(&self, head: &CallHead<'_>) -> AuthResult {
        let mut error = AuthError::MissingCredentials;
        let mut pending: Vec<AuthFuture> = Vec::new();
        for authenticator in &self.0 {
            match authenticator.authenticate(head).poll_once() {
                Authentication::Ready(Ok(identity)) if pending.is_empty() => {
                    return AuthResult::Ready(Ok(identity));
                }
                // An earlier one may accept the caller yet.
                Authentication::Ready(Ok(identity)) => {
                    pending.push(Box::pin(ready(Ok(identity))));
                    break;
                }
                Authentication::Ready(Err(other)) => error = error.or(other),
                Authentication::Pending(future) => pending.push(future),
            }
        }
        let peer = head.peer().clone();
        if pending.is_empty() {
            return AuthResult::Ready(Err(error.into_fault(&peer)));
        }
        AuthResult::Pending(Box::pin(async move {
            for mut future in pending {
                let polled = poll_fn(|context| {
                    catch_panic(|| Ok(future.as_mut().poll(context).map(Ok)))
                        .unwrap_or_else(|fault| Poll::Ready(Err(fault)))
                });
                match polled.await? {
                    Ok(identity) => return Ok(identity),
                    Err(other) => error = error.or(other),
                }
            }
            Err(error.into_fault(&peer))
        }))
    }

    /// The challenges for `WWW-Authenticate`.
    pub(crate) fn challenges(&self) -> impl Iterator<Item = HeaderValue> {
        self.0.iter().filter_map(|own| own.challenge())
    }
}

impl AuthError {
    /// Of the errors of two authenticators, the one that is reported.
    fn or(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Forbidden(_) | Self::Fault(_), _) | (_, Self::MissingCredentials) => self,
            _ => other,
        }
    }

    /// Logs the error, without the credentials: people type passwords into the field for the name.
    fn into_fault(self, peer: &Peer) -> Fault {
        if let Self::Fault(fault) = self {
            tracing::info!(?peer, error = %fault, "a call was not authenticated");
            return fault.before_handler();
        }
        let kind = match &self {
            Self::Forbidden(_) => FaultKind::Forbidden,
            _ => FaultKind::Unauthenticated,
        };
        match &self {
            Self::InvalidCredentials => tracing::info!(?peer, "invalid credentials"),
            other => tracing::debug!(?peer, error = %other, "a call was not authenticated"),
        }
        Fault::new(kind, self.to_string()).before_handler()
    }
}

/// The secret that a call sends with a scheme in `Authorization`. Unless `without_tls`, secrets over connections that
/// are not confidential are refused, right or wrong: they must not seem to work.
fn sent_secret<'h>(
    head: &'h CallHead<'_>,
    scheme: &str,
    without_tls: bool,
) -> Result<&'h [u8], AuthError> {
    if !without_tls && !is_confidential(head.peer()) {
        return Err(AuthError::Forbidden(Cow::Borrowed(
            "passwords and tokens are accepted only over TLS (danger_without_tls)",
        )));
    }
    credentials(head.headers(), scheme).ok_or(AuthError::MissingCredentials)
}

/// The credentials of a scheme in `Authorization` (RFC 9110, section 11.6.2). None if there are two such headers, since
/// it is not known which one counts.
fn credentials<'h>(headers: &'h HeaderMap, scheme: &str) -> Option<&'h [u8]> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let value = all.next()?.as_bytes();
    if all.next().is_some() {
        return None;
    }
    let (own, rest) = value.split_at_checked(scheme.len())?;
    let is_own = own.eq_ignore_ascii_case(scheme.as_bytes()) && rest.first() == Some(&b' ');
    is_own.then(|| rest.trim_ascii())
}

/// Whether secrets may be sent over the connection: it is encrypted, or does not leave this machine.
fn is_confidential(peer: &Peer) -> bool {
    peer.is_encrypted() || peer.is_local()
}
