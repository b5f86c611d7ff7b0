//! The error of providers.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Which provider has no credentials, and why. It contains no secrets: no values of files, variables or answers. Clones
/// share the reason.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use polywire_rpc::aws::CredentialsProvider;
/// use polywire_rpc::aws::providers::{Environment, EnvironmentProvider, ProviderError};
///
/// let provider = EnvironmentProvider::new(Environment::from_fn(|_| None));
/// let error = provider.credentials().await.unwrap_err();
/// assert_eq!(error.to_string(), "no credentials from the environment: AWS_ACCESS_KEY_ID is not set");
/// assert_eq!(error.downcast_ref::<ProviderError>().unwrap().provider(), "the environment");
/// # }
/// ```
#[derive(Clone)]
pub struct ProviderError {
    provider: Arc<str>,
    reason: Arc<dyn Error + Send + Sync>,
}

impl ProviderError {
    pub(super) fn new(
        provider: impl Into<Arc<str>>,
        reason: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self {
            provider: provider.into(),
            reason: reason.into().into(),
        }
    }

    /// The provider in words, such as `the container endpoint`.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.provider
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no credentials from {}: ", self.provider)?;
        crate::connect::write_chain(f, &*self.reason)
    }
}

impl fmt::Debug for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderError")
            .field("provider", &self.provider)
            .field("reason", &self.reason.to_string())
            .finish()
    }
}

impl Error for ProviderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.reason)
    }
}
