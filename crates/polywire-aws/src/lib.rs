//! What AWS adds to the Smithy protocols, without I/O: signatures ([`signature`]), checksums of bodies ([`checksum`]),
//! the content encoding `aws-chunked` ([`chunked`]), and the rules that choose an endpoint ([`endpoint`]).
//!
//! All functions get the time as an argument.

#![forbid(unsafe_code)]

pub mod checksum;
pub mod chunked;
pub mod credentials;
pub mod endpoint;
pub mod retry;
pub mod signature;
pub mod waiter;
