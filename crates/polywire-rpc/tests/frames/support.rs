//! A server with methods of all kinds.

use std::time::Duration;

use polywire_protocol::Fault;
use polywire_rpc::frames::Client;
use polywire_rpc::{Context, Methods, RunningServer, Server};
use polywire_schema::Value;

pub(crate) fn methods() -> Methods {
    Methods::new()
        .method("Add", |(a, b): (i32, i32)| async move { a + b })
        .method("Length", |(text,): (String,)| async move { text.len() })
        .method("Repeat", |(text, times): (String, usize)| async move {
            text.repeat(times)
        })
        .method("Nothing", |()| async move {})
        .method("Sleep", |(ms,): (u64,)| async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            ms
        })
        .method("Fail", |()| async move {
            Err::<(), _>(Fault::coded(7, "as asked"))
        })
        .method("Panic", |()| async move {
            if true {
                panic!("a bug");
            }
        })
        .method("Tenant", |(), context: Context| async move {
            let tenant = context.headers().get("tenant");
            tenant.map(|value| value.to_str().unwrap_or_default().to_owned())
        })
        .values("Echo", |values, _| async move {
            Ok::<_, Fault>(Value::List(values))
        })
}

pub(crate) async fn server() -> RunningServer {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

pub(crate) async fn client(running: &RunningServer) -> Client {
    let url = format!("tcp://{}", running.address());
    Client::connect(&url).await.unwrap()
}
