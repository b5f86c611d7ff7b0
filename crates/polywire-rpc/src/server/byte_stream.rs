//! The byte stream of a connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use super::accept::Stream;
use super::frame_budget::FrameBudget;

/// The byte stream of a connection, over any transport.
///
/// HTTP and frames are compiled once for this type instead of once per transport. A match per read
/// or write is negligible compared with the system call.
pub(super) enum ByteStream {
    Tcp(TcpStream),
    /// Within the process.
    Memory(DuplexStream),
    #[cfg(unix)]
    Unix(UnixStream),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::server::TlsStream<TcpStream>>),
    /// HTTP/2, over any of them.
    Http2(Box<FrameBudget>),
    /// Streams that tests control.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests have other streams"))]
    Other(Box<dyn Stream + Sync>),
}

impl From<TcpStream> for ByteStream {
    fn from(stream: TcpStream) -> Self {
        Self::Tcp(stream)
    }
}

#[cfg(unix)]
impl From<UnixStream> for ByteStream {
    fn from(stream: UnixStream) -> Self {
        Self::Unix(stream)
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
            Self::Other($stream) => $call,
        }
    };
}

impl AsyncRead for ByteStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        forward!(self.get_mut(), stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for ByteStream {
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
        forward!(self, stream => stream.is_write_vectored())
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        forward!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(context, parts))
    }
}
