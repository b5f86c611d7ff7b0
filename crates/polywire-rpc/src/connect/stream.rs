//! A connection: TCP or a Unix socket, with or without TLS.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use super::Step;

/// Facts about a connection, also for the errors after it has failed.
#[derive(Debug, Default)]
pub(crate) struct ConnectionInfo {
    /// The address of the peer with its port, or the path of a socket.
    pub(crate) address: String,
    /// Whether any byte was received.
    answered: AtomicBool,
    /// Whether any byte was received since the last write.
    answering: AtomicBool,
    /// Whether the request was cancelled whose body is being written.
    cancelled: AtomicBool,
    /// Wakes the task that waits until the peer reads.
    writer: Mutex<Option<Waker>>,
}

impl ConnectionInfo {
    pub(crate) fn new(address: String) -> Self {
        Self {
            address,
            ..Self::default()
        }
    }

    /// Ends a connection of HTTP/1 whose request was cancelled before its body was written. hyper would wait until the
    /// peer reads the body.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        let waker = self.writer().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn writer(&self) -> MutexGuard<'_, Option<Waker>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of writing, unless the request was cancelled.
    fn write_result<T>(
        &self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_pending() {
            *self.writer() = Some(context.waker().clone());
        }
        // Read after the waker was stored, so that either this or `cancel` sees the other.
        if self.cancelled.load(Ordering::Acquire) {
            let error = io::Error::new(io::ErrorKind::ConnectionAborted, "the call was cancelled");
            return Poll::Ready(Err(tagged(Step::Write, error)));
        }
        written.map_err(|error| tagged(Step::Write, error))
    }

    /// Whether the peer has answered before, and nothing came since the last request.
    pub(crate) fn is_stale(&self) -> bool {
        self.answered.load(Ordering::Relaxed) && !self.answering.load(Ordering::Relaxed)
    }
}

/// A failure of an open connection, with the step that failed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(crate) struct ConnectionError {
    pub(crate) step: Step,
    #[source]
    error: io::Error,
}

#[cold]
fn tagged(step: Step, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), ConnectionError { step, error })
}

/// A connection before TLS.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// A connection to a server.
pub(crate) struct Stream {
    inner: Layer,
    pub(crate) known: Arc<ConnectionInfo>,
    /// Requests name the whole URL, as a proxy wants them.
    pub(crate) proxied: bool,
}

/// What the bytes of a connection go through.
pub(crate) enum Layer {
    Plain(Socket),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::client::TlsStream<Socket>>),
}

impl Stream {
    pub(crate) fn plain(socket: Socket, known: ConnectionInfo) -> Self {
        Self {
            inner: Layer::Plain(socket),
            known: Arc::new(known),
            proxied: false,
        }
    }

    #[cfg(feature = "tls")]
    pub(crate) fn tls(
        stream: tokio_rustls::client::TlsStream<Socket>,
        known: ConnectionInfo,
    ) -> Self {
        Self {
            inner: Layer::Tls(Box::new(stream)),
            known: Arc::new(known),
            proxied: false,
        }
    }
}

impl Stream {
    /// The connection without [`ConnectionInfo`].
    pub(crate) fn into_layer(self) -> Layer {
        self.inner
    }
}

fn reader<S: AsyncRead + Unpin>(stream: &mut S) -> Pin<&mut dyn AsyncRead> {
    let stream: Pin<&mut S> = Pin::new(stream);
    stream
}

fn writer<S: AsyncWrite + Unpin>(stream: &mut S) -> Pin<&mut dyn AsyncWrite> {
    let stream: Pin<&mut S> = Pin::new(stream);
    stream
}

impl Socket {
    fn reader(&mut self) -> Pin<&mut dyn AsyncRead> {
        match self {
            Self::Tcp(stream) => reader(stream),
            #[cfg(unix)]
            Self::Unix(stream) => reader(stream),
        }
    }

    fn writer(&mut self) -> Pin<&mut dyn AsyncWrite> {
        match self {
            Self::Tcp(stream) => writer(stream),
            #[cfg(unix)]
            Self::Unix(stream) => writer(stream),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.get_mut().reader().poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().writer().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().writer().poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().writer().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().writer().poll_shutdown(context)
    }
}

impl Layer {
    fn reader(&mut self) -> Pin<&mut dyn AsyncRead> {
        match self {
            Self::Plain(socket) => reader(socket),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => reader(&mut **stream),
        }
    }

    fn writer(&mut self) -> Pin<&mut dyn AsyncWrite> {
        match self {
            Self::Plain(socket) => writer(socket),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => writer(&mut **stream),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = this.inner.reader().poll_read(context, buffer);
        if buffer.filled().len() > before {
            this.known.answered.store(true, Ordering::Relaxed);
            this.known.answering.store(true, Ordering::Relaxed);
        }
        read.map_err(|error| tagged(Step::Read, error))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.known.answering.store(false, Ordering::Relaxed);
        let written = this.inner.writer().poll_write(context, bytes);
        this.known.write_result(written, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.known.answering.store(false, Ordering::Relaxed);
        let written = this.inner.writer().poll_write_vectored(context, slices);
        this.known.write_result(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.inner {
            Layer::Plain(_) => true,
            #[cfg(feature = "tls")]
            Layer::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.get_mut().inner.writer().poll_flush(context);
        flushed.map_err(|error| tagged(Step::Write, error))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner.writer().poll_shutdown(context)
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(self.known.clone());
        let connected = connected.proxy(self.proxied);
        #[cfg(feature = "tls")]
        if let Layer::Tls(stream) = &self.inner
            && stream.get_ref().1.alpn_protocol() == Some(b"h2")
        {
            return connected.negotiated_h2();
        }
        connected
    }
}
