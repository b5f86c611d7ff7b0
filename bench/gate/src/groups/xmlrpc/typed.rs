//! Messages to types of serde and back: what most users write.

use polywire_codec::xmlrpc::{Envelope, Reply, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{Blob, Body, Limits};
use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};

use super::corpus::{CONTENTS, Content, METHOD, Side, messages, name};
use super::memory::permuted_body;
use super::targets;
use super::types::{BorrowedItem, BorrowedNested, Item, Nested};
use crate::{Case, Group, same_bytes};

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

/// What writes a message.
fn writes<T: Serialize>(side: Side) -> fn(&T, Vec<u8>) -> Vec<u8> {
    match side {
        Side::Request => write_call,
        Side::Response => write_response,
    }
}

/// Fills a case that reads a body into `T`. The answer is checked by writing it: `expected` is the
/// message with the members in the order of the type.
fn read<T: Serialize + 'static>(
    case: &mut Case,
    side: Side,
    body: &'static [u8],
    expected: &'static [u8],
    read: impl Fn(&'static [u8]) -> Option<T> + 'static,
) {
    case.bytes(body.len()).polywire(
        move || read(body),
        move |answer| {
            let answer = answer.as_ref().ok_or("not read")?;
            same_bytes(&writes(side)(answer, Vec::new()), expected)
        },
    );
}

fn both<T>(group: &mut Group, content: Content, side: Side)
where
    T: DeserializeOwned + Serialize + 'static,
{
    let file = content.file(side);
    let files = [file.as_str()];
    group.case_from(name(content, side, "read serde"), files, |case, [xml]| {
        read(case, side, xml, xml, reads::<T>(side));
        if side == Side::Request {
            targets::read_serde(case, content);
        }
    });
    group.case_from(name(content, side, "write serde"), files, |case, [xml]| {
        let Some(value) = reads::<T>(side)(xml) else {
            // The case that reads reports it.
            return;
        };
        let write = writes(side);
        case.bytes(xml.len()).polywire_writes(
            move |out| *out = write(&value, std::mem::take(out)),
            move |written| same_bytes(written, xml),
        );
        if side == Side::Request {
            targets::write(case, content);
        }
    });
}

fn borrowed<T>(group: &mut Group, content: Content)
where
    T: Deserialize<'static> + Serialize + 'static,
{
    let side = Side::Request;
    let file = content.file(side);
    let words = name(content, side, "read serde, borrowed");
    group.case_from(words, [file.as_str()], |case, [xml]| {
        read(case, side, xml, xml, read_borrowed::<T>);
    });
}

fn permuted<T>(group: &mut Group, content: Content)
where
    T: DeserializeOwned + Serialize + 'static,
{
    let side = Side::Request;
    let file = content.file(side);
    let words = name(content, side, "permuted, read serde");
    group.case_from(words, [file.as_str()], |case, [xml]| {
        let body = permuted_body(xml);
        read(case, side, body, xml, reads::<T>(side));
        case.target_instructions_of_case(name(content, side, "read serde"), 1.4);
    });
}
