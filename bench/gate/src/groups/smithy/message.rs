//! Whole messages, as a client writes and reads them: head and body. A row of the manifest is one
//! case through the generated types and one through `Value`.

use std::fmt::Debug;

use bytes::Bytes;
use http::response;
use polywire_codec::{Dynamic, Formats, Message, Slot, Typed};
use polywire_protocol::{Outcome, Protocol, ProtocolKind};
use polywire_schema::{
    Body, DecodeStructure, Encode, Limits, Map, Member, Operation, SchemaSet, Value,
};
use serde_json::Value as Json;

use super::oracle::{allocations, cbor_tree, form_items, normalized, of_params, shown};
use super::{Row, formats};
use crate::{Case, Group, same, same_bytes};

/// A generated type.
pub(super) trait Shape:
    for<'de> DecodeStructure<'de> + Encode + Debug + PartialEq + 'static
{
}

impl<T> Shape for T where T: for<'de> DecodeStructure<'de> + Encode + Debug + PartialEq + 'static {}

/// An operation over a protocol.
#[derive(Clone, Copy)]
pub(super) struct Wire {
    kind: ProtocolKind,
    protocol: &'static dyn Protocol,
    operation: Operation<'static>,
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

    fn input(self) -> Member<'static> {
        self.operation.input().root()
    }

    fn output(self) -> Member<'static> {
        self.operation.output().root()
    }
}

/// Adds both cases of a row. As in generated clients, the types have code of their own for the
/// formats of one protocol.
pub(super) fn cases<I: Shape, O: Shape, F: Formats>(
    group: &mut Group,
    row: &Row,
    set: &'static SchemaSet<'static>,
) {
    let name = row.full_name();
    let Some(wire) = Wire::new(set, &row.protocol, &row.operation) else {
        return group.skip(name, "no such operation in the model");
    };
    let [typed, value] = match row.writes {
        true => [write_typed::<I, F>, write_value],
        false => [read_typed::<O, F>, read_value],
    };
    add(group, format!("{name}, typed"), row, |case| {
        typed(case, row, wire)
    });
    add(group, format!("{name}, Value"), row, |case| {
        value(case, row, wire)
    });
}

/// Adds a case. Data that does not fit the types counts as a wrong answer.
pub(super) fn add(
    group: &mut Group,
    name: String,
    row: &Row,
    build: impl FnOnce(&mut Case) -> Option<()>,
) {
    let case = group.case(name);
    case.bytes(row.body.len());
    if build(case).is_none() {
        case.polywire(|| (), |()| Err::<(), _>("the data does not fit the types"));
    }
}

fn write_typed<I: Shape, F: Formats>(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let input: I = of_params(row.params()?, wire.input())?;
    let row = row.clone();
    case.polywire(
        move || {
            wire.protocol
                .encode_input(wire.operation, &Typed::<_, F>::with_formats(&input))
                .ok()
        },
        move |request| row.is_request(wire, request.as_ref()),
    );
    Some(())
}

fn write_value(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let input: Value = of_params(row.params()?, wire.input())?;
    let row = row.clone();
    case.polywire(
        move || {
            wire.protocol
                .encode_input(wire.operation, &Dynamic(&input))
                .ok()
        },
        move |request| row.is_request(wire, request.as_ref()),
    );
    Some(())
}

/// What a client does with a response.
fn read<T: Shape, F: Formats>(wire: Wire, head: &response::Parts, body: &Body) -> Option<T> {
    let mut slot = Slot::<T, F>::with_formats();
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

fn read_typed<O: Shape, F: Formats>(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let head = row.response_head()?;
    let expected = row.expected(wire)?;
    let bytes = row.body;
    if row.largest {
        case.target_allocations(allocations(&expected));
    }
    let row = row.clone();
    case.polywire(
        {
            let head = head.clone();
            move || read::<O, F>(wire, &head, &Body::from(bytes))
        },
        move |answer| {
            let answer = answer.as_ref().ok_or("not read")?;
            same(&shown(answer, wire.output()), &expected)?;
            row.is_response(wire, &head, &Typed::<_, F>::with_formats(answer))
        },
    );
    Some(())
}

fn read_value(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let head = row.response_head()?;
    let expected = row.expected(wire)?;
    let bytes = row.body;
    let row = row.clone();
    case.polywire(
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

impl Row {
    /// Compares a request with the case: method, target, headers and body.
    fn is_request(&self, wire: Wire, request: Option<&http::Request<Bytes>>) -> Result<(), String> {
        let request = request.ok_or("not written")?;
        let mut lines = self.head.lines();
        let first = lines.next().unwrap_or_default();
        let target = format!("{} http://localhost{}", request.method(), request.uri());
        same(&target.as_str(), &first)?;
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            // The transport writes the length. In the cases it is that of the base64 text.
            if name != "content-length" {
                let found = request.headers().get(name);
                let found = found.and_then(|value| value.to_str().ok());
                same(&(name, found), &(name, Some(value)))?;
            }
        }
        match wire.kind {
            ProtocolKind::RpcV2Cbor => same(&cbor_tree(request.body()), &cbor_tree(self.body)),
            ProtocolKind::AwsQuery => same(&form_items(request.body()), &form_items(self.body)),
            _ => same_bytes(request.body(), self.body),
        }
    }

    /// The head of the response.
    fn response_head(&self) -> Option<response::Parts> {
        let case: Json = serde_json::from_str(&self.response).ok()?;
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

    /// The content of the response. Query has parameters. JSON and CBOR have a document in JSON. Of
    /// the REST protocols it is what restJson1 reads from the document that is not permuted;
    /// [`Row::is_response`] compares that with the message.
    fn expected(&self, wire: Wire) -> Option<Json> {
        use super::types::aws_rest_json_data_plane as rest_json;

        match wire.kind {
            ProtocolKind::AwsQuery => self.expected_metrics(wire.output()),
            ProtocolKind::AwsJson1_0 | ProtocolKind::RpcV2Cbor => {
                Some(normalized(serde_json::from_slice(self.json()?).ok()?))
            }
            _ => {
                let name = self.name.replace("_OutOfOrder", "_M");
                let body = Body::from(self.json_of("restJson1", &name)?);
                let set = rest_json::schemas();
                let wire = Wire::new(set, "restJson1", wire.operation.name())?;
                let head = self.response_head()?;
                Some(match wire.operation.name() {
                    "CopyObject" => shown(
                        &read::<rest_json::CopyObjectOutput, formats::Json>(wire, &head, &body)?,
                        wire.output(),
                    ),
                    _ => shown(
                        &read::<rest_json::GetObjectOutput, formats::Json>(wire, &head, &body)?,
                        wire.output(),
                    ),
                })
            }
        }
    }

    /// The output of `GetMetricData`. The parameters of the permuted document name the items of
    /// two lists in the opposite order.
    pub(super) fn expected_metrics(&self, at: Member<'_>) -> Option<Json> {
        let value: Value = of_params(self.params()?, at)?;
        let mut shown = shown(&value, at);
        let results = shown["MetricDataResults"].as_array_mut();
        for result in results.into_iter().flatten() {
            for list in ["Timestamps", "Values"] {
                if let (true, Some(items)) = (self.is_permuted(), result[list].as_array_mut()) {
                    items.reverse();
                }
            }
        }
        Some(shown)
    }

    /// Compares what a server writes for this answer: the same headers, and in restJson1 the same
    /// document.
    fn is_response(
        &self,
        wire: Wire,
        head: &response::Parts,
        answer: &dyn Message,
    ) -> Result<(), String> {
        if !matches!(wire.kind, ProtocolKind::RestJson1 | ProtocolKind::RestXml) {
            return Ok(());
        }
        let written = wire
            .protocol
            .encode_output(wire.operation, answer)
            .map_err(|error| error.to_string())?;
        for (name, value) in &head.headers {
            // For the length, see `is_request`. The media type of a document is a default.
            if name != "content-length" && name != "content-type" {
                same(&(name, written.headers().get(name)), &(name, Some(value)))?;
            }
        }
        let json = |body: &[u8]| serde_json::from_slice(body).map(normalized).ok();
        match wire.operation.name() {
            "GetObject" => same_bytes(written.body(), self.body),
            _ if wire.kind == ProtocolKind::RestJson1
                && !self.is_permuted()
                && !self.body.is_empty() =>
            {
                same(&json(written.body()), &json(self.body))
            }
            _ => Ok(()),
        }
    }
}
