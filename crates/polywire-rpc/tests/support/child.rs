//! Runs this test again as another process, which answers lines with lines.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// The prefix of the lines of a child, because the test runner writes lines too.
const MARK: &str = "child: ";

const TOLD: &str = "POLYWIRE_TEST_TOLD";

/// A child process. It ends when this is dropped.
pub(crate) struct Child {
    process: std::process::Child,
    questions: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts one of the ignored tests that are children, with an argument.
    pub(crate) fn start(test: &str, told: &str) -> Self {
        Self::of(Command::new(std::env::current_exe().unwrap()), test, told)
    }

    /// The same with this limit of file descriptors. `None` if the system does not allow it.
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

    /// The next line from the child.
    pub(crate) fn line(&mut self) -> String {
        let mut lines = self.lines.by_ref().map(Result::unwrap);
        let line = lines.find_map(|line| line.strip_prefix(MARK).map(str::to_owned));
        line.expect("a line, not the end of the child")
    }

    /// Sends a line and returns the answer.
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

/// The argument of this process, if it is a child.
pub(crate) fn told() -> Option<String> {
    std::env::var(TOLD).ok()
}

/// Sends a line to the parent.
pub(crate) fn say(line: impl std::fmt::Display) {
    // The test runner may have written text before it, without the end of a line.
    println!("\n{MARK}{line}");
}

/// The lines from the parent, until it ends.
pub(crate) fn questions() -> impl Iterator<Item = String> {
    std::io::stdin().lines().map_while(Result::ok)
}

/// The resident memory of this process in bytes.
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse::<usize>().unwrap() * 1024
}
