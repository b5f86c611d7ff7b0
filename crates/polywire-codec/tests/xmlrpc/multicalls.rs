//! `system.multicall`, both sides.

use polywire_codec::xmlrpc::{
    Leniency, MulticallEntry, MulticallResult, XmlRpcDecoder, XmlRpcProfile, write_call,
    write_response,
};
use polywire_schema::{Body, Error, ErrorKind, LimitKind, Limits, Map, Value};

fn call(method: impl Into<Value>, params: impl Into<Value>) -> Value {
    Value::Map(Map::from_iter([
        ("methodName", method.into()),
        ("params", params.into()),
    ]))
}

fn entries(calls: Value, limits: &Limits) -> Result<Vec<Result<MulticallEntry, Error>>, Error> {
    let body = Body::from(write_call("system.multicall", &[calls]).unwrap());
    let (method, mut decoder) = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, limits)?;
    assert_eq!(method, "system.multicall");
    decoder.multicall()
}

#[test]
fn each_call_has_its_parameters() {
    let calls = Value::List(vec![
        call("add", Value::List(vec![1.into(), 2.into()])),
        call("none", Value::List(vec![])),
        call("nested", Value::List(vec![Value::List(vec!["<&>".into()])])),
    ]);
    let body = Body::from(write_call("system.multicall", &[calls]).unwrap());
    let limits = Limits::DEFAULT;
    let profile = XmlRpcProfile::DEFAULT;
    let (_, mut decoder) = XmlRpcDecoder::call(&body, profile, &limits).unwrap();
    let mut read = Vec::new();
    for entry in decoder.multicall().unwrap() {
        let entry = entry.unwrap();
        let offset = entry.parameters.start;
        let part = Body::from(body.as_bytes()[entry.parameters].to_vec());
        let mut decoder = XmlRpcDecoder::parameters_of(&part, offset, profile, &limits).unwrap();
        let parameters: Vec<Value> = decoder.deserialize_parameters().unwrap();
        read.push((entry.method.to_string(), parameters));
    }
    assert_eq!(
        read,
        [
            ("add".to_owned(), vec![1.into(), 2.into()]),
            ("none".to_owned(), vec![]),
            ("nested".to_owned(), vec![Value::List(vec!["<&>".into()])]),
        ]
    );
}

#[test]
fn errors_in_parameters_count_from_the_whole_message() {
    let calls = Value::List(vec![call("add", Value::List(vec!["one".into()]))]);
    let body = Body::from(write_call("system.multicall", &[calls]).unwrap());
    let profile = XmlRpcProfile::DEFAULT;
    let (_, mut decoder) = XmlRpcDecoder::call(&body, profile, &Limits::DEFAULT).unwrap();
    let entry = decoder.multicall().unwrap().remove(0).unwrap();
    let part = Body::from(body.as_bytes()[entry.parameters.clone()].to_vec());
    let mut decoder =
        XmlRpcDecoder::parameters_of(&part, entry.parameters.start, profile, &Limits::DEFAULT)
            .unwrap();
    let error = decoder.deserialize_parameters::<(i32,)>().unwrap_err();
    let text = std::str::from_utf8(body.as_bytes()).unwrap();
    assert_eq!(error.offset(), text.find("<string>one"));
}

#[test]
fn a_bad_entry_is_an_error_of_its_own() {
    let calls = Value::List(vec![
        call("a", Value::List(vec![])),
        Value::from(5),
        call(5, Value::List(vec![])),
        call("b", "x"),
        Value::Map(Map::from_iter([("methodName", "c")])),
        Value::Map(Map::new()),
        Value::List(vec![]),
        call("d", Value::List(vec![1.into()])),
    ]);
    let entries = entries(calls, &Limits::DEFAULT).unwrap();
    let good: Vec<bool> = entries.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, false, false, false, false, false, false, true]);
    let message = |at: usize| entries[at].as_ref().unwrap_err().message();
    assert!(
        message(1).contains("a struct of methodName and params"),
        "{}",
        message(1)
    );
    assert!(
        message(2).contains("the name of a method"),
        "{}",
        message(2)
    );
    assert!(
        message(3).contains("an array of parameters"),
        "{}",
        message(3)
    );
    assert!(message(4).contains("no `params`"), "{}", message(4));
    assert!(message(5).contains("no `methodName`"), "{}", message(5));
}

/// However many are wrong, each says where, and no message is read again for it: what a
/// message of wrong calls costs grows as its length does.
#[test]
fn all_wrong_entries_say_where() {
    let deep = |value: Value| call("a", Value::List(vec![value]));
    let mut calls = Vec::new();
    for _ in 0..250 {
        calls.extend([
            Value::from(5),
            call(5, Value::List(vec![])),
            call("b", "x"),
            deep(Value::Map(Map::from_iter([("methodName", "c")]))),
        ]);
    }
    calls.push(Value::Map(Map::from_iter([("methodName", "c")])));
    let limits = Limits::DEFAULT.with_calls(2000);
    let body = write_call("system.multicall", &[Value::List(calls.clone())]).unwrap();
    let text = std::str::from_utf8(&body).unwrap();
    let entries = entries(Value::List(calls), &limits).unwrap();
    for (index, entry) in entries.iter().enumerate() {
        let (path, member) = match (index % 4, index) {
            (_, 1000) => (format!("[{index}]"), None),
            (0, _) => (format!("[{index}]"), Some("<int>5")),
            (1, _) => (format!("[{index}].methodName"), Some("<int>5")),
            (2, _) => (format!("[{index}].params"), Some("<string>x")),
            _ => {
                assert!(entry.is_ok(), "{index}");
                continue;
            }
        };
        let error = entry.as_ref().unwrap_err();
        assert_eq!(error.path(), path, "{error}");
        let offset = error.offset().unwrap();
        if let Some(member) = member {
            assert!(text[offset..].starts_with(member), "{error}");
            assert!(error.what_was_found().contains(member), "{error}");
        }
    }
}

#[test]
fn calls_are_limited() {
    let calls = |count: usize| Value::List(vec![call("a", Value::List(vec![])); count]);
    let limits = Limits::DEFAULT.with_calls(3);
    assert_eq!(entries(calls(3), &limits).unwrap().len(), 3);
    let error = entries(calls(4), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit(LimitKind::Calls(3)));
    assert!(error.message().contains("Limits::calls"));
}

#[test]
fn a_multicall_has_one_parameter() {
    for parameters in [vec![], vec![Value::from(1)], vec![Value::List(vec![]); 2]] {
        let body = Body::from(write_call("system.multicall", &parameters).unwrap());
        let limits = Limits::DEFAULT;
        let (_, mut decoder) = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &limits).unwrap();
        assert!(decoder.multicall().is_err(), "{parameters:?}");
    }
}

fn results(value: &Value, leniency: Leniency) -> Result<Vec<Result<Value, i64>>, Error> {
    let body = Body::from(write_response(value).unwrap());
    let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
    let limits = Limits::DEFAULT;
    let (_, mut decoder) = XmlRpcDecoder::response(&body, profile, &limits)?;
    let results = decoder.multicall_results()?;
    Ok(results
        .into_iter()
        .map(|result| match result {
            MulticallResult::Value(range) => {
                let part = Body::from(body.as_bytes()[range].to_vec());
                let mut decoder = XmlRpcDecoder::value(&part, 0, profile, &limits).unwrap();
                let value = decoder.deserialize::<Value>().unwrap();
                decoder.finish().unwrap();
                Ok(value)
            }
            MulticallResult::Fault(fault) => Err(fault["faultCode"].as_i64().unwrap()),
        })
        .collect())
}

#[test]
fn results_are_wrapped_or_faults() {
    let fault = Value::Map(Map::from_iter([
        ("faultCode", Value::from(4)),
        ("faultString", Value::from("too many")),
    ]));
    let value = Value::List(vec![
        Value::List(vec![Value::from(7)]),
        fault,
        Value::List(vec![Value::List(vec!["a".into(), "b".into()])]),
    ]);
    assert_eq!(
        results(&value, Leniency::STRICT).unwrap(),
        [
            Ok(Value::from(7)),
            Err(4),
            Ok(Value::List(vec!["a".into(), "b".into()]))
        ]
    );
}

/// As supervisord sends them.
#[test]
fn bare_results_by_leniency() {
    let bare = Value::List(vec![
        Value::from(true),
        Value::from("log \u{e9}"),
        Value::Map(Map::from_iter([("statename", "RUNNING")])),
        Value::List(vec![1.into(), 2.into()]),
        Value::List(vec![]),
        Value::List(vec![5.into()]),
    ]);
    for one in bare.as_list().unwrap().iter().take(5) {
        let one = Value::List(vec![one.clone()]);
        assert!(results(&one, Leniency::STRICT).is_err());
    }
    let read = results(&bare, Leniency::STRICT.with_bare_multicall(true)).unwrap();
    let expected: Vec<Result<Value, i64>> =
        bare.as_list().unwrap().iter().cloned().map(Ok).collect();
    assert_eq!(read, expected);
}

/// A list of one is a result in its wrapping only where all results may be.
#[test]
fn a_reply_is_bare_as_a_whole() {
    let lenient = Leniency::STRICT.with_bare_multicall(true);
    let one = |item: &str| Value::List(vec![item.into()]);
    let fault = || {
        Value::Map(Map::from_iter([
            ("faultCode", Value::from(4)),
            ("faultString", Value::from("too many")),
        ]))
    };
    // What shows that it is bare may come before, behind or between.
    for at in 0..3 {
        let mut values = vec![one("a"), fault(), one("b")];
        values.insert(at, Value::from(true));
        let mut expected = vec![Ok(one("a")), Err(4), Ok(one("b"))];
        expected.insert(at, Ok(Value::from(true)));
        assert_eq!(results(&Value::List(values), lenient).unwrap(), expected);
    }
    // A fault shows nothing: it looks the same in both.
    let wrapped = Value::List(vec![one("a"), fault(), one("b")]);
    let expected = [Ok(Value::from("a")), Err(4), Ok(Value::from("b"))];
    assert_eq!(results(&wrapped, lenient).unwrap(), expected);
    assert_eq!(results(&wrapped, Leniency::STRICT).unwrap(), expected);
}
