//! Calls and answers as bytes.

use std::ops::Range;

use bytes::Bytes;
use http::Response;
use polywire_codec::xmlrpc::{
    Envelope, MulticallResult, Reply, Style, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile, to_utf8,
};
use polywire_protocol::charset;
use polywire_schema::{Body, Decode, Encode, Encoder, Error, ErrorKind, Limits, Member, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{Fault, beginning};
use crate::error::{CallError, ResponseError};

/// A call over values.
pub(super) fn write_values(
    method: &str,
    parameters: &[Value],
    style: Style,
) -> Result<Bytes, CallError> {
    let mut encoder = begin(method, style);
    for parameter in parameters {
        encoder.parameter();
        parameter.encode(Member::DOCUMENT, &mut encoder);
    }
    finish(encoder)
}

/// A call whose parameters are the elements of a tuple.
pub(super) fn write<P: Serialize + ?Sized>(
    method: &str,
    parameters: &P,
    style: Style,
) -> Result<Bytes, CallError> {
    let mut encoder = begin(method, style);
    match encoder.serialize_parameters(parameters) {
        Ok(()) => finish(encoder),
        Err(error) => Err(CallError::encode(error)),
    }
}

/// The calls of a batch as one call of `system.multicall`. Each has been written as a
/// call of its own.
pub(super) fn write_multicall<'a>(
    calls: impl Iterator<Item = (&'a str, &'a [u8])>,
    style: Style,
) -> Result<Bytes, CallError> {
    let at = Member::DOCUMENT;
    let mut encoder = begin(MULTICALL, style);
    encoder.parameter();
    encoder.begin_list(at, 0);
    for (method, call) in calls {
        encoder.begin_map(at, 2);
        encoder.key(at, "methodName");
        encoder.string(at, method);
        encoder.key(at, "params");
        encoder.begin_list(at, 0);
        encoder.raw(parameters(call).as_bytes());
        encoder.end_list(at);
        encoder.end_map(at);
    }
    encoder.end_list(at);
    finish(encoder)
}

pub(super) const MULTICALL: &str = "system.multicall";

/// The values of a call's parameters, one after the other. The tags around them are
/// ours, and in no text, where `<` is escaped.
fn parameters(call: &[u8]) -> String {
    let text = str::from_utf8(call).unwrap_or_default();
    let inner = text.split_once("<params>");
    let inner = inner.and_then(|(_, rest)| rest.split_once("</params>"));
    let values = inner.map_or("", |(values, _)| values);
    values.replace("</param>", "").replace("<param>", "")
}

fn begin(method: &str, style: Style) -> XmlRpcEncoder {
    let envelope = Envelope::Call {
        method,
        positional: true,
    };
    XmlRpcEncoder::new(envelope, Vec::with_capacity(256)).with_style(style)
}

fn finish(encoder: XmlRpcEncoder) -> Result<Bytes, CallError> {
    let written = encoder.finish().map(Bytes::from);
    written.map_err(CallError::encode)
}

/// How answers are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOptions {
    pub(super) profile: XmlRpcProfile,
    pub(super) limits: Limits,
}

/// Where a result of a batch stands.
#[derive(Debug)]
pub(super) enum Part {
    /// In an answer of its own.
    Answer(Body),
    /// In the answer to a multicall, at this place.
    Value(Body, usize),
}

impl ReadOptions {
    /// The answer in UTF-8, by the leniency for other encodings.
    pub(super) fn in_utf8(
        &self,
        url: &str,
        answer: Response<Bytes>,
    ) -> Result<Response<Bytes>, CallError> {
        if !self.profile.leniency.foreign_encodings() {
            return Ok(answer);
        }
        let (head, body) = answer.into_parts();
        let body = Body::new(body);
        let charset = charset(&head.headers);
        match to_utf8(&body, charset, self.profile.leniency, &self.limits) {
            Ok(other) => {
                let body = other.unwrap_or(body).into_bytes();
                Ok(Response::from_parts(head, body))
            }
            Err(error) => Err(unreadable(url, &body, error)),
        }
    }

    /// Reads an answer: a result by `read`, or a fault.
    fn answer<T>(
        &self,
        body: &Body,
        read: impl FnOnce(&mut XmlRpcDecoder<'_>) -> Result<T, Error>,
    ) -> Result<Result<T, Fault>, Error> {
        let (reply, mut decoder) = XmlRpcDecoder::response(body, self.profile, &self.limits)?;
        let answer = match reply {
            Reply::Result => Ok(read(&mut decoder)?),
            Reply::Fault => {
                let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
                Err(self.read_fault(&value)?)
            }
        };
        decoder.finish()?;
        Ok(answer)
    }

    /// Reads an answer whose result is any value.
    pub(super) fn value(&self, url: &str, body: &Body) -> Result<Value, CallError> {
        let answer = self.answer(body, |decoder| Value::decode(Member::DOCUMENT, decoder));
        told(url, body, answer)
    }

    /// Reads an answer whose result is of a type.
    pub(super) fn typed<T: DeserializeOwned>(
        &self,
        url: &str,
        body: &Body,
    ) -> Result<T, CallError> {
        let answer = self.answer(body, |decoder| decoder.deserialize());
        told(url, body, answer)
    }

    fn read_fault(&self, value: &Value) -> Result<Fault, Error> {
        Fault::read(value, self.profile.leniency)
    }

    /// The fault that an answer of any status holds, if it does.
    pub(super) fn fault(&self, body: &Body) -> Option<Fault> {
        let answer = self.answer(body, |decoder| Value::decode(Member::DOCUMENT, decoder));
        answer.ok()?.err()
    }

    /// Reads the answer to a multicall of so many calls.
    pub(super) fn multicall(
        &self,
        url: &str,
        body: &Body,
        calls: usize,
    ) -> Result<Vec<Result<Part, CallError>>, CallError> {
        // It looks for the end of the answer itself.
        let answer = (|| {
            let (reply, mut decoder) = XmlRpcDecoder::response(body, self.profile, &self.limits)?;
            if reply == Reply::Fault {
                let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
                return Ok(Err(self.read_fault(&value)?));
            }
            let results = decoder.multicall_results()?;
            match results.len() == calls {
                true => Ok(Ok(results)),
                false => Err(Error::new(ErrorKind::InvalidValue)
                    .in_format("XML-RPC")
                    .expected(format!("a result for each of the {calls} calls"))
                    .found(format!("{} results", results.len()))),
            }
        })();
        let parts = told(url, body, answer)?.into_iter();
        let parts = parts.map(|result| match result {
            MulticallResult::Value(Range { start, end }) => {
                let part = Bytes::copy_from_slice(&body.as_bytes()[start..end]);
                Ok(Part::Value(Body::new(part), start))
            }
            MulticallResult::Fault(value) => match self.read_fault(&value) {
                Ok(fault) => Err(CallError::from(fault)),
                Err(error) => Err(unreadable(url, body, error)),
            },
        });
        Ok(parts.collect())
    }

    /// Reads a result of a batch.
    pub(super) fn part<T: DeserializeOwned>(&self, url: &str, part: &Part) -> Result<T, CallError> {
        match part {
            Part::Answer(body) => self.typed(url, body),
            Part::Value(body, offset) => {
                let read = XmlRpcDecoder::value(body, *offset, self.profile, &self.limits);
                let read = read.and_then(|mut decoder| decoder.deserialize());
                told(url, body, read.map(Ok))
            }
        }
    }
}

fn told<T>(
    url: &str,
    body: &Body,
    answer: Result<Result<T, Fault>, Error>,
) -> Result<T, CallError> {
    match answer {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(fault)) => Err(CallError::from(fault)),
        Err(error) => Err(unreadable(url, body, error)),
    }
}

#[cold]
fn unreadable(url: &str, body: &Body, error: Error) -> CallError {
    // Of what is XML-RPC the error says where; of a web page it cannot.
    let bytes = body.as_bytes();
    let head = &bytes[..bytes.len().min(1024)];
    let syntax = matches!(
        error.kind(),
        ErrorKind::Characters
            | ErrorKind::Encoding
            | ErrorKind::Structure
            | ErrorKind::Syntax
            | ErrorKind::Truncated
    );
    let foreign = syntax && !String::from_utf8_lossy(head).contains("<methodResponse");
    let begins = match foreign {
        true => beginning(bytes),
        false => String::new(),
    };
    CallError::response(ResponseError {
        url: url.to_owned(),
        error,
        begins,
    })
}
