//! Named methods and operations of a model in the same server.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, StatusCode};
use polywire_model::Loader;
use polywire_protocol::{Fault, ProtocolKind};
use polywire_rpc::methods::MethodsError;
use polywire_rpc::server::BuildError;
use polywire_rpc::{Methods, Server, ServerBuilder, ServiceHandle, dynamic};
use polywire_schema::{Map, Value};

use crate::support::{build, call, call_cbor, fault_pair, post, read, send};

const MODEL: &str = r#"
    $version: "2"
    namespace example.shop
    use polywire#xmlRpcMethod

    service Shop { version: "1", operations: [Price, Order, Stock] }

    operation Price {
        input := { @required name: String }
        output := { cents: Integer }
        errors: [Unknown]
    }

    @error("client")
    @httpError(404)
    structure Unknown { message: String, name: String }

    @xmlRpcMethod(name: "shop.order", positional: true)
    operation Order {
        input := { @required name: String, @required count: Integer, note: String }
        output := { text: String }
    }

    operation Stock { output := { names: Names } }
    list Names { member: String }
"#;

fn service() -> ServiceHandle {
    let model = match Loader::new().add_text("shop.smithy", MODEL).assemble() {
        Ok(assembled) => assembled.model,
        Err(error) => panic!("{error}"),
    };
    let schemas = model.schemas("example.shop#Shop").unwrap().unwrap();
    ServiceHandle::new(Arc::new(schemas), 0)
}

pub(crate) fn builder() -> ServerBuilder {
    let price = |input: Map, _| async move {
        match input.get("name").and_then(Value::as_str) {
            Some("tea") => Ok(Map::from_iter([("cents", 250)])),
            name => {
                let text = |text: &str| Value::from(text);
                let name = name.unwrap_or_default().to_owned();
                let details = [("message", text("no such thing")), ("name", text(&name))];
                Err(Fault::modelled(
                    "example.shop#Unknown",
                    Map::from_iter(details),
                ))
            }
        }
    };
    let order = |input: Map, _| async move {
        let text = format!("{:?} {:?}", input.get("name"), input.get("count"));
        Ok(Map::from_iter([("text", text)]))
    };
    Server::builder(service())
        .operation("Price", dynamic(price))
        .operation("Order", dynamic(order))
        .operation("Stock", dynamic(|_, _| async { Ok(()) }))
}

pub(crate) fn methods() -> Methods {
    Methods::new()
        .method("add", |(a, b): (i32, i32)| async move { a + b })
        .help("Price", "What a thing costs.")
        .documentation([
            ("Order", "Orders things."),
            ("Price", "Less than the other."),
            ("None", "There is none such."),
        ])
        .introspection(true)
        .cbor("Sample")
}

fn server() -> Server {
    build(
        builder()
            .protocol(ProtocolKind::XmlRpc)
            .protocol(ProtocolKind::RpcV2Cbor)
            .methods(methods()),
    )
}

fn named(name: &str) -> Value {
    Value::Map(Map::from_iter([("name", name)]))
}

#[tokio::test]
async fn methods_and_operations_answer_on_the_same_path() {
    let server = server();
    assert_eq!(
        call(&server, "add", &[1.into(), 2.into()]).await,
        Ok(Value::from(3))
    );
    let price = call(&server, "Price", &[named("tea")]).await.unwrap();
    assert_eq!(price["cents"].as_i64(), Some(250));
    let fault = call(&server, "Price", &[named("x")]).await;
    assert_eq!(fault, Err((404, "Unknown: no such thing".to_owned())));
    let order = call(&server, "shop.order", &["tea".into(), 2.into()])
        .await
        .unwrap();
    assert!(order["text"].as_str().unwrap().contains("tea"));
    let none = call(&server, "nobody", &[]).await;
    assert_eq!(none, Err((-32601, "no method `nobody`".to_owned())));
    let wrong = call(&server, "Price", &[]).await.unwrap_err();
    assert_eq!(wrong.0, -32602);
}

#[tokio::test]
async fn introspection_lists_operations_of_the_model() {
    let server = server();
    let Value::List(names) = call(&server, "system.listMethods", &[]).await.unwrap() else {
        panic!("no list");
    };
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    assert_eq!(
        names[..5],
        [
            "Price",
            "Stock",
            "add",
            "shop.order",
            "system.getCapabilities"
        ]
    );
    let signature = async |name: &str| {
        call(&server, "system.methodSignature", &[name.into()])
            .await
            .unwrap()
    };
    let list = |types: &[&[&str]]| {
        let one = |types: &&[&str]| Value::List(types.iter().map(|&name| name.into()).collect());
        Value::List(types.iter().map(one).collect())
    };
    assert_eq!(signature("Price").await, list(&[&["struct", "struct"]]));
    assert_eq!(signature("Stock").await, list(&[&["struct"]]));
    let order: [&[&str]; 2] = [
        &["struct", "string", "int"],
        &["struct", "string", "int", "string"],
    ];
    assert_eq!(signature("shop.order").await, list(&order));
    let help = call(&server, "system.methodHelp", &["Price".into()]).await;
    assert_eq!(help, Ok(Value::from("What a thing costs.")));
    let help = call(&server, "system.methodHelp", &["shop.order".into()]).await;
    assert_eq!(help, Ok(Value::from("Orders things.")));
}

#[tokio::test]
async fn a_multicall_calls_methods_and_operations() {
    let server = server();
    let entry = |name: &str, parameters: Vec<Value>| {
        Value::Map(Map::from_iter([
            ("methodName", Value::from(name)),
            ("params", Value::List(parameters)),
        ]))
    };
    let calls = vec![
        entry("Price", vec![named("tea")]),
        entry("add", vec![1.into(), 2.into()]),
        entry("shop.order", vec!["tea".into(), 3.into()]),
        entry("Price", vec![named("x")]),
        entry("Price", vec![]),
        entry("Stock", vec![]),
        entry("Price", vec![named("a"), named("b")]),
    ];
    let asking = async |value: Option<&str>| {
        let calls = [Value::List(calls.clone())];
        let body = polywire_codec::xmlrpc::write_call("system.multicall", &calls).unwrap();
        let mut request = Request::post("/RPC2").header("content-type", "text/xml");
        if let Some(value) = value {
            request = request.header("polywire-fault-detail", value);
        }
        let (_, body) = send(&server, request.body(Bytes::from(body)).unwrap()).await;
        read(std::str::from_utf8(&body).unwrap()).unwrap()
    };
    // A fault has the two members of the specification. A third member, `detail`, is added if
    // the request asks for it.
    let results = asking(None).await;
    assert_eq!(results[3].as_map().unwrap().len(), 2, "{results:?}");
    let results = asking(Some("yes")).await;
    assert_eq!(results[0][0]["cents"].as_i64(), Some(250));
    assert_eq!(results[1][0].as_i64(), Some(3));
    assert!(
        results[2][0]["text"].as_str().unwrap().contains('3'),
        "{results:?}"
    );
    // A modelled error in a multicall has its code, its message and its members.
    assert_eq!(
        fault_pair(&results[3]),
        (404, "Unknown: no such thing".to_owned())
    );
    assert_eq!(results[3]["detail"]["name"].as_str(), Some("x"));
    assert_eq!(fault_pair(&results[4]).0, -32602);
    assert_eq!(results[5][0], Value::Map(Map::new()));
    assert_eq!(fault_pair(&results[6]).0, -32602);

    let calls = vec![
        entry("Price", vec![named("tea")]),
        entry("Stock", vec![]),
        entry("Price", vec![named("a"), named("b")]),
        entry("Price", vec![named("x")]),
    ];
    let (_, results) = call_cbor(&server, "system.multicall", &(Value::List(calls),)).await;
    assert_eq!(results[0][0]["cents"].as_i64(), Some(250), "{results:?}");
    assert_eq!(results[1][0], Value::Map(Map::new()));
    assert_eq!(results[2]["code"].as_i64(), Some(-32602));
    assert_eq!(results[3]["__type"].as_str(), Some("example.shop#Unknown"));
    assert_eq!(results[3]["code"].as_i64(), Some(404));
    assert_eq!(results[3]["message"].as_str(), Some("no such thing"));
    assert_eq!(results[3]["name"].as_str(), Some("x"));
}

/// Error messages contain no part of an input that has sensitive members. This includes a
/// multicall, which may contain such an input.
#[tokio::test]
async fn errors_contain_nothing_of_sensitive_inputs() {
    const MODEL: &str = r#"
        $version: "2"
        namespace example.bank
        service Bank { version: "1", operations: [Login] }
        operation Login { input := { user: String, pin: Pin, secrets: Secrets } }
        @sensitive
        integer Pin
        @sensitive
        map Secrets { key: String, value: Integer }
    "#;
    let assembled = Loader::new().add_text("bank.smithy", MODEL).assemble();
    let model = assembled.unwrap_or_else(|error| panic!("{error}")).model;
    let schemas = model.schemas("example.bank#Bank").unwrap().unwrap();
    let builder = Server::builder(ServiceHandle::new(Arc::new(schemas), 0))
        .operation("Login", dynamic(|_, _| async { Ok(()) }))
        .protocol(ProtocolKind::XmlRpc)
        .protocol(ProtocolKind::RpcV2Cbor);
    let methods = Methods::new().introspection(true).cbor("Sample");
    let server = build(builder.methods(methods));

    let named = |name: &str, value: &str| {
        format!("<struct><member><name>{name}</name><value>{value}</value></member></struct>")
    };
    let param = |value: &str| format!("<param><value>{value}</value></param>");
    let entry = |params: &str| {
        let calls = format!(
            "<array><data><value><struct><member><name>methodName</name><value>Login</value>\
             </member><member><name>params</name><value>{params}</value></member></struct></value>\
             </data></array>"
        );
        ("system.multicall", param(&calls))
    };
    let array = |value: &str| format!("<array><data><value>{value}</value></data></array>");
    for (method, params) in [
        ("Login", param(&named("pin", "hunter2"))),
        ("Login", param(&named("secrets", &named("hunter2", "x")))),
        ("Login", "hunter2".to_owned()),
        ("Login", param(&named("user", "a")) + "hunter2"),
        entry(&array(&named("pin", "hunter2"))),
        entry(&array(&named("secrets", &named("hunter2", "x")))),
        entry("hunter2"),
        entry(&array("<int>hunter2</int>")),
        entry(&format!("{}hunter2", array(""))),
    ] {
        let body = format!(
            "<methodCall><methodName>{method}</methodName><params>{params}</params></methodCall>"
        );
        let answer = post(&server, "/RPC2", body).await;
        assert!(answer.contains("faultString"), "{params}: {answer}");
        assert!(!answer.contains("no method"), "{params}: {answer}");
        assert!(!answer.contains("hunter2"), "{params}: {answer}");
    }

    let pin = Value::from(Map::from_iter([("pin", "hunter2")]));
    let key = Value::from(Map::from_iter([("hunter2", true)]));
    let secrets = Value::from(Map::from_iter([("secrets", key)]));
    let entry = |params: Value| {
        let name = Value::from("Login");
        let call = Value::from(Map::from_iter([("methodName", name), ("params", params)]));
        Value::List(vec![Value::List(vec![call])])
    };
    let list = |value: &Value| Value::List(vec![value.clone()]);
    for params in [
        entry(list(&pin)),
        entry(list(&secrets)),
        entry(list(&"hunter2".into())),
        entry("hunter2".into()),
    ] {
        let (_, answer) = call_cbor(&server, "system.multicall", &params).await;
        let answer = format!("{answer:?}");
        assert!(answer.contains("message"), "{params:?}: {answer}");
        assert!(!answer.contains("no method"), "{params:?}: {answer}");
        assert!(!answer.contains("hunter2"), "{params:?}: {answer}");
    }
}

#[tokio::test]
async fn other_protocols_of_the_model_keep_working() {
    let server = server();
    let body = polywire_codec::cbor::write_value(&named("tea")).unwrap();
    let request = Request::post("/service/Shop/operation/Price")
        .header("smithy-protocol", "rpc-v2-cbor")
        .header("content-type", "application/cbor")
        .body(Bytes::from(body))
        .unwrap();
    let (status, body) = send(&server, request).await;
    assert_eq!(status, StatusCode::OK);
    let price = polywire_codec::cbor::read_value(&body).unwrap();
    assert_eq!(price["cents"].as_i64(), Some(250));
}

#[tokio::test]
async fn a_model_may_be_left_out_of_xmlrpc() {
    let server = build(
        builder()
            .protocol(ProtocolKind::RpcV2Cbor)
            .methods(add_methods()),
    );
    assert_eq!(
        call(&server, "add", &[1.into(), 2.into()]).await,
        Ok(Value::from(3))
    );
    assert_eq!(
        call(&server, "Price", &[named("tea")]).await.unwrap_err().0,
        -32601
    );
}

fn add_methods() -> Methods {
    Methods::new().method("add", |(a, b): (i32, i32)| async move { a + b })
}

#[tokio::test]
async fn each_path_offers_methods_and_operations() {
    let methods = add_methods().path("/").path("/RPC2");
    let server = build(builder().protocol(ProtocolKind::XmlRpc).methods(methods));
    for path in ["/", "/RPC2"] {
        let body = polywire_codec::xmlrpc::write_call("add", &[1.into(), 2.into()]).unwrap();
        assert_eq!(read(&post(&server, path, body).await), Ok(Value::from(3)));
        let body = polywire_codec::xmlrpc::write_call("Price", &[named("tea")]).unwrap();
        assert!(read(&post(&server, path, body).await).is_ok());
    }
}

#[test]
fn a_name_used_by_a_method_and_an_operation_is_a_build_error() {
    let methods = Methods::new().method("Price", |(): ()| async {});
    let built = builder()
        .protocol(ProtocolKind::XmlRpc)
        .methods(methods)
        .build();
    let twice = MethodsError::Duplicate("Price".to_owned());
    assert_eq!(built.unwrap_err(), BuildError::Methods(twice));
}

#[tokio::test]
async fn methods_and_model_may_share_a_cbor_service_name() {
    let methods = add_methods().cbor("Shop").introspection(true);
    let server = build(builder().protocol(ProtocolKind::RpcV2Cbor).methods(methods));
    let post = |name: &str, body: &Value| {
        Request::post(format!("/service/Shop/operation/{name}"))
            .header("smithy-protocol", "rpc-v2-cbor")
            .header("content-type", "application/cbor")
            .body(Bytes::from(
                polywire_codec::cbor::write_value(body).unwrap(),
            ))
            .unwrap()
    };
    let two = Value::List(vec![1.into(), 2.into()]);
    let (status, sum) = send(&server, post("add", &two)).await;
    assert_eq!((status, &sum[..]), (StatusCode::OK, &[3][..]));
    let (status, price) = send(&server, post("Price", &named("tea"))).await;
    assert_eq!(status, StatusCode::OK);
    let price = polywire_codec::cbor::read_value(&price).unwrap();
    assert_eq!(price["cents"].as_i64(), Some(250));
    let (status, _) = send(&server, post("system.listMethods", &Value::List(vec![]))).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        send(&server, post("None", &two)).await.0,
        StatusCode::NOT_FOUND
    );
}

/// A request with a media type that browsers send without a CORS preflight is rejected with
/// 415. It reaches neither a method nor an operation.
#[tokio::test]
async fn calls_of_web_pages_are_rejected() {
    let alone = Server::methods(add_methods());
    let beside = builder()
        .protocol(ProtocolKind::XmlRpc)
        .protocol(ProtocolKind::RpcV2Cbor)
        .methods(add_methods());
    for server in [build(alone), build(beside)] {
        let call = polywire_codec::xmlrpc::write_call("add", &[2.into(), 3.into()]).unwrap();
        for (media_type, status) in [
            ("text/plain", 415),
            ("application/x-www-form-urlencoded", 415),
            ("multipart/form-data; boundary=x", 415),
            ("application/xml", 200),
            ("text/xml; charset=utf-8", 200),
        ] {
            let request = Request::post("/RPC2").header("content-type", media_type);
            let request = request.body(Bytes::from(call.clone())).unwrap();
            let (found, body) = send(&server, request).await;
            assert_eq!(found, status, "{media_type}");
            let answer = read(std::str::from_utf8(&body).unwrap());
            match answer {
                Ok(sum) => assert_eq!((sum, status), (Value::from(5), 200)),
                Err((code, text)) => {
                    assert_eq!((code, status), (-32600, 415));
                    assert!(
                        text.contains(media_type) && text.contains("text/xml"),
                        "{text}"
                    );
                }
            }
        }
        let request = Request::post("/RPC2").body(Bytes::from(call)).unwrap();
        assert_eq!(send(&server, request).await.0, 200);
    }
}
