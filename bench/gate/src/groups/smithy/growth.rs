//! Twice the document costs twice as much to read: no step depends on what came before.

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::form::{FormDecoder, FormEncoder, FormProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_schema::{Body, Decode, Encode, Error, Limits, Member, Value};

use super::body::{from_response, to_response};
use super::oracle::of_params;
use super::types::aws_query_data_plane::{self as query, GetMetricDataOutput};
use crate::{Group, same};

type At = Member<'static>;
type Write = fn(&GetMetricDataOutput, At) -> Result<Vec<u8>, Error>;
type Read = fn(&Body, At) -> Option<Value>;

const FORMATS: [(&str, Write, Read); 4] = [
    ("JSON", write_json, read_json),
    ("CBOR", write_cbor, read_cbor),
    ("a form", write_form, read_form),
    (
        "XML",
        |output, at| Ok(to_response(output, at, Vec::new())),
        |body, at| from_response(body, at),
    ),
];

pub(super) fn cases(group: &mut Group) {
    let service = query::schemas().services().next();
    let operation = service.and_then(|service| service.find_operation("GetMetricData"));
    let Some(at) = operation.map(|operation| operation.output().root()) else {
        return group.skip("growth", "no such operation in the model");
    };
    for (format, write, read) in FORMATS {
        let name = |results| format!("growth of {format}, {results} results");
        for results in [200, 400] {
            let body = write(&output(results, at), at).unwrap_or_default();
            let case = group.case(name(results));
            case.bytes(body.len());
            let body = Body::from(body);
            case.polywire(
                move || read(&body, at),
                move |answer| {
                    let list = answer
                        .as_ref()
                        .and_then(|value| value.get("MetricDataResults"));
                    let length = list.and_then(Value::as_list).map(<[Value]>::len);
                    same(&length, &Some(results))
                },
            );
            if results == 400 {
                case.target_instructions_of_case(name(200), 2.1);
            }
        }
    }
}

fn output(results: usize, at: At) -> GetMetricDataOutput {
    let result = |index: usize| {
        format!(r#"{{"Id":"m{index}","Label":"a&b \u00e9","Values":[{index},0.5]}}"#)
    };
    let results: Vec<String> = (0..results).map(result).collect();
    let json = format!(r#"{{"MetricDataResults":[{}]}}"#, results.join(","));
    of_params(json.as_bytes(), at).unwrap_or_default()
}

fn write_json(output: &GetMetricDataOutput, at: At) -> Result<Vec<u8>, Error> {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    output.encode(at, &mut encoder);
    encoder.finish()
}

fn read_json(body: &Body, at: At) -> Option<Value> {
    let profile = JsonProfile::DEFAULT;
    let mut decoder = JsonDecoder::from_body(body, profile, &Limits::DEFAULT).ok()?;
    Value::decode(at, &mut decoder).ok()
}

fn write_cbor(output: &GetMetricDataOutput, at: At) -> Result<Vec<u8>, Error> {
    let mut encoder = CborEncoder::new(Vec::new());
    output.encode(at, &mut encoder);
    encoder.finish()
}

fn read_cbor(body: &Body, at: At) -> Option<Value> {
    let profile = CborProfile::DEFAULT;
    let mut decoder = CborDecoder::from_body(body, profile, &Limits::DEFAULT).ok()?;
    Value::decode(at, &mut decoder).ok()
}

fn write_form(output: &GetMetricDataOutput, at: At) -> Result<Vec<u8>, Error> {
    let mut encoder = FormEncoder::new(FormProfile::AWS_QUERY, Vec::new());
    output.encode(at, &mut encoder);
    encoder.finish()
}

fn read_form(body: &Body, at: At) -> Option<Value> {
    let profile = FormProfile::AWS_QUERY;
    let mut decoder = FormDecoder::from_body(body, profile, &Limits::DEFAULT).ok()?;
    Value::decode(at, &mut decoder).ok()
}
