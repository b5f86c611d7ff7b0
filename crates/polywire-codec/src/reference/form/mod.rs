//! The twin of [`form`](crate::form): AWS's query protocols.

mod decode;
mod encode;
mod tree;

pub use decode::FormDecoder;
pub use encode::FormEncoder;
