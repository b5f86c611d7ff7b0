//! Bodies alone, through the codecs: what the peers of each format are compared with. Every size is
//! measured through the generated types. One size, `M`, is measured through `Value` and through
//! types that borrow as well.

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::form::{FormEncoder, FormProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_schema::{Body, Decode, Encode, Limits, Member, SchemaSet, Value};
use serde_json::Value as Json;

use super::Row;
use super::message::add;
use super::oracle::{cbor_tree, form_items, normalized, of_params, shown};
use super::types::{
    aws_json_rpc10_data_plane as json, aws_json_rpc10_data_plane_borrowed as json_borrowed,
    aws_query_data_plane as query, aws_rest_xml_data_plane as rest_xml,
    smithy_rpc_v2_cbor_data_plane as cbor, smithy_rpc_v2_cbor_data_plane_borrowed as cbor_borrowed,
};
use crate::{Case, Group, same, same_bytes};

type At = Member<'static>;
type Set = &'static SchemaSet<'static>;

/// Adds the cases of a row that has a body.
pub(super) fn cases(group: &mut Group, row: &Row) {
    if !row.has_body() {
        return;
    }
    match (row.protocol.as_str(), row.operation.as_str()) {
        ("awsJson1_0", "GetItem") => {
            let at = output(json::schemas(), row);
            reads::<json::GetItemOutput>(group, row, "typed", at, |body, at| from_json(body, at));
            if row.is_medium() {
                reads::<Value>(group, row, "Value", at, |body, at| from_json(body, at));
                let read = from_json::<json_borrowed::GetItemOutput<'static>>;
                borrows(group, row, at, read);
            }
        }
        ("rpcv2Cbor", "GetItem") => {
            let at = output(cbor::schemas(), row);
            reads::<cbor::GetItemOutput>(group, row, "typed", at, |body, at| from_cbor(body, at));
            if row.is_medium() {
                reads::<Value>(group, row, "Value", at, |body, at| from_cbor(body, at));
                let read = from_cbor::<cbor_borrowed::GetItemOutput<'static>>;
                borrows(group, row, at, read);
            }
        }
        ("awsQuery", "GetMetricData") if !row.writes => {
            let at = output(query::schemas(), row);
            reads::<query::GetMetricDataOutput>(group, row, "typed", at, |body, at| {
                from_response(body, at)
            });
            if row.is_medium() {
                reads::<Value>(group, row, "Value", at, |body, at| from_response(body, at));
                writes_response::<query::GetMetricDataOutput>(group, row, "typed", at);
                writes_response::<Value>(group, row, "Value", at);
            }
        }
        ("restXml", "CopyObject") if !row.writes => {
            let at = output(rest_xml::schemas(), row);
            reads::<rest_xml::CopyObjectOutput>(group, row, "typed", at, |body, at| {
                from_xml(body, at)
            });
        }
        ("awsJson1_0", "PutItem") => {
            let at = input(json::schemas(), row);
            writes::<json::PutItemInput>(group, row, "typed", at, to_json, same_bytes);
            if row.is_medium() {
                writes::<Value>(group, row, "Value", at, to_json, same_bytes);
            }
        }
        ("rpcv2Cbor", "PutItem") => {
            let at = input(cbor::schemas(), row);
            writes::<cbor::PutItemInput>(group, row, "typed", at, to_cbor, same_tree);
            if row.is_medium() {
                writes::<Value>(group, row, "Value", at, to_cbor, same_tree);
            }
        }
        ("awsQuery", "PutMetricData") => {
            let at = input(query::schemas(), row);
            writes::<query::PutMetricDataInput>(group, row, "typed", at, to_form, same_form);
        }
        ("awsQuery", "GetMetricData") => {
            let at = input(query::schemas(), row);
            writes::<query::GetMetricDataInput>(group, row, "typed", at, to_form, same_form);
        }
        _ => {}
    }
}

fn input(set: Set, row: &Row) -> Option<At> {
    let operation = set.services().next()?.find_operation(&row.operation)?;
    Some(operation.input().root())
}

fn output(set: Set, row: &Row) -> Option<At> {
    let operation = set.services().next()?.find_operation(&row.operation)?;
    Some(operation.output().root())
}

/// The content of a row's body, which is at `at`.
fn expected(row: &Row, at: At) -> Option<Json> {
    match (row.protocol.as_str(), row.operation.as_str()) {
        ("awsQuery", _) => row.expected_metrics(at),
        (_, "CopyObject") => {
            let json = row.json_of("restJson1", "CopyObjectOutput_M")?;
            let json: Json = serde_json::from_slice(json).ok()?;
            Some(normalized(json))
        }
        _ => Some(normalized(serde_json::from_slice(row.json()?).ok()?)),
    }
}

fn is_shown<T: Encode>(answer: &Option<T>, at: At, expected: &Json) -> Result<(), String> {
    same(&shown(answer.as_ref().ok_or("not read")?, at), expected)
}

/// Reads the body into a type that owns what it holds.
fn reads<T: for<'de> Decode<'de> + Encode + 'static>(
    group: &mut Group,
    row: &Row,
    what: &str,
    at: Option<At>,
    read: impl Fn(&Body, At) -> Option<T> + 'static,
) {
    let name = format!("{}, body {what}", row.full_name());
    add(group, name, row, |case| {
        let (bytes, at) = (row.body, at?);
        let expected = expected(row, at)?;
        permuted(case, row);
        case.polywire(
            move || read(&Body::from(bytes), at),
            move |answer| is_shown(answer, at, &expected),
        );
        Some(())
    });
}

/// Reads the body into a type that borrows from it.
fn borrows<T: Encode + 'static>(
    group: &mut Group,
    row: &Row,
    at: Option<At>,
    read: impl Fn(&'static Body, At) -> Option<T> + 'static,
) {
    let name = format!("{}, body borrowed", row.full_name());
    add(group, name, row, |case| {
        let at = at?;
        let body: &'static Body = Box::leak(Box::new(Body::from(row.body)));
        let expected = expected(row, at)?;
        case.polywire(
            move || read(body, at),
            move |answer| is_shown(answer, at, &expected),
        );
        Some(())
    });
}

/// The permuted document may cost 1.4 times the document in the order of the model, which is
/// shorter: it has no unknown members.
fn permuted(case: &mut Case, row: &Row) {
    if row.is_permuted() && row.protocol != "restXml" {
        let medium = row.full_name().replace("OutOfOrder", "M");
        case.target_instructions_of_case(format!("{medium}, body typed"), 1.4);
    }
}

/// Writes the body into a buffer that has the space already, so that nothing is allocated.
fn writes<T: for<'de> Decode<'de> + Encode + 'static>(
    group: &mut Group,
    row: &Row,
    what: &str,
    at: Option<At>,
    write: impl Fn(&T, At, &Row, Vec<u8>) -> Vec<u8> + 'static,
    check: fn(&[u8], &[u8]) -> Result<(), String>,
) {
    let name = format!("{}, body {what}", row.full_name());
    add(group, name, row, |case| {
        let at = at?;
        let input: T = of_params(row.params()?, at)?;
        let (row, body) = (row.clone(), row.body);
        if row.largest {
            case.target_allocations(0);
        }
        case.polywire_writes(
            move |out| *out = write(&input, at, &row, std::mem::take(out)),
            move |written| check(written, body),
        );
        Some(())
    });
}

/// Writes the XML that the row reads, as a server does.
fn writes_response<T: for<'de> Decode<'de> + Encode + 'static>(
    group: &mut Group,
    row: &Row,
    what: &str,
    at: Option<At>,
) {
    let name = format!("{}, body written, {what}", row.full_name());
    add(group, name, row, |case| {
        let at = at?;
        let output: T = from_response(&Body::from(row.body), at)?;
        let expected = row.expected_metrics(at)?;
        case.target_allocations(0).polywire_writes(
            move |out| *out = to_response(&output, at, std::mem::take(out)),
            move |written| {
                let body = Body::from(written.to_vec());
                is_shown(&from_response::<Value>(&body, at), at, &expected)
            },
        );
        Some(())
    });
}

fn from_json<'de, T: Decode<'de>>(body: &'de Body, at: At) -> Option<T> {
    let profile = JsonProfile::DEFAULT.for_client();
    let mut decoder = JsonDecoder::from_body(body, profile, &Limits::DEFAULT).ok()?;
    let value = T::decode(at, &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

fn from_cbor<'de, T: Decode<'de>>(body: &'de Body, at: At) -> Option<T> {
    let profile = CborProfile::DEFAULT.for_client();
    let mut decoder = CborDecoder::from_body(body, profile, &Limits::DEFAULT).ok()?;
    let value = T::decode(at, &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

fn from_xml<'de, T: Decode<'de>>(body: &'de Body, at: At) -> Option<T> {
    let profile = XmlProfile::DEFAULT.for_client();
    let mut decoder = XmlDecoder::from_body(body, profile, &Limits::DEFAULT).ok()?;
    let value = T::decode(at, &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

/// Reads the result inside of the two elements that awsQuery puts around it.
pub(super) fn from_response<'de, T: Decode<'de>>(body: &'de Body, at: At) -> Option<T> {
    let profile = XmlProfile::DEFAULT.for_client();
    let mut decoder = XmlDecoder::from_body(body, profile, &Limits::DEFAULT).ok()?;
    decoder.enter("GetMetricDataResult").ok()?;
    let value = T::decode(at, &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

fn to_json<T: Encode>(value: &T, at: At, _: &Row, out: Vec<u8>) -> Vec<u8> {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT.for_client(), out);
    value.encode(at, &mut encoder);
    encoder.finish().unwrap_or_default()
}

fn to_cbor<T: Encode>(value: &T, at: At, _: &Row, out: Vec<u8>) -> Vec<u8> {
    let mut encoder = CborEncoder::new(out);
    value.encode(at, &mut encoder);
    encoder.finish().unwrap_or_default()
}

fn to_form<T: Encode>(value: &T, at: At, row: &Row, mut out: Vec<u8>) -> Vec<u8> {
    for part in ["Action=", &row.operation, "&Version=1999-12-31"] {
        out.extend_from_slice(part.as_bytes());
    }
    let mut encoder = FormEncoder::new(FormProfile::AWS_QUERY.for_client(), out);
    value.encode(at, &mut encoder);
    encoder.finish().unwrap_or_default()
}

pub(super) fn to_response<T: Encode>(value: &T, at: At, out: Vec<u8>) -> Vec<u8> {
    let namespace = Some((None, "https://awsquerydataplane.amazonaws.com"));
    let mut encoder = XmlEncoder::new(XmlProfile::DEFAULT.with_namespace(namespace), out);
    encoder.open("GetMetricDataResponse");
    encoder.open("GetMetricDataResult");
    value.encode(at, &mut encoder);
    encoder.close("GetMetricDataResult");
    encoder.close("GetMetricDataResponse");
    encoder.finish().unwrap_or_default()
}

fn same_tree(written: &[u8], expected: &[u8]) -> Result<(), String> {
    same(&cbor_tree(written), &cbor_tree(expected))
}

fn same_form(written: &[u8], expected: &[u8]) -> Result<(), String> {
    same(&form_items(written), &form_items(expected))
}
