//! Which protocols can share a server: for each pair, either there is a conflict, or each protocol
//! claims its own requests.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use bytes::Bytes;
use http::Request;
use polywire_codec::Dynamic;
use polywire_model::Loader;
use polywire_protocol::{Protocol, ProtocolKind, XmlRpc, conflict, detect};
use polywire_schema::{Map, SchemaSet, Service, Value};

/// A model with members in all parts of a message, and with an empty input.
const MODEL: &str = r#"
$version: "2"
namespace example
service Things { version: "1", operations: [Nothing, Get, Put, Upload, Search] }

@http(method: "GET", uri: "/nothing") @readonly
operation Nothing {}

@http(method: "GET", uri: "/things/{id}") @readonly
operation Get { input := { @required @httpLabel id: String, @httpHeader("x-note") note: String } }

@http(method: "PUT", uri: "/things/{id}") @idempotent
operation Put { input := { @required @httpLabel id: String, note: String } }

@http(method: "POST", uri: "/upload")
operation Upload { input := { @httpPayload note: Blob } }

@http(method: "GET", uri: "/search") @readonly
operation Search { input := { @httpQuery("id") id: String } }
"#;

fn set() -> SchemaSet<'static> {
    let assembled = Loader::new().add_text("things.smithy", MODEL).assemble();
    assembled
        .unwrap()
        .model
        .schemas("example#Things")
        .unwrap()
        .unwrap()
}

/// The requests of a client of the protocol, one for each operation.
fn requests(protocol: &dyn Protocol, service: Service<'_>) -> Vec<Request<Bytes>> {
    let operations = service.operations();
    let request = operations.map(|operation| {
        let value = |name: &str| match name {
            "note" if operation.name() == "Upload" => Value::from(b"note".to_vec()),
            other => Value::from(other),
        };
        let members = operation.input().members();
        let input = members.map(|member| (member.name(), value(member.name())));
        let input = Value::Map(Map::from_iter(input));
        protocol.encode_input(operation, &Dynamic(&input)).unwrap()
    });
    request.collect()
}

#[test]
fn every_pair_is_distinguished_or_rejected() {
    let set = set();
    let service = set.service(0);
    let build = |kind: ProtocolKind| kind.build(service).unwrap();
    let mut refused = Vec::new();
    for one in ProtocolKind::http() {
        for other in ProtocolKind::http() {
            if let Some(conflict) = conflict(&*build(one), &*build(other)) {
                let message = conflict.to_string();
                for name in [
                    one.name(),
                    other.name(),
                    "under a different path, host or port",
                ] {
                    assert!(message.contains(name), "{message}");
                }
                if one < other {
                    refused.push((one, other));
                }
                continue;
            }
            let both = [build(one), build(other)];
            for (position, protocol) in both.iter().enumerate() {
                for request in requests(&**protocol, service) {
                    let (head, _) = request.into_parts();
                    let found = detect(&both, &head);
                    assert_eq!(found, Some(position), "{one} and {other}: {head:?}");
                }
            }
        }
    }
    assert_eq!(
        refused,
        [
            (ProtocolKind::AwsQuery, ProtocolKind::Ec2Query),
            (ProtocolKind::RestJson1, ProtocolKind::RestXml),
        ]
    );
}

/// All protocols without conflicts on one server.
#[test]
fn all_compatible_protocols_on_one_server() {
    let set = set();
    let service = set.service(0);
    let without = [ProtocolKind::Ec2Query, ProtocolKind::RestXml];
    let kinds = ProtocolKind::http();
    let kinds = kinds.filter(|kind| !without.contains(kind));
    let all: Vec<_> = kinds.map(|kind| kind.build(service).unwrap()).collect();
    for (position, protocol) in all.iter().enumerate() {
        for request in requests(&**protocol, service) {
            let (head, _) = request.into_parts();
            assert_eq!(detect(&all, &head), Some(position), "{head:?}");
        }
    }
}

/// XML-RPC answers calls to another path, but claims no request of another protocol, in any order
/// of the mounts.
#[test]
fn misdirected_calls() {
    let set = set();
    let service = set.service(0);
    let request = Request::post("/upload").header("content-type", "text/xml");
    let (head, ()) = request.body(()).unwrap().into_parts();
    for (other, found) in [
        (ProtocolKind::RestXml, ProtocolKind::RestXml),
        (ProtocolKind::RestJson1, ProtocolKind::XmlRpc),
        (ProtocolKind::RpcV2Cbor, ProtocolKind::XmlRpc),
    ] {
        let mut both = [ProtocolKind::XmlRpc, other].map(|kind| kind.build(service).unwrap());
        for _ in 0..2 {
            let position = detect(&both, &head).unwrap();
            assert_eq!(both[position].kind(), found, "{other} at {position}");
            both.reverse();
        }
    }
}

/// Requests that any web page can make a browser send are rejected at the path of XML-RPC, even if
/// another protocol has a fallback claim. A form at the path of awsQuery belongs to awsQuery.
#[test]
fn requests_that_any_web_page_can_send() {
    let set = set();
    let service = set.service(0);
    let call = |headers: &[(&str, &str)], path: &str| {
        let mut request = Request::post(path);
        for (name, value) in headers {
            let value = http::HeaderValue::from_bytes(value.as_bytes()).unwrap();
            request = request.header(*name, value);
        }
        request.body(()).unwrap().into_parts().0
    };
    let form = "application/x-www-form-urlencoded";
    let of_pages: [&[(&str, &str)]; 6] = [
        &[("content-type", "text/plain")],
        &[("content-type", "text/plain; x=\u{e9}")],
        &[("content-type", "Text/Plain;charset=UTF-8")],
        &[("content-type", form)],
        &[("content-type", "multipart/form-data; boundary=x")],
        &[("origin", "https://example.com")],
    ];
    for headers in of_pages {
        let head = call(headers, "/RPC2");
        for other in [
            ProtocolKind::RestJson1,
            ProtocolKind::AwsQuery,
            ProtocolKind::RpcV2Cbor,
        ] {
            let both = [other, ProtocolKind::XmlRpc].map(|kind| kind.build(service).unwrap());
            let protocol = &both[detect(&both, &head).unwrap()];
            assert_eq!(protocol.kind(), ProtocolKind::XmlRpc, "{headers:?}");
            let fault = protocol.route(&head).unwrap_err();
            let text = fault.message();
            assert!(
                text.contains("text/xml or application/xml, or none"),
                "{text}"
            );
            assert_eq!(protocol.encode_other(&fault).status(), 415, "{headers:?}");
        }
    }
    let of_clients: [&[(&str, &str)]; 6] = [
        &[],
        &[("content-type", "text/xml")],
        &[("content-type", "application/xml; charset=utf-8")],
        &[("content-type", "text/xml"), ("origin", "http://localhost")],
        &[("content-type", "")],
        &[("content-type", "application/octet-stream")],
    ];
    let protocol = ProtocolKind::XmlRpc.build(service).unwrap();
    for headers in of_clients {
        let route = protocol.route(&call(headers, "/RPC2"));
        assert!(route.is_ok(), "{headers:?}");
    }
    let rpc = XmlRpc::new(service).unwrap().at_path("/");
    let rpc: Box<dyn Protocol> = Box::new(rpc);
    let both = [rpc, ProtocolKind::AwsQuery.build(service).unwrap()];
    let found = detect(&both, &call(&[("content-type", form)], "/"));
    assert_eq!(found, Some(1));
}

/// Two protocols of the same kind conflict, unless they have different paths.
#[test]
fn two_protocols_of_the_same_kind() {
    let set = set();
    let service = set.service(0);
    for kind in ProtocolKind::http() {
        let build = || kind.build(service).unwrap();
        let conflict = conflict(&*build(), &*build()).unwrap();
        assert_eq!(conflict.kinds, (kind, kind));
    }
    let one = XmlRpc::new(service).unwrap();
    let other = XmlRpc::new(service).unwrap().at_path("/xmlrpc.php");
    assert_eq!(conflict(&one, &other), None);
}
