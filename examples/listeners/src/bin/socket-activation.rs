//! A server on the sockets that a service manager passes: systemd creates them, starts the program with the first
//! connection, and keeps them open while the program restarts.
//!
//! ```text
//! # adder.socket                         # adder.service
//! [Socket]                               [Service]
//! ListenStream=127.0.0.1:8080            ExecStart=/usr/local/bin/socket-activation
//! ListenStream=/run/adder.sock
//! ```
//!
//! Without systemd: `systemd-socket-activate -l 127.0.0.1:8080 target/debug/socket-activation`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::io;

use listenfd::ListenFd;
use polywire::rpc::Server;
use polywire::rpc::server::{BoundAddress, RunningServer};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = listeners::server()?;
    // Checks LISTEN_PID and removes the variables.
    let mut sockets = ListenFd::from_env();
    let mut running = Vec::new();
    for index in 0..sockets.len() {
        running.push(serve(&server, &mut sockets, index)?);
    }
    if running.is_empty() {
        return Err("no sockets were passed (LISTEN_FDS, LISTEN_PID)".into());
    }
    for running in &running {
        println!("{}", running.bound_address());
    }
    tokio::signal::ctrl_c().await?;
    for running in running {
        running.shutdown().await;
    }
    Ok(())
}

/// Serves the socket at an index: TCP or Unix.
fn serve(
    server: &Server,
    sockets: &mut ListenFd,
    index: usize,
) -> io::Result<RunningServer<BoundAddress>> {
    #[cfg(unix)]
    if let Ok(Some(listener)) = sockets.take_unix_listener(index) {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::UnixListener::from_std(listener)?;
        return Ok(server.serve(listener)?.into_any());
    }
    let listener = sockets.take_tcp_listener(index)?;
    let listener = listener.ok_or(io::ErrorKind::NotFound)?;
    listener.set_nonblocking(true)?;
    Ok(server.serve(TcpListener::from_std(listener)?)?.into_any())
}
