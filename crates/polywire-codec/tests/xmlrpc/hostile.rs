//! What is made to cost much: limits, depth, and work that grows with the square.

use polywire_codec::xmlrpc::{self, Duplicates, XmlRpcDecoder, XmlRpcProfile, code};
use polywire_schema::{Blob, Body, Decode, Error, LimitKind, Limits, Map, Member, Value};
use serde::de::IgnoredAny;

use super::response;

fn read_by(text: &str, profile: XmlRpcProfile, limits: &Limits) -> Result<Value, Error> {
    let (_, mut decoder) = XmlRpcDecoder::response_from_str(text, profile, limits)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

/// The limit that a message breaks, if it breaks one; the same for values, for serde
/// types, and from a body.
fn limit(text: &str, limits: &Limits) -> Option<LimitKind> {
    let profile = XmlRpcProfile::DEFAULT;
    let read = read_by(text, profile, limits);
    let typed =
        XmlRpcDecoder::response_from_str(text, profile, limits).and_then(|(_, mut decoder)| {
            decoder.deserialize::<Value>()?;
            decoder.finish()
        });
    let ignored =
        XmlRpcDecoder::response_from_str(text, profile, limits).and_then(|(_, mut decoder)| {
            decoder.deserialize::<IgnoredAny>()?;
            decoder.finish()
        });
    let body = Body::from(text.as_bytes().to_vec());
    let shared = XmlRpcDecoder::response(&body, profile, limits).and_then(|(_, mut decoder)| {
        Value::decode(Member::DOCUMENT, &mut decoder)?;
        decoder.finish()
    });
    let kinds = [read.map(drop), typed, ignored, shared].map(|result| {
        let error = result.err()?;
        assert_eq!(code::of(&error), code::INVALID_REQUEST, "{error}");
        assert!(error.is_limit(), "{error}");
        Some(error.kind())
    });
    assert!(kinds.iter().all(|kind| *kind == kinds[0]), "{kinds:?}");
    match kinds[0]? {
        polywire_schema::ErrorKind::Limit(limit) => Some(limit),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bytes_at_below_and_above_the_limit() {
    let text = response("<int>1</int>");
    let by = |bytes| limit(&text, &Limits::DEFAULT.with_bytes(bytes));
    assert_eq!(by(text.len() + 1), None);
    assert_eq!(by(text.len()), None);
    assert_eq!(by(text.len() - 1), Some(LimitKind::Bytes(text.len() - 1)));
}

/// Lists and structs in each other, spelled in the usual way or not.
fn nested(levels: usize, open: &str, close: &str) -> String {
    let inside = format!(
        "{}<value>x</value>{}",
        open.repeat(levels),
        close.repeat(levels)
    );
    let inside = inside.strip_prefix("<value>").unwrap();
    response(inside.strip_suffix("</value>").unwrap())
}

const NESTINGS: [(&str, &str); 4] = [
    ("<value><array><data>", "</data></array></value>"),
    ("<value> <array> <data>", "</data> </array> </value>"),
    (
        "<value><struct><member><name>a</name>",
        "</member></struct></value>",
    ),
    (
        "<value><ex:struct><member><name>a</name> ",
        "</member> </ex:struct></value>",
    ),
];

#[test]
fn depth_at_below_and_above_the_limit() {
    for (open, close) in NESTINGS {
        for most in [1, 5, 64] {
            let limits = Limits::DEFAULT.with_depth(most);
            let by = |levels: u32| limit(&nested(levels as usize, open, close), &limits);
            assert_eq!(by(most - 1), None);
            assert_eq!(by(most), None, "{open}");
            assert_eq!(by(most + 1), Some(LimitKind::Depth(most)), "{open}");
        }
    }
}

/// With optimizations and without: what has many variables stands beside the way down,
/// not in it.
#[test]
fn the_deepest_nesting_fits_a_small_stack() {
    const STACK: usize = 2 << 20;

    let read = || {
        let limits = Limits::DEFAULT.with_depth(512);
        for (open, close) in NESTINGS {
            let text = nested(512, open, close);
            assert_eq!(limit(&text, &limits), None);
            for duplicates in [Duplicates::First, Duplicates::Last] {
                let profile = XmlRpcProfile::DEFAULT.with_duplicates(duplicates);
                let value = read_by(&text, profile, &limits).unwrap();
                let written = xmlrpc::write_response(&value).unwrap();
                assert!(written.len() > 512 * 20);
            }
            // What nobody closes.
            let open = response("").replace("</value>", &open.repeat(2_000));
            assert!(read_by(&open, XmlRpcProfile::DEFAULT, &limits).is_err());
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(read).unwrap().join().unwrap();
}

#[test]
fn items_at_below_and_above_the_limit() {
    for count in [3_u32, 100] {
        let items = "<value>x</value>".repeat(count as usize);
        let padded = "<value>x</value> ".repeat(count as usize);
        let members: String = (0..count)
            .map(|at| format!("<member><name>m{at}</name><value>x</value></member>"))
            .collect();
        for inside in [
            format!("<array><data>{items}</data></array>"),
            format!("<array><data> {padded}</data></array>"),
            format!("<struct>{members}</struct>"),
        ] {
            let text = response(&inside);
            let by = |most| limit(&text, &Limits::DEFAULT.with_items(most));
            assert_eq!(by(count + 1), None);
            assert_eq!(by(count), None, "{inside}");
            assert_eq!(by(count - 1), Some(LimitKind::Items(count - 1)), "{inside}");
        }
    }
}

/// A member that is dropped counts, and so do the items in it, but not the array that holds them.
#[test]
fn arrays_in_dropped_members_are_no_items() {
    let member = |value: &str| format!("<member><name>a</name><value>{value}</value></member>");
    let array = "<array><data><value>x</value><value>y</value></data></array>";
    // Two members, the array, and its two items.
    for (duplicates, kept_first, items) in [
        (Duplicates::First, true, 5),
        (Duplicates::First, false, 4),
        (Duplicates::Last, true, 4),
        (Duplicates::Last, false, 5),
    ] {
        let members = match kept_first {
            true => [member(array), member("z")],
            false => [member("z"), member(array)],
        };
        let text = response(&format!("<struct>{}</struct>", members.concat()));
        let profile = XmlRpcProfile::DEFAULT.with_duplicates(duplicates);
        let by = |most| read_by(&text, profile, &Limits::DEFAULT.with_items(most));
        assert!(by(items).is_ok(), "{duplicates:?} {kept_first}");
        let error = by(items - 1).unwrap_err();
        let limit = polywire_schema::ErrorKind::Limit(LimitKind::Items(items - 1));
        assert_eq!(error.kind(), limit, "{duplicates:?} {kept_first}");
    }
}

#[test]
fn strings_at_below_and_above_the_limit() {
    for length in [24, 30, 1_000] {
        let text = "a".repeat(length);
        let base64 = "QUJD".repeat(length / 4);
        for (inside, length) in [
            (format!("<string>{text}</string>"), length),
            (text.clone(), length),
            (format!("<string>{}&amp;</string>", &text[1..]), length),
            (format!("<string><![CDATA[{text}]]></string>"), length),
            (format!("<string>{}<!-- -->a</string>", &text[1..]), length),
            (
                format!("<struct><member><name>{text}</name><value/></member></struct>"),
                length,
            ),
            (format!("<base64>{base64}</base64>"), base64.len()),
        ] {
            let text = response(&inside);
            let by = |most| limit(&text, &Limits::DEFAULT.with_string(most));
            assert_eq!(by(length + 1), None, "{inside}");
            assert_eq!(by(length), None, "{inside}");
            let limit = LimitKind::StringLength(length - 1);
            assert_eq!(by(length - 1), Some(limit), "{inside}");
        }
    }
}

#[test]
fn calls_at_below_and_above_the_limit() {
    let one = Map::from_iter([
        ("methodName", Value::from("a")),
        ("params", Value::List(vec![])),
    ]);
    let calls = Value::List(vec![Value::Map(one); 7]);
    let body = Body::from(xmlrpc::write_call("system.multicall", &[calls]).unwrap());
    let by = |most| {
        let limits = Limits::DEFAULT.with_calls(most);
        let (_, mut decoder) = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &limits).unwrap();
        decoder.multicall().map(|calls| calls.len())
    };
    assert_eq!(by(8).unwrap(), 7);
    assert_eq!(by(7).unwrap(), 7);
    let error = by(6).unwrap_err();
    assert_eq!(
        error.kind(),
        polywire_schema::ErrorKind::Limit(LimitKind::Calls(6))
    );
    assert_eq!(code::of(&error), code::INVALID_REQUEST);
}

/// Inputs of half a megabyte and more whose work would be hours if it grew with the
/// square: that they are read at all is the test.
#[test]
fn long_inputs_of_every_kind_are_read() {
    const MANY: usize = 100_000;

    let read = |inside: &str| {
        let value = read_by(&response(inside), XmlRpcProfile::DEFAULT, &Limits::DEFAULT);
        value.unwrap()
    };
    let text = |inside: String| read(&format!("<string>{inside}</string>"));
    let length = |value: &Value| value.as_str().unwrap().len();
    assert_eq!(length(&text("a<!-- b -->".repeat(MANY))), MANY);
    assert_eq!(length(&text("<?b?>a".repeat(MANY))), MANY);
    assert_eq!(length(&text("<![CDATA[a]]>".repeat(MANY))), MANY);
    assert_eq!(length(&text("&amp;".repeat(MANY))), MANY);
    assert_eq!(length(&text("&#65;\r\n".repeat(MANY))), 2 * MANY);
    let attributes: String = (0..MANY).map(|at| format!(" a{at}='b'")).collect();
    assert_eq!(read(&format!("<int{attributes}>5</int>")), 5.into());
    assert_eq!(
        read(&format!("<!-- -->{}<int>5</int>", "<!---->".repeat(MANY))),
        5.into()
    );
    let lines = "QUJD\r\n".repeat(MANY);
    let blob = read(&format!("<base64>{lines}</base64>"));
    assert_eq!(blob, Value::from(Blob::from(b"ABC".repeat(MANY))));
    // Digits beyond any number end early.
    let digits = response(&format!("<int>{}</int>", "9".repeat(MANY)));
    assert!(read_by(&digits, XmlRpcProfile::DEFAULT, &Limits::DEFAULT).is_err());
}

#[test]
fn a_hundred_thousand_members_by_each_policy() {
    const MANY: usize = 100_000;

    let members = |name: &dyn Fn(usize) -> usize| -> String {
        let member = |at| {
            format!(
                "<member><name>m{}</name><value><int>{at}</int></value></member>",
                name(at)
            )
        };
        (0..MANY).map(member).collect()
    };
    let by = |duplicates, members: &str| {
        let profile = XmlRpcProfile::DEFAULT.with_duplicates(duplicates);
        let text = response(&format!("<struct>{members}</struct>"));
        read_by(&text, profile, &Limits::DEFAULT)
    };
    let distinct = members(&|at| at);
    for duplicates in [Duplicates::Reject, Duplicates::First, Duplicates::Last] {
        let value = by(duplicates, &distinct).unwrap();
        assert_eq!(value.as_map().unwrap().len(), MANY);
    }
    // Each name twice, and one name everywhere.
    let twice = members(&|at| at / 2);
    assert!(by(Duplicates::Reject, &twice).is_err());
    let first = by(Duplicates::First, &twice).unwrap();
    let last = by(Duplicates::Last, &twice).unwrap();
    assert_eq!(first.as_map().unwrap().len(), MANY / 2);
    assert_eq!(
        (first["m7"].as_i64(), last["m7"].as_i64()),
        (Some(14), Some(15))
    );
    let same = by(Duplicates::Last, &members(&|_| 0)).unwrap();
    assert_eq!(same["m0"].as_i64(), Some(MANY as i64 - 1));
    assert_eq!(same.as_map().unwrap().len(), 1);
}
