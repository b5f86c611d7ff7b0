//! How third-party clients read replies. By default, we do not write the forms that are unsafe. If
//! a client changes its behaviour, its case fails.

use polywire_interop::{Canned, Case};

/// A value in a reply, and what each client reads, as JSON. xmlrpc-c prints its own format. `error`
/// means that the client rejects the reply.
struct Row {
    name: &'static str,
    value: &'static str,
    python: &'static str,
    perl: &'static str,
    node: &'static str,
    xmlrpc_c: &'static str,
}

const fn row(
    name: &'static str,
    value: &'static str,
    [python, perl, node, xmlrpc_c]: [&'static str; 4],
) -> Row {
    Row {
        name,
        value,
        python,
        perl,
        node,
        xmlrpc_c,
    }
}

const ROWS: &[Row] = &[
    row(
        "i8",
        "<i8>9007199254740993</i8>",
        [
            "9007199254740993",
            "\"9007199254740993\"",
            "\"9007199254740993\"",
            "64-bit integer: 9007199254740993",
        ],
    ),
    row(
        "wide-int",
        "<int>3000000000</int>",
        ["3000000000", "\"3000000000\"", "3000000000", "error"],
    ),
    row(
        "wider-int",
        "<int>9007199254740993</int>",
        [
            "9007199254740993",
            "\"9007199254740993\"",
            "9007199254740992",
            "error",
        ],
    ),
    row(
        "ex-i8",
        "<ex:i8>5</ex:i8>",
        ["5", "error", "error", "64-bit integer: 5"],
    ),
    row("nil", "<nil/>", ["null", "null", "null", "Nil"]),
    row("ex-nil", "<ex:nil/>", ["null", "error", "error", "Nil"]),
    row(
        "escape",
        "<string>a\u{1b}z</string>",
        ["error", "error", "\"a\\u001bz\"", "error"],
    ),
    row(
        "emoji",
        "<string>a🌧z</string>",
        ["\"a🌧z\"", "\"a🌧z\"", "\"a🌧z\"", "error"],
    ),
    row(
        "two-byte",
        "<string>aöz</string>",
        ["\"aöz\"", "\"aöz\"", "\"aöz\"", "String: 'a\\xc3\\xb6z'"],
    ),
    row(
        "carriage-return",
        "<string>a&#13;&#10;z</string>",
        [
            "\"a\\r\\nz\"",
            "\"a\\r\\nz\"",
            "\"a\\r\\nz\"",
            "String: a\\n z",
        ],
    ),
    row(
        "spaces",
        "<string> </string>",
        ["\" \"", "\" \"", "\" \"", "String: ' '"],
    ),
    row(
        "untyped",
        "text",
        ["\"text\"", "\"text\"", "\"text\"", "String: 'text'"],
    ),
    row("empty-untyped", "", ["\"\"", "\"\"", "\"\"", "String: ''"]),
    row(
        "cdata",
        "<string><![CDATA[<a>]]></string>",
        ["\"<a>\"", "\"<a>\"", "\"<a>\"", "String: '<a>'"],
    ),
    row(
        "date",
        "<dateTime.iso8601>20261101T05:44:05</dateTime.iso8601>",
        [
            "\"20261101T05:44:05\"",
            "\"20261101T05:44:05\"",
            "[2026,11,1,5,0]",
            "a date",
        ],
    ),
    row(
        "date-fraction",
        "<dateTime.iso8601>20261101T05:44:05.250</dateTime.iso8601>",
        [
            "\"20261101T05:44:05.250\"",
            "\"20261101T05:44:05.250\"",
            "[2026,11,1,5,250]",
            "a date",
        ],
    ),
    row(
        "date-z",
        "<dateTime.iso8601>20261101T05:44:05Z</dateTime.iso8601>",
        [
            "\"20261101T05:44:05Z\"",
            "\"20261101T05:44:05Z\"",
            "[2026,11,1,5,0]",
            "a date",
        ],
    ),
    row(
        "nan",
        "<double>nan</double>",
        ["NaN", "error", "error", "Floating Point: nan"],
    ),
    row(
        "NaN",
        "<double>NaN</double>",
        ["NaN", "error", "error", "Floating Point: nan"],
    ),
    row(
        "exponent",
        "<double>1e-07</double>",
        ["1e-07", "\"1e-07\"", "1e-7", "Floating Point: 0.000000"],
    ),
    row(
        "boolean-word",
        "<boolean>true</boolean>",
        ["error", "1", "error", "error"],
    ),
    row(
        "duplicate",
        "<struct><member><name>a</name><value><int>1</int></value></member><member><name>a</name><value><int>2</int></value></member></struct>",
        [
            "{\"a\": 2}",
            "{\"a\":\"1\"}",
            "{\"a\":2}",
            "Struct of 1 members: Key: String: 'a' Value: Integer: 2",
        ],
    ),
    row(
        "base64-lines",
        "<base64>AAEC\r\nAwQF\r\n</base64>",
        [
            "[0, 1, 2, 3, 4, 5]",
            "[0,1,2,3,4,5]",
            "[0,1,2,3,4,5]",
            "Bit string: 000102030405",
        ],
    ),
];

const HEAD: &str = "HTTP/1.1 200 OK\nContent-Type: text/xml\n\n";

/// A server with a reply for each row at the path of its name, and a reply that starts with a byte
/// order mark.
fn server() -> Canned {
    let reply = |value: &str| {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><methodResponse><params><param><value>{value}</value></param></params></methodResponse>"
        )
    };
    let replies = ROWS.iter().map(|row| {
        (
            format!("POST /{} ", row.name),
            format!("{HEAD}{}", reply(row.value)),
        )
    });
    let marked = format!("{HEAD}\u{feff}{}", reply("<int>5</int>"));
    Canned::start(
        replies
            .chain([("POST /mark ".to_owned(), marked)])
            .collect(),
    )
}

/// The names of all replies, as a list in JSON.
fn names() -> String {
    let names: Vec<_> = ROWS.iter().map(|row| row.name).chain(["mark"]).collect();
    format!("{names:?}")
}

/// Compares the output of a client, a line `NAME VALUE` for each reply, with a column.
fn compare(shown: &str, mark: &str, column: impl Fn(&Row) -> &'static str) {
    let expected = ROWS
        .iter()
        .map(|row| format!("{} {}", row.name, column(row)));
    let expected: Vec<_> = expected.chain([format!("mark {mark}")]).collect();
    let shown: Vec<_> = shown.lines().collect();
    let wrong: Vec<_> = shown
        .iter()
        .zip(&expected)
        .filter(|(shown, expected)| shown != expected)
        .collect();
    assert!(
        wrong.is_empty() && shown.len() == expected.len(),
        "{wrong:#?}"
    );
}

#[test]
fn replies_to_python() {
    let case = Case::begin("replies_to_python");
    let Some(python) = case.python(&["xmlrpc.client"]) else {
        return;
    };
    let server = server();
    let script = format!(
        "
for name in {}:
    try:
        value = xmlrpc.client.ServerProxy(url + '/' + name).call()
        if isinstance(value, xmlrpc.client.DateTime): value = value.value
        if isinstance(value, xmlrpc.client.Binary): value = list(value.data)
        print(name, json.dumps(value, ensure_ascii=False))
    except Exception as error:
        print(name, 'error')
",
        names()
    );
    compare(&python.print(&server.url, &script), "5", |row| row.python);
}

#[test]
fn replies_to_python_with_builtin_types() {
    let case = Case::begin("replies_to_python_with_builtin_types");
    let Some(python) = case.python(&["xmlrpc.client"]) else {
        return;
    };
    let server = server();
    let script = "
for name in ['date', 'date-fraction', 'date-z']:
    try:
        print(xmlrpc.client.ServerProxy(url + '/' + name, use_builtin_types=True).call())
    except ValueError:
        print('error')
";
    let shown = python.print(&server.url, script);
    assert_eq!(shown, "2026-11-01 05:44:05\nerror\nerror\n");
}

#[test]
fn replies_to_perl() {
    let case = Case::begin("replies_to_perl");
    let Some(perl) = case.perl() else { return };
    let server = server();
    let script = format!(
        "
my $names = $json->decode('{}');
for my $name (@$names) {{
    my $answer = RPC::XML::Client->new(\"$url/$name\")->send_request('call');
    my $value = ref $answer && $answer->value;
    $value = [map {{ ord }} split //, $value] if ref $answer && $answer->type eq 'base64';
    print \"$name \", ref $answer && !$answer->is_fault ? $json->encode($value) : 'error', \"\\n\";
}}",
        names()
    );
    compare(&perl.print(&server.url, &script), "\"5\"", |row| row.perl);
}

#[test]
fn replies_to_node() {
    let case = Case::begin("replies_to_node");
    let Some(node) = case.node() else { return };
    let server = server();
    let script = format!("(async () => {{
    for (const name of {}) {{
        let value = await call('call', [], url + '/' + name);
        if (Buffer.isBuffer(value)) value = [...value];
        if (value instanceof Date) value = [value.getFullYear(), value.getMonth() + 1, value.getDate(), value.getHours(), value.getMilliseconds()];
        console.log(name, String(value).startsWith('error: ') ? 'error' : JSON.stringify(value));
    }}
}})()", names());
    compare(&node.print(&server.url, &script), "5", |row| row.node);
}

#[test]
fn replies_to_xmlrpc_c() {
    let case = Case::begin("replies_to_xmlrpc_c");
    let Some(xmlrpc) = case.xmlrpc_c() else {
        return;
    };
    let server = server();
    let mut shown = String::new();
    for name in ROWS.iter().map(|row| row.name).chain(["mark"]) {
        let answer = xmlrpc.call(&format!("{}/{name}", server.url), &["call"]);
        let answer = answer.unwrap_or_else(|_| "error".to_owned());
        let mut line: Vec<_> = answer.split_whitespace().collect();
        // The program reports that it cannot print dates, with a memory address.
        if answer.contains("datetime value") {
            line = vec!["a date"];
        }
        shown.extend([name, " ", &line.join(" "), "\n"]);
    }
    compare(&shown, "error", |row| row.xmlrpc_c);
}
