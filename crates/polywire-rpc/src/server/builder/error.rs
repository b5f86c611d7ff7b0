//! Errors of building a server.

use std::fmt;

use polywire_protocol::{Conflict, MountError, ProtocolKind, UncheckedPattern};

use crate::methods::MethodsError;
use crate::server::Mount;

/// The reason why a server cannot be built.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The requests of two protocols of a mount cannot be distinguished.
    Conflict(Mount, Conflict),
    /// A protocol does not support the service.
    Mount(ProtocolKind, MountError),
    /// No protocol was set, and the model names no supported one.
    NoProtocol,
    /// There is a handler for an operation that the service does not have.
    UnknownOperation(String),
    /// Operations have no handler.
    Unhandled(Vec<String>),
    /// The maximum number of connections is 0.
    NoConnections,
    /// A pattern cannot be checked: see [`Validation`](super::Validation).
    Pattern(UncheckedPattern),
    /// The memory for all bodies (the first number) is less than the limit of one body (the second), in bytes.
    BodyMemory(usize, usize),
    /// Methods cannot be offered.
    Methods(MethodsError),
    /// Frames would bypass the layers around HTTP requests or heads.
    FramesBypassLayers,
    /// The path of a WebSocket endpoint is not unique, does not begin with a slash, or contains `?` or `#`.
    #[cfg(feature = "websocket")]
    WebSocketPath(String),
    /// A WebSocket endpoint is for frames, but [`ServerBuilder::frames`](super::ServerBuilder::frames) is not set.
    #[cfg(feature = "websocket")]
    NoFrames,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(mount, conflict) => {
                conflict.fmt(f)?;
                write!(f, " (both are at {mount})")
            }
            Self::Mount(kind, error) => write!(f, "cannot be offered over {kind}: {error}"),
            Self::NoProtocol => {
                f.write_str("the model names no protocol that is known here; name one: ")?;
                let names: Vec<&str> = ProtocolKind::ALL.iter().map(|kind| kind.name()).collect();
                f.write_str(&names.join(", "))
            }
            Self::FramesBypassLayers => f.write_str(
                "layers around HTTP requests and heads do not see what comes over frames: \
                 if none of them is a check, call ServerBuilder::frames_bypass_layers; \
                 authentication belongs into ServerBuilder::authenticate",
            ),
            #[cfg(feature = "websocket")]
            Self::WebSocketPath(path) => write!(
                f,
                "`{}` is no path for a WebSocket, or has one already",
                path.escape_debug()
            ),
            #[cfg(feature = "websocket")]
            Self::NoFrames => f.write_str(
                "frames over WebSocket are frames: offer them by `ServerBuilder::frames`",
            ),
            Self::UnknownOperation(name) => {
                write!(
                    f,
                    "a handler for {name}, which is no operation of the service"
                )
            }
            Self::Unhandled(names) => write!(f, "no handler for {}", names.join(", ")),
            Self::BodyMemory(memory, limit) => write!(
                f,
                "{memory} bytes for all bodies are less than the {limit} that one may have"
            ),
            Self::Pattern(error) => {
                write!(
                    f,
                    "{error} (Validation::WithoutUncheckedPatterns leaves it out)"
                )
            }
            Self::Methods(error) => error.fmt(f),
            Self::NoConnections => f.write_str("the maximum number of connections is 0"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Conflict(_, error) => Some(error),
            Self::Mount(_, error) => Some(error),
            Self::Pattern(error) => Some(error),
            Self::Methods(error) => Some(error),
            _ => None,
        }
    }
}
