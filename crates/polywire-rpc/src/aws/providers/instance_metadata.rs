//! The credentials of the role of an instance of EC2.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use polywire_aws::credentials::from_instance_metadata;
use polywire_aws::credentials::instance_metadata::{
    ENDPOINT_V4, ENDPOINT_V6, ROLE_PATH, TOKEN_HEADER, TOKEN_PATH, TOKEN_TTL_HEADER,
    TOKEN_TTL_SECONDS, role_name,
};
use polywire_text::Timestamp;

use super::super::authenticator::now;
use super::super::{Credentials, CredentialsFuture, CredentialsProvider};
use super::http::{Attempts, StatusError, request};
use super::{BoxError, Environment, ProviderError, boxed};

pub(super) const NAME: &str = "the instance metadata service";
/// How long expired credentials are used if the service has no others, in seconds. Clients with IAM roles keep working
/// while the service cannot renew credentials.
const EXTENSION: i64 = 600;

/// Asks the instance metadata service, version 2
/// ([documentation](https://docs.aws.amazon.com/sdkref/latest/guide/feature-imds-credentials.html)). Version 1, without a
/// token, is not used.
///
/// | variable | meaning | default |
/// |---|---|---|
/// | `AWS_EC2_METADATA_DISABLED` | `true`: the service is not asked | `false` |
/// | `AWS_EC2_METADATA_SERVICE_ENDPOINT` | its URL | `http://169.254.169.254` |
/// | `AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE` | `IPv6`: the default is `http://[fd00:ec2::254]` | `IPv4` |
/// | `AWS_METADATA_SERVICE_TIMEOUT` | the time limit of an attempt, in seconds | 1 |
/// | `AWS_METADATA_SERVICE_NUM_ATTEMPTS` | how often each request is tried | 1 |
///
/// If the service answers with credentials that are expired, they are used for ten minutes more, with a warning in the
/// log. It asks for each request that is signed: use it in a [`CachedProvider`](super::CachedProvider).
#[derive(Clone, Debug, Default)]
pub struct InstanceMetadataProvider(Environment);

impl InstanceMetadataProvider {
    /// A provider with the endpoint of the environment.
    #[must_use]
    pub const fn new(environment: Environment) -> Self {
        Self(environment)
    }

    fn endpoint(&self) -> String {
        let mode = self.0.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");
        let is_v6 = mode.is_some_and(|mode| mode.eq_ignore_ascii_case("ipv6"));
        let default = if is_v6 { ENDPOINT_V6 } else { ENDPOINT_V4 };
        let own = self.0.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
        let own = own.unwrap_or_else(|| default.to_owned());
        own.trim_end_matches('/').to_owned()
    }

    fn attempts(&self) -> Result<Attempts, BoxError> {
        let number = |name: &str, default: u32| match self.0.variable(name) {
            None => Ok(default),
            Some(text) => match text.parse() {
                Ok(number) if (1..=100).contains(&number) => Ok(number),
                _ => Err(format!("{name}: expected a number from 1 to 100")),
            },
        };
        Ok(Attempts {
            count: number("AWS_METADATA_SERVICE_NUM_ATTEMPTS", 1)?,
            timeout: Duration::from_secs(number("AWS_METADATA_SERVICE_TIMEOUT", 1)?.into()),
        })
    }

    async fn fetch(&self) -> Result<Credentials, BoxError> {
        let disabled = self.0.variable("AWS_EC2_METADATA_DISABLED");
        if disabled.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Err("AWS_EC2_METADATA_DISABLED is true".into());
        }
        let (endpoint, attempts) = (self.endpoint(), self.attempts()?);
        let mut headers = HeaderMap::new();
        let ttl = HeaderName::from_static(TOKEN_TTL_HEADER);
        headers.insert(ttl, HeaderValue::from(TOKEN_TTL_SECONDS));
        let url = format!("{endpoint}{TOKEN_PATH}");
        let answer = request(Method::PUT, &url, &headers, attempts).await?;
        if answer.status() != StatusCode::OK {
            return Err(StatusError(answer.status()).into());
        }
        let token = HeaderValue::from_bytes(answer.body());
        let mut token = token.map_err(|_| "the token is not the value of a header")?;
        token.set_sensitive(true);
        let headers = HeaderMap::from_iter([(HeaderName::from_static(TOKEN_HEADER), token)]);
        let get = async |url: String| -> Result<bytes::Bytes, BoxError> {
            let answer = request(Method::GET, &url, &headers, attempts).await?;
            match answer.status() {
                StatusCode::OK => Ok(answer.into_body()),
                StatusCode::NOT_FOUND => Err("the instance has no role".into()),
                status => Err(StatusError(status).into()),
            }
        };
        let names = get(format!("{endpoint}{ROLE_PATH}")).await?;
        let names = str::from_utf8(&names).ok();
        let role = names.and_then(role_name);
        let role = role.ok_or("the name of the role is not valid")?;
        let body = get(format!("{endpoint}{ROLE_PATH}{role}")).await?;
        let credentials = Credentials::from(&from_instance_metadata(&body, None)?);
        Ok(extended(credentials, now()))
    }
}

/// Credentials that are expired, for some minutes more.
fn extended(credentials: Credentials, now: Timestamp) -> Credentials {
    if !credentials.is_expired(now) {
        return credentials;
    }
    tracing::warn!("the instance metadata service has only expired credentials, which are used");
    let until = now.seconds().saturating_add(EXTENSION);
    credentials.with_expiry(Timestamp::new(until, 0))
}

impl CredentialsProvider for InstanceMetadataProvider {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(async {
            let result = self.fetch().await;
            boxed(result.map_err(|error| ProviderError::new(NAME, error)))
        })
    }
}
