//! Stubs.

use std::time::{Duration, Instant};

use polywire::double::add_stubs;
use polywire::schema::Value;

use crate::model::MODEL;
use crate::support::{Site, builder, value};

async fn site(stubs: &str) -> Site {
    let site = Site::start(builder(MODEL)).await;
    add_stubs(std::slice::from_ref(&site.double), stubs).unwrap_or_else(|error| panic!("{error}"));
    site
}

#[tokio::test]
async fn the_first_stub_that_matches_answers() {
    let site = site(
        r#"[
            {"operation": "Ping", "match": {"Text": {"matches": "^a+$"}},
             "response": {"output": {"Text": "pattern"}}},
            {"operation": "Ping", "match": {"Text": "b", "Numbers": [1, 2]},
             "response": {"output": {"Text": "both"}}},
            {"operation": "Ping", "match": {"Numbers": {"present": true}},
             "response": {"output": {"Text": "numbers"}}},
            {"operation": "Ping", "match": {"Text": {"absent": true}},
             "response": {"output": {"Text": "nothing"}}}
        ]"#,
    )
    .await;
    for (input, expected) in [
        (r#"{"Text":"aaa"}"#, "pattern"),
        (r#"{"Text":"b","Numbers":[1,2]}"#, "both"),
        (r#"{"Text":"b","Numbers":[1]}"#, "numbers"),
        ("{}", "nothing"),
        // No stub matches: the mock answers.
        (r#"{"Text":"b"}"#, "string"),
    ] {
        assert_eq!(
            site.call("Ping", input).await["Text"].as_str(),
            Some(expected),
            "{input}"
        );
    }
}

#[tokio::test]
async fn responses_come_in_order_and_the_last_again() {
    let site = site(
        r#"{"operation": "GetCart", "times": 4, "responses": [
            {"error": "NoSuchCart"},
            {"error": "NoSuchCart", "members": {"Message": "gone"}},
            {"fault": {"status": 418, "name": "Teapot", "message": "short and stout"}}
        ]}"#,
    )
    .await;
    let own = r#"{"CartName":"a"}"#;
    let error = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert_eq!(
        site.error("GetCart", own).await,
        error("NoSuchCart", "string")
    );
    assert_eq!(
        site.error("GetCart", own).await,
        error("NoSuchCart", "gone")
    );
    for _ in 0..2 {
        assert_eq!(
            site.error("GetCart", own).await,
            error("Teapot", "short and stout")
        );
    }
    // After four calls the state answers.
    assert_eq!(site.error("GetCart", own).await.1, "Cart a does not exist");
}

#[tokio::test]
async fn stubs_come_before_the_state() {
    let site = site(
        r#"{"operation": "GetCart", "match": {"CartName": "a"}, "response":
            {"output": {"Cart": {"CartName": "stub", "Weight": 5}}}}"#,
    )
    .await;
    for name in ["a", "b"] {
        site.call("CreateCart", &format!(r#"{{"CartName":"{name}"}}"#))
            .await;
    }
    let read = site.call("GetCart", r#"{"CartName":"a"}"#).await;
    assert_eq!(read["Cart"]["CartName"].as_str(), Some("stub"));
    let read = site.call("GetCart", r#"{"CartName":"b"}"#).await;
    assert_eq!(read["Cart"]["CartName"].as_str(), Some("b"));
}

#[tokio::test]
async fn calls_are_delayed_and_throttled() {
    let site = site(
        r#"[
            {"operation": "Ping", "delay_ms": 80},
            {"operation": "GetCart", "rate": 2},
            {"operation": "GetReport", "rate": 0.001}
        ]"#,
    )
    .await;
    let start = Instant::now();
    assert_eq!(
        site.call("Ping", "{}").await["Text"].as_str(),
        Some("string")
    );
    assert!(start.elapsed() >= Duration::from_millis(80));

    site.call("CreateCart", r#"{"CartName":"a"}"#).await;
    let own = r#"{"CartName":"a"}"#;
    for _ in 0..2 {
        site.call("GetCart", own).await;
    }
    // The modelled error, which has `@retryable(throttling: true)`.
    assert_eq!(site.error("GetCart", own).await.0, "TooManyRequests");
    // An operation without one.
    site.call("GetReport", "{}").await;
    assert_eq!(site.error("GetReport", "{}").await.0, "ThrottlingException");
}

#[tokio::test]
async fn connections_end_without_an_answer() {
    let site = site(
        r#"[
            {"operation": "Ping", "match": {"Text": "close"}, "response": {"connection": "close"}},
            {"operation": "Ping", "match": {"Text": "reset"}, "response": {"connection": "reset"}},
            {"operation": "Ping", "match": {"Text": "stall"}, "response": {"connection": "stall"}}
        ]"#,
    )
    .await;
    for how in ["close", "reset"] {
        let input = format!(r#"{{"Text":"{how}"}}"#);
        let error = site.try_call("Ping", &input).await.unwrap_err();
        assert!(error.fault().is_none(), "{error}");
        let last = site.page("GET", "calls?operation=Ping&limit=1", "").await.1;
        assert_eq!(last["calls"][0]["connection"].as_str(), Some(how));
    }
    // A reset is not an orderly end.
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut socket = tokio::net::TcpStream::connect(site.running.address())
        .await
        .unwrap();
    let body = r#"{"Text":"reset"}"#;
    let request = format!(
        "POST /ping HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let ended = socket.read_u8().await.unwrap_err();
    assert_eq!(ended.kind(), std::io::ErrorKind::ConnectionReset);

    let stalled = site.try_call("Ping", r#"{"Text":"stall"}"#);
    let late = tokio::time::timeout(Duration::from_millis(100), stalled).await;
    assert!(late.is_err());
}

#[tokio::test]
async fn wrong_stubs_are_rejected_with_their_path() {
    let site = Site::start(builder(MODEL)).await;
    for (stub, expected) in [
        ("7", "expected an object"),
        ("[{}]", "[0].operation: expected the name of an operation"),
        (r#"{"operation":"Pong"}"#, "operation: no operation `Pong`"),
        (
            r#"{"operation":"Ping"}"#,
            "expected `responses`, `rate` or `delay_ms`",
        ),
        (
            r#"{"operation":"Ping","match":{"Txt":"a"},"rate":1}"#,
            "match.Txt: PingInput has no such member; it has Text, Numbers",
        ),
        (
            r#"{"operation":"Ping","match":{"Text":{"begins":"a"}},"rate":1}"#,
            "match.Text: expected a string, or an object of `equals`",
        ),
        (
            r#"{"operation":"Ping","match":{"Text":{"matches":"("}},"rate":1}"#,
            "match.Text: `matches`: regex parse error",
        ),
        (
            r#"[{"operation":"Ping","responses":[{"output":{"Text":"a"}},{"output":{"Text":1}}]}]"#,
            "[0].responses[1].output: ",
        ),
        (
            r#"{"operation":"GetCart","response":{"output":{"Cart":{"CartName":"a"}}}}"#,
            "response.output: ",
        ),
        (
            r#"{"operation":"GetCart","response":{"error":"NoSuchKey"}}"#,
            "response.error: expected one of TooManyRequests, NoSuchCart",
        ),
        (
            r#"{"operation":"GetCart","response":{"error":"NoSuchCart","members":{"Text":"a"}}}"#,
            "response.members: ",
        ),
        (
            r#"{"operation":"Ping","response":{"fault":"odd"}}"#,
            "response.fault: expected `throttling`",
        ),
        (
            r#"{"operation":"Ping","response":{"connection":"odd"}}"#,
            "response.connection: expected `reset`, `close` or `stall`",
        ),
        (
            r#"{"operation":"Ping","response":{"output":{},"fault":"internal"}}"#,
            "response: expected one of `output`",
        ),
        (
            r#"{"operation":"Ping","times":0,"rate":1}"#,
            "times: expected a positive integer",
        ),
        (
            r#"{"operation":"Ping","rate":-1}"#,
            "rate: expected a positive number",
        ),
        (
            r#"{"operation":"Ping","delay_ms":-1}"#,
            "delay_ms: expected an integer from 0",
        ),
        (
            r#"{"operation":"Ping","delay":1}"#,
            "delay: expected one of operation, match",
        ),
        ("[", "expected"),
    ] {
        let (status, answer) = site.page("POST", "stubs", stub).await;
        let error = answer["error"].as_str().unwrap();
        assert_eq!(status, 400, "{stub}");
        assert!(error.contains(expected), "{stub}: {error}");
    }
    assert_eq!(
        site.page("GET", "stubs", "").await.1,
        Value::List(Vec::new())
    );
}

#[tokio::test]
async fn stubs_are_listed_and_removed_over_http() {
    let site = Site::start(builder(MODEL)).await;
    let stub = r#"{"operation":"Ping","response":{"output":{"Text":"a"}}}"#;
    assert_eq!(site.page("POST", "stubs", stub).await.0, 200);
    let newer = r#"{"operation":"Ping","times":1,"response":{"output":{"Text":"b"}}}"#;
    assert_eq!(site.page("POST", "stubs", newer).await.0, 200);
    for expected in ["b", "a", "a"] {
        assert_eq!(
            site.call("Ping", "{}").await["Text"].as_str(),
            Some(expected)
        );
    }
    let list = site.page("GET", "stubs", "").await.1;
    assert_eq!(list[0]["calls"].as_i64(), Some(1));
    assert_eq!(list[1]["calls"].as_i64(), Some(2));
    assert_eq!(list[1]["response"], value(r#"{"output":{"Text":"a"}}"#));
    assert_eq!(site.page("DELETE", "stubs", "").await.0, 200);
    assert_eq!(
        site.call("Ping", "{}").await["Text"].as_str(),
        Some("string")
    );
}
