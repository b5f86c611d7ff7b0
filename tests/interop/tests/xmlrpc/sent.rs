//! Requests of third-party clients, and how our decoder reads them: strictly, or with the leniency
//! that they need.

use polywire::codec::xmlrpc::{Leniency, XmlRpcDecoder, XmlRpcProfile};
use polywire::schema::{Decode, Limits, Member, Value};
use polywire::text::Timestamp;
use polywire_interop::{Canned, Case};

/// A value in the client's language, a part of the request, the value that we read strictly, and
/// the value that we read with a leniency.
type Row = (&'static str, &'static str, Strict, Lenient);
type Strict = Option<Value>;
type Lenient = Option<(Leniency, Value)>;

const REPLY: &str = "HTTP/1.1 200 OK\nContent-Type: text/xml\n\n<?xml version=\"1.0\"?><methodResponse><params><param><value><int>5</int></value></param></params></methodResponse>";

/// A server that answers every call with 5 and stores the requests.
fn server() -> Canned {
    Canned::start(vec![("POST ", REPLY.to_owned())])
}

fn read(body: &str, leniency: Leniency) -> Option<Value> {
    let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
    let call = XmlRpcDecoder::call_from_str(body, profile, &Limits::DEFAULT);
    let (_, mut decoder) = call.ok()?;
    decoder.parameter().ok()?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

/// Decodes the calls that were sent, one for each row.
fn compare(server: &Canned, rows: &[Row]) {
    let requests = server.requests();
    assert_eq!(requests.len(), rows.len());
    for (request, (what, part, strict, lenient)) in requests.iter().zip(rows) {
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(body.contains(part), "{what}: {body}");
        let value = read(body, Leniency::STRICT);
        // NaN is not equal to itself.
        let same = format!("{value:?}") == format!("{strict:?}");
        assert!(same, "{what}: {value:?} of {body}");
        if let Some((leniency, expected)) = lenient {
            assert_eq!(
                read(body, *leniency).as_ref(),
                Some(expected),
                "{what}: {body}"
            );
        }
    }
}

/// The values of the rows, separated by commas.
fn values(rows: &[Row]) -> String {
    let values: Vec<_> = rows.iter().map(|(value, ..)| *value).collect();
    values.join(", ")
}

/// A value that is read strictly.
#[expect(clippy::unnecessary_wraps, reason = "a cell of the table")]
fn read_as(value: impl Into<Value>) -> Strict {
    Some(value.into())
}

fn control_characters(text: &str) -> Lenient {
    let leniency = Leniency::STRICT.with_control_characters(true);
    Some((leniency, text.into()))
}

fn wide_ints(value: i64) -> Lenient {
    Some((Leniency::STRICT.with_wide_ints(true), value.into()))
}

/// 1 November 2026, 05:44:05, without a time zone.
fn at() -> Value {
    Timestamp::new(1_793_511_845, 0).with_unzoned(true).into()
}

#[test]
fn sent_by_python() {
    let case = Case::begin("sent_by_python");
    let Some(python) = case.python(&["xmlrpc.client"]) else {
        return;
    };
    let rows = [
        ("None", "<value><nil/></value>", Some(Value::Null), None),
        (
            "b'x' * 100",
            "<base64>\neHh4",
            read_as(vec![b'x'; 100]),
            None,
        ),
        (
            r"'a\r\nb'",
            "<string>a\r\nb</string>",
            read_as("a\nb"),
            None,
        ),
        (
            r"'a\x1bb'",
            "<string>a\u{1b}b</string>",
            None,
            control_characters("a\u{1b}b"),
        ),
        ("1e-07", "<double>1e-07</double>", read_as(1e-7), None),
        ("1.0", "<double>1.0</double>", read_as(1.0), None),
        (
            "float('nan')",
            "<double>nan</double>",
            read_as(f64::NAN),
            None,
        ),
        ("True", "<boolean>1</boolean>", read_as(true), None),
        ("'ö 🌧'", "<string>ö 🌧</string>", read_as("ö 🌧"), None),
        ("']]>'", "<string>]]&gt;</string>", read_as("]]>"), None),
        (
            "datetime.datetime(2026, 11, 1, 5, 44, 5)",
            ">20261101T05:44:05<",
            Some(at()),
            None,
        ),
    ];
    let server = server();
    let script = format!(
        "
server = xmlrpc.client.ServerProxy(url, allow_none=True)
for value in [{}]:
    server.call(value)
",
        values(&rows)
    );
    assert_eq!(python.print(&server.url, &script), "");
    compare(&server, &rows);
}

#[test]
fn sent_by_perl() {
    let case = Case::begin("sent_by_perl");
    let Some(perl) = case.perl() else { return };
    let rows = [
        (
            "3000000000",
            "<i8>3000000000</i8>",
            read_as(3_000_000_000_i64),
            None,
        ),
        ("5", "encoding=\"us-ascii\"", read_as(5), None),
        ("1.0", "<int>1</int>", read_as(1), None),
        ("'1e5'", "<double>100000.0</double>", read_as(1e5), None),
        ("'007'", "<int>007</int>", read_as(7), None),
        ("RPC::XML::nil->new", "<nil/>", Some(Value::Null), None),
        (
            r#"RPC::XML::string->new("\x{e9}")"#,
            "<string>\u{e9}</string>",
            read_as("é"),
            None,
        ),
        (
            r#""a\r\nb""#,
            "<string>a&#xd;\nb</string>",
            read_as("a\r\nb"),
            None,
        ),
        (
            r#""a\x1bb""#,
            "<string>a\u{1b}b</string>",
            None,
            control_characters("a\u{1b}b"),
        ),
    ];
    let server = server();
    let script = format!(
        "
$RPC::XML::ALLOW_NIL = 1;
my $server = RPC::XML::Client->new($url);
for my $value ({}) {{
    my $answer = $server->send_request('call', $value);
    die $answer unless ref $answer;
}}",
        values(&rows)
    );
    assert_eq!(perl.print(&server.url, &script), "");
    compare(&server, &rows);
}

#[test]
fn sent_by_node() {
    let case = Case::begin("sent_by_node");
    let Some(node) = case.node() else { return };
    let rows = [
        (
            "3000000000",
            "<int>3000000000</int>",
            None,
            wide_ints(3_000_000_000),
        ),
        ("1.0", "<int>1</int>", read_as(1), None),
        ("0.5", "<double>0.5</double>", read_as(0.5), None),
        ("1e-7", "<double>1e-7</double>", read_as(1e-7), None),
        // The client writes a whole number as an integer with an exponent, which we never read.
        ("1e21", "<int>1e+21</int>", None, None),
        (
            "'<a>'",
            "<string><![CDATA[<a>]]></string>",
            read_as("<a>"),
            None,
        ),
        (
            "'a]]>b'",
            "<![CDATA[a]]]]><![CDATA[>b]]>",
            read_as("a]]>b"),
            None,
        ),
        ("''", "<string/>", read_as(""), None),
        ("null", "<nil/>", Some(Value::Null), None),
        (
            r"'a\r\nb'",
            "<string>a&#xD;\nb</string>",
            read_as("a\r\nb"),
            None,
        ),
        (
            "Buffer.from('hi')",
            "<base64>aGk=</base64>",
            read_as(b"hi".to_vec()),
            None,
        ),
        (
            "new Date(2026, 10, 1, 5, 44, 5)",
            ">20261101T05:44:05<",
            Some(at()),
            None,
        ),
    ];
    let server = server();
    let script = format!(
        "(async () => {{ for (const value of [{}]) await call('call', [value]); }})()",
        values(&rows)
    );
    assert_eq!(node.print(&server.url, &script), "");
    compare(&server, &rows);
}

#[test]
fn sent_by_xmlrpc_c() {
    let case = Case::begin("sent_by_xmlrpc_c");
    let Some(xmlrpc) = case.xmlrpc_c() else {
        return;
    };
    let rows = [
        ("i/5", "<i4>5</i4></value></param>\r\n", read_as(5), None),
        ("I/5", "<i8>5</i8>", read_as(5), None),
        ("n/", "<nil/>", Some(Value::Null), None),
        ("d/1e-7", "<double>0.0000001</double>", read_as(1e-7), None),
        ("b/t", "<boolean>1</boolean>", read_as(true), None),
        (
            "h/00ff",
            "<base64>\r\nAP8=\r\n</base64>",
            read_as(vec![0, 255]),
            None,
        ),
        ("ö", "<string>ö</string>", read_as("ö"), None),
    ];
    let server = server();
    for (value, ..) in &rows {
        let answer = xmlrpc.call(&server.url, &["call", value]);
        assert_eq!(answer.as_deref(), Ok("Integer: 5"));
    }
    compare(&server, &rows);
}
