//! Ruby's `xmlrpc/client`.

use polywire::codec::json;
use polywire::schema::Value;
use polywire_interop::{Case, Serving};

/// Runs a script against the example service. `call` returns a result or a fault.
fn ruby(case: &Case, arguments: &[&str], script: &str) -> Option<Value> {
    let ruby = case.ruby()?;
    let serving = Serving::start(arguments);
    let text = ruby.print(&format!("{}/RPC2", serving.url()), script);
    Some(json::read_value(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

/// The client rejects a fault with a third member, so the server must not send one by default.
#[test]
fn ruby_xmlrpc_client_faults() {
    let case = Case::begin("ruby_xmlrpc_client_faults");
    let script = r"
show([
    call('GetCity', { 'cityId' => 'oslo' })['name'],
    call('GetCity', { 'cityId' => 'atlantis' }),
    call('GetCity', {})['code'],
    call('GetCitty', {})['code'],
])";
    let Some(answers) = ruby(&case, &[], script) else {
        return;
    };
    let expected = r#"["Oslo",
        {"code":404,"text":"NoSuchResource: there is no city \"atlantis\""},-32602,-32601]"#;
    assert_eq!(answers, json::read_value(expected).unwrap());
    // With the third member, the client does fail.
    let script = "show(call('GetCity', { 'cityId' => 'atlantis' }))";
    let always = ["--style", "detail=always"];
    let answer = ruby(&case, &always, script).unwrap();
    let text = answer.as_str().unwrap();
    assert!(text.starts_with("error: wrong fault-structure"), "{text}");
}
