//! Bytes to scalars and back: the ground floor of Polywire.
//!
//! Every format of Polywire (JSON, CBOR, XML-RPC, XML, forms) is built from
//! the same small set of primitives, and they stand here once:
//!
//! - [`Text`] and [`Blob`]: 24-byte string and byte types that hold short data
//!   inline and long data as a range of the shared input [`Body`];
//! - [`number`]: integers and floating-point numbers;
//! - [`timestamp`]: instants in the forms that Smithy and XML-RPC use;
//! - [`escape`]: JSON and XML escapes, both ways;
//! - [`percent`] and [`form`]: percent-encoding of URIs, and forms;
//! - [`base64`]: strict RFC 4648 base64;
//! - [`scan`]: byte scanning, and comparing and writing pre-encoded runs;
//! - [`utf8`]: validation with the offset of the first bad byte.
//!
//! Nothing here does input or output, allocates beyond what it returns, or
//! reads a clock. Failures are a small [`Malformed`] that says where and what
//! was expected; the formats turn it into an error with a path.
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
pub mod cpu;
pub mod escape;
pub mod form;
pub mod hex;
pub mod list;
pub mod number;
pub mod percent;
pub mod pool;
pub mod quote;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
pub mod scan;
pub mod timestamp;
pub mod utf8;

pub use blob::Blob;
pub use malformed::Malformed;
pub use repr::{Body, INLINE_CAPACITY, SHARE_FRACTION, SHARE_WHOLE};
pub use text::Text;
pub use timestamp::Timestamp;
