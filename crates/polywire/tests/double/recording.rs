//! Recording and replay.

use std::sync::{Arc, Mutex};

use polywire::schema::Value;

use crate::model::MODEL;
use crate::support::{Site, builder, value};

#[tokio::test]
async fn recorded_calls_are_replayed() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&lines);
    let recorder = Box::new(move |line: &[u8]| {
        own.lock().unwrap().extend_from_slice(line);
        Ok(())
    });
    let site = Site::start(builder(MODEL).record(recorder)).await;
    let cart = r#"{"CartName":"a"}"#;
    site.error("GetCart", cart).await;
    site.call("CreateCart", r#"{"CartName":"a","Colour":"red"}"#)
        .await;
    let read = site.call("GetCart", cart).await;
    let text = String::from_utf8(lines.lock().unwrap().clone()).unwrap();
    assert_eq!(text.lines().count(), 3);
    let line = value(text.lines().nth(1).unwrap());
    assert_eq!(line["operation"].as_str(), Some("CreateCart"));
    assert!(line["duration_ms"].as_f64().is_some() && line["time"].as_str().is_some());

    // Nothing is created here.
    let replayed = builder(MODEL).replay(&text).unwrap();
    let site = Site::start(replayed).await;
    assert_eq!(site.error("GetCart", cart).await.1, "Cart a does not exist");
    for _ in 0..2 {
        let mut again = site.call("GetCart", cart).await;
        // Whole seconds were recorded.
        assert_eq!(again["Cart"]["Colour"].as_str(), Some("red"));
        assert_eq!(again, read);
        again = Value::Null;
        assert!(again.is_null());
    }
    // Clients make up another token for each call.
    let new = site
        .call("CreateCart", r#"{"CartName":"a","Colour":"red"}"#)
        .await;
    assert_eq!(new["Colour"].as_str(), Some("red"));
    // Another input is not recorded: the state answers.
    let other = site.error("GetCart", r#"{"CartName":"b"}"#).await.1;
    assert_eq!(other, "Cart b does not exist");
}

#[test]
fn wrong_recordings_are_rejected() {
    for (text, expected) in [
        ("{", "line 1: "),
        (
            r#"{"operation":"Pong"}"#,
            "line 1.operation: Shop has no operation `Pong`",
        ),
        (
            r#"{"operation":"Ping"}"#,
            "line 1.input: expected an object",
        ),
        (
            r#"{"operation":"Ping","input":{}}"#,
            "line 1: expected `output`, `error`",
        ),
        (
            "\n{\"operation\":\"Ping\",\"input\":{},\"output\":{\"Text\":1}}",
            "line 2.output: ",
        ),
        (
            r#"{"operation":"Ping","input":{},"error":{"name":"x","status":70000}}"#,
            "line 1.error.status: expected an HTTP status",
        ),
    ] {
        let error = builder(MODEL).replay(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    // Calls of other services, and without an answer, are skipped.
    let other = r#"{"operation":"Pong","service":"other#Shop"}"#;
    assert!(builder(MODEL).replay(other).is_ok());
}

/// A call that could not be recorded must not look as if it was.
#[tokio::test]
async fn a_failed_recording_fails_the_call() {
    let recorder = Box::new(|_: &[u8]| Err(std::io::Error::other("the disk is full")));
    let site = Site::start(builder(MODEL).record(recorder)).await;
    assert_eq!(site.error("Ping", "{}").await.0, "InternalFailureException");
}
