//! Connections: accepting, serving, stopping.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::Server;
use super::activity::{Activity, Watched};

/// A listener on an address. With `shared`, several listeners may have the
/// same address, one a worker, and the kernel spreads connections over them.
///
/// # Errors
///
/// The address is not to be had.
pub fn bind(address: SocketAddr, shared: bool) -> io::Result<TcpListener> {
    let domain = socket2::Domain::for_address(address);
    let socket = socket2::Socket::new(domain, socket2::Type::STREAM, Some(socket2::Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    // A restarted server gets its port back at once.
    socket.set_reuse_address(true)?;
    #[cfg(unix)]
    if shared {
        socket.set_reuse_port(true)?;
    }
    #[cfg(not(unix))]
    let _ = shared;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    TcpListener::from_std(socket.into())
}

/// A server that listens.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Running {
    /// The address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops: accepts no more connections, lets calls in progress end for the
    /// time that the server's timeouts give them, then returns.
    pub async fn shutdown(self) {
        // Nobody listening any more is as good as stopped.
        let _ = self.stop.send(true);
        let _ = self.task.await;
    }
}

impl Server {
    /// Listens on an address and serves in the background, on this runtime.
    ///
    /// # Errors
    ///
    /// The address is not to be had.
    pub async fn listen(&self, address: SocketAddr) -> io::Result<Running> {
        let listener = bind(address, false)?;
        self.serve(listener)
    }

    /// Serves the connections of a listener in the background, on this
    /// runtime.
    ///
    /// # Errors
    ///
    /// The listener has no address.
    pub fn serve(&self, listener: TcpListener) -> io::Result<Running> {
        let address = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(accept(self.clone(), listener, stopped));
        Ok(Running {
            address,
            stop,
            task,
        })
    }
}

/// Accepts connections until told to stop, then waits for them to end.
async fn accept(server: Server, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
    let permits = Arc::new(Semaphore::new(server.app.connections));
    let mut connections = JoinSet::new();
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&permits).acquire_owned() => permit,
            _ = stopped.changed() => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let connection = connection(server.clone(), stream, peer, stopped.clone());
                connections.spawn(async move {
                    connection.await;
                    drop(permit);
                });
            }
            Err(error) => {
                // Out of descriptors, or a connection that was gone again:
                // neither is a reason to stop, the first one to pause.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(server.app.timeouts.shutdown, ended)
        .await
        .is_err()
    {
        tracing::warn!("connections were still open at the end of the time to stop");
    }
}

async fn connection(
    server: Server,
    stream: TcpStream,
    peer: SocketAddr,
    mut stopped: watch::Receiver<bool>,
) {
    // Small answers must not wait for more data; without the option they only
    // arrive later.
    let _ = stream.set_nodelay(true);
    let time = server.app.timeouts.head;
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(time)
        // A client may end its half once it has said all, and wait. (And no
        // `pipeline_flush`: it holds an answer back while bytes lie behind the
        // request, and loses it if those are no request.)
        .half_close(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(time))
        .keep_alive_timeout(time);
    let activity = Arc::new(Activity::default());
    let calls = Arc::clone(&activity);
    let service = service_fn(move |request| {
        let server = server.clone();
        let call = calls.call();
        async move {
            let response = server.answer(request, Some(peer)).await;
            drop(call);
            Ok::<_, Infallible>(response)
        }
    });
    let stream = Watched::new(stream, Arc::clone(&activity));
    let connection = builder.serve_connection(stream, service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return log(peer, ended),
        _ = stopped.changed() => {}
        () = activity.idle(time) => {}
    }
    // What is being answered will be; nothing more is taken.
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        ended = connection => log(peer, ended),
        () = activity.stuck(time) => tracing::debug!(%peer, "a connection was cut off"),
    }
}

fn log(peer: SocketAddr, ended: Result<(), Box<dyn std::error::Error + Send + Sync>>) {
    if let Err(error) = ended {
        // Clients break off all the time: no concern of an operator.
        tracing::debug!(%peer, %error, "a connection ended early");
    }
}
