//! Credentials of profiles in the shared files.

use std::path::PathBuf;

use polywire_aws::credentials::{NamedSource, ProfileChain, ProfileSet, ProfileSource};

use super::super::{Credentials, CredentialsFuture, CredentialsProvider};
use super::{
    BoxError, ContainerProvider, Environment, EnvironmentProvider, InstanceMetadataProvider,
    ProcessProvider, ProviderError, boxed, read_file,
};

/// The credentials of a profile in the shared config and credentials files
/// ([documentation](https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html)).
///
/// | variable | meaning | default |
/// |---|---|---|
/// | `AWS_PROFILE` | the name of the profile | `default` |
/// | `AWS_CONFIG_FILE` | the config file | `~/.aws/config` |
/// | `AWS_SHARED_CREDENTIALS_FILE` | the credentials file | `~/.aws/credentials` |
///
/// A profile has keys, a `credential_process`, or a `credential_source`. Roles to assume, web identity and IAM Identity
/// Center need requests that this provider does not make: it reports them as an error. The AWS CLI makes them in a
/// process: `credential_process = aws configure export-credentials --profile NAME`.
///
/// It reads the files for each request that is signed: use it in a [`CachedProvider`](super::CachedProvider).
#[derive(Clone, Debug, Default)]
pub struct ProfileProvider {
    environment: Environment,
    profile: Option<String>,
}

impl ProfileProvider {
    /// A provider with the profile and the files of the environment.
    #[must_use]
    pub const fn new(environment: Environment) -> Self {
        Self {
            environment,
            profile: None,
        }
    }

    /// Selects a profile, whatever the environment says.
    #[must_use]
    pub fn with_profile(mut self, profile: &str) -> Self {
        self.profile = Some(profile.to_owned());
        self
    }

    /// The name of the profile.
    #[must_use]
    pub fn profile(&self) -> String {
        let own = self.profile.clone();
        own.or_else(|| self.environment.variable("AWS_PROFILE"))
            .unwrap_or_else(|| "default".to_owned())
    }

    pub(super) const fn is_selected(&self) -> bool {
        self.profile.is_some()
    }

    fn error(&self, reason: impl Into<BoxError>) -> ProviderError {
        ProviderError::new(format!("the profile `{}`", self.profile()), reason)
    }

    /// Reads both files. A file that does not exist is empty.
    pub(super) async fn profiles(&self) -> Result<ProfileSet, ProviderError> {
        let read = async |variable, default| -> Result<_, BoxError> {
            let path: Option<PathBuf> = self.environment.path(variable, default);
            let text = match &path {
                Some(path) => read_file(path).await?,
                None => None,
            };
            Ok(text.unwrap_or_default())
        };
        let files = async {
            let config = read("AWS_CONFIG_FILE", ".aws/config").await?;
            let credentials = read("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials").await?;
            Ok::<_, BoxError>(ProfileSet::parse(&config, &credentials)?)
        };
        files.await.map_err(|error| self.error(error))
    }

    pub(super) async fn fetch(&self, profiles: &ProfileSet) -> Result<Credentials, BoxError> {
        let name = self.profile();
        let chain = ProfileChain::resolve(profiles, &name).map_err(|error| self.error(error))?;
        if let Some(role) = chain.roles.first() {
            let reason = format!(
                "assuming the role {} is not supported; use credential_process",
                role.role_arn
            );
            return Err(self.error(reason).into());
        }
        let environment = self.environment.clone();
        let result = match chain.source {
            ProfileSource::Keys(keys) => return Ok(Credentials::from(&keys)),
            ProfileSource::Process { command } => {
                ProcessProvider::new(&command).credentials().await
            }
            ProfileSource::Named(NamedSource::Environment) => {
                EnvironmentProvider::new(environment).credentials().await
            }
            ProfileSource::Named(NamedSource::EcsContainer) => {
                ContainerProvider::new(environment).credentials().await
            }
            ProfileSource::Named(NamedSource::Ec2InstanceMetadata) => {
                InstanceMetadataProvider::new(environment)
                    .credentials()
                    .await
            }
            ProfileSource::Sso(_) => {
                Err("IAM Identity Center is not supported; use credential_process".into())
            }
            ProfileSource::WebIdentity { .. } => {
                Err("web identity is not supported; use credential_process".into())
            }
            _ => Err("the source of its credentials is not supported".into()),
        };
        result.map_err(|error| self.error(error).into())
    }
}

impl CredentialsProvider for ProfileProvider {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(async {
            let profiles = boxed(self.profiles().await)?;
            self.fetch(&profiles).await
        })
    }
}
