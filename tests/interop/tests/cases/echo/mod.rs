//! A service with every kind of shape, over each protocol that botocore supports.
//!
//! Its output is its input. boto3 compares the output with what it has sent, and the case compares
//! the input that our server has decoded with one text for all protocols.

mod cli;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use polywire::codec::json::{self, JsonEncoder, JsonProfile};
use polywire::prelude::*;
use polywire::schema::Encode;
use polywire_interop::{Case, workspace};

use crate::botocore::{Exports, python};

/// The service over a protocol. It stops on drop.
struct Echo {
    url: String,
    heard: Arc<Mutex<Vec<String>>>,
    _stop: tokio::sync::oneshot::Sender<()>,
}

fn model() -> PathBuf {
    workspace().join("tests/interop/tests/cases/echo/echo.smithy")
}

impl Echo {
    fn start(kind: ProtocolKind) -> Self {
        let text = std::fs::read_to_string(model()).unwrap();
        let service = polywire::load_text("echo.smithy", &text).unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let server = server(service, kind, Arc::clone(&heard));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (ready, address) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
                ready.send(running.address()).unwrap();
                // The task ends when the sender is dropped.
                let _ = stopped.await;
            });
        });
        Self {
            url: format!("http://{}", address.recv().unwrap()),
            heard,
            _stop: stop,
        }
    }

    /// The received inputs as JSON, with the members in the order of the model.
    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn server(service: ServiceHandle, kind: ProtocolKind, heard: Arc<Mutex<Vec<String>>>) -> Server {
    let own = service.clone();
    let say = dynamic(move |input: Map, _| {
        let operation = own.find_operation("Say").unwrap();
        let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
        Value::Map(input.clone()).encode(operation.input().root(), &mut encoder);
        let text = String::from_utf8(encoder.finish().unwrap()).unwrap();
        heard.lock().unwrap().push(text);
        async move { Ok::<_, Fault>(input) }
    });
    let refuse = dynamic(|input: Map, _| async move {
        let mut details = Map::new();
        details.insert("message", "no <tea> & milk");
        details.insert(
            "reason",
            input.get("reason").cloned().unwrap_or(Value::Null),
        );
        details.insert("count", 9_007_199_254_740_993_i64);
        details.insert("until", Timestamp::new(1_700_000_000, 0));
        details.insert("details", Map::from_iter([("a", "b")]));
        Err::<Map, _>(Fault::modelled("polywire.interop.echo#Refused", details))
    });
    let lines = dynamic(|input: Map, _| async move {
        const LINES: [&str; 5] = ["one", "two", "three", "four", "five"];
        let token = input.get("token").and_then(Value::as_str).unwrap_or("0");
        let from: usize = token.parse().unwrap_or_default();
        let size = input.get("size").and_then(Value::as_i64).unwrap_or(5);
        let to = LINES.len().min(from + usize::try_from(size).unwrap_or(1));
        let page: Vec<Value> = LINES[from..to].iter().map(|line| (*line).into()).collect();
        let mut output = Map::new();
        output.insert("lines", Value::List(page));
        if to < LINES.len() {
            output.insert("next", to.to_string());
        }
        Ok::<_, Fault>(output)
    });
    Server::builder(service)
        .protocol(kind)
        .request_ids(true)
        .operation("Say", say)
        .operation("Refuse", refuse)
        .operation("Lines", lines)
        .build()
        .unwrap()
}

fn json(text: &str) -> Value {
    json::read_value(text).unwrap()
}

/// What botocore or the protocol does not support.
#[derive(Clone, Copy, Default)]
struct Lacks {
    /// ec2Query has no maps.
    maps: bool,
    /// botocore does not convert the strings that stand for non-finite numbers in JSON.
    numbers: bool,
    /// botocore writes unescaped carriage returns into XML, and XML parsers read them as line ends.
    returns: bool,
    /// botocore cannot encode times before 1970 in CBOR.
    early: bool,
}

/// The input that the server must decode.
fn heard_text(lacks: Lacks) -> String {
    let mut text = include_str!("heard.json").to_owned();
    if lacks.early {
        text = text
            .replace("-28502755200", "466560000")
            .replace("1066", "1984");
    }
    if lacks.returns {
        text = text.replace("\\r", "");
    }
    text
}

/// Runs boto3 over a protocol. `kind` is our name of the protocol, and `theirs` that of botocore.
fn boto3(name: &'static str, kind: ProtocolKind, theirs: &str, lacks: Lacks) {
    let case = Case::begin(name);
    let Some(python) = python(&case) else { return };
    let exports = Exports::new(name);
    exports.add(&model(), &["--protocol", kind.name()]);
    let echo = Echo::start(kind);
    let folder = exports.0.to_str().unwrap();
    let left_out: &[&str] = match lacks.maps {
        true => &["pairs", "flatPairs", "partsByName"],
        false => &[],
    };
    let returns = if lacks.returns { "False" } else { "True" };
    let year = if lacks.early { "1984" } else { "1066" };
    let script = format!(
        "folder = {folder:?}\nleft_out = {left_out:?}\nyear = {year}\nreturns = {returns}\n{}",
        include_str!("echo.py")
    );
    let answer = python.run(&echo.url, &script);

    assert_eq!(answer["protocol"].as_str(), Some(theirs));
    let version = match kind {
        ProtocolKind::AwsJson1_0 => Some("1.0"),
        ProtocolKind::AwsJson1_1 => Some("1.1"),
        _ => None,
    };
    assert_eq!(answer["version"].as_str(), version);
    let different = match lacks.numbers {
        true => {
            r#"[".content.notANumber: nan is not 'NaN'",
                ".content.infinite: inf is not 'Infinity'",
                ".content.negative: -inf is not '-Infinity'"]"#
        }
        false => "[]",
    };
    assert_eq!(answer["different"], json(different));
    assert_eq!(answer["little"], json(r#"{"name":"n","path":"p"}"#));
    assert_eq!(
        answer["refused"],
        json(
            r#"[409,"Refused","no <tea> & milk","tea","9007199254740993",
                "2023-11-14T22:13:20Z",{"a":"b"}]"#
        )
    );
    assert_eq!(
        answer["pages"],
        json(r#"[["one","two"],["three","four"],["five"]]"#)
    );
    // The number of calls with a request id, the number of distinct ids, and their minimum and
    // maximum length.
    assert_eq!(answer["ids"], json("[6, 6, 36, 36]"));
    let heard = echo.heard();
    assert_eq!(heard.len(), 2);
    // Compared member by member, because the value is long.
    let (heard, mut expected) = (json(&heard[0]), json(&heard_text(lacks)));
    for member in left_out {
        let Value::Map(expected) = &mut expected else {
            unreachable!()
        };
        if let Some(Value::Map(content)) = expected.get_mut("content") {
            content.remove(member);
        }
    }
    for member in ["name", "path", "count", "tags", "moment", "heard"] {
        assert_eq!(heard[member], expected[member], "{member}");
    }
    let members = expected["content"].as_map().unwrap();
    for (member, value) in members.iter() {
        assert_eq!(&heard["content"][member], value, "{member}");
    }
    assert_eq!(heard, expected);
}

#[test]
fn boto3_echo_over_json_10() {
    let name = "boto3_echo_over_json_10";
    let lacks = Lacks {
        numbers: true,
        ..Lacks::default()
    };
    boto3(name, ProtocolKind::AwsJson1_0, "json", lacks);
}

#[test]
fn boto3_echo_over_json_11() {
    let name = "boto3_echo_over_json_11";
    let lacks = Lacks {
        numbers: true,
        ..Lacks::default()
    };
    boto3(name, ProtocolKind::AwsJson1_1, "json", lacks);
}

#[test]
fn boto3_echo_over_rest_json() {
    let name = "boto3_echo_over_rest_json";
    let lacks = Lacks::default();
    boto3(name, ProtocolKind::RestJson1, "rest-json", lacks);
}

#[test]
fn boto3_echo_over_query() {
    let name = "boto3_echo_over_query";
    let lacks = Lacks::default();
    boto3(name, ProtocolKind::AwsQuery, "query", lacks);
}

#[test]
fn boto3_echo_over_ec2() {
    let name = "boto3_echo_over_ec2";
    let lacks = Lacks {
        maps: true,
        ..Lacks::default()
    };
    boto3(name, ProtocolKind::Ec2Query, "ec2", lacks);
}

#[test]
fn boto3_echo_over_rest_xml() {
    let name = "boto3_echo_over_rest_xml";
    let lacks = Lacks {
        returns: true,
        ..Lacks::default()
    };
    boto3(name, ProtocolKind::RestXml, "rest-xml", lacks);
}

#[test]
fn boto3_echo_over_cbor() {
    let name = "boto3_echo_over_cbor";
    let lacks = Lacks {
        early: true,
        ..Lacks::default()
    };
    boto3(name, ProtocolKind::RpcV2Cbor, "smithy-rpc-v2-cbor", lacks);
}
