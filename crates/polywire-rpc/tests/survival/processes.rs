//! Runs a test of this binary in a child process that can be killed.

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Upper bound for anything that must end, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Awaits a future. Panics if it takes longer than `PATIENCE`.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("still waiting after {PATIENCE:?}"),
    }
}

/// Prefix of the lines of a child, because the test harness also writes to stdout.
const MARK: &str = "child: ";

/// Prints a line for the parent.
#[allow(clippy::print_stdout, reason = "how a child talks")]
pub(crate) fn print_line(line: impl std::fmt::Display) {
    // The test harness may have written an unterminated line before.
    println!("\n{MARK}{line}");
}

/// The argument from the parent, if this process is a child.
pub(crate) fn argument() -> Option<String> {
    std::env::var(ARGUMENT).ok()
}

const ARGUMENT: &str = "POLYWIRE_TEST_ARGUMENT";

/// A child process. It is killed on drop.
pub(crate) struct Child {
    process: std::process::Child,
    lines: UnboundedReceiver<String>,
}

impl Child {
    /// Starts an ignored test as a child process, with an argument.
    pub(crate) fn start(test: &str, argument: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env(ARGUMENT, argument)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        let (tell, lines) = unbounded_channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if let Some(line) = line.strip_prefix(MARK) {
                    let _ = tell.send(line.to_owned());
                }
            }
        });
        Self { process, lines }
    }

    /// The next line from the child.
    pub(crate) async fn line(&mut self) -> String {
        let line = within(self.lines.recv()).await;
        line.expect("a line, not the end of the child")
    }

    /// All unread lines of the child, once it has exited.
    pub(crate) async fn remaining_lines(mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = within(self.lines.recv()).await {
            lines.push(line);
        }
        lines
    }

    /// Kills the child with a signal that it cannot catch, and waits for its exit.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
