//! Keys that sign and verify, derived from credentials.

use std::fmt;
use std::sync::Arc;

use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize as _, Zeroizing};

#[cfg(feature = "sigv4a")]
use super::ecdsa::EcdsaKey;
use super::hash::MacKey;
use super::scope::TERMINATOR;
use super::{Algorithm, Credentials, Date, Scope, Signature, SignedRequest, SigningTime};

/// A key for one scope, derived from credentials.
///
/// Version 4 derives it by a chain of HMACs over day, region and service:
///
/// ```text
/// key = HMAC(HMAC(HMAC(HMAC("AWS4" + secret, date), region), service), "aws4_request")
/// ```
///
/// The derivation costs more than a signature of a small request; see [`KeyCache`].
///
/// ```
/// use polywire_aws::signature::{Credentials, Date, SigningKey};
///
/// let credentials = Credentials::new("AKIDEXAMPLE", "secret");
/// let key = SigningKey::derive(&credentials, Date::parse("20150830").unwrap(), "us-east-1", "iam");
/// assert_eq!(key.scope().as_str(), "20150830/us-east-1/iam/aws4_request");
/// ```
#[derive(Clone)]
pub struct SigningKey {
    credentials: Credentials,
    scope: Scope,
    /// Only for Version 4A.
    region_set: Option<Arc<str>>,
    secret: Secret,
}

#[derive(Clone)]
enum Secret {
    Hmac(MacKey),
    #[cfg(feature = "sigv4a")]
    Ecdsa(Arc<EcdsaKey>),
}

impl SigningKey {
    /// Derives a key of Version 4.
    #[must_use]
    pub fn derive(credentials: &Credentials, date: Date, region: &str, service: &str) -> Self {
        let mut initial = Zeroizing::new(Vec::with_capacity(64));
        initial.extend_from_slice(b"AWS4");
        initial.extend_from_slice(credentials.secret_access_key().as_bytes());
        let mut key = MacKey::new(&initial);
        for part in [date.as_str(), region, service, TERMINATOR] {
            let mut next = key.mac(part.as_bytes());
            key = MacKey::new(&next);
            next[..].zeroize();
        }
        Self {
            credentials: credentials.clone(),
            scope: Scope::new(date, region, service),
            region_set: None,
            secret: Secret::Hmac(key),
        }
    }

    /// Derives a key of Version 4A. `region_set` is a comma-separated list of regions in which `*`
    /// matches any characters.
    ///
    /// The pair of private and public key depends only on the credentials. It is derived each time;
    /// [`for_date`](Self::for_date) and [`KeyCache`] reuse it.
    #[cfg(feature = "sigv4a")]
    #[must_use]
    pub fn derive_v4a(
        credentials: &Credentials,
        date: Date,
        region_set: &str,
        service: &str,
    ) -> Self {
        Self {
            credentials: credentials.clone(),
            scope: Scope::new_v4a(date, service),
            region_set: Some(region_set.into()),
            secret: Secret::Ecdsa(Arc::new(EcdsaKey::derive(credentials))),
        }
    }

    /// The credentials from which the key was derived.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// The scope for which the key was derived.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The regions for which requests are signed: the value of `X-Amz-Region-Set`. `None` for
    /// Version 4, whose scope has one region.
    #[must_use]
    pub fn region_set(&self) -> Option<&str> {
        self.region_set.as_deref()
    }

    /// The version of the signatures of this key.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self.secret {
            Secret::Hmac(_) => Algorithm::V4,
            #[cfg(feature = "sigv4a")]
            Secret::Ecdsa(_) => Algorithm::V4a,
        }
    }

    /// The public key of Version 4A: the coordinates X and Y, in big-endian order.
    #[cfg(feature = "sigv4a")]
    #[must_use]
    pub fn public_key(&self) -> Option<([u8; 32], [u8; 32])> {
        match &self.secret {
            Secret::Hmac(_) => None,
            Secret::Ecdsa(key) => Some(key.public_key()),
        }
    }

    /// The same key for another day. Signed events need it when a stream lasts past midnight.
    #[must_use]
    pub fn for_date(&self, date: Date) -> Self {
        match &self.secret {
            Secret::Hmac(_) => Self::derive(
                &self.credentials,
                date,
                self.scope.region(),
                self.scope.service(),
            ),
            #[cfg(feature = "sigv4a")]
            Secret::Ecdsa(key) => Self {
                credentials: self.credentials.clone(),
                scope: Scope::new_v4a(date, self.scope.service()),
                region_set: self.region_set.clone(),
                secret: Secret::Ecdsa(Arc::clone(key)),
            },
        }
    }

    /// Signs any string to sign, such as the base64 policy of a form upload.
    #[must_use]
    pub fn sign(&self, string_to_sign: &[u8]) -> Signature {
        match &self.secret {
            Secret::Hmac(key) => Signature::from_mac(&key.mac(string_to_sign)),
            #[cfg(feature = "sigv4a")]
            Secret::Ecdsa(key) => key.sign(string_to_sign),
        }
    }

    /// Whether `signature` signs `string_to_sign`. Version 4 compares in constant time.
    #[must_use]
    pub fn verify(&self, string_to_sign: &[u8], signature: &Signature) -> bool {
        match &self.secret {
            Secret::Hmac(key) => {
                let own = key.mac(string_to_sign);
                signature
                    .to_mac()
                    .is_some_and(|claimed| own.ct_eq(&claimed).into())
            }
            #[cfg(feature = "sigv4a")]
            Secret::Ecdsa(key) => key.verify(string_to_sign, signature),
        }
    }
}

impl fmt::Debug for SigningKey {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("access_key_id", &self.credentials.access_key_id())
            .field("algorithm", &self.algorithm())
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// The keys of the last scopes, so that a client derives each once per day.
///
/// A lookup compares up to [`KeyCache::CAPACITY`] entries. Threads need a lock around the cache;
/// they can release it before they sign, because the keys are shared.
///
/// ```
/// use polywire_aws::signature::{Credentials, KeyCache, SigningTime};
/// use std::sync::Arc;
///
/// let credentials = Credentials::new("AKIDEXAMPLE", "secret");
/// let mut cache = KeyCache::default();
/// let morning = SigningTime::parse("20150830T080000Z").unwrap();
/// let noon = SigningTime::parse("20150830T120000Z").unwrap();
/// let first = cache.key(&credentials, morning, "us-east-1", "s3");
/// let second = cache.key(&credentials, noon, "us-east-1", "s3");
/// assert!(Arc::ptr_eq(&first, &second));
/// ```
#[derive(Debug, Default)]
pub struct KeyCache {
    /// The most recently derived key is the last.
    keys: Vec<Arc<SigningKey>>,
}

impl KeyCache {
    /// The largest number of keys. The oldest is dropped when there are more.
    pub const CAPACITY: usize = 16;

    /// The key of Version 4 for the day of `time`; derives it if the cache does not have it.
    pub fn key(
        &mut self,
        credentials: &Credentials,
        time: SigningTime,
        region: &str,
        service: &str,
    ) -> Arc<SigningKey> {
        self.find(
            Algorithm::V4,
            credentials,
            time.date(),
            region,
            service,
            || SigningKey::derive(credentials, time.date(), region, service),
        )
    }

    /// The key of Version 4A for the day of `time`; derives it if the cache does not have it.
    #[cfg(feature = "sigv4a")]
    pub fn key_v4a(
        &mut self,
        credentials: &Credentials,
        time: SigningTime,
        region_set: &str,
        service: &str,
    ) -> Arc<SigningKey> {
        self.find(
            Algorithm::V4a,
            credentials,
            time.date(),
            region_set,
            service,
            || SigningKey::derive_v4a(credentials, time.date(), region_set, service),
        )
    }

    /// The key that verifies a request; derives it if the cache does not have it. `credentials` are
    /// those of the access key id of the request.
    ///
    /// A server with many clients gets a hit only for the clients of the last requests.
    pub fn key_for(
        &mut self,
        request: &SignedRequest<'_>,
        credentials: &Credentials,
    ) -> Arc<SigningKey> {
        let scope = request.scope();
        let region = request.region_set.as_deref().unwrap_or(scope.region());
        let (date, service) = (scope.date(), scope.service());
        self.find(
            request.algorithm(),
            credentials,
            date,
            region,
            service,
            || request.signing_key(credentials),
        )
    }

    fn find(
        &mut self,
        algorithm: Algorithm,
        credentials: &Credentials,
        date: Date,
        region: &str,
        service: &str,
        derive: impl FnOnce() -> SigningKey,
    ) -> Arc<SigningKey> {
        let found = self.keys.iter().rev().find(|key| {
            key.algorithm() == algorithm
                && key.scope.date() == date
                && key.region_set().unwrap_or(key.scope.region()) == region
                && key.scope.service() == service
                && key.credentials.is_same(credentials)
        });
        if let Some(key) = found {
            return Arc::clone(key);
        }
        let key = Arc::new(derive());
        if self.keys.len() == Self::CAPACITY {
            self.keys.remove(0);
        }
        self.keys.push(Arc::clone(&key));
        key
    }
}
