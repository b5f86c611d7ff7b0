//! A client in Python against our state machine.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;

use polywire_frame::Settings;
use polywire_interop::{Case, Folder, workspace};

use crate::served::{Notes, Served, Socket};

const SCENARIOS: [&str; 17] = [
    "calls",
    "pipelined",
    "fault",
    "unknown",
    "deadline",
    "cancel",
    "one-way",
    "streams",
    "credit",
    "credit-there",
    "items-beyond",
    "credit-beyond",
    "topics",
    "ping",
    "deflate",
    "goaway",
    "half-close",
];

/// Serves each connection in its own thread until the test process ends.
fn serve<S: Socket>(settings: Settings, connections: impl Iterator<Item = S> + Send + 'static) {
    let notes = Notes::default();
    thread::spawn(move || {
        for connection in connections {
            let notes = Notes::clone(&notes);
            let settings = settings.with_ping(0);
            thread::spawn(move || Served::new(connection, settings, notes).serve());
        }
    });
}

/// Runs all scenarios. `how` are the options for how bytes are sent.
fn scenarios(python: &Path, address: &str, how: &[&str]) {
    let program = workspace().join("tests/interop/frames/frame_client.py");
    for scenario in SCENARIOS {
        let mut command = Command::new(python);
        command
            .arg("-B")
            .arg(&program)
            .args([address, scenario])
            .args(how);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let well = output.status.success() && said.ends_with(&format!("ok {scenario}\n"));
        assert!(well, "{scenario}: {said}{errors}");
    }
}

#[test]
fn frames_of_a_python_client_over_tcp() {
    let case = Case::begin("frames_of_a_python_client_over_tcp");
    let Some(python) = case.python(&[]) else {
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    serve(
        Settings::DEFAULT,
        std::iter::from_fn(move || listener.accept().ok()).map(|(stream, _)| stream),
    );
    scenarios(python.program(), &address, &[]);
}

/// The client writes each byte separately.
#[test]
fn frames_of_a_python_client_byte_by_byte() {
    let case = Case::begin("frames_of_a_python_client_byte_by_byte");
    let Some(python) = case.python(&[]) else {
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // Lower limits, so that credit runs out after fewer bytes.
    let settings = Settings::DEFAULT.with_window(1 << 16).with_items(1 << 20);
    serve(
        settings,
        std::iter::from_fn(move || listener.accept().ok()).map(|(stream, _)| stream),
    );
    scenarios(python.program(), &address, &["one-byte"]);
}

#[cfg(unix)]
#[test]
fn frames_of_a_python_client_over_a_unix_socket() {
    let case = Case::begin("frames_of_a_python_client_over_a_unix_socket");
    let Some(python) = case.python(&[]) else {
        return;
    };
    let folder = Folder::new();
    let path = folder.file("frames.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    serve(
        Settings::DEFAULT,
        std::iter::from_fn(move || listener.accept().ok()).map(|(stream, _)| stream),
    );
    scenarios(python.program(), &format!("unix:{}", path.display()), &[]);
}
