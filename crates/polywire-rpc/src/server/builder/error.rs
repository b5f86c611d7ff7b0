//! Why a server cannot be put together.

use std::fmt;

use polywire_protocol::{Conflict, MountError, ProtocolKind, UncheckedPattern};

use crate::methods::MethodsError;
use crate::server::Mount;

/// Why a server cannot be built.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// Two protocols of the same mount cannot be told apart.
    Conflict(Mount, Conflict),
    /// A protocol cannot offer the service.
    Mount(ProtocolKind, MountError),
    /// No protocol was named, and the model names none that is known.
    NoProtocol,
    /// A handler was given for an operation that the service does not have.
    UnknownOperation(String),
    /// Operations have no handler.
    Unhandled(Vec<String>),
    /// Not one connection may be open.
    NoConnections,
    /// A pattern cannot be checked: see [`Validation`](super::Validation).
    Pattern(UncheckedPattern),
    /// The memory for all bodies, first, is less than one body may have.
    BodyMemory(usize, usize),
    /// Methods cannot be offered.
    Methods(MethodsError),
    /// Frames are offered, which layers around HTTP requests or heads would not see.
    FramesPastLayers,
    /// What was to be the path of a WebSocket has another one already, or is none: it begins with a slash and has
    /// no query.
    #[cfg(feature = "websocket")]
    WebSocketPath(String),
    /// Frames are to be spoken over WebSocket, and [`ServerBuilder::frames`](super::ServerBuilder::frames) does not
    /// offer them.
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
            Self::FramesPastLayers => f.write_str(
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
            Self::NoConnections => f.write_str("a server without a connection serves nobody"),
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
