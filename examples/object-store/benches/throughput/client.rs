//! The client that loads a server.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, ETAG};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use polywire_aws::checksum::{Algorithm, Hasher};

use super::server::Server;
use super::signing::{Finisher, Form, Payloads, head};

/// The bucket of all objects.
pub(crate) const BUCKET: &str = "/bkt";
/// The most objects that a connection writes.
const KEYS: usize = 64;
/// The most bytes of them, approximately.
const BYTES: usize = 16 << 20;

/// A keep-alive connection.
pub(crate) struct Connection<'s> {
    server: &'s Server,
    host: String,
    sender: SendRequest<Full<Bytes>>,
    finisher: Finisher,
}

impl<'s> Connection<'s> {
    /// Connects to a server.
    pub(crate) async fn new(server: &'s Server) -> Self {
        let stream = tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap();
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self {
            server,
            host: server.address.to_string(),
            sender,
            finisher: Finisher::default(),
        }
    }

    async fn send(
        &mut self,
        (method, path): (Method, &str),
        form: Form,
        payloads: Option<&Payloads>,
    ) -> Response<Incoming> {
        let mut parts = head(method, path, &self.host);
        let keys = self.server.keys.as_ref();
        self.finisher.finish(&mut parts, form, payloads, keys);
        let body = payloads.map(|payloads| payloads.sent(form));
        let body = body.unwrap_or_default();
        parts.headers.insert(CONTENT_LENGTH, body.len().into());
        self.sender.ready().await.unwrap();
        let request = Request::from_parts(parts, Full::new(body));
        self.sender.send_request(request).await.unwrap()
    }

    /// Creates the bucket, which another server may have already.
    pub(crate) async fn create(&mut self, form: Form) {
        let response = self.send((Method::PUT, BUCKET), form, None).await;
        let (status, text) = (
            response.status(),
            response.collect().await.unwrap().to_bytes(),
        );
        assert!(
            matches!(status, StatusCode::OK | StatusCode::CONFLICT),
            "{text:?}"
        );
    }

    /// Uploads an object, and checks its `ETag`, which a bare server computes only if the form says so.
    pub(crate) async fn put(&mut self, path: &str, form: Form, payloads: &Payloads) {
        let response = self.send((Method::PUT, path), form, Some(payloads)).await;
        let (head, body) = response.into_parts();
        let text = body.collect().await.unwrap().to_bytes();
        assert_eq!(head.status, StatusCode::OK, "{text:?}");
        match head.headers.get(ETAG) {
            Some(etag) => assert_eq!(etag.to_str().unwrap(), payloads.etag),
            None => assert_eq!(form, Form::Plain, "no ETag"),
        }
    }

    /// Downloads an object and checks its bytes.
    pub(crate) async fn get(&mut self, path: &str, form: Form, payloads: &Payloads) {
        let response = self.send((Method::GET, path), form, None).await;
        assert_eq!(response.status(), StatusCode::OK);
        let len = response.headers().get(CONTENT_LENGTH).unwrap();
        assert_eq!(len.to_str().unwrap(), payloads.plain.len().to_string());
        let mut sum = Hasher::new(Algorithm::Crc32);
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            if let Ok(piece) = frame.unwrap().into_data() {
                sum.update(&piece);
            }
        }
        assert_eq!(sum.finish(), payloads.crc32);
    }

    async fn delete(&mut self, path: &str, form: Form) {
        let response = self.send((Method::DELETE, path), form, None).await;
        response.collect().await.unwrap();
    }
}

/// What is done in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    Put,
    Get,
}

/// A round with one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) requests: usize,
    /// The time until all connections had their last response.
    pub(crate) elapsed: Duration,
    /// Of the server, in seconds.
    pub(crate) cpu: f64,
}

/// Loads a server over some connections for some time, and with at least one request on each. Objects are removed
/// afterwards.
pub(crate) async fn load(
    server: &Server,
    (action, form): (Action, Form),
    payloads: &Payloads,
    connections: usize,
    time: Duration,
) -> Round {
    let keys = (BYTES / payloads.plain.len().max(1)).clamp(1, KEYS);
    let path = |connection: usize, number: usize| {
        // All connections read the same object.
        let connection = if action == Action::Get { 0 } else { connection };
        format!("{BUCKET}/objects/{connection}-{}", number % keys)
    };
    let mut open = Vec::new();
    for _ in 0..connections {
        let mut connection = Connection::new(server).await;
        if action == Action::Get {
            // The first connection writes what all read. The others, and this, get warm.
            if open.is_empty() {
                for number in 0..keys {
                    connection.put(&path(0, number), form, payloads).await;
                }
            }
            connection.get(&path(0, 0), form, payloads).await;
        }
        open.push(connection);
    }
    let cpu = server.cpu();
    let start = Instant::now();
    let tasks = open
        .iter_mut()
        .enumerate()
        .map(|(at, connection)| async move {
            let mut requests = 0;
            while requests == 0 || start.elapsed() < time {
                let path = path(at, requests);
                match action {
                    Action::Put => connection.put(&path, form, payloads).await,
                    Action::Get => connection.get(&path, form, payloads).await,
                }
                requests += 1;
            }
            requests
        });
    let requests = join_all(tasks).await;
    let elapsed = start.elapsed();
    let cpu = server.cpu() - cpu;
    let (connections, last) = match action {
        Action::Put => (
            connections,
            requests.iter().copied().max().unwrap_or_default(),
        ),
        Action::Get => (1, keys),
    };
    for connection in 0..connections {
        for number in 0..keys.min(last) {
            open[0].delete(&path(connection, number), form).await;
        }
    }
    Round {
        requests: requests.iter().sum(),
        elapsed,
        cpu,
    }
}

/// Polls all futures until all are ready.
pub(crate) async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut slots: Vec<_> = futures
        .map(|future| (Some(Box::pin(future)), None))
        .collect();
    std::future::poll_fn(|context| {
        for (slot, output) in &mut slots {
            if let Some(future) = slot
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                (*slot, *output) = (None, Some(value));
            }
        }
        match slots.iter().all(|(slot, _)| slot.is_none()) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    slots.into_iter().filter_map(|(_, output)| output).collect()
}
