//! Credentials that a program writes.

use std::fmt;
use std::process::Stdio;
use std::time::Duration;

use polywire_aws::credentials::from_process;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use zeroize::Zeroizing;

use super::super::authenticator::now;
use super::super::{Credentials, CredentialsFuture, CredentialsProvider};
use super::{BoxError, ProviderError, boxed};

/// The largest output, in bytes.
const MAX_OUTPUT: u64 = 64 * 1024;

/// Runs a command that writes credentials as JSON: `credential_process` of a profile
/// ([documentation](https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html)).
///
/// The command is split at white space. Single and double quotes group characters; a backslash outside single quotes makes
/// the next character literal, except on Windows, where it is part of paths. There is no shell: no variables, no `~`, no
/// pipes. The program inherits the environment; its standard input is empty, and its standard error is discarded, because
/// it may have secrets.
///
/// It runs the command for each request that is signed: use it in a [`CachedProvider`](super::CachedProvider).
#[derive(Clone)]
pub struct ProcessProvider {
    command: Zeroizing<String>,
    time_limit: Duration,
}

impl ProcessProvider {
    /// A provider that runs a command for up to 60 seconds.
    #[must_use]
    pub fn new(command: &str) -> Self {
        Self {
            command: Zeroizing::new(command.to_owned()),
            time_limit: Duration::from_secs(60),
        }
    }

    /// Sets the time after which the program is killed.
    #[must_use]
    pub const fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    async fn fetch(&self) -> Result<Credentials, BoxError> {
        let words = split(&self.command).ok_or("the command has a quote without its end")?;
        let (program, arguments) = words.split_first().ok_or("the command is empty")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("the program does not start: {}", error.kind()))?;
        let output = child.stdout.take().ok_or("the program has no output")?;
        let run = async {
            let mut bytes = Zeroizing::new(Vec::new());
            output.take(MAX_OUTPUT + 1).read_to_end(&mut bytes).await?;
            if bytes.len() as u64 > MAX_OUTPUT {
                return Err(format!("the output has more than {MAX_OUTPUT} bytes").into());
            }
            match child.wait().await? {
                status if status.success() => Ok(bytes),
                status => Err(BoxError::from(format!("the program ended with {status}"))),
            }
        };
        // The program is killed when `child` is dropped.
        let bytes = tokio::time::timeout(self.time_limit, run).await;
        let seconds = self.time_limit.as_secs_f64();
        let bytes = bytes.map_err(|_| format!("the program ran for more than {seconds} s"))??;
        Ok(Credentials::from(&from_process(&bytes, now())?))
    }
}

impl fmt::Debug for ProcessProvider {
    /// Without the command, whose arguments may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessProvider")
            .field("time_limit", &self.time_limit)
            .finish_non_exhaustive()
    }
}

impl CredentialsProvider for ProcessProvider {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(async {
            let result = self.fetch().await;
            boxed(result.map_err(|error| ProviderError::new("the process", error)))
        })
    }
}

/// The words of a command. `None` if a quote does not end.
fn split(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = command.chars();
    while let Some(next) = characters.next() {
        match (next, quote) {
            (end, Some(open)) if end == open => quote = None,
            ('\\', None | Some('"')) if !cfg!(windows) => {
                let escaped = characters.next()?;
                let word = word.get_or_insert_default();
                // Within double quotes, only these are escaped.
                if quote.is_some() && !matches!(escaped, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(escaped);
            }
            (other, Some(_)) => word.get_or_insert_default().push(other),
            (open @ ('"' | '\''), None) if open == '"' || !cfg!(windows) => {
                quote = Some(open);
                // An empty word.
                word.get_or_insert_default();
            }
            (space, None) if space.is_whitespace() => words.extend(word.take()),
            (other, None) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(all(test, unix))]
mod tests {
    use super::split;

    #[test]
    fn commands_are_split_as_by_a_shell() {
        for (command, words) in [
            ("", &[][..]),
            ("  a  b ", &["a", "b"]),
            ("'a b' \"c d\"e f\\ g", &["a b", "c de", "f g"]),
            (r#"a "" '' "x\"y\z" '\'"#, &["a", "", "", "x\"y\\z", "\\"]),
            ("a $HOME ~ | b", &["a", "$HOME", "~", "|", "b"]),
        ] {
            assert_eq!(split(command).unwrap(), words, "{command}");
        }
        for command in ["'a", "\"a", "a\\"] {
            assert_eq!(split(command), None, "{command}");
        }
    }
}
