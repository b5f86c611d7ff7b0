//! Runs a test of this binary in a child process that answers each line with a line.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// Prefix of the lines of a child, because the test harness also writes to stdout.
const MARK: &str = "child: ";

const ARGUMENT: &str = "POLYWIRE_TEST_ARGUMENT";

/// A child process. It is killed on drop.
pub(crate) struct Child {
    process: std::process::Child,
    questions: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts an ignored test as a child process, with an argument.
    pub(crate) fn start(test: &str, argument: &str) -> Self {
        Self::spawn_test(
            Command::new(std::env::current_exe().unwrap()),
            test,
            argument,
        )
    }

    /// Like `start`, with a limit of `count` file descriptors. `None` if the system does not
    /// allow that limit.
    pub(crate) fn with_descriptors(count: usize, test: &str, argument: &str) -> Option<Self> {
        let allow = format!("ulimit -n {count}");
        let allowed = Command::new("sh").args(["-c", &allow]).output().unwrap();
        if !allowed.status.success() {
            return None;
        }
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{allow} && exec \"$0\" \"$@\"")]);
        command.arg(std::env::current_exe().unwrap());
        Some(Self::spawn_test(command, test, argument))
    }

    fn spawn_test(mut command: Command, test: &str, argument: &str) -> Self {
        let mut process = command
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env(ARGUMENT, argument)
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

    /// Sends a line to the child and returns its answer.
    pub(crate) fn ask(&mut self, question: &str) -> String {
        writeln!(self.questions, "{question}").unwrap();
        self.line()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The argument from the parent, if this process is a child.
pub(crate) fn argument() -> Option<String> {
    std::env::var(ARGUMENT).ok()
}

/// Prints a line for the parent.
pub(crate) fn print_line(line: impl std::fmt::Display) {
    // The test harness may have written an unterminated line before.
    println!("\n{MARK}{line}");
}

/// The lines from the parent, until it closes the pipe.
pub(crate) fn questions() -> impl Iterator<Item = String> {
    std::io::stdin().lines().map_while(Result::ok)
}

/// Resident memory of this process in bytes.
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse::<usize>().unwrap() * 1024
}
