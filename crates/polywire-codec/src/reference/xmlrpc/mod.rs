//! The twin of XML-RPC.
//!
//! It reads and writes whole messages without a schema: that is where the fast
//! reader has its quick paths. It has an opinion of its own about everything but
//! numbers beyond 64 bits and decimals, which have one owner in the schema crate.

mod decode;
mod encode;
mod surrogates;
mod tree;

pub(super) use surrogates::with_pairs_joined;

pub use decode::{Response, read_call, read_multicall, read_response};
pub use encode::{write_call, write_fault, write_response, write_value};

use crate::reference::{Reference, ReferenceSink};
use crate::xmlrpc::{XmlRpcDecoder, XmlRpcEncoder};
use crate::{DecodeWith, EncodeWith};

// There is no reference implementation of XML-RPC with a schema.
impl<M> EncodeWith<XmlRpcEncoder> for Reference<M> {}

impl<'de, S> DecodeWith<'de, XmlRpcDecoder<'de>> for ReferenceSink<S> {}
