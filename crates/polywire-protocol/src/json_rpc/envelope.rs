//! The calls of a message: section 4 of the specification, and batches, section 6.
//!
//! The whole message is read once before any call runs, because text that is not JSON is one
//! error for all of them. Parameters are skipped here; the server decodes those of each call.

use std::ops::Range;

use bytes::Bytes;
use polywire_codec::json::JsonDecoder;
use polywire_schema::{Body, Decoder as _, Error, ErrorKind, Limits, Member};

use super::{JsonRpc, PROFILE, code, skip};
use crate::protocol::{BatchEntry, CallBatch, Route};
use crate::{Fault, FaultKind};

/// The id of a response to a call whose id is not known.
pub(super) const NULL: &[u8] = b"null";

impl JsonRpc {
    /// The calls of a message.
    pub(super) fn calls_of(&self, bytes: &Bytes, limits: &Limits) -> Result<CallBatch, Fault> {
        let body = Body::new(bytes.clone());
        let parser = Parser {
            protocol: self,
            bytes,
            decoder: JsonDecoder::from_body(&body, PROFILE, limits).map_err(unreadable)?,
        };
        parser.message(limits)
    }
}

/// What the members of a call are.
#[derive(Default)]
struct Members {
    /// Whether `jsonrpc` is "2.0".
    version: bool,
    /// The target of `method`, if this is a string.
    target: Option<Result<Route, Fault>>,
    params: Option<Range<usize>>,
    id: Option<Range<usize>>,
    /// Whether there is an id of a wrong type, or another one.
    has_bad_id: bool,
    /// What makes it no call, if anything does.
    invalid: Option<&'static str>,
}

struct Parser<'p> {
    protocol: &'p JsonRpc,
    bytes: &'p Bytes,
    decoder: JsonDecoder<'p>,
}

impl Parser<'_> {
    fn message(mut self, limits: &Limits) -> Result<CallBatch, Fault> {
        let is_list = self.first_byte() == b'[';
        let calls = match is_list {
            true => self.list(limits)?,
            false => vec![self.call().map_err(unreadable)?],
        };
        self.decoder.finish().map_err(unreadable)?;
        if calls.is_empty() {
            return Err(invalid("expected a call, found an empty list"));
        }
        Ok(CallBatch { is_list, calls })
    }

    /// The first byte of the next value.
    fn first_byte(&self) -> u8 {
        first_byte(self.bytes, self.decoder.offset())
    }

    fn list(&mut self, limits: &Limits) -> Result<Vec<BatchEntry>, Fault> {
        let at = Member::DOCUMENT;
        let most = limits.calls() as usize;
        let mut calls = Vec::new();
        let mut count = 0;
        let mut seq = self.decoder.list(at).map_err(unreadable)?;
        while self.decoder.item(at, &mut seq).map_err(unreadable)? {
            count += 1;
            if count > most {
                // What follows is read only to find out whether it is JSON.
                skip(&mut self.decoder).map_err(unreadable)?;
                continue;
            }
            calls.push(self.call().map_err(unreadable)?);
        }
        if count > most {
            let message = format!("expected at most {most} calls (Limits::calls), found {count}");
            return Err(invalid(message));
        }
        Ok(calls)
    }

    /// An element of the message: a call, or another value. An error means that the message is not JSON.
    fn call(&mut self) -> Result<BatchEntry, Error> {
        if self.first_byte() != b'{' {
            skip(&mut self.decoder)?;
            return Ok(invalid_call(None, "an object"));
        }
        let at = Member::DOCUMENT;
        let mut members = Members::default();
        let mut seq = self.decoder.map(at)?;
        while let Some(name) = self.decoder.key(at, &mut seq)? {
            self.member(&name, &mut members)?;
        }
        Ok(self.complete(members))
    }

    /// Reads the value of a member of a call.
    fn member(&mut self, name: &str, members: &mut Members) -> Result<(), Error> {
        let first = self.first_byte();
        let (is_right, is_new, expected) = match name {
            "jsonrpc" => (first == b'"', !members.version, "one jsonrpc, \"2.0\""),
            "method" => (
                first == b'"',
                members.target.is_none(),
                "one method, a string",
            ),
            "params" => (
                matches!(first, b'{' | b'['),
                members.params.is_none(),
                "one params, an object or array",
            ),
            "id" => (
                matches!(first, b'"' | b'-' | b'0'..=b'9' | b'n'),
                members.id.is_none(),
                "one id, a string, number or null",
            ),
            _ => return skip(&mut self.decoder),
        };
        if !is_right || !is_new {
            members.invalid.get_or_insert(expected);
            members.has_bad_id |= name == "id";
            return skip(&mut self.decoder);
        }
        match name {
            "jsonrpc" => members.version = self.decoder.str(Member::DOCUMENT)? == "2.0",
            "method" => {
                let method = self.decoder.str(Member::DOCUMENT)?;
                members.target = Some(match self.protocol.find(&method) {
                    Some(index) => Ok(Route::to(index)),
                    None => Err(Fault::unknown_name("method", &method)),
                });
            }
            "params" => members.params = Some(self.skipped()?),
            _ => members.id = Some(self.skipped()?),
        }
        if name == "jsonrpc" && !members.version {
            members.invalid.get_or_insert(expected);
        }
        Ok(())
    }

    /// Skips a value, and returns where it is.
    fn skipped(&mut self) -> Result<Range<usize>, Error> {
        let start = self.decoder.offset();
        skip(&mut self.decoder)?;
        Ok(start..self.decoder.offset())
    }

    fn complete(&self, members: Members) -> BatchEntry {
        let Members {
            version,
            target,
            params,
            id,
            has_bad_id,
            invalid,
        } = members;
        let id = id.map(|range| self.part(range));
        let id_of_invalid = || id.clone().filter(|_| !has_bad_id);
        let target = match (invalid, target) {
            (Some(expected), _) => return invalid_call(id_of_invalid(), expected),
            (None, _) if !version => {
                return invalid_call(id_of_invalid(), "one jsonrpc, \"2.0\"");
            }
            (None, None) => return invalid_call(id_of_invalid(), "one method, a string"),
            (None, Some(target)) => target,
        };
        BatchEntry {
            id,
            target,
            input: params.map_or_else(Bytes::new, |range| self.part(range)),
        }
    }

    fn part(&self, range: Range<usize>) -> Bytes {
        part(self.bytes, range)
    }
}

/// The first byte of the value at an offset of a message, or 0 at the end.
pub(super) fn first_byte(message: &[u8], offset: usize) -> u8 {
    let rest = message.get(offset..).unwrap_or_default();
    rest.trim_ascii_start().first().copied().unwrap_or_default()
}

/// A part of a message. It shares the memory of the message, unless it is so small that an owner
/// that keeps it would hold much more memory than it needs.
pub(super) fn part(message: &Bytes, range: Range<usize>) -> Bytes {
    match range.len() < message.len() / 256 {
        true => Bytes::copy_from_slice(message.get(range).unwrap_or_default()),
        false => message.slice(range),
    }
}

/// The message cannot be read. Its response has no other id than null.
#[cold]
fn unreadable(error: Error) -> Fault {
    let code = match error.kind() {
        ErrorKind::Limit(_) => code::INVALID_REQUEST,
        _ => code::PARSE_ERROR,
    };
    // Which operation is called is not known, nor whether its input is sensitive.
    let error = error.found("");
    Fault::from(error.at_path("")).with_code(code)
}

#[cold]
fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Malformed, message).with_code(code::INVALID_REQUEST)
}

/// What is in the place of a call. The response has its id, or null if the id cannot be read:
/// section 5. Without an id it is no notification, because those are valid calls: section 4.1.
#[cold]
fn invalid_call(id: Option<Bytes>, expected: &str) -> BatchEntry {
    BatchEntry {
        id: Some(id.unwrap_or(Bytes::from_static(NULL))),
        target: Err(invalid(format!("expected a call with {expected}"))),
        input: Bytes::new(),
    }
}
