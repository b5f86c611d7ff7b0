//! Calls whose URL endpoint rules find.

use polywire_model::Loader;
use polywire_protocol::ProtocolKind;
use polywire_rpc::aws::{Endpoints, Signer};
use polywire_rpc::{CallErrorKind, Client, ServiceHandle};
use polywire_schema::Map;
use serde_json::json;

use crate::script::{Endpoint, Reply};
use crate::support::{KEY, within};

const MODEL: &str = r#"
    $version: "2"
    namespace example
    @aws.protocols#restXml
    service Buckets { version: "1", operations: [GetItem, ListAll, Describe] }

    @http(method: "GET", uri: "/{Bucket}/{Key+}?x-id=GetItem")
    operation GetItem { input := { @required @httpLabel Bucket: String, @required @httpLabel Key: String } }

    @http(method: "GET", uri: "/?x-id=ListAll")
    operation ListAll {}

    @http(method: "GET", uri: "/{Bucket}")
    @endpoint(hostPrefix: "data.")
    operation Describe { input := { @required @httpLabel Bucket: String } }
"#;

fn service() -> ServiceHandle {
    let model = Loader::new()
        .add_text("b.smithy", MODEL)
        .assemble()
        .unwrap()
        .model;
    let schemas = model.schemas("example#Buckets").unwrap().unwrap();
    ServiceHandle::new(std::sync::Arc::new(schemas), 0)
}

/// Rules in the style of S3, for the bucket `elsewhere` at another server.
fn endpoints(other: &str) -> Endpoints {
    let text =
        |built_in: &str| json!({ "type": "string", "builtIn": built_in, "documentation": "" });
    let is_set = |name: &str| json!({ "fn": "isSet", "argv": [{ "ref": name }] });
    let equals = |text: &str| json!({ "fn": "stringEquals", "argv": [{ "ref": "Bucket" }, text] });
    let scheme = |name: &str, region: &str| {
        json!({ "authSchemes": [
        { "name": name, "signingName": "other", "signingRegion": region, "disableDoubleEncoding": true },
    ] })
    };
    let label = json!({ "target": "smithy.api#String", "traits": { "smithy.rules#contextParam": { "name": "Bucket" } } });
    let bucket = json!({ "Bucket": label });
    let model = json!({ "smithy": "2.0", "shapes": {
        "example#Buckets": { "type": "service", "version": "1", "traits": { "smithy.rules#endpointRuleSet": {
            "version": "1.0",
            "parameters": {
                "Bucket": { "type": "string", "documentation": "" },
                "Region": text("AWS::Region"),
                "Endpoint": text("SDK::Endpoint"),
                "Mode": { "type": "string", "documentation": "" },
            },
            "rules": [
                { "type": "error", "conditions": [is_set("Bucket"), equals("bad")], "error": "Not {Bucket}" },
                { "type": "endpoint", "conditions": [is_set("Bucket"), equals("express")],
                  "endpoint": { "url": other, "properties": scheme("sigv4-s3express", "x") } },
                { "type": "endpoint", "conditions": [is_set("Bucket"), equals("elsewhere")],
                  "endpoint": { "url": format!("{other}/base"), "headers": { "x-rule": ["a", "b"] },
                                "properties": scheme("sigv4", "xx-other-1") } },
                { "type": "endpoint", "conditions": [is_set("Bucket"), is_set("Endpoint")],
                  "endpoint": { "url": "{Endpoint}/{Bucket}" } },
                { "type": "endpoint", "conditions": [is_set("Endpoint")], "endpoint": { "url": "{Endpoint}" } },
                { "type": "endpoint", "conditions": [is_set("Bucket"), is_set("Region")],
                  "endpoint": { "url": "https://{Bucket}.store.{Region}.example" } },
                { "type": "endpoint", "conditions": [is_set("Region")],
                  "endpoint": { "url": "https://store.{Region}.example" } },
            ],
        } } },
        "example#GetItem": { "type": "operation", "input": { "target": "example#GetItemInput" } },
        "example#GetItemInput": { "type": "structure", "members": bucket },
        "example#Describe": { "type": "operation", "input": { "target": "example#GetItemInput" } },
    } });
    Endpoints::from_model(&model.to_string(), "example#Buckets").unwrap()
}

fn client(endpoints: Endpoints) -> Client {
    Client::builder(service(), ProtocolKind::RestXml)
        .interceptor(Signer::new(KEY(), "eu-west-1", "store"))
        .connect_with(endpoints)
        .unwrap()
}

fn item(bucket: &str) -> Map {
    Map::from_iter([("Bucket", bucket), ("Key", "a b/c")])
}

#[tokio::test]
async fn requests_go_to_the_servers_of_the_rules() {
    let main = Endpoint::start(|_, _| Reply::Body(200, String::new())).await;
    let other = Endpoint::start(|_, _| Reply::Body(200, String::new())).await;
    let client = client(endpoints(&other.url).with_endpoint(&main.url));
    for bucket in ["photos", "elsewhere", "films"] {
        within(client.call("GetItem", item(bucket))).await.unwrap();
    }
    within(client.call("ListAll", Map::new())).await.unwrap();
    let requests = main.requests();
    for (request, target) in requests.iter().zip([
        "/photos/a%20b/c?x-id=GetItem",
        "/films/a%20b/c?x-id=GetItem",
        "/?x-id=ListAll",
    ]) {
        assert!(
            request.starts_with(&format!("GET {target} HTTP/1.1\r\n")),
            "{request}"
        );
        // The rules say nothing about the signature.
        assert!(
            request.contains("/eu-west-1/store/aws4_request"),
            "{request}"
        );
        let host = format!("host: {}\r\n", &main.url["http://".len()..]);
        assert!(request.contains(&host), "{request}");
    }
    assert_eq!(requests.len(), 3);
    let [request] = &*other.requests() else {
        panic!()
    };
    assert!(
        request.starts_with("GET /base/a%20b/c?x-id=GetItem HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains("/xx-other-1/other/aws4_request"),
        "{request}"
    );
    assert!(request.contains("x-rule: a\r\nx-rule: b\r\n"), "{request}");
}

#[tokio::test]
async fn hosts_of_the_rules() {
    let client = client(endpoints("http://127.0.0.1:1").with_region("eu-west-1"));
    let url = |operation, input| {
        let request = client.encode_request(operation, input).unwrap();
        request.uri().to_string()
    };
    let expected = "https://photos.store.eu-west-1.example/a%20b/c?x-id=GetItem";
    assert_eq!(url("GetItem", item("photos")), expected);
    assert_eq!(
        url("ListAll", Map::new()),
        "https://store.eu-west-1.example/?x-id=ListAll"
    );
    let bucket = Map::from_iter([("Bucket", "photos")]);
    assert_eq!(
        url("Describe", bucket),
        "https://data.photos.store.eu-west-1.example/"
    );
}

#[tokio::test]
async fn errors_of_the_rules() {
    let other = Endpoint::start(|_, _| Reply::Body(200, String::new())).await;
    let client = client(endpoints(&other.url));
    for (operation, input, reason) in [
        ("GetItem", item("bad"), "Not bad"),
        (
            "GetItem",
            item("express"),
            "requires the authentication scheme `sigv4-s3express`",
        ),
        ("ListAll", Map::new(), "no endpoint rule matches"),
    ] {
        let error = within(client.call(operation, input)).await.unwrap_err();
        assert_eq!(error.kind(), CallErrorKind::Encode);
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert!(other.requests().is_empty());
    let rules = endpoints("http://h");
    assert!(rules.clone().with_parameter("No", "x").is_err());
    assert!(rules.clone().with_parameter("Mode", true).is_err());
    assert!(rules.with_parameter("Mode", "x").is_ok());
    assert!(Endpoints::from_rules("{}").is_err());
}

/// A client of JSON-RPC would send several calls to one URL.
#[tokio::test]
async fn messages_with_several_calls_have_no_endpoint() {
    let builder = Client::builder(service(), ProtocolKind::JsonRpc);
    let client = builder
        .connect_with(endpoints("http://h").with_region("r"))
        .unwrap();
    let calls = [("ListAll", Map::new())];
    let error = within(client.call_batch(calls)).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Usage);
    let framed = Client::builder(service(), ProtocolKind::Frame);
    assert!(framed.connect_with(endpoints("http://h")).is_err());
}
