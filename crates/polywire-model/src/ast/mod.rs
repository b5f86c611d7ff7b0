//! The JSON AST: the form in which models are exchanged.

pub(crate) mod reader;
mod writer;

pub use writer::{Options, Written, write, write_with};
