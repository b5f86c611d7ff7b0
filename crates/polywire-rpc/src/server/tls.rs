//! TLS over the connections of a listener.

use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_rustls::TlsAcceptor;

use super::accept::Stream;
use super::connection_stream::ConnectionStream;
use super::listener::Listener;
use crate::peer::Peer;
use crate::tls::{ServerTls, Settings, TlsPeer};

/// A listener with TLS. Returned by [`Listener::tls`].
///
/// ```no_run
/// use polywire_rpc::Server;
/// use polywire_rpc::server::{Listener, UnixSocket};
/// use polywire_rpc::tls::ServerTls;
///
/// async fn serve(server: &Server, tls: &ServerTls) -> std::io::Result<()> {
///     let listener = UnixSocket::new("/run/greeter.sock").bind().await?;
///     let running = server.serve(listener.tls(tls))?;
///     running.ended().await;
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct TlsListener<L> {
    listener: L,
    tls: ServerTls,
}

impl<L> TlsListener<L> {
    /// Encrypts the connections of `listener`. Later changes of the settings apply to new connections.
    pub fn new(listener: L, tls: &ServerTls) -> Self {
        Self {
            listener,
            tls: tls.clone(),
        }
    }

    fn encrypt(&self, (stream, peer): (impl Stream, Peer)) -> (TlsStream, Peer) {
        let stream = TlsStream::new(ConnectionStream::new(stream), self.tls.settings());
        (stream, peer)
    }
}

impl<L: Listener> Listener for TlsListener<L> {
    type Io = TlsStream;
    type Addr = L::Addr;

    async fn accept(&mut self) -> io::Result<(TlsStream, Peer)> {
        let accepted = self.listener.accept().await?;
        Ok(self.encrypt(accepted))
    }

    fn local_addr(&self) -> io::Result<L::Addr> {
        self.listener.local_addr()
    }

    fn try_accept(&mut self) -> Option<(TlsStream, Peer)> {
        let accepted = self.listener.try_accept()?;
        Some(self.encrypt(accepted))
    }
}

/// An encrypted connection. The handshake begins with the first read or write, so that accepting connections does not
/// wait for it.
pub struct TlsStream(State);

enum State {
    Handshake(Pin<Box<dyn Future<Output = io::Result<EstablishedStream>> + Send + Sync>>),
    Established(EstablishedStream),
    Failed,
}

/// Boxed: it is large, and is moved several times.
type EstablishedStream = Box<tokio_rustls::server::TlsStream<ConnectionStream>>;

impl TlsStream {
    fn new(stream: ConnectionStream, settings: Settings) -> Self {
        Self(State::Handshake(Box::pin(handshake(stream, settings))))
    }

    /// Completes the handshake, if necessary. Returns the session with the certificate of the peer.
    ///
    /// # Errors
    ///
    /// The handshake failed, or took longer than
    /// [`handshake_timeout`](crate::tls::ServerTlsBuilder::handshake_timeout).
    pub async fn handshake(&mut self) -> io::Result<TlsPeer> {
        poll_fn(|context| {
            let stream = ready!(self.poll_established(context))?;
            Poll::Ready(Ok(TlsPeer::of(stream.get_ref().1)))
        })
        .await
    }

    fn poll_established(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<&mut tokio_rustls::server::TlsStream<ConnectionStream>>> {
        if let State::Handshake(handshake) = &mut self.0 {
            match ready!(handshake.as_mut().poll(context)) {
                Ok(stream) => self.0 = State::Established(stream),
                Err(error) => {
                    self.0 = State::Failed;
                    return Poll::Ready(Err(error));
                }
            }
        }
        Poll::Ready(match &mut self.0 {
            State::Established(stream) => Ok(stream),
            _ => Err(io::Error::new(
                io::ErrorKind::NotConnected,
                "the TLS handshake failed",
            )),
        })
    }
}

impl_debug!(TlsStream {});

impl AsyncRead for TlsStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = ready!(self.get_mut().poll_established(context))?;
        Pin::new(stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for TlsStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let stream = ready!(self.get_mut().poll_established(context))?;
        Pin::new(stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = ready!(self.get_mut().poll_established(context))?;
        Pin::new(stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = ready!(self.get_mut().poll_established(context))?;
        Pin::new(stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        matches!(&self.0, State::Established(stream) if stream.is_write_vectored())
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stream = ready!(self.get_mut().poll_established(context))?;
        Pin::new(stream).poll_write_vectored(context, parts)
    }
}

async fn handshake(
    mut stream: ConnectionStream,
    settings: Settings,
) -> io::Result<EstablishedStream> {
    let handshake = async {
        if is_http(&stream).await? {
            let _ = stream.write_all(NOT_ENCRYPTED).await;
            let _ = stream.shutdown().await;
            let message = "the peer sends HTTP without TLS";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        TlsAcceptor::from(settings.config).accept(stream).await
    };
    let stream = tokio::time::timeout(settings.handshake_timeout, handshake).await??;
    Ok(Box::new(stream))
}

const NOT_ENCRYPTED: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 62\r\n\
    Connection: close\r\n\r\n\
    This port requires HTTPS. Use a URL that begins with https://.";

/// Whether the client sends HTTP without TLS, a frequent mistake: the first byte is an upper-case letter. Always false
/// for other streams than TCP sockets, which do not support `peek`.
async fn is_http(stream: &ConnectionStream) -> io::Result<bool> {
    let ConnectionStream::Tcp(stream) = stream else {
        return Ok(false);
    };
    let mut first = [0];
    let count = stream.peek(&mut first).await?;
    Ok(count == 1 && first[0].is_ascii_uppercase())
}
