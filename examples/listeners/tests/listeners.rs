//! The examples do what they say.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::process::Command;

use polywire::rpc::server::BoundAddress;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn call() -> Vec<u8> {
    let call = polywire::codec::xmlrpc::write_call("add", &[2.into(), 3.into()]).unwrap();
    let length = call.len();
    let head = format!(
        "POST /RPC2 HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.into_bytes(), call].concat()
}

fn check(response: &str) {
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("<int>5</int>"), "{response}");
}

#[test]
fn memory_prints_a_response() {
    let output = Command::new(env!("CARGO_BIN_EXE_memory")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    check(&String::from_utf8(output.stdout).unwrap());
}

/// A client that has connected before the server stops gets its response, and later ones are refused.
#[tokio::test]
async fn memory_is_drained_at_the_end() {
    let (listener, connector) = listeners::memory(16);
    let running = listeners::server().unwrap().serve(listener).unwrap();
    let running = running.into_any();
    assert_eq!(
        running.bound_address(),
        &BoundAddress::Other("memory".to_owned())
    );
    // No task of the server runs in between.
    let mut stream = connector.connect().await.unwrap();
    stream.write_all(&call()).await.unwrap();
    running.shutdown().await;
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    check(&response);
    connector.connect().await.unwrap_err();
}

#[cfg(unix)]
mod activation {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::process::{Child, Command, Stdio};

    use super::{call, check};

    struct Activated(Child);

    impl Drop for Activated {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Starts the program as systemd does: with the socket as descriptor 3. The shell keeps its process id with `exec`.
    fn start(socket: OwnedFd) -> (Activated, String) {
        let mut child = Command::new("sh")
            .args([
                "-c",
                r#"LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" 3<&0 </dev/null"#,
            ])
            .arg(env!("CARGO_BIN_EXE_socket-activation"))
            .stdin(Stdio::from(socket))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let child = Activated(child);
        let mut place = String::new();
        BufReader::new(stdout).read_line(&mut place).unwrap();
        (child, place)
    }

    fn ask(mut stream: impl Read + Write) {
        stream.write_all(&call()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        check(&response);
    }

    #[test]
    fn tcp() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // Before the program runs, as with systemd.
        let early = TcpStream::connect(address).unwrap();
        let (_child, place) = start(listener.into());
        assert_eq!(place.trim(), address.to_string());
        ask(early);
        ask(TcpStream::connect(address).unwrap());
    }

    #[test]
    fn unix() {
        let path = std::env::temp_dir().join(format!("polywire-activated-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let (_child, place) = start(listener.into());
        assert_eq!(place.trim(), format!("unix:{}", path.display()));
        ask(UnixStream::connect(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn nothing_to_serve() {
        let mut program = Command::new(env!("CARGO_BIN_EXE_socket-activation"));
        let output = program.env_remove("LISTEN_FDS").output().unwrap();
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("LISTEN_FDS"), "{error}");
    }
}
