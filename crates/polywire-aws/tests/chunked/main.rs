//! The module `chunked` through its public API.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bodies;
mod boto3;
mod decoder;
mod encoder;
mod properties;
mod published;
mod reader;
mod reference;
mod support;
mod verifier;
