//! A running double, and what calls it.

use std::sync::Arc;

use polywire::codec::json;
use polywire::double::{Double, DoubleBuilder, page};
use polywire::model::{Loader, Model};
use polywire::prelude::*;
use polywire::rpc::{CallError, RunningServer};
use polywire::schema::{Map, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) struct Site {
    pub(crate) double: Double,
    pub(crate) client: Client,
    pub(crate) running: RunningServer,
}

/// A builder of a double of the only service of a model.
pub(crate) fn builder(model: &str) -> DoubleBuilder {
    let assembled = Loader::new().add_text("test.smithy", model).assemble();
    let model: Model = assembled.unwrap_or_else(|error| panic!("{error}")).model;
    let service = polywire::service_of(&model, None).unwrap();
    Double::builder(Arc::new(model), service)
}

impl Site {
    pub(crate) async fn start(builder: DoubleBuilder) -> Self {
        let double = builder.build();
        let doubles = [double.clone()];
        let server = Server::builder(double.service().clone());
        let server = double
            .serve(server)
            .pages(move |request| page(&doubles, request).unwrap_or_default())
            .build()
            .unwrap();
        let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("http://{}", running.address());
        let client = Client::builder(double.service().clone(), ProtocolKind::RestJson1);
        Self {
            double,
            client: client.connect(&url).unwrap(),
            running,
        }
    }

    pub(crate) async fn try_call(&self, operation: &str, input: &str) -> Result<Value, CallError> {
        let output = self.client.call(operation, map(input)).await?;
        Ok(output)
    }

    pub(crate) async fn call(&self, operation: &str, input: &str) -> Value {
        let output = self.try_call(operation, input).await;
        output.unwrap_or_else(|error| panic!("{operation} {input}: {error}"))
    }

    /// The name and message of the error of a call.
    pub(crate) async fn error(&self, operation: &str, input: &str) -> (String, String) {
        match self.try_call(operation, input).await {
            Ok(output) => panic!("{operation} {input}: {output:?}"),
            Err(error) => {
                let fault = error.fault().unwrap_or_else(|| panic!("{error}"));
                (fault.name().to_owned(), fault.message().to_owned())
            }
        }
    }

    /// The status and body of a page.
    pub(crate) async fn page(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (status, text) = self
            .request(method, &format!("/_polywire/{path}"), body)
            .await;
        let value = json::read_value(&text);
        (
            status,
            value.unwrap_or_else(|error| panic!("{text}: {error}")),
        )
    }

    /// The status and the body of a response.
    pub(crate) async fn request(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let address = self.running.address();
        let mut socket = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        socket.read_to_string(&mut response).await.unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap();
        (status.parse().unwrap(), body.to_owned())
    }
}

pub(crate) fn value(text: &str) -> Value {
    json::read_value(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn map(text: &str) -> Map {
    match value(text) {
        Value::Map(map) => map,
        other => panic!("{other:?}"),
    }
}
