//! The Smithy IDL, version 2.0.
//!
//! ```text
//! text -> lexer -> tokens -> parser -> syntax tree -> lower -> fragment
//! ```
//!
//! What a name means can depend on other files of the model: `City` is a shape
//! of the namespace if any file defines it there, else of the prelude. So every
//! file is parsed before the first one is lowered.

mod lexer;
mod lower;
mod parser;
mod syntax;
mod text;

pub(crate) use lower::lower;
pub(crate) use parser::parse;
