//! Interop cases by name; see the crate's documentation.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod aws;
mod botocore;
mod curl;
mod echo;
mod generated_package;
mod harm;
mod math;
mod models;
mod object_store;
mod polywire_call;
mod polywire_model;
mod polywire_serve;
mod polywire_wires;
mod python_cbor;
mod python_jsonrpc;
mod python_msgpack;
mod python_xmlrpc;
mod ruby_xmlrpc;
mod rust_jsonrpsee;
mod same_answers;
mod smithy_page;

/// Prints a summary of the cases. Tests start in the order of their names, so this one is the last,
/// and it waits for the cases that still run.
#[test]
fn zz_summary() {
    polywire_interop::summary();
}
