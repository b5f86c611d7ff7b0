//! Event streams over HTTP/1.1 and HTTP/2, in all protocols that have them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_core::Stream;
use polywire_model::Loader;
use polywire_protocol::{Fault, ProtocolKind};
use polywire_rpc::{Client, RunningServer, Server, ServerBuilder, ServiceHandle, dynamic};
use polywire_schema::{EventStream, Map, StreamError, StreamErrorKind, Value};
use tokio::sync::mpsc;

const PROTOCOLS: [ProtocolKind; 5] = [
    ProtocolKind::RestJson1,
    ProtocolKind::RestXml,
    ProtocolKind::AwsJson1_0,
    ProtocolKind::AwsJson1_1,
    ProtocolKind::RpcV2Cbor,
];

async fn within<F: Future>(future: F) -> F::Output {
    match tokio::time::timeout(Duration::from_secs(30), future).await {
        Ok(output) => output,
        Err(_) => panic!("still waiting"),
    }
}

fn service() -> ServiceHandle {
    static SERVICE: LazyLock<ServiceHandle> = LazyLock::new(|| {
        let text = include_str!("chat.smithy");
        let model = match Loader::new().add_text("chat.smithy", text).assemble() {
            Ok(assembled) => assembled.model,
            Err(error) => panic!("{error}"),
        };
        let schemas = model.schemas("example.chat#Chat").unwrap().unwrap();
        ServiceHandle::new(Arc::new(schemas), 0)
    });
    SERVICE.clone()
}

/// A stream that receives from a channel.
struct Receiver(mpsc::UnboundedReceiver<Result<Value, StreamError>>);

impl Stream for Receiver {
    type Item = Result<Value, StreamError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

fn channel() -> (
    mpsc::UnboundedSender<Result<Value, StreamError>>,
    EventStream<Value>,
) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (sender, EventStream::new(Receiver(receiver)))
}

fn line(by: &str, text: &str) -> Value {
    let line = Map::from_iter([("by", by), ("text", text)]);
    Value::Map(Map::from_iter([("line", Value::Map(line))]))
}

fn events(value: &mut Map, name: &str) -> EventStream<Value> {
    value
        .remove(name)
        .and_then(Value::into_events)
        .unwrap_or_default()
}

async fn talk(mut input: Map) -> Result<Map, Fault> {
    let room = input
        .get("room")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let mut said = events(&mut input, "said");
    let (sender, heard) = channel();
    tokio::spawn(async move {
        while let Some(event) = said.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    let _ = sender.send(Err(error));
                    return;
                }
            };
            if event.get("left").is_some() {
                let details =
                    Map::from_iter([("message", Value::from("bye")), ("seconds", 3.into())]);
                let fault = Fault::modelled("example.chat#Closed", details);
                let error = StreamError::new(StreamErrorKind::Failed).with_source(fault);
                let _ = sender.send(Err(error));
                return;
            }
            let text = event["line"]["text"].as_str().unwrap().to_uppercase();
            if sender.send(Ok(line("echo", &text))).is_err() {
                return;
            }
        }
    });
    let welcome = Value::from(format!("welcome to {room}"));
    Ok(Map::from_iter([
        ("welcome", welcome),
        ("heard", heard.into()),
    ]))
}

async fn start(kind: ProtocolKind) -> RunningServer {
    let server = builder(kind).build().unwrap();
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

fn builder(kind: ProtocolKind) -> ServerBuilder {
    Server::builder(service())
        .protocol(kind)
        .operation("Talk", dynamic(|input: Map, _| talk(input)))
        .operation(
            "Watch",
            dynamic(|input: Map, _| async move {
                let count = input.get("count").and_then(Value::as_i64).unwrap_or(3);
                let (sender, heard) = channel();
                for number in 0..count {
                    sender.send(Ok(line("clock", &number.to_string()))).unwrap();
                }
                Ok::<_, Fault>(Map::from_iter([("heard", Value::from(heard))]))
            }),
        )
        .operation(
            "Send",
            dynamic(|mut input: Map, _| async move {
                let mut said = events(&mut input, "said");
                let mut count = 0;
                while let Some(event) = said.next().await {
                    event?;
                    count += 1;
                }
                Ok::<_, Fault>(Map::from_iter([("count", count)]))
            }),
        )
}

async fn for_all<F: Future<Output = ()>>(test: impl Fn(Client) -> F) {
    for kind in PROTOCOLS {
        let running = start(kind).await;
        for http2 in [false, true] {
            let builder = Client::builder(service(), kind).http2(http2);
            let client = builder
                .connect(&format!("http://{}", running.address()))
                .unwrap();
            within(test(client)).await;
        }
    }
}

#[tokio::test]
async fn events_go_both_ways_at_once() {
    for_all(|client| async move {
        let (sender, said) = channel();
        let input = Map::from_iter([("room", Value::from("kitchen")), ("said", said.into())]);
        let Value::Map(mut output) = client.call("Talk", input).await.unwrap() else {
            panic!()
        };
        assert_eq!(
            output.get("welcome").and_then(Value::as_str),
            Some("welcome to kitchen")
        );
        let mut heard = events(&mut output, "heard");
        for text in ["one", "two", "\u{fc}"] {
            sender.send(Ok(line("ada", text))).unwrap();
            let event = heard.next().await.unwrap().unwrap();
            assert_eq!(event, line("echo", &text.to_uppercase()));
        }
        drop(sender);
        assert!(heard.next().await.is_none());
    })
    .await;
}

#[tokio::test]
async fn a_modelled_error_ends_the_stream() {
    for_all(|client| async move {
        let (sender, said) = channel();
        let input = Map::from_iter([("room", Value::from("hall")), ("said", said.into())]);
        let Value::Map(mut output) = client.call("Talk", input).await.unwrap() else {
            panic!()
        };
        let mut heard = events(&mut output, "heard");
        let left = Value::Map(Map::from_iter([("left", Value::Map(Map::new()))]));
        sender.send(Ok(left)).unwrap();
        let error = heard.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), StreamErrorKind::Failed);
        let fault = Fault::from(error);
        assert_eq!(fault.shape(), "example.chat#Closed");
        assert_eq!(
            fault.details().get("seconds").and_then(Value::as_i64),
            Some(3)
        );
        assert!(heard.next().await.is_none());
    })
    .await;
}

#[tokio::test]
async fn events_in_one_direction() {
    for_all(|client| async move {
        let input = Map::from_iter([("count", 200)]);
        let Value::Map(mut output) = client.call("Watch", input).await.unwrap() else {
            panic!()
        };
        let mut heard = events(&mut output, "heard");
        let mut count = 0;
        while let Some(event) = heard.next().await {
            assert_eq!(event.unwrap(), line("clock", &count.to_string()));
            count += 1;
        }
        assert_eq!(count, 200);
        let (sender, said) = channel();
        for number in 0..5 {
            sender.send(Ok(line("ada", &number.to_string()))).unwrap();
        }
        drop(sender);
        let input = Map::from_iter([("said", Value::from(said))]);
        let output = client.call("Send", input).await.unwrap();
        assert_eq!(output["count"].as_i64(), Some(5));
        // Without a stream there are no events.
        let output = client.call("Send", Map::new()).await.unwrap();
        assert_eq!(output["count"].as_i64(), Some(0));
    })
    .await;
}

#[tokio::test]
async fn constraints_of_events_are_checked() {
    for_all(|client| async move {
        let (sender, said) = channel();
        sender.send(Ok(line("ada", &"x".repeat(101)))).unwrap();
        drop(sender);
        let input = Map::from_iter([("said", Value::from(said))]);
        let error = client.call("Send", input).await.unwrap_err();
        assert!(error.to_string().contains("length"), "{error}");
    })
    .await;
}

#[cfg(feature = "aws")]
#[tokio::test]
async fn messages_can_be_signed() {
    use polywire_rpc::aws::{self, Credentials, SignatureAuthenticator, Signer, StaticKeys};

    let key = || Credentials::new("AKIDEXAMPLE", "secret");
    for kind in PROTOCOLS {
        let authenticator = SignatureAuthenticator::service("chat", StaticKeys::new([key()]));
        let server = aws::install(builder(kind), authenticator).build().unwrap();
        let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("http://{}", running.address());
        let connect = |key: Credentials| {
            let builder = Client::builder(service(), kind).http2(true);
            builder
                .interceptor(Signer::new(key, "us-east-1", "chat"))
                .connect(&url)
                .unwrap()
        };
        let (sender, said) = channel();
        let input = Map::from_iter([("room", Value::from("kitchen")), ("said", said.into())]);
        let client = connect(key());
        // The initial message and the events are signed one by one, while the stream is open.
        let call = client.call("Talk", input);
        let Value::Map(mut output) = within(call).await.unwrap() else {
            panic!()
        };
        let mut heard = events(&mut output, "heard");
        for text in ["one", "two"] {
            sender.send(Ok(line("ada", text))).unwrap();
            let event = within(heard.next()).await.unwrap().unwrap();
            assert_eq!(event, line("echo", &text.to_uppercase()));
        }
        drop(sender);
        assert!(within(heard.next()).await.is_none());
        // With another secret the request is rejected.
        let (_sender, said) = channel();
        let input = Map::from_iter([("room", Value::from("kitchen")), ("said", said.into())]);
        let client = connect(Credentials::new("AKIDEXAMPLE", "wrong"));
        let error = within(client.call("Talk", input)).await.unwrap_err();
        assert!(error.to_string().contains("signature"), "{kind}: {error}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_an_error() {
    for_all(|client| async move {
        let (sender, said) = channel();
        sender.send(Ok(line("ada", "one"))).unwrap();
        sender
            .send(Err(StreamError::new(StreamErrorKind::Interrupted)))
            .unwrap();
        let input = Map::from_iter([("said", Value::from(said))]);
        let error = client.call("Send", input).await.unwrap_err();
        assert!(error.to_string().contains("broke off"), "{error}");
    })
    .await;
}
