//! HTTPS listeners and their handshakes.

use std::io;
use std::net::SocketAddr;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::Server;
use super::accept;
use super::byte_stream::ByteStream;
use super::connection::{connection, stop_and_wait};
use super::listener::bind;
use super::peer::{Known, Peer};
use super::running::Running;
use crate::tls::{ServerTls, Settings, TlsPeer};

impl Server {
    /// Listens on an address for HTTPS and serves in the background, on this
    /// runtime.
    ///
    /// # Errors
    ///
    /// The address is not to be had.
    pub async fn listen_tls(&self, address: SocketAddr, tls: &ServerTls) -> io::Result<Running> {
        let listener = TcpListener::from_std(bind(address)?)?;
        self.serve_tls(listener, tls)
    }

    /// Serves the connections of a listener as HTTPS in the background, on this
    /// runtime.
    ///
    /// # Errors
    ///
    /// The listener has no address.
    pub fn serve_tls(&self, listener: TcpListener, tls: &ServerTls) -> io::Result<Running> {
        let address = listener.local_addr()?;
        let tls = tls.clone();
        let speak = move |server, stream, peer, stopped| {
            encrypted(server, stream, peer, stopped, tls.settings())
        };
        Ok(accept::serve(self, address, listener, b"", speak))
    }
}

/// Speaks HTTPS on a connection.
async fn encrypted(
    server: Server,
    stream: TcpStream,
    peer: Peer,
    stopped: watch::Receiver<bool>,
    tls: Settings,
) {
    // Apart, since it is needed for a moment only: a future stays as large as
    // what it holds at its largest.
    let handshake = Box::pin(handshake(stream, &peer, tls));
    let stream = tokio::select! {
        biased;
        stream = handshake => stream,
        () = stop_and_wait(stopped.clone()) => return,
    };
    let Some(stream) = stream else { return };
    let peer = Peer::known(Known {
        address: peer.address(),
        tls: Some(TlsPeer::of(stream.get_ref().1)),
        ..Known::default()
    });
    // Boxed: it is large, and is moved several times.
    connection(server, ByteStream::Tls(Box::new(stream)), peer, stopped).await;
}

async fn handshake(
    mut stream: TcpStream,
    peer: &Peer,
    tls: Settings,
) -> Option<tokio_rustls::server::TlsStream<TcpStream>> {
    let shaken = tokio::time::timeout(tls.handshake_timeout, async {
        if speaks_http(&stream).await? {
            let _ = stream.write_all(NOT_ENCRYPTED).await;
            let _ = stream.shutdown().await;
            let text = "the peer speaks HTTP where HTTPS is offered";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        TlsAcceptor::from(tls.config).accept(stream).await
    });
    match shaken.await {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err(error)) => {
            tracing::debug!(?peer, %error, "a handshake failed");
            None
        }
        Err(_) => {
            tracing::debug!(?peer, "a handshake took too long");
            None
        }
    }
}

const NOT_ENCRYPTED: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 62\r\n\
    Connection: close\r\n\r\n\
    This port speaks HTTPS. Call it with a URL of https://, please";

/// Whether the first byte is the letter of an HTTP method: the most frequent
/// mistake, which would otherwise show as noise at both ends.
async fn speaks_http(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0];
    let count = stream.peek(&mut first).await?;
    Ok(count == 1 && first[0].is_ascii_uppercase())
}
