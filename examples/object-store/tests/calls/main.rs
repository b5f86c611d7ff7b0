//! The generated client and the store.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(s3_model)]
mod calls;
#[cfg(s3_model)]
mod versions;

/// Without the model there is no client.
#[cfg(not(s3_model))]
#[test]
#[ignore = "no data: built without S3's model (POLYWIRE_S3_MODEL or POLYWIRE_DATA)"]
fn calls() {
    panic!("built without S3's model");
}
