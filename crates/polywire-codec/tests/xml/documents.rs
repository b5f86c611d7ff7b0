//! Documents by name: what others got wrong, and what XML 1.0 says.

use polywire_schema::{ErrorKind, Value};

use super::shapes::root;
use super::{read, read_lenient, write};

fn bucket(content: &str) -> Result<Value, polywire_schema::Error> {
    read(&format!("<Bucket>{content}</Bucket>"), root("Bucket"))
}

fn name(text: &str) -> String {
    let value = bucket(&format!("<Name>{text}</Name>")).unwrap();
    value["name"].as_str().unwrap().to_owned()
}

fn refused(content: &str, kind: ErrorKind) {
    let error = bucket(content).unwrap_err();
    assert_eq!(error.kind(), kind, "{content}: {error}");
}

#[test]
fn comments_cdata_and_instructions_within_text() {
    // smithy-java reads the first as `a`.
    assert_eq!(name("a<!-- c -->b"), "ab");
    assert_eq!(name("a<?pi x?>b<![CDATA[<&amp;]]>c"), "ab<&amp;c");
    assert_eq!(name("<![CDATA[]]>"), "");
    assert_eq!(name("<![CDATA[a\r\nb\rc]]>\r\n"), "a\nb\nc\n");
    assert_eq!(name("<!-- <Name> -->"), "");
    assert_eq!(name(" a "), " a ");
}

#[test]
fn references() {
    assert_eq!(
        name("&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;&#13;"),
        "<>&\"'A\u{1f600}\r"
    );
    for text in [
        "&nbsp;", "&#0;", "&#xFFFF;", "&#xD800;", "&", "& ", "&lt", "&#;", "&#x;",
    ] {
        refused(&format!("<Name>{text}</Name>"), ErrorKind::Syntax);
        refused(&format!("<Unknown>{text}</Unknown>"), ErrorKind::Syntax);
        refused(&format!("<Unknown a='{text}'/>"), ErrorKind::Syntax);
    }
}

#[test]
fn what_xml_forbids() {
    // smithy-java takes `<` in an attribute.
    for content in [
        "<Name a='<'/>",
        "<Name a='1' a='2'/>",
        "<Name a=1/>",
        "<Name a/>",
        "<Name a='1'b='2'/>",
        "<Name>]]></Name>",
        "<Name>\u{1}</Name>",
        "<Name>\u{ffff}</Name>",
        "<Name></Nam></Name>",
        "<Name></name>",
        "<Name></Name a='1'>",
        "<Name><!-- a -- b --></Name>",
        "<Name><?xml version='1.0'?></Name>",
        "<1/>",
        "< Name/>",
        "text",
        "<![CDATA[]]>",
        "&#32;",
        "<Name><a/></Name>",
        "<!DOCTYPE a>",
        // Productions 4, 5, 16 and 17.
        "<a\u{d7}/>",
        "<\u{b7}/>",
        "<Name a\u{d7}='1'/>",
        "<Name><?1?></Name>",
        "<Name><?a/b?></Name>",
        "<Name><?XML a?></Name>",
        "<?a\u{d7}?>",
        "<? a?>",
    ] {
        refused(content, ErrorKind::Syntax);
    }
    // Names of other letters are names.
    assert!(bucket("<\u{e9}t\u{e9} \u{e9}='1'/><?\u{e9} a?>").is_ok());
}

#[test]
fn the_document_around_the_root() {
    let at = root("Bucket");
    for text in [
        "<Bucket/>",
        "<Bucket></Bucket >",
        "\u{feff}<?xml version='1.0' encoding='utf-8'?>\n<!-- c --><?pi?>\n<Bucket/>\n<!-- d -->",
        "<?xml version='1.0' encoding='ISO-8859-1'?><Bucket/>",
        "<b:Bucket xmlns:b='urn:b'/>",
    ] {
        assert!(read(text, at).is_ok(), "{text}");
    }
    for (text, kind) in [
        ("", ErrorKind::Truncated),
        (" ", ErrorKind::Truncated),
        ("<Bucket>", ErrorKind::Truncated),
        ("<Bucket><Name>", ErrorKind::Truncated),
        ("<Bucket/><Bucket/>", ErrorKind::Syntax),
        ("<Bucket/>text", ErrorKind::Syntax),
        ("text<Bucket/>", ErrorKind::Syntax),
        (" <?xml version='1.0'?><Bucket/>", ErrorKind::Syntax),
        ("<!DOCTYPE Bucket><Bucket/>", ErrorKind::Syntax),
        // Production 23.
        ("<?xml?><Bucket/>", ErrorKind::Syntax),
        ("<?xml encoding='UTF-8'?><Bucket/>", ErrorKind::Syntax),
        ("<?xml version='1.0' a='b'?><Bucket/>", ErrorKind::Syntax),
        (
            "<!DOCTYPE a [<!ENTITY e 'x'>]><Bucket>&e;</Bucket>",
            ErrorKind::Syntax,
        ),
        (
            "<?xml version='1.0' encoding='latin1'?><Bucket><Name>\u{e9}</Name></Bucket>",
            ErrorKind::Encoding,
        ),
        ("<Barrel/>", ErrorKind::WrongType),
    ] {
        assert_eq!(read(text, at).unwrap_err().kind(), kind, "{text}");
    }
    // A client does not look at the name of the root.
    assert!(read_lenient("<Barrel/>", at).is_ok());
}

#[test]
fn malformed_utf8() {
    use polywire_codec::xml::{XmlDecoder, XmlProfile};
    use polywire_schema::{Body, Limits};
    let body = Body::from(b"<Bucket><Name>\xc3\x28</Name></Bucket>".to_vec());
    let error = XmlDecoder::from_body(&body, XmlProfile::DEFAULT, &Limits::DEFAULT).unwrap_err();
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::Characters, Some(14))
    );
}

#[test]
fn numbers_and_the_space_around_them() {
    let sizes = |text: &str| {
        let parts = bucket(&format!("<Parts><Part>{text}</Part></Parts>"))?;
        Ok::<_, polywire_schema::Error>(parts["parts"][0].as_i64().unwrap())
    };
    for (text, value) in [
        ("12", 12),
        (" \r\n-7\t", -7),
        ("+5", 5),
        ("007", 7),
        ("1<!-- -->2", 12),
        ("<![CDATA[9]]>", 9),
        ("-9223372036854775808", i64::MIN),
    ] {
        assert_eq!(sizes(text).unwrap(), value, "{text}");
    }
    // The last is a long that smithy-java's JSON takes without an error.
    for text in [
        "",
        "1 2",
        "1.0",
        "0x1",
        "+-1",
        "--1",
        "one",
        "25000000000000000000",
    ] {
        assert_eq!(
            sizes(text).unwrap_err().kind(),
            ErrorKind::InvalidValue,
            "{text}"
        );
    }
    let scalars = |content: &str| read(&format!("<Scalars>{content}</Scalars>"), root("Scalars"));
    for (content, member, shown) in [
        ("<double> 1e3 </double>", "double", "1000.0"),
        ("<double>NaN</double>", "double", "NaN"),
        ("<float>-Infinity</float>", "float", "-inf"),
        ("<boolean> true\n</boolean>", "boolean", "true"),
        ("<blob>aG\nk=</blob>", "blob", "hi"),
        (
            "<httpDate>Sat, 21 Nov 2026 20:30:00 GMT</httpDate>",
            "httpDate",
            "2026",
        ),
        (
            "<epochSeconds> 1795293000.25 </epochSeconds>",
            "epochSeconds",
            "2026",
        ),
    ] {
        let value = scalars(content).unwrap();
        let found = format!("{:?}", value[member]);
        assert!(
            found.contains(shown) || found.contains(&shown.to_uppercase()),
            "{found}"
        );
    }
    for content in [
        "<double>1e999</double>",
        "<double>nan</double>",
        "<double/>",
        "<boolean>1</boolean>",
        "<byte>128</byte>",
        "<dateTime>2026-11-21T20:30:00+01:00</dateTime>",
        "<blob>?</blob>",
    ] {
        let error = scalars(content).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "{content}: {error}");
    }
    let text = "<Scalars><dateTime>2026-11-21T20:30:00+01:00</dateTime></Scalars>";
    assert!(read_lenient(text, root("Scalars")).is_ok());
}

#[test]
fn unknown_elements_and_attributes() {
    let content = "<X a='1' b=\"2>\"><Name>no</Name><![CDATA[<]]></X><Name c='3'>yes</Name><Y/>";
    assert_eq!(bucket(content).unwrap()["name"].as_str(), Some("yes"));
    let deep = format!("{}{}", "<X>".repeat(80), "</X>".repeat(80));
    assert!(bucket(&deep).unwrap_err().is_limit());
    // Not one of a list, nor of an entry.
    let content = "<Parts><Other>x</Other><Part>1</Part></Parts>\
        <Tags><other/><entry><x/><key>k</key><y/><value>v</value><z/></entry></Tags>";
    let value = bucket(content).unwrap();
    assert_eq!(value["parts"][0].as_i64(), Some(1));
    assert_eq!(value["tags"]["k"].as_str(), Some("v"));
}

#[test]
fn entries() {
    for (entry, kind) in [
        ("<key>k</key>", ErrorKind::Missing),
        ("<value>v</value>", ErrorKind::Missing),
        ("", ErrorKind::Missing),
        (
            "<key>k</key><key>k</key><value>v</value>",
            ErrorKind::Duplicate,
        ),
        (
            "<key>k</key><value>v</value><value>v</value>",
            ErrorKind::Duplicate,
        ),
        (
            "<value>v</value><key>k</key><key>k</key>",
            ErrorKind::Duplicate,
        ),
        (
            "<value>v</value><value>v</value><key>k</key>",
            ErrorKind::Duplicate,
        ),
        ("text<key>k</key><value>v</value>", ErrorKind::Syntax),
    ] {
        refused(&format!("<Tags><entry>{entry}</entry></Tags>"), kind);
    }
    refused("<Tags><entry/></Tags>", ErrorKind::Missing);
    let two = "<entry><key>k</key><value>v</value></entry>".repeat(2);
    refused(&format!("<Tags>{two}</Tags>"), ErrorKind::Duplicate);
    let value = bucket("<Tags><entry><value/><key/></entry></Tags>").unwrap();
    assert_eq!(value["tags"][""].as_str(), Some(""));
}

#[test]
fn empty_is_empty() {
    for (content, member) in [("<Name/>", "name"), ("<Name></Name>", "name")] {
        assert_eq!(bucket(content).unwrap()[member].as_str(), Some(""));
    }
    for content in ["<Parts/>", "<Parts> </Parts>", "<Parts><!-- --></Parts>"] {
        assert_eq!(
            bucket(content).unwrap()["parts"].as_list(),
            Some(&[][..]),
            "{content}"
        );
    }
    for content in ["<Owner/>", "<Owner></Owner>"] {
        assert!(
            bucket(content).unwrap()["owner"]
                .as_map()
                .unwrap()
                .is_empty()
        );
    }
}

#[test]
fn nulls() {
    let nil = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'";
    let value = bucket(&format!("<Name {nil}/>")).unwrap();
    assert!(value.as_map().unwrap().is_empty());
    refused(
        &format!("<Parts><Part {nil}/></Parts>"),
        ErrorKind::WrongType,
    );
    let text = format!("<Bucket><Parts><Part {nil}/><Part>1</Part></Parts></Bucket>");
    let value = read_lenient(&text, root("Bucket")).unwrap();
    assert_eq!(value["parts"].as_list().unwrap().len(), 1);
    let text =
        format!("<Collections><sparse><member>a</member><member {nil}/></sparse></Collections>");
    let value = read(&text, root("Collections")).unwrap();
    assert!(value["sparse"][1].is_null());
    assert_eq!(
        read(
            &write(&value, root("Collections")).unwrap(),
            root("Collections")
        )
        .unwrap(),
        value
    );
}

#[test]
fn errors_say_where() {
    let text =
        "<Bucket><Contents><Key>a</Key></Contents><Contents><Size>x</Size></Contents></Bucket>";
    let error = read(text, root("Bucket")).unwrap_err();
    assert_eq!(error.path(), "Contents[1].Size");
    assert_eq!(error.offset(), text.find('x'));
    let text = "<Bucket><Tags><entry><key>a</key></entry></Tags></Bucket>";
    let error = read(text, root("Bucket")).unwrap_err();
    assert_eq!(
        (error.path(), error.kind()),
        ("Tags.entry", ErrorKind::Missing)
    );
}

#[test]
fn what_cannot_be_written() {
    let at = root("Bucket");
    for text in ["\u{0}", "a\u{1f}", "\u{ffff}"] {
        let value = Value::Map([("name", text)].into_iter().collect());
        let error = write(&value, at).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unwritable);
        let tags = Value::Map([(text, "v")].into_iter().collect());
        let value = Value::Map([("tags", tags)].into_iter().collect());
        assert_eq!(write(&value, at).unwrap_err().kind(), ErrorKind::Unwritable);
    }
    // XML has no form for documents.
    for (shape, member) in [("Scalars", "document"), ("Collections", "documents")] {
        let document = match member {
            "documents" => Value::List(vec![Value::from(1)]),
            _ => Value::from(1),
        };
        let value = Value::Map([(member, document)].into_iter().collect());
        assert_eq!(
            write(&value, root(shape)).unwrap_err().kind(),
            ErrorKind::Unwritable
        );
    }
    let error = write(&Value::from(1), polywire_schema::Member::DOCUMENT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unwritable);
}

/// Layout that the quick paths know, and layout that they leave to others.
#[test]
fn layout_means_nothing() {
    let plain = "<Bucket><Name>n</Name><Owner><DisplayName>d</DisplayName></Owner>\
        <Contents><Key>k</Key><Size>7</Size></Contents><Unknown><a/></Unknown></Bucket>";
    let expected = read_lenient(plain, root("Bucket")).unwrap();
    for space in [
        "\n",
        "\n ",
        "\r\n  ",
        "\t",
        " ",
        "\n\t",
        "\n \t ",
        "\n\n",
        &format!("\n{}", " ".repeat(31)),
        &format!("\n{}", " ".repeat(32)),
        &format!("\n{}", " ".repeat(70)),
    ] {
        let text = plain.replace("><", &format!(">{space}<"));
        let found = read_lenient(&text, root("Bucket")).unwrap();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{space:?}");
    }
    // No white space, though it comes before all that is none.
    for space in ["\u{1}", "\n\u{1}", "\n  \u{b}", "\n  \u{1f} "] {
        let text = plain.replace("><", &format!(">{space}<"));
        assert!(read_lenient(&text, root("Bucket")).is_err(), "{space:?}");
    }
}
