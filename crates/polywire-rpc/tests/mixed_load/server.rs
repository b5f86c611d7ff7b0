//! The server process.

use std::time::Duration;

use polywire_protocol::Fault;
use polywire_rpc::Server;
use polywire_rpc::methods::Methods;
use polywire_rpc::server::Timeouts;
use polywire_schema::{Blob, Limits, Value};
use serde::{Deserialize, Serialize};
use tower_http::compression::CompressionLayer;

use crate::child::{argument, print_line, questions, resident};

/// Maximum size of a message in bytes.
pub(crate) const LIMIT: usize = 1 << 20;

/// A row of a large call.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Row {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) price: f64,
    pub(crate) open: bool,
}

fn methods() -> Methods {
    Methods::new()
        .values("echo", |parameters, _| async move {
            Ok(Value::List(parameters))
        })
        .method("add", |(left, right): (i32, i32)| async move {
            left.checked_add(right)
                .ok_or_else(|| Fault::coded(7, "too large"))
        })
        .method("rows", |(mut rows,): (Vec<Row>,)| async move {
            rows.reverse();
            rows
        })
        .method("nap", |(millis,): (u32,)| async move {
            tokio::time::sleep(Duration::from_millis(millis.into())).await;
            millis
        })
        .blocking("sum", |(blob,): (Blob,)| {
            let bytes: &[u8] = &blob;
            bytes.iter().map(|byte| i64::from(*byte)).sum::<i64>()
        })
        .introspection(true)
        .cbor("Mixed")
}

#[test]
#[ignore = "the server of another test"]
fn serves() {
    if argument().is_none() {
        return;
    }
    let short = Duration::from_secs(2);
    let server = Server::methods(methods())
        .limits(Limits::DEFAULT.with_bytes(LIMIT))
        .calls(200)
        .timeouts(Timeouts::DEFAULT.with_head(short).with_body(short))
        .http_layer(CompressionLayer::new())
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let path = |name: &str| {
        let name = format!("polywire-load-{}-{name}.sock", std::process::id());
        std::env::temp_dir().join(name)
    };
    let running = runtime.block_on(async {
        let any_port = "127.0.0.1:0".parse().unwrap();
        [
            server.listen(any_port).await.unwrap().into_any(),
            server.listen_unix(path("http")).await.unwrap().into_any(),
            server
                .listen_scgi_unix(path("scgi"))
                .await
                .unwrap()
                .into_any(),
        ]
    });
    let places = running
        .each_ref()
        .map(|one| one.bound_address().to_string());
    print_line(places.join(" "));
    for question in questions() {
        match question.as_str() {
            "resident" => print_line(resident()),
            "stop" => break,
            other => panic!("{other}"),
        }
    }
    for one in running {
        runtime.block_on(one.shutdown());
    }
    print_line("stopped");
}
