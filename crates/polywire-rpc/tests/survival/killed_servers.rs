//! Server processes that are killed during a call. The client gets an error at once, and does
//! not resend a call that may have run.

use std::time::Duration;

use polywire_rpc::CallError;
use polywire_rpc::Server;
use polywire_rpc::connect::{Step, TransportError};
use polywire_rpc::methods::Methods;
use polywire_rpc::xmlrpc::{Client, blocking};
use polywire_schema::Value;

use crate::processes::{Child, argument, print_line, within};

const SERVER: &str = "killed_servers::a_server";

/// A deadline of 24 h. A test that waits for it has failed.
const NEVER: Duration = Duration::from_secs(24 * 60 * 60);

/// Listens at the address from the parent. `wait` never completes and `count` does. Prints its
/// URL and the name of each method that is called.
#[tokio::test]
#[ignore = "the server that other tests kill"]
async fn a_server() {
    let Some(address) = argument() else { return };
    let called = |name: &'static str| move || print_line(name);
    let (wait, count) = (called("wait"), called("count"));
    let methods = Methods::new()
        .method("wait", move |(): ()| {
            wait();
            std::future::pending::<i32>()
        })
        .method("count", move |(): ()| {
            count();
            async { 1 }
        });
    let server = Server::methods(methods).build().unwrap();
    let (scheme, address) = address.split_once("://").unwrap();
    let running = match scheme {
        "http" => {
            let running = server.listen(address.parse().unwrap()).await.unwrap();
            print_line(format!("http://{}", running.address()));
            running.into_any()
        }
        "scgi" => {
            let running = server.listen_scgi(address.parse().unwrap()).await.unwrap();
            print_line(format!("scgi://{}", running.address()));
            running.into_any()
        }
        #[cfg(unix)]
        "http+unix" => {
            let running = server.listen_unix(address).await.unwrap();
            print_line(format!("http+unix://{address}"));
            running.into_any()
        }
        other => panic!("{other}"),
    };
    running.ended().await;
}

/// Starts a server process and returns it with its URL.
async fn start(address: &str) -> (Child, String) {
    let mut server = Child::start(SERVER, address);
    let url = server.line().await;
    (server, url)
}

fn client(url: &str) -> Client {
    let client = Client::builder(url).unwrap();
    client.deadline(NEVER).retries(1000).build().unwrap()
}

fn transport(error: &CallError) -> &TransportError {
    error.transport().unwrap()
}

/// Asserts that the error reports a connection that was lost before the reply.
fn assert_connection_lost(error: &CallError, url: &str) {
    assert_eq!(transport(error).step(), Step::Read, "{error}");
    assert!(!error.is_unstarted() && !error.is_timeout());
    assert!(!transport(error).is_refused());
    let text = error.to_string();
    assert!(text.starts_with(url), "{text}");
}

/// Kills a server during a call, which may be idempotent.
async fn kill_during_a_call(address: &str, idempotent: bool) {
    let (mut server, url) = start(address).await;
    let client = client(&url);
    let calling = tokio::spawn(async move {
        let call = client.method("wait");
        let call = if idempotent { call.idempotent() } else { call };
        call.call_values(&[]).await
    });
    assert_eq!(server.line().await, "wait");
    server.kill();
    let error = within(calling).await.unwrap().unwrap_err();
    assert_connection_lost(&error, &url);
    // The server received the call only once.
    assert_eq!(server.remaining_lines().await, [""; 0]);
}

#[tokio::test]
async fn killing_an_http_server_fails_the_call_without_a_retry() {
    kill_during_a_call("http://127.0.0.1:0", false).await;
}

/// An idempotent call is not resent if it was the first on its connection. The server has
/// received it, and may have crashed because of it.
#[tokio::test]
async fn killing_an_http_server_fails_an_idempotent_call_without_a_retry() {
    kill_during_a_call("http://127.0.0.1:0", true).await;
}

#[tokio::test]
async fn killing_an_scgi_server_fails_the_call_without_a_retry() {
    kill_during_a_call("scgi://127.0.0.1:0", false).await;
}

#[cfg(unix)]
#[tokio::test]
async fn killing_a_unix_server_fails_the_call_without_a_retry() {
    let name = format!("polywire-survival-{}.sock", std::process::id());
    let path = std::env::temp_dir().join(name);
    kill_during_a_call(&format!("http+unix://{}", path.display()), false).await;
    // The killed server has not removed its socket file.
    std::fs::remove_file(path).unwrap();
}

#[test]
fn killing_a_server_fails_the_call_of_a_blocking_client() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (mut server, url) = runtime.block_on(start("http://127.0.0.1:0"));
    let client = blocking::Client::builder(&url).unwrap();
    let client = client.deadline(NEVER).build().unwrap();
    let calling = std::thread::spawn(move || client.call_values("wait", &[]));
    assert_eq!(runtime.block_on(server.line()), "wait");
    server.kill();
    assert_connection_lost(&calling.join().unwrap().unwrap_err(), &url);
}

#[tokio::test]
async fn calls_continue_with_the_replacement_server() {
    let (mut server, url) = start("http://127.0.0.1:0").await;
    let client = client(&url);
    let count = || client.call_values("count", &[]);
    assert_eq!(within(count()).await.unwrap(), Value::from(1));
    server.kill();
    // The connect is refused at once, and nothing was sent. If the client has not yet seen
    // that its connection is closed, the first call uses that connection and may have run.
    let mut error = within(count()).await.unwrap_err();
    if !error.is_unstarted() {
        assert_connection_lost(&error, &url);
        error = within(count()).await.unwrap_err();
    }
    assert!(transport(&error).is_refused(), "{error}");
    assert!(error.is_unstarted());
    // An idempotent call is retried until the next server listens.
    let again = client.clone();
    let again = tokio::spawn(async move {
        let call = again.method("count").idempotent();
        call.call_values(&[]).await
    });
    let (mut server, _) = start(&url).await;
    assert_eq!(within(again).await.unwrap().unwrap(), Value::from(1));
    // Other calls use the new connection.
    within(count()).await.unwrap();
    server.kill();
    assert_eq!(server.remaining_lines().await, ["count", "count"]);
}
