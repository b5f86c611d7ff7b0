//! Nothing panics, and nothing of part of a message passes for the whole.

use std::fmt::Debug;

use polywire_schema::{Blob, Decode, Encode, Map, Member, Text, Value};
use proptest::prelude::*;

use crate::shapes::{Choice, Collections, Node, Scalars, Strict, Wide, root, samples};
use crate::support::{Format, decode, decode_lenient, encode, for_every_format};

for_every_format! {
    every_prefix,
    every_change_of_a_byte,
    random_bytes,
    random_changes,
    random_pieces,
}

/// Reads the bytes as everything there is. What is read can be written, and
/// reads the same again.
fn read_all<F: Format>(bytes: &[u8]) {
    fn read<F: Format, T>(bytes: &[u8], at: Member<'_>)
    where
        T: Encode + for<'de> Decode<'de> + Debug,
    {
        if let Ok(value) = decode::<F, T>(bytes, at) {
            let written = encode::<F, T>(&value, at).unwrap();
            let again = decode::<F, T>(&written, at).unwrap();
            assert_eq!(format!("{again:?}"), format!("{value:?}"));
        }
    }

    // As any decoder must: some documents have no form that would read back
    // as the same type, so these only are read and written.
    if let Ok(value) = decode::<F, Value>(bytes, Member::DOCUMENT) {
        let _ = encode::<F, Value>(&value, Member::DOCUMENT);
    }
    read::<F, Node>(bytes, root("Node"));
    read::<F, Choice>(bytes, root("Choice"));
    read::<F, Strict>(bytes, root("Strict"));
    let _ = decode::<F, Scalars>(bytes, root("Scalars"));
    let _ = decode::<F, Value>(bytes, root("Scalars"));
    let _ = decode::<F, Collections>(bytes, root("Collections"));
    let _ = decode_lenient::<F, Value>(bytes, root("Collections"));
    let _ = decode::<F, Wide>(bytes, root("Wide"));
}

fn every_prefix<F: Format>() {
    fn prefixes<F: Format, T: for<'de> Decode<'de> + Encode>(value: &T, at: Member<'_>) {
        let bytes = encode::<F, T>(value, at).unwrap();
        // Each error reads the message again to find its path: of a long
        // message every seventh prefix is enough.
        let step = if bytes.len() > 2500 { 7 } else { 1 };
        for len in (0..bytes.len()).step_by(step) {
            for at in [at, Member::DOCUMENT, root("Wide")] {
                assert!(decode::<F, Value>(&bytes[..len], at).is_err(), "{len}");
            }
            assert!(decode::<F, T>(&bytes[..len], at).is_err(), "{len}");
        }
    }

    prefixes::<F, _>(&samples::scalars(), root("Scalars"));
    prefixes::<F, _>(&samples::node(), root("Node"));
    prefixes::<F, _>(&samples::collections(), root("Collections"));
}

/// A short message of many kinds of values.
fn message() -> Node {
    Node {
        weight: Some(-300),
        children: Some(vec![Node::named("child <&> \"1\"")]),
        choices: Some(vec![Choice::Text(Text::from("\u{1f600}")), Choice::Empty]),
        ..Node::named("a name of more than twenty-two bytes")
    }
}

fn every_change_of_a_byte<F: Format>() {
    fn changes<F: Format, T: for<'de> Decode<'de> + Encode>(bytes: &[u8], at: Member<'_>) {
        let mut bytes = bytes.to_vec();
        for position in 0..bytes.len() {
            let before = bytes[position];
            for byte in 0..=255 {
                bytes[position] = byte;
                // An error, or a value that can be written and read.
                if let Ok(value) = decode::<F, T>(&bytes, at) {
                    let written = encode::<F, T>(&value, at).unwrap();
                    assert!(decode::<F, T>(&written, at).is_ok());
                }
            }
            bytes[position] = before;
        }
    }

    let at = root("Node");
    changes::<F, Node>(&encode::<F, _>(&message(), at).unwrap(), at);
    let at = root("Scalars");
    let scalars = Scalars {
        byte: Some(5),
        double: Some(-1.5e-7),
        boolean: Some(true),
        blob: Some(Blob::from(vec![1, 2, 3, 4])),
        time: Some(samples::INSTANT),
        big_decimal: Some("-1.50".parse().unwrap()),
        ..Scalars::default()
    };
    let bytes = encode::<F, _>(&scalars, at).unwrap();
    changes::<F, Value>(&bytes, at);
    let document = Value::List(vec![
        Value::Map(Map::from_iter([("k", Value::Null)])),
        Value::from(1.5),
        Value::from("s"),
    ]);
    let bytes = encode::<F, _>(&document, Member::DOCUMENT).unwrap();
    changes::<F, Value>(&bytes, Member::DOCUMENT);
}

fn runner() -> proptest::test_runner::TestRunner {
    proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(500)
    })
}

fn random_bytes<F: Format>() {
    let bytes = proptest::collection::vec(any::<u8>(), 0..200);
    let result = runner().run(&bytes, |bytes| {
        read_all::<F>(&bytes);
        Ok(())
    });
    result.unwrap();
}

/// Valid messages with some bytes changed, removed or repeated.
fn random_changes<F: Format>() {
    let at = root("Collections");
    let whole = encode::<F, _>(&samples::collections(), at).unwrap();
    let changes =
        proptest::collection::vec((any::<prop::sample::Index>(), 0..3, any::<u8>()), 1..6);
    let result = runner().run(&changes, |changes| {
        let mut bytes = whole.clone();
        for (index, action, byte) in changes {
            let at = index.index(bytes.len());
            match action {
                0 => bytes[at] = byte,
                1 => {
                    bytes.remove(at);
                }
                _ => bytes.extend_from_within(at..),
            }
        }
        read_all::<F>(&bytes);
        Ok(())
    });
    result.unwrap();
}

/// Pieces that mean something to the formats, in any order.
fn random_pieces<F: Format>() {
    let pieces: Vec<&'static [u8]> = match F::NAME {
        "JSON" => vec![
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b"\"name\"",
            b"\"text\"",
            b"\"id\"",
            b"1",
            b"-0.5e1",
            b"null",
            b"true",
            b"\"\\u00e9\\ud83d\\ude00\"",
            b" ",
            b"\"",
            b"\\",
            b"\xef\xbb\xbf",
        ],
        "CBOR" => vec![
            b"\xa1",
            b"\xa2",
            b"\x82",
            b"\x9f",
            b"\xbf",
            b"\xff",
            b"\x64name",
            b"\x64text",
            b"\x01",
            b"\x38\x80",
            b"\xf6",
            b"\xf5",
            b"\xc1",
            b"\xc2",
            b"\x43abc",
            b"\xc4\x82",
            b"\x7f\x61a",
            b"\xfb\x7f\xf0\0\0\0\0\0\0",
            b"\xd9\xd9\xf7",
            b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff",
        ],
        _ => vec![
            b"<methodResponse><params><param><value>",
            b"</value></param></params></methodResponse>",
            b"<value>",
            b"</value>",
            b"<struct>",
            b"</struct>",
            b"<member><name>name</name>",
            b"</member>",
            b"<array><data>",
            b"</data></array>",
            b"<value/>",
            b"<nil/>",
            b"<int>1</int>",
            b"text",
            b"<![CDATA[x]]>",
            b"<!-- c -->",
            b"&lt;",
            b"<string>",
            b"\r\n",
            b"</string>",
            b"<?pi?>",
        ],
    };
    let pieces = proptest::collection::vec(prop::sample::select(pieces), 0..24);
    let result = runner().run(&pieces, |pieces| {
        let mut bytes = pieces.concat();
        read_all::<F>(&bytes);
        if F::NAME == "XML-RPC" {
            let mut whole = b"<methodResponse><params><param><value>".to_vec();
            whole.append(&mut bytes);
            whole.extend_from_slice(b"</value></param></params></methodResponse>");
            read_all::<F>(&whole);
        }
        Ok(())
    });
    result.unwrap();
}
