//! Calls with serde types.

use polywire_codec::xmlrpc::{Leniency, Style};
use polywire_rpc::CallErrorKind;
use polywire_rpc::xmlrpc::Client;
use polywire_schema::Value;
use serde::{Deserialize, Serialize};

use crate::support::{Action, ScriptedServer, fault, http, ok, result};

#[derive(Debug, Deserialize, PartialEq)]
struct Process {
    name: String,
    pid: i32,
    group: Option<String>,
}

#[tokio::test]
async fn tuples_encode_parameters_and_structs_decode_results() {
    let server = ScriptedServer::start(|_, _| {
        ok(
            "<struct><member><name>pid</name><value><int>7</int></value></member>\
            <member><name>name</name><value>web</value></member>\
            <member><name>new</name><value><nil/></value></member></struct>",
        )
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let process: Process = client.call("info", ("web", 3, true)).await.unwrap();
    let expected = Process {
        name: "web".to_owned(),
        pid: 7,
        group: None,
    };
    assert_eq!(process, expected);
    let value: Value = client.call("info", ()).await.unwrap();
    assert_eq!(value["pid"].as_i64(), Some(7));
    let values = vec![Value::from(1), Value::from("x")];
    let _: Process = client.call("info", &values).await.unwrap();
    let seen = server.seen();
    let params = |nth: usize| seen[nth].body().split_once("</methodName>").unwrap().1;
    assert_eq!(
        params(0),
        "<params><param><value><string>web</string></value></param>\
         <param><value><int>3</int></value></param>\
         <param><value><boolean>1</boolean></value></param></params></methodCall>"
    );
    assert_eq!(params(1), "<params></params></methodCall>");
    assert!(params(2).contains("<param><value><string>x</string></value></param>"));
}

/// The futures of calls and batches are `Send`, so they can be spawned on a multi-threaded
/// runtime.
#[test]
fn call_futures_are_send() {
    fn send<T: Send>(value: T) -> T {
        value
    }

    let client = Client::new("http://localhost").unwrap();
    drop(send(client.call::<Process>("m", ("web", 3))));
    drop(send(client.call_values("m", &[])));
    drop(send(client.batch().send()));
    drop(send(client));
}

#[tokio::test]
async fn type_errors_have_a_path() {
    let server = ScriptedServer::start(|_, _| {
        ok(
            "<struct><member><name>name</name><value>web</value></member>\
            <member><name>pid</name><value>seven</value></member></struct>",
        )
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let error = client.call::<Process>("info", ()).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Decode);
    let text = error.to_string();
    assert!(text.starts_with(&server.url()), "{text}");
    assert!(text.contains("pid"), "{text}");
    assert!(!text.contains("begins with"), "{text}");
}

#[tokio::test]
async fn parameters_that_cannot_be_encoded_are_not_sent() {
    #[derive(Serialize)]
    struct Wide {
        big: u64,
    }

    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let client = Client::new(&server.url()).unwrap();
    let error = client.call::<i32>("m", (Wide { big: u64::MAX },)).await;
    assert_eq!(error.unwrap_err().kind(), CallErrorKind::Encode);
    let error = client.call::<i32>("m", ("\u{1}",)).await.unwrap_err();
    assert!(error.is_unstarted());
    // With `ForbiddenText::Replace` the string can be sent.
    let style = Style::DEFAULT.with_forbidden(polywire_codec::xmlrpc::ForbiddenText::Replace);
    let client = Client::builder(&server.url()).unwrap().style(style);
    let client = client.build().unwrap();
    client.call::<i32>("m", ("\u{1}",)).await.unwrap();
    assert!(server.seen()[0].body().contains('\u{fffd}'));
}

#[tokio::test]
async fn control_characters_are_accepted_only_with_a_leniency() {
    let server = ScriptedServer::start(|_, _| {
        Action::Answer(http("200 OK", "", result("<string>\x1b[31mred</string>")))
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    client.call::<String>("m", ()).await.unwrap_err();
    let leniency = Leniency::STRICT.with_control_characters(true);
    let client = Client::builder(&server.url()).unwrap().leniency(leniency);
    let text: String = client.build().unwrap().call("m", ()).await.unwrap();
    assert_eq!(text, "\x1b[31mred");
}

/// With a leniency, the client accepts fault codes that are strings, in single calls and in
/// batches. Odoo sends such codes.
#[tokio::test]
async fn fault_codes_that_are_strings_are_read_with_a_leniency() {
    let server = ScriptedServer::start(|_, seen| {
        let odoo = fault(0, "Traceback").replace("<int>0</int>", "<string>AccessDenied</string>");
        let multicall = seen.body().contains("system.multicall");
        Action::Answer(http(
            "200 OK",
            "",
            match multicall {
                false => odoo,
                true => {
                    let value = odoo.replace("<methodResponse><fault>", "");
                    let value = value.replace("</fault></methodResponse>", "");
                    result(&format!("<array><data>{value}{value}</data></array>"))
                }
            },
        ))
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err();
    assert!(error.xmlrpc_fault().is_none(), "{error}");
    assert!(error.to_string().contains("faultCode, an int"), "{error}");
    let leniency = Leniency::STRICT.with_string_fault_codes(true);
    let client = Client::builder(&server.url()).unwrap().leniency(leniency);
    let client = client.build().unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err();
    assert_eq!(error.to_string(), "fault 0: AccessDenied: Traceback");
    let value = error.xmlrpc_fault().unwrap().value();
    assert_eq!(value["faultCode"].as_str(), Some("AccessDenied"));
    let mut batch = client.batch();
    let places = [(); 2].map(|()| batch.add::<i32>("m", ()).unwrap());
    let replies = batch.send().await.unwrap();
    for place in places {
        let error = replies.get(place).unwrap_err();
        assert_eq!(error.to_string(), "fault 0: AccessDenied: Traceback");
    }
}

#[cfg(feature = "encodings")]
#[tokio::test]
async fn other_encodings_are_read_with_a_leniency() {
    let server = ScriptedServer::start(|_, seen| {
        let (declaration, head) = match seen.body().contains("declared") {
            true => ("<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>", ""),
            false => ("", "content-type: text/xml; charset=\"windows-1252\"\r\n"),
        };
        let mut body = declaration.as_bytes().to_vec();
        body.extend_from_slice(b"<methodResponse><params><param><value>Z\xfcrich</value>");
        body.extend_from_slice(b"</param></params></methodResponse>");
        Action::Answer(http("200 OK", head, body))
    })
    .await;
    let strict = Client::new(&server.url()).unwrap();
    let leniency = Leniency::STRICT.with_foreign_encodings(true);
    let lenient = Client::builder(&server.url()).unwrap().leniency(leniency);
    let lenient = lenient.build().unwrap();
    for method in ["declared", "told"] {
        strict.call::<String>(method, ()).await.unwrap_err();
        let text: String = lenient.call(method, ()).await.unwrap();
        assert_eq!(text, "Zürich", "{method}");
    }
}
