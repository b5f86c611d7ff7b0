//! Compares the messages of a case with the encoded ones.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use polywire_codec::cbor::{CborDecoder, CborProfile};
use polywire_protocol::ProtocolKind;
use polywire_schema::{Body, Decode, Limits, Member, NameSource, Schema, ShapeKind, Value};
use serde_json::Value as Json;

use crate::subject::TestValue;
use crate::xml::{Element, Stray};

pub(crate) fn same_value(
    expected: &dyn TestValue,
    found: &dyn TestValue,
    shape: Schema<'_>,
) -> Result<(), String> {
    let show = |value: &dyn TestValue| canonical(&value.show(shape));
    same("value", &show(expected), &show(found))
}

pub(crate) fn same(what: &str, expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected}, found {found}"))
    }
}

/// JSON with sorted members, and whole numbers without a fraction, because encoders can choose
/// both. Other text is not changed.
fn canonical(text: &str) -> String {
    match serde_json::from_str::<Json>(text) {
        Ok(mut json) => {
            json.sort_all_objects();
            whole_numbers(&mut json);
            json.to_string()
        }
        Err(_) => text.to_owned(),
    }
}

fn whole_numbers(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(whole_numbers),
        Json::Object(members) => members.values_mut().for_each(whole_numbers),
        Json::Number(number) => {
            if let Some(double) = number.as_f64().filter(|_| number.is_f64())
                && double.fract() == 0.0
                && double.abs() < 1e15
            {
                *number = (double as i64).into();
            }
        }
        _ => {}
    }
}

/// Returns the body of a case: CBOR is in base64.
pub(crate) fn body(case: &Json) -> Vec<u8> {
    let text = case["body"].as_str().unwrap_or_default();
    if is_cbor(case) {
        // RpcV2CborClientPopulatesDefaultValuesInInput has no padding in 1.54.0.
        let padding = "=".repeat(text.len().next_multiple_of(4) - text.len());
        polywire_text::base64::decode(format!("{text}{padding}").as_bytes())
            .unwrap()
            .to_vec()
    } else {
        text.as_bytes().to_vec()
    }
}

fn is_cbor(case: &Json) -> bool {
    case["protocol"] == ProtocolKind::RpcV2Cbor.id() || case["bodyMediaType"] == "application/cbor"
}

pub(crate) fn same_body(case: &Json, shape: Schema<'_>, found: &[u8]) -> Result<(), String> {
    if case["body"].is_null() {
        return Ok(());
    }
    let expected = body(case);
    let show = |body: &[u8]| match is_cbor(case) && !body.is_empty() {
        true => cbor(body),
        false => canonical(&String::from_utf8_lossy(body)),
    };
    match is_xml(case) {
        // Without a media type, a case does not claim that its XML is complete. One such case omits
        // the namespace of the service.
        true if case["bodyMediaType"].is_null() => {
            let bare = |body: &[u8]| without_namespace(&String::from_utf8_lossy(body));
            same_xml(
                shape,
                bare(&expected).as_bytes(),
                bare(found).as_bytes(),
                &[],
            )
        }
        true => same_xml(shape, &expected, found, &[]),
        false => same("body", &show(&expected), &show(found)),
    }
}

/// Compares the body of an error. XML cases contain elements that a server cannot know: the request
/// id, and members that the structure of the error does not have or that the case does not set.
/// `known` are the names of the other members.
pub(crate) fn same_error(
    case: &Json,
    shape: Schema<'_>,
    found: &[u8],
    known: &[&str],
) -> Result<(), String> {
    if !is_xml(case) {
        return same_body(case, shape, found);
    }
    same_xml(shape, &body(case), found, known)
}

/// Returns whether a body is XML, from the media type of the case or from the body.
fn is_xml(case: &Json) -> bool {
    let body = case["body"].as_str().unwrap_or_default();
    match case["bodyMediaType"].as_str() {
        Some(media_type) => media_type == "application/xml",
        None => body.trim_start().starts_with("<"),
    }
}

/// Returns XML without its declaration and the default namespace of its root.
fn without_namespace(xml: &str) -> String {
    let xml = match xml.split_once("?>") {
        Some((declaration, rest)) if declaration.starts_with("<?xml") => rest,
        _ => xml,
    };
    let (tag, rest) = xml.split_once('>').unwrap_or((xml, ""));
    let name = tag.split(" xmlns=").next().unwrap_or_default();
    format!("{name}>{rest}")
}

/// Compares XML, ignoring the request id. In an error, compares only the known members.
fn same_xml(
    shape: Schema<'_>,
    expected: &[u8],
    found: &[u8],
    known: &[&str],
) -> Result<(), String> {
    let maps = shape
        .set()
        .shapes()
        .filter(|shape| shape.kind() == ShapeKind::Map);
    let names = |map: Schema<'_>| [0, 1].map(|at| map.member(at).plain(NameSource::Xml).to_owned());
    let entries: BTreeSet<[String; 2]> = maps.map(names).collect();
    let parse = |body: &[u8], stray: Stray| {
        let text = String::from_utf8_lossy(body);
        if text.trim().is_empty() {
            return Ok::<_, String>(String::new());
        }
        let root = Element::parse(&text, stray);
        let mut root = root.map_err(|error| format!("{error} in {text}"))?;
        let is_id = |element: &Element| element.name.eq_ignore_ascii_case("requestId");
        root.remove(is_id);
        if let Some(metadata) = root.find("ResponseMetadata") {
            metadata.remove(is_id);
        }
        root.remove(|element| element.name == "ResponseMetadata" && element.elements.is_empty());
        if !known.is_empty()
            && let Some(error) = root.find("Error")
        {
            error.remove(|element| !known.contains(&element.name.as_str()));
        }
        root.sort_entries(&entries);
        Ok(root.to_string())
    };
    let expected = parse(expected, Stray::Skip)?;
    same("body", &expected, &parse(found, Stray::Refuse)?)
}

/// Checks the media type and the text of a response to a malformed request.
pub(crate) fn same_answer(
    case: &Json,
    headers: &http::HeaderMap,
    found: &[u8],
) -> Result<(), String> {
    let expected = &case["body"];
    let Some(media_type) = expected["mediaType"].as_str() else {
        return Ok(());
    };
    let found_type = headers
        .get("content-type")
        .map_or("", |value| value.to_str().unwrap());
    same(
        "media type",
        media_type,
        found_type.split(';').next().unwrap_or_default(),
    )?;
    let found = String::from_utf8_lossy(found);
    if let Some(contents) = expected["assertion"]["contents"].as_str() {
        return same("body", &canonical(contents), &canonical(&found));
    }
    match expected["assertion"]["messageRegex"].as_str() {
        None => Ok(()),
        Some(pattern) => Err(format!("nobody matches {pattern:?} with {found:?}")),
    }
}

fn cbor(bytes: &[u8]) -> String {
    let body = Body::new(Bytes::copy_from_slice(bytes));
    let read = || {
        let profile = CborProfile::DEFAULT.for_client();
        let mut decoder = CborDecoder::from_body(&body, profile, &Limits::DEFAULT)?;
        Value::decode(Member::DOCUMENT, &mut decoder)
    };
    match read() {
        Ok(value) => sorted(&value),
        Err(error) => format!("{error} in {bytes:02x?}"),
    }
}

/// Returns a value as text, ignoring the order of members and the widths of numbers, which CBOR
/// encoders can choose.
fn sorted(value: &Value) -> String {
    match value {
        Value::Map(map) => {
            let entries: BTreeMap<&str, String> = map
                .iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            format!("{entries:?}")
        }
        Value::List(list) => format!("{:?}", list.iter().map(sorted).collect::<Vec<_>>()),
        Value::Double(double) => format!("{double}"),
        Value::Float(float) => format!("{}", f64::from(*float)),
        Value::Integer(integer) => format!("{integer}"),
        other => format!("{other:?}"),
    }
}

/// Checks the headers that a case expects, forbids and requires.
pub(crate) fn same_headers(case: &Json, found: &http::HeaderMap) -> Result<(), String> {
    for (name, expected) in case["headers"].as_object().into_iter().flatten() {
        let values = found.get_all(name.as_str()).iter();
        let values: Vec<_> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        // The transport sets the length of the body.
        if !name.eq_ignore_ascii_case("content-length") {
            same(name, expected.as_str().unwrap(), &values.join(", "))?;
        }
    }
    for name in texts(&case["forbidHeaders"]) {
        if found.contains_key(name) {
            return Err(format!("a header {name}, which must not be there"));
        }
    }
    for name in texts(&case["requireHeaders"]) {
        if !found.contains_key(name) && !name.eq_ignore_ascii_case("content-length") {
            return Err(format!("no header {name}"));
        }
    }
    Ok(())
}

/// Headers of responses that a protocol does not write: the server sets request ids, and one case
/// expects a header of requests in a response.
pub(crate) fn without_foreign_headers(case: &Json) -> Json {
    let mut case = case.clone();
    if let Some(headers) = case["headers"].as_object_mut() {
        let foreign = ["x-amz-target", "x-amzn-requestid"];
        headers.retain(|name, _| !foreign.contains(&name.to_ascii_lowercase().as_str()));
    }
    case
}

pub(crate) fn texts(list: &Json) -> impl Iterator<Item = &str> {
    let list = list.as_array().into_iter().flatten();
    list.map(|text| text.as_str().unwrap())
}
