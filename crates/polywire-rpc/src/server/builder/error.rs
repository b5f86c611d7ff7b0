//! Errors of building a server.

use polywire_protocol::{Conflict, MountError, ProtocolKind, UncheckedPattern};

use crate::methods::MethodsError;
use crate::server::Mount;

/// The reason why a server cannot be built.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The requests of two protocols of a mount cannot be distinguished.
    #[error("{1} (both are at {0})")]
    Conflict(Mount, #[source] Conflict),
    /// A protocol does not support the service.
    #[error("cannot be offered over {0}: {1}")]
    Mount(ProtocolKind, #[source] MountError),
    /// No protocol was set, and the model names no supported one.
    #[error(
        "the model names no protocol that is known here; name one: {}",
        protocol_names()
    )]
    NoProtocol,
    /// There is a handler for an operation that the service does not have.
    #[error("a handler for {0}, which is no operation of the service")]
    UnknownOperation(String),
    /// Operations have no handler.
    #[error("no handler for {}", .0.join(", "))]
    Unhandled(Vec<String>),
    /// The maximum number of connections is 0.
    #[error("the maximum number of connections is 0")]
    NoConnections,
    /// A pattern cannot be checked: see [`Validation`](super::Validation).
    #[error("{0} (Validation::WithoutUncheckedPatterns leaves it out)")]
    Pattern(#[source] UncheckedPattern),
    /// The memory for all bodies (the first number) is less than the limit of one body (the second), in bytes.
    #[error("{0} bytes for all bodies are less than the {1} that one may have")]
    BodyMemory(usize, usize),
    /// Methods cannot be offered.
    #[error("{0}")]
    Methods(#[source] MethodsError),
    /// Frames would bypass the layers around HTTP requests or heads.
    #[error(
        "layers around HTTP requests and heads do not see what comes over frames: if none of them is a check, call \
         ServerBuilder::frames_bypass_layers; authentication belongs into ServerBuilder::authenticate"
    )]
    FramesBypassLayers,
    /// The path of a WebSocket endpoint is not unique, does not begin with a slash, or contains `?` or `#`.
    #[cfg(feature = "websocket")]
    #[error("`{}` is no path for a WebSocket, or has one already", .0.escape_debug())]
    WebSocketPath(String),
    /// A WebSocket endpoint is for frames, but [`ServerBuilder::frames`](super::ServerBuilder::frames) is not set.
    #[cfg(feature = "websocket")]
    #[error("frames over WebSocket are frames: offer them by `ServerBuilder::frames`")]
    NoFrames,
}

fn protocol_names() -> String {
    ProtocolKind::ALL.map(ProtocolKind::name).join(", ")
}
