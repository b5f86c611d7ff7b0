//! Servers that are killed during a call: the caller gets the error at once, and
//! no call that may have been executed is sent again.

use std::time::Duration;

use polywire_rpc::CallError;
use polywire_rpc::Server;
use polywire_rpc::connect::{Step, TransportError};
use polywire_rpc::methods::Methods;
use polywire_rpc::xmlrpc::{Client, blocking};
use polywire_schema::Value;

use crate::processes::{Child, say, told, within};

const SERVER: &str = "killed_servers::a_server";

/// A deadline that no test reaches.
const NEVER: Duration = Duration::from_secs(24 * 60 * 60);

/// Serves at the address from the parent: `wait` never ends and `count` does. It reports where it
/// listens and which methods are called.
#[tokio::test]
#[ignore = "the server that other tests kill"]
async fn a_server() {
    let Some(place) = told() else { return };
    let called = |name: &'static str| move || say(name);
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
    let (scheme, place) = place.split_once("://").unwrap();
    let running = match scheme {
        "http" => {
            let running = server.listen(place.parse().unwrap()).await.unwrap();
            say(format!("http://{}", running.address()));
            running.into_any()
        }
        "scgi" => {
            let running = server.listen_scgi(place.parse().unwrap()).await.unwrap();
            say(format!("scgi://{}", running.address()));
            running.into_any()
        }
        #[cfg(unix)]
        "http+unix" => {
            let running = server.listen_unix(place).await.unwrap();
            say(format!("http+unix://{place}"));
            running.into_any()
        }
        other => panic!("{other}"),
    };
    running.ended().await;
}

/// A server and its URL.
async fn start(place: &str) -> (Child, String) {
    let mut server = Child::start(SERVER, place);
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

/// The error of a caller whose server was killed.
fn is_cut_off(error: &CallError, url: &str) {
    assert_eq!(transport(error).step(), Step::Read, "{error}");
    assert!(!error.is_unstarted() && !error.is_timeout());
    assert!(!transport(error).is_refused());
    let text = error.to_string();
    assert!(text.starts_with(url), "{text}");
}

/// Kills a server during a call, idempotent or not.
async fn killed(place: &str, idempotent: bool) {
    let (mut server, url) = start(place).await;
    let client = client(&url);
    let calling = tokio::spawn(async move {
        let call = client.method("wait");
        let call = if idempotent { call.idempotent() } else { call };
        call.call_values(&[]).await
    });
    assert_eq!(server.line().await, "wait");
    server.kill();
    let error = within(calling).await.unwrap().unwrap_err();
    is_cut_off(&error, &url);
    // And once only.
    assert_eq!(server.rest().await, [""; 0]);
}

#[tokio::test]
async fn over_http() {
    killed("http://127.0.0.1:0", false).await;
}

/// The first call of a connection has reached the server, and may have been executed. Although the call
/// is idempotent, it is not sent again, because a server that crashed on it could crash
/// again.
#[tokio::test]
async fn over_http_and_idempotent() {
    killed("http://127.0.0.1:0", true).await;
}

#[tokio::test]
async fn over_scgi() {
    killed("scgi://127.0.0.1:0", false).await;
}

#[cfg(unix)]
#[tokio::test]
async fn over_a_unix_socket() {
    let name = format!("polywire-survival-{}.sock", std::process::id());
    let path = std::env::temp_dir().join(name);
    killed(&format!("http+unix://{}", path.display()), false).await;
    // The killed process did not remove it.
    std::fs::remove_file(path).unwrap();
}

#[test]
fn under_a_blocking_client() {
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
    is_cut_off(&calling.join().unwrap().unwrap_err(), &url);
}

#[tokio::test]
async fn calls_go_on_with_the_server_that_takes_its_place() {
    let (mut server, url) = start("http://127.0.0.1:0").await;
    let client = client(&url);
    let count = || client.call_values("count", &[]);
    assert_eq!(within(count()).await.unwrap(), Value::from(1));
    server.kill();
    // No server: the error comes at once, and nothing was sent. If the client has not yet noticed
    // that its connection is closed, it sends the first call there, which may count as sent.
    let mut error = within(count()).await.unwrap_err();
    if !error.is_unstarted() {
        is_cut_off(&error, &url);
        error = within(count()).await.unwrap_err();
    }
    assert!(transport(&error).is_refused(), "{error}");
    assert!(error.is_unstarted());
    // An idempotent call is retried until the next server is there.
    let again = client.clone();
    let again = tokio::spawn(async move {
        let call = again.method("count").idempotent();
        call.call_values(&[]).await
    });
    let (mut server, _) = start(&url).await;
    assert_eq!(within(again).await.unwrap().unwrap(), Value::from(1));
    // And the other calls, over the new connection.
    within(count()).await.unwrap();
    server.kill();
    assert_eq!(server.rest().await, ["count", "count"]);
}
