//! A store whose operations stream their payloads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use polywire_model::Loader;
use polywire_protocol::{Fault, ProtocolKind};
use polywire_rpc::{
    Client, ClientBuilder, RunningServer, Server, ServerBuilder, ServiceHandle, dynamic, streaming,
};
use polywire_schema::{ByteStream, Map, StreamError, Value};

const PATIENCE: Duration = Duration::from_secs(30);

/// Awaits a future; panics after a timeout.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("still waiting after {PATIENCE:?}"),
    }
}

pub(crate) fn service() -> ServiceHandle {
    static SERVICE: LazyLock<ServiceHandle> = LazyLock::new(|| {
        let text = include_str!("store.smithy");
        let model = match Loader::new().add_text("store.smithy", text).assemble() {
            Ok(assembled) => assembled.model,
            Err(error) => panic!("{error}"),
        };
        let schemas = model.schemas("example.store#Store").unwrap().unwrap();
        ServiceHandle::new(Arc::new(schemas), 0)
    });
    SERVICE.clone()
}

/// What the handlers saw.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<SeenState>);

#[derive(Default)]
struct SeenState {
    /// How many bytes the handler of `Put` has read.
    read: AtomicU64,
    /// The error of a stream that broke off.
    error: Mutex<Option<StreamError>>,
    /// How often a source of `Get` was dropped before its end.
    dropped: AtomicU64,
}

impl Seen {
    pub(crate) fn read(&self) -> u64 {
        self.0.read.load(Ordering::SeqCst)
    }

    /// A source of pieces.
    pub(crate) fn pieces(&self, left: u64) -> Pieces {
        Pieces {
            left,
            fails_at: None,
            has_paused: false,
            seen: self.clone(),
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::SeqCst)
    }

    /// Waits for the error of a stream.
    pub(crate) async fn error(&self) -> StreamError {
        within(async {
            loop {
                if let Some(error) = self.0.error.lock().unwrap().take() {
                    return error;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
    }

    fn add(&self, piece: Result<Bytes, StreamError>) -> Result<(), StreamError> {
        match piece {
            Ok(piece) => {
                self.0.read.fetch_add(piece.len() as u64, Ordering::SeqCst);
                Ok(())
            }
            Err(error) => {
                *self.0.error.lock().unwrap() = Some(error.clone());
                Err(error)
            }
        }
    }
}

/// A source of `count` pieces of 64 KiB, which counts if it is dropped before the end.
pub(crate) struct Pieces {
    pub(crate) left: u64,
    pub(crate) fails_at: Option<u64>,
    /// Whether the last poll was pending. Then the transport sends what it has.
    pub(crate) has_paused: bool,
    pub(crate) seen: Seen,
}

pub(crate) const PIECE: usize = 64 * 1024;

impl Stream for Pieces {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        if !std::mem::replace(&mut self.has_paused, true) {
            context.waker().wake_by_ref();
            return std::task::Poll::Pending;
        }
        self.has_paused = false;
        if self.fails_at == Some(self.left) {
            let error = std::io::Error::other("the disk is gone");
            return std::task::Poll::Ready(Some(Err(error.into())));
        }
        let Some(left) = self.left.checked_sub(1) else {
            return std::task::Poll::Ready(None);
        };
        self.left = left;
        std::task::Poll::Ready(Some(Ok(Bytes::from(vec![left as u8; PIECE]))))
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        if self.left > 0 {
            self.seen.0.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn body(input: &mut Map) -> ByteStream {
    input
        .remove("body")
        .and_then(Value::into_stream)
        .unwrap_or_default()
}

/// `Put` counts bytes; with the key `first` it stops after the first piece, with `stuck` it stops reading. `Get` returns
/// as many pieces as its key says.
pub(crate) fn builder(seen: &Seen) -> ServerBuilder {
    let (put, get) = (seen.clone(), seen.clone());
    Server::builder(service())
        .protocol(ProtocolKind::RestXml)
        .operation(
            "Put",
            streaming(dynamic(move |mut input: Map, _| {
                let seen = put.clone();
                async move {
                    let key = input.get("key").and_then(Value::as_str).unwrap().to_owned();
                    let mut body = body(&mut input);
                    let (mut count, mut pieces) = (0, 0);
                    while let Some(piece) = body.next().await {
                        count += piece.as_ref().map_or(0, Bytes::len) as i64;
                        seen.add(piece)?;
                        pieces += 1;
                        match key.as_str() {
                            "first" => break,
                            "stuck" => std::future::pending().await,
                            _ => {}
                        }
                    }
                    Ok::<_, Fault>(Map::from_iter([("count", count), ("pieces", pieces)]))
                }
            })),
        )
        .operation(
            "Get",
            dynamic(move |input: Map, _| {
                let seen = get.clone();
                async move {
                    let key = input.get("key").and_then(Value::as_str).unwrap().to_owned();
                    let (count, rest) = key.split_once('-').unwrap_or((&key, ""));
                    let Ok(left) = count.parse() else {
                        let message = Map::from_iter([("message", "not there")]);
                        return Err(Fault::modelled("example.store#NotThere", message));
                    };
                    let fails_at = (rest == "fails").then_some(1);
                    let mut pieces = seen.pieces(left);
                    pieces.fails_at = fails_at;
                    let stream = match rest {
                        "unsized" => ByteStream::new(pieces),
                        "short" => ByteStream::with_len(pieces, (left + 1) * PIECE as u64),
                        _ => ByteStream::with_len(pieces, left * PIECE as u64),
                    };
                    Ok(Map::from_iter([
                        ("key", Value::from(key)),
                        ("body", stream.into()),
                    ]))
                }
            }),
        )
        .operation(
            "Echo",
            streaming(dynamic(|input: Map, _| async move { Ok(input) })),
        )
        .operation(
            "PutSized",
            streaming(dynamic(|mut input: Map, _| async move {
                body(&mut input).collect(1 << 20).await?;
                Ok::<_, Fault>(())
            })),
        )
}

/// A running server.
pub(crate) struct Site {
    pub(crate) running: RunningServer,
    pub(crate) seen: Seen,
}

impl Site {
    pub(crate) async fn start(set: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let seen = Seen::default();
        let server = set(builder(&seen)).build().unwrap();
        let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        Self { running, seen }
    }

    pub(crate) fn client(&self, set: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Client {
        let builder = set(Client::builder(service(), ProtocolKind::RestXml));
        builder
            .connect(&format!("http://{}", self.running.address()))
            .unwrap()
    }
}

/// The input of an operation with a key and a body.
pub(crate) fn put(key: &str, body: impl Into<Value>) -> Map {
    Map::from_iter([("key", Value::from(key)), ("body", body.into())])
}
