//! Clients that cannot be created.

use std::fmt;

use polywire_protocol::MountError;

/// A client that cannot be created.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The protocol cannot carry the service.
    Mount(MountError),
    /// The URL is invalid or has an unknown scheme, or the settings do not fit it.
    Url(String),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mount(error) => error.fmt(f),
            Self::Url(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for ConnectError {}
