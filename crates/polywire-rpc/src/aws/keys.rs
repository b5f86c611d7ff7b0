//! Stores of access keys.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;

use polywire_aws::signature::Credentials;

/// The credentials of an access key. `None` if there is no such key.
pub type KeyFuture = Pin<
    Box<
        dyn Future<Output = Result<Option<Credentials>, Box<dyn std::error::Error + Send + Sync>>>
            + Send,
    >,
>;

/// Finds the secrets of access keys, for servers that verify signatures.
///
/// Functions that return the credentials at once are key stores.
///
/// ```
/// use polywire_rpc::aws::{Credentials, KeyStore};
///
/// fn is_store(_: impl KeyStore) {}
/// is_store(|id: &str| (id == "AKIDEXAMPLE").then(|| Credentials::new(id, "secret")));
/// ```
pub trait KeyStore: Send + Sync + 'static {
    /// Finds the credentials of an access key. For temporary credentials they have the session token, which the request
    /// must repeat, and an expiry.
    ///
    /// # Errors
    ///
    /// The store cannot be asked: the call ends with an internal fault.
    fn credentials(&self, access_key_id: &str) -> KeyFuture;
}

impl<F> KeyStore for F
where
    F: Fn(&str) -> Option<Credentials> + Send + Sync + 'static,
{
    fn credentials(&self, access_key_id: &str) -> KeyFuture {
        Box::pin(ready(Ok(self(access_key_id))))
    }
}

/// Access keys that do not change.
pub struct StaticKeys(HashMap<String, Credentials>);

impl StaticKeys {
    /// Creates a store of these keys.
    #[must_use]
    pub fn new(keys: impl IntoIterator<Item = Credentials>) -> Self {
        let pair = |key: Credentials| (key.access_key_id().to_owned(), key);
        Self(keys.into_iter().map(pair).collect())
    }
}

impl KeyStore for StaticKeys {
    fn credentials(&self, access_key_id: &str) -> KeyFuture {
        Box::pin(ready(Ok(self.0.get(access_key_id).cloned())))
    }
}

impl fmt::Debug for StaticKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
