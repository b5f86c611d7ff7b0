//! What a frame looks like in bytes, for both roles and all transports.
//!
//! Connections over streams use all of it. This module is public for other transports, such as the datagrams of
//! `polywire-frame-udp`; users of connections need only what the crate re-exports at its root.

mod codes;
mod compression;
mod error;
mod extension;
mod header;
mod output;
mod reader;
mod settings;
mod traceparent;
mod writer;

pub use codes::{FaultCode, Reason};
pub use compression::{Compressor, Decompressor};
pub use error::ProtocolError;
pub use extension::{Extension, ExtensionWriter, MAX_EXTENSION, Trace, is_key, parse_name};
pub use header::{Flags, HEADER, Header, Kind};
pub use output::Output;
pub use reader::{Frame, FrameReader, Next, PREFACE};
pub use settings::{Features, Settings};
pub use traceparent::InvalidTraceparent;
pub use writer::{FrameWriter, TooLarge, TooLong};
