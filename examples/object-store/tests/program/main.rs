//! The program as its users run it: killed under load, and measured.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stderr, reason = "a test says what it measured")]

#[cfg(s3_model)]
mod body;
#[cfg(s3_model)]
mod crash;
#[cfg(all(s3_model, target_os = "linux"))]
mod memory;
#[cfg(s3_model)]
mod process;

/// Without the model there is no program.
#[cfg(not(s3_model))]
#[test]
#[ignore = "no data: built without S3's model (POLYWIRE_S3_MODEL or POLYWIRE_DATA)"]
fn program() {
    panic!("built without S3's model");
}
