//! What a message may cost.

use std::fmt::Debug;

use polywire_codec::cbor::{CborDecoder, CborProfile};
use polywire_codec::xmlrpc::{XmlRpcDecoder, XmlRpcProfile};
use polywire_schema::{
    BigInteger, Blob, Body, Decoder, Error, ErrorKind, LimitKind, Limits, Map, Member, Text, Value,
};

use crate::shapes::{Collections, Node, Scalars, root, samples};
use crate::support::{
    Format, XmlRpc, decode_limited, document, encode, for_every_format, for_xml_too,
};
use crate::with;

for_every_format! {
    limits_on_bytes,
    limits_on_depth,
    limits_on_items,
    limits_on_strings,
    the_deepest_nesting,
}

for_xml_too! {
    limits_on_bytes,
}

/// The error must say which limit it was, and how the limit is called.
fn limited<T: Debug>(result: Result<T, Error>, limit: LimitKind, setting: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit(limit), "{error}");
    assert!(error.is_limit());
    assert!(error.to_string().contains(setting), "{error}");
}

fn limits_on_bytes<F: Format>() {
    let at = root("Node");
    let bytes = encode::<F, _>(&samples::node(), at).unwrap();
    let limits = Limits::DEFAULT.with_bytes(bytes.len());
    decode_limited::<F, Node>(&bytes, at, &limits).unwrap();
    let most = bytes.len() - 1;
    let limits = Limits::DEFAULT.with_bytes(most);
    let result = decode_limited::<F, Node>(&bytes, at, &limits);
    limited(result, LimitKind::Bytes(most), "Limits::bytes");
    // Nothing is done with what is too long: it may be no text at all.
    let limits = Limits::DEFAULT.with_bytes(10);
    let result = decode_limited::<F, Node>(&[0xff; 11], at, &limits);
    limited(result, LimitKind::Bytes(10), "Limits::bytes");
    if F::NAME == "XML-RPC" {
        let body = Body::from(vec![0xff; 11]);
        let result = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &limits);
        limited(result, LimitKind::Bytes(10), "Limits::bytes");
    }
}

fn limits_on_depth<F: Format>() {
    let mut value = Value::List(Vec::new());
    for _ in 0..4 {
        value = Value::from(Map::from_iter([("left", Value::List(vec![value]))]));
    }
    let bytes = document::<F>(&value);
    let skipped = document::<F>(&Value::from(Map::from_iter([("unknown", value)])));
    let limits = Limits::DEFAULT.with_depth(9);
    decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits).unwrap();
    let limits = Limits::DEFAULT.with_depth(8);
    let result = decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits);
    limited(result, LimitKind::Depth(8), "Limits::depth");
    // What is skipped counts as well.
    let at = root("Scalars");
    let limits = Limits::DEFAULT.with_depth(10);
    decode_limited::<F, Scalars>(&skipped, at, &limits).unwrap();
    let limits = Limits::DEFAULT.with_depth(9);
    let result = decode_limited::<F, Scalars>(&skipped, at, &limits);
    limited(result, LimitKind::Depth(9), "Limits::depth");

    // Siblings do not add up.
    let many = Value::List(vec![Value::List(Vec::new()); 100]);
    let limits = Limits::DEFAULT.with_depth(2);
    decode_limited::<F, Value>(&document::<F>(&many), Member::DOCUMENT, &limits).unwrap();

    let at = root("Node");
    let mut node = Node::named("leaf");
    for _ in 0..9 {
        node = Node {
            left: Some(Box::new(node)),
            ..Node::default()
        };
    }
    let bytes = encode::<F, _>(&node, at).unwrap();
    let limits = Limits::DEFAULT.with_depth(10);
    assert_eq!(
        decode_limited::<F, Node>(&bytes, at, &limits).unwrap(),
        node
    );
    let limits = Limits::DEFAULT.with_depth(9);
    let result = decode_limited::<F, Node>(&bytes, at, &limits);
    limited(result, LimitKind::Depth(9), "Limits::depth");
    let result = decode_limited::<F, Value>(&bytes, at, &limits);
    limited(result, LimitKind::Depth(9), "Limits::depth");
}

fn limits_on_items<F: Format>() {
    // A list of three lists, of which one holds two: nine, with the lists. The member that holds
    // it counts where it is an entry of a map, or unknown to the shape. What is unknown is skipped,
    // and then the lists take no memory, so only what is in them counts: six.
    let at = root("Collections");
    let matrix = Collections {
        matrix: Some(vec![vec![1, 2], Vec::new(), Vec::new()]),
        ..Collections::default()
    };
    let bytes = encode::<F, _>(&matrix, at).unwrap();
    for (at, items) in [(at, 9), (Member::DOCUMENT, 10), (root("Scalars"), 6)] {
        let limits = Limits::DEFAULT.with_items(items);
        decode_limited::<F, Value>(&bytes, at, &limits).unwrap();
        let limits = Limits::DEFAULT.with_items(items - 1);
        let result = decode_limited::<F, Value>(&bytes, at, &limits);
        limited(result, LimitKind::Items(items - 1), "Limits::items");
    }
    let limits = Limits::DEFAULT.with_items(8);
    let result = decode_limited::<F, Collections>(&bytes, at, &limits);
    limited(result, LimitKind::Items(8), "Limits::items");
    // So do structures in each other, which have a member each.
    let at = root("Node");
    let mut node = Node::default();
    for _ in 0..10 {
        node = Node {
            left: Some(Box::new(node)),
            ..Node::default()
        };
    }
    let bytes = encode::<F, _>(&node, at).unwrap();
    decode_limited::<F, Node>(&bytes, at, &Limits::DEFAULT.with_items(10)).unwrap();
    let limits = Limits::DEFAULT.with_items(9);
    let result = decode_limited::<F, Node>(&bytes, at, &limits);
    limited(result, LimitKind::Items(9), "Limits::items");
    // Entries of maps are items, each once, whatever way its key is read: short,
    // long, not ASCII, with escapes, at the end of the message.
    let keys = [
        "short",
        "ü",
        "\u{20ac}\u{20ac}",
        "a\tb",
        "\"",
        &"long".repeat(20),
        "",
        "z",
    ];
    for (count, _) in keys.iter().enumerate() {
        let entries = keys[..=count].iter().map(|key| (*key, Value::Null));
        let map = document::<F>(&Value::from(Map::from_iter(entries)));
        let count = count as u32;
        let limits = Limits::DEFAULT.with_items(count + 1);
        decode_limited::<F, Value>(&map, Member::DOCUMENT, &limits).unwrap();
        let limits = Limits::DEFAULT.with_items(count);
        let result = decode_limited::<F, Value>(&map, Member::DOCUMENT, &limits);
        limited(result, LimitKind::Items(count), "Limits::items");
    }
    let map = document::<F>(&Value::from(Map::from_iter([("a", 1), ("b", 2)])));
    let limits = Limits::DEFAULT.with_items(1);
    let result = decode_limited::<F, Value>(&map, Member::DOCUMENT, &limits);
    limited(result, LimitKind::Items(1), "Limits::items");
}

fn limits_on_strings<F: Format>() {
    let at = root("Scalars");
    for string in [
        "x".repeat(100),
        "é".repeat(50),
        format!("{}\"<&", "x".repeat(97)),
    ] {
        let scalars = with(|scalars| scalars.string = Some(Text::from(string.as_str())));
        let bytes = encode::<F, _>(&scalars, at).unwrap();
        let unknown = document::<F>(&Value::from(Map::from_iter([("unknown", string.clone())])));
        let key = document::<F>(&Value::from(Map::from_iter([(string, 1)])));
        for bytes in [bytes, unknown, key] {
            let limits = Limits::DEFAULT.with_string(100);
            decode_limited::<F, Scalars>(&bytes, at, &limits).unwrap();
            decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits).unwrap();
            let limits = Limits::DEFAULT.with_string(99);
            let result = decode_limited::<F, Scalars>(&bytes, at, &limits);
            limited(result, LimitKind::StringLength(99), "Limits::string");
            let result = decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits);
            limited(result, LimitKind::StringLength(99), "Limits::string");
        }
    }
    let digits = "7".repeat(100);
    for scalars in [
        with(|scalars| scalars.blob = Some(Blob::from(vec![0; 100]))),
        with(|scalars| scalars.big_integer = Some(digits.parse().unwrap())),
        with(|scalars| scalars.big_decimal = Some(digits.parse().unwrap())),
        with(|scalars| scalars.big_decimal = Some(format!("-{}e5", &digits[3..]).parse().unwrap())),
        with(|scalars| {
            let big: BigInteger = digits.parse().unwrap();
            scalars.document = Some(Value::List(vec![Value::from(big)]));
        }),
    ] {
        let bytes = encode::<F, _>(&scalars, at).unwrap();
        let limits = Limits::DEFAULT.with_string(99);
        let result = decode_limited::<F, Scalars>(&bytes, at, &limits);
        limited(result, LimitKind::StringLength(99), "Limits::string");
        if scalars.blob.is_none() {
            let limits = Limits::DEFAULT.with_string(100);
            decode_limited::<F, Scalars>(&bytes, at, &limits).unwrap();
        }
    }
    // Numbers have the size of their type, however long they are written.
    let scalars = Scalars {
        long: Some(i64::MIN),
        double: Some(-1.234_567_890_123_456_7e-300),
        float: Some(-1.234_567_8),
        ..Scalars::default()
    };
    let bytes = encode::<F, _>(&scalars, at).unwrap();
    let limits = Limits::DEFAULT.with_string(6);
    let read: Scalars = decode_limited::<F, _>(&bytes, at, &limits).unwrap();
    assert_eq!(read, scalars);
    decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits).unwrap();
}

/// How a number is spelled, and who reads it, makes no difference.
#[test]
fn numbers_of_xmlrpc_have_one_limit() {
    // As long as the longest name.
    const MOST: usize = 10;

    let zeros = "0".repeat(40);
    let sevens = "7".repeat(40);
    // Of fixed size: by any tag, in any spelling.
    let short = [
        "<int>-2147483648</int>".to_owned(),
        "<int ><!-- a -->-2147483648</int>".to_owned(),
        "<i4>-2147483<![CDATA[648]]></i4>".to_owned(),
        "<i8>-2147483648</i8> ".to_owned(),
        format!("<int>{zeros}1</int>"),
        format!("<i1>-{zeros}1</i1>"),
        format!("<biginteger>{zeros}1</biginteger>"),
        "<biginteger>12345678901</biginteger>".to_owned(),
    ];
    for inside in short {
        let read = numbers(&inside, "long", MOST);
        assert!(read.iter().all(Result::is_ok), "{inside}: {read:?}");
    }
    for inside in [
        "<double>-1.25000000000000000000e-3</double>".to_owned(),
        "<double ><!-- a -->-1.25000000000000000000e-3</double>".to_owned(),
        format!("<float>{zeros}1</float>"),
    ] {
        let read = numbers(&inside, "double", MOST);
        assert!(read.iter().all(Result::is_ok), "{inside}: {read:?}");
    }
    // Kept as digits.
    for inside in [
        format!("<biginteger>{sevens}</biginteger>"),
        format!("<biginteger >{sevens}</biginteger>"),
        format!("<ex:biginteger>-{sevens}</ex:biginteger>"),
    ] {
        for read in numbers(&inside, "bigInteger", MOST) {
            limited(read, LimitKind::StringLength(MOST), "Limits::string");
        }
        let read = numbers(&inside, "bigInteger", 41);
        assert!(read.iter().all(Result::is_ok), "{inside}: {read:?}");
    }
    for inside in [
        "<bigdecimal>1234.567890</bigdecimal>".to_owned(),
        format!("<bigdecimal><!-- a -->{sevens}</bigdecimal>"),
    ] {
        for read in numbers(&inside, "bigDecimal", MOST) {
            limited(read, LimitKind::StringLength(MOST), "Limits::string");
        }
        let read = numbers(&inside, "bigDecimal", 40);
        assert!(read.iter().all(Result::is_ok), "{inside}: {read:?}");
    }
    // A shape that keeps digits keeps those of other numbers too.
    for inside in [
        format!("<double>{sevens}</double>"),
        format!("<string>{sevens}</string>"),
    ] {
        let read = numbers(&inside, "bigDecimal", MOST);
        assert!(
            read[1].as_ref().is_err_and(Error::is_limit),
            "{inside}: {read:?}"
        );
    }
    // What its tag has no room for is wrong, however many digits are allowed.
    for most in [MOST, 100] {
        for read in numbers(&format!("<i8>{sevens}</i8>"), "long", most) {
            assert_eq!(read.unwrap_err().kind(), ErrorKind::InvalidValue);
        }
    }
}

/// A member with this value, read as a value, by a shape, as a serde type and by the reference.
fn numbers(inside: &str, name: &str, most: usize) -> Vec<Result<String, Error>> {
    let text = format!(
        "<?xml version=\"1.0\"?><methodResponse><params><param><value><struct><member><name>{name}\
         </name><value>{inside}</value></member></struct></value></param></params></methodResponse>"
    );
    let limits = Limits::DEFAULT.with_string(most);
    let bytes = text.as_bytes();
    let shape = decode_limited::<XmlRpc, Scalars>(bytes, root("Scalars"), &limits);
    let value = decode_limited::<XmlRpc, Value>(bytes, Member::DOCUMENT, &limits);
    let (_, mut decoder) =
        XmlRpcDecoder::response_from_str(&text, XmlRpcProfile::DEFAULT, &limits).unwrap();
    let typed = decoder.deserialize::<std::collections::BTreeMap<String, Value>>();
    let reference =
        polywire_codec::reference::xmlrpc::read_response(&text, XmlRpcProfile::DEFAULT, &limits);
    vec![
        value.map(|value| format!("{value:?}")),
        shape.map(|shape| format!("{shape:?}")),
        typed.map(|typed| format!("{typed:?}")),
        reference.map(|value| format!("{value:?}")),
    ]
}

/// As deep as a limit may be set, on the stack of an ordinary thread.
fn the_deepest_nesting<F: Format>() {
    let limits = Limits::DEFAULT.with_depth(u32::MAX);
    assert_eq!(limits.depth(), 512);
    let at = root("Node");
    let mut node = Node::named("leaf");
    for _ in 1..512 {
        node = Node {
            left: Some(Box::new(node)),
            ..Node::default()
        };
    }
    let bytes = encode::<F, _>(&node, at).unwrap();
    assert_eq!(
        decode_limited::<F, Node>(&bytes, at, &limits).unwrap(),
        node
    );
    let value: Value = decode_limited::<F, _>(&bytes, at, &limits).unwrap();
    assert_eq!(encode::<F, _>(&value, at).unwrap(), bytes);
    let unknown: Scalars = decode_limited::<F, _>(&bytes, root("Scalars"), &limits).unwrap();
    assert_eq!(unknown, Scalars::default());
    // The error at the bottom has a path that is cut.
    let limits = Limits::DEFAULT.with_depth(511);
    let error = decode_limited::<F, Node>(&bytes, at, &limits).unwrap_err();
    assert!(error.path().starts_with("left.left.") && error.path().len() < 200);
}

/// Each list has as many bytes behind its length as it says; all of them together
/// have not.
#[test]
fn lists_in_each_other_make_room_for_the_message_once() {
    const LEVELS: usize = 60;

    let mut bytes = b"\x99\x03\xe8".repeat(LEVELS);
    bytes.resize(bytes.len() + 1000, 0);
    let mut decoder =
        CborDecoder::from_slice(&bytes, CborProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    let mut room = 0;
    for _ in 0..LEVELS {
        let mut seq = decoder.list(Member::DOCUMENT).unwrap();
        assert!(decoder.item(Member::DOCUMENT, &mut seq).unwrap());
        room += decoder.size_hint(Member::DOCUMENT, &seq);
    }
    assert!((1000..=bytes.len()).contains(&room), "{room}");
}
