//! Names and passwords, by RFC 7617.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use subtle::{Choice, ConstantTimeEq};
use tower::{Layer, Service};

use super::text;
use crate::server::{HttpRequest, HttpResponse, HttpService, Peer};

/// Whether a name and a password belong together.
pub type CheckFuture<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// What knows the users. [`BasicAuth`] makes one of a function, or of a list.
pub trait Checker: Send + Sync + 'static {
    /// Whether this is the password of this user. An implementation compares
    /// passwords with [`same_secret`], or their hashes.
    fn check<'a>(&'a self, user: &'a str, password: &'a str) -> CheckFuture<'a>;
}

/// Who calls, as [`BasicAuth`] has checked it. Other layers can leave it among the
/// extensions of a request too; [`Context::user`](crate::Context::user) tells it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct User(pub Arc<str>);

/// A layer around HTTP requests that lets only users in.
///
/// Who has no name, or a wrong password, is answered `401` with the realm, before
/// anything of the request but its head is read.
///
/// A password is readable by everybody on the way unless the connection is
/// encrypted. So where it is not, and the caller is not on this machine (at a
/// loopback address or a Unix socket), the answer is `403`, whatever the password:
/// it must not seem to work. [`BasicAuth::danger_without_tls`] switches that off,
/// for where something else encrypts. A caller of which nothing is known, as in a
/// server that is mounted in another one which tells no
/// [`Peer`](crate::server::Peer), is not on this machine.
///
/// ```
/// use polywire_rpc::ServerBuilder;
/// use polywire_rpc::layers::BasicAuth;
///
/// fn protect(builder: ServerBuilder) -> ServerBuilder {
///     builder.http_layer(BasicAuth::users("kitchen", [("ada", "correct horse")]))
/// }
/// ```
#[derive(Clone)]
pub struct BasicAuth {
    challenge: HeaderValue,
    checker: Arc<dyn Checker>,
    plain: bool,
}

impl BasicAuth {
    /// Asks a checker. The realm is what people are shown when they are asked for
    /// their password.
    pub fn new(realm: &str, checker: impl Checker) -> Self {
        Self {
            challenge: challenge(realm),
            checker: Arc::new(checker),
            plain: false,
        }
    }

    /// Knows these users, by name and password. It takes as long whatever differs.
    pub fn users<N, P>(realm: &str, users: impl IntoIterator<Item = (N, P)>) -> Self
    where
        N: Into<String>,
        P: Into<String>,
    {
        let users = users.into_iter();
        let users = users.map(|(name, password)| (name.into(), password.into()));
        Self::new(realm, Users(users.collect()))
    }

    /// Asks a function. It runs where requests are served, so it must not block;
    /// what has to ask elsewhere is a [`Checker`].
    pub fn checking(
        realm: &str,
        check: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::new(realm, Function(check))
    }

    /// Takes passwords over connections that anybody on the way can read.
    #[must_use]
    pub const fn danger_without_tls(mut self) -> Self {
        self.plain = true;
        self
    }

    fn refused(&self) -> HttpResponse {
        let words = "A name and a password are needed here.\n";
        let mut response = text(StatusCode::UNAUTHORIZED, words);
        let headers = response.headers_mut();
        headers.insert(WWW_AUTHENTICATE, self.challenge.clone());
        response
    }
}

/// What asks for a name and a password.
fn challenge(realm: &str) -> HeaderValue {
    let mut value = String::from("Basic realm=\"");
    for letter in realm.chars().filter(|letter| !letter.is_control()) {
        if matches!(letter, '"' | '\\') {
            value.push('\\');
        }
        value.push(letter);
    }
    value.push_str("\", charset=\"UTF-8\"");
    let usual = HeaderValue::from_static("Basic realm=\"\", charset=\"UTF-8\"");
    HeaderValue::try_from(value).unwrap_or(usual)
}

/// Whether a secret is the one that it has to be, in a time that tells nothing but
/// the length of what was given.
///
/// ```
/// use polywire_rpc::layers::same_secret;
///
/// assert!(same_secret("correct horse", "correct horse"));
/// assert!(!same_secret("correct house", "correct horse"));
/// assert!(!same_secret("correct", "correct horse"));
/// assert!(same_secret("", ""));
/// ```
#[must_use]
pub fn same_secret(given: impl AsRef<[u8]>, secret: impl AsRef<[u8]>) -> bool {
    same(given.as_ref(), secret.as_ref()).into()
}

fn same(given: &[u8], secret: &[u8]) -> Choice {
    // As many steps as were given bytes, whatever the length of the secret.
    let mut same = (given.len() as u64).ct_eq(&(secret.len() as u64));
    let secret = if secret.is_empty() { &[0] } else { secret };
    for (at, byte) in given.iter().enumerate() {
        same &= byte.ct_eq(&secret[at % secret.len()]);
    }
    same
}

/// A list of users.
struct Users(Vec<(String, String)>);

impl Checker for Users {
    fn check<'a>(&'a self, user: &'a str, password: &'a str) -> CheckFuture<'a> {
        let mut found = Choice::from(0);
        for (name, own) in &self.0 {
            let name = same(user.as_bytes(), name.as_bytes());
            found |= name & same(password.as_bytes(), own.as_bytes());
        }
        Box::pin(ready(found.into()))
    }
}

struct Function<F>(F);

impl<F: Fn(&str, &str) -> bool + Send + Sync + 'static> Checker for Function<F> {
    fn check<'a>(&'a self, user: &'a str, password: &'a str) -> CheckFuture<'a> {
        Box::pin(ready((self.0)(user, password)))
    }
}

/// The name and the password of a head, if it has both.
fn credentials(headers: &HeaderMap) -> Option<(String, String)> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let value = all.next()?.as_bytes();
    // Of two nobody knows which counts.
    if all.next().is_some() {
        return None;
    }
    let (scheme, rest) = value.split_at_checked(5)?;
    if !scheme.eq_ignore_ascii_case(b"basic") || rest.first() != Some(&b' ') {
        return None;
    }
    let decoded = polywire_text::base64::decode(rest.trim_ascii()).ok()?;
    let decoded = std::str::from_utf8(decoded.as_ref()).ok()?;
    let (name, password) = decoded.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

impl fmt::Debug for BasicAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasicAuth")
            .field("challenge", &self.challenge)
            .field("plain", &self.plain)
            .finish_non_exhaustive()
    }
}

impl Layer<HttpService> for BasicAuth {
    type Service = Checked;

    fn layer(&self, inner: HttpService) -> Checked {
        Checked {
            inner,
            auth: self.clone(),
        }
    }
}

/// A service for users.
#[derive(Clone)]
pub struct Checked {
    inner: HttpService,
    auth: BasicAuth,
}

impl Service<HttpRequest> for Checked {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<HttpRequest>::poll_ready(&mut self.inner, context)
    }

    fn call(&mut self, mut request: HttpRequest) -> Self::Future {
        let peer = request.extensions().get::<Peer>();
        let safe = peer.is_some_and(|peer| peer.is_encrypted() || peer.is_local());
        if !safe && !self.auth.plain {
            let words = "Passwords are taken over HTTPS only (BasicAuth::danger_without_tls).\n";
            return answer(request, text(StatusCode::FORBIDDEN, words));
        }
        let Some((name, password)) = credentials(request.headers()) else {
            let refused = self.auth.refused();
            return answer(request, refused);
        };
        // The one that has been asked whether it is ready.
        let fresh = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, fresh);
        let auth = self.auth.clone();
        Box::pin(async move {
            if !auth.checker.check(&name, &password).await {
                // Without the name: people type their password into that field.
                let peer = request.extensions().get::<Peer>();
                tracing::info!(?peer, "a wrong password, or no such user");
                return answer(request, auth.refused()).await;
            }
            request.extensions_mut().insert(User(name.into()));
            // A secret has no business further in.
            request.headers_mut().remove(AUTHORIZATION);
            inner.call(request).await
        })
    }
}

type Answer = Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;

/// A response instead of that of the service.
fn answer(request: HttpRequest, response: HttpResponse) -> Answer {
    drop(request);
    Box::pin(ready(Ok(response)))
}
