//! Event streams: the framing, and the events of models.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod framing;
mod properties;
mod signed;
mod vectors;
