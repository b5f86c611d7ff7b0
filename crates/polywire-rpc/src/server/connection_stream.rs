//! The byte stream of a connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use super::accept::Stream;
use super::cast::downcast;
use super::frame_budget::FrameBudget;
#[cfg(feature = "tls")]
use super::tls::TlsStream;

/// The byte stream of a connection, over any transport.
///
/// HTTP and frames are compiled once for this type instead of once per transport. A match per read
/// or write is negligible compared with the system call.
pub(super) enum ConnectionStream {
    Tcp(TcpStream),
    /// Within the process.
    Memory(DuplexStream),
    #[cfg(unix)]
    Unix(UnixStream),
    #[cfg(feature = "tls")]
    Tls(TlsStream),
    /// HTTP/2, over any of them.
    Http2(Box<FrameBudget>),
    /// Of a listener of another type.
    Other(OtherStream),
}

/// A stream of any type.
pub(super) struct OtherStream {
    /// Makes the type `Sync`. It is never locked.
    stream: Mutex<Box<dyn Stream>>,
    is_write_vectored: bool,
}

impl ConnectionStream {
    /// Boxes the stream, unless its type is one of the variants.
    pub(super) fn new<S: Stream>(stream: S) -> Self {
        let stream = match downcast(stream) {
            Ok(tcp) => return Self::Tcp(tcp),
            Err(stream) => stream,
        };
        #[cfg(unix)]
        let stream = match downcast(stream) {
            Ok(unix) => return Self::Unix(unix),
            Err(stream) => stream,
        };
        #[cfg(feature = "tls")]
        let stream = match downcast(stream) {
            Ok(tls) => return Self::Tls(tls),
            Err(stream) => stream,
        };
        match downcast(stream) {
            Ok(memory) => Self::Memory(memory),
            Err(stream) => Self::Other(OtherStream {
                is_write_vectored: stream.is_write_vectored(),
                stream: Mutex::new(Box::new(stream)),
            }),
        }
    }
}

impl ConnectionStream {
    /// Has the system send a reset when the stream is dropped, if it is TCP.
    #[cold]
    pub(super) fn reset_on_drop(&self) {
        if let Self::Tcp(stream) = self {
            // Without the option the connection is closed.
            let _ = stream.set_zero_linger();
        }
    }
}

/// Calls a method of the stream that is held.
macro_rules! forward {
    ($from:expr, $stream:ident => $call:expr) => {
        match $from {
            Self::Tcp($stream) => $call,
            Self::Memory($stream) => $call,
            #[cfg(unix)]
            Self::Unix($stream) => $call,
            #[cfg(feature = "tls")]
            Self::Tls($stream) => $call,
            Self::Http2($stream) => $call,
            Self::Other(other) => {
                let $stream = other.stream.get_mut();
                let $stream = $stream.unwrap_or_else(PoisonError::into_inner);
                $call
            }
        }
    };
}

impl AsyncRead for ConnectionStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        forward!(self.get_mut(), stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for ConnectionStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        forward!(self.get_mut(), stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        forward!(self.get_mut(), stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        forward!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(context))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Tcp(stream) => stream.is_write_vectored(),
            Self::Memory(stream) => stream.is_write_vectored(),
            #[cfg(unix)]
            Self::Unix(stream) => stream.is_write_vectored(),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.is_write_vectored(),
            Self::Http2(stream) => stream.is_write_vectored(),
            Self::Other(stream) => stream.is_write_vectored,
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        forward!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(context, parts))
    }
}
