//! `system.multicall`: several calls in one request.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use polywire_codec::xmlrpc;
use polywire_protocol::Fault;
use polywire_rpc::layers::Firewall;
use polywire_rpc::server::Peer;
use polywire_rpc::{Context, Methods, Server, Timeouts};
use polywire_schema::{Limits, Map, Value};

use crate::support::{build, call, call_cbor, fault_pair, post, read, send, serve};

fn methods() -> Methods {
    Methods::new()
        .introspection(true)
        .method("add", |(a, b): (i32, i32)| async move { a + b })
        .method("fail", |(): ()| async {
            Err::<(), _>(Fault::coded(7, "as you wish"))
        })
        .method("panic", |(): ()| async {
            if true {
                panic!("on purpose");
            }
        })
        .method("unwritable", |(): ()| async { "\u{1}" })
        .method("forever", |(): ()| std::future::pending::<()>())
        .method("peer", |(): (), context: Context| async move {
            context.headers()["x-own"].to_str().unwrap().to_owned()
        })
        .values("echo", |parameters, _| async move {
            Ok(Value::List(parameters))
        })
        .cbor("Sample")
}

fn entry(name: &str, parameters: Vec<Value>) -> Value {
    Value::Map(Map::from_iter([
        ("methodName", Value::from(name)),
        ("params", Value::List(parameters)),
    ]))
}

async fn multicall(server: &Server, calls: Vec<Value>) -> Vec<Result<Value, (i64, String)>> {
    let results = call(server, "system.multicall", &[Value::List(calls)]).await;
    split_results(results.unwrap())
}

/// Splits the reply of a multicall into one result per call.
fn split_results(results: Value) -> Vec<Result<Value, (i64, String)>> {
    let Value::List(results) = results else {
        panic!("{results:?}");
    };
    let one = |result: Value| match result {
        Value::List(mut one) if one.len() == 1 => Ok(one.remove(0)),
        fault => Err(fault_pair(&fault)),
    };
    results.into_iter().map(one).collect()
}

#[tokio::test]
async fn each_call_has_its_result_or_its_fault() {
    let server = serve(methods());
    let results = multicall(
        &server,
        vec![
            entry("add", vec![1.into(), 2.into()]),
            entry("fail", vec![]),
            entry("nobody", vec![]),
            entry("add", vec![1.into(), "x".into()]),
            entry("add", vec![1.into()]),
            entry("panic", vec![]),
            entry("unwritable", vec![]),
            entry("echo", vec![Value::List(vec![]), "a".into()]),
        ],
    )
    .await;
    let internal = (-32603, "an internal error occurred".to_owned());
    assert_eq!(results[0], Ok(Value::from(3)));
    assert_eq!(results[1], Err((7, "as you wish".to_owned())));
    assert_eq!(results[2], Err((-32601, "no method `nobody`".to_owned())));
    let (code, text) = results[3].clone().unwrap_err();
    assert_eq!(code, -32602);
    assert!(
        text.starts_with("parameter 2: wrong type: expected an integer"),
        "{text}"
    );
    let (code, text) = results[4].clone().unwrap_err();
    assert_eq!(code, -32602);
    assert!(
        text.contains("expected 2 parameters, found 1 parameter"),
        "{text}"
    );
    assert_eq!(results[5], Err(internal.clone()));
    assert_eq!(results[6], Err(internal));
    let echoed = Value::List(vec![Value::List(vec![]), "a".into()]);
    assert_eq!(results[7], Ok(echoed));
}

#[tokio::test]
async fn error_offsets_refer_to_the_whole_message() {
    let server = serve(methods());
    let body = "<methodCall><methodName>system.multicall</methodName><params><param><value><array>\
                <data><value><struct><member><name>methodName</name><value>add</value></member>\
                <member><name>params</name><value><array><data><value><int>1</int></value><value>\
                <string>here</string></value></data></array></value></member></struct></value>\
                </data></array></value></param></params></methodCall>";
    let offset = body.find("<string>here").unwrap();
    let results = split_results(read(&post(&server, "/RPC2", body).await).unwrap());
    let (_, text) = results[0].clone().unwrap_err();
    assert!(text.contains(&format!("at byte {offset}")), "{text}");
}

#[tokio::test]
async fn malformed_entries_fail_alone() {
    let server = serve(methods());
    let named = |name: &str, value: Value| Value::Map(Map::from_iter([(name, value)]));
    let results = multicall(
        &server,
        vec![
            Value::from("no struct"),
            named("methodName", "add".into()),
            named("params", Value::List(vec![])),
            Value::Map(Map::from_iter([
                ("methodName", Value::from(1)),
                ("params", Value::List(vec![])),
            ])),
            Value::Map(Map::from_iter([
                ("methodName", Value::from("add")),
                ("params", Value::from("no array")),
            ])),
            entry("add", vec![2.into(), 2.into()]),
        ],
    )
    .await;
    for (index, result) in results[..5].iter().enumerate() {
        let (code, text) = result.clone().unwrap_err();
        assert_eq!(code, -32602, "{text}");
        assert!(text.starts_with(&format!("call {}: ", index + 1)), "{text}");
    }
    assert_eq!(results[5], Ok(Value::from(4)));
}

#[tokio::test]
async fn a_nested_multicall_is_rejected() {
    let server = serve(methods());
    let inner = entry("add", vec![1.into(), 1.into()]);
    let nested = entry("system.multicall", vec![Value::List(vec![inner])]);
    let results = multicall(&server, vec![nested, entry("system.listMethods", vec![])]).await;
    let message = "no system.multicall within system.multicall".to_owned();
    assert_eq!(results[0], Err((-32600, message)));
    assert!(results[1].is_ok());
}

#[tokio::test]
async fn an_invalid_multicall_is_one_fault() {
    let server = serve(methods());
    for parameters in [
        vec![],
        vec![Value::from(1)],
        vec![Value::List(vec![]), Value::List(vec![])],
    ] {
        let fault = call(&server, "system.multicall", &parameters).await;
        assert_eq!(fault.unwrap_err().0, -32602, "{parameters:?}");
    }
    assert_eq!(multicall(&server, vec![]).await, []);
}

#[tokio::test]
async fn the_number_of_calls_is_limited() {
    let limits = Limits::DEFAULT.with_calls(3);
    let server = build(Server::methods(methods()).limits(limits));
    let one = || entry("add", vec![1.into(), 1.into()]);
    assert_eq!(multicall(&server, vec![one(), one(), one()]).await.len(), 3);
    let four = Value::List(vec![one(), one(), one(), one()]);
    let (code, text) = call(&server, "system.multicall", &[four])
        .await
        .unwrap_err();
    assert_eq!(code, -32600);
    assert!(
        text.contains("more than 3 calls in one (Limits::calls)"),
        "{text}"
    );
    let four = vec![("add", (1, 1)); 4];
    let (_, fault) = call_cbor(&server, "system.multicall", &(calls_of(&four),)).await;
    assert_eq!(fault["code"].as_i64(), Some(-32600), "{fault:?}");
}

#[tokio::test]
async fn calls_run_in_sequence() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&log);
    let methods = Methods::new()
        .introspection(true)
        .method("step", move |(number,): (u32,)| {
            let log = Arc::clone(&noted);
            async move {
                log.lock().unwrap().push((number, "begins"));
                tokio::task::yield_now().await;
                log.lock().unwrap().push((number, "ends"));
            }
        });
    let server = serve(methods);
    let calls = (0..20).map(|number| entry("step", vec![number.into()]));
    multicall(&server, calls.collect()).await;
    let expected: Vec<_> = (0..20)
        .flat_map(|number| [(number, "begins"), (number, "ends")])
        .collect();
    assert_eq!(*log.lock().unwrap(), expected);
}

/// A multicall counts as one call for the limit of calls in progress.
#[tokio::test]
async fn a_multicall_counts_as_one_call_in_progress() {
    let builder = Server::methods(methods()).calls(1);
    let server = build(builder);
    let calls = (0..50).map(|_| entry("add", vec![1.into(), 2.into()]));
    let results = multicall(&server, calls.collect()).await;
    assert_eq!(results, vec![Ok(Value::from(3)); 50]);
    // The multicall has released its slot.
    let single = call(&server, "add", &[1.into(), 2.into()]).await;
    assert_eq!(single, Ok(Value::from(3)));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_applies_to_the_whole_multicall() {
    let timeouts = Timeouts::DEFAULT.with_handler(Duration::from_secs(5));
    let server = build(Server::methods(methods()).timeouts(timeouts));
    let calls = vec![
        entry("add", vec![1.into(), 1.into()]),
        entry("forever", vec![]),
    ];
    let late = call(&server, "system.multicall", &[Value::List(calls)]).await;
    assert_eq!(
        late,
        Err((-32400, "system.multicall took too long".to_owned()))
    );
}

/// The results of a multicall share one size limit, so a small request cannot make the server
/// hold many large results.
#[tokio::test]
async fn results_are_bounded_together() {
    let methods = Methods::new()
        .introspection(true)
        .method("large", |(): ()| async { "x".repeat(10_000) });
    let limits = Limits::DEFAULT.with_bytes(50_000);
    let server = build(Server::methods(methods).limits(limits));
    let results = multicall(&server, vec![entry("large", vec![]); 20]).await;
    assert!(results[..5].iter().all(Result::is_ok));
    for result in &results[6..] {
        let (code, text) = result.clone().unwrap_err();
        assert_eq!(code, -32600);
        assert!(text.contains("50000 bytes (Limits::bytes)"), "{text}");
    }
}

/// Multicall entries for serde.
fn calls_of<P: serde::Serialize + Clone>(calls: &[(&str, P)]) -> Vec<impl serde::Serialize> {
    #[derive(serde::Serialize)]
    struct Entry<P> {
        #[serde(rename = "methodName")]
        name: String,
        params: P,
    }

    let entry = |(name, params): &(&str, P)| Entry {
        name: (*name).to_owned(),
        params: params.clone(),
    };
    calls.iter().map(entry).collect::<Vec<_>>()
}

#[tokio::test]
async fn multicalls_over_cbor() {
    let server = serve(methods());
    let calls = calls_of(&[("add", (1, 2)), ("nobody", (1, 2)), ("add", (3, 4))]);
    let (_, results) = call_cbor(&server, "system.multicall", &(calls,)).await;
    assert_eq!(results[0], Value::List(vec![3.into()]));
    assert_eq!(results[1]["code"].as_i64(), Some(-32601));
    assert_eq!(results[2], Value::List(vec![7.into()]));

    let calls = calls_of(&[("add", (1, "x"))]);
    let (_, results) = call_cbor(&server, "system.multicall", &(calls,)).await;
    let text = results[0]["message"].as_str().unwrap();
    assert!(text.starts_with("parameter 2: wrong type"), "{text}");

    let (_, results) = call_cbor(&server, "system.multicall", &(("no map", 1),)).await;
    for (index, text) in ["call 1: wrong type", "call 2: wrong type"]
        .iter()
        .enumerate()
    {
        assert!(
            results[index]["message"]
                .as_str()
                .unwrap()
                .starts_with(text)
        );
    }
}

/// A multicall of 10,000 calls is answered in full. Each entry is decoded once, so the last
/// one costs as much as the first.
#[tokio::test]
async fn many_calls_in_one_multicall() {
    let limits = Limits::DEFAULT.with_calls(20_000);
    let server = build(Server::methods(methods()).limits(limits));
    let calls = (0..10_000).map(|number| entry("add", vec![number.into(), 1.into()]));
    let results = multicall(&server, calls.collect()).await;
    assert_eq!(results.len(), 10_000);
    assert_eq!(results[9_999], Ok(Value::from(10_000)));
}

/// Over CBOR, the error position of an invalid call is found within that call. The message is
/// not decoded from its start for each of 10,000 calls.
#[tokio::test]
async fn many_invalid_calls_in_one_multicall_over_cbor() {
    let limits = Limits::DEFAULT.with_calls(20_000);
    let server = build(Server::methods(methods()).limits(limits));
    let calls = vec![("add", (1, "x")); 10_000];
    let (_, results) = call_cbor(&server, "system.multicall", &(calls_of(&calls),)).await;
    let results = results.as_list().unwrap();
    assert_eq!(results.len(), 10_000);
    let last = results[9_999]["message"].as_str().unwrap();
    assert!(last.starts_with("parameter 2: wrong type"), "{last}");
    assert!(last.ends_with("in [1]"), "{last}");

    let calls = vec![("add", 5); 10_000];
    let (_, results) = call_cbor(&server, "system.multicall", &(calls_of(&calls),)).await;
    let last = results.as_list().unwrap()[9_999]["message"]
        .as_str()
        .unwrap();
    assert!(
        last.starts_with("call 10000: wrong type: expected an array"),
        "{last}"
    );
    assert!(last.ends_with("in [0][9999].params"), "{last}");
}

#[tokio::test]
async fn hostile_multicalls_end_in_faults() {
    let server = serve(methods());
    let wrap = |inside: &str| {
        format!(
            "<methodCall><methodName>system.multicall</methodName><params><param><value>{inside}\
             </value></param></params></methodCall>"
        )
    };
    // Arrays nested 1,000 deep, truncated messages, and a method name of 1 MiB.
    let deep = "<array><data><value>".repeat(1000);
    let long = format!(
        "<array><data><value><struct><member><name>methodName</name><value>{}</value></member>\
         <member><name>params</name><value><array><data/></array></value></member></struct>\
         </value></data></array>",
        "x".repeat(1 << 20)
    );
    for inside in [&*deep, "<array><data><value><struct><member>", "<array>"] {
        assert!(read(&post(&server, "/RPC2", wrap(inside)).await).is_err());
    }
    let results = split_results(read(&post(&server, "/RPC2", wrap(&long)).await).unwrap());
    let (code, text) = results[0].clone().unwrap_err();
    assert_eq!(code, -32601);
    assert!(text.len() < 200, "{}", text.len());
}

/// The firewall's rate limit per address counts each call of a multicall.
#[tokio::test(start_paused = true)]
async fn a_firewall_counts_each_call() {
    let one = NonZeroU32::MIN;
    let ten = NonZeroU32::new(10).unwrap();
    let firewall = Firewall::new().requests_per_address(one, ten);
    let server = build(Server::methods(methods()).firewall(firewall));
    let peer = Peer::from(SocketAddr::from(([192, 0, 2, 1], 1)));
    let guess = || entry("add", vec![1.into(), 2.into()]);
    let calls = |count| Value::List((0..count).map(|_| guess()).collect());
    let send = async |count: usize| {
        let body = xmlrpc::write_call("system.multicall", &[calls(count)]).unwrap();
        let mut request = Request::post("/RPC2").body(Bytes::from(body)).unwrap();
        request.extensions_mut().insert(peer.clone());
        send(&server, request).await
    };
    let (status, body) = send(100).await;
    assert_eq!(status, 200);
    let results = split_results(read(std::str::from_utf8(&body).unwrap()).unwrap());
    assert_eq!(results.len(), 100);
    for (index, result) in results.into_iter().enumerate() {
        match result {
            Ok(sum) => assert!(index < 10 && sum == Value::from(3), "{index}: {sum:?}"),
            Err((code, text)) => {
                assert!(index >= 10, "{index}: {text}");
                assert_eq!(code, -32400);
                assert!(text.contains("too many requests"), "{text}");
            }
        }
    }
    assert_eq!(send(1).await.0, 429);
    tokio::time::advance(Duration::from_secs(3)).await;
    let (_, body) = send(5).await;
    let results = split_results(read(std::str::from_utf8(&body).unwrap()).unwrap());
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 3);
}

#[tokio::test]
async fn multicall_can_be_disabled() {
    let server = serve(methods().multicall(false));
    let name = "system.multicall";
    let fault = call(&server, name, &[Value::List(Vec::new())]).await;
    assert_eq!(fault.unwrap_err().0, -32601);
    let (status, _) = call_cbor(&server, name, &([(); 0],)).await;
    assert_eq!(status, 400);
    let listed = call(&server, "system.listMethods", &[]).await.unwrap();
    let Value::List(listed) = listed else {
        panic!("{listed:?}");
    };
    assert!(listed.contains(&"system.methodHelp".into()) && !listed.contains(&name.into()));
    let known = call(&server, "system.getCapabilities", &[]).await.unwrap();
    assert!(known["introspect"].as_map().is_some() && known[name].as_map().is_none());
}
