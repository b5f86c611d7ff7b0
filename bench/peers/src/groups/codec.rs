//! serde_json beside the typed codecs and beside `Value`.

use polywire_gate::groups::codec::shapes::{self, Batch, Place, Reading};
use polywire_gate::groups::codec::{self as gate, sample_json};
use polywire_gate::{Group, same, same_bytes};
use polywire_schema::Text;
use serde::Deserialize;
use serde_json::Value;

pub(crate) fn cases(group: &mut Group) {
    gate::cases(group);
    let json = sample_json();
    group.extend("read JSON, typed", |case| {
        let expected = shapes::sample();
        case.peer(
            "serde_json",
            move || serde_json::from_slice::<SerdeBatch<'static>>(json).ok(),
            move |answer| same(&answer.as_ref().map(Batch::from), &Some(expected.clone())),
        );
    });
    let tree: Value = serde_json::from_slice(json).unwrap_or_default();
    let expected = tree.clone();
    group.extend("read JSON, Value by schema", |case| {
        case.peer(
            "serde_json::Value",
            move || serde_json::from_slice::<Value>(json).unwrap_or_default(),
            move |answer| same(answer, &expected),
        )
        .target_ratio_time("serde_json::Value", 1.5);
    });
    let compact = serde_json::to_vec(&tree).unwrap_or_default();
    group.extend("write JSON, Value by schema", |case| {
        case.peer_writes(
            "serde_json::Value",
            move |out| {
                if serde_json::to_writer(&mut *out, &tree).is_err() {
                    out.clear();
                }
            },
            move |bytes| same_bytes(bytes, &compact),
        );
    });
}

/// The same shape for serde_json; strings are borrowed from the input.
#[derive(Deserialize)]
struct SerdeBatch<'a> {
    #[serde(borrow)]
    readings: Vec<SerdeReading<'a>>,
    next: Option<&'a str>,
}

#[derive(Deserialize)]
struct SerdeReading<'a> {
    station: &'a str,
    sequence: i64,
    temperature: Option<f64>,
    valid: Option<bool>,
    #[serde(borrow)]
    tags: Vec<&'a str>,
    #[serde(borrow)]
    place: Option<SerdePlace<'a>>,
    remark: Option<&'a str>,
}

#[derive(Deserialize)]
struct SerdePlace<'a> {
    city: &'a str,
    height: Option<i32>,
}

impl From<&SerdeBatch<'_>> for Batch {
    fn from(batch: &SerdeBatch<'_>) -> Self {
        let reading = |reading: &SerdeReading<'_>| Reading {
            station: Text::from(reading.station),
            sequence: reading.sequence,
            temperature: reading.temperature,
            valid: reading.valid,
            tags: reading.tags.iter().map(|tag| Text::from(*tag)).collect(),
            place: reading.place.as_ref().map(|place| Place {
                city: Text::from(place.city),
                height: place.height,
            }),
            remark: reading.remark.map(Text::from),
        };
        Self {
            readings: batch.readings.iter().map(reading).collect(),
            next: batch.next.map(Text::from),
        }
    }
}
