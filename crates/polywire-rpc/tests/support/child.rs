//! This test again, as another process that answers lines with lines.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// What a child begins its lines with, since the runner of tests writes some too.
const MARK: &str = "child: ";

const TOLD: &str = "POLYWIRE_TEST_TOLD";

/// A child. It ends when this is dropped.
pub(crate) struct Child {
    process: std::process::Child,
    questions: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts one of the ignored tests that are children, and tells it something.
    pub(crate) fn start(test: &str, told: &str) -> Self {
        Self::of(Command::new(std::env::current_exe().unwrap()), test, told)
    }

    /// The same with so many descriptors. `None` if they are not to be had.
    pub(crate) fn with_descriptors(count: usize, test: &str, told: &str) -> Option<Self> {
        let allow = format!("ulimit -n {count}");
        let allowed = Command::new("sh").args(["-c", &allow]).output().unwrap();
        if !allowed.status.success() {
            return None;
        }
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{allow} && exec \"$0\" \"$@\"")]);
        command.arg(std::env::current_exe().unwrap());
        Some(Self::of(command, test, told))
    }

    fn of(mut command: Command, test: &str, told: &str) -> Self {
        let mut process = command
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env(TOLD, told)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            questions: process.stdin.take().unwrap(),
            lines: BufReader::new(process.stdout.take().unwrap()).lines(),
            process,
        }
    }

    /// The next line that it says.
    pub(crate) fn line(&mut self) -> String {
        let mut lines = self.lines.by_ref().map(Result::unwrap);
        let line = lines.find_map(|line| line.strip_prefix(MARK).map(str::to_owned));
        line.expect("a line, not the end of the child")
    }

    /// What it answers.
    pub(crate) fn ask(&mut self, question: &str) -> String {
        writeln!(self.questions, "{question}").unwrap();
        self.line()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What this process was told, if it is a child.
pub(crate) fn told() -> Option<String> {
    std::env::var(TOLD).ok()
}

/// Says a line to the parent.
pub(crate) fn say(line: impl std::fmt::Display) {
    // In front of it may stand what the runner writes, without the end of a line.
    println!("\n{MARK}{line}");
}

/// The questions of the parent, until it ends.
pub(crate) fn questions() -> impl Iterator<Item = String> {
    std::io::stdin().lines().map_while(Result::ok)
}

/// The bytes of this process that are in memory.
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse::<usize>().unwrap() * 1024
}
