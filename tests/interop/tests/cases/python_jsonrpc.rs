//! Python's `jsonrpclib-pelix`.

use polywire::codec::json;
use polywire::schema::Value;
use polywire_interop::{Case, Serving};

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
