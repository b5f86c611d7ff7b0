//! Bodies alone, beside the peers of their formats, which read and write no
//! head. XML's are in `xml`.

use crate::{Case, Group, same, same_bytes};
use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::form::{FormEncoder, FormProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_schema::{Body, Decode, Encode, Limits, Member, Value};
use serde_json::Value as Json;

use super::items::{GetItemOutput, Input};
use super::manifest::Row;
use super::message::{Shape, Wire, allocations, of_params, plain, shown, tree};
use super::types::{
    aws_json_rpc10_data_plane as json, aws_json_rpc10_data_plane_borrowed as json_borrowed,
    aws_query_data_plane as query, smithy_rpc_v2_cbor_data_plane as cbor,
    smithy_rpc_v2_cbor_data_plane_borrowed as cbor_borrowed,
};
use super::{form_peers, items_cbor, items_json};

/// Adds the cases of a row whose body says something.
pub(super) fn cases(group: &mut Group, row: &Row, wire: Wire, name: &str) {
    if row.body.len() < 16 {
        return;
    }
    let mut case = |what: &str, add: &dyn Fn(&mut Case, &Row, Wire) -> Option<()>| {
        let case = group.case(format!("{name}, body {what}"));
        case.bytes(row.body.len());
        if add(case, row, wire).is_none() {
            case.polywire(
                || (),
                |()| Err::<(), _>("the data of the case cannot be read"),
            );
        }
    };
    match (row.protocol.as_str(), row.operation.as_str()) {
        ("awsJson1_0", "GetItem") if !row.writes => {
            case("typed", &read_json);
            case("borrowed", &read_json_borrowed);
            case("Value", &read_json_value);
        }
        ("rpcv2Cbor", "GetItem") => {
            case("typed", &read_cbor);
            case("borrowed", &read_cbor_borrowed);
            case("Value", &read_cbor_value);
        }
        ("awsJson1_0", "GetItem") => case("typed", &write_json::<json::GetItemInput>),
        ("awsJson1_0", "PutItem") => {
            case("typed", &write_json::<json::PutItemInput>);
            case("Value", &write_json_value);
        }
        ("rpcv2Cbor", "PutItem") => {
            case("typed", &write_cbor::<cbor::PutItemInput>);
            case("Value", &write_cbor_value);
        }
        ("awsQuery", "PutMetricData") => {
            case("typed", &|case, row, wire| {
                write_form::<query::PutMetricDataInput>(case, row, wire, form_peers::put)
            });
        }
        ("awsQuery", "GetMetricData") if row.writes => {
            case("typed", &|case, row, wire| {
                write_form::<query::GetMetricDataInput>(case, row, wire, form_peers::get)
            });
        }
        _ => {}
    }
}

fn from_json<'de, T: Decode<'de>>(body: &'de Body, at: Member<'_>) -> Option<T> {
    let profile = JsonProfile::DEFAULT.for_client();
    let mut decoder = JsonDecoder::from_body(body, profile, &Limits::DEFAULT).ok()?;
    let value = T::decode(at, &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

fn from_cbor<'de, T: Decode<'de>>(body: &'de Body, at: Member<'_>) -> Option<T> {
    let profile = CborProfile::DEFAULT.for_client();
    let mut decoder = CborDecoder::from_body(body, profile, &Limits::DEFAULT).ok()?;
    let value = T::decode(at, &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

/// The JSON that says what the body of an answer says.
fn json_of(row: &Row) -> Option<&'static [u8]> {
    row.sibling("awsJson1_0", &row.name, "json")
}

fn expected(row: &Row) -> Option<(GetItemOutput<String>, Json)> {
    let output: GetItemOutput<String> = serde_json::from_slice(json_of(row)?).ok()?;
    let shown = plain(serde_json::to_value(&output).ok()?);
    Some((output, shown))
}

fn is_shown<T: Encode>(answer: &Option<T>, at: Member<'_>, expected: &Json) -> Result<(), String> {
    same(&shown(answer.as_ref().ok_or("not read")?, at), expected)
}

/// The permuted document may cost 1.4 times as much a byte as the other, which
/// is shorter by the members that nobody knows.
fn permuted(case: &mut Case, row: &Row, what: &str) {
    if row.name.ends_with("OutOfOrder") {
        let medium = row.name.replace("OutOfOrder", "M");
        case.target_instructions_of_case(format!("{} {medium}, body {what}", row.protocol), 1.4);
    }
}

fn read_json(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.output());
    let (output, shown) = expected(row)?;
    permuted(case, row, "typed");
    let [sonic, serde, aws] = [output.clone(), output.clone(), output];
    case.target_allocations(allocations(&shown))
        .polywire(
            move || from_json::<json::GetItemOutput>(&Body::from(bytes), at),
            move |answer| is_shown(answer, at, &shown),
        )
        .peer(
            "sonic-rs owned",
            move || sonic_rs::from_slice::<GetItemOutput<String>>(bytes).ok(),
            move |answer| same(answer, &Some(sonic.clone())),
        )
        .peer(
            "serde_json owned",
            move || serde_json::from_slice::<GetItemOutput<String>>(bytes).ok(),
            move |answer| same(answer, &Some(serde.clone())),
        )
        .peer(
            "aws-smithy-json",
            move || items_json::read(bytes),
            move |answer| same(answer, &Some(aws.clone())),
        )
        .target_ratio_time("sonic-rs owned", 2.0)
        .target_ratio_time("aws-smithy-json", 2.5);
    Some(())
}

fn read_json_borrowed(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.output());
    let (_, shown) = expected(row)?;
    let [sonic, serde] = [shown.clone(), shown.clone()];
    let body: &'static Body = Box::leak(Box::new(Body::from(bytes)));
    case.polywire(
        move || from_json::<json_borrowed::GetItemOutput<'static>>(body, at),
        move |answer| is_shown(answer, at, &shown),
    )
    .peer(
        "sonic-rs borrowed",
        move || sonic_rs::from_slice::<GetItemOutput<&'static str>>(bytes).ok(),
        move |answer| {
            same(
                &serde_json::to_value(answer).ok().map(plain),
                &Some(sonic.clone()),
            )
        },
    )
    .peer(
        "serde_json borrowed",
        move || serde_json::from_slice::<GetItemOutput<&'static str>>(bytes).ok(),
        move |answer| {
            same(
                &serde_json::to_value(answer).ok().map(plain),
                &Some(serde.clone()),
            )
        },
    )
    .target_ratio_time("sonic-rs borrowed", 1.4);
    Some(())
}

fn read_json_value(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.output());
    let (_, shown) = expected(row)?;
    let parsed: Json = serde_json::from_slice(bytes).ok()?;
    let compact = plain(parsed.clone());
    case.polywire(
        move || from_json::<Value>(&Body::from(bytes), at),
        move |answer| is_shown(answer, at, &shown),
    )
    .peer(
        "serde_json::Value",
        move || serde_json::from_slice::<Json>(bytes).ok(),
        move |answer| same(answer, &Some(parsed.clone())),
    )
    .peer(
        "sonic_rs::Value",
        move || sonic_rs::from_slice::<sonic_rs::Value>(bytes).ok(),
        move |answer| {
            let json = sonic_rs::to_vec(answer).unwrap_or_default();
            let json = serde_json::from_slice(&json).unwrap_or_default();
            same(&plain(json), &compact)
        },
    )
    .target_ratio_time("serde_json::Value", 1.5);
    Some(())
}

fn read_cbor(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.output());
    let (output, shown) = expected(row)?;
    permuted(case, row, "typed");
    let [mini, aws] = [output.clone(), output];
    case.target_allocations(allocations(&shown))
        .polywire(
            move || from_cbor::<cbor::GetItemOutput>(&Body::from(bytes), at),
            move |answer| is_shown(answer, at, &shown),
        )
        .peer(
            "minicbor",
            move || items_cbor::minicbor_read(bytes),
            move |answer| same(answer, &Some(mini.clone())),
        )
        .peer(
            "aws-smithy-cbor",
            move || items_cbor::aws_read(bytes),
            move |answer| same(answer, &Some(aws.clone())),
        )
        .target_ratio_time("minicbor", 2.0)
        .target_ratio_time("aws-smithy-cbor", 2.5);
    Some(())
}

fn read_cbor_borrowed(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.output());
    let (_, shown) = expected(row)?;
    let body: &'static Body = Box::leak(Box::new(Body::from(bytes)));
    case.polywire(
        move || from_cbor::<cbor_borrowed::GetItemOutput<'static>>(body, at),
        move |answer| is_shown(answer, at, &shown),
    );
    Some(())
}

fn read_cbor_value(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.output());
    let (_, shown) = expected(row)?;
    let parsed = tree(bytes);
    case.polywire(
        move || from_cbor::<Value>(&Body::from(bytes), at),
        move |answer| is_shown(answer, at, &shown),
    )
    .peer(
        "ciborium::Value",
        move || ciborium::from_reader::<ciborium::Value, _>(bytes).ok(),
        move |answer| same(answer, &parsed),
    )
    .target_ratio_time("ciborium::Value", 2.0);
    Some(())
}

fn to_json(value: &impl Encode, at: Member<'_>, out: &mut Vec<u8>) {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT.for_client(), std::mem::take(out));
    value.encode(at, &mut encoder);
    *out = encoder.finish().unwrap_or_default();
}

fn to_cbor(value: &impl Encode, at: Member<'_>, out: &mut Vec<u8>) {
    let mut encoder = CborEncoder::new(std::mem::take(out));
    value.encode(at, &mut encoder);
    *out = encoder.finish().unwrap_or_default();
}

/// The input as the peers have it. Blobs of parameters are plain text.
fn peers_input(row: &Row, wire: Wire) -> Option<Input> {
    let value: Value = of_params(row.params()?, wire.input())?;
    let mut json = Vec::new();
    to_json(&value, wire.input(), &mut json);
    serde_json::from_slice(&json).ok()
}

fn write_json<I: Shape>(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.input());
    let input: I = of_params(row.params()?, at)?;
    let peers = peers_input(row, wire)?;
    let [sonic, serde, aws] = [peers.clone(), peers.clone(), peers];
    case.polywire_writes(
        move |out| to_json(&input, at, out),
        move |written| same_bytes(written, bytes),
    )
    .peer_writes(
        "sonic-rs",
        move |out| sonic_rs::to_writer(out, &sonic).unwrap_or_default(),
        move |written| same_bytes(written, bytes),
    )
    .peer_writes(
        "serde_json",
        move |out| serde_json::to_writer(out, &serde).unwrap_or_default(),
        move |written| same_bytes(written, bytes),
    )
    .peer_with(
        "aws-smithy-json",
        String::new(),
        move |out| {
            out.clear();
            items_json::write(&aws, out);
        },
        move |written, ()| same_bytes(written.as_bytes(), bytes),
    )
    .target_ratio_time("sonic-rs", 1.5)
    .target_ratio_time("aws-smithy-json", 1.5)
    .target_allocations(0);
    Some(())
}

fn write_json_value(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.input());
    let input: Value = of_params(row.params()?, at)?;
    let tree: Json = serde_json::from_slice(bytes).ok()?;
    let same_tree = tree.clone();
    case.polywire_writes(
        move |out| to_json(&input, at, out),
        move |written| same_bytes(written, bytes),
    )
    .peer_writes(
        "serde_json::Value",
        move |out| serde_json::to_writer(out, &tree).unwrap_or_default(),
        // Its members are sorted.
        move |written| {
            same(
                &serde_json::from_slice::<Json>(written).ok(),
                &Some(same_tree.clone()),
            )
        },
    )
    .target_ratio_time("serde_json::Value", 1.5)
    .target_allocations(0);
    Some(())
}

fn write_cbor<I: Shape>(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.input());
    let input: I = of_params(row.params()?, at)?;
    let peers = peers_input(row, wire)?;
    let [mini, aws] = [peers.clone(), peers];
    // Whether lengths of maps are given is the writer's choice.
    case.polywire_writes(
        move |out| to_cbor(&input, at, out),
        move |written| same(&tree(written), &tree(bytes)),
    )
    .peer_writes(
        "minicbor",
        move |out| items_cbor::minicbor_write(&mini, out),
        move |written| same(&tree(written), &tree(bytes)),
    )
    .peer_writes(
        "aws-smithy-cbor",
        move |out| items_cbor::aws_write(&aws, out),
        move |written| same(&tree(written), &tree(bytes)),
    )
    .target_ratio_time("minicbor", 1.5)
    .target_ratio_time("aws-smithy-cbor", 1.5)
    .target_allocations(0);
    Some(())
}

fn write_cbor_value(case: &mut Case, row: &Row, wire: Wire) -> Option<()> {
    let (bytes, at) = (row.body, wire.input());
    let input: Value = of_params(row.params()?, at)?;
    let value = tree(bytes)?;
    case.polywire_writes(
        move |out| to_cbor(&input, at, out),
        move |written| same(&tree(written), &tree(bytes)),
    )
    .peer_writes(
        "ciborium::Value",
        move |out| ciborium::into_writer(&value, out).unwrap_or_default(),
        move |written| same(&tree(written), &tree(bytes)),
    )
    .target_ratio_time("ciborium::Value", 1.5)
    .target_allocations(0);
    Some(())
}

fn write_form<I: Shape>(
    case: &mut Case,
    row: &Row,
    wire: Wire,
    peer: fn(&I) -> String,
) -> Option<()> {
    let (bytes, at) = (row.body, wire.input());
    let input: I = of_params(row.params()?, at)?;
    let theirs: I = of_params(row.params()?, at)?;
    let start = format!("Action={}&Version=1999-12-31", row.operation);
    // Colons need not be escaped, and may be; whole numbers may have a fraction.
    let same_form = move |written: &[u8]| {
        let text = String::from_utf8_lossy(written).replace("%3A", ":");
        let pairs = text.trim_end_matches('&').split('&');
        let short = pairs.map(|pair| pair.strip_suffix(".0").unwrap_or(pair));
        let expected = String::from_utf8_lossy(bytes);
        let expected = expected.split('&');
        let expected = expected.map(|pair| pair.strip_suffix(".0").unwrap_or(pair));
        same(&short.collect::<Vec<_>>(), &expected.collect::<Vec<_>>())
    };
    case.polywire_writes(
        move |out| {
            out.extend_from_slice(start.as_bytes());
            let profile = FormProfile::AWS_QUERY.for_client();
            let mut encoder = FormEncoder::new(profile, std::mem::take(out));
            input.encode(at, &mut encoder);
            *out = encoder.finish().unwrap_or_default();
        },
        same_form,
    )
    .peer(
        "aws-smithy-query",
        move || peer(&theirs),
        move |written| same_form(written.as_bytes()),
    )
    .target_ratio_time("aws-smithy-query", 2.5)
    .target_allocations(0);
    Some(())
}
