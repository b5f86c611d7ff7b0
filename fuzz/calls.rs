//! Calls of methods, as servers without a model read them: batches, and parameters
//! as types of serde.

use std::collections::BTreeMap;
use std::fmt::Debug;

use polywire_codec::reference::xmlrpc as reference;
use polywire_codec::xmlrpc::{
    self, Envelope, MulticallResult, Reply, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile,
};
use polywire_schema::{Blob, Body, Decode, Error, Limits, Member, Timestamp, Value};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::alike::unwritable;
use super::readers::{SMALL, check};

/// Every way to read a message.
fn ways() -> impl Iterator<Item = (XmlRpcProfile, Limits)> {
    let strict = XmlRpcProfile::DEFAULT;
    let profiles = [strict, strict.for_client()];
    let limits = [Limits::DEFAULT, SMALL.with_calls(3)];
    profiles
        .into_iter()
        .flat_map(move |profile| limits.map(|limits| (profile, limits)))
}

/// The calls of a batch, and the results of one.
pub(crate) fn multicall(data: &[u8]) {
    let body = Body::from(data.to_vec());
    for (profile, limits) in ways() {
        let calls = batch(&body, profile, &limits);
        check(&calls, data.len());
        // What breaks a limit breaks it for the calls together or each alone.
        if let Ok(text) = std::str::from_utf8(data)
            && let reference = reference::read_multicall(text, profile, &limits)
            && ![calls.as_ref().err(), reference.as_ref().err()]
                .into_iter()
                .flatten()
                .any(Error::is_limit)
        {
            assert_eq!(format!("{:?}", calls.ok()), format!("{:?}", reference.ok()));
        }
        let results = results(&body, profile, &limits);
        check(&results, data.len());
    }
}

type Call = (String, Vec<Value>);

/// The calls of a batch, with their parameters; none for what is no call.
fn batch(body: &Body, profile: XmlRpcProfile, limits: &Limits) -> Result<Vec<Option<Call>>, Error> {
    let (_, mut decoder) = XmlRpcDecoder::call(body, profile, limits)?;
    let calls = decoder.multicall()?;
    assert!(calls.len() <= limits.calls() as usize);
    let len = body.as_bytes().len();
    let read = |call| {
        check(&call, len);
        let Ok(call) = call else { return Ok(None) };
        let xmlrpc::MulticallEntry {
            method, parameters, ..
        } = call;
        let part = Body::from(body.as_bytes()[parameters.clone()].to_vec());
        let start = parameters.start;
        let mut decoder = XmlRpcDecoder::parameters_of(&part, start, profile, limits)?;
        let mut values = Vec::new();
        while decoder.parameter()? {
            values.push(Value::decode(Member::DOCUMENT, &mut decoder)?);
        }
        decoder.finish()?;
        Ok(Some((method.to_string(), values)))
    };
    calls.into_iter().map(read).collect()
}

/// The results of a batch: each is what stands there in the whole value.
fn results(body: &Body, profile: XmlRpcProfile, limits: &Limits) -> Result<(), Error> {
    let (reply, mut decoder) = XmlRpcDecoder::response(body, profile, limits)?;
    if reply != Reply::Result {
        return Ok(());
    }
    let results = decoder.multicall_results()?;
    let (_, mut decoder) = XmlRpcDecoder::response(body, profile, limits)?;
    // What was passed over may be a value that is refused when it is read.
    let whole = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    let whole = whole.as_list().unwrap();
    assert_eq!(whole.len(), results.len());
    for (result, whole) in results.into_iter().zip(whole) {
        match result {
            MulticallResult::Fault(fault) => assert_eq!(format!("{fault:?}"), format!("{whole:?}")),
            MulticallResult::Value(place) => {
                let part = Body::from(body.as_bytes()[place.clone()].to_vec());
                let mut decoder = XmlRpcDecoder::value(&part, place.start, profile, limits)?;
                let value = format!("{:?}", Value::decode(Member::DOCUMENT, &mut decoder)?);
                decoder.finish()?;
                let inner = whole.as_list().and_then(|list| list.first());
                let inner = inner.map(|inner| format!("{inner:?}"));
                assert!(
                    inner.as_ref() == Some(&value) || format!("{whole:?}") == value,
                    "{value} of {whole:?}"
                );
            }
        }
    }
    Ok(())
}

/// A structure with members of every kind.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    name: String,
    #[serde(default)]
    count: u16,
    #[serde(default)]
    price: Option<f64>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    made_at: Option<Timestamp>,
    #[serde(default)]
    data: Option<Blob>,
    #[serde(default)]
    kind: Option<Kind>,
    #[serde(default)]
    rest: BTreeMap<String, Value>,
    #[serde(default)]
    next: Option<Box<Record>>,
}

#[derive(Debug, Deserialize, Serialize)]
enum Kind {
    Unit,
    New(i64),
    Tuple(bool, char),
    Struct { a: u8, b: Option<i8> },
}

/// Parameters as types.
pub(crate) fn typed(data: &[u8]) {
    let body = Body::from(data.to_vec());
    parameters::<(i32, i32, Option<i32>)>(&body);
    parameters::<(Record,)>(&body);
    parameters::<(Vec<Record>, Option<Kind>)>(&body);
    parameters::<(u8, i8, u64, f32)>(&body);
    parameters::<(bool, char, String)>(&body);
    parameters::<(BTreeMap<String, Vec<Option<i64>>>,)>(&body);
    parameters::<(Blob, Timestamp)>(&body);
    parameters::<Option<(i32, Option<bool>)>>(&body);
    parameters::<Vec<Value>>(&body);
    parameters::<Value>(&body);
    parameters::<()>(&body);
    ignored(&body);
}

fn read<T: DeserializeOwned>(
    body: &Body,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<T, Error> {
    let (_, mut decoder) = XmlRpcDecoder::call(body, profile, limits)?;
    decoder.deserialize_parameters()
}

fn write<T: Serialize>(parameters: &T) -> Result<Vec<u8>, Error> {
    let envelope = Envelope::Call {
        method: "method",
        positional: true,
    };
    let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
    encoder.serialize_parameters(parameters)?;
    encoder.finish()
}

fn shown<T: Debug>(read: &Result<T, Error>) -> String {
    match read {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}

fn parameters<T: DeserializeOwned + Serialize + Debug>(body: &Body) {
    let strict = read::<T>(body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT);
    for (profile, limits) in ways() {
        let read = read::<T>(body, profile, &limits);
        check(&read, body.as_bytes().len());
        // Smaller limits refuse, and what is lenient takes all that is right.
        let refused = read.as_ref().is_err_and(Error::is_limit);
        if strict.is_ok() && !refused {
            assert_eq!(shown(&strict), shown(&read));
        }
    }
    let Ok(value) = strict else { return };
    match write(&value) {
        Ok(written) => {
            let body = Body::from(written);
            let again = read::<T>(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT);
            let again = again.unwrap_or_else(|error| panic!("{error} of {value:?}"));
            assert_eq!(write(&again).unwrap(), body.as_bytes(), "{value:?}");
        }
        Err(error) => assert!(unwritable(&error), "{error}"),
    }
}

/// What nobody looks at is passed over without a look: well formed is all it has to be.
fn ignored(body: &Body) {
    let limits = Limits::DEFAULT;
    let values = read::<Vec<Value>>(body, XmlRpcProfile::DEFAULT, &limits);
    let ignored = read::<Vec<IgnoredAny>>(body, XmlRpcProfile::DEFAULT, &limits);
    check(&ignored, body.as_bytes().len());
    assert!(ignored.is_ok() || values.is_err(), "{values:?}");
}
