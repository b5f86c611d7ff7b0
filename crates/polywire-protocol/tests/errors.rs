//! The errors that callers receive, over all protocols.
#![allow(
    clippy::unwrap_used,
    reason = "a test may panic, and panicking is how it fails"
)]

use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use polywire_codec::Dynamic;
use polywire_model::Loader;
use polywire_protocol::{
    Fault, FaultKind, Outcome, Protocol, ProtocolKind, ReadPlan, Retry, Route, Validator,
};
use polywire_schema::{Body, Limits, Map, SchemaSet, Value};

const MODEL: &str = r#"
$version: "2"
namespace test.errors
service Shop { version: "1", operations: [Put] }

@http(method: "POST", uri: "/put")
operation Put {
    input := {
        @length(max: 3) name: String
        @pattern("^[0-9]+$") pin: Pin
    }
    errors: [Full]
}

@sensitive
string Pin

@error("client")
@httpError(409)
structure Full { message: String, left: Integer }
"#;

fn set() -> SchemaSet<'static> {
    let model = Loader::new().add_text("errors.smithy", MODEL).assemble();
    let model = model.unwrap_or_else(|error| panic!("{error}")).model;
    model.schemas("test.errors#Shop").unwrap().unwrap()
}

/// The protocols in which faults have a status. The others always respond with 200.
fn protocols_with_statuses(set: &SchemaSet<'static>) -> Vec<Box<dyn Protocol>> {
    let invalid = Fault::new(FaultKind::Invalid, "invalid");
    let mut protocols: Vec<_> = ProtocolKind::ALL
        .into_iter()
        .map(|kind| kind.build(set.service(0)).unwrap())
        .collect();
    protocols.retain(|protocol| protocol.encode_other(&invalid).status() != http::StatusCode::OK);
    protocols
}

/// A service without `ValidationException` in its model also lists all failures, without values.
#[test]
fn validation_without_a_modelled_error() {
    let set = set();
    let service = set.service(0);
    let put = service.find_operation("Put").unwrap();
    let validator = Validator::new(service).unwrap();
    let input = Map::from_iter([("name", "too long"), ("pin", "secret")]);
    let fault = validator.check(put, &input).unwrap_err();
    // XML-RPC contains the list only if the caller asks for it.
    let fault = fault.with_detail(true);
    for kind in ProtocolKind::ALL {
        let protocol = kind.build(service).unwrap();
        let response = protocol.encode_fault(Some(put), &fault);
        let body = response.body();
        let text = String::from_utf8_lossy(body);
        for (what, times) in [
            // The summary and the list.
            ("Value with length 8 at '/name' failed to satisfy", 2),
            ("Value at '/pin' failed to satisfy constraint", 2),
            ("fieldList", 1),
            ("2 validation errors detected", 1),
        ] {
            let found = text.matches(what).count();
            assert!(found >= times, "{kind}: {what} {found} times in {text}");
        }
        for value in ["too long", "secret"] {
            assert!(!text.contains(value), "{kind}: {value} in {text}");
        }
        // It can be read.
        let (head, body) = response.into_parts();
        let outcome = protocol.outcome(put, &head, &Body::new(body), &Limits::DEFAULT);
        match outcome.unwrap() {
            Outcome::Fault(fault) => assert_eq!(
                (fault.kind(), fault.message().starts_with("2 validation")),
                (FaultKind::Invalid, true),
                "{kind}: {fault}"
            ),
            other => panic!("{kind}: {other:?}"),
        }
    }
}

/// The specification of XML-RPC allows only two members in a fault: "Response format". A client
/// with the model asks for the error structure. A server can be configured to send it always or
/// never.
#[test]
fn faults_of_xmlrpc_have_two_members_unless_asked() {
    use polywire_codec::xmlrpc::{FaultDetail, Style, read_response};
    use polywire_protocol::{ClientProtocol as _, ServerProtocol as _, XmlRpc};

    let set = set();
    let service = set.service(0);
    let put = service.find_operation("Put").unwrap();
    let validator = Validator::new(service).unwrap();
    let wrong = Map::from_iter([("name", "too long"), ("pin", "secret")]);
    for (detail, asks, unasked, asked) in [
        (FaultDetail::OnRequest, true, 2, 3),
        (FaultDetail::Always, true, 3, 3),
        (FaultDetail::Never, false, 2, 2),
    ] {
        let style = Style::DEFAULT.with_fault_detail(detail);
        let protocol = XmlRpc::new(service).unwrap().with_style(style);
        let input = Value::Map(Map::from_iter([("name", "abc")]));
        let call = protocol.encode_input(put, &Dynamic(&input));
        let (head, _) = call.unwrap().into_parts();
        assert_eq!(protocol.wants_detail(&head), asks, "{detail:?}");
        let plain = http::Request::post("/RPC2")
            .body(())
            .unwrap()
            .into_parts()
            .0;
        assert!(!protocol.wants_detail(&plain));
        for (wanted, members) in [(false, unasked), (true, asked)] {
            let full = Fault::modelled("test.errors#Full", Map::from_iter([("left", 0)]));
            let invalid = validator.check(put, &wrong).unwrap_err();
            for fault in [full, invalid] {
                let fault = fault.with_detail(wanted);
                let response = protocol.encode_fault(Some(put), &fault);
                let text = std::str::from_utf8(response.body()).unwrap();
                let read = read_response(text, &Limits::DEFAULT).unwrap().unwrap_err();
                let map = read.as_map().unwrap();
                assert_eq!(map.len(), members, "{detail:?} {wanted}: {read:?}");
                assert_eq!(map.contains_key("detail"), members == 3);
                // The client accepts all variants.
                let (head, body) = response.into_parts();
                let outcome = protocol.outcome(put, &head, &Body::new(body), &Limits::DEFAULT);
                match (outcome.unwrap(), fault.shape()) {
                    (Outcome::Error(shape), own) => assert_eq!((shape.id(), members), (own, 3)),
                    (Outcome::Fault(read), "") => assert_eq!(read.kind(), FaultKind::Invalid),
                    (Outcome::Fault(read), _) => {
                        assert_eq!((read.code(), members), (Some(409), 2));
                        assert_eq!(read.message(), "Full");
                    }
                    (other, _) => panic!("{other:?}"),
                }
            }
        }
    }
}

/// Odoo sends faults whose code is text. They are rejected unless a leniency accepts them.
#[test]
fn faults_of_xmlrpc_whose_code_is_text() {
    use polywire_codec::xmlrpc::{Leniency, XmlRpcProfile};
    use polywire_protocol::{ClientProtocol as _, XmlRpc};

    let set = set();
    let put = set.service(0).find_operation("Put").unwrap();
    let answer = "<methodResponse><fault><value><struct><member><name>faultCode</name><value>\
        AccessDenied</value></member><member><name>faultString</name><value>no</value></member>\
        </struct></value></fault></methodResponse>";
    let outcome = |leniency| {
        let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
        let protocol = XmlRpc::new(set.service(0)).unwrap().with_profile(profile);
        let (head, ()) = http::Response::new(()).into_parts();
        protocol.outcome(put, &head, &Body::from(answer), &Limits::DEFAULT)
    };
    let error = outcome(Leniency::STRICT).unwrap_err().to_string();
    assert!(error.contains("faultCode, an int"), "{error}");
    match outcome(Leniency::STRICT.with_string_fault_codes(true)).unwrap() {
        Outcome::Fault(fault) => {
            let told = (fault.code(), fault.message());
            assert_eq!(told, (Some(0), "AccessDenied: no"));
        }
        other => panic!("{other:?}"),
    }
}

/// Modelled errors can have `retry-after` too.
#[test]
fn retry_after() {
    let set = set();
    let put = set.service(0).find_operation("Put").unwrap();
    let full = Fault::modelled("test.errors#Full", Map::from_iter([("left", 0)]));
    let named = Fault::named(http::StatusCode::CONFLICT, "Busy", "later");
    let busy = Fault::new(FaultKind::Overloaded, "later");
    for kind in ProtocolKind::ALL {
        let protocol = kind.build(set.service(0)).unwrap();
        for fault in [&full, &named, &busy] {
            let response = protocol.encode_fault(Some(put), fault);
            assert!(!response.headers().contains_key(RETRY_AFTER), "{kind}");
        }
    }
    for fault in [full, named, busy] {
        let fault = fault.with_retry_after(Duration::from_secs(7));
        for kind in ProtocolKind::ALL {
            let protocol = kind.build(set.service(0)).unwrap();
            let response = protocol.encode_fault(Some(put), &fault);
            let said = response.headers().get(RETRY_AFTER);
            assert_eq!(said.unwrap(), "7", "{fault} over {kind}");
        }
    }
}

/// An unknown name is kept, and the status determines the kind: over all protocols with statuses.
#[test]
fn unknown_error_names() {
    let set = set();
    let put = set.service(0).find_operation("Put").unwrap();
    for protocol in protocols_with_statuses(&set) {
        let kind = protocol.kind();
        for (status, fault, retry) in [
            (400, FaultKind::Malformed, Retry::No),
            (404, FaultKind::Malformed, Retry::No),
            (409, FaultKind::Malformed, Retry::No),
            (413, FaultKind::TooLarge, Retry::No),
            (429, FaultKind::Overloaded, Retry::Throttled),
            (500, FaultKind::Internal, Retry::Yes),
            (503, FaultKind::Overloaded, Retry::Yes),
            (504, FaultKind::DeadlineExceeded, Retry::Yes),
        ] {
            let status = http::StatusCode::from_u16(status).unwrap();
            let strange = Fault::named(status, "Strange", "so it is");
            let (head, body) = protocol.encode_fault(Some(put), &strange).into_parts();
            let outcome = protocol.outcome(put, &head, &Body::new(body), &Limits::DEFAULT);
            match outcome.unwrap() {
                Outcome::Fault(read) => {
                    assert_eq!((read.name(), read.message()), ("Strange", "so it is"));
                    assert_eq!(
                        (read.kind(), read.retry()),
                        (fault, retry),
                        "{status} {kind}"
                    );
                    // The kind has another status, and several statuses have the same kind.
                    assert_eq!(read.status(), status, "{kind}");
                }
                other => panic!("{kind}: {other:?}"),
            }
        }
    }
}

/// S3 sends errors with the status 200, which is not an error status.
#[test]
fn errors_with_the_status_of_an_output() {
    let fault = Fault::new(FaultKind::Internal, "m").with_status(http::StatusCode::OK);
    assert_eq!(fault.status(), 500);
}

/// A server that forwards a fault of another server does not forward its status.
#[test]
fn forwarded_faults() {
    let set = set();
    let conflict = http::StatusCode::CONFLICT;
    let read = Fault::new(FaultKind::Malformed, "m").with_status(conflict);
    let stray = Fault::modelled("other#Shape", Map::new()).with_status(conflict);
    for (fault, status) in [(read, 400), (stray, 500)] {
        assert_eq!(fault.status(), conflict);
        for protocol in protocols_with_statuses(&set) {
            let kind = protocol.kind();
            let response = protocol.encode_fault(None, &fault);
            assert_eq!(response.status(), status, "{fault} over {kind}");
        }
    }
}

/// A message that is not valid in XML is replaced, and the rest of the response is sent.
#[test]
fn messages_that_are_invalid_in_xml() {
    let set = set();
    let put = set.service(0).find_operation("Put").unwrap();
    let fault = Fault::new(FaultKind::Invalid, "\u{1}");
    for kind in ProtocolKind::ALL {
        let protocol = kind.build(set.service(0)).unwrap();
        let response = protocol.encode_fault(Some(put), &fault);
        assert!(!response.body().is_empty(), "{kind}");
    }
}

/// AWS services send `<Message>` for members that are named `message` in their models.
#[test]
fn message_members_in_another_case() {
    let set = set();
    let service = set.service(0);
    let put = service.find_operation("Put").unwrap();
    let full = put.find_error("Full").unwrap();
    for (kind, before, after) in [
        (
            ProtocolKind::AwsQuery,
            "<ErrorResponse><Error><Code>Full</Code>",
            "</Error><RequestId>1</RequestId></ErrorResponse>",
        ),
        (
            ProtocolKind::Ec2Query,
            "<Response><Errors><Error><Code>Full</Code>",
            "</Error></Errors><RequestID>1</RequestID></Response>",
        ),
        (
            ProtocolKind::RestXml,
            "<ErrorResponse><Error><Code>Full</Code>",
            "</Error><RequestId>1</RequestId></ErrorResponse>",
        ),
        (
            ProtocolKind::RestXml,
            "<Error><Code>Full</Code>",
            "</Error>",
        ),
    ] {
        let protocol = kind.build(service).unwrap();
        for (members, message) in [
            ("<Message>no room</Message><left>0</left>", Some("no room")),
            ("<MESSAGE>no room</MESSAGE><left>0</left>", Some("no room")),
            ("<message>no room</message><left>0</left>", Some("no room")),
            // The exact name is preferred, in any position.
            (
                "<Message>x</Message><message>no room</message><left>0</left>",
                Some("no room"),
            ),
            (
                "<message>no room</message><left>0</left><Message>x</Message>",
                Some("no room"),
            ),
            // Other members are case-sensitive.
            ("<LEFT>0</LEFT><left>0</left>", None),
        ] {
            let body = Body::new(Bytes::from(format!("{before}{members}{after}")));
            let response = http::Response::builder().status(409).body(()).unwrap();
            let (head, ()) = response.into_parts();
            match protocol
                .outcome(put, &head, &body, &Limits::DEFAULT)
                .unwrap()
            {
                Outcome::Error(error) => assert_eq!(error, full),
                other => panic!("{kind}: {other:?}"),
            }
            let mut read = Map::new();
            protocol
                .decode_error(full, &head, &body, &Limits::DEFAULT, &mut read)
                .unwrap();
            let found = read.get("message").and_then(Value::as_str);
            assert_eq!(found, message, "{kind} {members}");
            assert_eq!(read.get("left"), Some(&Value::Integer(0)));
        }
    }
}

/// Errors do not quote invalid values of sensitive members, or keys of sensitive maps, over any
/// protocol. They quote other members.
#[test]
fn errors_do_not_quote_sensitive_data() {
    /// The service with another type for `number`.
    fn service(number: &str) -> SchemaSet<'static> {
        let text = r#"
            $version: "2"
            namespace test.errors
            service Bank { version: "1", operations: [Login, Look] }
            @http(method: "POST", uri: "/login")
            operation Login { output := { pin: Pin, accounts: Accounts } }
            @http(method: "POST", uri: "/look")
            operation Look { output := { shown: NUMBER } }
            @sensitive
            NUMBER_DEFINITION Pin
            @sensitive
            map Accounts { key: String, value: NUMBER }
        "#
        .replace("NUMBER_DEFINITION", &number.to_lowercase())
        .replace("NUMBER", number);
        let model = Loader::new().add_text("bank.smithy", text).assemble();
        let model = model.unwrap_or_else(|error| panic!("{error}")).model;
        model.schemas("test.errors#Bank").unwrap().unwrap()
    }

    let (sent, expected) = (service("String"), service("Integer"));
    for kind in ProtocolKind::ALL {
        let protocol = kind.build(sent.service(0)).unwrap();
        let reader = kind.build(expected.service(0)).unwrap();
        let error = |name: &str, output: Value| {
            let operation = sent.service(0).find_operation(name).unwrap();
            let output = Dynamic(&output);
            let (head, body) = protocol
                .encode_output(operation, &output)
                .unwrap()
                .into_parts();
            let operation = expected.service(0).find_operation(name).unwrap();
            let body = Body::new(body);
            let mut map = Map::new();
            reader
                .decode_output(operation, &head, &body, &Limits::DEFAULT, &mut map)
                .unwrap_err()
                .to_string()
        };
        let pin = error("Login", Map::from_iter([("pin", "hunter2")]).into());
        assert!(!pin.contains("hunter2"), "{kind:?}: {pin}");
        assert!(pin.to_lowercase().ends_with("pin"), "{kind:?}: {pin}");
        let accounts = Value::from(Map::from_iter([("savings", Value::from("hunter2"))]));
        let accounts = error("Login", Map::from_iter([("accounts", accounts)]).into());
        assert!(!accounts.contains("hunter2"), "{kind:?}: {accounts}");
        assert!(!accounts.contains("savings"), "{kind:?}: {accounts}");
        assert!(
            accounts.to_lowercase().ends_with("accounts"),
            "{kind:?}: {accounts}"
        );
        let shown = error("Look", Map::from_iter([("shown", "hello")]).into());
        assert!(shown.contains("found"), "{kind:?}: {shown}");
    }
}

/// Malformed messages with `hunter2` or `1234567`, for operations with sensitive members: by the
/// kind of the error, the messages for input, output and error.
fn broken(kind: ProtocolKind) -> Vec<(&'static str, [&'static [u8]; 3])> {
    const JSON: [(&str, &[u8]); 6] = [
        ("trailing", b"{\"user\":\"a\"} \"hunter2\""),
        ("another root", b"\"hunter2\""),
        ("another format", b"hunter2"),
        ("a wrong value", b"{\"pin\":\"hunter2\"}"),
        ("a wrong key", b"{\"secrets\":{\"hunter2\":true}}"),
        ("not well formed", b"{\"user\" hunter2}"),
    ];
    // 1234567 is an integer, 0x1a0012d687.
    const CBOR: [(&str, &[u8]); 5] = [
        ("trailing", b"\xa1\x64user\x61a\x1a\x00\x12\xd6\x87"),
        ("trailing text", b"\xa0\x67hunter2"),
        ("another root", b"\x67hunter2"),
        ("a wrong value", b"\xa1\x63pin\x67hunter2"),
        ("a wrong key", b"\xa1\x67secrets\xa1\x67hunter2\xf5"),
    ];
    let same = |(what, body): (&'static str, &'static [u8])| (what, [body; 3]);
    let all = |bodies: &[(&'static str, &'static str, &'static str, &'static str)]| {
        let each = bodies.iter().map(|(what, input, output, error)| {
            (
                *what,
                [input.as_bytes(), output.as_bytes(), error.as_bytes()],
            )
        });
        each.collect()
    };
    match kind {
        ProtocolKind::AwsJson1_0
        | ProtocolKind::AwsJson1_1
        | ProtocolKind::RestJson1
        | ProtocolKind::RpcV2Json => JSON.map(same).to_vec(),
        // Parameters, and complete responses.
        ProtocolKind::JsonRpc => {
            let around = |before: &str, body: &[u8], after: &str| {
                [before.as_bytes(), body, after.as_bytes()].concat()
            };
            let messages = JSON.iter().map(|(what, body)| {
                let output = around("{\"jsonrpc\":\"2.0\",\"result\":", body, ",\"id\":1}");
                let before =
                    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"\",\"data\":";
                let error = around(before, body, "},\"id\":1}");
                let leak = |bytes: Vec<u8>| &*bytes.leak();
                (*what, [*body, leak(output), leak(error)])
            });
            messages.collect()
        }
        ProtocolKind::RpcV2Cbor | ProtocolKind::Frame => CBOR.map(same).to_vec(),
        ProtocolKind::RestXml => all(&[
            (
                "trailing",
                "<In/>hunter2",
                "<Out/>hunter2",
                "<ErrorResponse><Error/></ErrorResponse>hunter2",
            ),
            (
                "another format",
                "{\"pin\":\"hunter2\"}",
                "hunter2",
                "hunter2",
            ),
            (
                "an attribute of the root",
                "<In attribute='hunter2'/>",
                "<Out attribute='hunter2'/>",
                "<ErrorResponse><Error attribute='hunter2'/></ErrorResponse>",
            ),
            (
                "another end tag",
                "<In></hunter2>",
                "<Out></hunter2>",
                "<ErrorResponse><Error></hunter2>",
            ),
            (
                "a wrong value",
                "<In><pin>hunter2</pin></In>",
                "<Out><pin>hunter2</pin></Out>",
                "<ErrorResponse><Error><pin>hunter2</pin></Error></ErrorResponse>",
            ),
        ]),
        ProtocolKind::AwsQuery => all(&[
            (
                "trailing",
                "Action=Login&pin=hunter2",
                "<LoginResponse><LoginResult/></LoginResponse>hunter2",
                "<ErrorResponse><Error/></ErrorResponse>hunter2",
            ),
            (
                "another format",
                "Action=Login&pin.hunter2=1",
                "hunter2",
                "hunter2",
            ),
            (
                "another end tag",
                "Action=Login&secrets.entry.1.hunter2=1",
                "<LoginResponse><LoginResult></hunter2></LoginResponse>",
                "<ErrorResponse><Error></hunter2>",
            ),
            (
                "an attribute of the root",
                "Action=Login&attribute=hunter2",
                "<LoginResponse><LoginResult attribute='hunter2'/></LoginResponse>",
                "<ErrorResponse><Error attribute='hunter2'/></ErrorResponse>",
            ),
        ]),
        ProtocolKind::Ec2Query => all(&[
            (
                "trailing",
                "Action=Login&Pin=hunter2",
                "<LoginResponse/>hunter2",
                "<Response><Errors><Error/></Errors></Response>hunter2",
            ),
            (
                "another format",
                "Action=Login&Pin.hunter2=1",
                "hunter2",
                "hunter2",
            ),
            (
                "an attribute of the root",
                "Action=Login&Attribute=hunter2",
                "<LoginResponse attribute='hunter2'/>",
                "<Response><Errors><Error attribute='hunter2'/></Errors></Response>",
            ),
        ]),
        ProtocolKind::XmlRpc => all(&[
            (
                "trailing",
                "<methodCall><methodName>Login</methodName></methodCall>hunter2",
                "<methodResponse><params><param><value><struct/></value></param></params>\
                 </methodResponse>hunter2",
                "<methodResponse>hunter2",
            ),
            (
                "another parameter",
                "<methodCall><methodName>Login</methodName><params>hunter2</params></methodCall>",
                "<methodResponse><params>hunter2</params></methodResponse>",
                "<methodResponse><fault>hunter2</fault></methodResponse>",
            ),
            (
                "another root",
                "<methodCall>hunter2</methodCall>",
                "hunter2",
                "<hunter2/>",
            ),
            (
                "a wrong value",
                "<methodCall><methodName>Login</methodName><params><param><value>hunter2</value>\
                 </param></params></methodCall>",
                "<methodResponse><params><param><value>hunter2</value></param></params>\
                 </methodResponse>",
                "<methodResponse><fault><value><struct><member><name>detail</name><value>hunter2\
                 </value></member></struct></value></fault></methodResponse>",
            ),
        ]),
        other => panic!("{other}: no broken messages"),
    }
}

/// Errors before, between and after the members do not quote sensitive messages either.
#[test]
fn errors_do_not_quote_sensitive_messages() {
    let text = r#"
        $version: "2"
        namespace test.errors
        service Bank { version: "1", operations: [Login] }
        @http(method: "POST", uri: "/login")
        operation Login { input := with [All] {}, output := with [All] {}, errors: [Denied] }
        @mixin
        structure All { user: String, pin: Pin, secrets: Secrets, @xmlAttribute attribute: Mark }
        @error("client")
        structure Denied with [All] {}
        @sensitive
        integer Pin
        @sensitive
        integer Mark
        @sensitive
        map Secrets { key: String, value: Integer }
    "#;
    let model = Loader::new().add_text("bank.smithy", text).assemble();
    let model = model.unwrap_or_else(|error| panic!("{error}")).model;
    let set = model.schemas("test.errors#Bank").unwrap().unwrap();
    let login = set.service(0).find_operation("Login").unwrap();
    let denied = login.find_error("Denied").unwrap();
    let limits = &Limits::DEFAULT;
    for kind in ProtocolKind::ALL {
        let protocol = kind.build(set.service(0)).unwrap();
        let empty = Value::from(Map::new());
        let request = protocol.encode_input(login, &Dynamic(&empty)).unwrap();
        let (request, _) = request.into_parts();
        let (response, ()) = http::Response::new(()).into_parts();
        let route = Route::to(login.index());
        for (what, [input, output, error]) in broken(kind) {
            let [input, output, error] = [input, output, error].map(Body::from);
            let plan = ReadPlan {
                head: &request,
                body: &input,
                route: &route,
                limits,
                memory: None,
            };
            let map = &mut Map::new();
            let fault = match protocol.decode_input(login, &plan, map) {
                Ok(()) => panic!("{kind}, {what}: an input"),
                Err(fault) => format!("{fault} {fault:?} {}", fault.message()),
            };
            let read = [
                protocol.decode_output(login, &response, &output, limits, map),
                protocol.decode_error(denied, &response, &error, limits, map),
            ];
            let mut errors = vec![fault];
            for (what_else, read) in ["an output", "an error"].into_iter().zip(read) {
                match read {
                    Ok(()) => panic!("{kind}, {what}: {what_else}"),
                    Err(error) => errors.push(error.to_string()),
                }
            }
            for body in [&output, &error] {
                if let Err(error) = protocol.outcome(login, &response, body, limits) {
                    errors.push(error.to_string());
                }
            }
            for error in errors {
                for secret in ["hunter2", "1234567"] {
                    assert!(!error.contains(secret), "{kind}, {what}: {error}");
                }
            }
        }
    }
}

/// Paths do not contain keys of sensitive maps, even if the path does not start at the input: in a
/// payload, and in a parameter.
#[test]
fn paths_do_not_contain_sensitive_keys() {
    let text = r#"
        $version: "2"
        namespace test.errors
        use polywire#xmlRpcMethod
        service Bank { version: "1", operations: [Put, Positional] }
        @http(method: "POST", uri: "/put")
        operation Put { input := {
            @httpHeader("x-mark") mark: Mark
            @httpPayload body: Credentials
        } }
        @http(method: "POST", uri: "/positional")
        @xmlRpcMethod(positional: true)
        operation Positional { input := { user: String, secrets: Secrets, names: Names } }
        structure Credentials { secrets: Secrets, tags: Tags, names: Names }
        @sensitive
        integer Mark
        list Names { member: Integer }
        map Tags { key: String, value: Integer }
        @sensitive
        map Secrets { key: String, value: Integer }
    "#;
    let model = Loader::new().add_text("bank.smithy", text).assemble();
    let model = model.unwrap_or_else(|error| panic!("{error}")).model;
    let set = model.schemas("test.errors#Bank").unwrap().unwrap();
    let service = set.service(0);
    let path = |kind: ProtocolKind, name: &str, mark: Option<&str>, body: &str| {
        let protocol = kind.build(service).unwrap();
        let operation = service.find_operation(name).unwrap();
        let mut request = http::Request::post("/put").header("content-type", "application/json");
        if kind == ProtocolKind::RestXml {
            request = http::Request::post("/put").header("content-type", "application/xml");
        }
        if let Some(mark) = mark {
            request = request.header("x-mark", mark);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let body = Body::new(Bytes::copy_from_slice(body.as_bytes()));
        let plan = ReadPlan {
            head: &head,
            body: &body,
            route: &Route::to(operation.index()),
            limits: &Limits::DEFAULT,
            memory: None,
        };
        let fault = protocol.decode_input(operation, &plan, &mut Map::new());
        let fault = fault.unwrap_err();
        let error = std::error::Error::source(&fault).unwrap();
        let error = error.downcast_ref::<polywire_schema::Error>().unwrap();
        assert_eq!(fault.message(), error.message());
        assert!(!fault.to_string().contains("AKIA123"), "{fault}");
        error.path().to_owned()
    };
    for (mark, body, expected) in [
        (None, r#"{"secrets":{"AKIA123":true}}"#, "secrets"),
        (None, r#"{"secrets":{"tags":true}}"#, "secrets"),
        // The model does not mark keys of other maps as sensitive.
        (None, r#"{"tags":{"AKIA123":true}}"#, "tags"),
        (None, r#"{"names":[1,true]}"#, "names[1]"),
        (None, r#"{"AKIA123":{"names":tru}}"#, ""),
        (None, r#"{"names":[]} 1"#, ""),
        (Some("AKIA123"), "{}", "header x-mark"),
    ] {
        assert_eq!(
            path(ProtocolKind::RestJson1, "Put", mark, body),
            expected,
            "{body}"
        );
    }
    for (body, expected) in [
        (
            "<Credentials><secrets><entry><key>AKIA123</key><value>x</value></entry></secrets></Credentials>",
            "secrets",
        ),
        (
            "<Credentials><names><member>1</member><member>x</member></names></Credentials>",
            "names.member[1]",
        ),
    ] {
        assert_eq!(
            path(ProtocolKind::RestXml, "Put", None, body),
            expected,
            "{body}"
        );
    }
    let member =
        "<struct><member><name>AKIA123</name><value><string>x</string></value></member></struct>";
    let call = format!(
        "<methodCall><methodName>Positional</methodName><params><param><value>a</value></param>\
         <param><value>{member}</value></param></params></methodCall>"
    );
    assert_eq!(path(ProtocolKind::XmlRpc, "Positional", None, &call), "");
}
