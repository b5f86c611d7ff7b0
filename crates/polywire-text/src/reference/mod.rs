//! The slow, readable twins of this crate: what each fast path must agree with.
//!
//! Written to be read, with the words of the specification and the plainest
//! loops that say it. Tests, fuzz targets and benchmarks hold the fast paths
//! against them. Nothing else should call them.

pub mod base64;
pub mod hex;
pub mod json;
pub mod list;
pub mod number;
pub mod percent;
pub mod quote;
pub mod scan;
pub mod timestamp;
pub mod xml;
