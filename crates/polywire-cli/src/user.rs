//! The user name and password of a caller.
//!
//! Command lines are visible to all users of the machine. So passwords are read from a file, an
//! environment variable, or a prompt.

use std::fs;
use std::io::IsTerminal;
use std::path::PathBuf;

use console::Term;

use crate::{Failure, print};

/// The environment variable for the password.
const VARIABLE: &str = "POLYWIRE_PASSWORD";

#[derive(Debug, clap::Args)]
pub(crate) struct UserArguments {
    /// The user name. The password is read from --password-file, from the environment variable
    /// POLYWIRE_PASSWORD, or from a prompt. A password in this argument is visible to other users
    /// of the machine
    #[arg(long, short, value_name = "USER[:PASSWORD]")]
    user: Option<String>,
    /// Read the password from the first line of this file
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl UserArguments {
    /// Returns the user name and password, if --user is given.
    pub(crate) fn credentials(&self) -> Result<Option<(String, String)>, Failure> {
        let Some(user) = &self.user else {
            return Ok(None);
        };
        if let Some((user, password)) = user.split_once(':') {
            if self.password_file.is_some() {
                let message = "--user contains a password, so --password-file cannot be used";
                return Err(Failure::usage(message));
            }
            return Ok(Some((user.to_owned(), password.to_owned())));
        }
        match self.password(user)? {
            Some(password) => Ok(Some((user.clone(), password))),
            None => Err(Failure::usage(format!(
                "--user contains no password, and there is no terminal for a prompt: set {VARIABLE}, or \
                 name a file by --password-file"
            ))),
        }
    }

    /// Adds the password to a URL that has a user but no password, if there is one.
    pub(crate) fn url(&self, url: &str) -> Result<String, Failure> {
        let Some(end) = end_of_user(url).filter(|_| self.user.is_none()) else {
            return match (&self.password_file, &self.user) {
                (Some(_), None) => Err(Failure::usage(
                    "--password-file requires --user USER, or a user without password in the URL",
                )),
                _ => Ok(url.to_owned()),
            };
        };
        let (before, after) = url.split_at(end);
        let user = before.rsplit('/').next().unwrap_or_default();
        Ok(match self.password(user)? {
            None => url.to_owned(),
            Some(password) => {
                let letters = password.bytes().map(|byte| format!("%{byte:02X}"));
                format!("{before}:{}{after}", letters.collect::<String>())
            }
        })
    }

    /// Reads the password of a user from the file, the variable or the prompt.
    fn password(&self, user: &str) -> Result<Option<String>, Failure> {
        if let Some(path) = &self.password_file {
            let text = fs::read_to_string(path);
            let text =
                text.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
            return Ok(Some(text.lines().next().unwrap_or_default().to_owned()));
        }
        match std::env::var(VARIABLE) {
            Ok(password) => Ok(Some(password)),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(Failure::usage(format!("{VARIABLE} is not UTF-8")))
            }
            Err(std::env::VarError::NotPresent) => ask(user),
        }
    }
}

/// Prompts for the password, if there is a terminal.
fn ask(user: &str) -> Result<Option<String>, Failure> {
    if !std::io::stderr().is_terminal() {
        return Ok(None);
    }
    let terminal = Term::stderr();
    let question = format!("Password of {}: ", print::escape_controls(user));
    let answer = terminal.write_str(&question);
    let answer = answer.and_then(|()| terminal.read_secure_line());
    let answer = answer.map_err(|error| Failure::usage(format!("no password: {error}")));
    answer.map(Some)
}

/// Returns the end of the user name in a URL without password, not even an empty one.
fn end_of_user(url: &str) -> Option<usize> {
    let start = url.find("://")? + 3;
    let rest = &url[start..];
    let head = rest.find(['/', '?', '#']).map_or(rest, |end| &rest[..end]);
    let end = head.rfind('@')?;
    let user = &head[..end];
    (!user.is_empty() && !user.contains(':')).then_some(start + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_without_a_password() {
        for (url, user) in [
            ("http://me@host/", Some("http://me")),
            ("https://me@host:1/a@b", Some("https://me")),
            ("http+unix://me@/run/a.sock", Some("http+unix://me")),
            ("http://a@b@host", Some("http://a@b")),
            ("http://me:@host/", None),
            ("http://me:secret@host/", None),
            ("http://@host/", None),
            ("http://host/a@b", None),
            ("http://host?a@b", None),
            ("me@host", None),
        ] {
            assert_eq!(end_of_user(url).map(|end| &url[..end]), user, "{url}");
        }
    }

    #[test]
    fn passwords_of_files_go_into_the_url() {
        let path = std::env::temp_dir().join(format!("polywire-user-{}", std::process::id()));
        fs::write(&path, "p@ ö\r\nanother line\n").unwrap();
        let arguments = |user: Option<&str>| UserArguments {
            user: user.map(str::to_owned),
            password_file: Some(path.clone()),
        };
        let url = arguments(None).url("http://me@host/RPC2").unwrap();
        assert_eq!(url, "http://me:%70%40%20%C3%B6@host/RPC2");
        let pair = arguments(Some("me")).credentials().unwrap().unwrap();
        assert_eq!(pair, ("me".to_owned(), "p@ ö".to_owned()));
        for (user, part) in [(Some("me:x"), "contains a password"), (None, "--user USER")] {
            let arguments = arguments(user);
            let failed = match user {
                Some(_) => arguments.credentials().map(drop),
                None => arguments.url("http://host/").map(drop),
            };
            assert!(failed.unwrap_err().message.contains(part));
        }
        fs::remove_file(&path).unwrap();
        let gone = arguments(Some("me")).credentials().unwrap_err();
        assert!(gone.message.contains("polywire-user-"), "{}", gone.message);
    }
}
