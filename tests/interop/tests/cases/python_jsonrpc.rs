//! Python's `jsonrpclib-pelix`: its client against our server, and our client against its server.

use std::process::Command;

use polywire::codec::json;
use polywire::prelude::*;
use polywire_interop::{Background, Case, Serving};

use crate::math;

/// Runs a script against the example service; `weather` is a proxy.
fn python(case: &Case, script: &str) -> Option<Value> {
    let python = case.python(&["jsonrpclib"])?;
    let serving = Serving::start(&["--protocol", "jsonRpc"]);
    let script =
        format!("import jsonrpclib\nweather = jsonrpclib.ServerProxy(url + '/jsonrpc')\n{script}");
    Some(python.run(serving.url(), &script))
}

#[test]
fn python_jsonrpclib_calls() {
    let case = Case::begin("python_jsonrpclib_calls");
    let script = "show([weather.GetCity(cityId='oslo')['name'], weather.GetCity('oslo')['founded'],
      sorted(weather.GetCurrentTime()), weather._notify.GetCurrentTime()])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    let expected = r#"["Oslo","1048-01-01T00:00:00Z",
        ["dateTime","epochSeconds","httpDate","lastModified","time"],null]"#;
    assert_eq!(answer, json::read_value(expected).unwrap());
}

#[test]
fn python_jsonrpclib_batches() {
    let case = Case::begin("python_jsonrpclib_batches");
    let script = "
batch = jsonrpclib.MultiCall(weather)
batch.GetCity(cityId='oslo')
batch._notify.GetCurrentTime()
batch.GetCity('oslo')
show([city['name'] for city in batch()])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    assert_eq!(answer[0].as_str(), Some("Oslo"));
    assert_eq!(answer.as_list().map(<[Value]>::len), Some(2));
}

#[test]
fn python_jsonrpclib_errors() {
    let case = Case::begin("python_jsonrpclib_errors");
    let script = "
codes = []
for call in (lambda: weather.GetCity(cityId='nowhere'), lambda: weather.Nothing(),
             lambda: weather.GetCity(city=1)):
    try:
        call()
    except jsonrpclib.ProtocolError as error:
        codes.append(error.args[0][0])
show(codes)";
    let Some(answer) = python(&case, script) else {
        return;
    };
    assert_eq!(answer, json::read_value("[-32000,-32601,-32602]").unwrap());
}

const SERVER: &str = r#"
import logging, os, sys, threading
from jsonrpclib import Fault
from jsonrpclib.SimpleJSONRPCServer import SimpleJSONRPCRequestHandler, SimpleJSONRPCServer
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
logging.disable(logging.CRITICAL)
records = []

def divide(dividend, divisor):
    if dividend < 0:
        return Fault(7, 'no negative numbers')
    if divisor == 0:
        return Fault(-32000, 'division by zero', data={'__type': 'DivisionByZero', 'dividend': dividend})
    return dividend // divisor

class Handler(SimpleJSONRPCRequestHandler):
    rpc_paths = ('/jsonrpc',)

server = SimpleJSONRPCServer(('127.0.0.1', 0), Handler, logRequests=False)
server.register_function(lambda minuend, subtrahend: {'difference': minuend - subtrahend}, 'Subtract')
server.register_function(divide, 'Divide')
server.register_function(lambda text: records.append(text), 'Record')
server.register_function(lambda: len(records), 'Count')
print('http://127.0.0.1:%d' % server.server_address[1], flush=True)
server.serve_forever()
"#;

/// Starts a server, which prints its URL as the first line, and returns our client of it.
fn their_server(case: &Case) -> Option<(Background, Client)> {
    let python = case.python(&["jsonrpclib"])?;
    let mut command = Command::new(python.program());
    let server = Background::start(command.args(["-c", SERVER]));
    let client = math::client(&server.first_line);
    Some((server, client))
}

#[tokio::test]
async fn python_jsonrpclib_server_is_called() {
    let case = Case::begin("python_jsonrpclib_server_is_called");
    let Some((_server, client)) = their_server(&case) else {
        return;
    };
    math::check_calls(&client).await;
}

#[tokio::test]
async fn python_jsonrpclib_server_gets_notifications_and_batches() {
    let case = Case::begin("python_jsonrpclib_server_gets_notifications_and_batches");
    let Some((_server, client)) = their_server(&case) else {
        return;
    };
    math::check_notifications_and_batches(&client, true).await;
}

#[tokio::test]
async fn python_jsonrpclib_server_has_errors() {
    let case = Case::begin("python_jsonrpclib_server_has_errors");
    let Some((_server, client)) = their_server(&case) else {
        return;
    };
    let by_zero = math::map([("dividend", 7), ("divisor", 0)]);
    let fault = math::fault(&client, "Divide", by_zero).await;
    assert_eq!(fault.shape(), "polywire.interop.math#DivisionByZero");
    assert_eq!(fault.details().get("dividend"), Some(&Value::from(7)));
    let negative = math::map([("dividend", -7), ("divisor", 1)]);
    let fault = math::fault(&client, "Divide", negative).await;
    assert_eq!(
        (fault.kind(), fault.code(), fault.message()),
        (FaultKind::Named, Some(7), "no negative numbers")
    );
    let fault = math::fault(&client, "Missing", Map::new()).await;
    assert_eq!(
        (fault.kind(), fault.code()),
        (FaultKind::UnknownOperation, Some(-32601))
    );
}
