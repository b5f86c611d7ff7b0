//! End-to-end tests of the program `polywire nostr`.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

mod check;
mod events;
mod messages;
mod secrets;

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use polywire_nostr::{Event, EventBuilder, KeyPair, SecretKey};
use tempfile::TempDir;

/// The output of the program.
struct Output {
    code: i32,
    out: String,
    err: String,
}

impl Output {
    /// Asserts the exit status. Panics with the output otherwise.
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }
}

fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_polywire"))
        .arg("nostr")
        .args(arguments)
        .env_remove("POLYWIRE_NOSTR_KEY")
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn nostr_with(arguments: &[&str], input: impl AsRef<[u8]>, variables: &[(&str, &str)]) -> Output {
    let mut child = start(arguments, variables);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    // On another thread: the program may exit before it has read its input, or write before that.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Output {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn nostr(arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    nostr_with(arguments, input, &[])
}

/// Runs the program with the key of [`keys`] in the environment.
fn nostr_as_me(arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    let secret = keys().secret_key().to_hex();
    nostr_with(arguments, input, &[("POLYWIRE_NOSTR_KEY", &secret)])
}

fn keys() -> KeyPair {
    KeyPair::from(SecretKey::from_bytes([7; 32]).unwrap())
}

/// Deterministic, including the signature.
fn event(number: u64) -> Event {
    let keys = keys();
    let event = EventBuilder::new(1, format!("event {number}"), 1_700_000_000 + number)
        .tag(["t", "test"])
        .build(&keys.public_key());
    let signature = keys.sign_with_aux(event.id(), &[0; 32]);
    event.with_signature(&signature)
}

fn line(number: u64) -> String {
    event(number).as_ref().as_json().to_owned()
}

/// A temporary directory, deleted on drop.
struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }
}
