//! All protocols on one port: which protocols can share a path, which need a mount of their own,
//! and the protocol of replies to bad requests.

use http::{HeaderName, HeaderValue};
use polywire_protocol::{FaultKind, ProtocolKind, Retry, XmlRpc};
use polywire_rpc::layers::CrossOrigin;
use polywire_rpc::server::{BuildError, Mount, OriginalUri};
use polywire_rpc::{Client, Server, ServerBuilder, dynamic};
use polywire_schema::{Map, Value};

use crate::support::{Caller, Site, builder, head_of, request, service};

/// The protocols that need a mount of their own beside the others.
const APART: [ProtocolKind; 2] = [ProtocolKind::Ec2Query, ProtocolKind::RestXml];

/// The protocols without some of them.
fn without(others: &[ProtocolKind]) -> Vec<ProtocolKind> {
    let kinds = ProtocolKind::http();
    kinds.filter(|kind| !others.contains(kind)).collect()
}

fn mount(text: &str) -> Mount {
    text.parse().unwrap()
}

fn builder_with_all_protocols() -> ServerBuilder {
    let shared = without(&APART).into_iter();
    let shared = shared.fold(builder(), ServerBuilder::protocol);
    shared
        .protocol_at(mount("/ec2"), ProtocolKind::Ec2Query)
        .protocol_at(mount("/s3"), ProtocolKind::RestXml)
}

/// The path of a protocol below the URL of the server.
fn path(kind: ProtocolKind) -> &'static str {
    match kind {
        ProtocolKind::Ec2Query => "/ec2",
        ProtocolKind::RestXml => "/s3",
        _ => "",
    }
}

fn client(site: &Site, kind: ProtocolKind) -> Caller {
    let url = format!("{}{}", site.url(), path(kind));
    Caller(Client::builder(service(), kind).connect(&url).unwrap())
}

#[tokio::test]
async fn every_protocol_on_one_port() {
    let site = Site::start(builder_with_all_protocols()).await;
    for kind in ProtocolKind::http() {
        let client = client(&site, kind);
        let sum = client.call("Add", r#"{"left": 2, "right": 3}"#).await;
        assert_eq!(sum.unwrap(), r#"{"sum":5}"#, "{kind}");
        assert_eq!(client.call("Nothing", "{}").await.unwrap(), "{}", "{kind}");

        let fault = client.fault("Fail", r#"{"how":"not there"}"#).await;
        assert_eq!(fault.shape(), "example.wire#NotThere", "{kind}");
        assert_eq!(fault.message(), "there is no such thing", "{kind}");
        let details = fault.details();
        assert_eq!(
            details.get("count").and_then(Value::as_i64),
            Some(3),
            "{kind}"
        );
        assert_eq!(fault.retry(), Retry::No, "{kind}");

        let fault = client.fault("Fail", r#"{"how":"invalid"}"#).await;
        assert_eq!(fault.message(), "not like this", "{kind}");
        let fault = client.fault("Fail", r#"{"how":"internal"}"#).await;
        assert_eq!(fault.kind(), FaultKind::Internal, "{kind}");
    }
}

/// A request that cannot be routed or decoded gets an error in its own protocol.
#[tokio::test]
async fn bad_requests_in_their_own_wire() {
    let site = Site::start(builder_with_all_protocols()).await;
    let target = "x-amz-target: Wire.Nothing\r\n";
    let form = "application/x-www-form-urlencoded";
    for (request, content_type, says) in [
        (
            post("/", "application/x-amz-json-1.0", "", "{}"),
            "application/x-amz-json-1.0",
            "UnknownOperation",
        ),
        (
            post("/", "application/x-amz-json-1.1", target, "{"),
            "application/x-amz-json-1.1",
            "\"SerializationException",
        ),
        (
            post("/", form, "", "Action=Strange&Version=1"),
            "text/xml",
            "<Code>",
        ),
        (
            post("/ec2", form, "", "Action=Strange&Version=1"),
            "text/xml",
            "<Errors><Error>",
        ),
        (
            post("/s3/strange", "text/plain", "", ""),
            "application/xml",
            "UnknownOperation",
        ),
        (
            post("/strange", "text/plain", "", ""),
            "application/json",
            "no operation for",
        ),
        (
            post(
                "/service/Wire/operation/Nothing",
                "application/json",
                "smithy-protocol: rpc-v2-json\r\n",
                "[",
            ),
            "application/json",
            "smithy.framework#",
        ),
        (
            post(
                "/service/Wire/operation/Strange",
                "application/cbor",
                "smithy-protocol: rpc-v2-cbor\r\n",
                "",
            ),
            "application/cbor",
            "UnknownOperation",
        ),
        (
            post("/RPC2", "text/xml", "", "<strange/>"),
            "text/xml",
            "<methodResponse>",
        ),
        (
            post("/jsonrpc", "application/json", "", "{"),
            "application/json",
            "\"error\":{\"code\":-32700",
        ),
    ] {
        let reply = site.send(&request).await;
        let has_status = !says.contains("methodResponse") && !says.contains("-32700");
        assert_eq!(reply.status >= 400, has_status, "{request}");
        let own = reply.header("content-type").unwrap_or_default();
        assert!(own.starts_with(content_type), "{request}\n{own}");
        let body = String::from_utf8_lossy(&reply.body);
        assert!(body.contains(says), "{request}\n{body}");
    }
}

/// A call in a protocol that is not offered gets an error in that protocol.
#[tokio::test]
async fn protocols_that_are_not_offered() {
    use ProtocolKind as Kind;
    let others = [
        // awsJson1_0 also claims requests of awsJson1_1, to reject their media type. Requests of
        // ec2Query cannot be distinguished from those of awsQuery.
        (
            Kind::AwsJson1_0,
            without(&[Kind::AwsJson1_0, Kind::AwsJson1_1, Kind::Ec2Query]),
        ),
        // restJson1 claims all requests that do not identify their protocol.
        (
            Kind::RestJson1,
            without(&[
                Kind::AwsQuery,
                Kind::Ec2Query,
                Kind::RestJson1,
                Kind::RestXml,
            ]),
        ),
    ];
    for (offered, others) in others {
        let hint = |kind| format!("start it with {kind}");
        let with_hint = builder().protocol(offered).missing_protocol_hint(hint);
        let site = Site::start(with_hint).await;
        for kind in others {
            let client = Client::builder(service(), kind);
            let client = Caller(client.connect(&site.url()).unwrap());
            let fault = client.fault("Add", r#"{"left": 2, "right": 3}"#).await;
            let message = format!(
                "this server does not offer {kind} here, it offers {offered}; start it with {kind}"
            );
            assert_eq!(fault.message(), message, "{kind}");
            assert_eq!(fault.kind(), FaultKind::UnknownOperation, "{kind}");
        }
    }
    // The protocol is offered at another path. The message does not list the protocols of other
    // hosts.
    let cbor = builder()
        .protocol(Kind::AwsJson1_0)
        .protocol_at(mount("//admin.internal"), Kind::RestJson1)
        .protocol_at(mount("//127.0.0.1/xml"), Kind::XmlRpc)
        .protocol_at(mount("/cbor"), Kind::RpcV2Cbor);
    let site = Site::start(cbor).await;
    let client = Client::builder(service(), Kind::RpcV2Cbor);
    let client = Caller(client.connect(&site.url()).unwrap());
    let fault = client.fault("Nothing", "{}").await;
    assert_eq!(
        fault.message(),
        "this server does not offer rpcv2Cbor here, \
         it offers xmlRpc at /xml, rpcv2Cbor at /cbor, awsJson1_0"
    );
    let json = [("content-type", "application/json")];
    let reply = site.send(request("POST /things", &json, "{}")).await;
    let (_, _, message) = reply.error(Kind::RestJson1);
    assert_eq!(
        message,
        "this server does not offer restJson1 here, it offers rpcv2Cbor at /cbor, awsJson1_0"
    );
    // The reply to a restXml call has a request id, as usual in this protocol.
    let xml = [("content-type", "application/xml")];
    let reply = site.send(request("POST /things", &xml, "<a/>")).await;
    assert_eq!(reply.status, 404);
    assert!(reply.header("x-amzn-requestid").is_some());
    // The protocol of this request is unknown.
    let reply = site.send("GET /time HTTP/1.1\r\nhost: h\r\n\r\n").await;
    assert_eq!(reply.status, 404);
    assert_eq!(
        reply.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
}

fn post(path: &str, content_type: &str, headers: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: h\r\ncontent-type: {content_type}\r\n{headers}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn hosts_have_their_own_protocols() {
    let builder = builder()
        .protocol(ProtocolKind::RestJson1)
        .protocol_at(mount("//xml.test"), ProtocolKind::RestXml)
        .protocol_at(mount("//*.xml.test/deep"), ProtocolKind::RestXml);
    let site = Site::start(builder).await;
    for (host, path, content_type) in [
        ("h", "/strange", "application/json"),
        ("XML.test", "/strange", "application/xml"),
        ("xml.test:8080", "/strange", "application/xml"),
        ("a.b.xml.test", "/deep/strange", "application/xml"),
        ("a.b.xml.test", "/strange", "application/json"),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        let reply = site.send(&request).await;
        assert_eq!(reply.status, 404, "{host}{path}");
        assert_eq!(
            reply.header("content-type"),
            Some(content_type),
            "{host}{path}"
        );
    }
}

/// Protocols and `Context::uri` have paths without the prefix of the mount. `OriginalUri` has the
/// path that was sent.
#[tokio::test]
async fn handlers_see_what_was_sent() {
    let builder = builder()
        .protocol_at(mount("/deep/down"), ProtocolKind::RestJson1)
        .operation(
            "Create",
            dynamic(|_, call| async move {
                let sent = call.extensions().get::<OriginalUri>().unwrap();
                let name = format!("{} {}", call.uri().path(), sent.0.path());
                let output = [("id", Value::from(1)), ("name", Value::from(name))];
                Ok(output.into_iter().collect::<Map>())
            }),
        );
    let site = Site::start(builder).await;
    let url = format!("{}/deep/down/", site.url());
    let client = Client::builder(service(), ProtocolKind::RestJson1);
    let client = Caller(client.connect(&url).unwrap());
    let output = client.call("Create", r#"{"name":"x"}"#).await.unwrap();
    let (_, name) = output.split_once("\"name\":\"").unwrap();
    let (seen, sent) = name.split_once(' ').unwrap();
    assert_eq!(sent.trim_end_matches("\"}"), format!("/deep/down{seen}"));
    // A path outside of all mounts.
    let reply = site.send("GET /deep HTTP/1.1\r\nhost: h\r\n\r\n").await;
    assert_eq!(reply.status, 404);
    assert_eq!(
        reply.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
}

/// The host of a request includes the host prefix of the operation, in HTTP/1.1 and HTTP/2,
/// although the connection goes to the address without prefix.
#[tokio::test]
async fn prefixes_of_hosts_reach_the_mount() {
    let builder = builder().protocol_at(mount("//*.data.127.0.0.1"), ProtocolKind::RestJson1);
    let site = Site::start(builder).await;
    for http2 in [false, true] {
        let client = site.client_with(ProtocolKind::RestJson1, |builder| builder.http2(http2));
        let input = r#"{"tenant":"acme","note":"n"}"#;
        let output = client.call("Hosted", input).await;
        let output = output.unwrap_or_else(|error| panic!("HTTP/2: {http2}: {error}"));
        assert_eq!(output, input, "HTTP/2: {http2}");
        // Without the prefix the host matches no mount.
        assert!(client.call("Nothing", "{}").await.is_err());
    }
}

/// Conflicting protocols are rejected when the server is built. The message names both and suggests
/// solutions.
#[test]
fn protocols_that_cannot_be_distinguished() {
    let refuse = |builder: ServerBuilder| match builder.build() {
        Err(error @ BuildError::Conflict(..)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    for (one, other) in [
        (ProtocolKind::AwsQuery, ProtocolKind::Ec2Query),
        (ProtocolKind::RestXml, ProtocolKind::RestJson1),
    ] {
        let message = refuse(builder().protocol(one).protocol(other));
        let begins = format!("requests of {one} and {other} cannot be distinguished: ");
        assert!(message.starts_with(&begins), "{message}");
        let advice = "serve one of them under a different path, host or port";
        assert!(message.contains(advice), "{message}");
        let builder = builder().protocol_at(mount("/x"), one);
        let message = refuse(builder.protocol_at(mount("/x/"), other));
        assert!(message.ends_with("(both are at /x)"), "{message}");
        // At different paths they do not conflict.
        let separate = crate::support::builder().protocol_at(mount("/x"), one);
        assert!(separate.protocol(other).build().is_ok());
    }
    // Adding the same kind twice is no error. A second instance of the protocol at the same path is
    // a conflict.
    let kind = ProtocolKind::XmlRpc;
    let own = |path: &str| {
        let protocol = XmlRpc::new(service().service()).unwrap().at_path(path);
        builder()
            .protocol(kind)
            .protocol(kind)
            .custom_protocol(Box::new(protocol))
    };
    assert!(own("/other").build().is_ok());
    assert!(refuse(own("/RPC2")).contains("they are the same protocol"));
}

#[test]
fn a_server_lists_its_mounts() {
    let server: Server = builder_with_all_protocols().build().unwrap();
    let mounts = server.mounts();
    let mut mounts: Vec<String> = mounts
        .map(|(mount, protocol)| format!("{} {mount}", protocol.kind()))
        .collect();
    mounts.sort();
    assert_eq!(mounts.len(), ProtocolKind::http().count());
    assert!(mounts.contains(&"restXml /s3".to_owned()), "{mounts:?}");
    assert!(mounts.contains(&"restJson1 /".to_owned()), "{mounts:?}");
}

/// Calls of pages of other origins are rejected on every wire, with an error in that protocol.
/// Calls of the same or an allowed origin, or without these headers, are served.
#[tokio::test]
async fn cross_origin_pages() {
    let guard = CrossOrigin::new().allow("https://app.example").unwrap();
    let site = Site::start(builder_with_all_protocols().cross_origin(guard)).await;
    let caller = |kind, headers: &[(&'static str, &str)]| {
        let mut builder = Client::builder(service(), kind);
        for (name, value) in headers {
            let name = HeaderName::from_static(name);
            builder = builder.header(name, HeaderValue::from_str(value).unwrap());
        }
        Caller(
            builder
                .connect(&format!("{}{}", site.url(), path(kind)))
                .unwrap(),
        )
    };
    for kind in ProtocolKind::http() {
        for foreign in [
            &[("sec-fetch-site", "cross-site")][..],
            &[
                ("sec-fetch-site", "same-site"),
                ("origin", "http://other.example"),
            ],
            &[("origin", "http://other.example")],
            &[("origin", "null")],
        ] {
            // A browser sends such a request without a preflight, because it has no body.
            let error = caller(kind, foreign).call("Nothing", "{}").await;
            match error.unwrap_err().into_fault() {
                Ok(fault) => {
                    assert!(fault.message().contains("CrossOrigin"), "{kind}: {fault}");
                    assert_eq!(fault.status(), 403, "{kind}");
                }
                // An XML-RPC client ignores the body of a reply with status 403.
                Err(error) => assert!(error.to_string().contains("403"), "{kind}: {error}"),
            }
        }
        let own = &*site.url();
        for fine in [
            &[][..],
            &[("sec-fetch-site", "same-origin"), ("origin", own)],
            &[("sec-fetch-site", "none")],
            &[("origin", own)],
            &[
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://app.example"),
            ],
        ] {
            let output = caller(kind, fine).call("Nothing", "{}").await;
            assert_eq!(output.unwrap(), "{}", "{kind} {fine:?}");
        }
    }
    let foreign = [("Sec-Fetch-Site", "cross-site")];
    let mut call = head_of(ProtocolKind::XmlRpc, "", "Nothing");
    call.1.extend(foreign);
    let reply = site.send(request(&call.0, &call.1, "<methodCall/>")).await;
    let (status, _, message) = reply.error(ProtocolKind::XmlRpc);
    assert!(
        status == 403 && message.contains("CrossOrigin"),
        "{message}"
    );
    for (line, status) in [
        // Safe methods are not rejected.
        ("GET /status/200", 200),
        ("GET /nowhere", 404),
        ("OPTIONS /status/200", 405),
        ("DELETE /status/200", 403),
        ("POST /nowhere", 403),
        // A link can call any operation of awsQuery.
        ("GET /?Action=Nothing&Version=1", 403),
    ] {
        let reply = site.send(request(line, &foreign, "")).await;
        assert_eq!(reply.status, status, "{line}: {}", reply.text());
    }
    // Without the guard no request is rejected because of its origin.
    let open = Site::start(builder_with_all_protocols()).await;
    let reply = open.send(request("DELETE /status/200", &foreign, "")).await;
    assert_eq!(reply.status, 405);
}
