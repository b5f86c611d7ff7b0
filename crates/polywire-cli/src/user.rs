//! Who calls: a user, and a password that no command line has to hold.
//!
//! Every user of a machine can list the command lines of all its processes. So a password comes
//! from a file, from the environment, or from the person at the terminal.

use std::fs;
use std::io::IsTerminal;
use std::path::PathBuf;

use console::Term;

use crate::{Failure, print};

/// The variable that has the password.
const VARIABLE: &str = "POLYWIRE_PASSWORD";

#[derive(Debug, clap::Args)]
pub(crate) struct UserArguments {
    /// Who calls. The password is that of --password-file, or that of the variable
    /// POLYWIRE_PASSWORD, or else is asked for at the terminal. Other users of the
    /// machine can see one that stands here.
    #[arg(long, short, value_name = "USER[:PASSWORD]")]
    user: Option<String>,
    /// The file with the password: its first line.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl UserArguments {
    /// User and password, if --user names one.
    pub(crate) fn credentials(&self) -> Result<Option<(String, String)>, Failure> {
        let Some(user) = &self.user else {
            return Ok(None);
        };
        if let Some((user, password)) = user.split_once(':') {
            if self.password_file.is_some() {
                let message = "--user has a password, and --password-file another";
                return Err(Failure::usage(message));
            }
            return Ok(Some((user.to_owned(), password.to_owned())));
        }
        match self.password(user)? {
            Some(password) => Ok(Some((user.clone(), password))),
            None => Err(Failure::usage(format!(
                "--user has no password, and there is no terminal to ask at: set {VARIABLE}, or \
                 name a file by --password-file"
            ))),
        }
    }

    /// The URL, with a password if it has a user and none: where nobody tells one, as it is.
    pub(crate) fn url(&self, url: &str) -> Result<String, Failure> {
        let Some(end) = end_of_user(url).filter(|_| self.user.is_none()) else {
            return match (&self.password_file, &self.user) {
                (Some(_), None) => Err(Failure::usage(
                    "--password-file is for --user USER, or for a user in the URL without one",
                )),
                _ => Ok(url.to_owned()),
            };
        };
        let (before, behind) = url.split_at(end);
        let user = before.rsplit('/').next().unwrap_or_default();
        Ok(match self.password(user)? {
            None => url.to_owned(),
            Some(password) => {
                let letters = password.bytes().map(|byte| format!("%{byte:02X}"));
                format!("{before}:{}{behind}", letters.collect::<String>())
            }
        })
    }

    /// The password of a user, from wherever there is one.
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

/// Asks the person at the terminal, if there is one.
fn ask(user: &str) -> Result<Option<String>, Failure> {
    if !std::io::stderr().is_terminal() {
        return Ok(None);
    }
    let terminal = Term::stderr();
    let question = format!("Password of {}: ", print::harmless(user));
    let answer = terminal.write_str(&question);
    let answer = answer.and_then(|()| terminal.read_secure_line());
    let answer = answer.map_err(|error| Failure::usage(format!("no password: {error}")));
    answer.map(Some)
}

/// Where the user in a URL ends that has no password, not even an empty one.
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
        for (user, part) in [(Some("me:x"), "another"), (None, "--user USER")] {
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
