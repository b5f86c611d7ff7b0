//! XML-RPC between our servers and clients without a model and other people's; see the
//! crate's documentation.
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

/// Not a case: what became of the others. Tests begin in the order of their
/// names, so this one is the last, and it waits for those that still run.
#[test]
fn zz_summary() {
    polywire_interop::summary();
}
