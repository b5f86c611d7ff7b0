//! Messages that somebody wrote to harm a reader.

use crate::inputs::{Input, Wire};

/// How often what is hostile comes: more than any limit of depth.
const MANY: usize = 2_000;

pub(crate) fn inputs() -> Vec<Input> {
    let mut inputs = Vec::new();
    for (wire, messages) in [
        (Wire::Json, json()),
        (Wire::Cbor, cbor()),
        (Wire::Xml, xml()),
        (Wire::Form, form()),
        (Wire::XmlRpcCall, call()),
        (Wire::XmlRpcResponse, response()),
    ] {
        for (index, message) in messages.into_iter().enumerate() {
            inputs.push(Input::new(wire, format!("hostile/{index:02}"), message));
        }
    }
    inputs
}

fn json() -> Vec<Vec<u8>> {
    let texts = [
        "[".repeat(MANY),
        "{\"left\":".repeat(MANY),
        format!("{}1{}", "[".repeat(63), "]".repeat(63)),
        format!("[{}1]", "1,".repeat(MANY)),
        format!("1{}", "0".repeat(MANY)),
        format!("1e{}", "9".repeat(MANY)),
        format!("{{\"name\":\"{}\"}}", "\\u0000".repeat(MANY)),
        "{\"name\":\"a\",\"name\":\"b\"}".to_owned(),
        "{\"name\":\"a\",\"n\\u0061me\":\"b\"}".to_owned(),
        "{\"name\":\"\\ud800\"}".to_owned(),
        "{\"name\":\"a\",\"byKey\":{\"k\":{\"name\":\"b\"},\"k\":{\"name\":\"c\"}}}".to_owned(),
        "{\"name\":\"a\"}{".to_owned(),
        "{\"name\":\"a\" \"b\":1}".to_owned(),
        "{\"name\":\"a\",}".to_owned(),
        "{name:\"a\"}".to_owned(),
        "{'name':'a'}".to_owned(),
        "[1,2,]".to_owned(),
        "[01]".to_owned(),
        "[+1]".to_owned(),
        "[.5]".to_owned(),
        "[1.]".to_owned(),
        "nul".to_owned(),
        "NaN".to_owned(),
        "/* comment */ 1".to_owned(),
        " \t\r\n1 \t\r\n".to_owned(),
        "\u{feff}{\"name\":\"a\"}".to_owned(),
        "{\"long\":25000000000000000000}".to_owned(),
        "\"a\tb\"".to_owned(),
        "\"a\\xb\"".to_owned(),
        format!("{{{}}}", "\"x\":{},".repeat(MANY)),
    ];
    let mut messages: Vec<Vec<u8>> = texts.map(String::into_bytes).to_vec();
    messages.push(b"{\"name\":\"\xff\"}".to_vec());
    messages.push(b"\"\xed\xa0\x80\"".to_vec());
    messages
}

fn cbor() -> Vec<Vec<u8>> {
    let mut messages: Vec<Vec<u8>> = vec![
        vec![0x81; MANY],
        vec![0x9f; MANY],
        vec![0xa1; MANY],
        vec![0xc1; MANY],
        b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        b"\x9b\x00\x00\x00\x00\xff\xff\xff\xff\x01".to_vec(),
        b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        b"\x7b\x00\x00\x00\x00\xff\xff\xff\xffabc".to_vec(),
        b"\xbb\x7f\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        b"\xa2\x64name\x61a\x64name\x61b".to_vec(),
        b"\xa2\x64name\x61a\x7f\x62na\x62me\xff\x61b".to_vec(),
        b"\xa1\x64name\x62\xff\xfe".to_vec(),
        b"\xa1\x01\x02".to_vec(),
        b"\xbf\x64name\x61a".to_vec(),
        b"\xbf\x64name\xff".to_vec(),
        b"\xff".to_vec(),
        b"\x1c\x1d\x1e\x1f".to_vec(),
        b"\xf8\x10".to_vec(),
        b"\xf8\xff".to_vec(),
        b"\x7f\x7f\x61a\xff\xff".to_vec(),
        b"\x7f\x41a\xff".to_vec(),
        b"\xc2\x41\xff".to_vec(),
        b"\xc3\x48\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        b"\xc4\x82\x1b\xff\xff\xff\xff\xff\xff\xff\xff\x01".to_vec(),
        b"\xc4\x82\x3b\x7f\xff\xff\xff\xff\xff\xff\xff\x01".to_vec(),
        b"\xc1\xfb\x7f\xf8\x00\x00\x00\x00\x00\x00".to_vec(),
        b"\xc1\x1b\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        b"\xd9\xd9\xf7\xa1\x64name\x61a".to_vec(),
        b"\xa1\x64name\x61a\x00".to_vec(),
    ];
    let mut long = b"\xc2\x59\x08\x00".to_vec();
    long.resize(2_052, 0xff);
    messages.push(long);
    let mut list = b"\x99\x07\xd0".to_vec();
    list.resize(2_003, 0x01);
    messages.push(list);
    messages
}

fn xml() -> Vec<Vec<u8>> {
    let texts = [
        "<a>".repeat(MANY),
        "<Node><left>".repeat(MANY),
        "<!DOCTYPE a [<!ENTITY b \"c\">]><Node><name>&b;</name></Node>".to_owned(),
        "<Node><name>&unknown;</name></Node>".to_owned(),
        "<Node><name>&#0;</name></Node>".to_owned(),
        "<Node><name>&#x110000;</name></Node>".to_owned(),
        "<Node><name>a<!-- c -->b</name></Node>".to_owned(),
        "<Node><name>a<!-- -- --></name></Node>".to_owned(),
        "<Node><name><![CDATA[a]]b]]></name></Node>".to_owned(),
        "<Node><name><![CDATA[a</name></Node>".to_owned(),
        "<Node><name>a</name><name>b</name></Node>".to_owned(),
        "<Node><name>a</nam></Node>".to_owned(),
        "<Node><name>a</name></Node><Node/>".to_owned(),
        "<Node a=\"1\" a=\"2\"><name>a</name></Node>".to_owned(),
        "<Node a=\"<\"><name>a</name></Node>".to_owned(),
        "<Node a=1><name>a</name></Node>".to_owned(),
        "<Node a><name>a</name></Node>".to_owned(),
        "<p:Node xmlns:p=\"u\"><p:name>a</p:name></p:Node>".to_owned(),
        "<p:Node><p:name>a</p:name></p:Node>".to_owned(),
        "<:Node><name>a</name></:Node>".to_owned(),
        "<Node xmlns:xml=\"u\"><name>a</name></Node>".to_owned(),
        "<Node xmlns:p=\"\"><name>a</name></Node>".to_owned(),
        "<?xml version=\"1.0\"?><Node><name>a</name></Node>".to_owned(),
        "<?xml version=\"1.1\"?><Node><name>a</name></Node>".to_owned(),
        "<?xml version=\"1.0\" encoding=\"latin1\"?><Node><name>a</name></Node>".to_owned(),
        " <?xml version=\"1.0\"?><Node><name>a</name></Node>".to_owned(),
        "<Node><?xml a?><name>a</name></Node>".to_owned(),
        "<Node><?p:q a?><name>a</name></Node>".to_owned(),
        "<Node><?target?><name>a</name><?target data?></Node>".to_owned(),
        "<1Node><name>a</name></1Node>".to_owned(),
        "<Node>text<name>a</name></Node>".to_owned(),
        "<Node><name>a\u{fffe}b</name></Node>".to_owned(),
        "<Node><name>a\u{1}b</name></Node>".to_owned(),
        "<Node><name>a]]>b</name></Node>".to_owned(),
        "<Node><name>a\r\nb\rc</name></Node>".to_owned(),
        "<Node ><name >a</name ></Node >".to_owned(),
        "< Node><name>a</name></Node>".to_owned(),
        "<Node><name>a< /name></Node>".to_owned(),
        format!("<Node>{}<name>a</name></Node>", "<x/>".repeat(MANY)),
        format!("<Node {}><name>a</name></Node>", "a='1' ".repeat(20)),
        "<Node xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><name xsi:nil=\"true\"/></Node>".to_owned(),
        "<Collections><dense><member>a</member></dense><dense/></Collections>".to_owned(),
        "<Collections><counts><entry><key>a</key><value>1</value></entry><entry><key>a</key><value>2</value></entry></counts></Collections>".to_owned(),
        "<Collections><counts><entry><value>1</value><key>a</key></entry></counts></Collections>".to_owned(),
        String::new(),
        "text".to_owned(),
        "<".to_owned(),
        "<Node".to_owned(),
        "<Node/".to_owned(),
    ];
    let mut messages: Vec<Vec<u8>> = texts.map(String::into_bytes).to_vec();
    messages.push(b"<Node><name>\xff</name></Node>".to_vec());
    messages.push(b"\xef\xbb\xbf<Node><name>a</name></Node>".to_vec());
    messages
}

fn form() -> Vec<Vec<u8>> {
    let texts = [
        "a.".repeat(MANY),
        "left.".repeat(MANY) + "name=a",
        "name=a&name=b".to_owned(),
        "name=a&name.first=b".to_owned(),
        "name=%".to_owned(),
        "name=%zz".to_owned(),
        "name=%ff".to_owned(),
        "name=%00".to_owned(),
        "n%61me=a".to_owned(),
        "&&&".to_owned(),
        "=".to_owned(),
        "children.member.0.name=a".to_owned(),
        "children.member.01.name=a".to_owned(),
        "children.member.1.name=a&children.member.3.name=b".to_owned(),
        "children.member.4294967296.name=a".to_owned(),
        "children.member.18446744073709551616.name=a".to_owned(),
        "name=a&byKey.entry.1.key=k&byKey.entry.1.value.name=v&byKey.entry.2.key=k".to_owned(),
        "name=a+b%20c".to_owned(),
        "Action=A&Action=B&name=a".to_owned(),
        "name=a;weight=1".to_owned(),
        "weight=1e5&name=a".to_owned(),
        (0..MANY).map(|at| format!("x{at}=1&")).collect(),
    ];
    texts.map(String::into_bytes).to_vec()
}

/// What can stand in a value.
fn values() -> Vec<String> {
    let texts = [
        "<value><array><data>".repeat(MANY),
        "<value><struct><member><name>left</name>".repeat(MANY),
        "<value><int>99999999999999999999</int></value>".to_owned(),
        "<value><int> 1 </int></value>".to_owned(),
        "<value><int>+1</int></value>".to_owned(),
        "<value><int></int></value>".to_owned(),
        "<value><int>1</i4></value>".to_owned(),
        "<value><boolean>true</boolean></value>".to_owned(),
        "<value><double>1e400</double></value>".to_owned(),
        "<value><double>nan</double></value>".to_owned(),
        "<value><dateTime.iso8601>20261399T25:00:00</dateTime.iso8601></value>".to_owned(),
        "<value><dateTime.iso8601>2026-11-29T01:02:03Z</dateTime.iso8601></value>".to_owned(),
        "<value><base64>AB=C</base64></value>".to_owned(),
        "<value><base64>\n AAEC\n</base64></value>".to_owned(),
        "<value>a<!-- c -->b</value>".to_owned(),
        "<value>&unknown;</value>".to_owned(),
        "<value><![CDATA[<int>1</int>]]></value>".to_owned(),
        "<value/>".to_owned(),
        "<value></value>".to_owned(),
        "<value><string/></value>".to_owned(),
        "<value><nil/></value>".to_owned(),
        "<value><ex:nil/></value>".to_owned(),
        "<value><ex:i8>5</ex:i8></value>".to_owned(),
        "<value><i8>5000000000</i8></value>".to_owned(),
        "<value><unknown>1</unknown></value>".to_owned(),
        "<value a=\"1\"><int b='2'>1</int></value>".to_owned(),
        "<value><p:int>1</p:int></value>".to_owned(),
        "<value><?target data?><int>1</int></value>".to_owned(),
        "<value><?p:q data?><int>1</int></value>".to_owned(),
        "<value><?xml data?><int>1</int></value>".to_owned(),
        "<value>text<int>1</int></value>".to_owned(),
        "<value><struct><member><name>name</name><value>a</value></member><member><name>name</name><value>b</value></member></struct></value>".to_owned(),
        "<value><struct><member><value>a</value><name>name</name></member></struct></value>".to_owned(),
        "<value><struct><member><name>name</name></member></struct></value>".to_owned(),
        "<value><struct> <member> <name>name</name> <value>a</value> </member> </struct></value>".to_owned(),
        "<value><array><data/></array></value>".to_owned(),
        "<value><array/></value>".to_owned(),
        "<value><array><data><value>a</value><nil/></data></array></value>".to_owned(),
    ];
    texts.to_vec()
}

fn call() -> Vec<Vec<u8>> {
    let whole = |value: String| {
        format!(
            "<?xml version=\"1.0\"?><methodCall><methodName>m</methodName><params><param>{value}</param></params></methodCall>"
        )
    };
    let mut texts: Vec<String> = values().into_iter().map(whole).collect();
    texts.extend([
        "<methodCall><methodName>m</methodName></methodCall>".to_owned(),
        "<methodCall><methodName> m </methodName><params/></methodCall>".to_owned(),
        "<methodCall><params/></methodCall>".to_owned(),
        "<methodCall><methodName></methodName></methodCall>".to_owned(),
        "<!DOCTYPE a><methodCall><methodName>m</methodName></methodCall>".to_owned(),
        "<methodCall><methodName>m</methodName></methodCall><x/>".to_owned(),
        "<methodResponse/>".to_owned(),
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><methodCall><methodName>m</methodName></methodCall>".to_owned(),
        "<?xml version=\"1.1\"?><methodCall><methodName>m</methodName></methodCall>".to_owned(),
        String::new(),
    ]);
    texts.into_iter().map(String::into_bytes).collect()
}

fn response() -> Vec<Vec<u8>> {
    let whole = |value: String| {
        format!(
            "<?xml version=\"1.0\"?><methodResponse><params><param>{value}</param></params></methodResponse>"
        )
    };
    let mut texts: Vec<String> = values().into_iter().map(whole).collect();
    texts.extend([
        "<methodResponse><fault><value><struct><member><name>faultCode</name><value><int>4</int></value></member><member><name>faultString</name><value>x</value></member></struct></value></fault></methodResponse>".to_owned(),
        "<methodResponse><fault/></methodResponse>".to_owned(),
        "<methodResponse><params/></methodResponse>".to_owned(),
        "<methodResponse/>".to_owned(),
        "<methodResponse><params><param><value>a</value></param><param><value>b</value></param></params></methodResponse>".to_owned(),
        String::new(),
    ]);
    let mut messages: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    messages.push(b"\xff\xfe<\0".to_vec());
    messages
}
