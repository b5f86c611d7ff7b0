//! Faults of connections, for tests of clients.

use std::fmt;

use bytes::Bytes;
use http::Response;
use polywire_protocol::{Fault, FaultKind};

/// Ends the connection instead of a response. A handler returns it as the reason of an internal
/// fault; test doubles use it to see what clients do.
///
/// Over HTTP/1 and SCGI the connection ends, over HTTP/2 only the stream of the request. Over frames,
/// and for a call in a batch, the caller gets an internal fault.
///
/// ```
/// use polywire_protocol::Fault;
/// use polywire_rpc::dynamic;
/// use polywire_rpc::server::ConnectionFault;
/// use polywire_schema::Map;
///
/// let handler = dynamic(|_: Map, _| async move {
///     Err::<Map, _>(Fault::internal(ConnectionFault::Close))
/// });
/// # let _ = handler;
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConnectionFault {
    /// Closes the connection: the client sees its end before a response.
    Close,
    /// Resets the connection, if it is TCP without TLS; otherwise as `Close`.
    Reset,
}

impl ConnectionFault {
    /// Returns the reason of a fault, if it is one of a connection.
    #[must_use]
    pub fn of(fault: &Fault) -> Option<Self> {
        if fault.kind() != FaultKind::Internal {
            return None;
        }
        let reason = std::error::Error::source(fault)?;
        reason.downcast_ref().copied()
    }

    /// A response that the connection does not send.
    pub(crate) fn response(self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
        response.extensions_mut().insert(self);
        response
    }
}

impl fmt::Display for ConnectionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Close => "the handler closed the connection",
            Self::Reset => "the handler reset the connection",
        })
    }
}

impl std::error::Error for ConnectionFault {}
