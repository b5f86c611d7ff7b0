//! The service as callers see it: over HTTP, by the clients of all protocols.

mod cities;
mod examples;
mod stations;
mod storms;

use polywire::prelude::*;
use polywire::rpc::RunningServer;

use super::{MODEL, handlers};

const WIRES: [ProtocolKind; 3] = [
    ProtocolKind::RestJson1,
    ProtocolKind::RpcV2Cbor,
    ProtocolKind::XmlRpc,
];

/// A running service with a new, unmodified world.
struct Fixture {
    service: ServiceHandle,
    server: RunningServer,
}

/// A response of restJson1 without its body.
struct Head {
    status: u16,
    headers: http::HeaderMap,
}

impl Head {
    fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).map(|value| value.to_str().unwrap());
        value.unwrap_or_default()
    }
}

impl Fixture {
    async fn new() -> Self {
        let service = polywire::load_text("weather.smithy", MODEL).unwrap();
        let server = handlers(Server::builder(service.clone())).build().unwrap();
        let server = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        Self { service, server }
    }

    fn client(&self, wire: ProtocolKind) -> Client {
        let url = format!("http://{}", self.server.address());
        Client::builder(self.service.clone(), wire)
            .connect(&url)
            .unwrap()
    }

    async fn call_over(
        &self,
        wire: ProtocolKind,
        operation: &str,
        input: Map,
    ) -> Result<Value, Fault> {
        match self.client(wire).call(operation, input).await {
            Ok(output) => Ok(in_utc(output)),
            Err(error) => match error.into_fault() {
                Ok(fault) => Err(fault),
                Err(other) => panic!("{operation} over {wire}: {other}"),
            },
        }
    }

    /// Calls over restJson1.
    async fn call<const N: usize>(
        &self,
        operation: &str,
        input: [(&str, Value); N],
    ) -> Result<Value, Fault> {
        let input = Map::from_iter(input);
        self.call_over(ProtocolKind::RestJson1, operation, input)
            .await
    }

    /// The head of a successful answer over restJson1.
    async fn head<const N: usize>(&self, operation: &str, input: [(&str, Value); N]) -> Head {
        let client = self.client(ProtocolKind::RestJson1);
        let mut head = None;
        let show = |exchange: &polywire::rpc::client::Exchange| {
            head = exchange.response.as_ref().map(|response| Head {
                status: response.status().as_u16(),
                headers: response.headers().clone(),
            });
        };
        let input = Map::from_iter(input);
        client.call_showing(operation, input, show).await.unwrap();
        head.unwrap()
    }
}

/// The same value, with all instants marked as standing in UTC: over XML-RPC
/// they come without a zone.
fn in_utc(value: Value) -> Value {
    match value {
        Value::Timestamp(at) => at.with_unzoned(false).into(),
        Value::List(items) => items.into_iter().map(in_utc).collect::<Vec<_>>().into(),
        Value::Map(map) => {
            let entries = map.into_iter().map(|(key, value)| (key, in_utc(value)));
            entries.collect::<Map>().into()
        }
        other => other,
    }
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Map::from_iter(entries).into()
}

fn list<const N: usize>(items: [&str; N]) -> Value {
    Value::List(items.map(Value::from).to_vec())
}

fn instant(text: &str) -> Value {
    Timestamp::parse_date_time(text).unwrap().into()
}

#[track_caller]
fn assert_no_such(answer: Result<Value, Fault>, kind: &str, id: &str) {
    let fault = answer.unwrap_err();
    assert_eq!(fault.shape(), "example.weather#NoSuchResource");
    assert_eq!(fault.details().get("resourceKind"), Some(&kind.into()));
    assert_eq!(fault.details().get("resourceId"), Some(&id.into()));
}

/// The call violates a constraint of the model on this member.
#[track_caller]
fn assert_refused(answer: Result<Value, Fault>, path: &str, constraint: &str) {
    let fault = answer.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Invalid);
    let message = fault.message();
    assert!(
        message.contains(&format!("at '{path}'")) && message.contains(constraint),
        "{fault}"
    );
}

#[track_caller]
fn assert_invalid(answer: Result<Value, Fault>, message: &str) {
    let fault = answer.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Invalid);
    assert!(fault.message().starts_with(message), "{fault}");
}
