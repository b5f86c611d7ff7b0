//! The crates dxr and serde_xmlrpc, through their own dynamic values.
//!
//! serde_xmlrpc 0.2.3 reads `a &amp; b` as `a &amp; b` and a time as text, so it is not measured
//! where a body has either.

use std::fmt::Debug;

use dxr::{MethodCall, MethodResponse};
use polywire_gate::groups::xmlrpc::corpus::{METHOD, Side};
use polywire_gate::groups::xmlrpc::oracle;
use polywire_gate::groups::xmlrpc::typed::reads;
use polywire_gate::{Case, same};
use polywire_schema::{Text, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::spells;

/// Their names in the tables.
const DXR: &str = "dxr";
const SERDE_XMLRPC: &str = "serde_xmlrpc";

pub(super) fn read(case: &mut Case, side: Side, xml: &'static [u8]) {
    let text = std::str::from_utf8(xml).unwrap_or_default();
    let expected = oracle::value_of(xml);
    let theirs = expected.clone();
    match side {
        Side::Request => {
            if !text.contains('&') {
                case.peer(
                    SERDE_XMLRPC,
                    move || serde_xmlrpc::request_from_str(text).ok(),
                    move |answer| {
                        let (name, values) = answer.as_ref().ok_or("not read")?;
                        let written = serde_xmlrpc::request_to_string(name, values.clone());
                        spells(written.map_err(words)?.as_bytes(), &theirs)
                    },
                );
            }
            case.peer(
                DXR,
                move || MethodCall::from_xml(text).ok(),
                move |answer| {
                    let written = answer.as_ref().ok_or("not read")?.to_xml();
                    spells(written.map_err(words)?.as_bytes(), &expected)
                },
            );
        }
        // serde_xmlrpc reads responses through serde only, where a time becomes
        // text: see the typed cases.
        Side::Response => {
            case.peer(
                DXR,
                move || MethodResponse::from_xml(text).ok(),
                move |answer| {
                    let written = answer.as_ref().ok_or("not read")?.to_xml();
                    spells(written.map_err(words)?.as_bytes(), &expected)
                },
            );
        }
    }
}

pub(super) fn write(case: &mut Case, side: Side, xml: &'static [u8]) {
    let text = std::str::from_utf8(xml).unwrap_or_default();
    let expected = oracle::value_of(xml);
    let theirs = expected.clone();
    let check = move |answer: &Option<String>| {
        spells(answer.as_deref().ok_or("not written")?.as_bytes(), &theirs)
    };
    match side {
        Side::Request => {
            // It takes its values by value, so the call includes a copy.
            if let Some(value) = of_serde_xmlrpc(&expected) {
                case.peer(
                    SERDE_XMLRPC,
                    move || serde_xmlrpc::request_to_string(METHOD, vec![value.clone()]).ok(),
                    check.clone(),
                );
            }
            if let Ok(call) = MethodCall::from_xml(text) {
                case.peer(DXR, move || call.to_xml().ok(), check);
            }
        }
        Side::Response => {
            if let Ok(response) = MethodResponse::from_xml(text) {
                case.peer(DXR, move || response.to_xml().ok(), check);
            }
        }
    }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// serde_xmlrpc reads calls only into its own values.
pub(super) fn read_typed<T>(case: &mut Case, side: Side, xml: &'static [u8])
where
    T: Debug + DeserializeOwned + PartialEq + 'static,
{
    let text = std::str::from_utf8(xml).unwrap_or_default();
    if text.contains('&') {
        return;
    }
    let expected = reads::<T>(side)(xml);
    case.peer(
        SERDE_XMLRPC,
        move || match side {
            Side::Response => serde_xmlrpc::response_from_str::<T>(text),
            Side::Request => serde_xmlrpc::request_from_str(text)
                .and_then(|(_, values)| serde_xmlrpc::from_values::<(T,)>(values))
                .map(|(value,)| value),
        },
        move |answer| same(&answer.as_ref().ok(), &expected.as_ref()),
    );
}

pub(super) fn write_typed<T>(case: &mut Case, side: Side, xml: &'static [u8], value: T)
where
    T: Serialize + 'static,
{
    let expected = oracle::value_of(xml);
    // A `Blob` serializes as text for serializers other than ours.
    if of_serde_xmlrpc(&expected).is_none() || expected.as_blob().is_some() {
        return;
    }
    case.peer(
        SERDE_XMLRPC,
        move || {
            let value = serde_xmlrpc::to_value(&value)?;
            match side {
                Side::Request => serde_xmlrpc::request_to_string(METHOD, vec![value]),
                Side::Response => serde_xmlrpc::response_to_string(std::iter::once(value)),
            }
        },
        move |answer| {
            let written = answer.as_ref().map_err(words)?;
            spells(written.as_bytes(), &expected)
        },
    );
}

/// The value as serde_xmlrpc has it; `None` with a time in it.
fn of_serde_xmlrpc(value: &Value) -> Option<serde_xmlrpc::Value> {
    use serde_xmlrpc::Value as Theirs;
    Some(match value {
        Value::Boolean(value) => Theirs::Bool(*value),
        Value::Integer(value) => Theirs::Int(i32::try_from(*value).ok()?),
        Value::Double(value) => Theirs::Double(*value),
        Value::String(text) => Theirs::String(text.to_string()),
        Value::Blob(bytes) => Theirs::Base64(bytes.to_vec()),
        Value::List(items) => {
            Theirs::Array(items.iter().map(of_serde_xmlrpc).collect::<Option<_>>()?)
        }
        Value::Map(map) => {
            let entries = map.entries().iter();
            let entry =
                |(key, value): &(Text, Value)| Some((key.to_string(), of_serde_xmlrpc(value)?));
            Theirs::Struct(entries.map(entry).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
