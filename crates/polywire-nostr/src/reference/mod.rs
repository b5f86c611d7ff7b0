//! Slow and readable implementations of what is fast elsewhere in this crate, for tests and fuzzing.
//!
//! They follow the text of the specifications step by step and share no code with what they check.

pub mod bech32;
pub mod chacha20;
pub mod event;
pub mod filter;
pub mod hmac;
pub mod json;
pub mod negentropy;
pub mod nip44;
