//! Endpoint rules through the public API: small rule sets, errors, published decision diagrams, and arbitrary
//! documents.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "tests"
)]
mod bindings;
#[path = "../endpoint_data/cases.rs"]
mod cases;
mod diagrams;
mod errors;
mod properties;
mod rules;
