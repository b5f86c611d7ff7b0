//! Inputs as serde types.

use std::collections::BTreeMap;
use std::fmt::Debug;

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::xmlrpc::{Envelope, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{Blob, Body, Error, Limits, Timestamp, Value};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use test_data::record::Transcript;

use crate::inputs::{Input, Wire};
use crate::observe;

/// Members of many kinds.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    name: String,
    #[serde(default)]
    weight: Option<f64>,
    #[serde(default)]
    count: u16,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    made_at: Option<Timestamp>,
    #[serde(default)]
    data: Option<Blob>,
    #[serde(default)]
    kind: Option<Kind>,
    #[serde(default)]
    children: Vec<Record>,
}

#[derive(Debug, Deserialize, Serialize)]
enum Kind {
    Unit,
    New(i64),
    Tuple(bool, char),
    Struct { a: u8, b: Option<i8> },
}

/// Anything, by the way that derived untagged enums take.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Untagged {
    Integer(i64),
    Double(f64),
    Text(String),
    List(Vec<Untagged>),
    Map(BTreeMap<String, Untagged>),
    Null,
}

pub(crate) fn everything(input: &Input, to: &mut Transcript) {
    match input.wire {
        Wire::Cbor => {
            cbor::<Value>(input, "Value", to);
            cbor::<Untagged>(input, "Untagged", to);
            cbor::<Record>(input, "Record", to);
            cbor::<(i32, Option<String>)>(input, "tuple", to);
            cbor::<BTreeMap<String, Value>>(input, "map", to);
            cbor_ignored(input, to);
        }
        Wire::XmlRpcCall => {
            call::<Vec<Value>>(input, "Values", to);
            call::<Vec<Untagged>>(input, "Untagged", to);
            call::<(Record,)>(input, "Record", to);
            call::<(i32, i32, Option<i32>)>(input, "integers", to);
            call::<(bool, char, String)>(input, "scalars", to);
            call::<(Blob, Timestamp)>(input, "blob", to);
            call::<Option<(i32, Option<bool>)>>(input, "option", to);
            call::<(BTreeMap<String, Vec<Option<i64>>>,)>(input, "map", to);
            call::<(Vec<Record>, Option<Kind>)>(input, "records", to);
            call::<()>(input, "nothing", to);
        }
        Wire::XmlRpcResponse => {
            response::<Value>(input, "Value", to);
            response::<Untagged>(input, "Untagged", to);
            response::<Record>(input, "Record", to);
            response::<Kind>(input, "Kind", to);
            response::<BTreeMap<String, Value>>(input, "map", to);
        }
        Wire::Json | Wire::Xml | Wire::Form => {}
    }
}

fn cbor<T: DeserializeOwned + Serialize + Debug>(input: &Input, name: &str, to: &mut Transcript) {
    for parameters in [false, true] {
        let decoder = CborDecoder::from_slice(&input.bytes, CborProfile::DEFAULT, &Limits::DEFAULT);
        let read: Result<T, Error> = decoder.and_then(|mut decoder| {
            let value = match parameters {
                true => decoder.deserialize_parameters()?,
                false => decoder.deserialize()?,
            };
            decoder.finish()?;
            Ok(value)
        });
        observe::result(to, &format!("serde {name} {parameters}"), &read);
        if let Ok(value) = read {
            let mut encoder = CborEncoder::new(Vec::new());
            let written = encoder.serialize(&value).and_then(|()| encoder.finish());
            observe::message(to, &format!("serde {name}"), written);
        }
    }
}

fn cbor_ignored(input: &Input, to: &mut Transcript) {
    let decoder = CborDecoder::from_slice(&input.bytes, CborProfile::DEFAULT, &Limits::DEFAULT);
    let read = decoder.and_then(|mut decoder| {
        let ignored: IgnoredAny = decoder.deserialize()?;
        decoder.finish()?;
        Ok(ignored)
    });
    observe::result(to, "serde ignored", &read);
}

fn call<T: DeserializeOwned + Serialize + Debug>(input: &Input, name: &str, to: &mut Transcript) {
    let body = Body::from(input.bytes.clone());
    let decoder = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT);
    let read: Result<T, Error> =
        decoder.and_then(|(_, mut decoder)| decoder.deserialize_parameters());
    observe::result(to, &format!("serde {name}"), &read);
    if let Ok(value) = read {
        let envelope = Envelope::Call {
            method: "method",
            positional: true,
        };
        let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
        let written = encoder
            .serialize_parameters(&value)
            .and_then(|()| encoder.finish());
        observe::message(to, &format!("serde {name}"), written);
    }
}

fn response<T: DeserializeOwned + Serialize + Debug>(
    input: &Input,
    name: &str,
    to: &mut Transcript,
) {
    let body = Body::from(input.bytes.clone());
    let decoder = XmlRpcDecoder::response(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT);
    let read: Result<T, Error> = decoder.and_then(|(_, mut decoder)| {
        let value = decoder.deserialize()?;
        decoder.finish()?;
        Ok(value)
    });
    observe::result(to, &format!("serde {name}"), &read);
    if let Ok(value) = read {
        let mut encoder = XmlRpcEncoder::new(Envelope::Response, Vec::new());
        let written = encoder.serialize(&value).and_then(|()| encoder.finish());
        observe::message(to, &format!("serde {name}"), written);
    }
}
