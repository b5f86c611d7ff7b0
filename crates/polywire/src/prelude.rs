//! What most programs use: `use polywire::prelude::*;`.

pub use polywire_protocol::{Fault, FaultKind, ProtocolKind};
#[cfg(feature = "rpc")]
pub use polywire_rpc::{
    CallError, CallErrorKind, Client, Context, Methods, Server, ServiceHandle, dynamic, typed,
};
pub use polywire_schema::{Blob, Limits, Map, Text, Timestamp, Value};
