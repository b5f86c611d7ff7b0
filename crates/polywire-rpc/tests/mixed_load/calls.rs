//! The kinds of calls in the mixed load.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use polywire_codec::{cbor, xmlrpc as codec};
use polywire_rpc::CallError;
use polywire_rpc::xmlrpc::Client;
use polywire_schema::{Blob, Limits, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::record::Outcome;
use crate::server::{LIMIT, Row};

/// The clients of the load.
pub(crate) struct Callers {
    tcp: Client,
    unix: Client,
    scgi: Client,
    gzip: Client,
    /// The TCP address, for raw connections and new clients.
    address: String,
    rows: Vec<Row>,
}

impl Callers {
    /// Clients of a server whose addresses are given in the order TCP, Unix, SCGI.
    pub(crate) fn new(places: &str) -> Self {
        let places: Vec<&str> = places.split(' ').collect();
        let [tcp, unix, scgi] = places[..] else {
            panic!("{places:?}")
        };
        let path = |place: &str| place.trim_start_matches("unix:").to_owned();
        let client = |url: String| Client::builder(&url).unwrap();
        let row = |id: i32| Row {
            id,
            name: format!("row & number {id}"),
            price: f64::from(id) / 8.0,
            open: id % 3 == 0,
        };
        Self {
            tcp: client(format!("http://{tcp}")).build().unwrap(),
            unix: client(format!("http+unix://{}", path(unix)))
                .build()
                .unwrap(),
            scgi: client(format!("scgi+unix://{}", path(scgi)))
                .build()
                .unwrap(),
            gzip: client(format!("http://{tcp}"))
                .compress_from(Some(0))
                .build()
                .unwrap(),
            address: tcp.to_owned(),
            rows: (0..500).map(row).collect(),
        }
    }

    /// The client for this call: TCP, Unix and SCGI in turn.
    fn client(&self, number: u64) -> &Client {
        [&self.tcp, &self.unix, &self.scgi][usize::try_from(number % 3).unwrap()]
    }
}

type OutcomeFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A kind of call.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) call: fn(Arc<Callers>, u64) -> OutcomeFuture,
}

macro_rules! kinds {
    ($($function:ident: $name:literal),* $(,)?) => {
        /// All kinds, used in turn. The number of kinds and the number of clients are coprime,
        /// so each kind uses each client.
        pub(crate) const KINDS: &[Kind] = &[$(Kind {
            name: $name,
            call: |callers, number| Box::pin(async move { $function(&callers, number).await }),
        }),*];
    };
}

kinds! {
    small: "small",
    small: "small",
    small: "small",
    large: "500 rows",
    batch: "a batch of 20",
    blob: "64 KiB of base64, blocking",
    gzip: "500 rows in gzip",
    over_cbor: "CBOR",
    fault: "a fault",
    no_method: "no such method",
    truncated_xml: "no XML-RPC",
    too_large: "a body over the limit",
    burst: "ten at once",
    no_http: "no HTTP",
    dropped_head: "broken off in the head",
    dropped_body: "broken off in the body",
    dropped_call: "broken off before the answer",
    silent: "silent",
    new_client: "a new client",
}

/// Compares the answer with the expected one. The error shows the actual answer.
fn expect<T: PartialEq + std::fmt::Debug>(answer: Result<T, CallError>, expected: &T) -> Outcome {
    match answer {
        Ok(answer) if answer == *expected => Ok("answered"),
        other => Err(format!("{other:.200?}")),
    }
}

/// Compares the fault with the expected one. The error shows the actual answer.
fn expect_fault(answer: Result<Value, CallError>, code: i64, text: &str) -> Outcome {
    match answer {
        Err(error) => match error.xmlrpc_fault() {
            Some(fault) if fault.code() == code && fault.message().contains(text) => Ok("fault"),
            _ => Err(error.to_string()),
        },
        other => Err(format!("{other:.200?}")),
    }
}

async fn small(callers: &Callers, number: u64) -> Outcome {
    let left = i32::try_from(number % 1_000_000).unwrap();
    let answer = callers.client(number).call::<i32>("add", (left, 1)).await;
    expect(answer, &(left + 1))
}

async fn rows(client: &Client, rows: &[Row]) -> Outcome {
    let answer = client.call::<Vec<Row>>("rows", (rows,)).await;
    let expected: Vec<Row> = rows.iter().rev().cloned().collect();
    expect(answer, &expected)
}

async fn large(callers: &Callers, number: u64) -> Outcome {
    rows(callers.client(number), &callers.rows).await
}

async fn gzip(callers: &Callers, _: u64) -> Outcome {
    rows(&callers.gzip, &callers.rows).await
}

async fn batch(callers: &Callers, number: u64) -> Outcome {
    let mut batch = callers.client(number).batch();
    let places: Vec<_> = (0..20)
        .map(|left| batch.add::<i32>("add", (left, 1)).unwrap())
        .collect();
    let fails = batch.add::<i32>("add", (i32::MAX, 1)).unwrap();
    let replies = batch.send().await.map_err(|error| error.to_string())?;
    for (place, sum) in places.into_iter().zip(1..) {
        expect(replies.get(place), &sum)?;
    }
    match replies.get(fails) {
        Err(error) if error.xmlrpc_fault().is_some_and(|fault| fault.code() == 7) => Ok("answered"),
        other => Err(format!("{other:?}")),
    }
}

async fn blob(callers: &Callers, number: u64) -> Outcome {
    let blob = Blob::from(vec![3; 64 << 10]);
    let answer = callers.client(number).call::<i64>("sum", (blob,)).await;
    expect(answer, &(3 * (64 << 10)))
}

async fn fault(callers: &Callers, number: u64) -> Outcome {
    let parameters = [Value::from(i32::MAX), Value::from(1)];
    let answer = callers.client(number).call_values("add", &parameters).await;
    expect_fault(answer, 7, "too large")
}

async fn no_method(callers: &Callers, number: u64) -> Outcome {
    // A different name in each call.
    let name = format!("method{number}");
    let answer = callers.client(number).call_values(&name, &[]).await;
    expect_fault(answer, -32601, &name)
}

async fn too_large(callers: &Callers, number: u64) -> Outcome {
    let text = Value::from("x".repeat(LIMIT + 1));
    let answer = callers.client(number).call_values("echo", &[text]).await;
    expect_fault(answer, -32600, "Limits::bytes")
}

async fn burst(callers: &Callers, number: u64) -> Outcome {
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let client = callers.client(number).clone();
            tokio::spawn(async move { client.call::<u32>("nap", (20,)).await })
        })
        .collect();
    for call in calls {
        expect(call.await.unwrap(), &20)?;
    }
    Ok("answered")
}

async fn new_client(callers: &Callers, _: u64) -> Outcome {
    let client = Client::new(&format!("http://{}", callers.address)).unwrap();
    expect(client.call::<i32>("add", (1, 1)).await, &2)
}

/// Opens a connection and writes these bytes.
async fn write(callers: &Callers, bytes: &[u8]) -> Result<TcpStream, String> {
    let stream = TcpStream::connect(&callers.address).await;
    let mut stream = stream.map_err(|error| error.to_string())?;
    // The server may close the connection before all bytes are written.
    let _ = stream.write_all(bytes).await;
    Ok(stream)
}

/// Reads until the connection ends.
async fn read(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset ends the connection too.
    let _ = stream.read_to_end(&mut bytes).await;
    bytes
}

fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\n{headers}Connection: close\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// The body of an HTTP response.
fn body(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    end.map_or(&[], |end| &answer[end + 4..])
}

async fn over_cbor(callers: &Callers, number: u64) -> Outcome {
    let left = i32::try_from(number % 1_000_000).unwrap();
    let path = "/service/Mixed/operation/add";
    let body_of = cbor::to_vec(&(left, 1)).unwrap();
    let request = post(path, "Smithy-Protocol: rpc-v2-cbor\r\n", &body_of);
    let answer = read(write(callers, &request).await?).await;
    match cbor::read_value(body(&answer)) {
        Ok(sum) if sum.as_i64() == Some(i64::from(left) + 1) => Ok("answered"),
        _ => Err(answer.escape_ascii().to_string()),
    }
}

async fn truncated_xml(callers: &Callers, number: u64) -> Outcome {
    let whole = codec::write_call("echo", &[Value::from("x".repeat(100))]).unwrap();
    let cut = 1 + usize::try_from(number).unwrap() % (whole.len() - 1);
    let request = post("/RPC2", "", &whole[..cut]);
    let answer = read(write(callers, &request).await?).await;
    let text = String::from_utf8_lossy(body(&answer)).into_owned();
    match codec::read_response(&text, &Limits::DEFAULT) {
        Ok(Err(fault)) if fault["faultCode"].as_i64() == Some(-32700) => Ok("fault"),
        _ => Err(text),
    }
}

async fn no_http(callers: &Callers, number: u64) -> Outcome {
    let noise = format!("\x01{number}\r\n\r\n");
    let answer = read(write(callers, noise.as_bytes()).await?).await;
    match answer.starts_with(b"HTTP/1.1 400") {
        true => Ok("400"),
        false => Err(answer.escape_ascii().to_string()),
    }
}

/// A call whose reply takes 50 ms.
fn nap() -> Vec<u8> {
    let body = codec::write_call("nap", &[Value::from(50)]).unwrap();
    post("/RPC2", "", &body)
}

async fn dropped_head(callers: &Callers, number: u64) -> Outcome {
    let cut = usize::try_from(number).unwrap() % 30;
    drop(write(callers, &nap()[..cut]).await?);
    Ok("dropped")
}

async fn dropped_body(callers: &Callers, number: u64) -> Outcome {
    let whole = nap();
    let cut = whole.len() - 1 - usize::try_from(number).unwrap() % 100;
    let stream = write(callers, &whole[..cut]).await?;
    // Half of these connections are reset instead of closed.
    if number.is_multiple_of(2) {
        let socket = socket2::SockRef::from(&stream);
        socket.set_linger(Some(std::time::Duration::ZERO)).unwrap();
    }
    Ok("dropped")
}

async fn dropped_call(callers: &Callers, _: u64) -> Outcome {
    drop(write(callers, &nap()).await?);
    Ok("dropped")
}

/// A connection on which nothing is sent. The server closes it.
async fn silent(callers: &Callers, _: u64) -> Outcome {
    let answer = read(write(callers, b"").await?).await;
    match answer.is_empty() {
        true => Ok("closed"),
        false => Err(answer.escape_ascii().to_string()),
    }
}
