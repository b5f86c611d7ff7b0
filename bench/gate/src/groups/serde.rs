//! Types of serde in all formats: the batch of the group `codec`, as people write such types.

use polywire_codec::{cbor, form, json, msgpack, xml};
use serde::{Deserialize, Serialize};

use super::codec::shapes;
use crate::{Group, same, same_bytes};

/// The batch.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Batch {
    /// A hundred readings.
    pub readings: Vec<Reading>,
    /// A pagination token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A reading.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[expect(missing_docs, reason = "as in the group `codec`")]
pub struct Reading {
    pub station: String,
    pub sequence: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<bool>,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// A place.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[expect(missing_docs, reason = "as in the group `codec`")]
pub struct Place {
    pub city: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<i32>,
}

/// The batch, with strings that borrow from the message.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[expect(missing_docs, reason = "as `Batch`")]
pub struct BorrowedBatch<'a> {
    #[serde(borrow)]
    pub readings: Vec<BorrowedReading<'a>>,
    pub next: Option<&'a str>,
}

/// A reading, with strings that borrow from the message.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[expect(missing_docs, reason = "as `Reading`")]
pub struct BorrowedReading<'a> {
    pub station: &'a str,
    pub sequence: i64,
    pub temperature: Option<f64>,
    pub valid: Option<bool>,
    #[serde(borrow, default)]
    pub tags: Vec<&'a str>,
    #[serde(borrow)]
    pub place: Option<BorrowedPlace<'a>>,
    pub remark: Option<&'a str>,
}

/// A place, with strings that borrow from the message.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[expect(missing_docs, reason = "as `Place`")]
pub struct BorrowedPlace<'a> {
    pub city: &'a str,
    pub height: Option<i32>,
}

/// A search of a web form, which is flat.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields of an example")]
pub struct Search {
    pub query: String,
    pub category: String,
    pub city: String,
    pub page: u32,
    pub page_size: u32,
    pub min_price: f64,
    pub max_price: f64,
    pub in_stock: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seller: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    pub language: String,
}

/// A search with spaces, characters to encode, and one absent field.
pub fn search() -> Search {
    Search {
        query: "red wool blanket & pillow, 100%".to_owned(),
        category: "home/textiles".to_owned(),
        city: "Trondheim".to_owned(),
        page: 3,
        page_size: 50,
        min_price: 19.5,
        max_price: 249.99,
        in_stock: true,
        seller: None,
        since: Some(1_795_293_000),
        cursor: Some("eyJvZmZzZXQiOjE1MCwiaWQiOiI3ZjMifQ==".to_owned()),
        language: "nb-NO".to_owned(),
    }
}

/// The name of a case of forms.
pub fn form_case_name(action: &str) -> String {
    case_name(action, "form")
}

/// The search as a form.
pub fn form_message() -> &'static [u8] {
    form::to_vec(&search()).unwrap_or_default().leak()
}

/// The sample of the group `codec`.
pub fn sample() -> Batch {
    let own = |text: &polywire_schema::Text| text.as_str().to_owned();
    let reading = |reading: &shapes::Reading| Reading {
        station: own(&reading.station),
        sequence: reading.sequence,
        temperature: reading.temperature,
        valid: reading.valid,
        tags: reading.tags.iter().map(own).collect(),
        place: reading.place.as_ref().map(|place| Place {
            city: own(&place.city),
            height: place.height,
        }),
        remark: reading.remark.as_ref().map(own),
    };
    let batch = shapes::sample();
    Batch {
        readings: batch.readings.iter().map(reading).collect(),
        next: batch.next.as_ref().map(own),
    }
}

/// The name of a case: what is done, in which format.
pub fn case_name(action: &str, format: &str) -> String {
    format!("{action} {format}")
}

type Read<T> = fn(&'static [u8]) -> Option<T>;

/// A format of the group.
struct Format {
    name: &'static str,
    read: Read<Batch>,
    read_borrowed: Read<BorrowedBatch<'static>>,
    write: fn(&Batch) -> Vec<u8>,
}

const FORMATS: &[Format] = &[
    Format {
        name: "JSON",
        read: |bytes| json::from_slice(bytes).ok(),
        read_borrowed: |bytes| json::from_slice(bytes).ok(),
        write: |batch| json::to_vec(batch).unwrap_or_default(),
    },
    Format {
        name: "CBOR",
        read: |bytes| cbor::from_slice(bytes).ok(),
        read_borrowed: |bytes| cbor::from_slice(bytes).ok(),
        write: |batch| cbor::to_vec(batch).unwrap_or_default(),
    },
    Format {
        name: "MessagePack",
        read: |bytes| msgpack::from_slice(bytes).ok(),
        read_borrowed: |bytes| msgpack::from_slice(bytes).ok(),
        write: |batch| msgpack::to_vec(batch).unwrap_or_default(),
    },
    Format {
        name: "XML",
        read: |bytes| xml::from_slice(bytes).ok(),
        read_borrowed: |bytes| xml::from_slice(bytes).ok(),
        write: |batch| xml::to_vec(batch).unwrap_or_default(),
    },
];

/// The message of a format, which peers read too. Empty for a format that is not of the group.
pub fn message(format: &str) -> &'static [u8] {
    let known = FORMATS.iter().find(|known| known.name == format);
    known.map_or(&[], |format| (format.write)(&sample()).leak())
}

fn form_cases(group: &mut Group) {
    let bytes = form_message();
    group
        .case(form_case_name("read"))
        .bytes(bytes.len())
        .polywire(
            move || form::from_slice(bytes).ok(),
            |answer| same(answer, &Some(search())),
        );
    let value = search();
    group
        .case(form_case_name("write"))
        .bytes(bytes.len())
        .polywire(
            move || form::to_vec(&value).unwrap_or_default(),
            move |written| same_bytes(written, bytes),
        );
}

/// Adds the cases.
pub fn cases(group: &mut Group) {
    form_cases(group);
    for format in FORMATS {
        let bytes: &'static [u8] = (format.write)(&sample()).leak();
        let expected = sample();
        group
            .case(case_name("read", format.name))
            .bytes(bytes.len())
            .polywire(
                move || (format.read)(bytes),
                move |answer| same(answer, &Some(expected.clone())),
            );
        let expected = (format.read_borrowed)(bytes);
        group
            .case(case_name("read borrowed", format.name))
            .bytes(bytes.len())
            .polywire(
                move || (format.read_borrowed)(bytes),
                move |answer| match answer {
                    Some(batch) if batch.readings.len() == 100 => same(answer, &expected),
                    _ => same(answer, &None),
                },
            );
        let batch = sample();
        group
            .case(case_name("write", format.name))
            .bytes(bytes.len())
            .polywire(
                move || (format.write)(&batch),
                move |written| same_bytes(written, bytes),
            );
    }
}
