//! Variables of the environment, and the credentials in them.

use std::env;
use std::fmt;
use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use polywire_aws::credentials::from_environment;

use super::super::{Credentials, CredentialsFuture, CredentialsProvider};
use super::{ProviderError, boxed};

/// Looks up variables of the environment: those of the process, or those of a function, for tests and for programs with
/// settings of their own.
///
/// ```
/// use polywire_rpc::aws::providers::Environment;
///
/// let environment = Environment::from_fn(|name| (name == "AWS_PROFILE").then(|| "deploy".to_owned()));
/// assert_eq!(environment.variable("AWS_PROFILE").as_deref(), Some("deploy"));
/// assert_eq!(environment.variable("AWS_REGION"), None);
/// ```
#[derive(Clone)]
pub struct Environment(Arc<Lookup>);

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Environment {
    /// The variables of this process. A value that is not Unicode counts as not set.
    #[must_use]
    pub fn process() -> Self {
        Self::from_fn(|name| env::var(name).ok())
    }

    /// The variables that a function returns.
    pub fn from_fn(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(variable))
    }

    /// A variable. An empty value counts as not set.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    /// The path in a variable, or else `default` below the home directory. A path that begins with `~/` is below the home
    /// directory.
    pub(super) fn path(&self, name: &str, default: &str) -> Option<PathBuf> {
        let home = || {
            let home = self
                .variable("HOME")
                .or_else(|| self.variable("USERPROFILE"));
            home.map(PathBuf::from)
        };
        match self.variable(name) {
            None => Some(home()?.join(default)),
            Some(path) => match path.strip_prefix("~/") {
                Some(rest) => Some(home()?.join(rest)),
                None => Some(PathBuf::from(path)),
            },
        }
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::process()
    }
}

impl fmt::Debug for Environment {
    /// Without the values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

/// The credentials in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentProvider(Environment);

impl EnvironmentProvider {
    /// A provider that reads the variables for each request.
    #[must_use]
    pub const fn new(environment: Environment) -> Self {
        Self(environment)
    }

    fn read(&self) -> Result<Credentials, ProviderError> {
        let name = "the environment";
        match from_environment(|name| self.0.variable(name)) {
            Ok(Some(found)) => Ok(Credentials::from(&found)),
            Ok(None) => Err(ProviderError::new(name, "AWS_ACCESS_KEY_ID is not set")),
            Err(error) => Err(ProviderError::new(name, error)),
        }
    }
}

impl CredentialsProvider for EnvironmentProvider {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(ready(boxed(self.read())))
    }
}
