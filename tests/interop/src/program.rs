//! The `polywire` program as a child process.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::case::say;
use crate::workspace;

/// The timeout of a program.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program `polywire`: the path in `POLYWIRE_BIN`, or one that is built now, in the same
/// profile and folder as this test.
#[must_use]
pub fn polywire() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> =
        LazyLock::new(|| find("POLYWIRE_BIN", "polywire-cli", "polywire"));
    &PROGRAM
}

/// The example `object-store`: the path in `OBJECT_STORE_BIN`, or one that is built now.
#[must_use]
pub fn object_store() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> =
        LazyLock::new(|| find("OBJECT_STORE_BIN", "object-store", "object-store"));
    &PROGRAM
}

/// The example `relay`: the path in `RELAY_BIN`, or one that is built now.
#[must_use]
pub fn relay() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| find("RELAY_BIN", "relay", "relay"));
    &PROGRAM
}

fn find(variable: &str, package: &str, name: &str) -> PathBuf {
    let program = match std::env::var_os(variable) {
        Some(path) => std::path::absolute(path).unwrap(),
        None => build(package, name),
    };
    assert!(program.exists(), "no program at {}", program.display());
    say(&format!("interop: testing {}", program.display()));
    program
}

fn build(package: &str, name: &str) -> PathBuf {
    // .../TARGET/PROFILE/deps/this-test
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let target = profile.parent().unwrap();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .current_dir(workspace())
        .args(["build", "--quiet", "-p", package, "--target-dir"])
        .arg(target);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let built = cargo.output().unwrap();
    let errors = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "cargo build: {errors}");
    profile.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// A running `polywire serve`. It is killed on drop.
#[derive(Debug)]
pub struct Serving {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// The first line that the program printed.
    pub first_line: String,
    /// `http://127.0.0.1:PORT`, one URL for each address.
    pub urls: Vec<String>,
}

impl Serving {
    /// Starts the program on a free port with more arguments. Waits until it listens.
    ///
    /// # Panics
    ///
    /// The program exits instead.
    #[must_use]
    pub fn start(arguments: &[&str]) -> Self {
        let listen = ["serve", "--listen", "http://127.0.0.1:0"];
        Self::start_as_told(&[&listen, arguments].concat())
    }

    /// As [`Serving::start`], with only these arguments.
    ///
    /// # Panics
    ///
    /// The program exits instead.
    #[must_use]
    pub fn start_as_told(arguments: &[&str]) -> Self {
        Self::start_program(polywire(), arguments)
    }

    /// As [`Serving::start_as_told`], with another program that prints its URL in its first line.
    ///
    /// # Panics
    ///
    /// The program exits instead.
    #[must_use]
    pub fn start_program(program: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first_line = String::new();
        stdout.read_line(&mut first_line).unwrap();
        // "NAME VERSION: 11 operations on http://127.0.0.1:1, http://...".
        let urls: Vec<String> = first_line
            .split([' ', ','])
            .filter(|word| word.starts_with("http://") || word.starts_with("https://"))
            .map(|word| word.trim().to_owned())
            .collect();
        if urls.is_empty() {
            let _ = child.kill();
            panic!(
                "{} {arguments:?} said {first_line:?} first",
                program.display()
            );
        }
        Self {
            child,
            stdout,
            first_line,
            urls,
        }
    }

    /// The first URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.urls[0]
    }

    /// The process id.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Reads the lines that the program prints at its start, up to one that contains this word.
    #[must_use]
    pub fn lines_until(&mut self, word: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let length = self.stdout.read_line(&mut line).unwrap();
            let is_last = length == 0 || line.contains(word);
            lines.push(line);
            if is_last {
                return lines;
            }
        }
    }

    /// Sends SIGTERM, as service managers do, and waits until the program exits. Returns its status
    /// and the rest of its output.
    #[must_use]
    pub fn terminate(mut self) -> (ExitStatus, String) {
        signal(self.child.id(), "TERM");
        let id = self.child.id();
        let (status, late) = wait_at_most(PATIENCE, id, || self.child.wait().unwrap());
        assert!(!late, "still running");
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (status, rest)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The program may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process.
///
/// # Panics
///
/// There is no such process.
pub fn signal(process: u32, name: &str) {
    let kill = format!("kill -{name} {process}");
    let killed = Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(killed.success(), "{kill}");
}

/// Waits for a process by calling `wait`. Kills the process if it does not exit in time, and then
/// returns `true` with the result.
pub(crate) fn wait_at_most<T>(
    patience: Duration,
    process: u32,
    wait: impl FnOnce() -> T,
) -> (T, bool) {
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let late = ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
        if late {
            signal(process, "KILL");
        }
        late
    });
    let result = wait();
    drop(done);
    (result, watch.join().unwrap())
}

/// The result of a program that has exited.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The exit code, or `None` if a signal ended the program.
    pub code: Option<i32>,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs the program until it exits.
///
/// # Panics
///
/// The program does not exit in time.
#[must_use]
pub fn run(arguments: &[&str]) -> Finished {
    run_with_input(arguments, "")
}

/// As [`run`], with this standard input.
///
/// # Panics
///
/// The program does not exit in time.
#[must_use]
pub fn run_with_input(arguments: &[&str], input: &str) -> Finished {
    let mut child = Command::new(polywire())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id();
    // A program that reads no input closes its end.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let wait = || child.wait_with_output().unwrap();
    let (output, late) = wait_at_most(PATIENCE, id, wait);
    assert!(!late, "{arguments:?} was still running");
    output.into()
}
