//! Servers that are killed in the middle of a call: the caller is told at once, and
//! nothing that may have run is called a second time.

use std::time::Duration;

use polywire_rpc::CallError;
use polywire_rpc::Server;
use polywire_rpc::connect::{Step, TransportError};
use polywire_rpc::methods::Methods;
use polywire_rpc::xmlrpc::{Client, blocking};
use polywire_schema::Value;

use crate::processes::{Child, say, told, within};

const SERVER: &str = "killed_servers::a_server";

/// So far away that who waits for it has failed the test.
const NEVER: Duration = Duration::from_secs(24 * 60 * 60);

/// Serves where it is told: `wait` never ends and `count` does. It says where it
/// listens and what is called.
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

/// What a caller is told whose server has died on it.
fn is_cut_off(error: &CallError, url: &str) {
    assert_eq!(transport(error).step(), Step::Read, "{error}");
    assert!(!error.is_unstarted() && !error.is_timeout());
    assert!(!transport(error).is_refused());
    let text = error.to_string();
    assert!(text.starts_with(url), "{text}");
}

/// Has a server killed in the middle of a call, idempotent or not.
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
    // And once.
    assert_eq!(server.rest().await, [""; 0]);
}

#[tokio::test]
async fn over_http() {
    killed("http://127.0.0.1:0", false).await;
}

/// The first call of a connection has reached the server, and may have run: that it is
/// said to do no harm twice does not mean that a server that dies of it is to be asked
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
    // Nobody was there to remove it.
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
    // Nobody is there: said at once, and nothing was sent. If the client has not yet seen
    // that its connection is dead, the first call goes there, and may have been heard.
    let mut error = within(count()).await.unwrap_err();
    if !error.is_unstarted() {
        is_cut_off(&error, &url);
        error = within(count()).await.unwrap_err();
    }
    assert!(transport(&error).is_refused(), "{error}");
    assert!(error.is_unstarted());
    // What may be sent again is, until the next server is there.
    let again = client.clone();
    let again = tokio::spawn(async move {
        let call = again.method("count").idempotent();
        call.call_values(&[]).await
    });
    let (mut server, _) = start(&url).await;
    assert_eq!(within(again).await.unwrap().unwrap(), Value::from(1));
    // And the others, over the new connection.
    within(count()).await.unwrap();
    server.kill();
    assert_eq!(server.rest().await, ["count", "count"]);
}
