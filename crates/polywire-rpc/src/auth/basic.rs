//! User names and passwords (RFC 7617).

use std::future::Future;

use http::HeaderValue;
use subtle::Choice;

use super::secret::compare;
use super::{AuthError, Authentication, Authenticator, CallHead, Identity, sent_secret};

/// Accepts callers with a user name and password, in the header or metadata `authorization`.
///
/// Passwords can be read on the network unless the connection is encrypted. If the connection is neither encrypted nor local
/// (a loopback address or a Unix socket), calls end with status 403, even with the right password.
/// [`Self::danger_without_tls`] switches that off, for networks with another encryption. An unknown
/// [`Peer`](crate::server::Peer) is not local.
///
/// ```
/// use polywire_rpc::ServerBuilder;
/// use polywire_rpc::auth::BasicAuth;
///
/// fn protect(builder: ServerBuilder) -> ServerBuilder {
///     builder.authenticate(BasicAuth::users("kitchen", [("ada", "correct horse")]))
/// }
/// ```
pub struct BasicAuth {
    challenge: HeaderValue,
    verify: Verify,
    without_tls: bool,
}

type Verify = Box<dyn Fn(String, String) -> Authentication + Send + Sync>;

impl BasicAuth {
    /// Accepts these users, by name and password. A name may have several passwords. Comparison takes constant time.
    ///
    /// The realm is the text that programs show when they ask for a password.
    pub fn users<N, P>(realm: &str, users: impl IntoIterator<Item = (N, P)>) -> Self
    where
        N: Into<Box<str>>,
        P: Into<String>,
    {
        let users = users.into_iter();
        let users: Vec<(Identity, String)> = users
            .map(|(name, password)| (Identity::new(name), password.into()))
            .collect();
        Self::of(realm, move |user, password| {
            let mut identity = None;
            for (own, expected) in &users {
                let same_name = compare(user.as_bytes(), own.name().as_bytes());
                let is_own: Choice = same_name & compare(password.as_bytes(), expected.as_bytes());
                if is_own.into() {
                    identity = Some(own.clone());
                }
            }
            identity.ok_or(AuthError::InvalidCredentials).into()
        })
    }

    /// Accepts the users for which a function returns true. It is given the user name and the password, and compares
    /// passwords with [`constant_time_eq`](super::constant_time_eq), or their hashes. Hashes that take time to compute
    /// belong into [`tokio::task::spawn_blocking`].
    ///
    /// ```
    /// use polywire_rpc::auth::{BasicAuth, constant_time_eq};
    ///
    /// let auth = BasicAuth::verify_with("kitchen", async |user: String, password: String| {
    ///     constant_time_eq(user, "ada") & constant_time_eq(password, "correct horse")
    /// });
    /// # let _ = auth;
    /// ```
    pub fn verify_with<F, R>(realm: &str, verify: F) -> Self
    where
        F: Fn(String, String) -> R + Send + Sync + 'static,
        R: Future<Output = bool> + Send + 'static,
    {
        Self::of(realm, move |user, password| {
            let verified = verify(user.clone(), password);
            Authentication::pending(async move {
                match verified.await {
                    true => Ok(Identity::new(user)),
                    false => Err(AuthError::InvalidCredentials),
                }
            })
        })
    }

    fn of(
        realm: &str,
        verify: impl Fn(String, String) -> Authentication + Send + Sync + 'static,
    ) -> Self {
        Self {
            challenge: challenge(realm),
            verify: Box::new(verify),
            without_tls: false,
        }
    }

    /// Accepts passwords over connections that are not encrypted.
    #[must_use]
    pub fn danger_without_tls(mut self) -> Self {
        self.without_tls = true;
        self
    }
}

impl Authenticator for BasicAuth {
    fn authenticate(&self, head: &CallHead<'_>) -> Authentication {
        let given = match sent_secret(head, "Basic", self.without_tls) {
            Ok(given) => given,
            Err(error) => return Authentication::Ready(Err(error)),
        };
        match parse(given) {
            Some((user, password)) => (self.verify)(user, password),
            None => Authentication::Ready(Err(AuthError::InvalidCredentials)),
        }
    }

    fn challenge(&self) -> Option<HeaderValue> {
        Some(self.challenge.clone())
    }
}

impl_debug!(BasicAuth {
    challenge,
    without_tls
});

/// Reads `base64(user:password)`.
fn parse(given: &[u8]) -> Option<(String, String)> {
    let decoded = polywire_text::base64::decode(given).ok()?;
    let decoded = std::str::from_utf8(decoded.as_ref()).ok()?;
    let (user, password) = decoded.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

fn challenge(realm: &str) -> HeaderValue {
    let mut value = String::from("Basic realm=\"");
    for letter in realm.chars().filter(|letter| !letter.is_control()) {
        if matches!(letter, '"' | '\\') {
            value.push('\\');
        }
        value.push(letter);
    }
    value.push_str("\", charset=\"UTF-8\"");
    let empty = HeaderValue::from_static("Basic realm=\"\", charset=\"UTF-8\"");
    HeaderValue::try_from(value).unwrap_or(empty)
}
