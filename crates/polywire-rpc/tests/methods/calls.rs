//! Calls of named methods: parameters, results and request context.

use std::sync::Mutex;

use polywire_protocol::Fault;
use polywire_rpc::blocking::BlockingPool;
use polywire_rpc::{Context, Methods};
use polywire_schema::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::support::{call, serve};

fn samples() -> Methods {
    Methods::new()
        .method("sample.add", |(a, b): (i32, i32)| async move { a + b })
        .method("sample.div", |(a, b): (i32, i32)| async move {
            a.checked_div(b)
                .ok_or_else(|| Fault::coded(7, "division by zero"))
        })
        .method("who", |(): (), context: Context| async move {
            context.headers().len()
        })
        .values("echo", |parameters, _| async move {
            Ok(Value::List(parameters))
        })
        .blocking("slow", |(n,): (u32,)| n * 2)
}

#[tokio::test]
async fn methods_answer_without_a_model() {
    let server = serve(samples());
    let sum = call(&server, "sample.add", &[2.into(), 3.into()]).await;
    assert_eq!(sum, Ok(Value::from(5)));
    let quotient = call(&server, "sample.div", &[7.into(), 2.into()]).await;
    assert_eq!(quotient, Ok(Value::from(3)));
    let fault = call(&server, "sample.div", &[7.into(), 0.into()]).await;
    assert_eq!(fault, Err((7, "division by zero".to_owned())));
    assert_eq!(call(&server, "who", &[]).await, Ok(Value::from(1)));
    let all = [Value::from("a"), Value::List(vec![Value::from(true)])];
    assert_eq!(
        call(&server, "echo", &all).await,
        Ok(Value::List(all.to_vec()))
    );
    assert_eq!(call(&server, "slow", &[4.into()]).await, Ok(Value::from(8)));
    let none = call(&server, "sample.ad", &[]).await;
    assert_eq!(none, Err((-32601, "no method `sample.ad`".to_owned())));
}

#[tokio::test]
async fn handlers_see_the_http_request() {
    let methods = Methods::new().method("who", |(): (), mut context: Context| async move {
        context.extensions_mut().insert(7_u8);
        let agent = context.headers()["user-agent"].to_str().unwrap_or_default();
        let peer = context.peer().map(|peer| peer.ip().to_string());
        let path = context.uri().path().to_owned();
        (
            agent.to_owned(),
            peer,
            path,
            context.extensions().get::<u8>().copied(),
        )
    });
    let running = serve(methods)
        .listen("127.0.0.1:0".parse().unwrap())
        .await
        .unwrap();
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    let body = "<methodCall><methodName> who </methodName></methodCall>";
    let request = format!(
        "POST /RPC2 HTTP/1.1\r\nhost: x\r\nuser-agent: test/1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    // Two pipelined requests on one connection. The second closes it.
    let last = request.replace("host: x", "host: x\r\nconnection: close");
    stream
        .write_all(format!("{request}{last}").as_bytes())
        .await
        .unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2, "{answers}");
    assert_eq!(
        answers.matches("content-type: text/xml").count(),
        2,
        "{answers}"
    );
    let result = "<value><string>test/1</string></value><value><string>127.0.0.1</string></value>\
                  <value><string>/RPC2</string></value><value><int>7</int></value>";
    assert_eq!(answers.matches(result).count(), 2, "{answers}");
    running.shutdown().await;
}

/// Blocking methods have a limited number of threads and a limited queue. A queued call that
/// is cancelled never runs.
#[tokio::test]
async fn blocking_methods_are_bounded() {
    let (started, mut begins) = mpsc::unbounded_channel();
    let (closed, gate) = std::sync::mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let methods = Methods::new()
        .blocking("wait", move |(number,): (i32,)| {
            started.send(number).unwrap();
            // Blocks until `closed` is dropped, which releases all calls.
            let opened = gate.lock().unwrap().recv();
            opened.map_or(number, |()| 0)
        })
        .blocking_pool(BlockingPool::new(1, 1));
    let server = serve(methods);
    let call_of = |number: i32| {
        let server = server.clone();
        tokio::spawn(async move { call(&server, "wait", &[number.into()]).await })
    };
    let first = call_of(1);
    assert_eq!(begins.recv().await, Some(1));
    let given_up = call_of(2);
    // Call 2 is polled before call 3, so it takes the only queue slot.
    let busy = call_of(3).await.unwrap().unwrap_err();
    assert_eq!(busy.0, -32400);
    assert!(busy.1.contains("threads for such calls"), "{}", busy.1);
    given_up.abort();
    assert!(given_up.await.unwrap_err().is_cancelled());
    let last = call_of(4);
    drop(closed);
    assert_eq!(first.await.unwrap(), Ok(Value::from(1)));
    assert_eq!(last.await.unwrap(), Ok(Value::from(4)));
    assert_eq!(begins.recv().await, Some(4));
}
