//! The processes of the servers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use polywire_aws::signature::Credentials;

/// A server that runs. One that this program started is killed on drop.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) keys: Option<Credentials>,
    pid: u32,
    child: Option<Child>,
}

impl Server {
    /// Starts the bare server, which is this program.
    pub(crate) fn bare(data: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("--serve").arg(data);
        Self::start(command, None)
    }

    /// Starts the store.
    pub(crate) fn store(data: &Path, keys: Option<Credentials>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_object-store"));
        command
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(data);
        if let Some(keys) = &keys {
            let path = data.with_extension("keys");
            let line = format!("{} {}\n", keys.access_key_id(), keys.secret_access_key());
            fs::write(&path, line).unwrap();
            command.arg("--keys").arg(path);
        }
        Self::start(command, keys)
    }

    /// A server that runs already: `ADDRESS:PORT ACCESS_KEY_ID SECRET_ACCESS_KEY PID`.
    pub(crate) fn other(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [address, id, secret, pid] = words[..] else {
            panic!("--other: expected 'ADDRESS:PORT ACCESS_KEY_ID SECRET_ACCESS_KEY PID'");
        };
        Self {
            address: address.parse().unwrap(),
            keys: Some(Credentials::new(id, secret)),
            pid: pid.parse().unwrap(),
            child: None,
        }
    }

    /// The first line that a server prints ends with its URL.
    fn start(mut command: Command, keys: Option<Credentials>) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let (_, address) = line.trim().split_once("http://").unwrap();
        Self {
            address: address.parse().unwrap(),
            keys,
            pid: child.id(),
            child: Some(child),
        }
    }

    /// The time of the processor that the server has used, in seconds. 0 where there is no `/proc`.
    pub(crate) fn cpu(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        // The name, in parentheses, may contain spaces. User and system time are fields 14 and 15.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let fields = fields.split_whitespace().skip(11).take(2);
        // Linux counts in hundredths on all common processors.
        fields
            .filter_map(|field| field.parse::<f64>().ok())
            .sum::<f64>()
            / 100.0
    }

    /// The most resident memory so far, in KiB.
    pub(crate) fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
