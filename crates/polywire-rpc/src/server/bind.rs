//! Binding of TCP sockets.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;

use socket2::{Domain, Protocol, Socket, Type};

/// Binds a non-blocking listener, for `tokio::net::TcpListener::from_std`.
///
/// # Errors
///
/// The address cannot be bound, for instance because another socket listens there.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address)?;
    listen(&socket, address)?;
    Ok(socket.into())
}

/// Binds `count` listeners to one address, one per worker, over which the kernel distributes the
/// connections. Returns one listener on systems without `SO_REUSEPORT`.
///
/// # Errors
///
/// The address cannot be bound, for instance because another socket listens there.
pub fn bind_shared(address: SocketAddr, count: NonZeroUsize) -> io::Result<Vec<TcpListener>> {
    let first = socket(address)?;
    // Bound without `SO_REUSEPORT`, so that it fails if another server listens there. With it, both
    // servers would receive a part of the connections.
    listen(&first, address)?;
    let mut sockets = vec![first];
    #[cfg(unix)]
    if count.get() > 1 {
        sockets[0].set_reuse_port(true)?;
        // The system has chosen a port if it was 0.
        let address = sockets[0].local_addr()?.as_socket().unwrap_or(address);
        for _ in 1..count.get() {
            let socket = socket(address)?;
            socket.set_reuse_port(true)?;
            listen(&socket, address)?;
            sockets.push(socket);
        }
    }
    #[cfg(not(unix))]
    let _ = count;
    Ok(sockets.into_iter().map(TcpListener::from).collect())
}

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    // Allows a restarted server to bind its port at once.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    Ok(socket)
}

fn listen(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    socket.bind(&address.into())?;
    socket.listen(1024)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpStream;

    use super::*;

    const FOUR: NonZeroUsize = NonZeroUsize::new(4).unwrap();

    fn any() -> SocketAddr {
        "127.0.0.1:0".parse().unwrap()
    }

    #[test]
    fn addresses_are_exclusive() {
        let alone = bind(any()).unwrap();
        let shared = bind_shared(any(), FOUR).unwrap();
        for address in [alone.local_addr(), shared[0].local_addr()] {
            let address = address.unwrap();
            let errors = [
                bind(address).unwrap_err(),
                bind_shared(address, NonZeroUsize::MIN).unwrap_err(),
                bind_shared(address, FOUR).unwrap_err(),
            ];
            for error in errors {
                assert_eq!(error.kind(), io::ErrorKind::AddrInUse, "{address}");
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn all_listeners_get_connections() {
        let listeners = bind_shared(any(), FOUR).unwrap();
        assert_eq!(listeners.len(), 4);
        let address = listeners[0].local_addr().unwrap();
        let peers: Vec<TcpStream> = (0..200)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        let mut accepted = 0;
        for listener in &listeners {
            let own = std::iter::from_fn(|| listener.accept().ok()).count();
            assert!(own > 10, "{own} of 200 connections");
            accepted += own;
        }
        assert_eq!(accepted, peers.len());
    }

    /// Connections in TIME_WAIT, and open connections of the previous listener, do not prevent a new listener.
    #[test]
    fn restarts_at_once() {
        let listeners = bind_shared(any(), FOUR).unwrap();
        let address = listeners[0].local_addr().unwrap();
        let peers: Vec<TcpStream> = (0..20)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        let accepted: Vec<TcpStream> = listeners
            .iter()
            .flat_map(|listener| std::iter::from_fn(|| listener.accept().ok()))
            .map(|(stream, _)| stream)
            .collect();
        assert_eq!(accepted.len(), 20);
        drop(listeners);
        // The server closes half of them.
        let open: Vec<TcpStream> = accepted.into_iter().skip(10).collect();
        let ended = peers.iter().filter(|peer| {
            let mut peer = *peer;
            peer.set_read_timeout(Some(std::time::Duration::from_millis(100)))
                .unwrap();
            peer.read(&mut [0]).is_ok_and(|count| count == 0)
        });
        assert_eq!(ended.count(), 10);
        assert_eq!(bind_shared(address, FOUR).unwrap().len(), 4);
        assert!(bind(address).is_ok());
        drop((open, peers));
    }
}
