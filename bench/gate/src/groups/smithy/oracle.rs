//! The expected answers, as JSON that does not depend on our codecs.

use std::collections::BTreeMap;

use polywire_codec::cbor::{CborDecoder, CborProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_schema::{Body, Decode, Encode, Limits, Member, Value};
use serde_json::Value as Json;

/// The members that are maps. All other objects are structures and unions.
const MAPS: [&str; 4] = ["Item", "Key", "M", "Metadata"];

/// A value from the parameters of a case.
pub(super) fn of_params<'de, T: Decode<'de>>(params: &'de [u8], at: Member<'_>) -> Option<T> {
    let text = std::str::from_utf8(params).ok()?;
    let mut decoder = JsonDecoder::from_str(text, JsonProfile::NODE, &Limits::DEFAULT).ok()?;
    T::decode(at, &mut decoder).ok()
}

/// A value as JSON in the form of [`normalized`], whatever type holds it.
pub(super) fn shown(value: &impl Encode, at: Member<'_>) -> Json {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    value.encode(at, &mut encoder);
    let json = encoder.finish().unwrap_or_default();
    normalized(serde_json::from_slice(&json).unwrap_or_default())
}

/// The same JSON with sorted members and `2.0` as `2`, and without the members that no shape has.
pub(super) fn normalized(json: Json) -> Json {
    without_unknown(json, false)
}

fn without_unknown(json: Json, is_map: bool) -> Json {
    match json {
        Json::Number(number) => match number.as_f64() {
            Some(number) => Json::String(format!("number {number}")),
            None => Json::Number(number),
        },
        Json::Array(items) => {
            let items = items.into_iter();
            items.map(|item| without_unknown(item, false)).collect()
        }
        Json::Object(members) => {
            let known = members
                .into_iter()
                .filter(|(name, _)| is_map || !name.starts_with("__unknown"));
            let sorted: BTreeMap<_, _> = known.collect();
            let members = sorted.into_iter().map(|(name, value)| {
                let value_is_map = !is_map && MAPS.contains(&name.as_str());
                (name, without_unknown(value, value_is_map))
            });
            Json::Object(members.collect())
        }
        other => other,
    }
}

/// The fewest allocations that hold this: one per list, map and string of more than 23 bytes.
pub(super) fn allocations(shown: &Json) -> u64 {
    match shown {
        Json::String(text) => u64::from(text.len() > 23),
        Json::Array(items) => {
            u64::from(!items.is_empty()) + items.iter().map(allocations).sum::<u64>()
        }
        Json::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let map = MAPS.contains(&name.as_str()) && value.is_object();
                u64::from(map) + allocations(value)
            })
            .sum(),
        _ => 0,
    }
}

/// A CBOR document as a tree. Writers choose whether maps begin with their length, so documents
/// are compared as trees.
pub(super) fn cbor_tree(cbor: &[u8]) -> Option<Value> {
    let body = Body::from(cbor.to_vec());
    let mut decoder = CborDecoder::from_body(&body, CborProfile::DEFAULT, &Limits::DEFAULT).ok()?;
    let tree = Value::decode(Member::DOCUMENT, &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(tree)
}

/// The items of a form, in order. Writers choose whether to escape colons and whether whole
/// doubles have a fraction.
pub(super) fn form_items(form: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(form).replace("%3A", ":");
    let items = text.trim_end_matches('&').split('&');
    items
        .map(|item| item.strip_suffix(".0").unwrap_or(item).to_owned())
        .collect()
}
