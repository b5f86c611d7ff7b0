//! Slow and readable implementations of what is fast elsewhere in this crate, for tests and fuzzing.
//!
//! They follow the text of the specifications step by step and share no code with what they check.

pub mod event;
pub mod json;
