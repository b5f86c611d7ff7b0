//! Where the ways of reading part: quick and general, values and types. All say the same.

use std::collections::BTreeMap;
use std::fmt;

use polywire_codec::xmlrpc::{Duplicates, XmlRpcDecoder, XmlRpcProfile};
use polywire_schema::{Decode, ErrorKind, Limits, MemberSpec, SchemaBuilder, ShapeKind, Value};
use serde::Deserialize;
use serde::de::{Deserializer, Visitor};

use super::{response, typed, value};

fn member(name: &str, inside: &str) -> String {
    format!("<member><name>{name}</name><value>{inside}</value></member>")
}

fn structure(members: &[(&str, &str)]) -> String {
    let members: String = members
        .iter()
        .map(|(name, inside)| member(name, inside))
        .collect();
    format!("<struct>{members}</struct>")
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Either {
    Number(u64),
    Table(BTreeMap<String, i32>),
}

#[test]
fn a_member_twice_is_an_error_for_types_that_take_anything() {
    let twice = structure(&[("a", "<int>1</int>"), ("a", "<int>2</int>")]);
    for kind in [
        value(&twice).unwrap_err().kind(),
        typed::<Either>(&twice).unwrap_err().kind(),
        typed::<BTreeMap<String, i32>>(&twice).unwrap_err().kind(),
    ] {
        assert_eq!(kind, ErrorKind::Duplicate);
    }
    assert!(typed::<Value>(&twice).is_err());
    let once = structure(&[("a", "<int>1</int>")]);
    let table = BTreeMap::from([("a".to_owned(), 1)]);
    assert_eq!(typed::<Either>(&once).unwrap(), Either::Table(table));
}

#[test]
fn an_error_shows_the_beginning_of_a_long_name() {
    let name = "\u{7f}".repeat(100_000);
    let twice = structure(&[(&name, "<int>1</int>"), (&name, "<int>2</int>")]);
    let error = typed::<BTreeMap<String, i32>>(&twice).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    assert!(error.to_string().len() < 1000);
}

#[test]
fn keys_that_are_numbers_have_one_spelling() {
    let read = |name: &str| typed::<BTreeMap<i32, i32>>(&structure(&[(name, "<int>1</int>")]));
    for name in ["0", "7", "-7", "10"] {
        let key: i32 = name.parse().unwrap();
        assert_eq!(read(name).unwrap(), BTreeMap::from([(key, 1)]), "{name}");
    }
    for name in ["+7", "007", "-0", "00", "", "-"] {
        assert!(read(name).is_err(), "{name}");
    }
}

#[test]
fn an_integer_read_as_a_double_is_an_integer_of_its_tag() {
    for good in [
        "<int>5</int>",
        "<i8>3000000000</i8>",
        "<i1>-128</i1>",
        "<int >5</int>",
    ] {
        assert!(typed::<f64>(good).is_ok(), "{good}");
        assert!(typed::<f32>(good).is_ok(), "{good}");
    }
    for bad in [
        "<int>1.5</int>",
        "<int>NaN</int>",
        "<i1>1e3</i1>",
        "<i1>128</i1>",
        "<int>3000000000</int>",
    ] {
        assert!(typed::<f64>(bad).is_err(), "{bad}");
        assert!(typed::<f32>(bad).is_err(), "{bad}");
        assert!(value(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_date_is_read_as_text_however_it_is_spelled() {
    for date in [
        "<dateTime.iso8601>20260102T03:04:05</dateTime.iso8601>",
        "\n  <dateTime.iso8601>20260102T03:04:05</dateTime.iso8601>\n",
        "<ex:dateTime>20260102T03:04:05</ex:dateTime>",
    ] {
        assert_eq!(
            typed::<String>(date).unwrap(),
            "2026-01-02T03:04:05",
            "{date}"
        );
    }
}

/// Takes numbers without a sign only, as some types do.
#[derive(Debug, PartialEq)]
struct Natural(u64);

impl<'de> Deserialize<'de> for Natural {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OnlyNatural;

        impl Visitor<'_> for OnlyNatural {
            type Value = Natural;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number without a sign")
            }

            fn visit_u64<E>(self, value: u64) -> Result<Natural, E> {
                Ok(Natural(value))
            }
        }

        deserializer.deserialize_u64(OnlyNatural)
    }
}

#[test]
fn what_is_asked_for_without_a_sign_has_none() {
    assert_eq!(typed::<Natural>("<int>5</int>").unwrap(), Natural(5));
    assert_eq!(typed::<Natural>("<i8>5</i8>").unwrap(), Natural(5));
    assert!(typed::<Natural>("<int>-5</int>").is_err());
}

#[test]
fn the_policy_for_duplicates_holds_for_shapes() {
    let mut builder = SchemaBuilder::new();
    let number = builder.shape(ShapeKind::Integer, "smithy.api#Integer");
    let pair = builder.shape(ShapeKind::Structure, "example#Pair");
    builder.member(pair, MemberSpec::new("a", number));
    builder.member(pair, MemberSpec::new("b", number));
    let set = builder.finish().unwrap();
    let pair = set.find_shape("example#Pair").unwrap();
    let read = |policy, members: &[(&str, &str)]| {
        let text = response(&structure(members));
        let profile = XmlRpcProfile::DEFAULT.with_duplicates(policy);
        let (_, mut decoder) = XmlRpcDecoder::response_from_str(&text, profile, &Limits::DEFAULT)?;
        let value = Value::decode(pair.root(), &mut decoder)?;
        decoder.finish()?;
        Ok::<_, polywire_schema::Error>((value["a"].as_i64(), value["b"].as_i64()))
    };
    let (one, two, three) = ("<int>1</int>", "<int>2</int>", "<int>3</int>");
    let again = [("a", one), ("b", two), ("a", three)];
    assert_eq!(read(Duplicates::First, &again).unwrap(), (Some(1), Some(2)));
    assert_eq!(read(Duplicates::Last, &again).unwrap(), (Some(3), Some(2)));
    let error = read(Duplicates::Reject, &again).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    // The members of a structure are no items, whatever the policy.
    let text = response(&structure(&again[..2]));
    let limits = Limits::DEFAULT.with_items(0);
    for policy in [Duplicates::Reject, Duplicates::First, Duplicates::Last] {
        let profile = XmlRpcProfile::DEFAULT.with_duplicates(policy);
        let (_, mut decoder) = XmlRpcDecoder::response_from_str(&text, profile, &limits).unwrap();
        Value::decode(pair.root(), &mut decoder).unwrap();
    }
}
