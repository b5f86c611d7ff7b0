//! Batches: many calls in one message.

use polywire_codec::xmlrpc::Leniency;
use polywire_rpc::xmlrpc::Client;
use polywire_rpc::{CallError, CallErrorKind};
use polywire_schema::Value;

use crate::support::{Action, ReceivedRequest, ScriptedServer, fault, http, ok};

fn array(items: &[&str]) -> String {
    let items: Vec<String> = items
        .iter()
        .map(|it| format!("<value>{it}</value>"))
        .collect();
    format!("<array><data>{}</data></array>", items.concat())
}

fn fault_struct(code: i64, text: &str) -> String {
    let whole = fault(code, text);
    let start = whole.find("<struct>").unwrap();
    let end = whole.find("</struct>").unwrap() + "</struct>".len();
    whole[start..end].to_owned()
}

#[tokio::test]
async fn each_call_has_a_result_of_its_own() {
    let server = ScriptedServer::start(|_, _| {
        ok(&array(&[
            &array(&["<int>3</int>"]),
            &fault_struct(10, "BAD_NAME"),
            &array(&["<string>me</string>"]),
            &array(&["<string>x</string>"]),
        ]))
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let mut batch = client.batch();
    let sum = batch.add::<i32>("sample.add", (1, "<param>")).unwrap();
    let bad = batch.add::<String>("bad", ()).unwrap();
    let who = batch.add_values("who", &[Value::from(2)]).unwrap();
    let wrong = batch.add::<i32>("wrong", ()).unwrap();
    let replies = batch.send().await.unwrap();
    assert_eq!(replies.get(sum).unwrap(), 3);
    let error = replies.get(bad).unwrap_err();
    assert_eq!(error.xmlrpc_fault().unwrap().code(), 10);
    assert_eq!(replies.get(who).unwrap().as_str(), Some("me"));
    let kind = |result: Result<i32, CallError>| result.unwrap_err().kind();
    assert_eq!(kind(replies.get(wrong)), CallErrorKind::Decode);
    let seen = &server.seen()[0];
    let expected = "<methodName>system.multicall</methodName><params><param><value><array><data>\
        <value><struct><member><name>methodName</name><value><string>sample.add</string></value>\
        </member><member><name>params</name><value><array><data><value><int>1</int></value>\
        <value><string>&lt;param&gt;</string></value></data></array></value></member></struct>\
        </value><value><struct><member><name>methodName</name><value><string>bad</string></value>\
        </member><member><name>params</name><value><array><data></data></array></value></member>";
    assert!(seen.body().contains(expected), "{}", seen.body());
    // The handle of a call is valid only in its own batch.
    let other = client.batch().send().await.unwrap();
    assert!(other.is_empty());
    assert_eq!(kind(other.get(sum)), CallErrorKind::Usage);
}

/// Answers a single call with its method name, and a multicall with the reply `unknown`.
fn without_multicall(unknown: String) -> impl Fn(usize, &ReceivedRequest) -> Action {
    move |_, seen| {
        let name = seen.body().split_once("<methodName>").unwrap().1;
        let name = name.split_once('<').unwrap().0;
        match name {
            "system.multicall" => Action::Answer(http("200 OK", "", &unknown)),
            "bad" => Action::Answer(http("200 OK", "", fault(7, "bad"))),
            name => ok(&format!("<string>{name}</string>")),
        }
    }
}

#[tokio::test]
async fn a_server_without_multicall_gets_single_calls() {
    for (asked, unknown) in [
        // These faults may refer to a method in the batch. The client sends an empty multicall
        // to find out.
        (2, fault(-32601, "server error. requested method not found")),
        (2, fault(1, "UNKNOWN_METHOD")),
        (
            2,
            fault(-506, "Method 'one' or system.multicall not defined"),
        ),
        (1, fault(-506, "Method 'system.multicall' not defined")),
        // Ruby's server.
        (
            1,
            fault(
                -99,
                "Method system.multicall missing or wrong number of parameters!",
            ),
        ),
        // Python's server, without register_multicall_functions.
        (
            1,
            fault(
                1,
                "&lt;class 'Exception'>:method \"system.multicall\" is not supported",
            ),
        ),
    ] {
        let server = ScriptedServer::start(without_multicall(unknown.clone())).await;
        let client = Client::new(&server.url()).unwrap();
        for round in 0..2 {
            let mut batch = client.batch();
            let one = batch.add::<String>("one", ()).unwrap();
            let bad = batch.add::<String>("bad", ()).unwrap();
            let two = batch.add::<String>("two", (2,)).unwrap();
            let replies = batch.send().await.unwrap();
            assert_eq!(replies.get(one).unwrap(), "one");
            assert_eq!(replies.get(two).unwrap(), "two");
            let error = replies.get(bad).unwrap_err();
            assert_eq!(error.xmlrpc_fault().unwrap().code(), 7);
            // The client tries a multicall only in the first round.
            assert_eq!(server.seen().len(), asked + 3 + round * 3, "{unknown}");
        }
    }
}

/// If a multicall fails as a whole, its calls are not resent as single calls. This server
/// makes the calls, and returns one fault for all of them if one method is unknown.
#[tokio::test]
async fn calls_of_a_failed_multicall_are_not_repeated() {
    for text in [
        "method other not found",
        "Method 'other' not defined",
        "system.multicall: unknown method other",
        "UNKNOWN_METHOD",
    ] {
        for code in [1, -506, -32601] {
            let server = ScriptedServer::start(move |_, seen| {
                match seen.body().contains("<name>methodName</name>") {
                    true => Action::Answer(http("200 OK", "", fault(code, text))),
                    false => ok(&array(&[])),
                }
            })
            .await;
            let client = Client::new(&server.url()).unwrap();
            let mut batch = client.batch();
            batch.add::<String>("pay", ()).unwrap();
            batch.add::<String>("other", ()).unwrap();
            let error = batch.send().await.unwrap_err();
            assert_eq!(error.xmlrpc_fault().unwrap().code(), code, "{text}");
            let seen = server.seen();
            let paid = seen.iter().filter(|seen| seen.body().contains("pay"));
            assert_eq!(paid.count(), 1, "{text}");
            for seen in seen {
                assert!(seen.body().contains("system.multicall"), "{text}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_batches_detect_missing_multicall() {
    let unknown = fault(-506, "Method 'system.multicall' not defined");
    let singly = without_multicall(unknown);
    let both = std::sync::Barrier::new(2);
    let server = ScriptedServer::start(move |nth, seen| {
        // Neither batch gets its reply before both have sent their multicall.
        if nth < 2 {
            both.wait();
        }
        singly(nth, seen)
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let batch = || {
        let mut batch = client.batch();
        let place = batch.add::<String>("one", ()).unwrap();
        async move { batch.send().await.and_then(|replies| replies.get(place)) }
    };
    let (one, two) = tokio::join!(batch(), batch());
    assert_eq!((one.unwrap(), two.unwrap()), ("one".into(), "one".into()));
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn other_faults_fail_the_whole_batch() {
    let unknown = fault(-32500, "out of order");
    let server = ScriptedServer::start(without_multicall(unknown)).await;
    let client = Client::new(&server.url()).unwrap();
    let mut batch = client.batch();
    batch.add::<String>("one", ()).unwrap();
    let error = batch.send().await.unwrap_err();
    assert_eq!(error.xmlrpc_fault().unwrap().code(), -32500);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn unwrapped_results_of_supervisord_are_read() {
    let server = ScriptedServer::start(|_, _| {
        ok(&array(&[
            "<int>3</int>",
            &fault_struct(1, "no"),
            "<string>x</string>",
        ]))
    })
    .await;
    let builder = || Client::builder(&server.url()).unwrap();
    for (leniency, read) in [
        (Leniency::STRICT, false),
        (Leniency::STRICT.with_bare_multicall(true), true),
    ] {
        let client = builder().leniency(leniency).build().unwrap();
        let mut batch = client.batch();
        let three = batch.add::<i32>("a", ()).unwrap();
        batch.add::<i32>("b", ()).unwrap();
        batch.add::<String>("c", ()).unwrap();
        let replies = batch.send().await;
        assert_eq!(replies.is_ok(), read);
        if let Ok(replies) = replies {
            assert_eq!(replies.get(three).unwrap(), 3);
        }
    }
}

/// Answers a multicall with one result per call.
fn numbers(seen: &ReceivedRequest) -> Action {
    let calls = seen.body().matches("<name>methodName</name>").count();
    let items = vec![array(&["<int>1</int>"]); calls];
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    ok(&array(&items))
}

#[tokio::test]
async fn long_batches_are_split_into_several_messages() {
    let server = ScriptedServer::start(|_, seen| numbers(seen)).await;
    let client = Client::new(&server.url()).unwrap();
    let mut batch = client.batch().calls_a_message(10);
    let places: Vec<_> = (0..25)
        .map(|it| batch.add::<i32>("m", (it,)).unwrap())
        .collect();
    let replies = batch.send().await.unwrap();
    assert!(places.iter().all(|place| replies.get(*place).unwrap() == 1));
    assert_eq!(server.seen().len(), 3);
    // rTorrent accepts at most 512 KiB per message.
    let mut batch = client.batch();
    for _ in 0..10 {
        batch.add::<i32>("m", ("x".repeat(100_000),)).unwrap();
    }
    batch.add::<i32>("m", ("x".repeat(600_000),)).unwrap();
    assert_eq!(batch.send().await.unwrap().len(), 11);
    let seen = server.seen();
    let lengths: Vec<usize> = seen[3..].iter().map(|seen| seen.body.len()).collect();
    assert_eq!(lengths.len(), 4);
    assert!(lengths[..3].iter().all(|length| *length < 512 * 1024));
}

#[tokio::test]
async fn results_before_a_failed_message_are_kept() {
    let server = ScriptedServer::start(|nth, seen| match nth {
        0 => numbers(seen),
        _ => Action::Answer(http("500 Oops", "", "")),
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let mut batch = client.batch().calls_a_message(2);
    let places: Vec<_> = (0..6)
        .map(|it| batch.add::<i32>("m", (it,)).unwrap())
        .collect();
    let replies = batch.send().await.unwrap();
    let results: Vec<_> = places.iter().map(|place| replies.get(*place)).collect();
    assert!(results[..2].iter().all(Result::is_ok));
    for (number, kind) in [CallErrorKind::Protocol, CallErrorKind::NotSent]
        .into_iter()
        .enumerate()
    {
        for result in &results[2 + 2 * number..][..2] {
            let error = result.as_ref().unwrap_err();
            assert_eq!(error.kind(), kind);
            assert_eq!(error.http_status().is_some(), number == 0);
        }
    }
    assert!(results[5].as_ref().unwrap_err().is_unstarted());
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_batch_with_a_missing_result_is_an_error() {
    let server = ScriptedServer::start(|_, _| ok(&array(&[&array(&["<int>1</int>"])]))).await;
    let client = Client::new(&server.url()).unwrap();
    let mut batch = client.batch();
    batch.add::<i32>("a", ()).unwrap();
    batch.add::<i32>("b", ()).unwrap();
    let text = batch.send().await.unwrap_err().to_string();
    assert!(text.contains("each of the 2 calls"), "{text}");
}
