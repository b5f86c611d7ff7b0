//! A store that tells what it has received.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::Request;
use http_body_util::BodyExt;
use polywire_aws::signature::Credentials;
use polywire_model::Loader;
use polywire_protocol::{Fault, PayloadStream, ProtocolKind};
use polywire_rpc::aws::{
    self, BodyDecoder, ReceivedChecksums, SignatureAuthenticator, Signer, StaticKeys,
};
use polywire_rpc::client::Interceptor;
use polywire_rpc::{
    Client, Context, RunningServer, Server, ServerBuilder, ServiceHandle, dynamic, streaming,
};
use polywire_schema::{ByteStream, Map, StreamError, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

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
        let schemas = model.schemas("example.aws#Store").unwrap().unwrap();
        ServiceHandle::new(Arc::new(schemas), 0)
    });
    SERVICE.clone()
}

#[allow(non_snake_case, reason = "a constant that cannot be one")]
pub(crate) fn KEY() -> Credentials {
    Credentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
}

pub(crate) fn keys() -> StaticKeys {
    StaticKeys::new([KEY()])
}

/// The size of a piece of [`pieces`].
pub(crate) const BYTES: usize = 50_000;

/// A source of so many pieces.
pub(crate) fn pieces(
    count: usize,
) -> impl Stream<Item = Result<Bytes, StreamError>> + Send + 'static {
    let mut left = count;
    PollFn(move || {
        left = left.checked_sub(1)?;
        Some(Ok(Bytes::from(vec![left as u8; BYTES])))
    })
}

struct PollFn<F>(F);

impl<F: FnMut() -> Option<Result<Bytes, StreamError>> + Unpin> Stream for PollFn<F> {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready((self.0)())
    }
}

fn builder(completed: &Arc<AtomicU64>) -> ServerBuilder {
    let completed = Arc::clone(completed);
    Server::builder(service())
        .protocol(ProtocolKind::RestXml)
        .operation(
            "Put",
            streaming(dynamic(move |mut input: Map, context: Context| {
                let completed = Arc::clone(&completed);
                async move {
                    let body = input.remove("body").and_then(Value::into_stream);
                    let bytes = body.unwrap_or_default().collect(1 << 30).await?;
                    completed.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(
                        input.get("length").and_then(Value::as_i64),
                        Some(bytes.len() as i64)
                    );
                    let caller = context.user().unwrap_or("nobody");
                    let mut output = Map::from_iter([("caller", caller)]);
                    if let Some(encoding) = input.remove("encoding") {
                        output.insert("encoding", encoding);
                    }
                    output.insert("length", bytes.len() as i64);
                    let received = context.extensions().get::<ReceivedChecksums>();
                    let crc32 = received.and_then(|received| {
                        Some(
                            received
                                .get()?
                                .get(polywire_aws::checksum::Algorithm::Crc32)?
                                .to_string(),
                        )
                    });
                    if let Some(crc32) = crc32 {
                        output.insert("crc32", crc32);
                    }
                    Ok::<_, Fault>(output)
                }
            })),
        )
        .operation(
            "Get",
            dynamic(|input: Map, context: Context| async move {
                let is_asked = context.headers().contains_key("x-amz-checksum-mode");
                let body = ByteStream::new(PollFn({
                    let mut left = Some(Ok(Bytes::from_static(b"hello")));
                    move || left.take()
                }));
                let mut output = Map::from_iter([("body", Value::from(body))]);
                if is_asked {
                    output.insert("crc32", input.get("key").cloned().unwrap_or_default());
                }
                Ok::<_, Fault>(output)
            }),
        )
        .operation("Log", dynamic(|_: Map, _| async { Ok(()) }))
        .operation("Copy", dynamic(|_: Map, _| async { Ok(Map::new()) }))
        .operation(
            "Describe",
            dynamic(|input: Map, _| async move { Ok(input) }),
        )
}

pub(crate) struct Site {
    running: RunningServer,
    completed: Arc<AtomicU64>,
}

impl Site {
    pub(crate) async fn start(authenticator: SignatureAuthenticator) -> Self {
        Self::run(|builder| aws::install(builder, authenticator)).await
    }

    pub(crate) async fn without_keys() -> Self {
        Self::run(|builder| builder.body_filter(BodyDecoder::new())).await
    }

    async fn run(set: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let completed = Arc::default();
        let server = set(builder(&completed)).build().unwrap();
        let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        Self { running, completed }
    }

    /// How many calls of `Put` have read their whole body.
    pub(crate) fn completed(&self) -> u64 {
        self.completed.load(Ordering::SeqCst)
    }

    fn url(&self) -> String {
        format!("http://{}", self.running.address())
    }

    pub(crate) fn client(&self, signer: Signer) -> Client {
        let builder = Client::builder(service(), ProtocolKind::RestXml).interceptor(signer);
        builder.connect(&self.url()).unwrap()
    }

    pub(crate) fn plain_client(&self) -> Client {
        let builder = Client::builder(service(), ProtocolKind::RestXml);
        builder.connect(&self.url()).unwrap()
    }

    /// A signed request with its whole body.
    pub(crate) async fn signed(&self, operation: &str, input: Map) -> Request<Bytes> {
        self.signed_for("s3", operation, input).await
    }

    pub(crate) async fn signed_for(
        &self,
        name: &str,
        operation: &str,
        input: Map,
    ) -> Request<Bytes> {
        let client = self.plain_client();
        let mut request = client.encode_request(operation, input).unwrap();
        let service = service();
        let operation = service.find_operation(operation);
        let signer = Signer::new(KEY(), "us-east-1", name);
        signer.before_send(operation, &mut request).await.unwrap();
        if let Some(PayloadStream(stream)) = request.extensions_mut().remove() {
            *request.body_mut() = stream.collect(1 << 30).await.unwrap().into_bytes();
        }
        request
    }

    /// Sends a request with one byte of the body changed.
    pub(crate) async fn send_damaged(&self, mut request: Request<Bytes>, at: usize) -> String {
        let mut body = request.body().to_vec();
        body[at] ^= 1;
        *request.body_mut() = Bytes::from(body);
        self.send(request).await
    }

    /// Sends a request, and returns the whole response.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> String {
        let mut socket = TcpStream::connect(self.running.address()).await.unwrap();
        let mut text = format!(
            "{} {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            request.method(),
            request.uri().path_and_query().unwrap(),
            request.uri().authority().unwrap()
        );
        let (parts, body) = request.into_parts();
        for (name, value) in &parts.headers {
            if name != "content-length" {
                text.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
            }
        }
        let body = http_body_util::Full::new(body)
            .collect()
            .await
            .unwrap()
            .to_bytes();
        text.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        socket.write_all(text.as_bytes()).await.unwrap();
        socket.write_all(&body).await.unwrap();
        let mut reply = Vec::new();
        socket.read_to_end(&mut reply).await.unwrap();
        String::from_utf8(reply).unwrap()
    }
}

/// The input of `Put`.
pub(crate) fn put(key: &str, body: impl Into<Value>) -> Map {
    Map::from_iter([("key", Value::from(key)), ("body", body.into())])
}
