//! Client processes that are killed during a call.

use std::sync::Arc;

use polywire_model::Loader;
use polywire_protocol::ProtocolKind;
use polywire_rpc::CallError;
use polywire_rpc::methods::Methods;
use polywire_rpc::xmlrpc::Client;
use polywire_rpc::{RunningServer, Server, ServerBuilder, ServiceHandle, dynamic};
use polywire_schema::{Map, Value};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::processes::{Child, argument, print_line, within};

/// Counts the events of `wait` calls.
#[derive(Clone)]
struct Watch {
    started: Arc<Semaphore>,
    /// One permit per call that may complete.
    gate: Arc<Semaphore>,
    ended: Arc<Semaphore>,
    dropped: Arc<Semaphore>,
}

impl Watch {
    fn new() -> Self {
        let none = || Arc::new(Semaphore::new(0));
        Self {
            started: none(),
            gate: none(),
            ended: none(),
            dropped: none(),
        }
    }

    fn track_call(&self) -> CallInProgress {
        CallInProgress {
            watch: self.clone(),
            ended: false,
        }
    }

    /// The methods `wait`, which completes when the gate has a permit, and `echo`.
    fn methods(&self) -> Methods {
        let watch = self.clone();
        Methods::new()
            .values("echo", |parameters, _| async move {
                Ok(Value::List(parameters))
            })
            .method("wait", move |(): ()| {
                let mut call = watch.track_call();
                async move {
                    call.wait().await;
                    7
                }
            })
    }
}

/// A `wait` call in progress. When dropped, it counts itself as ended or as dropped.
struct CallInProgress {
    watch: Watch,
    ended: bool,
}

impl CallInProgress {
    async fn wait(&mut self) {
        self.watch.started.add_permits(1);
        self.watch.gate.acquire().await.unwrap().forget();
        self.ended = true;
    }
}

impl Drop for CallInProgress {
    fn drop(&mut self) {
        let kind = match self.ended {
            true => &self.watch.ended,
            false => &self.watch.dropped,
        };
        kind.add_permits(1);
    }
}

/// Waits until an event has occurred `times` times.
async fn wait_for(what: &Semaphore, times: u32) {
    within(what.acquire_many(times)).await.unwrap().forget();
}

async fn listen(server: ServerBuilder) -> RunningServer {
    let server = server.build().unwrap();
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

fn client(url: &str) -> Client {
    Client::new(url).unwrap()
}

async fn echo(client: &Client) -> Result<Value, CallError> {
    within(client.call_values("echo", &[Value::from(1)])).await
}

/// Calls until a slot is free and the call succeeds.
async fn echo_when_a_slot_is_free(client: &Client) {
    let calling = async {
        while echo(client).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    within(calling).await;
}

const CALLER: &str = "killed_callers::a_caller";

#[tokio::test]
#[ignore = "the caller that other tests kill"]
async fn a_caller() {
    let Some(url) = argument() else { return };
    print_line("calling");
    let answer = client(&url).call_values("wait", &[]).await;
    panic!("nobody killed it: {answer:?}");
}

/// A call over HTTP/1.1 runs to its end when its client is killed: the server cannot tell a
/// killed client from a half-closed connection. When the call ends, its slot and its
/// connection are released.
#[tokio::test]
async fn the_call_of_a_killed_caller_runs_to_its_end() {
    let watch = Watch::new();
    // Slots for the three callers and for one other client.
    let running = listen(Server::methods(watch.methods()).calls(4).connections(4)).await;
    let url = format!("http://{}", running.address());
    let mut callers: Vec<Child> = (0..3).map(|_| Child::start(CALLER, &url)).collect();
    wait_for(&watch.started, 3).await;
    callers.iter_mut().for_each(Child::kill);
    let other = client(&url);
    for _ in 0..100 {
        echo(&other).await.unwrap();
    }
    assert_eq!(watch.dropped.available_permits(), 0);

    watch.gate.add_permits(3);
    wait_for(&watch.ended, 3).await;
    // All slots are free again: four connections can have a call in progress each.
    drop(other);
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let client = client(&url);
            tokio::spawn(async move { within(client.call_values("wait", &[])).await })
        })
        .collect();
    wait_for(&watch.started, 4).await;
    watch.gate.add_permits(4);
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), Value::from(7));
    }
    running.shutdown().await;
}

#[tokio::test]
async fn calls_of_killed_callers_count_as_calls_in_progress() {
    let watch = Watch::new();
    let running = listen(Server::methods(watch.methods()).calls(1)).await;
    let url = format!("http://{}", running.address());
    let mut caller = Child::start(CALLER, &url);
    wait_for(&watch.started, 1).await;
    caller.kill();
    let other = client(&url);
    let error = echo(&other).await.unwrap_err();
    let fault = error.xmlrpc_fault().unwrap();
    assert!(
        fault.message().contains("1 calls are in progress"),
        "{error}"
    );
    watch.gate.add_permits(1);
    wait_for(&watch.ended, 1).await;
    echo_when_a_slot_is_free(&other).await;
    running.shutdown().await;
}

#[tokio::test]
async fn without_half_closed_connections_a_call_ends_with_its_caller() {
    let watch = Watch::new();
    let server = Server::methods(watch.methods()).half_close(false);
    let running = listen(server.calls(1).connections(2)).await;
    let url = format!("http://{}", running.address());
    for _ in 0..3 {
        let mut caller = Child::start(CALLER, &url);
        wait_for(&watch.started, 1).await;
        caller.kill();
        // The gate has no permits, so the call can end only by cancellation.
        wait_for(&watch.dropped, 1).await;
    }
    echo_when_a_slot_is_free(&client(&url)).await;
    assert_eq!(watch.ended.available_permits(), 0);
    running.shutdown().await;
}

/// A service with one operation, `Wait`, for calls over HTTP/2.
fn service() -> ServiceHandle {
    let text = r#"
        $version: "2"
        namespace example
        service Waiter { version: "1", operations: [Wait] }
        operation Wait {}
    "#;
    let model = Loader::new().add_text("waiter.smithy", text).assemble();
    let schemas = model.unwrap().model.schemas("example#Waiter").unwrap();
    ServiceHandle::new(Arc::new(schemas.unwrap()), 0)
}

#[tokio::test]
async fn over_http2_a_call_ends_with_its_caller() {
    let watch = Watch::new();
    let own = watch.clone();
    let server = Server::builder(service()).protocol(ProtocolKind::RpcV2Cbor);
    let server = server.operation(
        "Wait",
        dynamic(move |_: Map, _| {
            let mut call = own.track_call();
            async move {
                call.wait().await;
                Ok(())
            }
        }),
    );
    let running = listen(server).await;
    let url = format!("http://{}", running.address());
    let mut caller = Child::start("killed_callers::a_caller_over_http2", &url);
    wait_for(&watch.started, 1).await;
    caller.kill();
    wait_for(&watch.dropped, 1).await;
    running.shutdown().await;
}

#[tokio::test]
#[ignore = "the caller that another test kills"]
async fn a_caller_over_http2() {
    let Some(url) = argument() else { return };
    let client = polywire_rpc::Client::builder(service(), ProtocolKind::RpcV2Cbor);
    let client = client.http2(true).connect(&url).unwrap();
    let answer = client.call("Wait", Map::new()).await;
    panic!("nobody killed it: {answer:?}");
}

/// A call whose client is killed before the body is complete never starts.
#[tokio::test]
async fn the_call_of_a_caller_killed_within_its_body_never_starts() {
    let watch = Watch::new();
    let running = listen(Server::methods(watch.methods()).calls(1).connections(2)).await;
    let address = running.address().to_string();
    let mut caller = Child::start("killed_callers::a_caller_that_sends_half_a_body", &address);
    assert_eq!(caller.line().await, "half");
    caller.kill();
    echo_when_a_slot_is_free(&client(&format!("http://{address}"))).await;
    assert_eq!(watch.started.available_permits(), 0);
    running.shutdown().await;
}

#[tokio::test]
#[ignore = "the caller that another test kills"]
async fn a_caller_that_sends_half_a_body() {
    let Some(address) = argument() else { return };
    let mut stream = TcpStream::connect(address).await.unwrap();
    let half = "POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\n\
                Content-Length: 1000\r\n\r\n<methodCall><methodName>wait</meth";
    stream.write_all(half.as_bytes()).await.unwrap();
    print_line("half");
    std::future::pending::<()>().await;
}
