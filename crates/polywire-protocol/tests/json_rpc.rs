//! JSON-RPC 2.0: the examples of the specification, what makes a message no call, and both sides.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use bytes::Bytes;
use http::{Request, StatusCode, request};
use polywire_codec::Dynamic;
use polywire_model::Loader;
use polywire_protocol::{
    BatchOutcome, CallBatch, Claim, ClientProtocol, Fault, FaultKind, HeadSummary, JsonRpc,
    Outcome, Plan, ReadPlan, ResponseId, ServerProtocol,
};
use polywire_schema::{Body, Error, Limits, Map, Operation, SchemaSet, Value};
use serde_json::Value as Json;

/// The methods of the examples, and one with all that a parameter can be.
const MODEL: &str = r#"
$version: "2"
namespace example
use polywire#jsonRpc

@jsonRpc
service Math {
    version: "1"
    operations: [subtract, sum, update, notify_hello, notify_sum, get_data, Mixed]
}
operation subtract {
    input := { @required minuend: Integer, @required subtrahend: Integer }
    output := { difference: Integer }
    errors: [TooSmall]
}
operation sum { input := { a: Integer, b: Integer, c: Integer }, output := { sum: Integer } }
operation update { input := { a: Integer, b: Integer, c: Integer, d: Integer, e: Integer } }
operation notify_hello { input := { number: Integer } }
operation notify_sum { input := { a: Integer, b: Integer, c: Integer } }
operation get_data { output := { data: Document } }
operation Mixed { input := with [Members] {}, output := with [Members] {} }

@mixin
structure Members {
    text: String
    numbers: Numbers
    inner: Inner
    choice: Choice
    any: Document
    data: Blob
    when: Timestamp
    count: Integer = 5
    pin: Pin
}
list Numbers { member: Integer }
structure Inner { name: String, inner: Inner }
union Choice { number: Integer, text: String }
@sensitive
string Pin

@error("client")
structure TooSmall { message: String, least: Integer }
"#;

fn set() -> SchemaSet<'static> {
    let assembled = Loader::new().add_text("math.smithy", MODEL).assemble();
    let model = assembled.unwrap_or_else(|error| panic!("{error}")).model;
    model.schemas("example#Math").unwrap().unwrap()
}

struct Site {
    set: SchemaSet<'static>,
    protocol: JsonRpc,
    limits: Limits,
}

/// A response, with its status and body.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    body: Bytes,
}

impl Answer {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code and id of each response.
    fn errors(&self) -> Vec<(i64, String)> {
        let json = self.json();
        let responses = match &json {
            Json::Array(items) => items.iter().collect(),
            one => vec![one],
        };
        let error = |one: &Json| {
            let code = one["error"]["code"].as_i64().unwrap_or_default();
            (code, one["id"].to_string())
        };
        responses.into_iter().map(error).collect()
    }
}

fn head() -> request::Parts {
    let request = Request::post("/jsonrpc").header("content-type", "application/json");
    request.body(()).unwrap().into_parts().0
}

impl Site {
    fn new() -> Self {
        let set = set();
        let protocol = JsonRpc::new(set.service(0));
        Self {
            set,
            protocol,
            limits: Limits::DEFAULT,
        }
    }

    fn operation(&self, name: &str) -> Operation<'_> {
        self.set.service(0).find_operation(name).unwrap()
    }

    fn split(&self, message: &[u8]) -> Result<CallBatch, Fault> {
        let message = Bytes::copy_from_slice(message);
        self.protocol.split(&head(), message, &self.limits)
    }

    /// What a server does with a message.
    fn answer(&self, message: &[u8]) -> Answer {
        assert!(matches!(
            self.protocol.route(&head()),
            Ok(Plan::BufferThenSplit)
        ));
        let response = match self.split(message) {
            Err(fault) => self.protocol.encode_other(&fault),
            Ok(envelope) => {
                let calls = envelope.calls.iter();
                let responses = calls.map(|call| {
                    let response = match &call.target {
                        Err(fault) => self.protocol.encode_other(fault),
                        Ok(route) => {
                            let operation = self.set.operation(route.operation);
                            let plan = ReadPlan {
                                head: &head(),
                                body: &Body::new(call.input.clone()),
                                route,
                                limits: &self.limits,
                                memory: None,
                            };
                            let mut input = Map::new();
                            let read = self.protocol.decode_input(operation, &plan, &mut input);
                            let output = read.and_then(|()| handle(operation.name(), input));
                            match output {
                                Ok(output) => {
                                    let output = Value::Map(output);
                                    let output = Dynamic(&output);
                                    self.protocol.encode_output(operation, &output).unwrap()
                                }
                                Err(fault) => self.protocol.encode_fault(Some(operation), &fault),
                            }
                        }
                    };
                    call.id.is_some().then_some(response)
                });
                let responses = responses.collect();
                self.protocol.join(&envelope, responses)
            }
        };
        let (head, body) = response.into_parts();
        Answer {
            status: head.status,
            body,
        }
    }

    /// What a client reads: an output, or the name and code of an error and its members or message.
    fn read(&self, name: &str, answer: &str) -> Result<Value, Error> {
        let operation = self.operation(name);
        let (head, ()) = http::Response::new(()).into_parts();
        let body = Body::from(answer.to_owned());
        let mut map = Map::new();
        match self
            .protocol
            .outcome(operation, &head, &body, &self.limits)?
        {
            Outcome::Output => {
                let limits = &self.limits;
                self.protocol
                    .decode_output(operation, &head, &body, limits, &mut map)?;
            }
            Outcome::Error(shape) => {
                let limits = &self.limits;
                self.protocol
                    .decode_error(shape, &head, &body, limits, &mut map)?;
                map.insert("__name", shape.name());
            }
            Outcome::Fault(fault) => {
                map.insert("__kind", format!("{:?}", fault.kind()));
                map.insert("code", fault.code().unwrap());
                map.insert("message", fault.message());
            }
            other => panic!("{other:?}"),
        }
        Ok(Value::Map(map))
    }
}

fn handle(name: &str, input: Map) -> Result<Map, Fault> {
    let sum = |names: &[&str]| -> i64 {
        let number = |name: &&str| input.get(name).and_then(Value::as_i64).unwrap_or_default();
        names.iter().map(number).sum()
    };
    Ok(match name {
        "subtract" => {
            let difference = sum(&["minuend"]) - sum(&["subtrahend"]);
            if difference < -1000 {
                let details = [
                    ("message", Value::from("too small")),
                    ("least", (-1000).into()),
                ];
                return Err(Fault::modelled("example#TooSmall", Map::from_iter(details)));
            }
            Map::from_iter([("difference", difference)])
        }
        "sum" => Map::from_iter([("sum", sum(&["a", "b", "c"]))]),
        "get_data" => Map::from_iter([("data", Value::from(vec![Value::from("hello"), 5.into()]))]),
        "Mixed" => input,
        _ => Map::new(),
    })
}

/// The examples of section 7, as they are in the specification. A response is empty if there is
/// none.
const EXAMPLES: &[(&str, &str)] = &[
    // With positional parameters.
    (
        r#"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
        r#"{"jsonrpc": "2.0", "result": 19, "id": 1}"#,
    ),
    (
        r#"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#,
        r#"{"jsonrpc": "2.0", "result": -19, "id": 2}"#,
    ),
    // With named parameters.
    (
        r#"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
        r#"{"jsonrpc": "2.0", "result": 19, "id": 3}"#,
    ),
    (
        r#"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}"#,
        r#"{"jsonrpc": "2.0", "result": 19, "id": 4}"#,
    ),
    // A notification.
    (
        r#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#,
        "",
    ),
    (r#"{"jsonrpc": "2.0", "method": "foobar"}"#, ""),
    // A method that does not exist.
    (
        r#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#,
        r#"{"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": "1"}"#,
    ),
    // Invalid JSON.
    (
        r#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#,
        r#"{"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": null}"#,
    ),
    // An invalid request object.
    (
        r#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#,
        r#"{"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}"#,
    ),
    // A batch of invalid JSON.
    (
        r#"[
  {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
  {"jsonrpc": "2.0", "method"
]"#,
        r#"{"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": null}"#,
    ),
    // An empty array.
    (
        "[]",
        r#"{"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}"#,
    ),
    // An invalid batch, but not an empty one.
    (
        "[1]",
        r#"[
  {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}
]"#,
    ),
    // An invalid batch.
    (
        "[1,2,3]",
        r#"[
  {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null},
  {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null},
  {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}
]"#,
    ),
    // A batch.
    (
        r#"[
        {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
        {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
        {"foo": "boo"},
        {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
        {"jsonrpc": "2.0", "method": "get_data", "id": "9"}
    ]"#,
        r#"[
        {"jsonrpc": "2.0", "result": 7, "id": "1"},
        {"jsonrpc": "2.0", "result": 19, "id": "2"},
        {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null},
        {"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": "5"},
        {"jsonrpc": "2.0", "result": ["hello", 5], "id": "9"}
    ]"#,
    ),
    // A batch of notifications.
    (
        r#"[
        {"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}
    ]"#,
        "",
    ),
];

/// The response as the specification has it: without the optional `data`, and with the value of the
/// only member of an output in place of the output, which is always a structure here.
fn as_in_the_specification(response: Json) -> Json {
    match response {
        Json::Array(items) => items.into_iter().map(as_in_the_specification).collect(),
        Json::Object(mut members) => {
            if let Some(error) = members.get_mut("error").and_then(Json::as_object_mut) {
                assert!(error.remove("data").is_some(), "{error:?}");
            }
            if let Some(result) = members.get_mut("result") {
                let output = result.as_object().unwrap();
                assert_eq!(output.len(), 1, "{output:?}");
                *result = output.values().next().unwrap().clone();
            }
            Json::Object(members)
        }
        other => other,
    }
}

#[test]
fn examples_of_the_specification() {
    let site = Site::new();
    for (message, expected) in EXAMPLES {
        let answer = site.answer(message.as_bytes());
        if expected.is_empty() {
            assert_eq!(answer.status, StatusCode::OK, "{message}");
            assert!(answer.body.is_empty(), "{message}");
            continue;
        }
        assert_eq!(answer.status, StatusCode::OK, "{message}");
        let expected: Json = serde_json::from_str(expected).unwrap();
        assert_eq!(
            as_in_the_specification(answer.json()),
            expected,
            "{message}"
        );
    }
}

/// The single responses of the examples on a client, whose outputs are structures too.
#[test]
fn responses_of_the_specification_on_a_client() {
    let site = Site::new();
    for (name, answer, expected) in [
        (
            "subtract",
            r#"{"jsonrpc": "2.0", "result": 19, "id": 1}"#,
            r#"{"difference":19}"#,
        ),
        (
            "get_data",
            r#"{"jsonrpc": "2.0", "result": ["hello", 5], "id": "9"}"#,
            r#"{"data":["hello",5]}"#,
        ),
        (
            "subtract",
            r#"{"jsonrpc": "2.0", "result": {"difference": 19}, "id": 1}"#,
            r#"{"difference":19}"#,
        ),
        (
            "subtract",
            r#"{"jsonrpc": "2.0", "result": null, "id": 1}"#,
            "{}",
        ),
        (
            "update",
            r#"{"jsonrpc": "2.0", "result": null, "id": 1}"#,
            "{}",
        ),
        (
            "subtract",
            r#"{"id":1,"result":{"difference":19},"more":[1],"jsonrpc":"2.0"}"#,
            r#"{"difference":19}"#,
        ),
        (
            "subtract",
            r#"{"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": "1"}"#,
            r#"{"__kind":"UnknownOperation","code":-32601,"message":"Method not found"}"#,
        ),
        (
            "subtract",
            r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params"},"id":1}"#,
            r#"{"__kind":"Invalid","code":-32602,"message":"Invalid params"}"#,
        ),
        (
            "subtract",
            r#"{"jsonrpc":"2.0","error":{"code":-32099,"message":"down"},"id":null}"#,
            r#"{"__kind":"Internal","code":-32099,"message":"down"}"#,
        ),
        (
            "subtract",
            r#"{"jsonrpc":"2.0","error":{"code":7,"message":"no","data":"why"},"id":1}"#,
            r#"{"__kind":"Named","code":7,"message":"no"}"#,
        ),
        (
            "subtract",
            r#"{"jsonrpc":"2.0","error":{"code":7,"message":"no","data":{"__type":"example#TooSmall","least":3}},"id":1}"#,
            r#"{"least":3,"__name":"TooSmall"}"#,
        ),
    ] {
        let read = site.read(name, answer).unwrap();
        let text = polywire_codec::json::write_value(&read).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), expected, "{answer}");
    }
    for wrong in [
        "",
        "[]",
        "19",
        "{}",
        r#"{"result": 19, "id": 1}"#,
        r#"{"jsonrpc": "1.0", "result": 19, "id": 1}"#,
        r#"{"jsonrpc": "2.0", "id": 1}"#,
        r#"{"jsonrpc": "2.0", "result": 19, "result": 20, "id": 1}"#,
        r#"{"jsonrpc": "2.0", "result": 1, "error": {"code": 1, "message": ""}, "id": 1}"#,
        r#"{"jsonrpc": "2.0", "error": {"code": 1}, "id": 1}"#,
        r#"{"jsonrpc": "2.0", "error": {"code": "1", "message": ""}, "id": 1}"#,
        r#"{"jsonrpc": "2.0", "error": null, "id": 1}"#,
        r#"{"jsonrpc": "2.0", "result": 19, "id": 1} x"#,
        r#"{"jsonrpc": "2.0", "result": "19", "id": 1}"#,
    ] {
        let error = site.read("subtract", wrong).unwrap_err();
        assert!(error.is_sender_fault(), "{wrong}: {error}");
    }
}

/// The place of an error counts from the start of the response, and its path from the output.
#[test]
fn errors_of_responses_are_found() {
    let site = Site::new();
    for (answer, path, at) in [
        (
            r#"{"jsonrpc":"2.0","result":{"inner":{"name":5}},"id":1}"#,
            "inner.name",
            "5}}",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result" : {"numbers":[1,"x"]}}"#,
            "numbers[1]",
            "\"x\"",
        ),
    ] {
        let error = site.read("Mixed", answer).unwrap_err();
        assert_eq!(error.path(), path, "{error}");
        assert_eq!(error.offset(), answer.find(at), "{error}");
    }
    let answer = r#"{"jsonrpc":"2.0","result":"x","id":1}"#;
    let error = site.read("subtract", answer).unwrap_err();
    assert_eq!(error.offset(), answer.find("\"x\""), "{error}");
    let answer = r#"{"jsonrpc":"2.0","error":{"code":1,"message":"","data":{"__type":"TooSmall","least":"x"}},"id":1}"#;
    let error = site.read("subtract", answer).unwrap_err();
    assert_eq!(
        (error.path(), error.offset()),
        ("least", answer.find("\"x\""))
    );
}

/// What is in the place of a call gets an error with its id, or null if it has none that can be read.
#[test]
fn what_is_no_call() {
    let site = Site::new();
    let without_id = [
        "1",
        "null",
        "\"subtract\"",
        "true",
        "{}",
        r#"{"jsonrpc":"2.0","method":"sum","id":true}"#,
        r#"{"jsonrpc":"2.0","method":"sum","id":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"sum","id":{}}"#,
        r#"{"jsonrpc":"1.0","method":"sum","id":{}}"#,
        r#"{"jsonrpc":"1.0","method":"sum"}"#,
        r#"{"jsonrpc":"1.0","method":"sum","id":null}"#,
        // Which of two ids is meant is not known.
        r#"{"jsonrpc":"2.0","method":"sum","id":1,"id":1}"#,
        r#"{"jsonrpc":"2.0","method":"sum","id":null,"id":1}"#,
        r#"{"jsonrpc":"2.0","method":"sum","id":1,"id":true}"#,
        r#"{"jsonrpc":"2.0","method":"nothing","id":1,"\u0069d":1}"#,
    ];
    let with_id = [
        r#"{"method":"sum","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"1.0","method":"sum","id":1}"#,
        r#"{"id":1,"jsonrpc":2.0,"method":"sum"}"#,
        r#"{"jsonrpc":null,"method":"sum","id":1}"#,
        r#"{"jsonrpc":"2.0","method":null,"id":1}"#,
        r#"{"jsonrpc":"2.0","method":["sum"],"id":1}"#,
        r#"{"jsonrpc":"2.0","method":"sum","params":null,"id":1}"#,
        r#"{"jsonrpc":"2.0","method":"sum","params":"x","id":1}"#,
        r#"{"id":1,"jsonrpc":"2.0","method":"sum","params":1}"#,
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","method":"sum","id":1}"#,
        r#"{"jsonrpc":"1.0","jsonrpc":"2.0","method":"sum","id":1}"#,
        r#"{"jsonrpc":"2.0","method":"sum","method":"sum","id":1}"#,
        r#"{"jsonrpc":"2.0","method":"sum","params":[],"params":[],"id":1}"#,
    ];
    let without_id = without_id.into_iter().map(|wrong| (wrong, "null"));
    for (wrong, id) in without_id.chain(with_id.map(|wrong| (wrong, "1"))) {
        let invalid = (-32600, id.to_owned());
        let one = site.answer(wrong.as_bytes());
        assert_eq!(one.errors(), std::slice::from_ref(&invalid), "{wrong}");
        // In a list the others run.
        let list = format!(r#"[{wrong},{{"jsonrpc":"2.0","method":"sum","id":7}}]"#);
        let answer = site.answer(list.as_bytes());
        assert_eq!(answer.errors(), [invalid, (0, "7".to_owned())], "{list}");
    }
    // What is neither member nor value of a call does not matter.
    for right in [
        r#"{"jsonrpc":"2.0","method":"sum","id":1,"more":{"id":[{}]},"more":2}"#,
        r#"{"json\u0072pc":"2.0","method":"s\u0075m","id":1}"#,
        " \t\r\n{ \"jsonrpc\" : \"2.0\" , \"method\" : \"sum\" , \"id\" : 1 } \n",
        "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"sum\",\"id\":1}",
        r#"{"jsonrpc":"2.0","method":"Math.sum","id":1}"#,
    ] {
        let answer = site.answer(right.as_bytes());
        let expected = r#"{"jsonrpc":"2.0","result":{"sum":0},"id":1}"#;
        assert_eq!(answer.text(), expected, "{right}");
    }
    for unknown in [
        "Math.Math.sum",
        "Math.",
        ".sum",
        "Mathsum",
        "example#sum",
        "SUM",
        "rpc.sum",
        "",
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","method":"{unknown}","id":1}}"#);
        let answer = site.answer(call.as_bytes());
        assert_eq!(answer.errors(), [(-32601, "1".to_owned())], "{unknown}");
    }
}

/// A response repeats the id as the call spells it.
#[test]
fn ids() {
    let site = Site::new();
    for id in [
        "null",
        "1",
        "0",
        "-0",
        "1.0",
        "1.50e+2",
        "123456789012345678901234567890",
        "\"\"",
        "\"null}\"",
        r#""\u0041\"\\\n""#,
        "\"\u{fc}\u{1f600}\"",
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","id": {id} ,"method":"sum","params":[1]}}"#);
        let expected = format!(r#"{{"jsonrpc":"2.0","result":{{"sum":1}},"id":{id}}}"#);
        assert_eq!(site.answer(call.as_bytes()).text(), expected);
        let list = format!("[{call},{call}]");
        let expected = format!("[{expected},{expected}]");
        assert_eq!(site.answer(list.as_bytes()).text(), expected);
        let call = format!(r#"{{"jsonrpc":"2.0","id": {id} ,"method":"none"}}"#);
        let answer = site.answer(call.as_bytes());
        assert!(
            answer.text().ends_with(&format!("\"id\":{id}}}")),
            "{answer:?}"
        );
    }
}

#[test]
fn parameters_by_position() {
    let site = Site::new();
    let result = |params: &str| {
        let call = format!(r#"{{"jsonrpc":"2.0","method":"Mixed","params":{params},"id":1}}"#);
        site.answer(call.as_bytes()).json()
    };
    for (positions, names) in [
        ("[]", "{}"),
        (r#"["x"]"#, r#"{"text":"x"}"#),
        (r#"["x", [1,2] ]"#, r#"{"text":"x","numbers":[1,2]}"#),
        (r#"[null,[1]]"#, r#"{"numbers":[1]}"#),
        (r#"[null,null]"#, "{}"),
        (
            r#"[null,null,{"inner":{"name":"n"}},{"number":5},[{}],"AAE=",7,null,"1234"]"#,
            r#"{"inner":{"inner":{"name":"n"}},"choice":{"number":5},"any":[{}],"data":"AAE=","when":7,"pin":"1234"}"#,
        ),
        (r#"[null,null,null,null,null]"#, r#"{"any":null}"#),
        (
            "[null,null,null,null,null,null,null,9]",
            r#"{"any":null,"count":9}"#,
        ),
    ] {
        let (positions, names) = (result(positions), result(names));
        assert!(positions["result"].is_object(), "{positions}");
        assert_eq!(positions, names);
    }
    // Defaults of the model count, however parameters are given.
    assert_eq!(result("[]")["result"]["count"], 5);
    for (wrong, says) in [
        ("[1]", "a string"),
        (r#"["x",[1,"x"]]"#, "at [1][1]"),
        ("[null,null,{\"name\":1}]", "at [2].name"),
        ("[1,2,3,4,5,6,7,8,9,10]", "a string"),
        (
            "[null,null,null,null,null,null,null,null,null,null]",
            "at most 9 parameters",
        ),
    ] {
        let error = &result(wrong)["error"];
        assert_eq!(error["code"], -32602, "{wrong}: {error}");
        assert_eq!(error["message"], "Invalid params");
        // The input is sensitive, and nothing of it is repeated.
        let message = error["data"]["message"].as_str().unwrap();
        let shown = message.contains(says) || says.starts_with("at [");
        assert!(shown, "{wrong}: {message}");
    }
    let call = r#"{"jsonrpc":"2.0","method":"sum","params":[1,2,3,4],"id":1}"#;
    let error = site.answer(call.as_bytes()).json();
    let message = error["error"]["data"]["message"].as_str().unwrap();
    assert!(message.contains("at most 3 parameters"), "{message}");
    // Of a structure without members as well.
    let call = r#"{"jsonrpc":"2.0","method":"get_data","params":[],"id":1}"#;
    assert_eq!(site.answer(call.as_bytes()).errors(), [(0, "1".to_owned())]);
    let call = r#"{"jsonrpc":"2.0","method":"get_data","params":[1],"id":1}"#;
    assert_eq!(
        site.answer(call.as_bytes()).errors(),
        [(-32602, "1".to_owned())]
    );
}

#[test]
fn faults_and_their_codes() {
    let site = Site::new();
    let subtract = site.operation("subtract");
    let details = Map::from_iter([("least", 3)]);
    for (fault, code, message, of_client) in [
        (
            Fault::new(FaultKind::UnknownOperation, "m"),
            -32601,
            "Method not found",
            FaultKind::UnknownOperation,
        ),
        (
            Fault::new(FaultKind::Invalid, "m"),
            -32602,
            "Invalid params",
            FaultKind::Invalid,
        ),
        (
            Fault::new(FaultKind::Malformed, "m"),
            -32600,
            "Invalid Request",
            FaultKind::Malformed,
        ),
        (
            Fault::internal("why"),
            -32603,
            "Internal error",
            FaultKind::Internal,
        ),
        (
            Fault::internal("why").with_code(7),
            -32603,
            "Internal error",
            FaultKind::Internal,
        ),
        (
            Fault::new(FaultKind::Overloaded, "m"),
            -32000,
            "m",
            FaultKind::Overloaded,
        ),
        (
            Fault::new(FaultKind::DeadlineExceeded, "m"),
            -32000,
            "m",
            FaultKind::DeadlineExceeded,
        ),
        (
            Fault::new(FaultKind::TooLarge, "m"),
            -32000,
            "m",
            FaultKind::TooLarge,
        ),
        (
            Fault::new(FaultKind::Forbidden, "m"),
            -32000,
            "m",
            FaultKind::Forbidden,
        ),
        (Fault::coded(7, "m"), 7, "m", FaultKind::Named),
        (
            Fault::modelled("other#Shape", Map::new()),
            -32603,
            "Internal error",
            FaultKind::Internal,
        ),
        (
            Fault::modelled("example#TooSmall", details.clone()),
            -32000,
            "TooSmall",
            FaultKind::Modelled,
        ),
        (
            Fault::modelled("example#TooSmall", details).with_code(9),
            9,
            "TooSmall",
            FaultKind::Modelled,
        ),
    ] {
        let response = site.protocol.encode_fault(Some(subtract), &fault);
        assert_eq!(response.status(), 200);
        let (head, body) = response.into_parts();
        let json: Json = serde_json::from_slice(&body).unwrap();
        assert_eq!(json["error"]["code"], code, "{fault}");
        assert_eq!(json["error"]["message"], message, "{fault}");
        assert!(!json.to_string().contains("why"), "{json}");
        let body = Body::new(body);
        let outcome = site.protocol.outcome(subtract, &head, &body, &site.limits);
        match outcome.unwrap() {
            Outcome::Fault(read) => {
                assert_eq!(
                    (read.kind(), read.code()),
                    (of_client, Some(code)),
                    "{fault}"
                );
                let message = match of_client {
                    FaultKind::Internal => "an internal error occurred",
                    _ => "m",
                };
                assert_eq!(read.message(), message);
            }
            Outcome::Error(shape) => {
                assert_eq!((shape.name(), of_client), ("TooSmall", FaultKind::Modelled));
                assert_eq!(json["error"]["data"]["__type"], "example#TooSmall");
                assert_eq!(json["error"]["data"]["least"], 3);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn limits() {
    let mut site = Site::new();
    let call = r#"{"jsonrpc":"2.0","method":"sum","id":1}"#;
    site.limits = Limits::DEFAULT.with_calls(2);
    let invalid = [(-32600, "null".to_owned())];
    let list = |count: usize| format!("[{}]", vec![call; count].join(","));
    assert_eq!(site.answer(list(2).as_bytes()).errors().len(), 2);
    let answer = site.answer(list(3).as_bytes());
    assert_eq!(answer.errors(), invalid);
    assert!(answer.text().contains("at most 2 calls"), "{answer:?}");
    // Text that is not JSON is reported first.
    let text = list(3).replace(']', "");
    assert_eq!(
        site.answer(text.as_bytes()).errors(),
        [(-32700, "null".to_owned())]
    );
    // Deep parameters, and messages that are too long.
    site.limits = Limits::DEFAULT.with_depth(4);
    let deep = |depth: usize| {
        let params = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"jsonrpc":"2.0","method":"get_data","params":{params},"id":1}}"#)
    };
    assert_eq!(
        site.answer(deep(1).as_bytes()).errors(),
        [(0, "1".to_owned())]
    );
    assert_eq!(site.answer(deep(4).as_bytes()).errors(), invalid);
    site.limits = Limits::DEFAULT.with_bytes(10);
    assert_eq!(site.answer(call.as_bytes()).errors(), invalid);
}

/// The name may be as long as the message, and is not repeated in full.
#[test]
fn unknown_methods() {
    let site = Site::new();
    for (name, shown) in [
        ("x".repeat(64), "x".repeat(64)),
        ("\u{e4}".repeat(65), "\u{e4}".repeat(64) + "..."),
        ("x".repeat(100_000), "x".repeat(64) + "..."),
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","method":"{name}","id":1}}"#);
        let error = &site.answer(call.as_bytes()).json()["error"];
        assert_eq!(error["code"], -32601);
        assert_eq!(error["data"]["message"], format!("no method `{shown}`"));
    }
}

/// Inputs and ids are parts of the message. They are copied only if they are less than 1/256 of it.
#[test]
fn inputs_share_the_memory_of_the_message() {
    let site = Site::new();
    let call = r#"{"jsonrpc":"2.0","method":"sum","params":{"a":1},"id":"x"}"#;
    for (padding, is_shared) in [(0, true), (100, true), (2000, false)] {
        let message = Bytes::from(format!("[{call},{}{call}]", " ".repeat(padding)));
        let split = |message| site.protocol.split(&head(), message, &site.limits);
        let batch = split(message.clone()).unwrap();
        assert!(batch.is_list);
        let shares = |part: &Bytes| message.as_ptr_range().contains(&part.as_ptr());
        for call in &batch.calls {
            assert_eq!(&call.input[..], br#"{"a":1}"#);
            assert_eq!(call.id.as_deref(), Some(&br#""x""#[..]));
            assert_eq!(shares(&call.input), is_shared);
            assert_eq!(shares(call.id.as_ref().unwrap()), is_shared);
        }
    }
}

/// Responses of another origin are not pasted into the message.
#[test]
fn responses_of_others() {
    let site = Site::new();
    let call = r#"{"jsonrpc":"2.0","method":"sum","id":"x"}"#;
    for foreign in [
        "",
        "oops",
        "null}",
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","result":{},"id":7}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{"sum":null}}"#,
        r#"{"jsonrpc":"2.0","result":{},"pid":null}"#,
    ] {
        for message in [call.to_owned(), format!("[{call},{call}]")] {
            let batch = site.split(message.as_bytes()).unwrap();
            let response = || http::Response::new(Bytes::from(foreign.to_owned()));
            let responses = batch.calls.iter().map(|_| Some(response())).collect();
            let (head, body) = site.protocol.join(&batch, responses).into_parts();
            let status = head.status;
            let errors = Answer { status, body }.errors();
            let expected = vec![(-32603, r#""x""#.to_owned()); batch.calls.len()];
            assert_eq!(errors, expected, "{foreign}");
        }
    }
}

/// The errors of others, in any form, get the form of our server.
#[test]
fn errors_without_an_id() {
    let own = r#"{"jsonrpc":"2.0","error":{"code":7,"message":"m"},"id":null}"#;
    let with_data = own.replace("\"m\"", r#""m","data":{"b":[1,null],"a":0.5}"#);
    for (response, expected) in [
        (own, Some(own)),
        (&*with_data, Some(&*with_data)),
        (
            "\n{ \"id\":\"x\",\"error\": {\n\"message\":\"m\",\"code\":7 },\r\n\"jsonrpc\":\"2.0\"} ",
            Some(own),
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":7,"message":"m"}}"#,
            Some(own),
        ),
        (r#"{"jsonrpc":"2.0","result":{},"id":null}"#, None),
        (r#"{"jsonrpc":"2.0","error":"m","id":null}"#, None),
        (
            r#"{"jsonrpc":"1.0","error":{"code":7,"message":"m"},"id":null}"#,
            None,
        ),
        (r#"{"error":{"code":7,"message":"m"},"id":null}"#, None),
        (r#"{"error":"too many requests"}"#, None),
        ("[]", None),
        ("", None),
    ] {
        let body = Body::from(response.to_owned());
        let found = JsonRpc::error_without_id(&body, &Limits::DEFAULT);
        assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{response}");
    }
}

/// Calls of a server are not taken for responses.
#[test]
fn messages_of_a_server() {
    use ResponseId::{Batch, Call, None, Unknown};

    for (message, expected) in [
        (r#"{"jsonrpc":"2.0","result":1,"id":7}"#, Call(7)),
        (r#"{"jsonrpc":"2.0","error":{},"id":7}"#, Call(7)),
        (r#"{"jsonrpc":"2.0","error":{},"id":null}"#, Unknown),
        (r#"{"jsonrpc":"2.0","error":{}}"#, Unknown),
        (r#"{"jsonrpc":"2.0","result":1,"id":null}"#, None),
        (r#"{"jsonrpc":"2.0","result":1,"id":"7"}"#, None),
        (r#"{"jsonrpc":"2.0","result":1,"id":-7}"#, None),
        (r#"{"jsonrpc":"2.0","method":"m","id":7}"#, None),
        (r#"{"id":7,"method":"m","params":{"result":1}}"#, None),
        (r#"{"jsonrpc":"2.0","method":"m","error":1}"#, None),
        (r#"{"jsonrpc":"2.0","method":null,"result":1,"id":7}"#, None),
        (
            r#" [{"result":1,"id":8},{"error":{},"id":null},{"id":7}]"#,
            Batch(vec![8, 7]),
        ),
        (r#"[{"result":1,"id":8}]"#, Batch(vec![8])),
        (r#"[{"error":{},"id":null},{"id":"x"}]"#, Unknown),
        (r#"[{"method":"m","id":7},{"method":"m"}]"#, None),
        // What is not an object answers no call.
        (r#"[7]"#, None),
        (r#"[null , {"result":1,"id":8},[{"id":9}]]"#, Batch(vec![8])),
        (r#"["x",{"error":{},"id":null}]"#, Unknown),
    ] {
        let body = Body::from(message.to_owned());
        let found = JsonRpc::response_id(&body, &Limits::DEFAULT);
        assert_eq!(found.unwrap(), expected, "{message}");
    }
    let wrong = [
        "",
        "7",
        "[]",
        "[7",
        "[{\"id\":7}",
        "{\"id\":7",
        "{\"id\":7}}",
    ];
    for wrong in wrong {
        let body = Body::from(wrong.to_owned());
        assert!(JsonRpc::response_id(&body, &Limits::DEFAULT).is_err());
    }
}

#[test]
fn requests_of_a_client() {
    let site = Site::new();
    let encode = |name: &str, input: Map| {
        let input = Value::Map(input);
        let request = site
            .protocol
            .encode_input(site.operation(name), &Dynamic(&input));
        request.unwrap()
    };
    let request = encode("sum", Map::from_iter([("a", 1), ("c", 2)]));
    assert_eq!(
        (request.method().as_str(), request.uri().path()),
        ("POST", "/jsonrpc")
    );
    assert_eq!(request.headers()["content-type"], "application/json");
    let expected = r#"{"jsonrpc":"2.0","method":"sum","params":{"a":1,"c":2},"id":1}"#;
    assert_eq!(request.body(), expected);
    assert_eq!(
        encode("get_data", Map::new()).body(),
        r#"{"jsonrpc":"2.0","method":"get_data","id":1}"#
    );
    let elsewhere = JsonRpc::new(site.set.service(0)).with_path("/rpc/v1");
    let input = Value::Map(Map::new());
    let request = elsewhere.encode_input(site.operation("sum"), &Dynamic(&input));
    assert_eq!(request.unwrap().uri().path(), "/rpc/v1");
    assert_eq!(elsewhere.endpoint(), Some("/rpc/v1"));
}

impl Site {
    /// A message of a client with several calls.
    fn join(&self, calls: Vec<(&str, Map)>, ids: std::ops::Range<u64>) -> Request<Bytes> {
        let calls = calls.into_iter().map(|(name, input)| {
            let input = Value::Map(input);
            let call = self
                .protocol
                .encode_input(self.operation(name), &Dynamic(&input));
            call.unwrap()
        });
        let joined = self.protocol.join_calls(calls.collect(), ids);
        joined.unwrap().unwrap()
    }

    /// The responses to the calls with the ids 3, 4 and 5, or why there is none.
    fn responses(&self, status: u16, answer: &str) -> Result<Vec<String>, String> {
        let response = http::Response::builder().status(status).body(()).unwrap();
        let (head, ()) = response.into_parts();
        let body = Body::from(answer.to_owned());
        let split = self
            .protocol
            .split_responses(3..6, &head, body, &self.limits);
        match split.map_err(|error| error.to_string())? {
            BatchOutcome::Responses(responses) => {
                assert_eq!(responses.len(), 3, "{answer}");
                let text = |body: Body| String::from_utf8(body.into_bytes().to_vec()).unwrap();
                let responses = responses.into_iter();
                let texts = responses.map(|response| response.map_or_else(|why| why, text));
                Ok(texts.collect())
            }
            BatchOutcome::Fault(fault) => Err(format!("{:?} {}", fault.code(), fault.message())),
            BatchOutcome::Foreign(why) => Err(why),
        }
    }
}

/// What our server makes of them is what their operations do.
#[test]
fn notifications_and_batches_of_a_client() {
    let site = Site::new();
    let input = Map::from_iter([("a", 1)]);
    let value = Value::Map(input.clone());
    let call = site
        .protocol
        .encode_input(site.operation("sum"), &Dynamic(&value));
    let notification = site.protocol.to_notification(call.unwrap()).unwrap();
    let expected = r#"{"jsonrpc":"2.0","method":"sum","params":{"a":1}}"#;
    assert_eq!(notification.body(), expected);
    assert_eq!(notification.uri().path(), "/jsonrpc");
    assert_eq!(site.answer(notification.body()).text(), "");
    let batch = site.join(vec![("sum", input), ("get_data", Map::new())], 9..11);
    assert_eq!(
        batch.body(),
        r#"[{"jsonrpc":"2.0","method":"sum","params":{"a":1},"id":9},{"jsonrpc":"2.0","method":"get_data","id":10}]"#
    );
    assert_eq!(
        (batch.method().as_str(), batch.uri().path()),
        ("POST", "/jsonrpc")
    );
    assert_eq!(batch.headers()["content-type"], "application/json");
    let ids = site.answer(batch.body()).errors();
    assert_eq!(ids, [(0, "9".to_owned()), (0, "10".to_owned())]);
    let one = site.join(vec![("get_data", Map::new())], 1..2);
    assert_eq!(
        one.body(),
        r#"[{"jsonrpc":"2.0","method":"get_data","id":1}]"#
    );
    // A message has one host.
    let calls = ["a.", "b."].map(|host| {
        let call = Request::new(Bytes::from_static(br#"{"a":1,"id":1}"#));
        let (mut head, body) = call.into_parts();
        head.extensions
            .insert(polywire_protocol::HostPrefix(host.to_owned()));
        Request::from_parts(head, body)
    });
    assert!(site.protocol.join_calls(calls.into(), 1..3).is_err());
}

#[test]
fn responses_to_a_batch() {
    let site = Site::new();
    let result = |id: &str| format!(r#"{{"jsonrpc":"2.0","result":1,"id":{id}}}"#);
    let [three, four, five] = ["3", "4", "5"].map(result);
    let null = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"m"},"id":null}"#;
    let missing = |id: u64, more: &str| format!("no response has the id {id}{more}");
    let several = || "several responses have the id 4".to_owned();
    let in_order = || [three.clone(), four.clone(), five.clone()];
    for (answers, expected) in [
        (vec![&*three, &four, &five], in_order()),
        (vec![&five, &three, &four], in_order()),
        (
            vec![&five, &three],
            [three.clone(), missing(4, ""), five.clone()],
        ),
        (vec![], [3, 4, 5].map(|id| missing(id, ""))),
        (vec!["7"], [3, 4, 5].map(|id| missing(id, ""))),
        (
            vec![&three, &four, &four, &five, &four],
            [three.clone(), several(), five.clone()],
        ),
        // Of another call.
        (vec![&five, &result("6"), &three, &four], in_order()),
        // Not of a call.
        (
            vec!["null", &five, r#"[{"id":4}]"#, &three, "7", &four, "\"x\""],
            in_order(),
        ),
        (
            vec![&five, &three, "null"],
            [three.clone(), missing(4, ""), five.clone()],
        ),
        (
            vec![&result("2"), &three, &result("6"), &five],
            [
                three.clone(),
                missing(4, ", but one has the unknown id 2"),
                five.clone(),
            ],
        ),
        (
            vec![&three, &result("\"4\""), &five],
            [
                three.clone(),
                missing(4, ", but one has the unknown id \"4\""),
                five.clone(),
            ],
        ),
        (
            vec![&three, r#"{"method":"m","id":4}"#, &five],
            [
                three.clone(),
                missing(4, ", but one has the unknown id 4"),
                five.clone(),
            ],
        ),
        // An error without an id is of the only call without a response.
        (
            vec![null, &three, &four],
            [three.clone(), four.clone(), null.to_owned()],
        ),
        (
            vec![null, &three],
            [
                three.clone(),
                missing(4, ", but one has the unknown id null"),
                missing(5, ", but one has the unknown id null"),
            ],
        ),
        (
            vec![null, &three, null, &four],
            [
                three.clone(),
                four.clone(),
                missing(5, ", but one has the unknown id null"),
            ],
        ),
        (vec![null, &three, &four, &five], in_order()),
    ] {
        let answer = format!(" [{}]\n", answers.join(" , "));
        assert_eq!(site.responses(200, &answer).unwrap(), expected, "{answer}");
    }
    // One error for all, and what is no response to a batch.
    for (status, answer, expected) in [
        (200, null, "Some(-32600) m"),
        (400, null, "Some(-32600) m"),
        (200, &three, "a batch was answered with one result"),
        (
            500,
            "[oops",
            "status 500, and the response is not a JSON-RPC response",
        ),
        (
            502,
            "oops",
            "status 502, and the response is not a JSON-RPC response",
        ),
        (
            204,
            "",
            "status 204, and the response is not a JSON-RPC response",
        ),
        (200, "", "ends too early"),
        (200, "7", "wrong type"),
        (200, &format!("[{three}"), "ends too early"),
        (200, &format!("[{three}]]"), "not well formed"),
    ] {
        let error = site.responses(status, answer).unwrap_err();
        assert!(error.contains(expected), "{answer}: {error}");
        // The output may be sensitive.
        assert!(!error.contains("found"), "{error}");
    }
    let limits = Limits::DEFAULT.with_bytes(three.len() * 2);
    let narrow = Site {
        limits,
        ..Site::new()
    };
    assert!(narrow.responses(200, &format!("[{three}]")).is_ok());
    let error = narrow.responses(200, &format!("[{three},{four}]"));
    assert!(error.unwrap_err().contains("Limits::bytes"));
}

/// Every truncation is an error, and no change of one byte gives a call the response of another.
#[test]
fn damaged_responses_to_a_batch() {
    let site = Site::new();
    let sample = [5, 3, 4].map(|id| format!(r#"{{"jsonrpc":"2.0","result":{id},"id":{id}}}"#));
    let sample = format!("[{}]", sample.join(","));
    for at in 0..sample.len() {
        assert!(site.responses(200, &sample[..at]).is_err());
        for byte in 0..0x80 {
            let mut message = sample.clone().into_bytes();
            message[at] = byte;
            let message = String::from_utf8(message).unwrap();
            for (response, id) in site.responses(200, &message).into_iter().flatten().zip(3..) {
                let is_own = response.contains(&format!("\"id\":{id}"));
                assert!(
                    is_own || !response.starts_with('{'),
                    "{message}: {response}"
                );
            }
        }
    }
}

/// A browser asks a server before it sends any of the media types for a page of another origin.
#[test]
fn heads() {
    let site = Site::new();
    let check = |method: &str, path: &str, media_type: Option<&str>| {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(media_type) = media_type {
            request = request.header("content-type", media_type);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let claim = site.protocol.claim(&HeadSummary::new(&head));
        let status = match site.protocol.route(&head) {
            Ok(_) => 200,
            Err(fault) => site.protocol.encode_other(&fault).status().as_u16(),
        };
        (claim, status)
    };
    for own in [
        "application/json",
        "application/json-rpc",
        "application/jsonrequest",
        "Application/JSON; charset=utf-8",
    ] {
        assert_eq!(
            check("POST", "/jsonrpc", Some(own)),
            (Claim::Strong, 200),
            "{own}"
        );
    }
    for other in [
        None,
        Some("text/plain"),
        Some("text/plain;application/json"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some("application/jsonp"),
        Some("application/json\u{e9}"),
        Some(""),
    ] {
        assert_eq!(
            check("POST", "/jsonrpc", other),
            (Claim::Misdirected, 415),
            "{other:?}"
        );
    }
    assert_eq!(check("GET", "/jsonrpc", None), (Claim::Misdirected, 405));
    let json = Some("application/json");
    assert_eq!(check("POST", "/", json), (Claim::No, 200));
    assert_eq!(
        check("POST", "/", Some("application/json-rpc")),
        (Claim::Misdirected, 200)
    );
    let mut coded = head();
    coded
        .headers
        .insert("content-encoding", "br".parse().unwrap());
    let fault = site
        .protocol
        .split(&coded, Bytes::new(), &site.limits)
        .unwrap_err();
    assert_eq!(fault.kind(), FaultKind::UnsupportedMediaType);
}

const SAMPLES: &[&str] = &[
    r#"{"jsonrpc":"2.0","method":"subtract","params":[42,-2.5e1,"\u00e4"],"id":"a\n"}"#,
    r#"{"jsonrpc": "2.0", "method": "Mixed", "params": {"text":"x","any":[null,true,{"k":0.5}]}, "id": 10}"#,
    r#"{"jsonrpc":"2.0","method":"sum","params":{"a":1}}"#,
    r#"[{"jsonrpc":"2.0","method":"sum","id":1},{"jsonrpc":"2.0","method":"update","params":[]},7,{"id":null}]"#,
];

/// What the specification says about a message, by another reader of JSON: the code that the only
/// error of the whole message has, or whether each call with a response is valid, and its id.
fn expected(message: &[u8]) -> Result<Vec<(bool, String)>, i64> {
    let Ok(json) = serde_json::from_slice::<Json>(message) else {
        return Err(-32700);
    };
    let call = |json: &Json| -> Option<(bool, String)> {
        let Json::Object(members) = json else {
            return Some((false, "null".to_owned()));
        };
        let id = members.get("id");
        let has_bad_id = id.is_some_and(|id| !(id.is_string() || id.is_number() || id.is_null()));
        let is_call = !has_bad_id
            && members.get("jsonrpc").is_some_and(|value| value == "2.0")
            && members.get("method").is_some_and(Json::is_string)
            && members
                .get("params")
                .is_none_or(|value| value.is_array() || value.is_object());
        match id {
            Some(id) if !has_bad_id => Some((is_call, id.to_string())),
            _ => (!is_call).then(|| (false, "null".to_owned())),
        }
    };
    match &json {
        Json::Array(items) if items.is_empty() => Err(-32600),
        Json::Array(items) => Ok(items.iter().filter_map(call).collect()),
        one => Ok(call(one).into_iter().collect()),
    }
}

fn check(site: &Site, message: &[u8]) {
    let text = String::from_utf8_lossy(message);
    for call in site
        .split(message)
        .into_iter()
        .flat_map(|batch| batch.calls)
    {
        for part in [call.id, Some(call.input)].into_iter().flatten() {
            assert_eq!(part, part.trim_ascii(), "{text}");
            let is_json = part.is_empty() || serde_json::from_slice::<Json>(&part).is_ok();
            assert!(is_json, "{text}: {part:?}");
        }
    }
    let answer = site.answer(message);
    match expected(message) {
        Err(code) => {
            assert!(!answer.body.starts_with(b"["), "{text}\n{answer:?}");
            assert_eq!(answer.errors(), [(code, "null".to_owned())], "{text}");
        }
        Ok(ids) if ids.is_empty() => {
            assert_eq!(answer.status, StatusCode::OK, "{text}");
            assert!(answer.body.is_empty(), "{text}");
        }
        Ok(ids) => {
            assert_eq!(answer.status, StatusCode::OK);
            let is_list = message.trim_ascii().starts_with(b"[");
            assert_eq!(answer.body.starts_with(b"["), is_list, "{text}");
            let errors = answer.errors();
            assert_eq!(errors.len(), ids.len(), "{text}\n{answer:?}");
            for ((is_call, id), (code, own)) in ids.iter().zip(errors) {
                assert_eq!(own, *id, "{text}");
                match is_call {
                    false => assert_eq!(code, -32600, "{text}"),
                    true => assert!(matches!(code, 0 | -32601 | -32602), "{text}: {code}"),
                }
            }
        }
    }
}

/// Every truncation and every change of one byte is answered as the specification says.
#[test]
fn damaged_messages() {
    let site = Site::new();
    for sample in SAMPLES {
        let sample = sample.as_bytes();
        for end in 0..=sample.len() {
            check(&site, &sample[..end]);
        }
        for at in 0..sample.len() {
            for byte in 0..=u8::MAX {
                let mut message = sample.to_vec();
                message[at] = byte;
                check(&site, &message);
            }
        }
    }
}

/// The same of responses: a client gets an output or an error, and never panics.
#[test]
fn damaged_responses() {
    let site = Site::new();
    for sample in [
        r#"{"jsonrpc":"2.0","result":{"difference":-19},"id":1}"#,
        r#"{"jsonrpc":"2.0","result":19,"id":1}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"m","data":{"__type":"example#TooSmall","least":1}},"id":1}"#,
    ] {
        for at in 0..sample.len() {
            assert!(site.read("subtract", &sample[..at]).is_err());
            for byte in 0..0x80 {
                let mut message = sample.to_owned().into_bytes();
                message[at] = byte;
                if let Err(error) = site.read("subtract", std::str::from_utf8(&message).unwrap()) {
                    assert!(error.is_sender_fault(), "{error}");
                }
            }
        }
    }
}
