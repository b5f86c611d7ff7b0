//! Types of serde as the parameters of a call: what one side writes the other reads, in
//! XML-RPC and in CBOR.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fmt::Debug;

use polywire_codec::cbor::{self, CborDecoder, CborProfile};
use polywire_codec::xmlrpc::{Envelope, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile, write_call};
use polywire_schema::{BigInteger, Blob, Error, ErrorKind, Limits, Value};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

/// The call with a type as its parameters.
fn written<T: Serialize + ?Sized>(parameters: &T) -> Vec<u8> {
    let envelope = Envelope::Call {
        method: "m",
        positional: true,
    };
    let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
    encoder.serialize_parameters(parameters).unwrap();
    encoder.finish().unwrap()
}

fn from_xmlrpc<T: DeserializeOwned>(call: &[u8]) -> Result<T, Error> {
    let call = std::str::from_utf8(call).unwrap();
    let (_, mut decoder) =
        XmlRpcDecoder::call_from_str(call, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    decoder.deserialize_parameters()
}

fn from_cbor<T: DeserializeOwned>(parameters: &[Value]) -> Result<T, Error> {
    let bytes = cbor::write_value(&Value::List(parameters.to_vec())).unwrap();
    CborDecoder::from_slice(&bytes, CborProfile::DEFAULT, &Limits::DEFAULT)?
        .deserialize_parameters()
}

/// Reads the same parameters in both formats, which must agree.
fn read<T: DeserializeOwned + PartialEq + Debug>(parameters: &[Value]) -> Result<T, ErrorKind> {
    let call = write_call("m", parameters).unwrap();
    let xmlrpc = from_xmlrpc::<T>(&call).map_err(|error| error.kind());
    let cbor = from_cbor::<T>(parameters).map_err(|error| error.kind());
    assert_eq!(xmlrpc, cbor, "{parameters:?}");
    xmlrpc
}

/// A type is so many parameters, and comes back.
fn round<T: Serialize + DeserializeOwned + PartialEq + Debug>(parameters: &T, count: usize) {
    let call = written(parameters);
    assert_eq!(&from_xmlrpc::<T>(&call).unwrap(), parameters);
    let values: Vec<Value> = from_xmlrpc(&call).unwrap();
    assert_eq!(values.len(), count, "{parameters:?}");
    assert_eq!(&from_cbor::<T>(&values).unwrap(), parameters);
    // References are what they refer to.
    assert_eq!(written(&&parameters), call);
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Wrapped<T>(T);

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Two(i32, bool);

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Named {
    id: i32,
    note: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
enum Choice {
    Unit,
    One(i32),
    Two(i32, i32),
    Named { id: i32 },
}

#[test]
fn what_is_written_is_read() {
    round(&(), 0);
    round(&(1, "b".to_owned()), 2);
    round(&[1, 2, 3], 3);
    round(&vec![1, 2, 3], 3);
    round(&Vec::<i32>::new(), 0);
    round(&Two(1, true), 2);
    round(&5, 1);
    round(&"text".to_owned(), 1);
    round(&BTreeMap::from([("a".to_owned(), 1)]), 1);
    round(&Named { id: 1, note: None }, 1);
    round(&Blob::from(&b"ab"[..]), 1);
    round(
        &"123456789012345678901234567890"
            .parse::<BigInteger>()
            .unwrap(),
        1,
    );
    for choice in [
        Choice::Unit,
        Choice::One(1),
        Choice::Two(1, 2),
        Choice::Named { id: 1 },
    ] {
        round(&choice, 1);
    }
}

#[test]
fn what_wraps_a_type_is_what_it_wraps() {
    round(&Some((1, 2)), 2);
    round(&None::<(i32, i32)>, 0);
    round(&Some(vec![1, 2, 3]), 3);
    round(&Some(Two(1, true)), 2);
    round(&Some(5), 1);
    round(&None::<i32>, 0);
    round(&Some((None::<i32>, 5)), 2);
    round(&Some((Some(1), None::<i32>)), 2);
    round(&Wrapped(vec![1, 2]), 2);
    round(&Wrapped((1, 2)), 2);
    round(&Wrapped(Wrapped(Two(1, true))), 2);
    round(&Wrapped(5), 1);
    round(&Wrapped(Some(Wrapped((1, 2)))), 2);
    round(&Wrapped(None::<(i32, i32)>), 0);
    round(&Box::new((1, 2)), 2);
    round(&Some(Box::new(Wrapped(vec![1]))), 1);
    round(&Wrapped(()), 0);
}

/// A value is one parameter, whatever it is; a vector of values is all of them.
#[test]
fn a_value_is_one_parameter() {
    for value in [
        Value::from(1),
        Value::List(vec![1.into(), 2.into()]),
        Value::List(vec![]),
        Value::List(vec![Value::List(vec![1.into()])]),
        Value::Map(polywire_schema::Map::from_iter([("a", 1)])),
    ] {
        round(&value, 1);
        round(&Some(value.clone()), 1);
        round(&vec![value.clone(), value], 2);
    }
}

#[test]
fn a_nil_alone_is_none() {
    let nil = [Value::Null];
    assert_eq!(read(&nil), Ok(None::<i32>));
    assert_eq!(read(&nil), Ok(None::<(i32, i32)>));
    assert_eq!(read(&nil), Ok((None::<i32>,)));
    assert_eq!(read(&nil), Ok(vec![None::<i32>]));
    assert_eq!(read(&nil), Ok(Value::Null));
    // Beside others it is one of them.
    let two = [Value::Null, 5.into()];
    assert_eq!(read(&two), Ok(Some((None::<i32>, 5))));
    assert_eq!(read::<Option<i32>>(&two), Err(ErrorKind::WrongType));
}

/// Options at the end may be left out, and nothing else: what takes anything takes no
/// parameter that was forgotten.
#[test]
fn only_options_may_be_left_out() {
    let one = [Value::from(1)];
    assert_eq!(read(&one), Ok((1, None::<i32>, None::<Value>)));
    assert_eq!(read(&one), Ok((1, Wrapped(None::<i32>))));
    assert_eq!(read(&one), Ok((1, Box::new(None::<i32>))));
    assert_eq!(read::<(i32, Value)>(&one), Err(ErrorKind::Missing));
    assert_eq!(read::<(i32, Wrapped<Value>)>(&one), Err(ErrorKind::Missing));
    assert_eq!(read::<(i32, ())>(&one), Err(ErrorKind::Missing));
    assert_eq!(read::<(i32, IgnoredAny)>(&one), Err(ErrorKind::Missing));
    assert_eq!(read::<(i32, Vec<i32>)>(&one), Err(ErrorKind::Missing));
    assert_eq!(
        read::<(i32, serde_json::Value)>(&one),
        Err(ErrorKind::Missing)
    );
    assert_eq!(
        read::<(i32, Value, Option<i32>)>(&one),
        Err(ErrorKind::Missing)
    );
    // Sent, they are there.
    let two = [1.into(), Value::Null];
    assert_eq!(read(&two), Ok((1, Value::Null)));
    assert_eq!(read(&two), Ok((1, ())));
    assert_eq!(read(&two), Ok((1, None::<i32>)));
}

#[test]
fn wrong_counts_are_told_in_the_same_words() {
    fn told<T: DeserializeOwned + Debug>(parameters: &[Value], words: &str) {
        let call = write_call("m", parameters).unwrap();
        for error in [
            from_xmlrpc::<T>(&call).unwrap_err(),
            from_cbor::<T>(parameters).unwrap_err(),
        ] {
            assert!(error.message().contains(words), "{error}");
            assert!(error.offset().is_some(), "{error}");
        }
    }
    let one = [Value::from(1)];
    let two = [Value::from(1), Value::from(2)];
    told::<(i32, i32)>(&one, "missing: expected 2 parameters, found 1 parameter");
    told::<(i32, i32)>(&[], "missing: expected 2 parameters, found none");
    told::<i32>(&[], "missing: expected 1 parameter, found none");
    told::<(i32,)>(
        &two,
        "unknown: expected at most 1 parameter, found one more",
    );
    told::<i32>(
        &two,
        "unknown: expected at most 1 parameter, found one more",
    );
    told::<Option<i32>>(
        &two,
        "unknown: expected at most 1 parameter, found one more",
    );
    told::<()>(&one, "unknown: expected no parameters, found one more");
    told::<Wrapped<[i32; 1]>>(
        &two,
        "unknown: expected at most 1 parameter, found one more",
    );
}
