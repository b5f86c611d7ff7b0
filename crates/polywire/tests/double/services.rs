//! Several services on one port.

use std::sync::Arc;

use polywire::double::{Double, page};
use polywire::model::Loader;
use polywire::prelude::*;
use polywire::rpc::RunningServer;
use polywire::services::ServiceLayer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MODEL: &str = r#"
    $version: "2"
    namespace example
    use aws.api#service
    use aws.auth#sigv4
    use aws.protocols#awsJson1_0
    use aws.protocols#awsQuery
    use aws.protocols#restJson1
    use smithy.protocols#rpcv2Cbor

    @restJson1
    @service(sdkId: "Files")
    service Files { version: "1", operations: [GetFile] }
    @readonly
    @http(method: "GET", uri: "/files/{name}")
    operation GetFile { input := { @required @httpLabel name: String }, output := { a: String } }

    @awsJson1_0
    @rpcv2Cbor
    @sigv4(name: "queues")
    @service(sdkId: "Queue Service")
    service Queues_2020 { version: "1", operations: [Send] }
    operation Send { output := { b: String } }

    @awsQuery
    @xmlNamespace(uri: "https://example.com/")
    @sigv4(name: "topics")
    @service(sdkId: "Topics")
    service Topics { version: "1", operations: [Publish] }
    operation Publish { output := { c: String } }

    @restJson1
    @service(sdkId: "Maps")
    service Maps { version: "1", operations: [GetMap] }
    @readonly
    @http(method: "GET", uri: "/maps/{name}")
    operation GetMap { input := { @required @httpLabel name: String }, output := { d: String } }
"#;

async fn start() -> (RunningServer, Vec<Double>) {
    let assembled = Loader::new().add_text("test.smithy", MODEL).assemble();
    let model = Arc::new(assembled.unwrap_or_else(|error| panic!("{error}")).model);
    let names = ["Files", "Queues_2020", "Topics", "Maps"];
    let doubles = names.map(|name| {
        let service = polywire::service_of(&model, Some(name)).unwrap();
        Double::builder(Arc::clone(&model), service).build()
    });
    let builders = doubles.each_ref().map(|double| {
        let builder = Server::builder(double.service().clone());
        double.serve(builder)
    });
    let mut builders = builders.into_iter();
    let first = builders.next().unwrap();
    let layer = ServiceLayer::new(doubles[0].service().clone());
    let layer = builders.fold(layer, |layer, other| layer.with(other.build().unwrap()));
    let all = doubles.to_vec();
    let server = first
        .http_layer(layer)
        .pages(move |request| page(&all, request).unwrap_or_default())
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    (running, doubles.to_vec())
}

#[tokio::test]
async fn requests_find_their_service() {
    let (running, _) = start().await;
    let scope = "authorization: AWS4-HMAC-SHA256 Credential=AKID/20260131/us-east-1";
    let json = "content-type: application/x-amz-json-1.0";
    for (name, request, headers, expected) in [
        (
            "host",
            "POST /",
            format!("host: queues.localhost:80\r\n{json}\r\nx-amz-target: Queues_2020.Send"),
            "\"b\"",
        ),
        (
            "label",
            "GET /maps/x",
            "host: acc.maps.us-east-1.localhost".to_owned(),
            "\"d\"",
        ),
        (
            "target",
            "POST /",
            format!("host: x\r\n{json}\r\nx-amz-target: Queues_2020.Send"),
            "\"b\"",
        ),
        (
            "scope",
            "POST /",
            format!(
                "host: x\r\n{scope}/topics/aws4_request, SignedHeaders=host\r\ncontent-type: application/x-www-form-urlencoded"
            ),
            "<Code>",
        ),
        (
            "path",
            "POST /service/Queues_2020/operation/Send",
            "host: x\r\nsmithy-protocol: rpc-v2-cbor\r\naccept: application/cbor".to_owned(),
            "string",
        ),
        (
            "action",
            "GET /?Action=Publish&Version=1",
            "host: x".to_owned(),
            "<c>string</c>",
        ),
        (
            "route",
            "GET /maps/x",
            "host: 127.0.0.1".to_owned(),
            "\"d\"",
        ),
        ("first", "GET /files/x", "host: x".to_owned(), "\"a\""),
        (
            "nobody",
            "GET /nothing",
            "host: x".to_owned(),
            "UnknownOperationException",
        ),
    ] {
        let mut socket = TcpStream::connect(running.address()).await.unwrap();
        let text = format!(
            "{request} HTTP/1.1\r\n{headers}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        );
        socket.write_all(text.as_bytes()).await.unwrap();
        let mut response = Vec::new();
        socket.read_to_end(&mut response).await.unwrap();
        let response = String::from_utf8_lossy(&response);
        assert!(response.contains(expected), "{name}: {response}");
    }
}

#[tokio::test]
async fn doubles_share_their_pages() {
    let (running, doubles) = start().await;
    let url = format!("http://{}", running.address());
    let client = Client::builder(doubles[1].service().clone(), ProtocolKind::AwsJson1_0);
    client
        .connect(&url)
        .unwrap()
        .call("Send", Map::new())
        .await
        .unwrap();
    assert_eq!(doubles[1].count("Send"), 1);
    let request = http::Request::get("/_polywire/calls?operation=Send");
    let response = page(&doubles, &request.body(bytes::Bytes::new()).unwrap()).unwrap();
    let text = String::from_utf8_lossy(response.body());
    assert!(text.contains(r#""total":1"#), "{text}");
}
