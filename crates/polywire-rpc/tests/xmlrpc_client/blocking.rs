//! The client that waits.

use polywire_rpc::xmlrpc::{CallError, blocking::Client};

use crate::support::{Scripted, ok};

/// A server on a runtime of its own, since the client has none to lend.
fn server() -> (tokio::runtime::Runtime, Scripted) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(Scripted::start(|_, _| ok("<int>1</int>")));
    (runtime, server)
}

#[test]
fn calls_wait_and_connections_are_kept() {
    let (_runtime, server) = server();
    let builder = Client::builder(&server.url()).unwrap();
    let client = builder.basic("me", "secret").build().unwrap();
    for _ in 0..3 {
        assert_eq!(client.call::<i32>("m", (1,)).unwrap(), 1);
    }
    client.method("m").idempotent().call_values(&[]).unwrap();
    let mut batch = client.batch();
    batch.add::<i32>("m", ()).unwrap();
    // The server's answer is none to a batch, which the client says.
    batch.send().unwrap_err();
    let seen = server.seen();
    assert_eq!(seen.len(), 5);
    assert!(seen.iter().all(|seen| seen.connection == 0));
    assert!(seen[0].header("authorization").is_some());
}

#[test]
fn several_threads_use_one_client() {
    let (_runtime, server) = server();
    let client = Client::new(&server.url()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(client.call::<i32>("m", ()).unwrap(), 1);
                }
            });
        }
    });
    assert_eq!(server.seen().len(), 160);
}

#[test]
fn inside_a_runtime_it_says_so() {
    let (runtime, server) = server();
    let client = Client::new(&server.url()).unwrap();
    let error = runtime.block_on(async {
        let error = client.call::<i32>("m", ()).unwrap_err();
        // Neither does letting go of it there end the program.
        drop(client);
        error
    });
    assert!(matches!(error, CallError::InsideRuntime));
    assert!(error.is_before_request());
    assert!(error.to_string().contains("xmlrpc::Client"), "{error}");
    assert!(server.seen().is_empty());
}
