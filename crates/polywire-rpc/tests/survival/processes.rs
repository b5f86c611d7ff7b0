//! This test again, as another process that can be killed.

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Long enough for anything that ends at all, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// The result of something that must end.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("still waiting after {PATIENCE:?}"),
    }
}

/// What a child begins its lines with, since the runner of tests writes some too.
const MARK: &str = "child: ";

/// Says a line to the parent.
#[allow(clippy::print_stdout, reason = "how a child talks")]
pub(crate) fn say(line: impl std::fmt::Display) {
    // In front of it may stand what the runner writes, without the end of a line.
    println!("\n{MARK}{line}");
}

/// The place that this process was told, if it is a child.
pub(crate) fn told() -> Option<String> {
    std::env::var(TOLD).ok()
}

const TOLD: &str = "POLYWIRE_TEST_TOLD";

/// A child. It is killed when this is dropped.
pub(crate) struct Child {
    process: std::process::Child,
    lines: UnboundedReceiver<String>,
}

impl Child {
    /// Starts one of the ignored tests that are children, and tells it something.
    pub(crate) fn start(test: &str, told: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env(TOLD, told)
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

    /// The next line that it says.
    pub(crate) async fn line(&mut self) -> String {
        let line = within(self.lines.recv()).await;
        line.expect("a line, not the end of the child")
    }

    /// All lines that it has said and that nobody has asked for, once it has ended.
    pub(crate) async fn rest(mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = within(self.lines.recv()).await {
            lines.push(line);
        }
        lines
    }

    /// Kills it, by the signal that nobody can catch, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
