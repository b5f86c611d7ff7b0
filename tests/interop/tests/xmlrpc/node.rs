//! Node's `xmlrpc`.

use polywire::codec::json;
use polywire::codec::xmlrpc::Leniency;
use polywire::schema::Value;
use polywire_interop::{Case, Sample};

/// Runs the body of an asynchronous function against the sample server.
fn node(case: &Case, server: impl FnOnce() -> Sample, script: &str) -> Option<Value> {
    let node = case.node()?;
    let server = server();
    let script = format!("(async () => {{\n{script}\n}})()");
    let text = node.print(&server.url, &script);
    Some(json::read_value(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

fn json(text: &str) -> Value {
    json::read_value(text).unwrap()
}

#[test]
fn node_calls_methods_of_every_type() {
    let case = Case::begin("node_calls_methods_of_every_type");
    let script = "
const bytes = await call('sample.bytes', []);
show([
    await call('sample.add', [2, 3]), (await call('sample.divide', [1, 0])).code,
    await call('sample.sum', [[...Array(101).keys()]]), await call('sample.person', []),
    await call('sample.greet', [{ name: 'Bo', age: 5, tags: [] }]),
    await call('sample.nothing', []), await call('sample.date', []) instanceof Date,
    Buffer.isBuffer(bytes) && bytes.length, bytes[999],
    (await call('sample.text', [100000])).length, await call('sample.big', []),
    await call('sample.emoji', []), await call('sample.double', []),
]);";
    let Some(answers) = node(&case, Sample::start, script) else {
        return;
    };
    let expected = r#"[5,7,5050,
        {"name":"Ada Łovelace","age":36,"tags":["<first>","& only"]},
        "Bo is 5",null,true,1000,231,100000,"9007199254740993","a🌧z",0.1]"#;
    assert_eq!(answers, json(expected));
}

#[test]
fn node_gets_back_what_it_sends() {
    let case = Case::begin("node_gets_back_what_it_sends");
    let script = r#"
const values = [
    0, -1, 2147483647, true, false, 0.5, '', ' ', ' two ', '<&>', 'a]]>b', 'ö オ 🌧', 'a\nb',
    [], [1, ['two']], {}, { a: { b: [] } }, null, new Date(2026, 10, 1, 5, 44, 5), Buffer.from([0, 255]),
];
const wrong = [];
for (const value of values) {
    const got = await call('echo', [value]);
    if (JSON.stringify(got) !== JSON.stringify(value)) wrong.push([value, got]);
}
show(wrong);"#;
    let Some(wrong) = node(&case, Sample::start, script) else {
        return;
    };
    assert_eq!(wrong, json("[]"));
}

#[test]
fn node_sends_wide_ints_by_leave_only() {
    let case = Case::begin("node_sends_wide_ints_by_leave_only");
    let script = "show(await call('sample.add', [3000000000, 1]));";
    let Some(strict) = node(&case, Sample::start, script) else {
        return;
    };
    assert!(
        strict["code"].as_i64().is_some_and(|code| code < -32_000),
        "{strict:?}"
    );
    let lenient = || Sample::lenient(Leniency::STRICT.with_wide_ints(true));
    // The client reads an i8, which we write, as a string.
    assert_eq!(
        node(&case, lenient, script).unwrap(),
        json("\"3000000001\"")
    );
}

#[test]
fn node_multicall_and_introspection() {
    let case = Case::begin("node_multicall_and_introspection");
    let script = "
show([
    (await call('system.listMethods', [])).includes('sample.add'),
    await call('system.methodHelp', ['sample.add']),
    await call('system.methodSignature', ['sample.add']),
    await call('system.multicall', [[
        { methodName: 'sample.add', params: [2, 3] },
        { methodName: 'sample.divide', params: [1, 0] },
        { methodName: 'sample.nothing', params: [] },
    ]]),
]);";
    let Some(answer) = node(&case, Sample::start, script) else {
        return;
    };
    let expected = r#"[true,"Adds two numbers.",[["int","int","int"]],
        [[5],{"faultCode":7,"faultString":"division by zero"},[null]]]"#;
    assert_eq!(answer, json(expected));
}
