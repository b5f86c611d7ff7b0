//! The slow, readable twins of this crate: what each fast path must agree with.
//!
//! They follow the words of the specifications. Tests, fuzz targets and benchmarks compare the fast
//! paths with them. Nothing else should call them.

pub mod negentropy;
