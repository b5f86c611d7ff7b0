//! The twin of [`cbor`](crate::cbor): RFC 8949.

mod big;
mod decode;
mod encode;
mod tree;

pub use decode::CborDecoder;
pub use encode::CborEncoder;
