//! Waiters and pages of clients without generated code.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use polywire_aws::waiter::WaitFailure;
use polywire_model::Loader;
use polywire_protocol::{Fault, ProtocolKind};
use polywire_rpc::aws::{Paginations, Waiters};
use polywire_rpc::client::Pagination;
use polywire_rpc::{CallErrorKind, Client, RunningServer, Server, ServiceHandle, dynamic};
use polywire_schema::{Map, Value};

use crate::support::within;

const MODEL: &str = r#"
    $version: "2"
    namespace example
    @aws.protocols#restJson1
    service Tables { version: "1", operations: [Describe, List], errors: [NotFound] }

    @http(method: "POST", uri: "/describe")
    operation Describe { input := { name: String }, output := { state: String, at: Timestamp, data: Blob } }

    @http(method: "POST", uri: "/list")
    operation List {
        input := { marker: String, prefix: String }
        output := { page: Page }
    }
    structure Page { next: String, names: Names }
    list Names { member: String }

    @error("client")
    @httpError(404)
    structure NotFound { message: String }
"#;

const TRAITS: &str = r#"{ "smithy": "2.0", "shapes": {
    "example#Tables": { "type": "service", "traits": { "smithy.api#paginated": { "inputToken": "marker" } } },
    "example#List": { "type": "operation", "traits": {
        "smithy.api#paginated": { "outputToken": "page.next", "items": "page.names" } } },
    "example#Describe": { "type": "operation", "traits": { "smithy.waiters#waitable": {
        "Active": { "minDelay": 1, "maxDelay": 1, "acceptors": [
            { "state": "success", "matcher": { "inputOutput": {
                "path": "input.name == 'a' && output.state == 'ACTIVE' && output.at == `1` && output.data == 'aGk='",
                "expected": "true", "comparator": "booleanEquals" } } },
            { "state": "failure", "matcher": { "output": {
                "path": "state", "expected": "DELETED", "comparator": "stringEquals" } } },
            { "state": "retry", "matcher": { "errorType": "NotFound" } } ] },
        "Gone": { "acceptors": [{ "state": "success", "matcher": { "errorType": "NotFound" } }] }
    } } }
} }"#;

/// `Describe` returns these states, and 404 for an empty one. The last is repeated.
async fn site(states: &'static [&'static str]) -> (RunningServer, Client, Arc<AtomicU32>) {
    let model = Loader::new()
        .add_text("t.smithy", MODEL)
        .assemble()
        .unwrap()
        .model;
    let schemas = model.schemas("example#Tables").unwrap().unwrap();
    let service = ServiceHandle::new(Arc::new(schemas), 0);
    let calls: Arc<AtomicU32> = Arc::default();
    let counter = Arc::clone(&calls);
    let describe = dynamic(move |_: Map, _| {
        let number = counter.fetch_add(1, Ordering::SeqCst) as usize;
        let state = states[number.min(states.len() - 1)];
        async move {
            match state {
                "" => Err(Fault::modelled("example#NotFound", Map::new())),
                state => Ok(Map::from_iter([
                    ("state", Value::from(state)),
                    ("at", Value::Timestamp(polywire_text::Timestamp::new(1, 0))),
                    ("data", Value::Blob(b"hi".as_slice().into())),
                ])),
            }
        }
    });
    let list = dynamic(|input: Map, _| async move {
        let marker = input.get("marker").and_then(Value::as_str).unwrap_or("0");
        assert_eq!(input.get("prefix").and_then(Value::as_str), Some("p"));
        let number: u32 = marker.parse().unwrap();
        let mut page = Map::from_iter([("names", Value::List(vec![Value::from(marker)]))]);
        match number {
            0 | 1 => page.insert("next", (number + 1).to_string()),
            // The last page: no token, an empty one, or the same again.
            2 => None,
            7 => page.insert("next", ""),
            _ => page.insert("next", marker),
        };
        Ok::<_, Fault>(Map::from_iter([("page", Value::Map(page))]))
    });
    let server = Server::builder(service.clone())
        .protocol(ProtocolKind::RestJson1)
        .operation("Describe", describe)
        .operation("List", list)
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("http://{}", running.address());
    let client = Client::builder(service, ProtocolKind::RestJson1);
    (running, client.connect(&url).unwrap(), calls)
}

fn name() -> Map {
    Map::from_iter([("name", "a")])
}

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn waiters_call_until_the_state_is_reached() {
    let waiters = Waiters::from_model(TRAITS).unwrap();
    assert_eq!(waiters.names().collect::<Vec<_>>(), ["Active", "Gone"]);
    let (_site, client, calls) = site(&["", "CREATING", "ACTIVE"]).await;
    let active = waiters.get("Active").unwrap();
    let output = within(client.wait_until(active, name(), MINUTE))
        .await
        .unwrap();
    assert_eq!(output.unwrap()["state"].as_str(), Some("ACTIVE"));
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    let (_site, client, _) = site(&[""]).await;
    let gone = waiters.get("Gone").unwrap();
    assert!(
        within(client.wait_until(gone, name(), MINUTE))
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn waiters_that_fail() {
    let waiters = Waiters::from_model(TRAITS).unwrap();
    let active = waiters.get("Active").unwrap();
    let (site_1, client, _) = site(&["DELETED"]).await;
    let error = within(client.wait_until(active, name(), MINUTE))
        .await
        .unwrap_err();
    assert!(
        matches!(error.failure(), Some(WaitFailure::Rejected { .. })),
        "{error}"
    );
    let unknown = Map::from_iter([("no", "a")]);
    let error = within(client.wait_until(active, unknown, MINUTE))
        .await
        .unwrap_err();
    assert_eq!(error.last().unwrap().kind(), CallErrorKind::Encode);
    site_1.shutdown().await;
    let error = within(client.wait_until(active, name(), MINUTE))
        .await
        .unwrap_err();
    assert!(error.failure().is_none(), "{error}");
    let (_site, client, calls) = site(&["CREATING"]).await;
    let wait = client.wait_until(active, name(), Duration::from_millis(1500));
    let error = within(wait).await.unwrap_err();
    assert_eq!(error.failure(), Some(&WaitFailure::TimedOut));
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert!(Waiters::from_model("[]").is_err());
    assert!(Waiters::from_model(&TRAITS.replace("success", "x")).is_err());
}

#[tokio::test]
async fn pages_by_name() {
    let (_site, client, _) = site(&[""]).await;
    let paginations = Paginations::from_model(TRAITS).unwrap();
    let list = paginations.get("List").unwrap();
    let expected = Pagination::new("List", "marker", "page.next").with_items("page.names");
    assert_eq!(list, &expected);
    let input = || Map::from_iter([("prefix", "p")]);
    let items = within(client.pages(list, input()).items()).await.unwrap();
    let items: Vec<_> = items.iter().filter_map(Value::as_str).collect();
    assert_eq!(items, ["0", "1", "2"]);
    for (marker, expected) in [("1", 2), ("7", 1), ("9", 1)] {
        let mut input = input();
        input.insert("marker", marker);
        let mut pages = client.pages(list, input);
        let mut count = 0;
        while let Some(page) = within(pages.next()).await {
            page.unwrap();
            count += 1;
        }
        assert_eq!(count, expected, "{marker}");
    }
    // The first error ends the pages.
    let mut pages = client.pages(list, Map::from_iter([("no", "x")]));
    assert!(within(pages.next()).await.unwrap().is_err());
    assert!(within(pages.next()).await.is_none());
    let error = within(
        client
            .pages(&Pagination::new("List", "a", "b"), input())
            .items(),
    )
    .await;
    assert_eq!(error.unwrap_err().kind(), CallErrorKind::Usage);
    assert!(Paginations::from_model(&TRAITS.replace("inputToken", "x")).is_err());
}
