//! Reading secret keys, and rejecting them in arguments.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use console::Term;
use polywire_nostr::SecretKey;
use zeroize::Zeroizing;

use crate::{Failure, print};

/// The environment variable for the secret key.
const VARIABLE: &str = "POLYWIRE_NOSTR_KEY";

/// The maximum length of a key file in bytes. Every form of a key is shorter.
const MAX_FILE: u64 = 4096;

/// Options for secret keys in other programs.
const OPTIONS: [&str; 9] = [
    "key",
    "nsec",
    "privkey",
    "private-key",
    "sec",
    "secret",
    "secret-key",
    "seckey",
    "sk",
];

/// The prefixes of plain and encrypted secret keys.
const PREFIXES: [&str; 2] = ["nsec1", "ncryptsec1"];

#[derive(Clone, Debug, clap::Args)]
pub(super) struct KeyArguments {
    /// The file with the secret key: nsec1... or 64 hexadecimal digits in its first line. Without
    /// this option, the key is read from the variable POLYWIRE_NOSTR_KEY, or else from a prompt at
    /// the terminal.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl KeyArguments {
    /// Reads the secret key from the file, the variable or the terminal.
    pub(super) fn secret(&self) -> Result<SecretKey, Failure> {
        if let Some(path) = &self.key_file {
            let text = read_file(path)?;
            let line = text.lines().next().unwrap_or_default();
            return parse(line, &format!("`{}`", path.display()));
        }
        match std::env::var(VARIABLE) {
            Ok(text) => parse(&Zeroizing::new(text), VARIABLE),
            Err(std::env::VarError::NotUnicode(text)) => {
                drop(Zeroizing::new(text.into_encoded_bytes()));
                Err(Failure::usage(format_args!("{VARIABLE} is not UTF-8")))
            }
            Err(std::env::VarError::NotPresent) => prompt(),
        }
    }
}

/// Reads a key file.
fn read_file(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let file = File::open(path).map_err(|error| super::lines::unreadable(path, &error))?;
    warn_if_open_to_others(path, &file);
    read_text(file, MAX_FILE, &format!("`{}`", path.display()))
}

/// Reads text that is zeroized on drop. The buffer does not grow, because growing would leave
/// copies in freed memory.
pub(super) fn read_text(
    input: impl Read,
    max: u64,
    name: &str,
) -> Result<Zeroizing<String>, Failure> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(max as usize + 1));
    let read = input.take(max + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::usage(format_args!("{name} can't be read: {error}")))?;
    if bytes.len() as u64 > max {
        return Err(Failure::usage(format_args!(
            "{name} has more than {max} bytes"
        )));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(error) => Err(Failure::usage(format_args!(
            "{name} is not UTF-8, at byte {}",
            error.valid_up_to()
        ))),
    }
}

#[cfg(unix)]
fn warn_if_open_to_others(path: &Path, file: &File) {
    use std::os::unix::fs::PermissionsExt as _;

    let Ok(metadata) = file.metadata() else {
        return;
    };
    if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
        let path = path.display();
        print::err(format_args!(
            "warning: other users can read or change `{path}`; use chmod 600 to prevent this"
        ));
    }
}

#[cfg(not(unix))]
fn warn_if_open_to_others(_: &Path, _: &File) {}

/// Parses a key. Errors contain no part of it.
pub(super) fn parse(text: &str, source: &str) -> Result<SecretKey, Failure> {
    let text = text.trim();
    let lower = Zeroizing::new(text.to_ascii_lowercase());
    if lower.starts_with("ncryptsec1") {
        return Err(Failure::usage(format_args!(
            "{source} contains an encrypted key (NIP-49), which is not supported: decrypt it first"
        )));
    }
    let result = match lower.starts_with("nsec1") {
        true => SecretKey::from_nsec(text).map_err(|error| error.to_string()),
        false => SecretKey::from_hex(text).map_err(|error| error.to_string()),
    };
    result.map_err(|error| {
        Failure::usage(format_args!(
            "{source} contains no secret key (nsec1... or 64 hexadecimal digits): {error}"
        ))
    })
}

/// Reads the key from a prompt at the terminal, without echo.
fn prompt() -> Result<SecretKey, Failure> {
    if !io::stderr().is_terminal() {
        return Err(Failure::usage(format_args!(
            "no secret key, and no terminal for a prompt: use --key-file FILE, or set {VARIABLE}"
        )));
    }
    let terminal = Term::stderr();
    let answer = terminal.write_str("Secret key (nsec1... or hexadecimal): ");
    let answer = answer.and_then(|()| terminal.read_secure_line());
    let answer = answer.map_err(|error| Failure::usage(format_args!("no secret key: {error}")))?;
    parse(&Zeroizing::new(answer), "the input")
}

/// Whether text may contain a secret key: an nsec, or hexadecimal digits, which may also be other
/// data.
pub(super) fn may_be_one(text: &str) -> bool {
    is_name(text) || is_hex(text)
}

/// Whether text contains an nsec or ncryptsec, even with missing characters at the end.
fn is_name(text: &str) -> bool {
    const CHARACTERS: usize = 16;
    let text = Zeroizing::new(text.to_ascii_lowercase());
    let is_long = |after: &str| {
        let characters = after.bytes().take_while(u8::is_ascii_alphanumeric);
        characters.count() >= CHARACTERS
    };
    let found = |prefix: &&str| {
        let mut matches = text.match_indices(*prefix);
        matches.any(|(at, _)| is_long(&text[at + prefix.len()..]))
    };
    PREFIXES.iter().any(found)
}

/// Whether text is a key in hexadecimal, possibly with a few missing or additional digits.
fn is_hex(text: &str) -> bool {
    (50..80).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Fails if the arguments after `nostr` contain a possible secret key. Must be called before the
/// arguments are parsed, because parse errors contain them.
pub(crate) fn refuse_in_arguments(arguments: &[OsString]) -> Result<(), Failure> {
    let Some((first, arguments)) = arguments.split_first() else {
        return Ok(());
    };
    if first != "nostr" {
        return Ok(());
    }
    let texts = arguments.iter().map(|argument| argument.to_string_lossy());
    // These commands take public keys and ids only as option values.
    let takes_secrets = arguments.first().is_some_and(|command| {
        let commands = ["sign", "key", "encrypt", "decrypt"];
        commands.iter().any(|name| command == name)
    });
    let mut option_before = false;
    for text in texts {
        let option = text
            .strip_prefix("--")
            .map(|option| option.split_once('=').map_or(option, |(name, _)| name));
        if let Some(option) = option
            && OPTIONS.contains(&option)
        {
            return Err(refusal(&format!("--{option}")));
        }
        if is_name(&text) {
            return Err(refusal("a secret key"));
        }
        if takes_secrets && !option_before && is_hex(&text) {
            return Err(refusal("a hexadecimal string, which may be a secret key,"));
        }
        option_before = text == "--peer";
    }
    Ok(())
}

fn refusal(what: &str) -> Failure {
    Failure::usage(format_args!(
        "{what} is in the arguments, which other users of this machine can see, and which the shell \
         may store in its history. Put the key into a file that only you can read and use --key-file \
         FILE, set the variable {VARIABLE}, or enter it at the prompt. Stop using a key that was an \
         argument"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NSEC: &str = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5";
    const HEX: &str = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa";

    fn refused(line: &[&str]) -> Option<String> {
        let arguments: Vec<OsString> = line.iter().map(OsString::from).collect();
        refuse_in_arguments(&arguments).err().map(|failure| {
            assert_eq!(failure.code, 2);
            failure.message
        })
    }

    #[test]
    fn rejects_secrets_in_arguments() {
        let upper = NSEC.to_ascii_uppercase();
        let option = format!("--x={NSEC}");
        let uri = format!("nostr:{NSEC}");
        let assigned = format!("--key={HEX}");
        for line in [
            &["nostr", "sign", NSEC][..],
            &["nostr", "decode", NSEC],
            &["nostr", "decode", &uri],
            &["nostr", "decode", &NSEC[..40]],
            &["nostr", "sign", &upper],
            &["nostr", "sign", &option],
            &["nostr", "sign", &assigned],
            &["nostr", "sign", "--sec", HEX],
            &["nostr", "sign", HEX],
            &["nostr", "key", "show", HEX],
            &["nostr", "sign", &HEX[1..]],
            &["nostr", "encrypt", "--peer", HEX, HEX],
        ] {
            let message = refused(line).unwrap();
            let lower = message.to_ascii_lowercase();
            assert!(
                !lower.contains(&NSEC[..12]) && !lower.contains(HEX),
                "{line:?}"
            );
            assert!(message.contains("--key-file"), "{message}");
        }
        for line in [
            &["nostr", "encode", "npub", HEX][..],
            &["nostr", "encrypt", "--peer", HEX],
            &["nostr", "check", "nsec1.jsonl", "--all"],
            &["call", "tcp://host", "nsec1qqqqqqqqqqqqqqqqqqqqqqq"],
            &[],
        ] {
            assert_eq!(refused(line), None);
        }
    }

    #[test]
    fn errors_contain_no_keys() {
        let key = parse(&format!(" {NSEC}\r\n"), "it").unwrap();
        assert!(key == parse(HEX, "it").unwrap());
        let wrong = [
            NSEC.replace("qsnl", "qsnx"),
            HEX.replace("67de", "67dg"),
            HEX[1..].to_owned(),
            "0".repeat(64),
            format!("n{NSEC}"),
            NSEC.replace("nsec", "ncryptsec"),
        ];
        for text in wrong {
            let message = parse(&text, "it").unwrap_err().message;
            for part in [&NSEC[10..20], &HEX[10..20]] {
                assert!(!message.contains(part), "{message}");
            }
        }
    }
}
