//! XML-RPC without a model between our servers and clients and third-party ones. See the
//! documentation of the crate.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod node;
mod perl;
mod python;
mod python_server;
mod replies;
mod rosmaster;
mod scgi;
mod sent;
#[cfg(unix)]
mod supervisord;
mod tls;
mod xmlrpc_c;

/// Prints a summary of the cases. Tests start in the order of their names, so this one is the last,
/// and it waits for the cases that still run.
#[test]
fn zz_summary() {
    polywire_interop::summary();
}
