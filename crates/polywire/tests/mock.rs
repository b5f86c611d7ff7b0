//! Mocks: what they answer, and that clients can work with it.
#![cfg(feature = "rpc")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use polywire::mock;
use polywire::model::{Loader, Model};
use polywire::prelude::*;
use polywire::rpc::{RunningServer, Validation};
use polywire::schema::{Map, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MODEL: &str = r#"
    $version: "2"
    namespace example
    use aws.protocols#restJson1

    @restJson1
    @paginated(inputToken: "token")
    service Shop { version: "1", operations: [List, Scan, Find, Get, Send, SendBatch, SendFew] }

    @readonly
    @http(method: "GET", uri: "/items")
    @paginated(outputToken: "page.next", items: "page.items")
    operation List {
        input := { @httpQuery("token") token: String }
        output := { page: Page, HasMoreItems: Boolean, isOpen: Boolean }
    }
    structure Page { items: Strings, next: String, IsTruncated: Boolean }

    @readonly
    @http(method: "GET", uri: "/all")
    @paginated(outputToken: "page.next", items: "page.items")
    operation Scan {
        input := { @httpQuery("token") token: String }
        output := { @required page: LastPage }
    }
    structure LastPage { items: Strings, @required next: String }

    @http(method: "POST", uri: "/found")
    @paginated(outputToken: "next")
    @examples([
        { title: "one", input: { word: "one" }, output: { next: "more", IsTruncated: true } }
        { title: "none", input: { word: "none", union: {} }, output: {} }
    ])
    operation Find {
        input := {
            @httpQuery("token") token: String
            @required @httpQuery("word") word: String
            @httpQuery("count") count: Integer = 7
            union: Choice
        }
        output := { next: String, IsTruncated: Boolean, found: Strings }
    }
    union Choice { a: String, b: String }

    @readonly
    @http(method: "GET", uri: "/item")
    operation Get {
        output := {
            @httpHeader("Content-Type") type: String
            @httpHeader("Content-Encoding") encoding: String
            @httpHeader("ETag") tag: String
            @httpHeader("Facts") facts: Facts
            @httpHeader("Colour") colour: String
            @httpPayload content: Blob
        }
    }
    @mediaType("application/json")
    string Facts

    @http(method: "POST", uri: "/message")
    operation Send {
        input := { @required Body: String, Attributes: Strings }
        output := { MD5OfBody: String, MD5OfAttributes: String, sent: Sent }
    }
    structure Sent { Text: String, MD5OfText: String }

    @http(method: "POST", uri: "/messages")
    operation SendBatch {
        input := { Entries: Entries }
        output := { Successful: Results }
    }
    @http(method: "POST", uri: "/few")
    operation SendFew {
        input := { @length(max: 3) Entries: Entries }
        output := { Successful: Results }
    }
    list Entries { member: Entry }
    structure Entry { Id: String, Body: String }
    list Results { member: Result }
    structure Result { Id: String, MD5OfBody: String }

    list Strings { member: String }
"#;

/// A running mock, and what calls it.
struct Mock {
    client: Client,
    /// Operations and the titles of their bad examples.
    bad: Vec<(String, String)>,
    running: RunningServer,
}

impl Mock {
    async fn start(validation: Validation) -> Self {
        let assembled = Loader::new().add_text("shop.smithy", MODEL).assemble();
        let model: Model = assembled.unwrap_or_else(|error| panic!("{error}")).model;
        let service = polywire::service_of(&model, None).unwrap();
        let mut builder = Server::builder(service.clone())
            .protocol(ProtocolKind::RestJson1)
            .validation(validation);
        let mut bad = Vec::new();
        for operation in service.service().operations() {
            let mock = mock::handler(&model, service.service(), operation).unwrap();
            let titles = mock.bad_examples.into_iter().map(|bad| bad.title);
            bad.extend(titles.map(|title| (operation.name().to_owned(), title)));
            builder = builder.operation_arc(operation.name(), mock.handler);
        }
        let server = builder.build().unwrap();
        let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("http://{}", running.address());
        let client = Client::builder(service, ProtocolKind::RestJson1);
        Self {
            client: client.connect(&url).unwrap(),
            bad,
            running,
        }
    }

    async fn call(&self, operation: &str, input: &str) -> Value {
        let input: Value = polywire::codec::json::read_value(input).unwrap();
        let Value::Map(input) = input else {
            panic!("{input:?}");
        };
        self.client.call(operation, input).await.unwrap()
    }

    /// A response as it comes.
    async fn get(&self, path: &str) -> String {
        let address = self.running.address();
        let mut socket = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        socket.read_to_string(&mut response).await.unwrap();
        response
    }
}

/// A client that pages until there is no token, or until `IsTruncated` is false, comes to an end.
#[tokio::test]
async fn the_first_page_is_the_last() {
    let mock = Mock::start(Validation::All).await;
    let list = mock.call("List", r#"{"token":"string"}"#).await;
    let page = &list["page"];
    assert_eq!(page["next"], Value::Null);
    assert_eq!(page["IsTruncated"], Value::Boolean(false));
    assert_eq!(page["items"].as_list().unwrap().len(), 1);
    assert_eq!(list["HasMoreItems"], Value::Boolean(false));
    assert_eq!(list["isOpen"], Value::Boolean(true));

    // An output must have this token. A client would fill it in.
    let all = mock.get("/all").await;
    assert!(all.contains(r#""next":"""#), "{all}");

    // An example for this very input is answered as it stands.
    let exact = mock.call("Find", r#"{"word":"one"}"#).await;
    assert_eq!(exact["next"].as_str(), Some("more"));
    assert_eq!(exact["IsTruncated"], Value::Boolean(true));
    // For another input it is the last page.
    let other = mock.call("Find", r#"{"word":"one","token":"more"}"#).await;
    assert_eq!(other["next"], Value::Null);
    assert_eq!(other["IsTruncated"], Value::Boolean(false));
}

/// A header says what the message really is, or nothing.
#[tokio::test]
async fn headers_are_valid() {
    let mock = Mock::start(Validation::All).await;
    let item = mock.call("Get", "{}").await;
    assert_eq!(item["type"].as_str(), Some("application/octet-stream"));
    assert_eq!(item["encoding"], Value::Null);
    assert_eq!(item["tag"].as_str(), Some("\"string\""));
    assert_eq!(item["facts"].as_str(), Some("{}"));
    assert_eq!(item["colour"].as_str(), Some("string"));
}

/// The MD5 sums are those of RFC 1321 and of `md5sum`.
#[tokio::test]
async fn digests_are_those_of_the_input() {
    let mock = Mock::start(Validation::All).await;
    let sent = mock
        .call("Send", r#"{"Body":"message digest","Attributes":["a"]}"#)
        .await;
    assert_eq!(
        sent["MD5OfBody"].as_str(),
        Some("f96b697d7cb7938d525a2f31aaf161d0")
    );
    assert_eq!(sent["MD5OfAttributes"], Value::Null);
    let inner = &sent["sent"];
    assert_eq!(inner["Text"].as_str(), Some("string"));
    assert_eq!(
        inner["MD5OfText"].as_str(),
        Some("b45cffe084dd3d20d928bee85e7b0f21")
    );
    let batch = r#"{"Entries":[{"Id":"1","Body":"a"},{"Id":"2","Body":"abc"}]}"#;
    let sent = mock.call("SendBatch", batch).await;
    let expected = r#"[{"Id":"1","MD5OfBody":"0cc175b9c0f1b6a831c399e269772661"},
        {"Id":"2","MD5OfBody":"900150983cd24fb0d6963f7d28e17f72"}]"#;
    let expected: Value = polywire::codec::json::read_value(expected).unwrap();
    assert_eq!(sent["Successful"], expected);
}

/// A request must not cost as many samples as it has items.
#[tokio::test]
async fn batches_are_bounded() {
    let mock = Mock::start(Validation::Off).await;
    let entries = format!(r#"{{"Entries":[{{"Body":"a"}}{}]}}"#, ",{}".repeat(1_000));
    for (operation, most) in [("SendBatch", 10), ("SendFew", 3)] {
        let sent = mock.call(operation, &entries).await;
        assert_eq!(sent["Successful"].as_list().unwrap().len(), most);
    }
}

/// The checks of models only warn of a union without a member, which no input can have.
#[tokio::test]
async fn bad_examples_are_left_out() {
    let mock = Mock::start(Validation::All).await;
    assert_eq!(mock.bad, [("Find".to_owned(), "none".to_owned())]);
}

/// `@required` is a constraint as others are. Defaults are none.
#[tokio::test]
async fn without_validation_nothing_is_required() {
    let mock = Mock::start(Validation::All).await;
    assert!(mock.client.call("Send", Map::new()).await.is_err());
    let mock = Mock::start(Validation::Off).await;
    let sent = mock.call("Send", "{}").await;
    assert_eq!(sent["MD5OfBody"], Value::Null);
    // The example's input has the default too.
    let found = mock.call("Find", r#"{"word":"one"}"#).await;
    assert_eq!(found["next"].as_str(), Some("more"));
}
