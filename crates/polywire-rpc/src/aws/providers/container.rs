//! The credentials of a task of ECS or a pod of EKS.

use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Method};
use polywire_aws::credentials::{container_endpoint, from_container};

use super::super::authenticator::now;
use super::super::{Credentials, CredentialsFuture, CredentialsProvider};
use super::http::{Attempts, StatusError, request};
use super::{BoxError, Environment, ProviderError, boxed, read_file};

pub(super) const NAME: &str = "the container endpoint";

/// Asks the endpoint that `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI` names
/// ([documentation](https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html)).
///
/// The header `authorization` is the content of the file `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`, which is read for each
/// request, or else `AWS_CONTAINER_AUTHORIZATION_TOKEN`. Without TLS, only hosts of
/// [`container_endpoint`] get it. Each of up to three attempts takes at most 2 seconds.
///
/// It asks for each request that is signed: use it in a [`CachedProvider`](super::CachedProvider).
#[derive(Clone, Debug, Default)]
pub struct ContainerProvider(Environment);

impl ContainerProvider {
    /// A provider with the endpoint and the token of the environment.
    #[must_use]
    pub const fn new(environment: Environment) -> Self {
        Self(environment)
    }

    async fn fetch(&self) -> Result<Credentials, BoxError> {
        let relative = self.0.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        let full = self.0.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        let url = container_endpoint(relative.as_deref(), full.as_deref())?
            .ok_or("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set")?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(token) = self.token().await? {
            headers.insert(AUTHORIZATION, token);
        }
        let attempts = Attempts {
            count: 3,
            timeout: Duration::from_secs(2),
        };
        let answer = request(Method::GET, &url, &headers, attempts).await?;
        if answer.status().is_success() {
            return Ok(Credentials::from(&from_container(answer.body(), now())?));
        }
        // The code in the answer says more than the status.
        let error: BoxError = match from_container(answer.body(), now()) {
            Err(error @ polywire_aws::credentials::AnswerError::Rejected { .. }) => error.into(),
            _ => StatusError(answer.status()).into(),
        };
        Err(error)
    }

    async fn token(&self) -> Result<Option<HeaderValue>, BoxError> {
        let name = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
        let file = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
        let token = match self.0.variable(file) {
            Some(path) => Some(
                read_file(path.as_ref())
                    .await?
                    .ok_or_else(|| format!("there is no file {path}, which {file} names"))?,
            ),
            None => self.0.variable(name).map(Into::into),
        };
        let Some(token) = token else {
            return Ok(None);
        };
        // Line breaks would begin another header.
        let mut value = HeaderValue::from_str(&token).map_err(
            |_| "the token has a line break or another character that no header can have",
        )?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

impl CredentialsProvider for ContainerProvider {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(async {
            let result = self.fetch().await;
            boxed(result.map_err(|error| ProviderError::new(NAME, error)))
        })
    }
}
