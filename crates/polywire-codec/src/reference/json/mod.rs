//! The twin of [`json`](crate::json): RFC 8259.

mod decode;
mod encode;
mod tree;

pub use decode::JsonDecoder;
pub use encode::JsonEncoder;
