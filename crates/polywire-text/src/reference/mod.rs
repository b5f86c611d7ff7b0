//! Reference implementations: slow and readable. Tests, fuzz targets and benchmarks compare the
//! fast implementations with them. Programs should not use them.

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
