//! Scalars and bytes: the lowest layer of Polywire, which all formats (JSON, CBOR, XML-RPC, XML,
//! forms) use.
//!
//! - [`Text`] and [`Blob`]: strings and bytes in 24 bytes, inline if short, otherwise a range of
//!   the shared input [`Body`];
//! - [`number`]: integers and floating-point numbers;
//! - [`timestamp`]: instants in the formats of Smithy and XML-RPC;
//! - [`escape`]: escapes of JSON and XML;
//! - [`quote`]: quoted strings, keys and booleans of JSON;
//! - [`list`]: arrays of strings and of hexadecimal, and lists with a separator;
//! - [`percent`] and [`form`]: percent-encoding of URIs, and forms;
//! - [`hex`] and [`base64`]: RFC 4648, strict;
//! - [`scan`]: scanning for special bytes, and comparing and writing pre-encoded names;
//! - [`element_reader`] and [`element_writer`]: fast paths for short values between fixed bytes;
//! - [`utf8`]: validation with the offset of the first invalid byte;
//! - [`cpu`]: detection of vector instructions.
//!
//! Functions do no I/O, read no clock, and allocate only what they return. The only input from the
//! environment is the variable that [`cpu`] reads.
//!
//! # Example
//!
//! ```
//! use polywire_text::{Timestamp, escape, hex, number};
//!
//! let mut out = Vec::new();
//! escape::push_json_string(&mut out, "name", *b"\":");
//! escape::push_json_string(&mut out, "Ada \"the first\"", *b"\",");
//! assert_eq!(out, br#""name":"Ada \"the first\"","#);
//!
//! assert_eq!(number::parse_i64(b"1815")?, 1815);
//! let born = Timestamp::parse_date_time("1815-12-10T00:00:00Z")?;
//! assert_eq!(born.seconds(), -4_861_728_000);
//!
//! let error = hex::decode(b"ad4x", hex::Case::Lower).unwrap_err();
//! assert_eq!(error.offset, 3);
//! # Ok::<(), polywire_text::Malformed>(())
//! ```
//!
//! # Names
//!
//! | function | name | after an error |
//! |---|---|---|
//! | appends to a vector | `push...`, `push_decoded` | the vector is unchanged |
//! | reads the whole input | `parse...`, `decode...` | no value |
//! | reads the beginning and returns the length | `...prefix` | no value |
//! | reads the beginning and returns the rest | `read...`, `unquote` | see the function |
//! | reads or writes the beginning of a slice | `..._to_slice` | its bytes are unspecified |
//!
//! Errors are a [`Malformed`]: an offset, and what was expected there. Formats add the path of the
//! member. Input may be hostile: no input causes a panic, and time and memory are proportional to
//! its length.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `chrono`, `jiff`, `time` | conversions between [`Timestamp`] and the types of that crate |
//! | `serde` | `Serialize` and `Deserialize` for [`Text`], [`Blob`] and [`Timestamp`] |
//! | `reference` | slow and readable implementations, for tests |
//!
//! None is on by default.
//!
//! # Unsafe code
//!
//! This is the only crate of Polywire that may have `unsafe` code. Each block has its proof.
#![deny(unsafe_op_in_unsafe_fn)]

mod blob;
mod block;
mod malformed;
mod repr;
mod rewrite;
#[cfg(feature = "serde")]
mod serde;
mod text;

pub mod base64;
pub mod cpu;
pub mod element_reader;
pub mod element_writer;
pub mod escape;
pub mod form;
pub mod hex;
pub mod list;
pub mod number;
pub mod pattern;
pub mod percent;
pub mod quote;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
pub mod scan;
pub mod timestamp;
pub mod utf8;

pub use blob::Blob;
pub use malformed::Malformed;
pub use repr::{Body, INLINE_CAPACITY, SHARE_FRACTION};
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use serde::token as serde_token;
pub use text::Text;
pub use timestamp::Timestamp;
