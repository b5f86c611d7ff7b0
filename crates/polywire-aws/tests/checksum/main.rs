//! The module `checksum` through its public API.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod multipart;
mod reference;
mod selection;
mod text;
mod vectors;
