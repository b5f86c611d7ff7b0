//! The running program.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use object_store::s3::client::{self, Client};
use polywire::prelude::*;

/// The running program. It is killed on drop, as by SIGKILL.
pub(crate) struct Program {
    child: Child,
    pub(crate) url: String,
}

impl Program {
    /// Starts the program with a directory, and waits until it listens.
    pub(crate) fn start(data: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_object-store"))
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("object-store: ").unwrap();
        let url = url.to_owned();
        Self { child, url }
    }

    /// A client of its own connections.
    pub(crate) fn client(&self) -> Client {
        client::connect(&self.url, ProtocolKind::RestXml).unwrap()
    }

    /// The process id.
    #[cfg(target_os = "linux")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
