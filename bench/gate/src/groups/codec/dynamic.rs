//! The untyped `Value`: beside the typed batch, and through `dyn Decoder` and `dyn Encoder`.

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_schema::{Body, Decode, Decoder, Encode, Encoder, Limits, Value};

use super::root;
use super::shapes::Batch;
use crate::{Group, same, same_bytes};

/// How many times the instructions of the typed batch a `Value` may take.
const OF_TYPED: f64 = 1.3;

pub(super) fn cases(group: &mut Group, batch: &Batch, json: &'static [u8], cbor: &'static [u8]) {
    let value = from_json::<Value>(json).unwrap_or_default();
    reading(group, batch, json, cbor);
    writing(group, batch, &value, json, cbor);
    through_dyn(group, value, json, cbor);
}

fn reading(group: &mut Group, batch: &Batch, json: &'static [u8], cbor: &'static [u8]) {
    let typed = batch.clone();
    group
        .case("read JSON, Value and typed")
        .bytes(json.len())
        .polywire(
            move || from_json::<Value>(json),
            move |answer| is_batch(answer.as_ref(), json),
        )
        .peer(
            "typed",
            move || from_json::<Batch>(json),
            move |answer| same(answer, &Some(typed.clone())),
        )
        .target_ratio_instructions("typed", OF_TYPED);

    let typed = batch.clone();
    group
        .case("read CBOR, Value and typed")
        .bytes(cbor.len())
        .polywire(
            move || from_cbor::<Value>(cbor),
            move |answer| is_batch(answer.as_ref(), json),
        )
        .peer(
            "typed",
            move || from_cbor::<Batch>(cbor),
            move |answer| same(answer, &Some(typed.clone())),
        )
        .target_ratio_instructions("typed", OF_TYPED);
}

fn writing(
    group: &mut Group,
    batch: &Batch,
    value: &Value,
    json: &'static [u8],
    cbor: &'static [u8],
) {
    let (value_json, typed_json) = (value.clone(), batch.clone());
    group
        .case("write JSON, Value and typed")
        .bytes(json.len())
        .polywire_writes(
            move |out| to_json(&value_json, out),
            move |bytes| same_bytes(bytes, json),
        )
        .peer_writes(
            "typed",
            move |out| to_json(&typed_json, out),
            move |bytes| same_bytes(bytes, json),
        )
        .target_ratio_instructions("typed", OF_TYPED)
        .target_allocations(0);

    let (value_cbor, typed_cbor) = (value.clone(), batch.clone());
    group
        .case("write CBOR, Value and typed")
        .bytes(cbor.len())
        .polywire_writes(
            move |out| to_cbor(&value_cbor, out),
            move |bytes| same_bytes(bytes, cbor),
        )
        .peer_writes(
            "typed",
            move |out| to_cbor(&typed_cbor, out),
            move |bytes| same_bytes(bytes, cbor),
        )
        .target_ratio_instructions("typed", OF_TYPED)
        .target_allocations(0);
}

fn through_dyn(group: &mut Group, value: Value, json: &'static [u8], cbor: &'static [u8]) {
    group
        .case("read JSON, Value by schema")
        .bytes(json.len())
        .polywire(
            move || {
                let body = Body::from(json);
                let mut decoder =
                    JsonDecoder::from_body(&body, JsonProfile::DEFAULT, &Limits::DEFAULT).ok()?;
                let decoder: &mut dyn Decoder<'_> = &mut decoder;
                Value::decode(root(), decoder).ok()
            },
            move |answer| is_batch(answer.as_ref(), json),
        );

    group
        .case("read CBOR, Value by schema")
        .bytes(cbor.len())
        .polywire(
            move || {
                let body = Body::from(cbor);
                let mut decoder =
                    CborDecoder::from_body(&body, CborProfile::DEFAULT, &Limits::DEFAULT).ok()?;
                let decoder: &mut dyn Decoder<'_> = &mut decoder;
                Value::decode(root(), decoder).ok()
            },
            move |answer| is_batch(answer.as_ref(), json),
        );

    group
        .case("write JSON, Value by schema")
        .bytes(json.len())
        .polywire_writes(
            move |out| {
                let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, std::mem::take(out));
                {
                    let encoder: &mut dyn Encoder = &mut encoder;
                    value.encode(root(), encoder);
                }
                *out = encoder.finish().unwrap_or_default();
            },
            move |bytes| same_bytes(bytes, json),
        );
}

fn from_json<T: for<'de> Decode<'de>>(json: &'static [u8]) -> Option<T> {
    let body = Body::from(json);
    let mut decoder = JsonDecoder::from_body(&body, JsonProfile::DEFAULT, &Limits::DEFAULT).ok()?;
    let value = T::decode(root(), &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

fn from_cbor<T: for<'de> Decode<'de>>(cbor: &'static [u8]) -> Option<T> {
    let body = Body::from(cbor);
    let mut decoder = CborDecoder::from_body(&body, CborProfile::DEFAULT, &Limits::DEFAULT).ok()?;
    let value = T::decode(root(), &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

fn to_json<T: Encode>(value: &T, out: &mut Vec<u8>) {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, std::mem::take(out));
    value.encode(root(), &mut encoder);
    *out = encoder.finish().unwrap_or_default();
}

fn to_cbor<T: Encode>(value: &T, out: &mut Vec<u8>) {
    let mut encoder = CborEncoder::new(std::mem::take(out));
    value.encode(root(), &mut encoder);
    *out = encoder.finish().unwrap_or_default();
}

/// Whether a value, written as JSON, is the batch.
fn is_batch(value: Option<&Value>, json: &[u8]) -> Result<(), String> {
    let value = value.ok_or("not read")?;
    let mut out = Vec::new();
    to_json(value, &mut out);
    same_bytes(&out, json)
}
