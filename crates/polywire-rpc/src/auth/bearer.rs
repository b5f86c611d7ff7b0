//! Bearer tokens (RFC 6750).

use std::future::Future;

use http::HeaderValue;

use super::secret::compare;
use super::{AuthError, Authentication, Authenticator, CallHead, Identity, sent_secret};

/// Accepts callers with a token: `authorization: Bearer TOKEN`, as a header or metadata.
///
/// As with [`BasicAuth`](super::BasicAuth), calls over connections that are neither encrypted nor local end with status
/// 403.
///
/// ```
/// use polywire_rpc::ServerBuilder;
/// use polywire_rpc::auth::{AuthError, BearerAuth, Identity};
///
/// fn protect(builder: ServerBuilder) -> ServerBuilder {
///     builder.authenticate(BearerAuth::tokens([("backup job", "bXkgdG9rZW4")]))
/// }
///
/// // Tokens that another service knows.
/// let auth = BearerAuth::verify_with(async |token: String| match token.strip_prefix("job-") {
///     Some(name) => Ok(Identity::new(name)),
///     None => Err(AuthError::InvalidCredentials),
/// });
/// # let _ = auth;
/// ```
pub struct BearerAuth {
    verify: Verify,
    without_tls: bool,
}

type Verify = Box<dyn Fn(&str) -> Authentication + Send + Sync>;

impl BearerAuth {
    /// Accepts these tokens, each with the name of its caller. Comparison takes constant time.
    pub fn tokens<N, T>(tokens: impl IntoIterator<Item = (N, T)>) -> Self
    where
        N: Into<Box<str>>,
        T: Into<String>,
    {
        let tokens = tokens.into_iter();
        let tokens: Vec<(Identity, String)> = tokens
            .map(|(name, token)| (Identity::new(name), token.into()))
            .collect();
        Self::of(move |given| {
            let mut identity = None;
            for (own, token) in &tokens {
                if compare(given.as_bytes(), token.as_bytes()).into() {
                    identity = Some(own.clone());
                }
            }
            identity.ok_or(AuthError::InvalidCredentials).into()
        })
    }

    /// Accepts the tokens for which a function returns an identity.
    pub fn verify_with<F, R>(verify: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Identity, AuthError>> + Send + 'static,
    {
        Self::of(move |given| Authentication::pending(verify(given.to_owned())))
    }

    fn of(verify: impl Fn(&str) -> Authentication + Send + Sync + 'static) -> Self {
        Self {
            verify: Box::new(verify),
            without_tls: false,
        }
    }

    /// Accepts tokens over connections that are not encrypted.
    #[must_use]
    pub fn danger_without_tls(mut self) -> Self {
        self.without_tls = true;
        self
    }
}

impl Authenticator for BearerAuth {
    fn authenticate(&self, head: &CallHead<'_>) -> Authentication {
        let given = match sent_secret(head, "Bearer", self.without_tls) {
            Ok(given) => given,
            Err(error) => return Authentication::Ready(Err(error)),
        };
        match std::str::from_utf8(given) {
            Ok(token) => (self.verify)(token),
            Err(_) => Authentication::Ready(Err(AuthError::InvalidCredentials)),
        }
    }

    fn challenge(&self) -> Option<HeaderValue> {
        Some(HeaderValue::from_static("Bearer"))
    }
}

impl_debug!(BearerAuth { without_tls });
