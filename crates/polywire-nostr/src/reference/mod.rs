//! Slow and readable reference implementations for tests and fuzzing.
//!
//! They follow the specifications step by step and share no code with the implementations that they
//! check.

pub mod bech32;
pub mod chacha20;
pub mod event;
pub mod filter;
pub mod hmac;
pub mod json;
pub mod negentropy;
pub mod nip44;
