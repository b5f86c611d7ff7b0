//! Messages to types of serde and back: what most users write.

use polywire_codec::xmlrpc::{Envelope, Reply, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{Blob, Body, Limits, Map, Value};
use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};

use super::corpus::{CONTENTS, Content, METHOD, Side, messages, name};
use super::dynamic::spelled_as_ours;
use super::memory::permuted_body;
use super::types::{BorrowedItem, BorrowedNested, BorrowedRecord, Item, Nested, Record};
use super::{oracle, targets};
use crate::{Case, Group, same, same_bytes};

pub(super) fn cases(group: &mut Group) {
    for (content, side) in messages() {
        match content.letter {
            "a" | "f" => both::<String>(group, content, side),
            "b" => both::<Vec<i32>>(group, content, side),
            "c" => both::<Nested>(group, content, side),
            "d" => both::<Vec<Item>>(group, content, side),
            _ => both::<Blob>(group, content, side),
        }
    }
    for content in CONTENTS {
        match content.letter {
            "a" => borrowed::<&'static str>(group, content),
            "c" => {
                borrowed::<BorrowedNested<'static>>(group, content);
                permuted::<Nested>(group, content);
            }
            "d" => {
                borrowed::<Vec<BorrowedItem<'static>>>(group, content);
                permuted::<Vec<Item>>(group, content);
            }
            _ => {}
        }
    }
}

/// What a typed answer holds, for comparisons.
pub trait AsValue {
    /// The same as a tree.
    fn as_value(&self) -> Value;
}

impl AsValue for String {
    fn as_value(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl AsValue for &str {
    fn as_value(&self) -> Value {
        Value::from(*self)
    }
}

impl AsValue for i32 {
    fn as_value(&self) -> Value {
        Value::from(*self)
    }
}

impl AsValue for Blob {
    fn as_value(&self) -> Value {
        Value::Blob(self.clone())
    }
}

impl<T: AsValue> AsValue for Vec<T> {
    fn as_value(&self) -> Value {
        Value::List(self.iter().map(T::as_value).collect())
    }
}

impl AsValue for Item {
    fn as_value(&self) -> Value {
        let Self {
            id,
            name,
            price,
            active,
            sku,
        } = self;
        BorrowedItem {
            id: *id,
            name,
            price: *price,
            active: *active,
            sku,
        }
        .as_value()
    }
}

impl AsValue for BorrowedItem<'_> {
    fn as_value(&self) -> Value {
        Value::Map(Map::from_iter([
            ("id", Value::from(self.id)),
            ("name", Value::from(self.name)),
            ("price", Value::from(self.price)),
            ("active", Value::from(self.active)),
            ("sku", Value::from(self.sku)),
        ]))
    }
}

impl<Child: AsValue> AsValue for BorrowedRecord<'_, Child> {
    fn as_value(&self) -> Value {
        let text = |text: &str| Value::from(text);
        Value::Map(Map::from_iter([
            ("id", Value::from(self.id)),
            ("name", text(self.name)),
            ("active", Value::from(self.active)),
            ("score", Value::from(self.score)),
            ("created", Value::Timestamp(self.created)),
            ("blob", self.blob.as_value()),
            ("tags", self.tags.as_value()),
            ("count", Value::from(self.count)),
            ("note", text(&self.note)),
            ("child", self.child.as_value()),
        ]))
    }
}

impl<Child: AsValue> AsValue for Record<Child> {
    fn as_value(&self) -> Value {
        Value::Map(Map::from_iter([
            ("id", Value::from(self.id)),
            ("name", self.name.as_value()),
            ("active", Value::from(self.active)),
            ("score", Value::from(self.score)),
            ("created", Value::Timestamp(self.created)),
            ("blob", self.blob.as_value()),
            ("tags", self.tags.as_value()),
            ("count", Value::from(self.count)),
            ("note", self.note.as_value()),
            ("child", self.child.as_value()),
        ]))
    }
}

/// What a server does with a call of one parameter.
fn read_call<T: DeserializeOwned>(xml: &'static [u8]) -> Option<T> {
    let body = Body::from(xml);
    let (method, mut decoder) =
        XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT).ok()?;
    if method != METHOD {
        return None;
    }
    let (value,) = decoder.deserialize_parameters::<(T,)>().ok()?;
    decoder.finish().ok()?;
    Some(value)
}

/// What a client does with a response.
fn read_response<T: DeserializeOwned>(xml: &'static [u8]) -> Option<T> {
    let body = Body::from(xml);
    let (reply, mut decoder) =
        XmlRpcDecoder::response(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT).ok()?;
    let value = decoder.deserialize().ok()?;
    decoder.finish().ok()?;
    (reply == Reply::Result).then_some(value)
}

/// What a server does whose function borrows from the call.
fn read_borrowed<T: Deserialize<'static>>(xml: &'static [u8]) -> Option<T> {
    let text = std::str::from_utf8(xml).ok()?;
    let (method, mut decoder) =
        XmlRpcDecoder::call_from_str(text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT).ok()?;
    if method != METHOD {
        return None;
    }
    let (value,) = decoder.deserialize_parameters::<(T,)>().ok()?;
    decoder.finish().ok()?;
    Some(value)
}

fn write_call<T: Serialize>(value: &T, out: Vec<u8>) -> Vec<u8> {
    let envelope = Envelope::Call {
        method: METHOD,
        positional: true,
    };
    let mut encoder = XmlRpcEncoder::new(envelope, out);
    match encoder.serialize_parameters(&(value,)) {
        Ok(()) => encoder.finish().unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

fn write_response<T: Serialize>(value: &T, out: Vec<u8>) -> Vec<u8> {
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, out);
    match encoder.serialize(value) {
        Ok(()) => encoder.finish().unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

/// What reads a message.
pub fn reads<T>(side: Side) -> fn(&'static [u8]) -> Option<T>
where
    T: DeserializeOwned,
{
    match side {
        Side::Request => read_call,
        Side::Response => read_response,
    }
}

/// Fills a case that reads a body into `T`.
fn read<T: AsValue + 'static>(
    case: &mut Case,
    xml: &'static [u8],
    read: impl Fn(&'static [u8]) -> Option<T> + 'static,
) {
    let expected = Some(oracle::value_of(xml));
    case.bytes(xml.len()).polywire(
        move || read(xml),
        move |answer| same(&answer.as_ref().map(AsValue::as_value), &expected),
    );
}

fn both<T>(group: &mut Group, content: Content, side: Side)
where
    T: AsValue + DeserializeOwned + Serialize + 'static,
{
    let file = content.file(side);
    let files = [file.as_str()];
    group.case_from(name(content, side, "read serde"), files, |case, [xml]| {
        read(case, xml, reads::<T>(side));
        if side == Side::Request {
            targets::read_serde(case, content);
        }
    });
    group.case_from(name(content, side, "write serde"), files, |case, [xml]| {
        let Some(value) = reads::<T>(side)(xml) else {
            // The case that reads reports it.
            return;
        };
        let expected = spelled_as_ours(xml);
        let write = match side {
            Side::Request => write_call::<T>,
            Side::Response => write_response::<T>,
        };
        case.bytes(expected.len()).polywire_writes(
            move |out| *out = write(&value, std::mem::take(out)),
            move |written| same_bytes(written, &expected),
        );
        if side == Side::Request {
            targets::write(case, content);
        }
    });
}

fn borrowed<T>(group: &mut Group, content: Content)
where
    T: AsValue + Deserialize<'static> + 'static,
{
    let file = content.file(Side::Request);
    let words = name(content, Side::Request, "read serde, borrowed");
    group.case_from(words, [file.as_str()], |case, [xml]| {
        read(case, xml, read_borrowed::<T>);
    });
}

fn permuted<T>(group: &mut Group, content: Content)
where
    T: AsValue + DeserializeOwned + 'static,
{
    let file = content.file(Side::Request);
    let words = name(content, Side::Request, "permuted, read serde");
    group.case_from(words, [file.as_str()], |case, [xml]| {
        read(case, permuted_body(xml), reads::<T>(Side::Request));
        case.target_instructions_of_case(name(content, Side::Request, "read serde"), 1.4);
    });
}
