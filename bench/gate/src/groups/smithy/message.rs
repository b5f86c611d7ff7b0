//! Whole messages, as a client of the protocol writes and reads them: head and
//! body, which is what smithy-java's figures are of. A case of the manifest is
//! one here through the generated types and one through `Value`.

use std::collections::BTreeMap;
use std::fmt::Debug;

use bytes::Bytes;
use http::response;
use crate::{Case, same, same_bytes};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Dynamic, Slot, Typed};
use polywire_protocol::{Outcome, Protocol, ProtocolKind};
use polywire_schema::{
    Body, Decode, DecodeStructure, Encode, Limits, Map, Member, Operation, SchemaSet, Value,
};
use serde_json::Value as Json;

use super::manifest::Row;

/// What a generated type can do.
pub(super) trait Shape:
    for<'de> DecodeStructure<'de> + Encode + Debug + PartialEq + 'static
{
}

impl<T> Shape for T where T: for<'de> DecodeStructure<'de> + Encode + Debug + PartialEq + 'static {}

/// An operation on a protocol.
#[derive(Clone, Copy)]
pub(super) struct Wire {
    pub(super) kind: ProtocolKind,
    pub(super) protocol: &'static dyn Protocol,
    pub(super) operation: Operation<'static>,
}

impl Wire {
    /// None if the set does not have the operation.
    pub(super) fn new(
        set: &'static SchemaSet<'static>,
        kind: &str,
        operation: &str,
    ) -> Option<Self> {
        let service = set.services().next()?;
        let kind = ProtocolKind::from_name(kind)?;
        Some(Self {
            kind,
            protocol: Box::leak(kind.build(service).ok()?),
            operation: service.find_operation(operation)?,
        })
    }

    pub(super) fn input(self) -> Member<'static> {
        self.operation.input().root()
    }

    pub(super) fn output(self) -> Member<'static> {
        self.operation.output().root()
    }
}

/// A value from the parameters of a case.
pub(super) fn of_params<'de, T: Decode<'de>>(params: &'de [u8], at: Member<'_>) -> Option<T> {
    let text = std::str::from_utf8(params).ok()?;
    let mut decoder = JsonDecoder::from_str(text, JsonProfile::NODE, &Limits::DEFAULT).ok()?;
    T::decode(at, &mut decoder).ok()
}

/// What a value is, whatever it is held in.
pub(super) fn shown(value: &impl Encode, at: Member<'_>) -> Json {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    value.encode(at, &mut encoder);
    let json = encoder.finish().unwrap_or_default();
    plain(serde_json::from_slice(&json).unwrap_or_default())
}

/// The same JSON with members in one order and `2.0` as `2`.
pub(super) fn plain(json: Json) -> Json {
    match json {
        Json::Number(number) => match number.as_f64() {
            Some(number) => Json::String(format!("number {number}")),
            None => Json::Number(number),
        },
        Json::Array(items) => items.into_iter().map(plain).collect(),
        Json::Object(members) => {
            let sorted: BTreeMap<_, _> = members.into_iter().collect();
            let members = sorted.into_iter();
            Json::Object(members.map(|(name, value)| (name, plain(value))).collect())
        }
        other => other,
    }
}

pub(super) fn write_typed<I: Shape>(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let input: I = of_params(row.params()?, wire.input())?;
    let row = row.clone();
    case.bytes(row.body.len()).polywire(
        move || {
            wire.protocol
                .encode_input(wire.operation, &Typed(&input))
                .ok()
        },
        move |request| row.is_request(wire, request.as_ref()),
    );
    Some(())
}

pub(super) fn write_value(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let input: Value = of_params(row.params()?, wire.input())?;
    let row = row.clone();
    case.bytes(row.body.len()).polywire(
        move || {
            wire.protocol
                .encode_input(wire.operation, &Dynamic(&input))
                .ok()
        },
        move |request| row.is_request(wire, request.as_ref()),
    );
    Some(())
}

/// What a client does with an answer.
fn read<T: Shape>(wire: Wire, head: &response::Parts, body: &Body) -> Option<T> {
    let mut slot = Slot::<T>::new();
    let limits = &Limits::DEFAULT;
    let outcome = wire.protocol.outcome(wire.operation, head, body, limits);
    matches!(outcome, Ok(Outcome::Output)).then_some(())?;
    wire.protocol
        .decode_output(wire.operation, head, body, limits, &mut slot)
        .ok()?;
    slot.into_value()
}

fn read_map(wire: Wire, head: &response::Parts, body: &Body) -> Option<Map> {
    let mut map = Map::new();
    let limits = &Limits::DEFAULT;
    let outcome = wire.protocol.outcome(wire.operation, head, body, limits);
    matches!(outcome, Ok(Outcome::Output)).then_some(())?;
    wire.protocol
        .decode_output(wire.operation, head, body, limits, &mut map)
        .ok()?;
    Some(map)
}

pub(super) fn read_typed<O: Shape>(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let head = row.response()?;
    let expected = row.expected(wire)?;
    let bytes = row.body;
    case.bytes(bytes.len())
        .target_allocations(allocations(&expected));
    let row = row.clone();
    case.polywire(
        {
            let head = head.clone();
            move || read::<O>(wire, &head, &Body::from(bytes))
        },
        move |answer| {
            let answer = answer.as_ref().ok_or("not read")?;
            same(&shown(answer, wire.output()), &expected)?;
            row.is_response(wire, &head, &Typed(answer))
        },
    );
    Some(())
}

pub(super) fn read_value(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let head = row.response()?;
    let expected = row.expected(wire)?;
    let bytes = row.body;
    let row = row.clone();
    case.bytes(bytes.len()).polywire(
        {
            let head = head.clone();
            move || read_map(wire, &head, &Body::from(bytes))
        },
        move |answer| {
            let answer = answer.as_ref().ok_or("not read")?;
            same(&shown(answer, wire.output()), &expected)?;
            row.is_response(wire, &head, answer)
        },
    );
    Some(())
}

/// One allocation per list, map and long string, of what is shown.
pub(super) fn allocations(shown: &Json) -> u64 {
    /// The members that are maps. All others are structures and unions.
    const MAPS: [&str; 4] = ["Item", "Key", "M", "Metadata"];

    match shown {
        Json::String(text) => u64::from(text.len() > 23),
        Json::Array(items) => {
            u64::from(!items.is_empty()) + items.iter().map(allocations).sum::<u64>()
        }
        Json::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let map = MAPS.contains(&name.as_str()) && value.is_object();
                u64::from(map) + allocations(value)
            })
            .sum(),
        _ => 0,
    }
}

impl Row {
    /// The head of a request, beside its own lines: method, target and headers.
    fn is_request(&self, wire: Wire, request: Option<&http::Request<Bytes>>) -> Result<(), String> {
        let request = request.ok_or("not written")?;
        let mut lines = self.head.lines();
        let first = lines.next().unwrap_or_default();
        let target = format!("{} http://localhost{}", request.method(), request.uri());
        same(&target.as_str(), &first)?;
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            // What sends the message knows its length. That of a case is one
            // that is a member too.
            if name != "content-length" {
                let found = request.headers().get(name);
                let found = found.and_then(|value| value.to_str().ok());
                same(&(name, found), &(name, Some(value)))?;
            }
        }
        self.is_body(wire, request.body())
    }

    fn is_body(&self, wire: Wire, body: &[u8]) -> Result<(), String> {
        match wire.kind {
            ProtocolKind::RpcV2Cbor => same(&tree(body), &tree(self.body)),
            // A colon need not be escaped in a query, and it may be.
            ProtocolKind::AwsQuery => {
                let body = String::from_utf8_lossy(body).replace("%3A", ":");
                same_bytes(body.as_bytes(), self.body)
            }
            _ => same_bytes(body, self.body),
        }
    }

    /// The head of the answer, which is in the file of the case.
    fn response(&self) -> Option<response::Parts> {
        let case: Json = serde_json::from_str(&self.case).ok()?;
        let mut builder = response::Builder::new().status(case["code"].as_u64()? as u16);
        for (name, value) in case["headers"].as_object().into_iter().flatten() {
            builder = builder.header(name, value.as_str()?);
        }
        let media_type = match self.protocol.as_str() {
            "awsJson1_0" => "application/x-amz-json-1.0",
            "awsQuery" => "text/xml",
            "rpcv2Cbor" => "application/cbor",
            "restXml" => "application/xml",
            _ => "application/json",
        };
        let mut head = builder.body(()).ok()?.into_parts().0;
        let headers = &mut head.headers;
        let media_type = http::HeaderValue::from_static(media_type);
        headers.entry("content-type").or_insert(media_type);
        Some(head)
    }

    /// What the answer says: its parameters where there are some, else what
    /// serde_json makes of the JSON that says the same. For the REST protocols,
    /// whose head says most, what restJson1 reads of the document that is not
    /// permuted; [`Row::is_response`] compares that with the message.
    fn expected(&self, wire: Wire) -> Option<Json> {
        use super::types::aws_rest_json_data_plane as rest_json;

        match wire.kind {
            ProtocolKind::AwsQuery => {
                let value: Value = of_params(self.params()?, wire.output())?;
                let mut shown = shown(&value, wire.output());
                if self.name.ends_with("OutOfOrder") {
                    reverse(&mut shown);
                }
                Some(shown)
            }
            ProtocolKind::AwsJson1_0 | ProtocolKind::RpcV2Cbor => {
                let json = match self.sibling("awsJson1_0", &self.name, "json")? {
                    [] => b"{}",
                    json => json,
                };
                let output: super::items::GetItemOutput<String> =
                    serde_json::from_slice(json).ok()?;
                Some(plain(serde_json::to_value(output).ok()?))
            }
            _ => {
                let name = self.name.replace("_OutOfOrder", "_M");
                let body = Body::from(self.sibling("restJson1", &name, "json")?);
                let set = rest_json::schemas();
                let wire = Wire::new(set, "restJson1", wire.operation.name())?;
                let head = self.response()?;
                Some(match wire.operation.name() {
                    "CopyObject" => shown(
                        &read::<rest_json::CopyObjectOutput>(wire, &head, &body)?,
                        wire.output(),
                    ),
                    _ => shown(
                        &read::<rest_json::GetObjectOutput>(wire, &head, &body)?,
                        wire.output(),
                    ),
                })
            }
        }
    }

    /// A server that answers so writes the same headers, and in restJson1 the
    /// same document.
    fn is_response(
        &self,
        wire: Wire,
        head: &response::Parts,
        answer: &dyn polywire_codec::Message,
    ) -> Result<(), String> {
        if !matches!(wire.kind, ProtocolKind::RestJson1 | ProtocolKind::RestXml) {
            return Ok(());
        }
        let written = wire
            .protocol
            .encode_output(wire.operation, answer)
            .map_err(|error| error.to_string())?;
        for (name, value) in &head.headers {
            // See `is_request`; and the media type of a document is a default.
            if name != "content-length" && name != "content-type" {
                same(&(name, written.headers().get(name)), &(name, Some(value)))?;
            }
        }
        let json = |body: &[u8]| serde_json::from_slice(body).map(plain).ok();
        let permuted = self.name.ends_with("OutOfOrder");
        match wire.operation.name() {
            "GetObject" => same_bytes(written.body(), self.body),
            _ if wire.kind == ProtocolKind::RestJson1 && !permuted && !self.body.is_empty() => {
                same(&json(written.body()), &json(self.body))
            }
            _ => Ok(()),
        }
    }
}

/// The parameters of the permuted document name the items of two lists in the
/// other order.
fn reverse(shown: &mut Json) {
    for result in shown["MetricDataResults"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        for list in ["Timestamps", "Values"] {
            if let Some(items) = result[list].as_array_mut() {
                items.reverse();
            }
        }
    }
}

pub(super) fn tree(cbor: &[u8]) -> Option<ciborium::Value> {
    ciborium::from_reader(cbor).ok()
}
