//! Python's `xmlrpc.client`.

use polywire::codec::json;
use polywire::codec::xmlrpc::Leniency;
use polywire::schema::Value;
use polywire_interop::{Case, Sample};

/// Runs a script against the sample server. `server` is a proxy.
fn python(case: &Case, server: impl FnOnce() -> Sample, script: &str) -> Option<Value> {
    let python = case.python(&["xmlrpc.client"])?;
    let server = server();
    let script = format!("{PRELUDE}{script}");
    Some(python.run(&server.url, &script))
}

const PRELUDE: &str = "
server = xmlrpc.client.ServerProxy(url)
def fault(call):
    try:
        return ['no fault', call()]
    except xmlrpc.client.Fault as error:
        return [error.faultCode, error.faultString]
";

fn json(text: &str) -> Value {
    json::read_value(text).unwrap()
}

#[test]
fn python_calls_methods_of_every_type() {
    let case = Case::begin("python_calls_methods_of_every_type");
    let script = "
person = server.sample.person()
show([
    server.sample.add(2, 3), server.sample.sum(list(range(1001))), server.sample.sum([]),
    person, list(person), server.sample.greet({'name': 'Bo', 'age': 5, 'tags': []}),
    server.sample.nothing(), str(server.sample.date()),
    server.sample.bytes().data == bytes(range(256)) * 3 + bytes(range(232)),
    server.sample.text(100000) == 'ö & <\\r\\n' * 14285 + 'ö & <',
    server.sample.big(), server.sample.beyond(), server.sample.emoji(), server.sample.double(),
])";
    let Some(answers) = python(&case, Sample::start, script) else {
        return;
    };
    let expected = r#"[5,500500,0,
        {"name":"Ada Łovelace","age":36,"tags":["<first>","& only"]},["name","age","tags"],
        "Bo is 5",null,"20261101T09:44:05",true,true,
        9007199254740993,3000000000,"a🌧z",0.1]"#;
    assert_eq!(answers, json(expected));
}

#[test]
fn python_gets_back_what_it_sends() {
    let case = Case::begin("python_gets_back_what_it_sends");
    // All values in one array, and each value alone.
    let script = r"
server = xmlrpc.client.ServerProxy(url, allow_none=True, use_builtin_types=True)
at = datetime.datetime(2026, 11, 1, 5, 44, 5)
values = [
    0, -1, 2147483647, -2147483648, True, False, None, 0.1, -1e-07, 1e300, 5e-324, 1.0,
    '', ' ', '  two  ', '\t', 'line\nbreak', '<&>\'\x22', ']]', 'ö オ 🌧', 'x' * 100000,
    b'', b'\0', bytes(range(256)) * 1000, at, [], [[]], [1, [2, [3]]], {}, {'': 1},
    {'a b': {'c': []}}, {'ö<&>': None}, [{'z': 1, 'a': 2}],
]
wrong = [value for value in values if server.echo(value) != value]
show([wrong, server.echo(values) == values, server.echo(*values) == values,
      list(server.echo({'z': 1, 'a': 2, 'm': 3}))])";
    let Some(answer) = python(&case, Sample::start, script) else {
        return;
    };
    assert_eq!(answer, json(r#"[[],true,true,["z","a","m"]]"#));
}

#[test]
fn python_line_ends_are_those_of_xml() {
    let case = Case::begin("python_line_ends_are_those_of_xml");
    // Python writes an unescaped CR, which every XML parser reads as LF. Our output preserves CR.
    let script = r#"
raw = server.echo('a\r\nb\rc')
body = ("<?xml version='1.0'?><methodCall><methodName>echo</methodName><params><param>"
        '<value><string>a&#13;&#10;b&#13;c</string></value></param></params></methodCall>')
request = urllib.request.Request(url, body.encode(), {'Content-Type': 'text/xml'})
(kept,), _ = xmlrpc.client.loads(urllib.request.urlopen(request).read())
show([raw, kept])"#;
    let Some(answer) = python(&case, Sample::start, script) else {
        return;
    };
    assert_eq!(answer, json(r#"["a\nb\nc","a\r\nb\rc"]"#));
}

#[test]
fn python_sends_control_characters_by_leave_only() {
    let case = Case::begin("python_sends_control_characters_by_leave_only");
    let script = r"show(fault(lambda: server.sample.length('\x1b[31m')))";
    let Some(strict) = python(&case, Sample::start, script) else {
        return;
    };
    assert_eq!(strict[0].as_i64(), Some(-32_700), "{strict:?}");
    let lenient = || Sample::lenient(Leniency::STRICT.with_control_characters(true));
    let answer = python(&case, lenient, script).unwrap();
    assert_eq!(answer, json(r#"["no fault",5]"#));
}

#[test]
fn python_use_builtin_types() {
    let case = Case::begin("python_use_builtin_types");
    let script = "
server = xmlrpc.client.ServerProxy(url, use_builtin_types=True)
types = [server.sample.date(), server.sample.bytes(), server.echo(True), server.sample.big()]
show([[type(value).__name__ for value in types], types[0], server.sample.size(b'x' * 300),
      server.echo(datetime.datetime(1, 1, 1))])";
    let Some(answer) = python(&case, Sample::start, script) else {
        return;
    };
    let expected = r#"[["datetime","bytes","bool","int"],"2026-11-01T09:44:05Z",300,
        "0001-01-01T00:00:00Z"]"#;
    assert_eq!(answer, json(expected));
}

#[test]
fn python_reads_fractions_of_a_second_as_its_own_type_only() {
    let case = Case::begin("python_reads_fractions_of_a_second_as_its_own_type_only");
    let script = "
builtin = xmlrpc.client.ServerProxy(url, use_builtin_types=True)
try:
    moment = builtin.sample.moment()
except ValueError as error:
    moment = 'error'
show([str(server.sample.moment()), moment])";
    let Some(answer) = python(&case, Sample::with_fractions, script) else {
        return;
    };
    assert_eq!(answer, json(r#"["20261101T09:44:05.25","error"]"#));
    // So fractions are not written by default.
    let answer = python(&case, Sample::start, script).unwrap();
    let expected = r#"["20261101T09:44:05","2026-11-01T09:44:05Z"]"#;
    assert_eq!(answer, json(expected));
}

#[test]
fn python_faults() {
    let case = Case::begin("python_faults");
    let script = "
def post(body):
    request = urllib.request.Request(url, body, {'Content-Type': 'text/xml'})
    return xmlrpc.client.loads(urllib.request.urlopen(request).read())
show([fault(call) for call in [
    lambda: server.sample.divide(1, 0), lambda: server.sample.subtract(1, 2),
    lambda: server.sample.add(1), lambda: server.sample.add(1, 2, 3),
    lambda: server.sample.add('1', 2), lambda: server.sample.greet({'name': 'Bo'}),
    lambda: post(b'<methodCall><methodName>echo</methodName>'),
    lambda: post(b'hello'), lambda: post(b'<methodResponse/>'),
    lambda: server.sample.colours(),
]])";
    let Some(faults) = python(&case, Sample::start, script) else {
        return;
    };
    let codes: Vec<_> = (0..10).map(|index| faults[index][0].as_i64()).collect();
    let expected = [
        7, -32_601, -32_602, -32_602, -32_602, -32_602, -32_700, -32_700, -32_600, -32_603,
    ];
    assert_eq!(codes, expected.map(Some), "{faults:?}");
    assert_eq!(faults[0][1].as_str(), Some("division by zero"));
    let unknown = faults[1][1].as_str().unwrap();
    assert!(unknown.contains("sample.subtract"), "{unknown}");
}

#[test]
fn python_multicall() {
    let case = Case::begin("python_multicall");
    let script = "
calls = xmlrpc.client.MultiCall(server)
calls.sample.add(2, 3)
calls.sample.divide(1, 0)
calls.sample.nothing()
calls.sample.sum([1, 2, 3])
calls.nowhere()
calls.system.multicall([])
calls.echo({'a': [1, 'ö']})
results = calls()
def result(index):
    try:
        return results[index]
    except xmlrpc.client.Fault as error:
        return error.faultCode
show([result(index) for index in range(7)])";
    let Some(results) = python(&case, Sample::start, script) else {
        return;
    };
    assert_eq!(results[5].as_i64().map(|code| code < 0), Some(true));
    let mut results = match results {
        Value::List(results) => results,
        other => panic!("{other:?}"),
    };
    results.remove(5);
    assert_eq!(
        Value::List(results),
        json(r#"[5,7,null,6,-32601,{"a":[1,"ö"]}]"#)
    );
}

#[test]
fn python_introspection() {
    let case = Case::begin("python_introspection");
    let script = "
names = server.system.listMethods()
show([names == sorted(names), 'sample.add' in names, 'system.multicall' in names,
      server.system.methodHelp('sample.add'), server.system.methodSignature('sample.add'),
      server.system.methodHelp('echo'), server.system.methodSignature('echo'),
      sorted(server.system.getCapabilities()), fault(lambda: server.system.methodHelp('no'))[0]])";
    let Some(answer) = python(&case, Sample::start, script) else {
        return;
    };
    assert_eq!(answer[0], json("true"), "{answer:?}");
    assert_eq!(answer[1], json("true"));
    assert_eq!(answer[2], json("true"));
    assert_eq!(answer[3].as_str(), Some("Adds two numbers."));
    assert_eq!(answer[4], json(r#"[["int","int","int"]]"#));
    assert_eq!(answer[5].as_str(), Some(""));
    assert_eq!(answer[6].as_str(), Some("undef"), "{answer:?}");
    assert!(format!("{:?}", answer[7]).contains("xmlrpc"), "{answer:?}");
    assert!(
        answer[8].as_i64().is_some_and(|code| code < 0),
        "{answer:?}"
    );
}

#[test]
fn python_gzip_both_ways_on_one_connection() {
    let case = Case::begin("python_gzip_both_ways_on_one_connection");
    let script = "
class Transport(xmlrpc.client.Transport):
    made, compressed = 0, []
    encode_threshold = 100
    def make_connection(self, host):
        if not (self._connection and host == self._connection[0]):
            Transport.made += 1
        return super().make_connection(host)
    def parse_response(self, response):
        Transport.compressed.append(response.getheader('Content-Encoding'))
        return super().parse_response(response)
server = xmlrpc.client.ServerProxy(url, transport=Transport())
text = 'wörds & ' * 10000
same = [server.echo(text) == text for number in range(5)]
divided = [fault(lambda: server.sample.divide(1, 0))[0] for number in range(3)]
small = server.sample.add(1, 2)
show([same, divided, small, Transport.made, Transport.compressed])";
    let Some(answer) = python(&case, Sample::start, script) else {
        return;
    };
    let expected = r#"[[true,true,true,true,true],[7,7,7],3,1,
        ["gzip","gzip","gzip","gzip","gzip",null,null,null,null]]"#;
    assert_eq!(answer, json(expected));
}

#[test]
fn python_big_integers() {
    let case = Case::begin("python_big_integers");
    // Python does not send integers of more than 32 bits, but reads them. A custom type can send
    // them.
    let script = "
class Long(int): pass
def dump(self, value, write):
    write('<value><i8>%d</i8></value>' % value)
xmlrpc.client.Marshaller.dispatch[Long] = dump
def refuses(value):
    try:
        server.echo(value)
    except OverflowError:
        return True
show([refuses(2 ** 31), server.echo(Long(2 ** 63 - 1)), server.echo(Long(-2 ** 63)),
      server.sample.add(Long(2 ** 53), 1), fault(lambda: server.sample.add(Long(2 ** 63), 1))[0]])";
    let Some(answer) = python(&case, Sample::start, script) else {
        return;
    };
    let expected = "[true,9223372036854775807,-9223372036854775808,9007199254740993]";
    for index in 0..4 {
        assert_eq!(answer[index], json(expected)[index]);
    }
    let code = answer[4].as_i64();
    assert!(matches!(code, Some(-32_700 | -32_602)), "{answer:?}");
}
