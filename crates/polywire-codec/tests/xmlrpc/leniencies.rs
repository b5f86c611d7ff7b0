//! Each leniency reads what it is for, and nothing reads it without.

use polywire_codec::xmlrpc::{
    Duplicates, Leniency, Reply, XmlRpcDecoder, XmlRpcProfile, code, to_utf8,
};
use polywire_schema::{
    Body, Decode, Decoder as _, Error, ErrorKind, Limits, Map, Member, Timestamp, Value,
};

use super::{value, value_by};

/// What a switch reads.
#[track_caller]
fn reads(switch: Leniency, inside: &str, expected: impl Into<Value>) {
    let expected = expected.into();
    assert!(value(inside).is_err(), "strictly: {inside}");
    let others = Leniency::NAMES.iter().fold(Leniency::STRICT, |all, name| {
        let one = Leniency::STRICT.with_name(name).unwrap();
        match one == switch {
            true => all,
            false => all.with_name(name).unwrap(),
        }
    });
    let by = |leniency| value_by(XmlRpcProfile::DEFAULT.with_leniency(leniency), inside);
    assert!(by(others).is_err(), "without its switch: {inside}");
    assert_eq!(by(switch).unwrap(), expected, "{inside}");
    assert_eq!(by(Leniency::ALL).unwrap(), expected, "{inside}");
}

#[test]
fn control_characters() {
    let switch = Leniency::STRICT.with_control_characters(true);
    reads(switch, "<string>\u{1b}[1m</string>", "\u{1b}[1m");
    reads(switch, "\u{1b}[1m red &amp; \u{0}", "\u{1b}[1m red & \u{0}");
    reads(switch, "<string>&#27;[0m</string>", "\u{1b}[0m");
    reads(switch, "<string>a]]>b</string>", "a]]>b");
    reads(switch, "<string>\u{fffe}</string>", "\u{fffe}");
    reads(switch, "<string><![CDATA[\u{1b}]]></string>", "\u{1b}");
    let long = format!("{}\u{1b}{}", "a".repeat(100), "b".repeat(100));
    reads(switch, &format!("<string>{long}</string>"), long.as_str());
    let named = "<struct><member><name>\u{7}</name><value>x</value></member></struct>";
    reads(switch, named, Value::Map(Map::from_iter([("\u{7}", "x")])));
}

/// As PHP writes an empty map.
#[test]
fn array_structs() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Post {
        id: i32,
        tags: std::collections::BTreeMap<String, i32>,
        more: Option<Fields>,
    }

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    #[serde(default)]
    struct Fields {
        a: i32,
    }

    fn by<T>(
        leniency: Leniency,
        text: &str,
        read: impl FnOnce(&mut XmlRpcDecoder<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
        let (_, mut decoder) = XmlRpcDecoder::response_from_str(text, profile, &Limits::DEFAULT)?;
        let value = read(&mut decoder)?;
        decoder.finish()?;
        Ok(value)
    }

    let switch = Leniency::STRICT.with_array_structs(true);
    let strict = Leniency::ALL.with_array_structs(false);
    let post = |tags: &str, more: &str| {
        super::response(&format!(
            "<struct><member><name>tags</name><value>{tags}</value></member>\
             <member><name>more</name><value>{more}</value></member>\
             <member><name>id</name><value><int>3</int></value></member></struct>"
        ))
    };
    let typed = |leniency, text: &str| by(leniency, text, |decoder| decoder.deserialize::<Post>());
    for empty in [
        "<array><data></data></array>",
        "<array><data/></array>",
        "<array></array>",
        "<array/>",
        " <ex:array>\n<data> </data>\n</ex:array >\n",
    ] {
        let text = post(empty, empty);
        let expected = Post {
            id: 3,
            tags: std::collections::BTreeMap::new(),
            more: Some(Fields { a: 0 }),
        };
        assert_eq!(typed(switch, &text).unwrap(), expected, "{empty}");
        assert_eq!(typed(Leniency::ALL, &text).unwrap(), expected, "{empty}");
        let error = typed(strict, &text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongType, "{error}");
        // By a schema too.
        let text = super::response(empty);
        let map = |decoder: &mut XmlRpcDecoder<'_>| {
            let mut seq = decoder.map(Member::DOCUMENT)?;
            assert_eq!(decoder.key(Member::DOCUMENT, &mut seq)?, None);
            Ok(())
        };
        by(switch, &text, map).unwrap();
        assert!(by(strict, &text, map).is_err(), "{empty}");
        // Without one it is what it is.
        assert_eq!(value(empty).unwrap(), Value::List(Vec::new()));
        let profile = XmlRpcProfile::DEFAULT.with_leniency(switch);
        assert_eq!(value_by(profile, empty).unwrap(), Value::List(Vec::new()));
        // One level of the limit is one level, however often it is left.
        let limits = Limits::DEFAULT.with_depth(1);
        let profile = XmlRpcProfile::DEFAULT.with_leniency(switch);
        let (_, mut decoder) = XmlRpcDecoder::response_from_str(&text, profile, &limits).unwrap();
        assert!(decoder.deserialize::<Fields>().is_ok());
    }
    let empty = "<struct></struct>";
    for never in [
        "<array><data><value>1</value></data></array>",
        "<array><data><value/></data></array>",
        "<array><data/><data/></array>",
        "<array><data></array>",
        "<array>x</array>",
        "<nil/>",
        "<string></string>",
        "",
    ] {
        let text = post(never, empty);
        let (strictly, by_choice) = (typed(strict, &text), typed(Leniency::ALL, &text));
        let (strictly, by_choice) = (strictly.unwrap_err(), by_choice.unwrap_err());
        assert_eq!(strictly.to_string(), by_choice.to_string(), "{never}");
    }
    // A struct is no array.
    let list = super::response(empty);
    let list = by(Leniency::ALL, &list, |decoder| {
        decoder.deserialize::<Vec<i32>>()
    });
    assert!(list.is_err());
}

#[test]
fn boolean_words() {
    let switch = Leniency::STRICT.with_boolean_words(true);
    reads(switch, "<boolean>true</boolean>", true);
    reads(switch, "<boolean>False</boolean>", false);
    for never in ["2", "yes", "", "-1", "01"] {
        let profile = XmlRpcProfile::DEFAULT.with_leniency(Leniency::ALL);
        assert!(
            value_by(profile, &format!("<boolean>{never}</boolean>")).is_err(),
            "{never}"
        );
    }
}

#[test]
fn wide_ints() {
    let switch = Leniency::STRICT.with_wide_ints(true);
    reads(switch, "<int>3000000000</int>", 3_000_000_000_i64);
    reads(switch, "<i4>-2147483649</i4>", -2_147_483_649_i64);
    reads(switch, "<i1>128</i1>", 128);
    reads(switch, "<ex:i2>40000</ex:i2>", 40_000);
    let wide = value_by(
        XmlRpcProfile::DEFAULT.with_leniency(switch),
        "<i8>9223372036854775808</i8>",
    );
    assert_eq!(wide.unwrap().describe(), "an integer");
}

#[test]
fn odd_dates() {
    let switch = Leniency::STRICT.with_odd_dates(true);
    let date = |text: &str| Timestamp::parse_xmlrpc(text).unwrap();
    for (text, expected) in [
        ("20260102", "20260102T00:00:00"),
        ("20260102T030405", "20260102T03:04:05"),
        ("20261231T24:00:00", "20270101T00:00:00"),
    ] {
        let inside = format!("<dateTime.iso8601>{text}</dateTime.iso8601>");
        reads(switch, &inside, date(expected));
    }
    for never in [
        "20260231T00:00:00",
        "",
        "20260102T25:00:00",
        "20260102T24:00:00.5",
        "yesterday",
    ] {
        let inside = format!("<dateTime.iso8601>{never}</dateTime.iso8601>");
        let profile = XmlRpcProfile::DEFAULT.with_leniency(Leniency::ALL);
        assert!(value_by(profile, &inside).is_err(), "{never}");
    }
}

/// As WordPress sends the date of a draft.
#[test]
fn zero_dates() {
    let date = |text: &str| format!("<dateTime.iso8601>{text}</dateTime.iso8601>");
    let switch = Leniency::STRICT.with_zero_dates(true);
    let zero = date("00000000T00:00:00Z");
    reads(switch, &zero, Value::Null);
    reads(
        switch,
        "<dateTime><![CDATA[00000000T00:00:00Z]]></dateTime>",
        Value::Null,
    );
    for never in [
        "00000000T00:00:00",
        "0000-00-00T00:00:00Z",
        "00000000T00:00:00+00:00",
        "00000000T00:00:01Z",
        "00000000",
        "",
    ] {
        let profile = XmlRpcProfile::DEFAULT.with_leniency(Leniency::ALL);
        assert!(value_by(profile, &date(never)).is_err(), "{never}");
    }
    let typed = |inside: &str| {
        let text = super::response(inside);
        let profile = XmlRpcProfile::DEFAULT.with_leniency(switch);
        let (_, mut decoder) =
            XmlRpcDecoder::response_from_str(&text, profile, &Limits::DEFAULT).unwrap();
        let value = decoder.deserialize::<Vec<Option<Timestamp>>>()?;
        decoder.finish()?;
        Ok::<_, Error>(value)
    };
    let known = Timestamp::parse_xmlrpc("20260102T03:04:05").unwrap();
    let values = [&zero, "<nil/>", &date("20260102T03:04:05")]
        .map(|value| format!("<value>{value}</value>"))
        .concat();
    let list = typed(&format!("<array><data>{values}</data></array>")).unwrap();
    assert_eq!(list, [None, None, Some(known)]);
    let wrong = date("00000000T00:00:01Z");
    let error = typed(&format!(
        "<array><data><value>{wrong}</value></data></array>"
    ));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidValue);
    // Where there has to be a date, none is an error.
    let text = super::response(&zero);
    let profile = XmlRpcProfile::DEFAULT.with_leniency(Leniency::ALL);
    let (_, mut decoder) =
        XmlRpcDecoder::response_from_str(&text, profile, &Limits::DEFAULT).unwrap();
    let error = decoder.timestamp(Member::DOCUMENT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
}

#[test]
fn padded_scalars() {
    let switch = Leniency::STRICT.with_padded_scalars(true);
    reads(switch, "<int> 5 </int>", 5);
    reads(switch, "<int>\n5\n</int>", 5);
    reads(switch, "<boolean> 1</boolean>", true);
    reads(switch, "<double>2.5\t</double>", 2.5);
    let date = Timestamp::parse_xmlrpc("20260102T03:04:05").unwrap();
    reads(
        switch,
        "<dateTime.iso8601> 20260102T03:04:05\n</dateTime.iso8601>",
        date,
    );
    // Of a string all is text.
    assert_eq!(value("<string> a </string>").unwrap(), Value::from(" a "));
    let profile = XmlRpcProfile::DEFAULT.with_leniency(switch);
    assert_eq!(value_by(profile, " a ").unwrap(), Value::from(" a "));
}

#[test]
fn empty_numbers() {
    let switch = Leniency::STRICT.with_empty_numbers(true);
    reads(switch, "<int></int>", 0);
    reads(switch, "<i8/>", 0);
    reads(switch, "<double></double>", 0.0);
    let zero = "0".parse::<polywire_schema::BigDecimal>().unwrap();
    reads(switch, "<bigdecimal></bigdecimal>", zero);
}

/// Numbers of any length by a schema, which may come as strings too.
#[test]
fn empty_big_numbers() {
    fn by<T>(
        leniency: Leniency,
        inside: &str,
        read: impl FnOnce(&mut XmlRpcDecoder<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let text = super::response(inside);
        let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
        let (_, mut decoder) = XmlRpcDecoder::response_from_str(&text, profile, &Limits::DEFAULT)?;
        let value = read(&mut decoder)?;
        decoder.finish()?;
        Ok(value)
    }
    let integer = |decoder: &mut XmlRpcDecoder<'_>| decoder.big_integer(Member::DOCUMENT);
    let decimal = |decoder: &mut XmlRpcDecoder<'_>| decoder.big_decimal(Member::DOCUMENT);
    let switch = Leniency::STRICT.with_empty_numbers(true);
    for inside in [
        "<int/>",
        "<i8></i8>",
        "<biginteger/>",
        "<biginteger></biginteger>",
    ] {
        assert_eq!(
            by(switch, inside, integer).unwrap().as_str(),
            "0",
            "{inside}"
        );
        assert!(by(Leniency::STRICT, inside, integer).is_err(), "{inside}");
    }
    for inside in [
        "<double/>",
        "<int></int>",
        "<bigdecimal/>",
        "<biginteger></biginteger>",
    ] {
        assert_eq!(
            by(switch, inside, decimal).unwrap().as_str(),
            "0",
            "{inside}"
        );
        assert!(by(Leniency::STRICT, inside, decimal).is_err(), "{inside}");
    }
    // No number says so.
    for inside in ["<string></string>", ""] {
        assert!(by(Leniency::ALL, inside, integer).is_err(), "{inside}");
        assert!(by(Leniency::ALL, inside, decimal).is_err(), "{inside}");
    }
}

/// As Apache's XML-RPC for Java 3.1 writes an emoji.
#[test]
fn surrogate_pairs() {
    let switch = Leniency::STRICT.with_surrogate_pairs(true);
    reads(switch, "<string>&#55357;&#56832;</string>", "\u{1f600}");
    reads(switch, "a &amp; &#xD83D;&#xDE00; b", "a & \u{1f600} b");
    let long = "&#55357;&#56832;".repeat(1000);
    reads(
        switch,
        &format!("<string>{long}</string>"),
        "\u{1f600}".repeat(1000),
    );
    let named = "<struct><member><name>&#55357;&#56832;</name><value>x</value></member></struct>";
    reads(
        switch,
        named,
        Value::Map(Map::from_iter([("\u{1f600}", "x")])),
    );
    for never in [
        "&#55357;",
        "&#56832;",
        "&#56832;&#55357;",
        "&#55357; &#56832;",
        "&#55357;<!-- -->&#56832;",
        "&#55357;<![CDATA[]]>&#56832;",
        "&#55357;&#65;",
        "&#55357;&#56832",
        "<string a='&#55357;&#56832;'>b</string>",
    ] {
        let profile = XmlRpcProfile::DEFAULT.with_leniency(Leniency::ALL);
        assert!(value_by(profile, never).is_err(), "{never}");
    }
    // Errors are where they were.
    let inside = "<string>&#55357;&#56832;&nbsp;</string>";
    let profile = XmlRpcProfile::DEFAULT.with_leniency(switch);
    let error = value_by(profile, inside).unwrap_err();
    let expected = super::response(inside).find("nbsp").unwrap();
    assert_eq!(error.offset(), Some(expected), "{error}");
}

/// Reads a whole response.
fn whole(message: &str, leniency: Leniency) -> Result<Value, Error> {
    let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
    let (_, mut decoder) = XmlRpcDecoder::response_from_str(message, profile, &Limits::DEFAULT)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

/// As WordPress answers if the file of a plugin begins with an empty line.
#[test]
fn leading_space() {
    let switch = Leniency::STRICT.with_leading_space(true);
    let message = super::response("<string>hi</string>");
    for before in ["\n", "\r\n\t ", "\u{feff}\n"] {
        let message = format!("{before}{message}");
        assert!(whole(&message, Leniency::STRICT).is_err(), "{message}");
        assert_eq!(whole(&message, switch).unwrap(), Value::from("hi"));
        assert_eq!(whole(&message, Leniency::ALL).unwrap(), Value::from("hi"));
    }
    for before in [
        "\n\u{feff}",
        "\n<!-- -->",
        "<!-- -->\n",
        "\n<?xml version='1.0'?>",
        "\u{a0}",
        "\n\u{c}",
        "x",
    ] {
        let message = format!("{before}{message}");
        assert!(whole(&message, Leniency::ALL).is_err(), "{message}");
    }
    // What the declaration says counts all the same.
    let foreign = "\n<?xml version='1.0' encoding='iso-8859-1'?><methodResponse><params><param>\
        <value>Z\u{fc}rich</value></param></params></methodResponse>";
    let error = whole(foreign, switch).unwrap_err();
    assert_eq!(code::of(&error), code::UNSUPPORTED_ENCODING);
    let latin: Vec<u8> = foreign.chars().map(|character| character as u8).collect();
    let both = switch.with_foreign_encodings(true);
    let body = to_utf8(&Body::from(latin), None, both, &Limits::DEFAULT);
    let body = body.unwrap().unwrap();
    let text = std::str::from_utf8(body.as_bytes()).unwrap();
    assert_eq!(whole(text, both).unwrap(), Value::from("Z\u{fc}rich"));
}

#[test]
fn missing_params() {
    let switch = Leniency::STRICT.with_missing_params(true);
    for message in [
        "<methodResponse></methodResponse>",
        "<methodResponse><params/></methodResponse>",
        "<methodResponse><params></params></methodResponse>",
        "<methodResponse><params><param/></params></methodResponse>",
        "<?xml version=\"1.0\"?>\n<methodResponse>\n<params>\n<param></param>\n</params>\n</methodResponse>\n",
    ] {
        let read = |leniency| {
            let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
            let (reply, mut decoder) =
                XmlRpcDecoder::response_from_str(message, profile, &Limits::DEFAULT)?;
            assert_eq!(reply, Reply::Result);
            let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
            decoder.finish()?;
            Ok::<_, Error>(value)
        };
        assert!(read(Leniency::STRICT).is_err(), "{message}");
        assert_eq!(read(switch).unwrap(), Value::Null, "{message}");
    }
    // What is more than nothing must be right.
    let profile = XmlRpcProfile::DEFAULT.with_leniency(switch);
    for message in [
        "<methodResponse/>",
        "<methodResponse><params/>",
        "<methodResponse><params/></methodResponse>x",
        "<methodResponse><params><int/></params></methodResponse>",
    ] {
        let read = XmlRpcDecoder::response_from_str(message, profile, &Limits::DEFAULT);
        assert!(read.is_err(), "{message}");
    }
}

#[test]
fn duplicates_by_policy() {
    let inside = "<struct>\
        <member><name>a</name><value><int>1</int></value></member>\
        <member><name>b</name><value><struct>\
        <member><name>x</name><value>first</value></member>\
        <member><name>x</name><value>last</value></member>\
        </struct></value></member>\
        <member><name>a</name><value><int>2</int></value></member>\
        <member><name>a</name><value><int>3</int></value></member></struct>";
    let by = |policy| value_by(XmlRpcProfile::DEFAULT.with_duplicates(policy), inside);
    let error = by(Duplicates::Reject).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    let first = by(Duplicates::First).unwrap();
    assert_eq!(
        (first["a"].as_i64(), first["b"]["x"].as_str()),
        (Some(1), Some("first"))
    );
    let last = by(Duplicates::Last).unwrap();
    assert_eq!(
        (last["a"].as_i64(), last["b"]["x"].as_str()),
        (Some(3), Some("last"))
    );
    // The others are as they were, once each, and limits count them once.
    assert_eq!(last.as_map().unwrap().len(), 2);
}

#[test]
fn duplicates_for_serde_types() {
    let inside = "<array><data><value><struct>\
        <member><name>a</name><value><int>1</int></value></member>\
        <member><name>a</name><value><int>2</int></value></member></struct></value>\
        <value><struct><member><name>a</name><value><int>3</int></value></member></struct></value>\
        </data></array>";
    let text = super::response(inside);
    let read = |policy| {
        let profile = XmlRpcProfile::DEFAULT.with_duplicates(policy);
        let (_, mut decoder) =
            XmlRpcDecoder::response_from_str(&text, profile, &Limits::DEFAULT).unwrap();
        let value = decoder.deserialize::<Vec<std::collections::HashMap<String, i32>>>()?;
        decoder.finish()?;
        Ok::<_, Error>(value.iter().map(|map| map["a"]).collect::<Vec<_>>())
    };
    assert!(read(Duplicates::Reject).is_err());
    assert_eq!(read(Duplicates::First).unwrap(), [1, 3]);
    assert_eq!(read(Duplicates::Last).unwrap(), [2, 3]);
}

#[test]
fn foreign_encodings() {
    let switch = Leniency::STRICT.with_foreign_encodings(true);
    let message = |declaration: &str| {
        format!(
            "{declaration}<methodResponse><params><param><value>Zürich €</value></param></params></methodResponse>"
        )
    };
    let latin = |text: &str| -> Vec<u8> {
        text.chars()
            .map(|character| match character {
                '€' => 0x80,
                other => other as u8,
            })
            .collect()
    };
    let utf_16 = |text: &str, big: bool| -> Vec<u8> {
        text.encode_utf16()
            .flat_map(|unit| match big {
                true => unit.to_be_bytes(),
                false => unit.to_le_bytes(),
            })
            .collect()
    };
    let plain = message("");
    let cases: Vec<(Vec<u8>, Option<&str>)> = vec![
        (
            latin(&message("<?xml version='1.0' encoding='windows-1252'?>")),
            None,
        ),
        (
            latin(&message("<?xml version='1.0' encoding=\"iso-8859-1\"?>")),
            None,
        ),
        (latin(&plain), Some("windows-1252")),
        // What the message came with counts more than what it says.
        (
            latin(&message("<?xml version='1.0' encoding='utf-16'?>")),
            Some("latin1"),
        ),
        (
            utf_16(
                &message("\u{feff}<?xml version='1.0' encoding='utf-16'?>"),
                true,
            ),
            None,
        ),
        (utf_16(&message("\u{feff}"), false), Some("utf-16")),
        (utf_16(&message("<?xml version='1.0'?>"), false), None),
        (plain.clone().into_bytes(), None),
        (
            message("<?xml version='1.0' encoding='utf-8'?>").into_bytes(),
            Some("UTF-8"),
        ),
    ];
    let limits = Limits::DEFAULT;
    for (bytes, charset) in cases {
        let body = Body::from(bytes);
        assert!(
            to_utf8(&body, charset, Leniency::STRICT, &limits)
                .unwrap()
                .is_none()
        );
        let read = to_utf8(&body, charset, switch, &limits).unwrap();
        let body = read.as_ref().unwrap_or(&body);
        let (_, mut decoder) =
            XmlRpcDecoder::response(body, XmlRpcProfile::DEFAULT, &limits).unwrap();
        let value = Value::decode(Member::DOCUMENT, &mut decoder).unwrap();
        decoder.finish().unwrap();
        assert_eq!(value, Value::from("Zürich €"));
    }
    let unknown = Body::from(message("<?xml version='1.0' encoding='klingon'?>").into_bytes());
    let error = to_utf8(&unknown, None, switch, &limits).unwrap_err();
    assert_eq!(code::of(&error), code::UNSUPPORTED_ENCODING);
    assert_eq!(error.offset(), Some(0));
    // A surrogate without its second half, at the end and before something else; a byte that
    // Shift_JIS does not have, after more characters than are decoded at once.
    let mut long = b"<?xml version='1.0' encoding='shift_jis'?>".to_vec();
    long.extend_from_slice(&[0x83, 0x41].repeat(5000));
    long.extend_from_slice(b"\xa0<a/>");
    for (broken, offset) in [
        (&b"\xff\xfe<\0\x00\xd8"[..], 4),
        (b"\xfe\xff\0<\xd8\x00\0a\0b", 4),
        (&long, long.len() - 5),
    ] {
        let error = to_utf8(&Body::from(broken.to_vec()), None, switch, &limits).unwrap_err();
        assert_eq!(code::of(&error), code::INVALID_CHARACTER);
        assert_eq!(error.offset(), Some(offset), "{error}");
    }
    // Two bytes of UTF-16 become three: the limit is looked at again.
    let long = format!("\u{feff}{}", "語".repeat(100));
    let long = Body::from(utf_16(&long, true));
    let limits = limits.with_bytes(250);
    assert!(
        to_utf8(&long, None, switch, &limits)
            .unwrap_err()
            .is_limit()
    );
}
