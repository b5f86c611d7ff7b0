//! Connections: accepting, serving, stopping.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::CONTENT_LENGTH;
use http::{Method, Request, Version};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::activity::{Activity, Idle, InCall, Watched};
use super::answer::HttpAnswer;
use super::begin::Begin;
use super::listener::bind;
use super::{HttpResponse, Server};

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

    /// Returns when it serves no more, although nobody has told it to stop: its
    /// runtime is gone, or it has panicked.
    pub async fn ended(&self) {
        self.stop.closed().await;
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
        let listener = TcpListener::from_std(bind(address)?)?;
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

/// How long a connection without a call may stay once the server stops, for
/// what its peer has sent and has not arrived.
const GRACE: Duration = Duration::from_secs(1);

/// Accepts connections until told to stop, then waits for them to end.
async fn accept(server: Server, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
    let permits = Arc::new(Semaphore::new(server.app.connections));
    let mut connections = JoinSet::new();
    // Has not seen the word to stop, nor have its clones, whenever it comes.
    let unseen = stopped.clone();
    let serve = |stream, peer, permit: OwnedSemaphorePermit| {
        let connection = connection(server.clone(), stream, peer, unseen.clone());
        async move {
            connection.await;
            drop(permit);
        }
    };
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&permits).acquire_owned() => permit,
            _ = stopped.changed() => break,
        };
        // Never closed.
        let Ok(permit) = permit else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                connections.spawn(serve(stream, peer, permit));
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
    // Those that the system has connected to us have sent their requests, or
    // are about to: as far as there are places for them, they are answered.
    let waiting = Waiting::new(listener);
    while let Ok(permit) = Arc::clone(&permits).try_acquire_owned()
        && let Some((stream, peer)) = waiting.next()
    {
        connections.spawn(serve(stream, peer, permit));
    }
    drop(waiting);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(server.app.timeouts.shutdown, ended)
        .await
        .is_err()
    {
        tracing::warn!("connections were still open at the end of the time to stop");
    }
}

/// The connections that wait to be accepted. Nobody waits for more of them, so
/// the system is asked and not the runtime, which may not know of all yet.
struct Waiting(Option<std::net::TcpListener>);

impl Waiting {
    fn new(listener: TcpListener) -> Self {
        Self(listener.into_std().ok())
    }

    fn next(&self) -> Option<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.0.as_ref()?.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        Some((TcpStream::from_std(stream).ok()?, peer))
    }
}

async fn connection(
    server: Server,
    mut stream: TcpStream,
    peer: SocketAddr,
    stopped: watch::Receiver<bool>,
) {
    // Small answers must not wait for more data; without the option they only
    // arrive later.
    let _ = stream.set_nodelay(true);
    let time = server.app.timeouts.head;
    let mut begin = Begin::default();
    let http2 = tokio::select! {
        biased;
        http2 = tokio::time::timeout(time, begin.is_http2(&mut stream)) => http2,
        () = stop_and_wait(stopped.clone()) => return,
    };
    let Ok(Ok(http2)) = http2 else {
        tracing::debug!(%peer, "a connection ended before it said anything");
        return;
    };
    let activity = Arc::new(Activity::new(http2));
    let service = Calls {
        server,
        peer,
        activity: Arc::clone(&activity),
    };
    let stream = Watched::new(stream, begin, Arc::clone(&activity));
    let watch = Watch {
        activity,
        stopped,
        time,
    };
    let ended = if http2 {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(Some(time))
            .keep_alive_timeout(time)
            .serve_connection(stream, service);
        watch
            .drive(pin!(connection), http2::Connection::graceful_shutdown)
            .await
    } else {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(time)
            // A client may end its half once it has said all, and wait. (And
            // no `pipeline_flush`: it holds an answer back while bytes lie
            // behind the request, and loses it if those are no request.)
            .half_close(true)
            .serve_connection(stream, service);
        watch
            .drive(pin!(connection), http1::Connection::graceful_shutdown)
            .await
    };
    match ended {
        Some(Ok(())) => {}
        // Clients break off all the time: no concern of an operator.
        Some(Err(error)) => tracing::debug!(%peer, %error, "a connection ended early"),
        None => tracing::debug!(%peer, "a connection was cut off"),
    }
}

/// Returns when the server has been told to stop and the grace is over.
async fn stop_and_wait(mut stopped: watch::Receiver<bool>) {
    // Nobody who could say it is as good as said.
    let _ = stopped.changed().await;
    tokio::time::sleep(GRACE).await;
}

/// Answers the requests of a connection.
struct Calls {
    server: Server,
    peer: SocketAddr,
    activity: Arc<Activity>,
}

impl hyper::service::Service<Request<Incoming>> for Calls {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        Answering {
            _call: self.activity.call(),
            bare: request.method() == Method::HEAD && request.version() == Version::HTTP_2,
            answer: self.server.answer(request, Some(self.peer)),
        }
    }
}

/// A request that is being answered. hyper drops it with the answer.
struct Answering {
    _call: InCall,
    /// Whether the body has to be left out here: hyper does so in HTTP/1 only.
    bare: bool,
    answer: HttpAnswer,
}

impl Future for Answering {
    type Output = Result<HttpResponse, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let bare = self.bare;
        let answer = Pin::new(&mut self.answer).poll(context);
        answer.map(|response| {
            Ok(if bare {
                without_body(response)
            } else {
                response
            })
        })
    }
}

/// The answer to HEAD: what the answer to GET would be, but for the body.
fn without_body(response: HttpResponse) -> HttpResponse {
    let (mut head, body) = response.into_parts();
    let length = hyper::body::Body::size_hint(&body).exact();
    if let Some(length) = length.filter(|length| *length > 0) {
        head.headers.entry(CONTENT_LENGTH).or_insert(length.into());
    }
    HttpResponse::from_parts(head, Full::default())
}

/// What ends a connection from outside.
struct Watch {
    activity: Arc<Activity>,
    stopped: watch::Receiver<bool>,
    time: Duration,
}

impl Watch {
    /// Runs a connection until it ends, is idle, or the server stops; then
    /// lets it answer what it has taken. `None` if it had to be cut off.
    async fn drive<C>(
        self,
        mut connection: Pin<&mut C>,
        shut_down: fn(Pin<&mut C>),
    ) -> Option<C::Output>
    where
        C: Future,
    {
        let Self {
            activity,
            stopped,
            time,
        } = self;
        let mut changed = stopped.clone();
        let mut changed = Box::pin(async move { changed.changed().await.is_ok() });
        let mut idle = Idle::new(Arc::clone(&activity), time);
        let mut moves = None;
        let own = &mut connection;
        let (seen, word) = (&activity, &stopped);
        let ended = poll_fn(move |context| {
            if let Poll::Ready(ended) = own.as_mut().poll(context) {
                return Poll::Ready(Some(ended));
            }
            // Timer and signal have this task's waker since they were first
            // polled. They need no second look after the connection itself was
            // what woke it, which is nearly always, unless they are due.
            let now = seen.moves();
            let moved = moves.replace(now).is_some_and(|before| before != now);
            if moved && !idle.is_due() && !word.has_changed().unwrap_or(true) {
                return Poll::Pending;
            }
            if changed.as_mut().poll(context).is_ready() || idle.poll(context).is_ready() {
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await;
        if ended.is_some() {
            return ended;
        }
        // What has arrived and was not read yet counts as taken: one more look
        // at the sockets, which the runtime takes before it comes back here.
        tokio::select! {
            biased;
            ended = connection.as_mut() => return Some(ended),
            () = tokio::task::yield_now() => {}
        }
        // What is being answered will be; nothing more is taken.
        shut_down(connection.as_mut());
        let stopping = async {
            let mut stopped = stopped;
            // Nobody who could say it is as good as said.
            let _ = stopped.changed().await;
            activity.waiting(GRACE).await;
        };
        tokio::select! {
            ended = connection => Some(ended),
            () = activity.stuck(time) => None,
            () = stopping => None,
        }
    }
}
