//! The cost of the encoder and decoder traits: typed codecs driven by schemas, compared with
//! code written by hand for this one shape on the same primitives. Both do the same job:
//! members in any order, nulls skipped, duplicate members rejected, unknown members handled,
//! limits on depth, items and strings enforced.

mod cbor_by_hand;
mod dynamic;
mod json_by_hand;
pub mod shapes;

use std::sync::LazyLock;

use crate::{Group, same, same_bytes};
use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_schema::{Body, Decode, Encode, Limits, Member, SchemaSet};

use shapes::Batch;

static SET: LazyLock<SchemaSet<'static>> = LazyLock::new(shapes::schemas);

fn root() -> Member<'static> {
    SET.shape(shapes::BATCH).root()
}

/// Adds the cases.
pub fn cases(group: &mut Group) {
    let batch = shapes::sample();
    let json = sample_json();
    let cbor = cbor_of(&batch).leak();
    reading(group, &batch, json, cbor);
    writing(group, &batch, json, cbor);
    dynamic::cases(group, &batch, json, cbor);
}

/// The sample batch as JSON: the input of the JSON cases.
pub fn sample_json() -> &'static [u8] {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    shapes::sample().encode(root(), &mut encoder);
    encoder.finish().unwrap_or_default().leak()
}

fn cbor_of(batch: &Batch) -> Vec<u8> {
    let mut encoder = CborEncoder::new(Vec::new());
    batch.encode(root(), &mut encoder);
    encoder.finish().unwrap_or_default()
}

fn reading(group: &mut Group, batch: &Batch, json: &'static [u8], cbor: &'static [u8]) {
    let expected = batch.clone();
    let by_hand = batch.clone();
    group
        .case("read JSON, typed")
        .bytes(json.len())
        .polywire(
            move || {
                let body = Body::from(json);
                let mut decoder =
                    JsonDecoder::from_body(&body, JsonProfile::DEFAULT, &Limits::DEFAULT).ok()?;
                let batch = Batch::decode(root(), &mut decoder).ok()?;
                decoder.finish().ok()?;
                Some(batch)
            },
            move |answer| same(answer, &Some(expected.clone())),
        )
        .peer(
            "by hand",
            move || json_by_hand::read(&Body::from(json)),
            move |answer| same(answer, &Some(by_hand.clone())),
        )
        .target_ratio_instructions("by hand", 1.3);

    let expected = batch.clone();
    let by_hand = batch.clone();
    group
        .case("read CBOR, typed")
        .bytes(cbor.len())
        .polywire(
            move || {
                let body = Body::from(cbor);
                let mut decoder =
                    CborDecoder::from_body(&body, CborProfile::DEFAULT, &Limits::DEFAULT).ok()?;
                let batch = Batch::decode(root(), &mut decoder).ok()?;
                decoder.finish().ok()?;
                Some(batch)
            },
            move |answer| same(answer, &Some(expected.clone())),
        )
        .peer(
            "by hand",
            move || cbor_by_hand::read(&Body::from(cbor)),
            move |answer| same(answer, &Some(by_hand.clone())),
        )
        .target_ratio_instructions("by hand", 1.3);
}

fn writing(group: &mut Group, batch: &Batch, json: &'static [u8], cbor: &'static [u8]) {
    let (own, by_hand) = (batch.clone(), batch.clone());
    group
        .case("write JSON, typed")
        .bytes(json.len())
        .polywire_writes(
            move |out| {
                let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, std::mem::take(out));
                own.encode(root(), &mut encoder);
                *out = encoder.finish().unwrap_or_default();
            },
            move |bytes| same_bytes(bytes, json),
        )
        .peer_writes(
            "by hand",
            move |out| json_by_hand::write(&by_hand, out),
            move |bytes| same_bytes(bytes, json),
        )
        .target_ratio_instructions("by hand", 1.3)
        .target_allocations(0);

    let (own, by_hand) = (batch.clone(), batch.clone());
    group
        .case("write CBOR, typed")
        .bytes(cbor.len())
        .polywire_writes(
            move |out| {
                let mut encoder = CborEncoder::new(std::mem::take(out));
                own.encode(root(), &mut encoder);
                *out = encoder.finish().unwrap_or_default();
            },
            move |bytes| same_bytes(bytes, cbor),
        )
        .peer_writes(
            "by hand",
            move |out| cbor_by_hand::write(&by_hand, out),
            move |bytes| same_bytes(bytes, cbor),
        )
        .target_ratio_instructions("by hand", 1.3)
        .target_allocations(0);
}
