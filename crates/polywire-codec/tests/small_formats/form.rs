//! A small form codec on the traits: lists and maps as awsQuery writes them.
//! Made to be read, not to be quick.

mod decode;
mod encode;

pub(crate) use decode::FormDecoder;
pub(crate) use encode::FormEncoder;
