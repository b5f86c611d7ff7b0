//! Credentials in variables of the environment, and the order of providers.

use std::error::Error;
use std::fmt;

use polywire_text::Timestamp;
use zeroize::Zeroizing;

use super::{CredentialSet, ProfileSet};

/// A provider of the default chain.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Provider {
    /// `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
    Environment,
    /// The profile that `AWS_PROFILE` names, else `default`: roles, web identity, IAM Identity Center, keys, process.
    Profile,
    /// `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`.
    WebIdentity,
    /// `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI`.
    Container,
    /// The instance metadata service.
    InstanceMetadata,
}

/// The order in which a client asks. The first provider that is configured ends the search, also if it fails: a
/// client must not use other credentials than those that the user has chosen.
pub const DEFAULT_CHAIN: [Provider; 5] = [
    Provider::Environment,
    Provider::Profile,
    Provider::WebIdentity,
    Provider::Container,
    Provider::InstanceMetadata,
];

impl Provider {
    /// Whether the provider is configured. `variable` looks up a variable of the environment. The instance metadata
    /// service counts as configured unless `AWS_EC2_METADATA_DISABLED` is `true`; only a request shows whether it
    /// exists.
    ///
    /// ```
    /// use polywire_aws::credentials::{DEFAULT_CHAIN, ProfileSet, Provider};
    ///
    /// let variable = |name: &str| (name == "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").then(|| "/x".to_owned());
    /// let profiles = ProfileSet::default();
    /// let first = DEFAULT_CHAIN.into_iter().find(|provider| provider.is_configured(variable, &profiles));
    /// assert_eq!(first, Some(Provider::Container));
    /// ```
    pub fn is_configured(
        self,
        variable: impl Fn(&str) -> Option<String>,
        profiles: &ProfileSet,
    ) -> bool {
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        match self {
            Self::Environment => is_set("AWS_ACCESS_KEY_ID") || is_set("AWS_SECRET_ACCESS_KEY"),
            Self::Profile => {
                // A profile that is named must exist. The default profile often has settings only.
                is_set("AWS_PROFILE")
                    || profiles.profile("default").is_some_and(|profile| {
                        let sources = [
                            "aws_access_key_id",
                            "aws_secret_access_key",
                            "credential_process",
                            "credential_source",
                            "role_arn",
                            "source_profile",
                            "sso_account_id",
                            "sso_role_name",
                            "web_identity_token_file",
                        ];
                        sources.iter().any(|name| profile.get(name).is_some())
                    })
            }
            Self::WebIdentity => is_set("AWS_WEB_IDENTITY_TOKEN_FILE"),
            Self::Container => {
                is_set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
                    || is_set("AWS_CONTAINER_CREDENTIALS_FULL_URI")
            }
            Self::InstanceMetadata => !variable("AWS_EC2_METADATA_DISABLED")
                .is_some_and(|value| value.eq_ignore_ascii_case("true")),
        }
    }
}

/// A variable of the environment that is missing or not valid, though others of the credentials are set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MissingVariable {
    name: &'static str,
}

impl MissingVariable {
    /// The name of the variable.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Display for MissingVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the variable {} is missing or not valid, though others of the credentials are set",
            self.name
        )
    }
}

impl Error for MissingVariable {}

/// The credentials of the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, and optionally
/// `AWS_SESSION_TOKEN`, `AWS_CREDENTIAL_EXPIRATION` and `AWS_ACCOUNT_ID`. `variable` looks up a variable; an empty
/// value counts as not set. `None` if neither the id nor the secret is set.
///
/// # Errors
///
/// Only one of id and secret is set, or the expiry is not a timestamp.
///
/// ```
/// use polywire_aws::credentials::from_environment;
///
/// assert_eq!(from_environment(|_| None), Ok(None));
/// let error = from_environment(|name| (name == "AWS_ACCESS_KEY_ID").then(|| "AKID".to_owned()));
/// assert_eq!(error.unwrap_err().name(), "AWS_SECRET_ACCESS_KEY");
/// ```
pub fn from_environment(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<CredentialSet>, MissingVariable> {
    let get = |name: &str| {
        let value = variable(name).map(Zeroizing::new);
        value.filter(|value| !value.is_empty())
    };
    let require = |name: &'static str| get(name).ok_or(MissingVariable { name });
    if get("AWS_ACCESS_KEY_ID").is_none() && get("AWS_SECRET_ACCESS_KEY").is_none() {
        return Ok(None);
    }
    let id = require("AWS_ACCESS_KEY_ID")?;
    let mut found = CredentialSet::new(&id, &require("AWS_SECRET_ACCESS_KEY")?);
    found.session_token = get("AWS_SESSION_TOKEN");
    found.account_id = get("AWS_ACCOUNT_ID").map(|id| id.to_string());
    let name = "AWS_CREDENTIAL_EXPIRATION";
    if let Some(expiry) = get(name) {
        let expiry = Timestamp::parse_date_time(&expiry);
        found.expiry = Some(expiry.map_err(|_| MissingVariable { name })?);
    }
    Ok(Some(found))
}
