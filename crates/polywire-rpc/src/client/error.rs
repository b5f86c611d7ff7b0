//! Clients that cannot be created.

use polywire_protocol::MountError;

/// A client that cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The protocol cannot carry the service.
    #[error("{0}")]
    Mount(MountError),
    /// The URL is invalid or has an unknown scheme, or the settings do not fit it.
    #[error("{0}")]
    Url(String),
}
