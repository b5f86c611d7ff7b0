//! Bytes to scalars and back: the ground floor of Polywire.
//!
//! Every format of Polywire (JSON, CBOR, XML-RPC, XML, forms) is built from
//! the same small set of primitives, and they stand here once:
//!
//! - [`Text`] and [`Blob`]: 24-byte string and byte types that hold short data
//!   inline and long data as a range of the shared input [`Body`];
//! - [`number`]: integers, floating-point numbers, and decimals of any length;
//! - [`timestamp`]: instants in the forms that Smithy and XML-RPC use;
//! - [`escape`]: JSON and XML escapes, both ways;
//! - [`quote`]: quoted strings, keys and booleans, the pieces of JSON;
//! - [`list`]: arrays of strings and of hexadecimal, and lists with a separator;
//! - [`percent`] and [`form`]: percent-encoding of URIs, and forms;
//! - [`hex`] and [`base64`]: strict RFC 4648, by case, alphabet and padding;
//! - [`scan`]: byte scanning, and comparing and writing pre-encoded runs;
//! - [`utf8`]: validation with the offset of the first bad byte;
//! - [`cpu`]: which instructions are used, and how to turn wide ones off.
//!
//! Nothing here does input or output, allocates beyond what it returns, or
//! reads a clock. The one thing that is asked of the surroundings is what the
//! processor can do ([`cpu`]).
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
//! // What is wrong, and where.
//! let error = hex::decode(b"ad4x", hex::Case::Lower).unwrap_err();
//! assert_eq!(error.offset, 3);
//! # Ok::<(), polywire_text::Malformed>(())
//! ```
//!
//! # Names
//!
//! | a function that | is called | and after an error |
//! |---|---|---|
//! | appends to a vector | `push...`, `push_decoded` | the vector is as it was |
//! | reads the whole input | `parse...`, `decode...` | there is no value |
//! | reads the beginning of it and says how long that was | `...prefix` | there is no value |
//! | reads the beginning of it and returns the rest | `read...`, `unquote` | see there |
//! | reads or writes at the beginning of a slice | `..._to_slice` | its bytes are unspecified |
//!
//! Failures are a small [`Malformed`] that says where and what was expected;
//! the formats turn it into an error with a path. Input may be hostile: no
//! bytes make a function panic, take more memory than in proportion to them, or
//! more time than that.
//!
//! # Features
//!
//! | feature | what it brings |
//! |---|---|
//! | `chrono`, `jiff`, `time` | conversions between [`Timestamp`] and that crate's types |
//! | `serde` | `Serialize` and `Deserialize` for [`Text`], [`Blob`] and [`Timestamp`] |
//! | `reference` | slow and readable twins of what is fast, for tests |
//!
//! None is on by default. Conversions between [`Timestamp`] and the standard
//! library's `SystemTime` are always there.
//!
//! # Unsafe code
//!
//! This is the only crate of Polywire that may hold `unsafe` code. Each block
//! states its proof beside it.
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
pub mod before;
pub mod between;
pub mod cpu;
pub mod escape;
pub mod form;
pub mod hex;
pub mod list;
pub mod number;
pub mod percent;
pub mod quote;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
pub mod scan;
pub mod timestamp;
pub mod utf8;

pub use blob::Blob;
pub use malformed::Malformed;
pub use repr::{Body, INLINE_CAPACITY, SHARE_FRACTION, SHARE_WHOLE};
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use serde::token as serde_token;
pub use text::Text;
pub use timestamp::Timestamp;
