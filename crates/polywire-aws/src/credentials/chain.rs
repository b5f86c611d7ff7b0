//! From a profile to a source of credentials, and the roles that are assumed with them.

use std::error::Error;
use std::fmt;

use super::{CredentialSet, ProfileSet, Section};

/// How to get the credentials of a profile: those of `source`, then assume each of `roles` with the credentials before.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProfileChain {
    /// Where the first credentials come from.
    pub source: ProfileSource,
    /// The roles to assume, the first first. Usually none or one.
    pub roles: Vec<AssumeRole>,
}

/// Where the first credentials of a profile come from.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub enum ProfileSource {
    /// The keys are in the profile.
    Keys(CredentialSet),
    /// Another provider: `credential_source`.
    Named(NamedSource),
    /// A command to run, whose output [`from_process`](super::from_process) reads: `credential_process`.
    Process {
        /// The command. It can contain secrets, so `Debug` does not show it.
        command: String,
    },
    /// IAM Identity Center.
    Sso(SsoSource),
    /// `AssumeRoleWithWebIdentity` with the token in a file.
    WebIdentity {
        /// The role to assume.
        role_arn: String,
        /// The path of the file.
        token_file: String,
        /// The name of the session.
        session_name: Option<String>,
    },
}

impl fmt::Debug for ProfileSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keys(keys) => f.debug_tuple("Keys").field(keys).finish(),
            Self::Named(source) => f.debug_tuple("Named").field(source).finish(),
            Self::Process { .. } => f.debug_struct("Process").finish_non_exhaustive(),
            Self::Sso(source) => f.debug_tuple("Sso").field(source).finish(),
            Self::WebIdentity {
                role_arn,
                token_file,
                session_name,
            } => f
                .debug_struct("WebIdentity")
                .field("role_arn", role_arn)
                .field("token_file", token_file)
                .field("session_name", session_name)
                .finish(),
        }
    }
}

/// The values of `credential_source`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum NamedSource {
    /// `Ec2InstanceMetadata`
    Ec2InstanceMetadata,
    /// `EcsContainer`
    EcsContainer,
    /// `Environment`
    Environment,
}

/// The settings of IAM Identity Center, from the profile and its section `[sso-session]`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SsoSource {
    /// The name of the section `[sso-session]`; without it, the settings are those of the older form.
    pub session: Option<String>,
    /// `sso_start_url`
    pub start_url: String,
    /// `sso_region`
    pub region: String,
    /// `sso_account_id`
    pub account_id: String,
    /// `sso_role_name`
    pub role_name: String,
}

/// A role to assume.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AssumeRole {
    /// The profile that has the role.
    pub profile: String,
    /// `role_arn`
    pub role_arn: String,
    /// `external_id`
    pub external_id: Option<String>,
    /// `role_session_name`
    pub session_name: Option<String>,
    /// `duration_seconds`
    pub duration_seconds: Option<u32>,
    /// `mfa_serial`: the caller must ask for a code.
    pub mfa_serial: Option<String>,
}

/// A profile that gives no credentials. The names are those of profiles and properties.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ChainError {
    /// There is no such profile.
    NoProfile {
        /// The name.
        profile: String,
    },
    /// A property is missing that the others of the profile require.
    Missing {
        /// The profile.
        profile: String,
        /// The name of the property.
        property: &'static str,
    },
    /// A property has a value that is not possible.
    Invalid {
        /// The profile.
        profile: String,
        /// The name of the property.
        property: &'static str,
    },
    /// `source_profile` and `credential_source` exclude each other.
    TwoSources {
        /// The profile.
        profile: String,
    },
    /// The profile has no credentials and does not say where they are.
    NoCredentials {
        /// The profile.
        profile: String,
    },
    /// `source_profile` leads back to a profile.
    Cycle {
        /// The profile that is its own source.
        profile: String,
    },
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProfile { profile } => write!(f, "there is no profile `{profile}`"),
            Self::Missing { profile, property } => {
                write!(f, "the profile `{profile}` has no `{property}`")
            }
            Self::Invalid { profile, property } => {
                write!(
                    f,
                    "the profile `{profile}` has a `{property}` that is not valid"
                )
            }
            Self::TwoSources { profile } => write!(
                f,
                "the profile `{profile}` has both `source_profile` and `credential_source`"
            ),
            Self::NoCredentials { profile } => {
                write!(f, "the profile `{profile}` has no credentials")
            }
            Self::Cycle { profile } => {
                write!(
                    f,
                    "the sources of the profile `{profile}` lead back to itself"
                )
            }
        }
    }
}

impl Error for ChainError {}

impl ProfileChain {
    /// Follows the profile `name` to its source.
    ///
    /// A role wins over keys in the selected profile, and keys win over a role in a profile that another refers to. A
    /// profile may be its own source if it has keys. Without a role, the order is `credential_source`, web identity,
    /// IAM Identity Center, keys, process.
    ///
    /// # Errors
    ///
    /// A profile or a property is missing, a value is not valid, or profiles refer to each other in a cycle.
    pub fn resolve(profiles: &ProfileSet, name: &str) -> Result<Self, ChainError> {
        let mut roles = Vec::new();
        let mut visited: Vec<&str> = Vec::new();
        let mut current = name;
        loop {
            let section = profiles
                .profile(current)
                .ok_or_else(|| ChainError::NoProfile {
                    profile: current.to_owned(),
                })?;
            let profile = Profile {
                name: current,
                section,
            };
            if visited.contains(&current) {
                return Err(ChainError::Cycle {
                    profile: current.to_owned(),
                });
            }
            let is_source = !visited.is_empty();
            visited.push(current);
            let next = match profile.role()? {
                _ if is_source && profile.has_keys() => None,
                Some((role, source)) => {
                    roles.push(role);
                    Some(source)
                }
                None => None,
            };
            let source = match next {
                None => profile.source(profiles)?,
                Some(RoleSource::Named(source)) => ProfileSource::Named(source),
                Some(RoleSource::Profile(source)) if source == current => {
                    ProfileSource::Keys(profile.keys()?)
                }
                Some(RoleSource::Profile(source)) => {
                    current = source;
                    continue;
                }
            };
            // The last role of the way is the first to assume.
            roles.reverse();
            return Ok(Self { source, roles });
        }
    }
}

/// Where the credentials for a role come from.
enum RoleSource<'a> {
    Named(NamedSource),
    Profile(&'a str),
}

#[derive(Clone, Copy)]
struct Profile<'a> {
    name: &'a str,
    section: &'a Section,
}

impl<'a> Profile<'a> {
    fn get(&self, property: &str) -> Option<&'a str> {
        self.section.get(property)
    }

    fn require(&self, property: &'static str) -> Result<&'a str, ChainError> {
        self.get(property).ok_or_else(|| ChainError::Missing {
            profile: self.name.to_owned(),
            property,
        })
    }

    fn owned(&self, property: &str) -> Option<String> {
        self.get(property).map(str::to_owned)
    }

    fn invalid(&self, property: &'static str) -> ChainError {
        ChainError::Invalid {
            profile: self.name.to_owned(),
            property,
        }
    }

    /// The role that is assumed with other credentials, and where these are. `None` for web identity.
    fn role(&self) -> Result<Option<(AssumeRole, RoleSource<'a>)>, ChainError> {
        let Some(role_arn) = self.get("role_arn") else {
            return Ok(None);
        };
        let source = match (self.get("source_profile"), self.get("credential_source")) {
            (Some(_), Some(_)) => {
                return Err(ChainError::TwoSources {
                    profile: self.name.to_owned(),
                });
            }
            (Some(profile), None) => RoleSource::Profile(profile),
            (None, Some(_)) => RoleSource::Named(self.named_source()?),
            (None, None) if self.get("web_identity_token_file").is_some() => return Ok(None),
            (None, None) => {
                return Err(ChainError::Missing {
                    profile: self.name.to_owned(),
                    property: "source_profile",
                });
            }
        };
        let duration_seconds = match self.get("duration_seconds") {
            None => None,
            Some(text) => {
                let parsed = text.parse().map_err(|_| self.invalid("duration_seconds"));
                Some(parsed?)
            }
        };
        let role = AssumeRole {
            profile: self.name.to_owned(),
            role_arn: role_arn.to_owned(),
            external_id: self.owned("external_id"),
            session_name: self.owned("role_session_name"),
            duration_seconds,
            mfa_serial: self.owned("mfa_serial"),
        };
        Ok(Some((role, source)))
    }

    fn named_source(&self) -> Result<NamedSource, ChainError> {
        match self.require("credential_source")? {
            "Ec2InstanceMetadata" => Ok(NamedSource::Ec2InstanceMetadata),
            "EcsContainer" => Ok(NamedSource::EcsContainer),
            "Environment" => Ok(NamedSource::Environment),
            _ => Err(self.invalid("credential_source")),
        }
    }

    fn has_keys(&self) -> bool {
        self.get("aws_access_key_id").is_some() || self.get("aws_secret_access_key").is_some()
    }

    fn keys(&self) -> Result<CredentialSet, ChainError> {
        let id = self.require("aws_access_key_id")?;
        let mut keys = CredentialSet::new(id, self.require("aws_secret_access_key")?);
        keys.session_token = self
            .owned("aws_session_token")
            .filter(|token| !token.is_empty())
            .map(Into::into);
        keys.account_id = self.owned("aws_account_id");
        Ok(keys)
    }

    /// The source of a profile without a role.
    fn source(&self, profiles: &ProfileSet) -> Result<ProfileSource, ChainError> {
        if self.get("credential_source").is_some() && !self.has_keys() {
            return Ok(ProfileSource::Named(self.named_source()?));
        }
        if let Some(token_file) = self.get("web_identity_token_file") {
            return Ok(ProfileSource::WebIdentity {
                role_arn: self.require("role_arn")?.to_owned(),
                token_file: token_file.to_owned(),
                session_name: self.owned("role_session_name"),
            });
        }
        if let Some(sso) = self.sso(profiles)? {
            return Ok(ProfileSource::Sso(sso));
        }
        if self.has_keys() {
            return Ok(ProfileSource::Keys(self.keys()?));
        }
        match self.get("credential_process") {
            Some(command) => Ok(ProfileSource::Process {
                command: command.to_owned(),
            }),
            None => Err(ChainError::NoCredentials {
                profile: self.name.to_owned(),
            }),
        }
    }

    /// The settings of IAM Identity Center, if the profile has an account or a role of it.
    fn sso(&self, profiles: &ProfileSet) -> Result<Option<SsoSource>, ChainError> {
        if self.get("sso_account_id").is_none() && self.get("sso_role_name").is_none() {
            return Ok(None);
        }
        let session = self.get("sso_session");
        let settings = match session {
            None => *self,
            Some(name) => Profile {
                name,
                section: profiles
                    .sso_session(name)
                    .ok_or_else(|| self.invalid("sso_session"))?,
            },
        };
        Ok(Some(SsoSource {
            session: session.map(str::to_owned),
            start_url: settings.require("sso_start_url")?.to_owned(),
            region: settings.require("sso_region")?.to_owned(),
            account_id: self.require("sso_account_id")?.to_owned(),
            role_name: self.require("sso_role_name")?.to_owned(),
        }))
    }
}
