//! No message is given out, or taken, that is not whole.

use polywire_codec::xmlrpc::{Envelope, Nil, Style, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{Encode, Encoder, Error, ErrorKind, Limits, Map, Member, Value};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

const AT: Member<'static> = Member::DOCUMENT;
const CALL: Envelope<'static> = Envelope::Call {
    method: "a",
    positional: true,
};
const ONE: Envelope<'static> = Envelope::Call {
    method: "a",
    positional: false,
};

fn by(envelope: Envelope<'_>, write: impl FnOnce(&mut XmlRpcEncoder)) -> Result<String, Error> {
    let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
    write(&mut encoder);
    Ok(String::from_utf8(encoder.finish()?).unwrap())
}

/// What writes one value.
type Write = Box<dyn Fn(&mut XmlRpcEncoder)>;

/// The ways of writing one value.
fn writers() -> Vec<(&'static str, Write)> {
    let map = || Value::Map(Map::from_iter([("a", Value::List(vec![1.into()]))]));
    vec![
        ("a scalar", Box::new(|encoder| encoder.integer(AT, 7))),
        (
            "a string",
            Box::new(|encoder| encoder.string(AT, "<value>")),
        ),
        ("nil", Box::new(|encoder| encoder.null(AT))),
        (
            "a value",
            Box::new(move |encoder| map().encode(AT, encoder)),
        ),
        (
            "a type",
            Box::new(|encoder| encoder.serialize(&(1, "b")).unwrap()),
        ),
        (
            "a short type",
            Box::new(|encoder| encoder.serialize("b").unwrap()),
        ),
        (
            "a list",
            Box::new(|encoder| {
                encoder.begin_list(AT, 1);
                encoder.integer(AT, 1);
                encoder.integer(AT, 2);
                encoder.end_list(AT);
            }),
        ),
        (
            "a map",
            Box::new(|encoder| {
                encoder.begin_map(AT, 0);
                encoder.end_map(AT);
            }),
        ),
        (
            "what was written before",
            Box::new(|encoder| {
                encoder.raw(b"<value><array><data><value>a</value></data></array></value>");
            }),
        ),
        (
            "a reader",
            Box::new(|encoder| encoder.blob_from(&b"abc"[..]).unwrap()),
        ),
    ]
}

#[test]
fn each_place_has_one_value() {
    for envelope in [
        Envelope::Response,
        Envelope::Fault,
        Envelope::Value,
        Envelope::MulticallResult,
        ONE,
    ] {
        let error = by(envelope, |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unwritable, "{envelope:?}: {error}");
        assert!(error.message().contains("one value"), "{error}");
        assert!(error.message().contains("found none"), "{error}");
        for (first, write) in writers() {
            by(envelope, |encoder| write(encoder)).unwrap();
            for (second, more) in writers() {
                let error = by(envelope, |encoder| {
                    write(encoder);
                    more(encoder);
                });
                let Err(error) = error else {
                    panic!("{envelope:?}: {first} and {second}");
                };
                assert_eq!(error.kind(), ErrorKind::Unwritable, "{error}");
                assert!(error.message().contains("one value"), "{error}");
            }
        }
    }
}

#[test]
fn each_parameter_has_one_value() {
    assert!(
        by(CALL, |_| {})
            .unwrap()
            .ends_with("<params></params></methodCall>")
    );
    for (name, write) in writers() {
        assert!(by(CALL, |encoder| write(encoder)).is_err(), "{name}");
        let two = by(CALL, |encoder| {
            encoder.parameter();
            write(encoder);
            encoder.parameter();
            write(encoder);
        });
        assert_eq!(two.unwrap().matches("</param>").count(), 2, "{name}");
        for (second, more) in writers() {
            let last = by(CALL, |encoder| {
                encoder.parameter();
                write(encoder);
                more(encoder);
            });
            assert!(last.is_err(), "{name} and {second}");
            let before = by(CALL, |encoder| {
                encoder.parameter();
                write(encoder);
                more(encoder);
                encoder.parameter();
                write(encoder);
            });
            assert!(before.is_err(), "{name} and {second}");
        }
    }
    let none = by(CALL, |encoder| {
        encoder.parameter();
        encoder.parameter();
        encoder.integer(AT, 1);
    });
    assert!(none.is_err());
    let none = by(CALL, |encoder| {
        encoder.parameter();
        encoder.serialize_parameters(&()).unwrap();
    });
    assert!(none.is_err());
}

/// What is behind what a buffer held before is a message of its own.
#[test]
fn a_buffer_that_holds_values_is_appended_to() {
    let before = b"<value>a</value>".to_vec();
    let mut encoder = XmlRpcEncoder::new(Envelope::Value, before.clone());
    encoder.integer(AT, 1);
    assert_eq!(
        encoder.finish().unwrap(),
        b"<value>a</value><value><int>1</int></value>"
    );
    assert!(
        XmlRpcEncoder::new(Envelope::Value, before)
            .finish()
            .is_err()
    );
}

#[test]
fn what_could_not_be_written_is_told_at_the_end_too() {
    for value in [u64::MAX, 1] {
        let is_small = value == 1;
        for envelope in [
            Envelope::Response,
            Envelope::Value,
            Envelope::MulticallResult,
        ] {
            let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
            let written = encoder.serialize(&("a", value));
            assert_eq!(written.is_ok(), is_small);
            let told = written.map_err(|error| error.to_string()).err();
            let finished = encoder.finish().map_err(|error| error.to_string()).err();
            assert_eq!(finished, told, "{envelope:?}");
        }
        let mut encoder = XmlRpcEncoder::new(CALL, Vec::new());
        assert_eq!(
            encoder.serialize_parameters(&("a", value)).is_ok(),
            is_small
        );
        assert_eq!(encoder.finish().is_ok(), is_small);
    }
    // Another value in its place does not mend it.
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, Vec::new());
    encoder.serialize(&u64::MAX).unwrap_err();
    encoder.serialize(&1).unwrap();
    assert!(encoder.finish().is_err());
    // Nor does it hide what was wrong before.
    let style = Style::DEFAULT.with_nil(Nil::Reject);
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, Vec::new()).with_style(style);
    let _ = encoder.serialize(&(None::<i32>, u64::MAX));
    assert!(
        encoder
            .finish()
            .unwrap_err()
            .message()
            .contains("Style::nil")
    );
}

/// A type that goes on although a part of it could not be written.
struct Careless<T>(T);

impl<T: Serialize> Serialize for Careless<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let _ = map.serialize_entry("a", &self.0);
        // A name behind a name.
        map.serialize_entry("b", &1)?;
        map.end()
    }
}

/// A type that is nothing.
struct Never;

impl Serialize for Never {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("never"))
    }
}

/// A list that never ends.
struct Endless;

impl Serialize for Endless {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(&1)?;
        Err(serde::ser::Error::custom("enough"))
    }
}

#[test]
fn a_careless_type_makes_no_message() {
    for envelope in [Envelope::Response, Envelope::Value] {
        let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
        let _ = encoder.serialize(&Careless(u64::MAX));
        assert!(encoder.finish().is_err());
        let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
        let _ = encoder.serialize(&Careless([Never]));
        assert!(encoder.finish().is_err());
        let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
        assert!(encoder.serialize(&Endless).is_err());
        assert!(encoder.finish().is_err());
    }
}

#[test]
fn a_name_has_a_value() {
    // The last one, and one in front of another.
    type Write = fn(&mut XmlRpcEncoder);
    let writers: [Write; 3] = [
        |encoder| {
            encoder.begin_map(AT, 2);
            encoder.key(AT, "a");
            encoder.end_map(AT);
        },
        |encoder| {
            encoder.begin_map(AT, 2);
            encoder.key(AT, "a");
            encoder.key(AT, "b");
            encoder.integer(AT, 1);
            encoder.end_map(AT);
        },
        |encoder| {
            encoder.begin_map(AT, 2);
            encoder.key(AT, "a");
            encoder.text_key(AT, &"b&".into());
            encoder.integer(AT, 1);
            encoder.end_map(AT);
        },
    ];
    for write in writers {
        let error = by(Envelope::Response, write).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unwritable, "{error}");
    }
}

/// Asked twice whether a message ends, the reader says the same.
#[test]
fn a_message_ends_the_same_both_times() {
    let cases = [
        (
            "<methodResponse><params><param><value>1</value></param></params></methodResponse>",
            true,
        ),
        (
            "<methodResponse> <params><param><value>1</value> </param></params></methodResponse>\n",
            true,
        ),
        (
            "<methodResponse><params><param><value>1</value></param></params></methodResponse>x",
            false,
        ),
        (
            "<methodResponse><params><param><value>1</value></param></params>",
            false,
        ),
        (
            "<methodResponse><params><param><value>1</value></param> <param/></params></methodResponse>",
            false,
        ),
        (
            "<methodResponse><fault><value>1</value></fault></methodResponse>",
            true,
        ),
        (
            "<methodResponse><fault><value>1</value></fault> </methodResponse> ",
            true,
        ),
        (
            "<methodResponse><fault><value>1</value></fault> </methodResponse> <a/>",
            false,
        ),
    ];
    for (text, ends) in cases {
        let (profile, limits) = (XmlRpcProfile::DEFAULT, Limits::DEFAULT);
        let (_, mut decoder) = XmlRpcDecoder::response_from_str(text, profile, &limits).unwrap();
        decoder.deserialize::<Value>().unwrap();
        twice(&mut decoder, ends, text);
    }
    let call = |behind: &str| format!("<methodCall><methodName>a</methodName><params>{behind}");
    let cases = [
        (
            call("<param><value>1</value></param></params></methodCall>"),
            true,
        ),
        (
            call("<param><value>1</value></param> </params> </methodCall>\n"),
            true,
        ),
        (
            call("<param><value>1</value></param></params></methodCall>x"),
            false,
        ),
        (
            call("<param><value>1</value></param> </params> </methodCall>x"),
            false,
        ),
        (
            call(
                "<param><value>1</value></param><param><value>2</value></param></params></methodCall>",
            ),
            false,
        ),
        (
            call("<param><value>1</value></param> <param><value/></param> </params></methodCall>"),
            false,
        ),
        (call("<param><value>1</value></param></params>"), false),
    ];
    for (text, ends) in cases {
        let (profile, limits) = (XmlRpcProfile::DEFAULT, Limits::DEFAULT);
        let (_, mut decoder) = XmlRpcDecoder::call_from_str(&text, profile, &limits).unwrap();
        assert!(decoder.parameter().unwrap());
        decoder.deserialize::<Value>().unwrap();
        twice(&mut decoder, ends, &text);
        // What was asked for has not been read.
        if text.contains("2</value>") {
            assert!(decoder.parameter().unwrap());
            assert_eq!(decoder.deserialize::<Value>().unwrap(), Value::from("2"));
            decoder.finish().unwrap();
        }
    }
    let part =
        polywire_schema::Body::from(&b"<array><data><value>1</value></data></array></value>"[..]);
    let (profile, limits) = (XmlRpcProfile::DEFAULT, Limits::DEFAULT);
    let mut decoder = XmlRpcDecoder::parameters_of(&part, 0, profile, &limits).unwrap();
    twice(&mut decoder, false, "an array with an item left");
    assert!(decoder.parameter().unwrap());
    decoder.deserialize::<Value>().unwrap();
    twice(&mut decoder, true, "an array");
}

fn twice(decoder: &mut XmlRpcDecoder<'_>, ends: bool, text: &str) {
    let first = decoder.finish();
    assert_eq!(first.is_ok(), ends, "{text}");
    for _ in 0..2 {
        let again = decoder.finish();
        let told = |ended: &Result<(), Error>| format!("{ended:?}");
        assert_eq!(told(&again), told(&first), "{text}");
    }
}
