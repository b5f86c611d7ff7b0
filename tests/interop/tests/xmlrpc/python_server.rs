//! Our clients against Python's `SimpleXMLRPCServer`.

use std::process::Command;

use polywire::rpc::CallErrorKind;
use polywire::rpc::xmlrpc::{Client, blocking};
use polywire::schema::{Map, Value};
use polywire::text::Blob;
use polywire_interop::{Background, Case, run};
use serde::Deserialize;

const SERVER: &str = r#"
import datetime, os, sys, threading, xmlrpc.client
from xmlrpc.server import SimpleXMLRPCServer, SimpleXMLRPCRequestHandler
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()

class Handler(SimpleXMLRPCRequestHandler):
    protocol_version = 'HTTP/1.1'
    rpc_paths = ('/', '/RPC2')

server = SimpleXMLRPCServer(('127.0.0.1', 0), Handler, logRequests=False, allow_none=True)
server.register_introspection_functions()
server.register_multicall_functions()

def add(a, b):
    """Adds two numbers."""
    return a + b

def divide(a, b):
    if b == 0:
        raise xmlrpc.client.Fault(7, 'division by zero')
    return a // b

class Big(int): pass
def dump(self, value, write):
    write('<value><i8>%d</i8></value>' % value)
xmlrpc.client.Marshaller.dispatch[Big] = dump

server.register_function(add)
server.register_function(divide)
server.register_function(lambda value: value, 'echo')
server.register_function(lambda: {'name': 'web', 'pid': 7, 'ratio': 1e-07, 'tags': ['ö'], 'note': None}, 'process')
server.register_function(lambda: datetime.datetime(2026, 11, 1, 5, 44, 5), 'date')
server.register_function(lambda: Big(2 ** 63 - 1), 'big')
server.register_function(lambda: 'a\x1b[31mz', 'colours')
server.register_function(lambda: 'line\r\n' * 10000, 'long')
server.register_function(lambda: {}['nothing'], 'broken')
print('http://127.0.0.1:%d/RPC2' % server.server_address[1], flush=True)
server.serve_forever()
"#;

/// Starts the server, which prints its URL as the first line.
fn server(case: &Case) -> Option<Background> {
    let python = case.python(&["xmlrpc.server"])?;
    let mut command = Command::new(python.program());
    Some(Background::start(command.args(["-c", SERVER])))
}

#[derive(Debug, Deserialize, PartialEq)]
struct Process {
    name: String,
    pid: i32,
    ratio: f64,
    tags: Vec<String>,
    note: Option<String>,
}

#[test]
fn python_server_is_called() {
    let case = Case::begin("python_server_is_called");
    let Some(server) = server(&case) else { return };
    let client = blocking::Client::new(&server.first_line).unwrap();
    assert_eq!(client.call::<i32>("add", (2, 3)).unwrap(), 5);
    assert_eq!(client.call::<i64>("big", ()).unwrap(), i64::MAX);
    let process: Process = client.call("process", ()).unwrap();
    let expected = Process {
        name: "web".to_owned(),
        pid: 7,
        ratio: 1e-7,
        tags: vec!["ö".to_owned()],
        note: None,
    };
    assert_eq!(process, expected);
    let date: Value = client.call("date", ()).unwrap();
    assert_eq!(format!("{date:?}"), "@2026-11-01T05:44:05");
    // The server writes an unescaped CR.
    let long: String = client.call("long", ()).unwrap();
    assert_eq!(long, "line\n".repeat(10_000));
    let names = client.list_methods().unwrap();
    assert!(names.contains(&"add".to_owned()), "{names:?}");
    assert_eq!(client.method_help("add").unwrap(), "Adds two numbers.");
    // The server returns the string "signatures not supported" instead of a list.
    let signatures = client.method_signatures("add").unwrap();
    assert!(signatures.is_empty(), "{signatures:?}");
}

#[test]
fn python_server_gives_values_back() {
    let case = Case::begin("python_server_gives_values_back");
    let Some(server) = server(&case) else { return };
    let client = blocking::Client::new(&server.first_line).unwrap();
    let texts = [
        "",
        " ",
        " two ",
        "<&>\"'",
        "ö オ 🌧",
        "a
b",
        "]]>",
        "	",
    ];
    let numbers = [0.0, -0.5, 0.1, 1e-7, 1e300, 5e-324];
    let integers = [0, -1, i64::from(i32::MIN), 3_000_000_000];
    let mut values = vec![Value::Null, true.into(), Blob::from(vec![0, 255]).into()];
    values.extend(texts.map(Value::from));
    values.extend(numbers.map(Value::from));
    values.extend(integers.map(Value::from).into_iter().take(3));
    let map = Map::from_iter([("a b", Value::List(values.clone())), ("", Value::Null)]);
    values.push(map.into());
    values.push(Value::List(Vec::new()));
    for value in &values {
        let got = client.call_values("echo", std::slice::from_ref(value));
        assert_eq!(&got.unwrap(), value);
    }
    // Python reads an i8, but cannot write one.
    let error = client
        .call::<i64>("echo", (3_000_000_000_i64,))
        .unwrap_err();
    assert!(error.kind() == CallErrorKind::Fault, "{error}");
}

#[test]
fn python_server_faults_and_errors() {
    let case = Case::begin("python_server_faults_and_errors");
    let Some(server) = server(&case) else { return };
    let client = blocking::Client::new(&server.first_line).unwrap();
    let fault = |method, parameters: &[Value]| match client.call_values(method, parameters) {
        Err(error) => {
            let fault = error.xmlrpc_fault().unwrap();
            (fault.code(), fault.message().to_owned())
        }
        other => panic!("{other:?}"),
    };
    let divided = fault("divide", &[1.into(), 0.into()]);
    assert_eq!(divided, (7, "division by zero".to_owned()));
    let (code, message) = fault("broken", &[]);
    assert_eq!(code, 1);
    assert!(message.contains("KeyError"), "{message}");
    let (_, message) = fault("nowhere", &[]);
    assert!(
        message.contains("\"nowhere\" is not supported"),
        "{message}"
    );
    // The server writes control characters that XML forbids, and the client cannot decode them.
    let error = client.call::<String>("colours", ()).unwrap_err();
    assert!(error.kind() == CallErrorKind::Decode, "{error}");
    // The connection is still usable.
    assert_eq!(client.call::<i32>("add", (2, 3)).unwrap(), 5);
    // The server handles one connection at a time, so the first client is dropped.
    drop(client);
    let elsewhere = server.first_line.replace("/RPC2", "/elsewhere");
    let error = blocking::Client::new(&elsewhere)
        .unwrap()
        .call::<i32>("add", (2, 3));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("404"), "{error}");
}

#[tokio::test]
async fn python_server_multicall() {
    let case = Case::begin("python_server_multicall");
    let Some(server) = server(&case) else { return };
    let client = Client::new(&server.first_line).unwrap();
    let mut batch = client.batch();
    let sum = batch.add::<i32>("add", (2, 3)).unwrap();
    let divided = batch.add::<i32>("divide", (1, 0)).unwrap();
    let process = batch.add::<Process>("process", ()).unwrap();
    let nothing = batch.add::<Option<i32>>("echo", (None::<i32>,)).unwrap();
    let list = batch.add::<Vec<i32>>("echo", (vec![1],)).unwrap();
    let replies = batch.send().await.unwrap();
    assert_eq!(replies.get(sum).unwrap(), 5);
    assert_eq!(replies.get(process).unwrap().pid, 7);
    assert_eq!(replies.get(nothing).unwrap(), None);
    assert_eq!(replies.get(list).unwrap(), [1]);
    match replies.get(divided) {
        Err(error) => assert_eq!(error.xmlrpc_fault().unwrap().code(), 7),
        other => panic!("{other:?}"),
    }
}

#[test]
fn python_server_answers_polywire_xmlrpc() {
    let case = Case::begin("python_server_answers_polywire_xmlrpc");
    let Some(server) = server(&case) else { return };
    let ended = run(&["xmlrpc", &server.first_line, "add", "2", "3"]);
    assert_eq!(
        (ended.code, &*ended.stdout),
        (Some(0), "5\n"),
        "{}",
        ended.stderr
    );
    let ended = run(&["xmlrpc", &server.first_line, "divide", "1", "0"]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.stderr, "fault 7: division by zero\n");
    let ended = run(&["xmlrpc", &server.first_line, "--list"]);
    assert!(ended.stdout.contains("divide\n"), "{}", ended.stdout);
    let ended = run(&["xmlrpc", &server.first_line, "--describe", "add"]);
    assert!(
        ended.stdout.contains("Adds two numbers."),
        "{} {}",
        ended.stdout,
        ended.stderr
    );
}
