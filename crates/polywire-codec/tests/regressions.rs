//! Bugs that other implementations have, each as a test of ours, and what
//! real peers are known to send.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod shapes;
mod support;

use polywire_codec::xmlrpc::{
    Envelope, Leniency, Reply, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile, read_call,
    read_response, write_call, write_response,
};
use polywire_codec::{cbor, json};
use polywire_schema::{
    BigInteger, Body, Decode, Encode, Encoder, Error, ErrorKind, Limits, Map, Member, Text,
    Timestamp, Value,
};
use shapes::{Collections, Node, Scalars, root, samples};
use support::{Cbor, Json, XmlRpc, decode, encode};

/// The value of a response of XML-RPC.
fn value(xml: &str) -> Result<Value, Error> {
    let response = format!(
        "<?xml version=\"1.0\"?><methodResponse><params><param><value>{xml}</value></param>\
        </params></methodResponse>"
    );
    read_response(&response, &Limits::DEFAULT).map(Result::unwrap)
}

/// The same, read with a leniency.
fn lenient(leniency: Leniency, xml: &str) -> Result<Value, Error> {
    let response = format!(
        "<?xml version=\"1.0\"?><methodResponse><params><param><value>{xml}</value></param>\
        </params></methodResponse>"
    );
    let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
    let (_, mut decoder) = XmlRpcDecoder::response_from_str(&response, profile, &Limits::DEFAULT)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

fn string(xml: &str) -> String {
    match value(xml).unwrap() {
        Value::String(text) => text.into(),
        other => panic!("{other:?}"),
    }
}

/// Of one member of the scalars, typed.
fn scalars(name: &str, xml: &str) -> Result<Scalars, Error> {
    let response = format!(
        "<methodResponse><params><param><value><struct><member><name>{name}</name><value>{xml}\
        </value></member></struct></value></param></params></methodResponse>"
    );
    let typed = decode::<XmlRpc, Scalars>(response.as_bytes(), root("Scalars"));
    let dynamic = decode::<XmlRpc, Value>(response.as_bytes(), root("Scalars"));
    assert_eq!(typed.is_ok(), dynamic.is_ok());
    typed
}

/// libiqxmlrpc: what it got wrong in reading and writing.
mod libiqxmlrpc {
    use super::*;

    #[test]
    fn cdata_is_text() {
        for xml in [
            "<string><![CDATA[a <b> & c]]></string>",
            "<![CDATA[a <b> & c]]>",
            "<string>a <![CDATA[<b>]]> &amp; c</string>",
            "<string><![CDATA[a <b]]><![CDATA[> & c]]></string>",
            "<!-- c --><![CDATA[a <b> & c]]>",
        ] {
            assert_eq!(string(xml), "a <b> & c", "{xml}");
            let read = scalars("string", xml).unwrap();
            assert_eq!(read.string.unwrap(), "a <b> & c");
        }
        assert_eq!(string("<string><![CDATA[]]></string>"), "");
        assert_eq!(string("<string><![CDATA[]]]]></string>"), "]]");
    }

    #[test]
    fn text_around_a_comment_is_whole() {
        for xml in [
            "<string>a<!-- c -->b</string>",
            "a<!-- c -->b",
            "<string><!-- c -->a<?pi?>b<!--<d>--></string>",
            "<!-- c -->ab",
        ] {
            assert_eq!(string(xml), "ab", "{xml}");
            assert_eq!(scalars("string", xml).unwrap().string.unwrap(), "ab");
        }
        let number = scalars("integer", "<int>1<!-- c -->2</int>").unwrap();
        assert_eq!(number.integer, Some(12));
    }

    #[test]
    fn white_space_is_text() {
        for text in [" ", "  \n ", "\t", " a ", "\n"] {
            assert_eq!(string(&format!("<string>{text}</string>")), text);
            assert_eq!(string(text), text);
            let read = scalars("string", text).unwrap();
            assert_eq!(read.string.unwrap(), text);
        }
        // Around a tag it is layout.
        assert_eq!(string(" \n <string> a </string>\n "), " a ");
    }

    #[test]
    fn text_before_an_entity_is_kept() {
        assert_eq!(
            string("<string>a &lt; b &amp;&gt; c</string>"),
            "a < b &> c"
        );
        assert_eq!(string("a&quot;b&apos;c"), "a\"b'c");
        assert_eq!(string("x&#65;&#x1F600;&#13;y"), "xA\u{1f600}\ry");
    }

    #[test]
    fn characters_that_xml_forbids_are_never_written() {
        for text in ["\0", "a\u{1b}[31m", "\u{8}", "\u{fffe}", "\u{ffff}"] {
            let value = Value::from(text);
            let in_map = Value::Map(Map::from_iter([(text, 1)]));
            for error in [
                write_response(&value).unwrap_err(),
                write_response(&in_map).unwrap_err(),
                write_call("m", std::slice::from_ref(&value)).unwrap_err(),
                write_call(text, &[]).unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::Unwritable);
                assert!(error.what_was_found().starts_with("U+"), "{error}");
            }
        }
    }

    #[test]
    fn characters_that_xml_forbids_are_never_read() {
        // Where they stand is behind the tags that `value` puts before them.
        let before = "<?xml version=\"1.0\"?><methodResponse><params><param><value>".len();
        let expected = "a character that XML 1.0 allows";
        for (xml, offset) in [
            ("a\u{fffe}b", 1),
            ("<string>\u{fffd}\u{ffff}</string>", 11),
            ("<string><![CDATA[\u{ffff}]]></string>", 17),
            ("<!-- \u{fffe} -->", 5),
            ("<string a='\u{fffe}'>a</string>", 11),
            ("<string>a\u{1}</string>", 9),
            ("<string><![CDATA[\u{1}]]></string>", 17),
        ] {
            let error = value(xml).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Syntax, "{xml:?}");
            assert_eq!(error.what_was_expected(), expected, "{xml:?}");
            assert_eq!(error.offset(), Some(before + offset), "{xml:?}");
            assert!(scalars("string", xml).is_err());
        }
        let error = value("<string>\u{ffff}</string>").unwrap_err();
        assert_eq!(error.what_was_found(), "U+FFFF");
        for reference in ["&#xFFFE;", "&#65535;", "&#0;", "&#x1;", "&#xD800;"] {
            assert!(value(reference).is_err(), "{reference}");
        }
        // Their neighbours are characters.
        assert_eq!(string("\u{fffd}\u{10ffff}"), "\u{fffd}\u{10ffff}");
    }

    #[test]
    fn the_end_of_cdata_is_no_text() {
        let before = "<?xml version=\"1.0\"?><methodResponse><params><param><value>".len();
        for (xml, offset) in [
            ("]]>", 0),
            ("<string>a]]>b</string>", 9),
            ("<string>&lt;a]]>b</string>", 13),
            ("<string><![CDATA[a]]>]]>b</string>", 21),
            ("<string>a]]>b<![CDATA[a]]></string>", 9),
            (
                "<struct><member><name>a]]></name><value/></member></struct>",
                23,
            ),
        ] {
            let error = value(xml).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Syntax, "{xml}");
            assert_eq!(error.offset(), Some(before + offset), "{xml}: {error}");
            assert!(scalars("string", xml).is_err());
        }
        for xml in [
            "]]&gt;",
            "<string>]]&gt;</string>",
            "<string>]]<!-- ]]> -->></string>",
            "<string>]<![CDATA[]]]>></string>",
        ] {
            assert_eq!(string(xml), "]]>", "{xml}");
        }
        assert_eq!(string("<string a=']]>'>]]</string>"), "]]");
    }

    #[test]
    fn doubles_have_the_form_of_the_specification() {
        let long = format!("1{}.0", "0".repeat(300));
        for (double, text) in [
            (0.1, "0.1"),
            (1e-7, "0.0000001"),
            (-1.25e-7, "-0.000000125"),
            (3.0, "3.0"),
            (-0.0, "-0.0"),
            (-2.5, "-2.5"),
            (1.5e16, "15000000000000000.0"),
            // Tcl refuses `1e+300`.
            (1e300, &long),
        ] {
            let written = write_response(&Value::from(double)).unwrap();
            let written = String::from_utf8(written).unwrap();
            assert!(
                written.contains(&format!("<double>{text}</double>")),
                "{written}"
            );
        }
    }

    #[test]
    fn only_0_and_1_are_booleans() {
        for bad in ["2", "", "true", "01", " 1", "-1"] {
            let xml = format!("<boolean>{bad}</boolean>");
            assert_eq!(value(&xml).unwrap_err().kind(), ErrorKind::InvalidValue);
            assert!(scalars("boolean", &xml).is_err());
        }
        assert_eq!(value("<boolean>1</boolean>").unwrap(), Value::from(true));
    }

    #[test]
    fn there_is_no_31st_of_february() {
        for bad in [
            "20260231T00:00:00",
            "20250229T00:00:00",
            "20261301T00:00:00",
            "20260101T24:00:00",
            "20260101T00:60:00",
            "20260100T00:00:00",
        ] {
            let xml = format!("<dateTime.iso8601>{bad}</dateTime.iso8601>");
            assert_eq!(value(&xml).unwrap_err().kind(), ErrorKind::InvalidValue);
            assert!(scalars("time", &xml).is_err());
        }
        assert!(value("<dateTime.iso8601>20240229T23:59:59</dateTime.iso8601>").is_ok());
    }

    #[test]
    fn nesting_goes_deeper_than_9() {
        let nested = |levels: usize| {
            let open = "<array><data><value>".repeat(levels);
            value(&format!(
                "{open}{}",
                "</value></data></array>".repeat(levels)
            ))
        };
        assert!(nested(64).is_ok());
        let error = nested(65).unwrap_err();
        assert!(error.is_limit() && error.to_string().contains("Limits::depth"));
    }
}

/// smithy-java: what it got wrong in JSON and XML.
mod smithy_java {
    use super::*;

    #[test]
    fn a_number_beyond_64_bits_is_no_long() {
        let bytes = b"{\"long\":25000000000000000000}";
        let error = decode::<Json, Scalars>(bytes, root("Scalars")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        assert_eq!(error.path(), "long");
        assert!(decode::<Json, Value>(bytes, root("Scalars")).is_err());
        // Without a schema its digits are kept.
        let value = json::read_value("25000000000000000000").unwrap();
        assert_eq!(json::write_value(&value).unwrap(), b"25000000000000000000");
    }

    #[test]
    fn malformed_utf8_is_refused() {
        for bad in [
            &b"\xff"[..],
            b"\xc3",
            b"\xc0\x80",
            b"\xed\xa0\x80",
            b"\xf5\x80\x80\x80",
        ] {
            for padding in [0, 100] {
                let text = [&vec![b'x'; padding][..], bad].concat();
                let body = [b"{\"string\":\"", &text[..], b"\"}"].concat();
                let error = decode::<Json, Scalars>(&body, root("Scalars")).unwrap_err();
                assert_eq!(error.offset(), Some(11 + padding));
                let unknown = [b"{\"unknown\":\"", &text[..], b"\"}"].concat();
                assert!(decode::<Json, Scalars>(&unknown, root("Scalars")).is_err());
                let body = [
                    b"<methodResponse><params><param><value>",
                    &text[..],
                    b"</value></param></params></methodResponse>",
                ]
                .concat();
                assert!(decode::<XmlRpc, Value>(&body, Member::DOCUMENT).is_err());
                let mut body = vec![0x78, text.len() as u8];
                body.extend_from_slice(&text);
                assert!(cbor::read_value(&body).is_err());
            }
        }
    }

    #[test]
    fn bytes_are_used_before_their_buffer_is() {
        // A pooled buffer was released before its bytes were used: here the
        // input is gone and the value stays.
        let at = root("Collections");
        let bytes = encode::<Json, _>(&samples::collections(), at).unwrap();
        let read: Collections = {
            let body = Body::from(bytes);
            support::decode_from::<Json, _>(&body, at, false, &Limits::DEFAULT).unwrap()
        };
        assert_eq!(read, samples::collections());
    }
}

/// What real peers of XML-RPC send.
mod peers {
    use super::*;

    #[test]
    fn python_nil() {
        for nil in [
            "<nil/>",
            "<nil></nil>",
            "<ex:nil/>",
            " <nil/> ",
            "\n<nil />\n",
        ] {
            assert_eq!(value(nil).unwrap(), Value::Null);
            assert_eq!(
                scalars("string", nil).unwrap(),
                Scalars::default(),
                "{nil:?}"
            );
            assert_eq!(
                scalars("document", nil).unwrap().document,
                Some(Value::Null)
            );
        }
        let sparse = "<methodResponse><params><param><value><struct><member><name>sparse</name>\
            <value><array><data>\n<value><nil/></value>\n<value> <nil/></value></data></array>\
            </value></member></struct></value></param></params></methodResponse>";
        let read: Collections =
            decode::<XmlRpc, _>(sparse.as_bytes(), root("Collections")).unwrap();
        assert_eq!(read.sparse, Some(vec![None, None]));
    }

    #[test]
    fn python_base64_with_line_breaks() {
        let xml = "<base64>\nAQID\nBAUG\r\n  Bw==\n</base64>";
        assert_eq!(
            value(xml).unwrap().as_blob(),
            Some(&[1, 2, 3, 4, 5, 6, 7][..])
        );
        let read = scalars("blob", xml).unwrap();
        assert_eq!(read.blob.unwrap().as_bytes(), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(value("<base64/>").unwrap().as_blob(), Some(&[][..]));
    }

    #[test]
    fn python_floats() {
        for (xml, double) in [
            ("<double>1e-07</double>", 1e-7),
            ("<double>1E+16</double>", 1e16),
            ("<double>-0.0</double>", -0.0),
            ("<double>+1.5</double>", 1.5),
            ("<double>inf</double>", f64::INFINITY),
            ("<double>-inf</double>", f64::NEG_INFINITY),
            ("<float>2.5</float>", 2.5),
        ] {
            assert_eq!(value(xml).unwrap(), Value::from(double), "{xml}");
            assert_eq!(scalars("double", xml).unwrap().double, Some(double));
            assert_eq!(scalars("float", xml).unwrap().float, Some(double as f32));
        }
        let nan = scalars("double", "<double>nan</double>").unwrap();
        assert!(nan.double.unwrap().is_nan());
    }

    #[test]
    fn python_call_as_it_stands() {
        let call = "<?xml version='1.0'?>\n<methodCall>\n<methodName>f</methodName>\n<params>\n\
            <param>\n<value><string>a</string></value>\n</param>\n<param>\n<value><array><data>\n\
            <value><int>1</int></value>\n<value><boolean>1</boolean></value>\n</data></array></value>\n\
            </param>\n<param>\n<value><struct>\n<member>\n<name>k</name>\n<value><nil/></value></member>\n\
            </struct></value>\n</param>\n</params>\n</methodCall>\n";
        let (method, parameters) = read_call(call, &Limits::DEFAULT).unwrap();
        assert_eq!(method, "f");
        let list = Value::List(vec![Value::from(1), Value::from(true)]);
        let map = Value::Map(Map::from_iter([("k", Value::Null)]));
        assert_eq!(parameters, [Value::from("a"), list, map]);
    }

    #[test]
    fn integers_of_all_names() {
        for tag in [
            "i1", "i2", "i4", "i8", "int", "ex:i1", "ex:i2", "ex:i8", "ex:int",
        ] {
            let xml = format!("<{tag}>-7</{tag}>");
            assert_eq!(value(&xml).unwrap(), Value::from(-7), "{tag}");
            assert_eq!(scalars("long", &xml).unwrap().long, Some(-7));
        }
        let xml = "<ex:biginteger>25000000000000000000</ex:biginteger>";
        assert_eq!(format!("{:?}", value(xml).unwrap()), "25000000000000000000");
        let read = scalars("bigInteger", xml).unwrap();
        assert_eq!(read.big_integer.unwrap().as_str(), "25000000000000000000");
        let xml = "<ex:bigdecimal>1.10</ex:bigdecimal>";
        let read = scalars("bigDecimal", xml).unwrap();
        assert_eq!(read.big_decimal.unwrap().as_str(), "1.10");
        assert_eq!(value("<int>+7</int>").unwrap(), Value::from(7));
        assert_eq!(value("<i4>007</i4>").unwrap(), Value::from(7));
    }

    #[test]
    fn perl_i8_and_us_ascii() {
        let response = "<?xml version=\"1.0\" encoding=\"us-ascii\"?><methodResponse><params><param>\
            <value><i8>9007199254740993</i8></value></param></params></methodResponse>";
        let read = read_response(response, &Limits::DEFAULT).unwrap();
        assert_eq!(read, Ok(Value::from(9_007_199_254_740_993_i64)));
    }

    #[test]
    fn node_int_beyond_32_bits() {
        let wide = "<int>3000000000</int>";
        assert!(value(wide).is_err());
        assert!(scalars("long", wide).is_err());
        assert_eq!(
            lenient(Leniency::STRICT.with_wide_ints(true), wide).unwrap(),
            Value::from(3_000_000_000_i64)
        );
        assert_eq!(
            scalars("long", "<i8>3000000000</i8>").unwrap().long,
            Some(3_000_000_000)
        );
        // An integer of 32 bits it is not.
        assert!(scalars("integer", "<i8>3000000000</i8>").is_err());
    }

    #[test]
    fn node_whole_doubles_and_cdata() {
        assert_eq!(scalars("double", "<int>1</int>").unwrap().double, Some(1.0));
        assert_eq!(scalars("float", "<i4>-2</i4>").unwrap().float, Some(-2.0));
        let read = scalars("string", "<string><![CDATA[<x>]]></string>").unwrap();
        assert_eq!(read.string.unwrap(), "<x>");
    }

    #[test]
    fn php_latin_1_and_entities() {
        let response = |encoding: &str, text: &str| {
            format!(
                "<?xml version=\"1.0\" encoding=\"{encoding}\"?>\n<methodResponse>\n<params>\n<param>\n \
                <value>\n  <string>{text}</string>\n </value>\n</param>\n</params>\n</methodResponse>\n"
            )
        };
        // Written down to ASCII it is the same in every encoding.
        let read = read_response(&response("iso-8859-1", "caf&#233;"), &Limits::DEFAULT);
        assert_eq!(read.unwrap(), Ok(Value::from("caf\u{e9}")));
        // Otherwise it would be read as what it is not.
        let error = read_response(&response("iso-8859-1", "\u{e9}"), &Limits::DEFAULT).unwrap_err();
        assert_eq!(error.what_was_expected(), "the encoding UTF-8");
        let read = read_response(&response("UTF-8", "\u{e9}"), &Limits::DEFAULT);
        assert_eq!(read.unwrap(), Ok(Value::from("\u{e9}")));
    }

    #[test]
    fn xmlrpc_c_carriage_returns() {
        let response = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<methodResponse>\r\n<params>\r\n\
            <param><value><struct>\r\n<member><name>a</name>\r\n<value><i4>1</i4></value></member>\r\n\
            <member><name>b</name>\r\n<value><string>x\r\ny\rz&#13;</string></value></member>\r\n\
            </struct></value></param>\r\n</params>\r\n</methodResponse>\r\n";
        let read = read_response(response, &Limits::DEFAULT).unwrap().unwrap();
        assert_eq!(read["a"], Value::from(1));
        // Line ends are normalised, as XML 1.0 asks; a reference is not.
        assert_eq!(read["b"], Value::from("x\ny\nz\r"));
    }

    #[test]
    fn a_byte_order_mark() {
        let response = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><methodResponse><params>\
            <param><value>\u{e9}</value></param></params></methodResponse>";
        let read = read_response(response, &Limits::DEFAULT).unwrap();
        assert_eq!(read, Ok(Value::from("\u{e9}")));
        assert_eq!(json::read_value("\u{feff}1").unwrap(), Value::from(1));
    }

    #[test]
    fn dates_in_all_forms() {
        let instant = Timestamp::new(1_795_293_000, 0);
        for (text, unzoned, nanoseconds) in [
            ("20261121T20:30:00", true, 0),
            ("2026-11-21T20:30:00", true, 0),
            ("20261121T20:30:00Z", false, 0),
            ("2026-11-21T21:30:00+01:00", false, 0),
            ("2026-11-21T15:30:00-0500", false, 0),
            ("20261121T20:30:00.250", true, 250_000_000),
        ] {
            let expected = Timestamp::new(instant.seconds(), nanoseconds);
            let xml = format!("<dateTime.iso8601>{text}</dateTime.iso8601>");
            let zoned = expected.with_unzoned(unzoned);
            assert_eq!(value(&xml).unwrap(), Value::from(zoned), "{text}");
            assert_eq!(
                scalars("time", &xml).unwrap().time,
                Some(expected),
                "{text}"
            );
        }
        let written = write_response(&Value::from(instant)).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert!(written.contains(">20261121T20:30:00<"), "{written}");
    }

    #[test]
    fn prefixed_arrays_and_structs() {
        // Apache's library puts the prefix on types of its own, others on any.
        let one = "<ex:array><data><value><i4>1</i4></value></data></ex:array>";
        let list = Value::List(vec![1.into()]);
        assert_eq!(value(one).unwrap(), list);
        let member =
            format!("<ex:struct><member><name>a</name><value>{one}</value></member></ex:struct>");
        assert_eq!(value(&member).unwrap()["a"], list);
        for empty in [
            "<ex:array/>",
            "<ex:array><data/></ex:array>",
            "<ex:array></ex:array>",
            "<array></array>",
        ] {
            assert_eq!(value(empty).unwrap(), Value::List(vec![]), "{empty}");
        }
        // Each ends as it began.
        for mixed in [
            "<ex:array><data></data></array>",
            "<array><data></data></ex:array>",
            "<ex:struct></struct>",
            "<struct></ex:struct>",
        ] {
            assert_eq!(
                value(mixed).unwrap_err().kind(),
                ErrorKind::Syntax,
                "{mixed}"
            );
        }
    }

    #[test]
    fn attributes_that_are_not_well_formed() {
        for right in [
            "a='b'",
            "a = \"'>\" c='/'",
            "xmlns:ex=\"http://x\" ",
            "a='&lt;&#65;&amp;'",
        ] {
            assert_eq!(value(&format!("<int {right}>5</int>")).unwrap(), 5.into());
        }
        for wrong in [
            "a",
            "a=",
            "a=b",
            "'a'",
            "a='<'",
            "a='b'c='d'",
            "/ ",
            "a='b",
            "a='&b;'",
            "a='& b'",
            "a='&#0;'",
            "a='b' c='d' a='e'",
            "a='b' a='b'",
        ] {
            let read = value(&format!("<int {wrong}>5</int>"));
            assert!(read.unwrap_err().is_sender_fault(), "{wrong}");
        }
        assert!(value("<int\"a\">5</int>").is_err());
    }

    #[test]
    fn comments_and_instructions_that_are_not_well_formed() {
        for right in ["<!---->", "<!-- - -->", "<?a?>", "<?a b='<' & ?>"] {
            assert_eq!(value(&format!("{right}<int>5</int>")).unwrap(), 5.into());
        }
        for wrong in [
            "<!-- -- -->",
            "<!--->",
            "<!-- --->",
            "<??>",
            "<? a?>",
            "<?a>",
            "<!a>",
        ] {
            let read = value(&format!("{wrong}<int>5</int>"));
            assert!(read.unwrap_err().is_sender_fault(), "{wrong}");
        }
    }

    #[test]
    fn strings_without_a_tag_and_empty_values() {
        assert_eq!(string("text"), "text");
        assert_eq!(string(""), "");
        assert_eq!(string("<string/>"), "");
        let empty = "<methodResponse><params><param><value/></param></params></methodResponse>";
        assert_eq!(
            read_response(empty, &Limits::DEFAULT).unwrap(),
            Ok(Value::from(""))
        );
        let list = value("<array><data><value/><value></value><value>x</value></data></array>");
        let texts = ["", "", "x"].map(Value::from).to_vec();
        assert_eq!(list.unwrap(), Value::List(texts));
        let map = value("<struct><member><name/><value/></member></struct>").unwrap();
        assert_eq!(map, Value::Map(Map::from_iter([("", "")])));
        for empty in [
            "<array><data/></array>",
            "<array/>",
            "<array><data></data></array>",
        ] {
            assert_eq!(value(empty).unwrap(), Value::List(Vec::new()));
        }
        assert_eq!(value("<struct></struct>").unwrap(), Value::Map(Map::new()));
    }

    #[test]
    fn attributes_comments_and_layout_between_all_tags() {
        let plain = encode::<XmlRpc, _>(&samples::node(), root("Node")).unwrap();
        let plain = String::from_utf8(plain).unwrap();
        for between in [
            "\n\t ",
            "<!-- <value> -->",
            "<?php echo '</struct>' ?>",
            " <!----> ",
        ] {
            // Text stands only in names and strings; between other tags
            // anything may.
            let spread = plain
                .replace("><", &format!(">{between}<"))
                .replace(&format!("<string>{between}</string>"), "<string></string>")
                .replace(&format!("<name>{between}</name>"), "<name></name>");
            let read: Node = decode::<XmlRpc, _>(spread.as_bytes(), root("Node")).unwrap();
            assert_eq!(read, samples::node(), "{between}");
        }
        let spread = plain
            .replace("<value>", "<value a=\"1\" b='>'>")
            .replace("<struct>", "<struct >")
            .replace("</member>", "</member\n>");
        let read: Node = decode::<XmlRpc, _>(spread.as_bytes(), root("Node")).unwrap();
        assert_eq!(read, samples::node());
    }
}

/// Calls, positional parameters, responses and faults of XML-RPC.
mod frames {
    use super::*;

    fn call(xml: &str, positional: bool) -> Result<Node, Error> {
        let profile = XmlRpcProfile::DEFAULT.with_positional(positional);
        let (_, mut decoder) = XmlRpcDecoder::call_from_str(xml, profile, &Limits::DEFAULT)?;
        let node = Node::decode(root("Node"), &mut decoder)?;
        decoder.finish()?;
        Ok(node)
    }

    fn written(node: &Node, positional: bool) -> String {
        let method = "a.b";
        let envelope = Envelope::Call { method, positional };
        let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
        node.encode(root("Node"), &mut encoder);
        String::from_utf8(encoder.finish().unwrap()).unwrap()
    }

    #[test]
    fn one_struct_or_positional_parameters() {
        for positional in [false, true] {
            for node in [
                samples::node(),
                Node::named("n"),
                Node {
                    // Leaves a gap of four.
                    by_key: Some([(Text::from("k"), Node::named("v"))].into()),
                    ..Node::named("n")
                },
            ] {
                let text = written(&node, positional);
                assert_eq!(call(&text, positional).unwrap(), node, "{text}");
                let (method, parameters) = read_call(&text, &Limits::DEFAULT).unwrap();
                assert_eq!(method, "a.b");
                assert_eq!(parameters.len() > 1, positional && node != Node::named("n"));
            }
        }
    }

    #[test]
    fn too_many_and_too_few_parameters() {
        let parameter = "<param><value>x</value></param>";
        let nils = "<param><value><nil/></value></param>".repeat(7);
        let call_with = |parameters: &str, positional| {
            let xml = format!(
                "<methodCall><methodName>m</methodName><params>{parameters}</params></methodCall>"
            );
            call(&xml, positional)
        };
        assert_eq!(
            call_with(&format!("{parameter}{nils}"), true).unwrap(),
            Node::named("x")
        );
        let error = call_with(&format!("{parameter}{nils}{parameter}"), true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown);
        assert_eq!(call_with("", true).unwrap_err().kind(), ErrorKind::Missing);
        assert_eq!(call_with("", false).unwrap_err().kind(), ErrorKind::Missing);
        let structure = "<param><value><struct><member><name>name</name><value>x</value></member>\
            </struct></value></param>";
        assert_eq!(call_with(structure, false).unwrap(), Node::named("x"));
        let error = call_with(&format!("{structure}{parameter}"), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown);
        for none in [
            "<methodCall><methodName>m</methodName></methodCall>",
            "<methodCall><methodName> m </methodName><params/></methodCall>",
        ] {
            assert_eq!(call(none, false).unwrap_err().kind(), ErrorKind::Missing);
            let (method, parameters) = read_call(none, &Limits::DEFAULT).unwrap();
            assert_eq!((method.as_str(), parameters.len()), ("m", 0));
        }
    }

    fn positional() -> XmlRpcEncoder {
        let envelope = Envelope::Call {
            method: "m",
            positional: true,
        };
        XmlRpcEncoder::new(envelope, Vec::new())
    }

    #[test]
    fn structures_among_parameters_begun_by_hand() {
        // A structure first is one parameter, not the list of them.
        let mut encoder = positional();
        encoder.parameter();
        samples::node().encode(root("Node"), &mut encoder);
        encoder.parameter();
        5_i32.encode(Member::DOCUMENT, &mut encoder);
        encoder.parameter();
        Node::named("n").encode(root("Node"), &mut encoder);
        let bytes = encoder.finish().unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();

        let (_, parameters) = read_call(text, &Limits::DEFAULT).unwrap();
        assert_eq!(parameters.len(), 3);
        assert_eq!(parameters[0]["name"], Value::from("root"));
        assert_eq!(parameters[1], Value::from(5));
        // Typed, whether structures at the top may be lists of parameters or not.
        for positional in [false, true] {
            let profile = XmlRpcProfile::DEFAULT.with_positional(positional);
            let (_, mut decoder) =
                XmlRpcDecoder::call_from_str(text, profile, &Limits::DEFAULT).unwrap();
            assert!(decoder.parameter().unwrap());
            let node = Node::decode(root("Node"), &mut decoder).unwrap();
            assert_eq!(node, samples::node());
            assert!(decoder.parameter().unwrap());
            let number = Value::decode(Member::DOCUMENT, &mut decoder).unwrap();
            assert_eq!(number, Value::from(5));
            assert!(decoder.parameter().unwrap());
            let node = Node::decode(root("Node"), &mut decoder).unwrap();
            assert_eq!(node, Node::named("n"));
            assert!(!decoder.parameter().unwrap());
            decoder.finish().unwrap();
        }
    }

    #[test]
    fn parameters_where_none_can_begin() {
        let node = Node::named("n");
        let value = Value::from(1);
        let refused = |encoder: XmlRpcEncoder| {
            let error = encoder.finish().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unwritable, "{error}");
        };
        // In the frame of another message.
        for envelope in [
            Envelope::Response,
            Envelope::Fault,
            Envelope::Call {
                method: "m",
                positional: false,
            },
        ] {
            let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
            encoder.parameter();
            value.encode(Member::DOCUMENT, &mut encoder);
            refused(encoder);
        }
        // Behind a parameter without a value, and as such.
        let mut encoder = positional();
        encoder.parameter();
        encoder.parameter();
        value.encode(Member::DOCUMENT, &mut encoder);
        refused(encoder);
        let mut encoder = positional();
        encoder.parameter();
        refused(encoder);
        // In a structure.
        let mut encoder = positional();
        encoder.begin_structure(root("Node"), 1);
        encoder.parameter();
        value.encode(Member::DOCUMENT, &mut encoder);
        encoder.end_structure(root("Node"));
        refused(encoder);
        // A value that is no parameter.
        let mut encoder = positional();
        value.encode(Member::DOCUMENT, &mut encoder);
        refused(encoder);

        // None at all, or more behind those of a structure, are fine.
        let bytes = positional().finish().unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(read_call(text, &Limits::DEFAULT).unwrap().1.is_empty());
        let mut encoder = positional();
        node.encode(root("Node"), &mut encoder);
        encoder.parameter();
        value.encode(Member::DOCUMENT, &mut encoder);
        let bytes = encoder.finish().unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        let parameters = read_call(text, &Limits::DEFAULT).unwrap().1;
        assert_eq!(parameters, [Value::from("n"), value]);
    }

    #[test]
    fn frames_that_are_not_well_formed() {
        for xml in [
            "<methodCall/><methodName>m</methodName></methodCall>",
            "<methodCall><methodName/></methodCall>",
            "<methodCall><methodName>m</methodName><param/></methodCall>",
            "<methodCall><methodName>m</methodName><params><param/></params></methodCall>",
            "<methodCall><methodName>m</methodName><params><value/></params></methodCall>",
            "<methodCall><methodName>m</methodName><params></methodCall>",
            "<methodCall><methodName>m</methodName></params></methodCall>",
            "<methodCall><methodName>m</methodName></methodCall></methodCall>",
            "<methodCall><params/></methodCall>",
            "<methodResponse/>",
        ] {
            assert!(read_call(xml, &Limits::DEFAULT).is_err(), "{xml}");
        }
        for xml in [
            "<methodResponse><params><param/><value/></param></params></methodResponse>",
            "<methodResponse/><params><param><value/></param></params></methodResponse>",
            "<methodResponse><fault/></methodResponse>",
            "<methodResponse><fault><value/></methodResponse>",
            "<methodResponse><params><param><value/></param></params></methodResponse>x",
        ] {
            assert!(read_response(xml, &Limits::DEFAULT).is_err(), "{xml}");
        }
    }

    #[test]
    fn faults() {
        let mut encoder = XmlRpcEncoder::new(Envelope::Fault, Vec::new());
        let fault = Value::Map(Map::from_iter([
            ("faultCode", Value::from(4)),
            ("faultString", Value::from("Too many parameters.")),
        ]));
        fault.encode(Member::DOCUMENT, &mut encoder);
        let text = String::from_utf8(encoder.finish().unwrap()).unwrap();
        assert_eq!(read_response(&text, &Limits::DEFAULT).unwrap(), Err(fault));
        let (reply, _) =
            XmlRpcDecoder::response_from_str(&text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)
                .unwrap();
        assert_eq!(reply, Reply::Fault);
    }
}

/// CBOR as others write it.
mod cbor_peers {
    use super::*;

    #[test]
    fn tags_in_front_of_values() {
        // 55799 says that this is CBOR; 1 says that the number is a time.
        let value = cbor::read_value(b"\xd9\xd9\xf7\xc1\x01").unwrap();
        assert_eq!(value, Value::from(Timestamp::new(1, 0)));
        let value = cbor::read_value(b"\xd9\xd9\xf7\xa1\x61a\xd8\x20\x61b").unwrap();
        assert_eq!(value["a"].as_str(), Some("b"));
        let many = [&vec![0xc6; 1_000_000][..], b"\x01"].concat();
        assert_eq!(cbor::read_value(&many).unwrap(), Value::from(1));
    }

    #[test]
    fn indefinite_lengths_and_undefined() {
        let value =
            cbor::read_value(b"\xbf\x61a\x9f\x01\xf7\xff\x7f\x61b\xff\x5f\x41c\x40\xff\xff");
        let list = Value::List(vec![Value::from(1), Value::Null]);
        let value = value.unwrap();
        assert_eq!(value["a"], list);
        assert_eq!(value["b"].as_blob(), Some(&b"c"[..]));
    }

    #[test]
    fn numbers_in_longer_forms_than_needed() {
        for bytes in [
            &b"\x05"[..],
            b"\x18\x05",
            b"\x19\0\x05",
            b"\x1a\0\0\0\x05",
            b"\x1b\0\0\0\0\0\0\0\x05",
        ] {
            assert_eq!(cbor::read_value(bytes).unwrap(), Value::from(5));
        }
        let value = cbor::read_value(b"\xc2\x43\0\0\x05").unwrap();
        assert_eq!(value, Value::from(5));
    }
    /// The three forms of a head with a number below 24.
    fn heads(major: u8, number: u8) -> [Vec<u8>; 4] {
        [
            vec![major | number],
            vec![major | 24, number],
            vec![major | 25, 0, number],
            vec![major | 26, 0, 0, 0, number],
        ]
    }

    /// Of one member of the scalars: typed, and as a value by schema; at the
    /// end of the message, and where enough follows for the quick paths.
    fn scalar(name: &str, value: &[u8]) -> Scalars {
        let name = [&[0x60 | name.len() as u8], name.as_bytes()].concat();
        let short = [&[0xa1], &name[..], value].concat();
        let follows = [&b"\x61z\x58\x40"[..], &[0; 64]].concat();
        let long = [&[0xa2], &name[..], value, &follows].concat();
        let at = root("Scalars");
        let [short, long] = [short, long].map(|bytes| {
            let typed: Scalars = decode::<Cbor, _>(&bytes, at).unwrap();
            let dynamic: Value = decode::<Cbor, _>(&bytes, at).unwrap();
            let written = encode::<Cbor, _>(&dynamic, at).unwrap();
            assert_eq!(written, encode::<Cbor, _>(&typed, at).unwrap());
            typed
        });
        assert_eq!(short, long);
        short
    }

    #[test]
    fn tags_with_a_meaning_in_every_form() {
        for plain in [&b""[..], b"\xd9\xd9\xf7", b"\xc6\xd8\x20"] {
            let time = Timestamp::new(0x6500_0000, 0);
            let mut tags = heads(0xc0, 1).to_vec();
            tags.push(vec![0xdb, 0, 0, 0, 0, 0, 0, 0, 1]);
            for tag in tags {
                let bytes = [plain, &tag, plain, b"\x1a\x65\0\0\0"].concat();
                assert_eq!(cbor::read_value(&bytes).unwrap(), Value::from(time));
                assert_eq!(scalar("time", &bytes).time, Some(time));
            }
            for tag in heads(0xc0, 0) {
                let bytes = [plain, &tag, plain, b"\x741970-01-01T00:00:01Z"].concat();
                let time = Timestamp::new(1, 0);
                assert_eq!(cbor::read_value(&bytes).unwrap(), Value::from(time));
                assert_eq!(scalar("time", &bytes).time, Some(time));
            }
            for (number, digits) in [(2, "256"), (3, "-257")] {
                for tag in heads(0xc0, number) {
                    let bytes = [plain, &tag, plain, b"\x42\x01\0"].concat();
                    let big: BigInteger = digits.parse().unwrap();
                    assert_eq!(cbor::read_value(&bytes).unwrap(), Value::from(big.clone()));
                    let decimal = scalar("bigDecimal", &bytes).big_decimal.unwrap();
                    assert_eq!(decimal.as_str(), digits);
                    assert_eq!(scalar("bigInteger", &bytes).big_integer, Some(big));
                }
            }
            for tag in heads(0xc0, 4) {
                let bytes = [plain, &tag, plain, b"\x82\x21\x19\x01\x01"].concat();
                let Value::BigDecimal(value) = cbor::read_value(&bytes).unwrap() else {
                    panic!("no decimal");
                };
                assert_eq!(value.as_str(), "2.57");
                let decimal = scalar("bigDecimal", &bytes).big_decimal.unwrap();
                assert_eq!(decimal.as_str(), "2.57");
            }
        }
    }

    #[test]
    fn tags_without_a_meaning_before_every_value() {
        // Of the members alone, and each behind the one before.
        for tag in [&b"\xd9\xd9\xf7"[..], b"\xc6", b"\xd8\x20\xd7"] {
            let all = samples::scalars();
            let at = root("Scalars");
            let names: Vec<&str> = at.target().members().map(Member::name).collect();
            let plain: Value =
                decode::<Cbor, _>(&encode::<Cbor, _>(&all, at).unwrap(), at).unwrap();
            let mut bytes = vec![0xb8, names.len() as u8];
            for name in &names {
                let whole = Value::from(Map::from_iter([(*name, plain[*name].clone())]));
                let whole = encode::<Cbor, _>(&whole, at).unwrap();
                // Before the key too.
                bytes.extend_from_slice(tag);
                bytes.extend_from_slice(&whole[1..2 + name.len()]);
                bytes.extend_from_slice(tag);
                bytes.extend_from_slice(&whole[2 + name.len()..]);
            }
            assert_eq!(decode::<Cbor, Scalars>(&bytes, at).unwrap(), all);
            assert_eq!(decode::<Cbor, Value>(&bytes, at).unwrap(), plain);
            cbor::read_value(&bytes).unwrap();

            // A null is one behind a tag, wherever nulls mean something.
            let null = [tag, b"\xf6"].concat();
            for name in &names {
                let read = scalar(name, &null);
                let document = (*name == "document").then_some(Value::Null);
                assert_eq!(
                    read,
                    Scalars {
                        document,
                        ..Scalars::default()
                    },
                    "{name}"
                );
            }
            let at = root("Collections");
            let sparse = [b"\xa1\x66sparse\x82\x61a", &null[..]].concat();
            let read: Collections = decode::<Cbor, _>(&sparse, at).unwrap();
            assert_eq!(read.sparse, Some(vec![Some(Text::from("a")), None]));
            let dense = [b"\xa1\x65dense\x82\x61a", &null[..]].concat();
            let read: Collections = support::decode_lenient::<Cbor, _>(&dense, at).unwrap();
            assert_eq!(read.dense, Some(vec![Text::from("a")]));
            assert!(decode::<Cbor, Collections>(&dense, at).is_err());
        }
        // A tag with a meaning does not stand before just anything.
        for value in [&b"\xc1\x61a"[..], b"\xc2\x05", b"\xc4\xf6", b"\xd8\x01\xf6"] {
            assert!(cbor::read_value(value).is_err(), "{value:x?}");
            for name in ["string", "long", "blob", "boolean", "double", "time"] {
                let bytes = [&[0xa1, 0x60 | name.len() as u8], name.as_bytes(), value].concat();
                assert!(decode::<Cbor, Scalars>(&bytes, root("Scalars")).is_err());
            }
        }
    }

    #[test]
    fn lengths_that_no_message_could_fill() {
        for (head, rest, fits) in [
            (&b"\x98\x18"[..], 24, true),
            (b"\x98\x18", 23, false),
            (b"\x9a\x7f\xff\xff\xff", 100, false),
            (b"\xb8\x18", 47, false),
            (b"\xba\0\x10\0\0", 1000, false),
        ] {
            let bytes = [head, &vec![0; rest]].concat();
            let read = cbor::read_value(&bytes);
            assert_eq!(read.is_ok(), fits, "{head:x?}");
            if let Err(error) = read {
                // Said at once, and not where the message ends.
                assert_eq!(error.kind(), ErrorKind::Truncated);
                assert_eq!(error.offset(), Some(0));
            }
        }
        // A limit says so first, in every form.
        for list in [&b"\x81\x82"[..], b"\x98\x01\x98\x02"] {
            let limits = Limits::DEFAULT.with_depth(1);
            let read = support::decode_limited::<Cbor, Value>(list, Member::DOCUMENT, &limits);
            assert!(read.is_err_and(|error| error.is_limit()), "{list:x?}");
        }
        // The whole length is there, down to the last entry.
        let entries: Vec<u8> = (0..24).flat_map(|key| [0x61, b'a' + key, 0]).collect();
        let map = cbor::read_value(&[b"\xb8\x18", &entries[..]].concat()).unwrap();
        assert_eq!(map["x"], Value::from(0));
    }

    /// A bignum: a tag and so many bytes.
    fn bignum(tag: u8, bytes: &[u8]) -> Vec<u8> {
        let [high, low] = (bytes.len() as u16).to_be_bytes();
        [&[tag, 0x59, high, low][..], bytes].concat()
    }

    #[test]
    fn the_longest_bignum_can_be_reencode() {
        for tag in [0xc2, 0xc3] {
            for fill in [0x01, 0x7f, 0xff] {
                let bytes = bignum(tag, &[fill; 512]);
                let value = cbor::read_value(&bytes).unwrap();
                assert_eq!(cbor::write_value(&value).unwrap(), bytes);
            }
            let error = cbor::read_value(&bignum(tag, &[1; 513])).unwrap_err();
            assert_eq!(error.what_was_expected(), "an integer of at most 512 bytes");
            // Zeros in front are no part of the number.
            let zeros = [&[0; 1000][..], &[1; 512]].concat();
            cbor::read_value(&bignum(tag, &zeros)).unwrap();
        }
        // What nobody would read is not written: 2^4096 needs a bit more than
        // its negative.
        let negative = cbor::read_value(&bignum(0xc3, &[0xff; 512])).unwrap();
        let Value::BigInteger(negative) = negative else {
            panic!("{negative:?}");
        };
        for digits in [
            &negative.as_str()[1..],
            &"9".repeat(1234),
            &"9".repeat(1235),
        ] {
            let digits: BigInteger = digits.parse().unwrap();
            let error = cbor::write_value(&Value::from(digits)).unwrap_err();
            assert_eq!(error.what_was_expected(), "an integer of at most 512 bytes");
        }
    }

    #[test]
    fn bignums_count_by_their_length() {
        // A list of ten, each of eight items and its own.
        let list = [&[0x8a][..], &bignum(0xc2, &[0xff; 512]).repeat(10)].concat();
        for (items, enough) in [(90, true), (89, false)] {
            let limits = Limits::DEFAULT.with_items(items);
            let read = support::decode_limited::<Cbor, Value>(&list, Member::DOCUMENT, &limits);
            assert_eq!(read.is_ok(), enough);
            assert!(enough || read.is_err_and(|error| error.is_limit()));
        }
    }
}

/// An integer of CBOR as a double is rounded once: for negative ones, the argument and the
/// subtraction from -1 must not be rounded apart.
#[test]
fn cbor_integers_become_doubles_with_one_rounding() {
    // Arguments around 2^53 and 2^63, where a second rounding goes wrong.
    let near = |bits: u32| (0..2000_u64).map(move |offset| (1_u64 << bits) - 1000 + offset);
    for argument in near(53).chain(near(54)).chain(near(63)).chain([u64::MAX]) {
        for major in [0x00, 0x20_u8] {
            let exact = match major {
                0 => i128::from(argument),
                _ => -1 - i128::from(argument),
            };
            let mut body = vec![0xa1, 0x66];
            body.extend(b"double");
            body.push(major | 27);
            body.extend(argument.to_be_bytes());
            let read = decode::<Cbor, Scalars>(&body, root("Scalars")).unwrap();
            assert_eq!(read.double, Some(exact as f64), "{exact}");
        }
    }
}

/// A whole double stays one without a schema, and what JSON cannot say is an error.
#[test]
fn doubles_in_json_without_a_schema() {
    for (value, text) in [
        (5.0, "5.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (-12_345_678.0, "-12345678.0"),
    ] {
        let written = json::write_value(&Value::Double(value)).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
        assert_eq!(json::read_value(text).unwrap(), Value::Double(value));
    }
    let written = json::write_value(&Value::Float(5.0)).unwrap();
    assert_eq!(written, b"5.0");
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for value in [Value::Double(value), Value::Float(value as f32)] {
            let error = json::write_value(&value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unwritable);
        }
    }
}

/// PHP has one type for lists and maps, and writes an empty one as an array.
#[test]
fn empty_arrays_for_structures_and_maps() {
    let response = |inside: &str| {
        format!(
            "<methodResponse><params><param><value>{inside}</value></param></params>\
             </methodResponse>"
        )
    };
    let read = |leniency, inside: &str| {
        let (text, limits) = (response(inside), Limits::DEFAULT);
        let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
        let (_, mut decoder) = XmlRpcDecoder::response_from_str(&text, profile, &limits)?;
        let value = Scalars::decode(root("Scalars"), &mut decoder)?;
        decoder.finish()?;
        Ok::<_, Error>(value)
    };
    let switch = Leniency::STRICT.with_array_structs(true);
    let empty = "<array><data></data></array>";
    assert_eq!(read(switch, empty).unwrap(), Scalars::default());
    assert_eq!(
        read(Leniency::STRICT, empty).unwrap_err().kind(),
        ErrorKind::WrongType
    );
    let items = "<array><data><value>a</value></data></array>";
    assert!(read(Leniency::ALL, items).is_err());
}
