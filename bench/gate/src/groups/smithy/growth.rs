//! Twice the document costs twice as much to read: no step looks at what was before.

use crate::{Group, same};
use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::form::{FormDecoder, FormEncoder, FormProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_schema::{Body, Decode, Encode, Error, Limits, Member, Value};

use super::shapes::GetMetricDataOutput;
use super::xml::root;

type Write = fn(&GetMetricDataOutput, Member<'_>) -> Result<Vec<u8>, Error>;
type Read = fn(&'static [u8], Member<'_>) -> Result<Value, Error>;

pub(super) fn cases(group: &mut Group) {
    let at = root("GetMetricDataOutput");
    let formats: [(&str, Write, Read); 3] = [
        ("JSON", write_json, read_json),
        ("CBOR", write_cbor, read_cbor),
        ("a form", write_form, read_form),
    ];
    for (format, write, read) in formats {
        let small = format!("growth of {format}, 200 results");
        for (name, results) in [
            (small.clone(), 200),
            (format!("growth of {format}, 400 results"), 400),
        ] {
            let bytes = output(results, at).and_then(|output| write(&output, at));
            let Ok(bytes) = bytes else {
                unreachable!("an output that every format can write");
            };
            let bytes: &'static [u8] = Box::leak(bytes.into_boxed_slice());
            let case = group.case(name);
            case.bytes(bytes.len()).polywire(
                move || read(bytes, at).ok(),
                move |answer| {
                    let list = answer
                        .as_ref()
                        .and_then(|value| value.get("MetricDataResults"));
                    same(
                        &list.and_then(Value::as_list).map(<[Value]>::len),
                        &Some(results),
                    )
                },
            );
            if results == 400 {
                case.target_instructions_of_case(&small, 2.3);
            }
        }
    }
}

fn output(results: usize, at: Member<'_>) -> Result<GetMetricDataOutput, Error> {
    let result = |index: usize| {
        format!(r#"{{"Id":"m{index}","Label":"a \u00e9","Values":[{index},0.5],"Unknown":[{{}}]}}"#)
    };
    let results: Vec<String> = (0..results).map(result).collect();
    let text = format!(r#"{{"MetricDataResults":[{}]}}"#, results.join(","));
    let mut decoder = JsonDecoder::from_str(&text, JsonProfile::DEFAULT, &Limits::DEFAULT)?;
    GetMetricDataOutput::decode(at, &mut decoder)
}

fn write_json(output: &GetMetricDataOutput, at: Member<'_>) -> Result<Vec<u8>, Error> {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    output.encode(at, &mut encoder);
    encoder.finish()
}

fn read_json(bytes: &'static [u8], at: Member<'_>) -> Result<Value, Error> {
    let body = Body::from(bytes);
    let mut decoder = JsonDecoder::from_body(&body, JsonProfile::DEFAULT, &Limits::DEFAULT)?;
    Value::decode(at, &mut decoder)
}

fn write_cbor(output: &GetMetricDataOutput, at: Member<'_>) -> Result<Vec<u8>, Error> {
    let mut encoder = CborEncoder::new(Vec::new());
    output.encode(at, &mut encoder);
    encoder.finish()
}

fn read_cbor(bytes: &'static [u8], at: Member<'_>) -> Result<Value, Error> {
    let body = Body::from(bytes);
    let mut decoder = CborDecoder::from_body(&body, CborProfile::DEFAULT, &Limits::DEFAULT)?;
    Value::decode(at, &mut decoder)
}

fn write_form(output: &GetMetricDataOutput, at: Member<'_>) -> Result<Vec<u8>, Error> {
    let mut encoder = FormEncoder::new(FormProfile::AWS_QUERY, Vec::new());
    output.encode(at, &mut encoder);
    encoder.finish()
}

fn read_form(bytes: &'static [u8], at: Member<'_>) -> Result<Value, Error> {
    let body = Body::from(bytes);
    let mut decoder = FormDecoder::from_body(&body, FormProfile::AWS_QUERY, &Limits::DEFAULT)?;
    Value::decode(at, &mut decoder)
}
