//! Which callers `polywire serve` accepts.

use std::fs;
use std::path::{Path, PathBuf};

use polywire::rpc::ServerBuilder;
use polywire::rpc::auth::{BasicAuth, BearerAuth, ClientCertificateAuth, UnixUserAuth};

use crate::{Failure, print};

/// Callers on every wire, frames too, have to match one of the options that are given. Without any of them all callers
/// are accepted.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Authentication")]
pub(crate) struct AuthenticationArguments {
    /// Accept callers with a user name and password (HTTP Basic) of this file: one NAME:PASSWORD a
    /// line. Empty lines and lines that begin with # are ignored.
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// Accept callers with a bearer token of this file: one NAME:TOKEN a line.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Accept processes of these users, by their numbers, at Unix sockets.
    #[arg(long, value_name = "UID", num_args = 1..)]
    allow_uid: Vec<u32>,
    /// Accept callers with a certificate that --client-ca has signed. Callers without one need
    /// another way: without this option --client-ca rejects them in the handshake.
    #[arg(long, requires = "client_ca")]
    allow_certificate: bool,
}

/// How a line to paste sends credentials, with placeholders for the secrets.
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
    /// The options of `curl`, each after a space. None if it cannot send such credentials to this URL.
    pub(crate) fn of_curl(self, url: &str) -> Option<&'static str> {
        match self {
            Self::Unneeded => Some(""),
            Self::Password => Some(" -u NAME:PASSWORD"),
            Self::Token => Some(" -H 'authorization: Bearer TOKEN'"),
            Self::Certificate => is_tls(url).then_some(" --cert CERTIFICATE --key KEY"),
            Self::UnixUser => None,
        }
    }

    /// The same for this program.
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
    /// The credentials that a person most likely has at hand.
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

    /// Whether clients over TLS may connect without a certificate.
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
            // Without the line, which holds a secret.
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
