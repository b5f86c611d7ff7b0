//! The Smithy IDL, the language in which people write models. Versions 1.0 and 2.0 are read, and
//! 2.0 is written.
//!
//! ```text
//! text -> lexer -> tokens -> parser -> syntax tree -> lower -> fragment
//! ```
//!
//! The meaning of a name can depend on other files of the model: `City` is a shape of the namespace
//! if any file defines it there, else a shape of the prelude. So all files are parsed before the
//! first one is lowered.

mod lexer;
mod lower;
mod parser;
mod syntax;
mod text;
mod writer;

pub(crate) use lower::lower;
pub(crate) use parser::parse;
pub use writer::{IdlFile, Options, write, write_with};
