//! rpcv2Cbor and XML-RPC as bytes, and the same calls on all three wires.

use polywire_codec::{cbor, xmlrpc};
use polywire_protocol::ProtocolKind::{RestJson1, RpcV2Cbor, XmlRpc};
use polywire_schema::{Limits, Map, Value};

use crate::support::{Site, WIRES, output, post, request};

#[tokio::test]
async fn all_protocols_return_the_same_output() {
    let site = Site::plain().await;
    for (operation, input) in [
        (
            "Names",
            r#"{"text":"ö\r\n<&>","byte":-128,"long":9007199254740993,"float":0.1,"double":-2.5e-7,"bigInteger":123456789012345678901234567890,"bigDecimal":0.125,"blob":"AP8=","plain":"2026-11-01T12:00:00.5Z","dateTime":"2026-11-01T12:00:00Z","epoch":"2026-11-01T12:00:00Z","httpDate":"2026-11-01T12:00:00Z","color":"red","size":2,"choice":{"number":3},"sparse":[1,null,3],"people":{"a":{"name":"Ada","friends":[{"name":"Grace"}]}},"document":{"x":[1,"two",true]}}"#,
        ),
        (
            "Names",
            r#"{"float":"NaN","double":"-Infinity","sparse":[],"people":{}}"#,
        ),
        ("Names", "{}"),
        (
            "Headers",
            r#"{"text":"t","texts":["a,b","c"],"when":"2026-11-01T12:00:00Z","json":"{}","meta":{"a":"b"},"note":"n"}"#,
        ),
        ("BlobPayload", r#"{"name":"n","picture":"AP8="}"#),
        ("UnionPayload", r#"{"choice":{"person":{"name":"Ada"}}}"#),
        ("UnionPayload", r#"{"choice":{"nothing":{}}}"#),
        ("DocumentPayload", r#"{"document":{"a":[1,2.5,"x",{}]}}"#),
        (
            "Labels",
            r#"{"text":"a/b","number":5,"flag":false,"real":0.5,"when":"2026-11-01T12:00:00Z","epoch":"2026-11-01T12:00:00Z","httpDate":"2026-11-01T12:00:00Z","color":"red"}"#,
        ),
        ("Greedy", r#"{"bucket":"b","path":"x/y","revision":1}"#),
        ("Hosted", r#"{"tenant":"acme","note":"n"}"#),
        ("StatusCode", r#"{"status":202}"#),
    ] {
        for kind in WIRES {
            let answer = site.client(kind).call(operation, input).await;
            let mut expected = output(operation, input);
            if kind == XmlRpc {
                // XML-RPC timestamps have whole seconds.
                expected = expected.replace("00.5Z", "00Z");
            }
            assert_eq!(answer.unwrap(), expected, "{operation} over {kind}");
        }
    }
    for kind in WIRES {
        let client = site.client(kind);
        assert_eq!(client.call("Nothing", "{}").await.unwrap(), "{}", "{kind}");
        let sum = client
            .call("Add", r#"{"left":-3,"right":2147483647,"note":"n"}"#)
            .await;
        assert_eq!(sum.unwrap(), r#"{"sum":2147483644,"note":"n"}"#, "{kind}");
        let thing = client
            .call("Create", r#"{"name":"x","tags":["a",""]}"#)
            .await;
        assert_eq!(
            thing.unwrap(),
            r#"{"id":7,"name":"x","tags":["a",""]}"#,
            "{kind}"
        );
    }
}

#[tokio::test]
async fn cbor_bytes() {
    let site = Site::plain().await;
    // {_ "left": 1, "right": 2} with a map of indefinite length.
    let body = b"\xbf\x64left\x01\x65right\x02\xff";
    let reply = site.send(post(RpcV2Cbor, "", "Add", body)).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("smithy-protocol"), Some("rpc-v2-cbor"));
    assert_eq!(reply.header("content-type"), Some("application/cbor"));
    let sum = cbor::read_value(&reply.body).unwrap();
    assert_eq!(sum, Value::from(Map::from_iter([("sum", 3)])));

    // The path may have a prefix before `/service`.
    let reply = site
        .send(request(
            "POST /some/stage/service/Wire/operation/Nothing",
            &[
                ("smithy-protocol", "rpc-v2-cbor"),
                ("Accept", "application/cbor"),
            ],
            "",
        ))
        .await;
    assert_eq!((reply.status, reply.body.len()), (200, 0));
    assert_eq!(reply.header("smithy-protocol"), Some("rpc-v2-cbor"));
}

#[tokio::test]
async fn cbor_by_its_content_type_alone() {
    let site = Site::plain().await;
    let reply = site
        .send(request(
            "POST /service/Wire/operation/Add",
            &[("Content-Type", "application/cbor; charset=binary")],
            b"\xa2\x64left\x01\x65right\x02",
        ))
        .await;
    assert_eq!(reply.status, 200);
    assert_eq!(
        cbor::read_value(&reply.body).unwrap()["sum"].as_i64(),
        Some(3)
    );
}

#[tokio::test]
async fn xmlrpc_struct() {
    let site = Site::plain().await;
    let body = "<?xml version='1.0'?>\n<methodCall>\n <methodName>Create</methodName>\n \
                <params><param><value><struct><member><name>name</name><value>plain &amp; \
                simple</value></member><member><name>unknown</name><value><nil/></value></member>\
                </struct></value></param></params>\n</methodCall>\n";
    let reply = site.send(post(XmlRpc, "", "", body)).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("text/xml"));
    assert_eq!(
        reply.text(),
        "<?xml version=\"1.0\"?><methodResponse><params><param><value><struct><member><name>id\
         </name><value><int>7</int></value></member><member><name>name</name><value><string>plain \
         &amp; simple</string></value></member></struct></value></param></params></methodResponse>"
    );
}

#[tokio::test]
async fn xmlrpc_without_parameters() {
    let site = Site::plain().await;
    for parameters in ["", "<params/>", "<params></params>"] {
        let body = format!("<methodCall><methodName>Nothing</methodName>{parameters}</methodCall>");
        let reply = site.send(post(XmlRpc, "", "", body)).await;
        let value = xmlrpc::read_response(reply.text(), &Limits::DEFAULT).unwrap();
        assert_eq!(value, Ok(Value::from(Map::new())));
    }
}

#[tokio::test]
async fn xmlrpc_positional() {
    let site = Site::plain().await;
    let call = |values: &[Value]| {
        let body = xmlrpc::write_call("math.add", values).unwrap();
        post(XmlRpc, "", "", body)
    };
    let sum = |reply: crate::support::Reply| {
        xmlrpc::read_response(reply.text(), &Limits::DEFAULT).unwrap()
    };
    let reply = site.send(call(&[Value::from(1), Value::from(2)])).await;
    assert_eq!(sum(reply).unwrap()["sum"].as_i64(), Some(3));
    let reply = site.send(call(&[1.into(), 2.into(), "n".into()])).await;
    assert_eq!(sum(reply).unwrap()["note"].as_str(), Some("n"));
    let reply = site.send(call(&[1.into(), 2.into(), Value::Null])).await;
    assert_eq!(sum(reply).unwrap()["sum"].as_i64(), Some(3));

    // Too many parameters, too few, and a struct instead of positional parameters.
    for bad in [
        vec![1.into(), 2.into(), "n".into(), 4.into()],
        vec![1.into()],
        vec![Value::from(Map::from_iter([("left", 1), ("right", 2)]))],
    ] {
        let fault = sum(site.send(call(&bad)).await).unwrap_err();
        assert_eq!(fault["faultCode"].as_i64(), Some(-32_602), "{bad:?}");
    }
    // An operation without positional parameters has one parameter.
    let body = xmlrpc::write_call("Create", &["a".into(), "b".into()]).unwrap();
    let fault = sum(site.send(post(XmlRpc, "", "", body)).await).unwrap_err();
    assert_eq!(fault["faultCode"].as_i64(), Some(-32_602));
}

#[tokio::test]
async fn requests_on_a_shared_path_are_answered_in_their_protocol() {
    let site = Site::plain().await;
    // Three protocols, one path. Each request is answered in its own protocol.
    let json = site.send(request("POST /RPC", &[], "{}")).await;
    assert_eq!(json.error(RestJson1).0, 404);
    let cbor = site
        .send(request(
            "POST /RPC",
            &[("smithy-protocol", "rpc-v2-cbor")],
            "",
        ))
        .await;
    assert_eq!(cbor.error(RpcV2Cbor).0, 404);
    let xml = site
        .send(request(
            "POST /RPC",
            &[("Content-Type", "text/xml")],
            "<x/>",
        ))
        .await;
    let (status, code, message) = xml.error(XmlRpc);
    assert_eq!((status, code.as_str()), (200, "-32601"));
    assert!(message.contains("/RPC2"), "{message}");
}
