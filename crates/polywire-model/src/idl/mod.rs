//! The Smithy IDL: the form in which people write models, read in versions 1.0
//! and 2.0 and written in 2.0.
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
mod writer;

pub(crate) use lower::lower;
pub(crate) use parser::parse;
pub use writer::{IdlFile, Options, write, write_with};
