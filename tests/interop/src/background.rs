//! Third-party servers as child processes.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::program::wait_at_most;

/// A program that is terminated on drop. The drop waits for its exit.
#[derive(Debug)]
pub struct Background {
    child: Child,
    // Kept open for programs that exit when their standard input is closed.
    _stdin: Option<std::process::ChildStdin>,
    /// The first line of its output, if [`start`](Self::start) waited for it.
    pub first_line: String,
}

impl Background {
    /// Starts a program and waits for a line of its standard output.
    ///
    /// # Panics
    ///
    /// There is no such program, or it exits without printing a line.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first_line = String::new();
        stdout.read_line(&mut first_line).unwrap();
        assert!(!first_line.is_empty(), "{command:?} said nothing");
        // Drains the output, so that the program does not block on a full pipe.
        std::thread::spawn(move || stdout.lines().for_each(drop));
        Self {
            _stdin: child.stdin.take(),
            child,
            first_line: first_line.trim().to_owned(),
        }
    }

    /// Starts a program that prints nothing, and waits until it is ready.
    ///
    /// # Panics
    ///
    /// There is no such program, it exits, or it is not ready in time.
    #[must_use]
    pub fn start_until(command: &mut Command, ready: impl Fn() -> bool) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while !ready() {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "{command:?} ended: {ended:?}");
            assert!(Instant::now() < deadline, "{command:?} does not come up");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self {
            child,
            _stdin: None,
            first_line: String::new(),
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // With SIGTERM, the program stops its child processes too, unlike with SIGKILL. It may have
        // exited already.
        let process = self.child.id().to_string();
        let _ = Command::new("kill").arg(&process).status();
        let patience = Duration::from_secs(10);
        let (_, _) = wait_at_most(patience, self.child.id(), || self.child.wait());
    }
}

/// A new folder for a case. It is removed on drop.
#[derive(Debug)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// Creates a folder in the folder for temporary files, which all users of the machine can read.
    #[must_use]
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("polywire-interop-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let all = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&path, all).unwrap();
        }
        Self(path)
    }

    /// The path of a file in the folder.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
