//! What tests ask of calls.

use crate::model::MODEL;
use crate::support::{Site, builder, value};

#[tokio::test]
async fn calls_are_listed_and_counted() {
    let site = Site::start(builder(MODEL)).await;
    for text in ["a", "b", "c"] {
        site.call("Ping", &format!(r#"{{"Text":"{text}"}}"#)).await;
    }
    site.error("GetCart", r#"{"CartName":"a"}"#).await;
    assert_eq!(site.double.count("Ping"), 3);
    let count = site.page("GET", "calls/count?operation=Ping", "").await;
    assert_eq!(count, (200, value(r#"{"count":3}"#)));
    let (_, all) = site.page("GET", "calls", "").await;
    assert_eq!(all["total"].as_i64(), Some(4));
    let (_, pings) = site.page("GET", "calls?operation=Ping&limit=2", "").await;
    assert_eq!(pings["total"].as_i64(), Some(3));
    let pings = pings["calls"].as_list().unwrap();
    assert_eq!(pings.len(), 2);
    assert_eq!(pings[0]["input"], value(r#"{"Text":"b"}"#));
    assert_eq!(pings[1]["output"], value(r#"{"Text":"string"}"#));
    assert_eq!(pings[1]["protocol"].as_str(), Some("restJson1"));
    assert_eq!(pings[1]["service"].as_str(), Some("example#Shop"));
    let (_, failed) = site.page("GET", "calls?operation=GetCart", "").await;
    let expected = r#"{"name":"NoSuchCart","members":{"Message":"Cart a does not exist"}}"#;
    assert_eq!(failed["calls"][0]["error"], value(expected));
    assert_eq!(site.page("GET", "calls?operation=Pong", "").await.0, 400);
    assert_eq!(site.page("GET", "calls/count", "").await.0, 400);

    site.page("DELETE", "calls", "").await;
    assert_eq!(site.double.count("Ping"), 0);
}

#[tokio::test]
async fn calls_are_verified() {
    let site = Site::start(builder(MODEL)).await;
    for text in ["a", "b", "b"] {
        site.call("Ping", &format!(r#"{{"Text":"{text}"}}"#)).await;
    }
    for (check, status) in [
        (r#"{"operation":"Ping"}"#, 200),
        (r#"{"operation":"Ping","times":3}"#, 200),
        (r#"{"operation":"Ping","times":2}"#, 409),
        (
            r#"{"operation":"Ping","match":{"Text":"b"},"times":2}"#,
            200,
        ),
        (
            r#"{"operation":"Ping","match":{"Text":"c"},"never":true}"#,
            200,
        ),
        (
            r#"{"operation":"Ping","match":{"Text":"b"},"never":true}"#,
            409,
        ),
        (r#"{"operation":"Ping","at_least":2,"at_most":3}"#, 200),
        (r#"{"operation":"Ping","at_most":2}"#, 409),
        (r#"{"operation":"GetReport"}"#, 409),
        (r#"{"operation":"GetReport","never":true}"#, 200),
        (r#"{"operation":"Pong"}"#, 400),
        (r#"{"operation":"Ping","times":1,"never":true}"#, 400),
        (r#"{"operation":"Ping","match":{"Txt":"b"}}"#, 400),
        (r#"{"operation":"Ping","time":1}"#, 400),
        ("[]", 400),
    ] {
        let (own, answer) = site.page("POST", "verify", check).await;
        assert_eq!(own, status, "{check}: {answer:?}");
    }
    let check = r#"{"operation":"Ping","match":{"Text":"c"}}"#;
    let (_, answer) = site.page("POST", "verify", check).await;
    let expected = r#"{"verified":false,"count":0,"expected":"at least 1 calls","near_misses":[
        {"input":{"Text":"b"},"differs":["Text"]},
        {"input":{"Text":"b"},"differs":["Text"]},
        {"input":{"Text":"a"},"differs":["Text"]}
    ]}"#;
    assert_eq!(answer, value(expected));
}

/// What is forgotten cannot be verified.
#[tokio::test]
async fn the_memory_of_calls_is_bounded() {
    let site = Site::start(builder(MODEL)).await;
    for _ in 0..1_005 {
        site.call("Ping", r#"{"Text":"a"}"#).await;
    }
    let (_, all) = site.page("GET", "calls?limit=5000", "").await;
    assert_eq!(all["calls"].as_list().unwrap().len(), 1_000);
    assert_eq!(all["total"].as_i64(), Some(1_005));
    let check = r#"{"operation":"Ping","times":1005}"#;
    assert_eq!(site.page("POST", "verify", check).await.0, 200);
    let check = r#"{"operation":"Ping","match":{"Text":"b"},"never":true}"#;
    let (status, answer) = site.page("POST", "verify", check).await;
    assert_eq!((status, answer["forgotten"].as_i64()), (409, Some(5)));
    let check = r#"{"operation":"Ping","match":{"Text":"a"},"at_least":10}"#;
    assert_eq!(site.page("POST", "verify", check).await.0, 200);
}
