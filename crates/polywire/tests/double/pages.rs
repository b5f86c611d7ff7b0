//! Dumps over HTTP.

use crate::model::MODEL;
use crate::support::{Site, builder, value};

#[tokio::test]
async fn the_state_is_dumped_loaded_and_removed() {
    let site = Site::start(builder(MODEL)).await;
    site.call("CreateCart", r#"{"CartName":"a","Colour":"red"}"#)
        .await;
    let id = site.call("CreateOrder", r#"{"Amount":7}"#).await["OrderId"].clone();
    let (status, text) = site.request("GET", "/_polywire/state", "").await;
    assert_eq!(status, 200);
    let dump = value(&text);
    let cart = &dump["example#Shop"]["Cart"][0];
    assert_eq!(cart["identity"], value(r#"["a"]"#));
    assert_eq!(cart["members"]["Colour"].as_str(), Some("red"));
    assert!(
        cart["members"]["Token"].is_null(),
        "tokens are not remembered"
    );

    assert_eq!(site.page("DELETE", "state", "").await.0, 200);
    assert_eq!(
        site.error("GetCart", r#"{"CartName":"a"}"#).await.0,
        "NoSuchCart"
    );
    assert_eq!(site.page("PUT", "state", &text).await, (200, value("{}")));
    let read = site.call("GetCart", r#"{"CartName":"a"}"#).await;
    assert_eq!(read["Cart"]["Colour"].as_str(), Some("red"));
    assert_eq!(site.page("GET", "state", "").await.1, dump);
    // New ids continue after the loaded ones.
    assert_ne!(site.call("CreateOrder", "{}").await["OrderId"], id);

    assert_eq!(site.page("POST", "reset", "").await.0, 200);
    assert_eq!(
        site.page("GET", "state", "").await.1,
        value(r#"{"example#Shop":{}}"#)
    );
    assert_eq!(site.double.count("CreateCart"), 0);
}

#[tokio::test]
async fn wrong_dumps_change_nothing() {
    let site = Site::start(builder(MODEL)).await;
    site.call("CreateCart", r#"{"CartName":"a"}"#).await;
    let before = site.page("GET", "state", "").await.1;
    let item = r#"{"identity":["x"],"own":{},"created":"2026-01-31T12:00:00Z",
        "modified":"2026-01-31T12:00:00Z","members":{}}"#;
    for (dump, expected) in [
        ("[]".to_owned(), "expected an object of services"),
        (r#"{"a#B":{}}"#.to_owned(), "a#B: no such service"),
        (
            r#"{"example#Shop":{"Cat":[]}}"#.to_owned(),
            "Cat: nothing of this kind",
        ),
        (
            r#"{"example#Shop":{"Cart":{}}}"#.to_owned(),
            "Cart: expected a list",
        ),
        (
            format!(r#"{{"example#Shop":{{"Cart":[{item},{item}]}}}}"#),
            "Cart[1]: another one",
        ),
        (
            format!(r#"{{"example#Shop":{{"Item":[{item}]}}}}"#),
            "`identity`: [cart, key]",
        ),
        (
            format!(
                r#"{{"example#Shop":{{"Cart":[{}]}}}}"#,
                item.replace("2026", "26")
            ),
            "expected `created`: a time",
        ),
        (
            format!(
                r#"{{"example#Shop":{{"Cart":[{}]}}}}"#,
                item.replace("{}}", r#"{"a":{"$x":"y"}}}"#)
            ),
            "found $x",
        ),
    ] {
        let (status, answer) = site.page("PUT", "state", &dump).await;
        assert_eq!(status, 400, "{dump}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(expected), "{dump}: {error}");
    }
    assert_eq!(site.page("GET", "state", "").await.1, before);
}

#[tokio::test]
async fn methods_and_paths() {
    let site = Site::start(builder(MODEL)).await;
    for page in [
        "state",
        "stubs",
        "calls",
        "calls/count",
        "verify",
        "reset",
        "state/operations",
    ] {
        let (status, answer) = site.page("PATCH", page, "").await;
        assert_eq!(status, 405, "{page}");
        assert!(
            answer["error"].as_str().unwrap().starts_with("use "),
            "{page}"
        );
    }
    let (status, text) = site.request("GET", "/_polywire/state/operations", "").await;
    assert_eq!(status, 200);
    assert!(text.contains("CreateCart"), "{text}");
}
