//! The twin of XML.

mod decode;
mod encode;
mod tree;

pub use decode::XmlDecoder;
pub use encode::XmlEncoder;
