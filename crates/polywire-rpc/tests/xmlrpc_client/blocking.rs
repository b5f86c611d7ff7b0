//! The blocking client.

use std::future::poll_fn;

use polywire_rpc::CallErrorKind;
use polywire_rpc::xmlrpc::blocking::Client;
use tokio::runtime::Builder;
use tokio::task::coop;

use crate::support::{ScriptedServer, ok};

/// A server on its own runtime, because the blocking client provides none.
fn server() -> (tokio::runtime::Runtime, ScriptedServer) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(ScriptedServer::start(|_, _| ok("<int>1</int>")));
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
    // The scripted reply is not a valid result of a multicall, so the batch fails.
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

/// A blocking call in an async context fails with a usage error: in a task, in the future of
/// `block_on`, in a `LocalSet`, and after the coop budget is used up.
#[test]
fn a_blocking_client_inside_a_task_is_an_error() {
    for kind in [Builder::new_current_thread, Builder::new_multi_thread] {
        let (_runtime, server) = server();
        let runtime = kind().enable_all().build().unwrap();
        let client = Client::new(&server.url()).unwrap();
        let assert_usage_error = |client: Client| {
            let error = client.call::<i32>("m", ()).unwrap_err();
            assert!(error.kind() == CallErrorKind::Usage);
            assert!(error.is_unstarted());
            assert!(error.to_string().contains("spawn_blocking"), "{error}");
            // Dropping the client there does not panic.
            drop(client);
        };
        runtime.block_on(async {
            assert_usage_error(client.clone());
            let (own, local) = (client.clone(), client.clone());
            tokio::spawn(async move { assert_usage_error(own) })
                .await
                .unwrap();
            let set = tokio::task::LocalSet::new();
            set.run_until(async move { assert_usage_error(local) })
                .await;
            while coop::has_budget_remaining() {
                let spend = poll_fn(|task| coop::poll_proceed(task).map(|one| one.made_progress()));
                spend.await;
            }
            assert_usage_error(client);
        });
        assert!(server.seen().is_empty());
    }
}

/// The check for an async context uses none of the coop budget of the task.
#[tokio::test]
async fn the_context_check_uses_no_coop_budget() {
    let client = Client::new("http://127.0.0.1:1").unwrap();
    for _ in 0..1_000 {
        client.call::<i32>("m", ()).unwrap_err();
        assert!(coop::has_budget_remaining());
    }
}

#[test]
fn threads_of_a_runtime_that_may_wait() {
    for kind in [Builder::new_current_thread, Builder::new_multi_thread] {
        let (_runtime, server) = server();
        let runtime = kind().enable_all().build().unwrap();
        let client = Client::new(&server.url()).unwrap();
        let call = |client: Client| client.call::<i32>("m", ()).unwrap();
        runtime.block_on(async {
            let all = (0..4).map(|_| client.clone());
            let all = all.map(|client| tokio::task::spawn_blocking(move || call(client)));
            for one in all.collect::<Vec<_>>() {
                assert_eq!(one.await.unwrap(), 1);
            }
        });
        let entered = runtime.enter();
        assert_eq!(call(client), 1);
        drop(entered);
        assert_eq!(server.seen().len(), 5);
    }
    let (runtime, server) = server();
    let client = Client::new(&server.url()).unwrap();
    // `block_in_place` hands the only worker's tasks to another thread, so the server keeps
    // running.
    let call = async move { tokio::task::block_in_place(|| client.call::<i32>("m", ())) };
    let called = runtime.block_on(async { tokio::spawn(call).await.unwrap() });
    assert_eq!(called.unwrap(), 1);
}
