//! A small XML codec on the traits: attributes, namespaces, flattened lists
//! and maps. Made to be read, not to be quick.

mod decode;
mod encode;

pub(crate) use decode::XmlDecoder;
pub(crate) use encode::XmlEncoder;
