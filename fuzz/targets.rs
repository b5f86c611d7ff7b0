//! What the fuzz targets check: a function each, from any bytes to a panic
//! when something does not hold.
//!
//! They stand apart from libFuzzer so that the test `corpus` of the crate
//! `polywire` calls the same functions with every file of the corpora.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "panics are how a target reports what it finds"
)]

mod alike;
mod models;
mod readers;
mod requests;
mod selectors;

/// As JSON.
pub fn json(data: &[u8]) {
    readers::json(data);
}

/// As CBOR.
pub fn cbor(data: &[u8]) {
    readers::cbor(data);
}

/// As a call of XML-RPC.
pub fn xmlrpc_call(data: &[u8]) {
    readers::xmlrpc_call(data);
}

/// As a response or fault of XML-RPC.
pub fn xmlrpc_response(data: &[u8]) {
    readers::xmlrpc_response(data);
}

/// As a model in Smithy's IDL.
pub fn model_idl(data: &[u8]) {
    models::load("fuzz.smithy", data);
}

/// As a model in Smithy's JSON AST.
pub fn model_ast(data: &[u8]) {
    models::load("fuzz.json", data);
}

/// As a selector, evaluated over the service that requests go to.
pub fn selector(data: &[u8]) {
    selectors::any(data);
}

/// As a request to a service: a line of method and target, lines of headers,
/// an empty line, and the body.
pub fn http_request(data: &[u8]) {
    requests::any(data);
}
