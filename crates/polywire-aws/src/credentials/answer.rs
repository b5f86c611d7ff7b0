//! The JSON answers of providers.

use std::error::Error;
use std::fmt;

use polywire_text::Timestamp;
use serde_json::Value;
use zeroize::Zeroizing;

use super::CredentialSet;

/// An answer without usable credentials. It contains nothing of the answer but the code of an error.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AnswerError {
    /// The credentials are not valid any more.
    Expired {
        /// Since when.
        expiry: Timestamp,
    },
    /// The answer is not a JSON object.
    Malformed,
    /// A member is missing, or is not a string.
    Member {
        /// The name of the member.
        name: &'static str,
    },
    /// The provider reports an error.
    Rejected {
        /// The code of the error, such as `AssumeRoleUnauthorizedAccess`.
        code: String,
    },
    /// The version of the answer of a process is not 1.
    Version,
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { .. } => f.write_str("the credentials are expired"),
            Self::Malformed => f.write_str("the answer of the provider is not a JSON object"),
            Self::Member { name } => {
                write!(f, "the answer of the provider has no valid member `{name}`")
            }
            Self::Rejected { code } => write!(f, "the provider reports the error `{code}`"),
            Self::Version => f.write_str("the answer of the process does not have the version 1"),
        }
    }
}

impl Error for AnswerError {}

/// Reads the output of a `credential_process`
/// ([format](https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html)): version 1, with an
/// optional token and expiry.
///
/// # Errors
///
/// The output is not JSON, has another version, lacks a member, or the credentials are expired at `now`.
///
/// ```
/// use polywire_aws::credentials::{AnswerError, from_process};
/// use polywire_text::Timestamp;
///
/// let output = br#"{ "Version": 1, "AccessKeyId": "AKID", "SecretAccessKey": "s", "Expiration": "2030-01-01T00:00:00Z" }"#;
/// let early = Timestamp::parse_date_time("2029-12-31T23:59:59Z")?;
/// assert_eq!(from_process(output, early).unwrap().access_key_id(), "AKID");
/// let late = Timestamp::parse_date_time("2030-01-01T00:00:00Z")?;
/// assert_eq!(from_process(output, late), Err(AnswerError::Expired { expiry: late }));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn from_process(output: &[u8], now: Timestamp) -> Result<CredentialSet, AnswerError> {
    let answer = Answer::parse(output)?;
    if answer.get("Version").and_then(Value::as_u64) != Some(1) {
        return Err(AnswerError::Version);
    }
    let token = answer.optional("SessionToken")?;
    let expiry = match answer.optional("Expiration")? {
        Some(_) => Some(answer.expiry()?),
        None => None,
    };
    answer.credentials(token, expiry, Some(now))
}

/// Reads the answer of a container endpoint
/// ([format](https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html)), also an error of it.
///
/// # Errors
///
/// The answer is not JSON, is an error, lacks a member, or the credentials are expired at `now`.
pub fn from_container(body: &[u8], now: Timestamp) -> Result<CredentialSet, AnswerError> {
    let answer = Answer::parse(body)?;
    if answer.get("AccessKeyId").is_none() {
        answer.check_code(["code", "Code"])?;
    }
    let expiry = answer.expiry()?;
    answer.credentials(Some(answer.text("Token")?), Some(expiry), Some(now))
}

/// Reads the answer of the instance metadata service
/// ([format](https://docs.aws.amazon.com/sdkref/latest/guide/feature-imds-credentials.html)).
///
/// Without `now`, expired credentials are accepted. SDKs use them when the service cannot renew them, and ask again
/// some minutes later.
///
/// # Errors
///
/// The answer is not JSON, its code is not `Success`, it lacks a member, or the credentials are expired at `now`.
pub fn from_instance_metadata(
    body: &[u8],
    now: Option<Timestamp>,
) -> Result<CredentialSet, AnswerError> {
    let answer = Answer::parse(body)?;
    answer.check_code(["Code", "code"])?;
    let expiry = answer.expiry()?;
    answer.credentials(Some(answer.text("Token")?), Some(expiry), now)
}

/// The longest code of an error that is kept, in bytes.
const MAX_CODE: usize = 128;

struct Answer(serde_json::Map<String, Value>);

impl Answer {
    fn parse(bytes: &[u8]) -> Result<Self, AnswerError> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            // Errors of serde_json can quote the answer.
            _ => Err(AnswerError::Malformed),
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn optional(&self, name: &'static str) -> Result<Option<&str>, AnswerError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
            Some(_) => Err(AnswerError::Member { name }),
        }
    }

    fn text(&self, name: &'static str) -> Result<&str, AnswerError> {
        self.optional(name)?.ok_or(AnswerError::Member { name })
    }

    fn expiry(&self) -> Result<Timestamp, AnswerError> {
        let name = "Expiration";
        Timestamp::parse_date_time(self.text(name)?).map_err(|_| AnswerError::Member { name })
    }

    /// An error if there is a code other than `Success`.
    fn check_code(&self, names: [&str; 2]) -> Result<(), AnswerError> {
        match self.code(names) {
            Some(code) if code != "Success" => Err(AnswerError::Rejected { code }),
            _ => Ok(()),
        }
    }

    /// The code of an error: a word, so that it cannot be a secret or break a log.
    fn code(&self, names: [&str; 2]) -> Option<String> {
        let code = names.iter().find_map(|name| self.get(name)?.as_str())?;
        let is_word = code.len() <= MAX_CODE
            && code
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        Some(if is_word { code } else { "unknown" }.to_owned())
    }

    fn credentials(
        &self,
        token: Option<&str>,
        expiry: Option<Timestamp>,
        now: Option<Timestamp>,
    ) -> Result<CredentialSet, AnswerError> {
        let id = self.text("AccessKeyId")?;
        let mut found = CredentialSet::new(id, self.text("SecretAccessKey")?);
        found.session_token = token.map(|token| Zeroizing::new(token.to_owned()));
        found.expiry = expiry;
        found.account_id = self.optional("AccountId")?.map(str::to_owned);
        match (expiry, now) {
            (Some(expiry), Some(now)) if found.is_expired(now) => {
                Err(AnswerError::Expired { expiry })
            }
            _ => Ok(found),
        }
    }
}

impl Drop for Answer {
    /// Overwrites the texts of the parsed answer, which has secrets.
    fn drop(&mut self) {
        for value in self.0.values_mut() {
            if let Value::String(text) = value {
                drop(Zeroizing::new(std::mem::take(text)));
            }
        }
    }
}
