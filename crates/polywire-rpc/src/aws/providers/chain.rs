//! The order in which a client without settings looks for credentials.

use polywire_aws::credentials::{DEFAULT_CHAIN, Provider};

use super::super::{Credentials, CredentialsFuture, CredentialsProvider};
use super::{
    BoxError, CachedProvider, ContainerProvider, Environment, EnvironmentProvider,
    InstanceMetadataProvider, ProfileProvider, ProviderError,
};

/// Finds credentials as the SDKs of AWS do without settings
/// ([documentation](https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html)), keeps them, and renews
/// them before they expire ([`CachedProvider`]):
///
/// 1. [`EnvironmentProvider`], if one of the keys is set;
/// 2. [`ProfileProvider`], if `AWS_PROFILE` is set, or if the default profile has a source of credentials;
/// 3. web identity, if `AWS_WEB_IDENTITY_TOKEN_FILE` is set: not supported, an error;
/// 4. [`ContainerProvider`], if one of its URIs is set;
/// 5. [`InstanceMetadataProvider`], unless `AWS_EC2_METADATA_DISABLED` is `true`.
///
/// The first one that is configured ends the search, also if it fails: a client must not use other credentials than those
/// that the user has chosen.
///
/// ```
/// use polywire_rpc::aws::Signer;
/// use polywire_rpc::aws::providers::DefaultChain;
///
/// let signer = Signer::new(DefaultChain::new(), "eu-west-1", "s3");
/// # let _ = signer;
/// ```
#[derive(Clone, Debug)]
pub struct DefaultChain(CachedProvider<Chain>);

#[derive(Debug)]
struct Chain {
    environment: Environment,
    profile: ProfileProvider,
}

impl DefaultChain {
    /// A chain over the environment of this process.
    #[must_use]
    pub fn new() -> Self {
        Self::from_environment(Environment::process())
    }

    /// A chain over variables.
    #[must_use]
    pub fn from_environment(environment: Environment) -> Self {
        let profile = ProfileProvider::new(environment.clone());
        Self(CachedProvider::new(Chain {
            environment,
            profile,
        }))
    }

    /// A chain over variables that begins with a profile. The keys in the environment are not used.
    #[must_use]
    pub fn from_profile(environment: Environment, profile: &str) -> Self {
        let profile = ProfileProvider::new(environment.clone()).with_profile(profile);
        Self(CachedProvider::new(Chain {
            environment,
            profile,
        }))
    }
}

impl Default for DefaultChain {
    fn default() -> Self {
        Self::new()
    }
}

impl CredentialsProvider for DefaultChain {
    fn credentials(&self) -> CredentialsFuture<'_> {
        self.0.credentials()
    }
}

impl Chain {
    async fn fetch(&self) -> Result<Credentials, BoxError> {
        let environment = &self.environment;
        if self.profile.is_selected() {
            return self.profile.credentials().await;
        }
        let variable = |name: &str| environment.variable(name);
        // The files are not read if the environment has the keys.
        if Provider::Environment.is_configured(variable, &Default::default()) {
            return EnvironmentProvider::new(environment.clone())
                .credentials()
                .await;
        }
        let profiles = self.profile.profiles().await?;
        let mut chain = DEFAULT_CHAIN.into_iter();
        let first = chain.find(|provider| provider.is_configured(variable, &profiles));
        let nothing = "the environment has no keys, no profile, no container endpoint";
        match first {
            Some(Provider::Profile) => self.profile.fetch(&profiles).await,
            Some(Provider::WebIdentity) => {
                let reason =
                    "AWS_WEB_IDENTITY_TOKEN_FILE is set, but web identity is not supported";
                Err(ProviderError::new("web identity", reason).into())
            }
            Some(Provider::Container) => {
                ContainerProvider::new(environment.clone())
                    .credentials()
                    .await
            }
            Some(Provider::InstanceMetadata) => {
                let provider = InstanceMetadataProvider::new(environment.clone());
                provider.credentials().await.map_err(|error| {
                    ProviderError::new("the default chain", format!("{nothing}; {error}")).into()
                })
            }
            _ => {
                let reason = format!("{nothing}; AWS_EC2_METADATA_DISABLED is true");
                Err(ProviderError::new("the default chain", reason).into())
            }
        }
    }
}

impl CredentialsProvider for Chain {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(self.fetch())
    }
}
