//! Where clients find their credentials, without I/O: profile files, the answers of processes and HTTP endpoints, and
//! the order in which providers are asked ([credential
//! providers](https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html)).
//!
//! The caller reads files and variables, runs processes and sends requests. [`DEFAULT_CHAIN`] is the order. For each
//! provider this module has the part that needs no I/O:
//!
//! | provider | functions |
//! |---|---|
//! | environment | [`from_environment`] |
//! | profile files | [`ProfileSet::parse`], then [`ProfileChain::resolve`]; [`from_process`] for processes |
//! | container | [`container_endpoint`], [`from_container`] |
//! | instance metadata | [`instance_metadata`], [`from_instance_metadata`] |
//!
//! ```
//! use polywire_aws::credentials::{ProfileChain, ProfileSet, ProfileSource};
//!
//! let profiles = ProfileSet::parse(
//!     "[profile deploy]\nrole_arn = arn:aws:iam::123456789012:role/deploy\nsource_profile = base\n",
//!     "[base]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = secret\n",
//! )?;
//! let chain = ProfileChain::resolve(&profiles, "deploy")?;
//! let ProfileSource::Keys(keys) = &chain.source else { unreachable!() };
//! assert_eq!(keys.access_key_id(), "AKIDEXAMPLE");
//! assert_eq!(chain.roles[0].role_arn, "arn:aws:iam::123456789012:role/deploy");
//! // Secrets are not shown.
//! assert!(!format!("{profiles:?} {chain:?}").contains("secret\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Assuming the roles is the task of the caller; `polywire_rpc::aws::providers` does not.
//!
//! Errors and `Debug` never contain values of files, variables or answers, except the names of profiles and the codes
//! of errors of services.

mod answer;
mod chain;
mod container;
mod environment;
pub mod instance_metadata;
mod parse;
mod profile;

use std::fmt;

use polywire_text::Timestamp;
use zeroize::Zeroizing;

use crate::signature::Credentials;

pub use answer::{AnswerError, from_container, from_instance_metadata, from_process};
pub use chain::{AssumeRole, ChainError, NamedSource, ProfileChain, ProfileSource, SsoSource};
pub use container::{EndpointError, container_endpoint};
pub use environment::{DEFAULT_CHAIN, MissingVariable, Provider, from_environment};
pub use profile::{ProfileError, ProfileFile, ProfileSet, Section};

/// Credentials that a provider has given. The memory of the secrets is overwritten when it is freed.
#[derive(Clone, Eq, PartialEq)]
pub struct CredentialSet {
    access_key_id: String,
    secret_access_key: Zeroizing<String>,
    session_token: Option<Zeroizing<String>>,
    expiry: Option<Timestamp>,
    account_id: Option<String>,
}

impl CredentialSet {
    /// Credentials that do not expire.
    #[must_use]
    pub fn new(access_key_id: &str, secret_access_key: &str) -> Self {
        Self {
            access_key_id: access_key_id.to_owned(),
            secret_access_key: Zeroizing::new(secret_access_key.to_owned()),
            session_token: None,
            expiry: None,
            account_id: None,
        }
    }

    /// The access key id, which is public.
    #[must_use]
    pub fn access_key_id(&self) -> &str {
        &self.access_key_id
    }

    /// The secret. Do not log it.
    #[must_use]
    pub fn secret_access_key(&self) -> &str {
        &self.secret_access_key
    }

    /// The session token of temporary credentials. Do not log it.
    #[must_use]
    pub fn session_token(&self) -> Option<&str> {
        self.session_token.as_ref().map(|token| token.as_str())
    }

    /// The instant from which the credentials are not valid any more. `None`: they do not expire.
    #[must_use]
    pub fn expiry(&self) -> Option<Timestamp> {
        self.expiry
    }

    /// The account that the credentials belong to, if the provider says so. Endpoint rules use it.
    #[must_use]
    pub fn account_id(&self) -> Option<&str> {
        self.account_id.as_deref()
    }

    /// Whether the credentials are expired at `now`.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expiry.is_some_and(|expiry| expiry <= now)
    }
}

impl From<&CredentialSet> for Credentials {
    /// The credentials as signatures need them.
    ///
    /// ```
    /// use polywire_aws::credentials::CredentialSet;
    /// use polywire_aws::signature::Credentials;
    ///
    /// let found = CredentialSet::new("AKIDEXAMPLE", "a secret");
    /// assert_eq!(Credentials::from(&found).access_key_id(), "AKIDEXAMPLE");
    /// ```
    fn from(found: &CredentialSet) -> Self {
        let mut credentials = Self::new(found.access_key_id(), found.secret_access_key());
        if let Some(token) = found.session_token() {
            credentials = credentials.with_session_token(token);
        }
        if let Some(expiry) = found.expiry() {
            credentials = credentials.with_expiry(expiry);
        }
        match found.account_id() {
            Some(id) => credentials.with_account_id(id),
            None => credentials,
        }
    }
}

impl fmt::Debug for CredentialSet {
    /// Without the secret and the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialSet")
            .field("access_key_id", &self.access_key_id)
            .field("is_temporary", &self.session_token.is_some())
            .field("expiry", &self.expiry)
            .field("account_id", &self.account_id)
            .finish_non_exhaustive()
    }
}
