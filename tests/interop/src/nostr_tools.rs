//! nostr-tools, in one Node process for a whole case.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::workspace;

/// The timeout of one answer: pure JavaScript signs and encrypts slowly.
const PATIENCE: Duration = Duration::from_secs(120);

/// A Node process that runs `tests/nostr/tools.js`. Each request and each answer is one line of
/// JSON. The process is killed on drop.
#[derive(Debug)]
pub struct NostrTools {
    child: Child,
    /// Locked during one request and its answer.
    lines: Mutex<(ChildStdin, Receiver<String>)>,
}

impl NostrTools {
    /// Starts the process, or returns the reason why it cannot start.
    pub(crate) fn start() -> Result<Self, String> {
        let modules = workspace().join("tests/interop/node_modules");
        let program = workspace().join("tests/interop/tests/nostr/tools.js");
        let started = Command::new("node")
            .arg(program)
            .env("NODE_PATH", modules)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn();
        let mut child = started.map_err(|error| format!("node: {error}"))?;
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // The receiver may have been dropped.
                let _ = sender.send(line);
            }
        });
        let tools = Self {
            child,
            lines: Mutex::new((input, answers)),
        };
        match tools.try_call("version", &json!(null)) {
            Ok(_) => Ok(tools),
            Err(error) => Err(format!("nostr-tools: {error}")),
        }
    }

    /// Calls a function that succeeds.
    ///
    /// # Panics
    ///
    /// The function fails.
    #[must_use]
    pub fn call(&self, what: &str, with: &Value) -> Value {
        let answer = self.try_call(what, with);
        answer.unwrap_or_else(|error| panic!("{what} of nostr-tools: {error}"))
    }

    /// Calls a function that returns a string.
    ///
    /// # Panics
    ///
    /// The function fails, or returns another type.
    #[must_use]
    pub fn text(&self, what: &str, with: &Value) -> String {
        self.call(what, with).as_str().unwrap().to_owned()
    }

    /// Calls a function.
    ///
    /// # Errors
    ///
    /// The message of the exception.
    ///
    /// # Panics
    ///
    /// There is no answer in time.
    pub fn try_call(&self, what: &str, with: &Value) -> Result<Value, String> {
        let lines = self.lines.lock();
        let mut lines = lines.unwrap_or_else(std::sync::PoisonError::into_inner);
        let question = json!({ "do": what, "with": with });
        if writeln!(lines.0, "{question}").is_err() {
            return Err("it has ended".to_owned());
        }
        let answer = lines.1.recv_timeout(PATIENCE);
        let answer = answer.map_err(|error| format!("no answer to {what}: {error}"))?;
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        match answer.get("error") {
            Some(error) => Err(error.as_str().unwrap().to_owned()),
            None => Ok(answer["ok"].take()),
        }
    }
}

impl Drop for NostrTools {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
