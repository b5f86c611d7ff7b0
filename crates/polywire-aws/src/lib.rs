//! What AWS adds to the Smithy protocols, without I/O.
//!
//! | module | contents |
//! |---|---|
//! | [`signature`] | SigV4 and SigV4a: requests, presigned URLs, chunks, events, form policies |
//! | [`checksum`] | checksums of bodies, and which one a client sends |
//! | [`chunked`] | the content encoding `aws-chunked` |
//! | [`endpoint`] | the rules that choose an endpoint |
//! | [`retry`] | whether and when a call is repeated |
//! | [`waiter`] | waiting for a state of a resource |
//! | [`credentials`] | profile files, and what processes, containers and instances answer |
//!
//! The feature `sigv4a` adds SigV4a (ECDSA). The time and random numbers are arguments. `polywire-rpc` has the I/O, in
//! its module `aws`.

#![forbid(unsafe_code)]

pub mod checksum;
pub mod chunked;
pub mod credentials;
pub mod endpoint;
pub mod retry;
pub mod signature;
pub mod waiter;
