//! The JSON AST: the format in which programs exchange models.

pub(crate) mod reader;
mod writer;

pub use writer::{Options, Output, write, write_with};
