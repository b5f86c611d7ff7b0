//! The throughput of the store beside a bare hyper server that writes the same bytes to disk.
//!
//! ```text
//! cargo bench -p object-store --bench throughput
//! cargo bench -p object-store --bench throughput -- --sizes 4,1024 --connections 8 --rounds 7
//! cargo bench -p object-store --bench throughput -- --memory
//! cargo bench -p object-store --bench throughput -- --other '127.0.0.1:7070 ACCESS_KEY_ID SECRET PID'
//! ```
//!
//! All servers are processes of their own, and one client loads them in turn. A round loads each server once; ratios are of
//! the same round, and the table has their medians. Each response is checked: its status, its length, the CRC32 of a
//! body, and the `ETag` where the server computes one. The time of the processor is that of the server's process, user and
//! system, for one request.
//!
//! | subject | what it does |
//! |---|---|
//! | bare | hyper, a temporary file, and a rename |
//! | bare, MD5 | the same, and the MD5 sum that S3's `ETag` is |
//! | store | the store without access keys |
//! | store, signed head | SigV4 in the header, `UNSIGNED-PAYLOAD` |
//! | store, signed body | SigV4 in the header, with the SHA-256 sum of the body |
//! | store, CRC32 trailer | SigV4 in the header, `aws-chunked` with a checksum in the trailer |
//!
//! The fair peer of a PUT is "bare, MD5", since S3 requires the sum; the others tell the costs of signatures and
//! checksums apart.
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its results")]

#[cfg(s3_model)]
mod bare;
#[cfg(s3_model)]
mod client;
#[cfg(s3_model)]
mod memory;
#[cfg(s3_model)]
mod report;
#[cfg(s3_model)]
mod server;
#[cfg(s3_model)]
mod signing;
#[cfg(s3_model)]
mod throughput;

#[cfg(s3_model)]
fn main() {
    throughput::run();
}

/// Without the model there is no program.
#[cfg(not(s3_model))]
fn main() {
    println!("skipped: built without S3's model (POLYWIRE_S3_MODEL or POLYWIRE_DATA)");
}
