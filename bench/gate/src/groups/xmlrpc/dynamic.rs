//! Messages to `Value` and back: what a server without a model does.

use polywire_codec::xmlrpc::{Envelope, Reply, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{Body, Decode, Encode, Limits, Member, Value};

use super::corpus::{METHOD, Side, messages, name};
use super::{oracle, targets};
use crate::{Case, Group, same, same_bytes};

pub(super) fn cases(group: &mut Group) {
    for (content, side) in messages() {
        let file = content.file(side);
        let files = [file.as_str()];
        group.case_from(name(content, side, "read Value"), files, |case, [xml]| {
            reads(case, side, xml);
            if side == Side::Request {
                targets::read_value(case, content, xml.len());
            }
        });
        group.case_from(name(content, side, "write Value"), files, |case, [xml]| {
            write(case, side, xml);
            if side == Side::Request {
                targets::write(case, content);
            }
        });
    }
}

/// What a server does with a call: compare the method, keep the parameters. `None` if the message
/// is another call.
fn read_call(xml: &'static [u8]) -> Option<Vec<Value>> {
    let body = Body::from(xml);
    let (method, mut decoder) =
        XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT).ok()?;
    if method != METHOD {
        return None;
    }
    let mut parameters = Vec::new();
    while decoder.parameter().ok()? {
        parameters.push(Value::decode(Member::DOCUMENT, &mut decoder).ok()?);
    }
    decoder.finish().ok()?;
    Some(parameters)
}

/// What a client does with a response.
fn read_response(xml: &'static [u8]) -> Option<Value> {
    let body = Body::from(xml);
    let (reply, mut decoder) =
        XmlRpcDecoder::response(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT).ok()?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder).ok()?;
    decoder.finish().ok()?;
    (reply == Reply::Result).then_some(value)
}

/// A client's call. `out` is empty and has the space of the last call.
pub(super) fn write_call(value: &Value, out: Vec<u8>) -> Vec<u8> {
    let envelope = Envelope::Call {
        method: METHOD,
        positional: true,
    };
    let mut encoder = XmlRpcEncoder::new(envelope, out);
    encoder.parameter();
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish().unwrap_or_default()
}

/// A server's answer. `out` is empty and has the space of the last answer.
fn write_response(value: &Value, out: Vec<u8>) -> Vec<u8> {
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, out);
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish().unwrap_or_default()
}

/// Fills a case that reads.
pub(super) fn reads(case: &mut Case, side: Side, xml: &'static [u8]) {
    let expected = oracle::value_of(xml);
    case.bytes(xml.len());
    match side {
        Side::Request => {
            let expected = Some(vec![expected]);
            case.polywire(
                move || read_call(xml),
                move |answer| same(answer, &expected),
            );
        }
        Side::Response => {
            let expected = Some(expected);
            case.polywire(
                move || read_response(xml),
                move |answer| same(answer, &expected),
            );
        }
    }
}

fn write(case: &mut Case, side: Side, xml: &'static [u8]) {
    let value = oracle::value_of(xml);
    let write = match side {
        Side::Request => write_call,
        Side::Response => write_response,
    };
    case.bytes(xml.len()).polywire_writes(
        move |out| *out = write(&value, std::mem::take(out)),
        move |written| same_bytes(written, xml),
    );
}
