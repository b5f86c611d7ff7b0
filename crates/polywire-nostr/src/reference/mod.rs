//! Slow and readable implementations, for tests and fuzzing: what the fast ones are compared with.

pub mod bech32;
pub mod chacha20;
pub mod hmac;
pub mod nip44;
