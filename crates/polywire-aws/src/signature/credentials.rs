//! Credentials: an access key id, a secret, and for temporary credentials a session token.

use std::fmt;
use std::sync::Arc;

use polywire_text::Timestamp;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// The identity of a caller. A clone shares the secret, which is zeroized when the last clone is
/// dropped.
///
/// ```
/// use polywire_aws::signature::Credentials;
///
/// let credentials = Credentials::new("AKIDEXAMPLE", "secret").with_session_token("token");
/// assert_eq!(credentials.access_key_id(), "AKIDEXAMPLE");
/// let debug = format!("{credentials:?}");
/// assert!(debug.contains("AKIDEXAMPLE") && !debug.contains("secret") && !debug.contains("\"token\""));
/// ```
#[derive(Clone)]
pub struct Credentials {
    shared: Arc<Shared>,
}

#[derive(Clone)]
struct Shared {
    access_key_id: Box<str>,
    secret: Zeroizing<Box<str>>,
    session_token: Option<Zeroizing<Box<str>>>,
    expiry: Option<Timestamp>,
    account_id: Option<Box<str>>,
}

impl Credentials {
    /// Long-term credentials.
    #[must_use]
    pub fn new(access_key_id: &str, secret_access_key: &str) -> Self {
        Self {
            shared: Arc::new(Shared {
                access_key_id: access_key_id.into(),
                secret: Zeroizing::new(secret_access_key.into()),
                session_token: None,
                expiry: None,
                account_id: None,
            }),
        }
    }

    /// The same credentials with the token of a session. Requests send it as
    /// `X-Amz-Security-Token`.
    #[must_use]
    pub fn with_session_token(mut self, token: &str) -> Self {
        Arc::make_mut(&mut self.shared).session_token = Some(Zeroizing::new(token.into()));
        self
    }

    /// The same credentials, valid before `expiry`.
    #[must_use]
    pub fn with_expiry(mut self, expiry: Timestamp) -> Self {
        Arc::make_mut(&mut self.shared).expiry = Some(expiry);
        self
    }

    /// The same credentials with the account that they belong to. Rules of endpoints use it; signatures do not.
    #[must_use]
    pub fn with_account_id(mut self, account_id: &str) -> Self {
        Arc::make_mut(&mut self.shared).account_id = Some(account_id.into());
        self
    }

    /// The access key id, which is public.
    #[must_use]
    pub fn access_key_id(&self) -> &str {
        &self.shared.access_key_id
    }

    /// The secret. Do not log it.
    #[must_use]
    pub fn secret_access_key(&self) -> &str {
        &self.shared.secret
    }

    /// The session token of temporary credentials. Do not log it.
    #[must_use]
    pub fn session_token(&self) -> Option<&str> {
        self.shared.session_token.as_deref().map(|token| &**token)
    }

    /// The instant from which the credentials are not valid any more. `None`: they do not expire.
    #[must_use]
    pub fn expiry(&self) -> Option<Timestamp> {
        self.shared.expiry
    }

    /// The account that the credentials belong to, if it is known.
    #[must_use]
    pub fn account_id(&self) -> Option<&str> {
        self.shared.account_id.as_deref()
    }

    /// Whether the credentials are expired at `now`.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expiry().is_some_and(|expiry| expiry <= now)
    }

    /// Whether both are the same. Compares secrets and tokens in constant time.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.shared, &other.shared);
        Arc::ptr_eq(a, b)
            || a.access_key_id == b.access_key_id
                && a.expiry == b.expiry
                && bool::from(a.secret.as_bytes().ct_eq(b.secret.as_bytes()))
                && self.has_session_token(other.session_token().map(str::as_bytes))
    }

    /// Whether `token`, which a request contains, is the session token of these credentials.
    /// Compares in constant time.
    pub(super) fn has_session_token(&self, token: Option<&[u8]>) -> bool {
        match (self.session_token(), token) {
            (None, None) => true,
            (Some(own), Some(token)) => own.as_bytes().ct_eq(token).into(),
            _ => false,
        }
    }
}

impl fmt::Debug for Credentials {
    /// Without the secret and the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("access_key_id", &self.access_key_id())
            .field("is_temporary", &self.session_token().is_some())
            .field("expiry", &self.expiry())
            .finish_non_exhaustive()
    }
}
