//! The authentication options of `polywire serve`.

use std::fs;
use std::path::{Path, PathBuf};

use polywire::rpc::ServerBuilder;
use polywire::rpc::auth::{BasicAuth, BearerAuth, ClientCertificateAuth, UnixUserAuth};

use crate::{Failure, print};

/// Authentication applies to all protocols, including frames. Callers must match one of the
/// options. Without these options, all callers are accepted.
/// are accepted.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Authentication")]
pub(crate) struct AuthenticationArguments {
    /// Accept the user names and passwords (HTTP Basic) in this file, one NAME:PASSWORD per line.
    /// Empty lines and lines that start with # are ignored
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// Accept the bearer tokens in this file, one NAME:TOKEN per line
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Accept processes with these user IDs on Unix sockets
    #[arg(long, value_name = "UID", num_args = 1..)]
    allow_uid: Vec<u32>,
    /// Accept callers with a certificate signed by --client-ca. Callers without a certificate can
    /// then use the other options; otherwise --client-ca rejects them in the TLS handshake
    #[arg(long, requires = "client_ca")]
    allow_certificate: bool,
}

/// How an example command sends credentials. Secrets are placeholders.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CredentialKind {
    /// The server accepts all callers.
    Unneeded,
    Password,
    Token,
    Certificate,
    /// The server accepts only users of Unix sockets.
    UnixUser,
}

impl CredentialKind {
    /// Returns the options of `curl`, each after a space. `None` if curl cannot send such
    /// credentials to this URL.
    pub(crate) fn of_curl(self, url: &str) -> Option<&'static str> {
        match self {
            Self::Unneeded => Some(""),
            Self::Password => Some(" -u NAME:PASSWORD"),
            Self::Token => Some(" -H 'authorization: Bearer TOKEN'"),
            Self::Certificate => is_tls(url).then_some(" --cert CERTIFICATE --key KEY"),
            Self::UnixUser => None,
        }
    }

    /// Returns the options of this program, like `of_curl`.
    pub(crate) fn of_program(self, url: &str) -> Option<&'static str> {
        match self {
            Self::Password => Some(" --user NAME:PASSWORD"),
            Self::Token => Some(" --header 'authorization: Bearer TOKEN'"),
            Self::Unneeded | Self::Certificate | Self::UnixUser => self.of_curl(url),
        }
    }
}

fn is_tls(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("tcp+tls://")
}

impl AuthenticationArguments {
    /// Returns the credentials that users are most likely to have.
    pub(crate) const fn credentials(&self) -> CredentialKind {
        if self.users.is_some() {
            CredentialKind::Password
        } else if self.tokens.is_some() {
            CredentialKind::Token
        } else if self.allow_certificate {
            CredentialKind::Certificate
        } else if !self.allow_uid.is_empty() {
            CredentialKind::UnixUser
        } else {
            CredentialKind::Unneeded
        }
    }

    /// Whether TLS clients may connect without a certificate.
    pub(crate) const fn certificate_is_optional(&self) -> bool {
        self.allow_certificate
    }

    /// Adds the authenticators to a server.
    pub(crate) fn apply(
        &self,
        mut builder: ServerBuilder,
        quiet: bool,
    ) -> Result<ServerBuilder, Failure> {
        if !self.allow_uid.is_empty() {
            builder = builder.authenticate(UnixUserAuth::uids(self.allow_uid.iter().copied()));
        }
        if self.allow_certificate {
            builder = builder.authenticate(ClientCertificateAuth::any());
        }
        if let Some(path) = &self.users {
            builder = builder.authenticate(BasicAuth::users("polywire", pairs(path, quiet)?));
        }
        if let Some(path) = &self.tokens {
            builder = builder.authenticate(BearerAuth::tokens(pairs(path, quiet)?));
        }
        Ok(builder)
    }
}

/// Reads lines of `NAME:SECRET`.
fn pairs(path: &Path, quiet: bool) -> Result<Vec<(String, String)>, Failure> {
    let shown = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    if !quiet && is_readable_by_others(path) {
        print::err(format_args!(
            "warning: other users of this machine can read {shown}: chmod 600 {shown}"
        ));
    }
    let mut pairs = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once(':') {
            Some((name, secret)) if !name.is_empty() && !secret.is_empty() => {
                pairs.push((name.to_owned(), secret.to_owned()));
            }
            // The message omits the line, which contains a secret.
            _ => {
                let line = index + 1;
                let message = format!("{shown}, line {line}: expected NAME:SECRET");
                return Err(Failure::usage(message));
            }
        }
    }
    match pairs.is_empty() {
        true => Err(Failure::usage(format!(
            "{shown} has no entries: expected lines of NAME:SECRET"
        ))),
        false => Ok(pairs),
    }
}

#[cfg(unix)]
fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    fs::metadata(path).is_ok_and(|found| found.mode() & 0o044 != 0)
}

#[cfg(not(unix))]
const fn is_readable_by_others(_: &Path) -> bool {
    false
}
