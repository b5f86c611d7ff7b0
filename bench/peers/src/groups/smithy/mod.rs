//! The peers of each format beside the bodies, and smithy-java's figures beside whole messages.
//! Targets are about the largest size of each message; the smaller sizes are measured too.

mod cbor;
mod items;
mod java;
mod json;
mod query;
mod xml;

use polywire_gate::groups::smithy::{self as gate, Row};
use polywire_gate::{Case, Group, same, same_bytes};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use items::{GetItemOutput, Input};
use xml::{CopyObjectResult, GetMetricDataOutput, aws, quick};

pub(crate) fn cases(group: &mut Group) {
    gate::cases(group);
    let Ok(rows) = gate::rows(group) else {
        // The gate's group has counted it as skipped.
        return;
    };
    for row in &rows {
        group.extend(&format!("{}, typed", row.full_name()), |case| {
            java::quote(case, row);
        });
        if row.has_body() {
            bodies(group, row);
        }
    }
}

/// Adds peers to the cases of one body.
fn bodies(group: &mut Group, row: &Row) {
    let mut extend = |what: &str, add: fn(&mut Case, &Row) -> Option<()>| {
        group.extend(&format!("{}, body {what}", row.full_name()), |case| {
            if add(case, row).is_none() {
                case.peer("peers", || (), |()| Err::<(), _>("the data does not fit"));
            }
        });
    };
    match (row.protocol.as_str(), row.operation.as_str()) {
        ("awsJson1_0", "GetItem") => {
            extend("typed", read_json);
            if row.is_medium() {
                extend("borrowed", read_json_borrowed);
                extend("Value", read_json_value);
            }
        }
        ("awsJson1_0", "PutItem") => {
            extend("typed", write_json);
            if row.is_medium() {
                extend("Value", write_json_value);
            }
        }
        ("rpcv2Cbor", "GetItem") => {
            extend("typed", read_cbor);
            if row.is_medium() {
                extend("Value", read_cbor_value);
            }
        }
        ("rpcv2Cbor", "PutItem") => {
            extend("typed", write_cbor);
            if row.is_medium() {
                extend("Value", write_cbor_value);
            }
        }
        ("awsQuery", "PutMetricData") => {
            extend("typed", |case, row| write_form(case, row, query::put));
        }
        ("awsQuery", "GetMetricData") if row.writes => {
            extend("typed", |case, row| write_form(case, row, query::get));
        }
        ("awsQuery", "GetMetricData") => {
            extend("typed", read_metrics);
            if row.is_medium() {
                extend("Value", read_tree);
                extend("written, typed", write_metrics);
                extend("written, Value", write_tree);
            }
        }
        ("restXml", "CopyObject") if !row.writes => extend("typed", read_copied),
        _ => {}
    }
}

/// Targets of the largest size: at least so many times as fast as each peer.
fn targets(case: &mut Case, row: &Row, times: &[(&str, f64)]) {
    if row.largest {
        for (peer, times) in times {
            case.target_ratio_time(*peer, *times);
        }
    }
}

fn read_json(case: &mut Case, row: &Row) -> Option<()> {
    let bytes = row.body;
    let expected: Option<GetItemOutput<String>> = Some(serde_json::from_slice(bytes).ok()?);
    let [sonic, serde, aws] = [expected.clone(), expected.clone(), expected];
    case.peer(
        "sonic-rs owned",
        move || sonic_rs::from_slice::<GetItemOutput<String>>(bytes).ok(),
        move |answer| same(answer, &sonic),
    )
    .peer(
        "serde_json owned",
        move || serde_json::from_slice::<GetItemOutput<String>>(bytes).ok(),
        move |answer| same(answer, &serde),
    )
    .peer(
        "aws-smithy-json",
        move || json::read(bytes),
        move |answer| same(answer, &aws),
    );
    targets(
        case,
        row,
        &[("sonic-rs owned", 2.0), ("aws-smithy-json", 2.5)],
    );
    Some(())
}

fn read_json_borrowed(case: &mut Case, row: &Row) -> Option<()> {
    let bytes = row.body;
    let expected: Option<GetItemOutput<&'static str>> = Some(serde_json::from_slice(bytes).ok()?);
    let [sonic, serde] = [expected.clone(), expected];
    case.peer(
        "sonic-rs borrowed",
        move || sonic_rs::from_slice::<GetItemOutput<&'static str>>(bytes).ok(),
        move |answer| same(answer, &sonic),
    )
    .peer(
        "serde_json borrowed",
        move || serde_json::from_slice::<GetItemOutput<&'static str>>(bytes).ok(),
        move |answer| same(answer, &serde),
    )
    .target_ratio_time("sonic-rs borrowed", 1.4);
    Some(())
}

fn read_json_value(case: &mut Case, row: &Row) -> Option<()> {
    let bytes = row.body;
    let expected: Option<Json> = Some(serde_json::from_slice(bytes).ok()?);
    case.peer(
        "serde_json::Value",
        move || serde_json::from_slice::<Json>(bytes).ok(),
        move |answer| same(answer, &expected),
    )
    .peer(
        "sonic_rs::Value",
        move || sonic_rs::from_slice::<sonic_rs::Value>(bytes).ok(),
        |answer| answer.is_some(),
    )
    .target_ratio_time("serde_json::Value", 1.5);
    Some(())
}

/// The input of a request, read from its body: the parameters of the case have blobs as plain text.
fn input(row: &Row) -> Option<Input> {
    match row.protocol.as_str() {
        "rpcv2Cbor" => cbor::input(row.body),
        _ => serde_json::from_slice(row.body).ok(),
    }
}

fn write_json(case: &mut Case, row: &Row) -> Option<()> {
    let bytes = row.body;
    let input = input(row)?;
    let [sonic, serde, aws] = [input.clone(), input.clone(), input];
    case.peer_writes(
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
            json::write(&aws, out);
        },
        move |written, ()| same_bytes(written.as_bytes(), bytes),
    );
    targets(case, row, &[("sonic-rs", 1.5), ("aws-smithy-json", 1.5)]);
    Some(())
}

fn write_json_value(case: &mut Case, row: &Row) -> Option<()> {
    let tree: Json = serde_json::from_slice(row.body).ok()?;
    let expected = Some(tree.clone());
    case.peer_writes(
        "serde_json::Value",
        move |out| serde_json::to_writer(out, &tree).unwrap_or_default(),
        // It sorts the members.
        move |written| same(&serde_json::from_slice::<Json>(written).ok(), &expected),
    )
    .target_ratio_time("serde_json::Value", 1.5);
    Some(())
}

fn read_cbor(case: &mut Case, row: &Row) -> Option<()> {
    let bytes = row.body;
    let expected: Option<GetItemOutput<String>> = Some(serde_json::from_slice(row.json()?).ok()?);
    let [mini, aws] = [expected.clone(), expected];
    case.peer(
        "minicbor",
        move || cbor::minicbor_read(bytes),
        move |answer| same(answer, &mini),
    )
    .peer(
        "aws-smithy-cbor",
        move || cbor::aws_read(bytes),
        move |answer| same(answer, &aws),
    );
    targets(case, row, &[("minicbor", 2.0), ("aws-smithy-cbor", 2.5)]);
    Some(())
}

/// Writers choose whether maps begin with their length, so documents are compared as trees.
fn tree(cbor: &[u8]) -> Option<ciborium::Value> {
    ciborium::from_reader(cbor).ok()
}

fn read_cbor_value(case: &mut Case, row: &Row) -> Option<()> {
    let bytes = row.body;
    let expected = tree(bytes);
    case.peer(
        "ciborium::Value",
        move || tree(bytes),
        move |answer| same(answer, &expected),
    )
    .target_ratio_time("ciborium::Value", 2.0);
    Some(())
}

fn write_cbor(case: &mut Case, row: &Row) -> Option<()> {
    let bytes = row.body;
    let input = input(row)?;
    let [mini, aws] = [input.clone(), input];
    case.peer_writes(
        "minicbor",
        move |out| cbor::minicbor_write(&mini, out),
        move |written| same(&tree(written), &tree(bytes)),
    )
    .peer_writes(
        "aws-smithy-cbor",
        move |out| cbor::aws_write(&aws, out),
        move |written| same(&tree(written), &tree(bytes)),
    );
    targets(case, row, &[("minicbor", 1.5), ("aws-smithy-cbor", 1.5)]);
    Some(())
}

fn write_cbor_value(case: &mut Case, row: &Row) -> Option<()> {
    let bytes = row.body;
    let value = tree(bytes)?;
    case.peer_writes(
        "ciborium::Value",
        move |out| ciborium::into_writer(&value, out).unwrap_or_default(),
        move |written| same(&tree(written), &tree(bytes)),
    )
    .target_ratio_time("ciborium::Value", 1.5);
    Some(())
}

fn write_form<I: DeserializeOwned + 'static>(
    case: &mut Case,
    row: &Row,
    write: fn(&I) -> String,
) -> Option<()> {
    let input: I = serde_json::from_slice(row.params()?).ok()?;
    let expected = form_items(row.body);
    case.peer(
        "aws-smithy-query",
        move || write(&input),
        move |written| same(&form_items(written.as_bytes()), &expected),
    );
    targets(case, row, &[("aws-smithy-query", 2.5)]);
    Some(())
}

/// The items of a form. Writers choose whether to escape colons and whether whole doubles have a
/// fraction.
fn form_items(form: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(form).replace("%3A", ":");
    let items = text.trim_end_matches('&').split('&');
    items
        .map(|item| item.strip_suffix(".0").unwrap_or(item).to_owned())
        .collect()
}

/// The output of a case from its parameters. Those of the permuted document name the items of two
/// lists in the opposite order.
fn metrics(row: &Row) -> Option<GetMetricDataOutput> {
    let mut output: GetMetricDataOutput = serde_json::from_slice(row.params()?).ok()?;
    if row.is_permuted() {
        for result in output.metric_data_results.iter_mut().flatten() {
            result.timestamps.iter_mut().for_each(|list| list.reverse());
            result.values.iter_mut().for_each(|list| list.reverse());
        }
    }
    Some(output)
}

fn read_metrics(case: &mut Case, row: &Row) -> Option<()> {
    let xml = row.body;
    let expected = Some(metrics(row)?);
    let by_aws = expected.clone();
    case.peer(
        "quick-xml by hand",
        move || quick::metrics(xml),
        move |answer| same(answer, &expected),
    )
    .peer(
        "aws-smithy-xml",
        move || aws::metrics(xml),
        move |answer| same(answer, &by_aws),
    );
    targets(
        case,
        row,
        &[("quick-xml by hand", 2.5), ("aws-smithy-xml", 2.5)],
    );
    Some(())
}

fn write_metrics(case: &mut Case, row: &Row) -> Option<()> {
    let output = metrics(row)?;
    let expected = Some(output.clone());
    let (by_aws, expected_by_aws) = (output.clone(), expected.clone());
    case.peer_writes(
        "quick-xml by hand",
        move |out| quick::write(&output, out),
        move |written| same(&quick::metrics(written), &expected),
    )
    .peer(
        "aws-smithy-xml",
        move || aws::write(&by_aws),
        move |written| same(&quick::metrics(written.as_bytes()), &expected_by_aws),
    )
    .target_ratio_time("quick-xml by hand", 1.5)
    .target_ratio_time("aws-smithy-xml", 1.5);
    Some(())
}

fn read_tree(case: &mut Case, row: &Row) -> Option<()> {
    let xml = row.body;
    let expected = text_of(xml);
    case.peer(
        "quick-xml tree",
        move || quick::tree(xml),
        move |answer| {
            let tree = answer.as_ref().ok_or("not read")?;
            same_bytes(tree.text().as_bytes(), &expected)
        },
    )
    .target_ratio_time("quick-xml tree", 1.5);
    Some(())
}

fn write_tree(case: &mut Case, row: &Row) -> Option<()> {
    let tree = quick::tree(row.body)?;
    let expected = text_of(row.body);
    case.peer_writes(
        "quick-xml tree",
        move |out| tree.write(out),
        move |written| same_bytes(&text_of(written), &expected),
    )
    .target_ratio_time("quick-xml tree", 1.5);
    Some(())
}

/// The text between tags, without layout.
fn text_of(xml: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(xml).unwrap_or_default();
    let parts = text.split('<').filter_map(|part| part.split_once('>'));
    parts
        .map(|(_, text)| text.trim())
        .collect::<String>()
        .into_bytes()
}

/// The case restXml CopyObjectOutput has no parameters; the document of restJson1 is the same.
fn read_copied(case: &mut Case, row: &Row) -> Option<()> {
    let xml = row.body;
    let expected: Option<CopyObjectResult> =
        Some(serde_json::from_slice(row.json_of("restJson1", "CopyObjectOutput_M")?).ok()?);
    let by_aws = expected.clone();
    case.peer(
        "quick-xml by hand",
        move || quick::copied(xml),
        move |answer| same(answer, &expected),
    )
    .peer(
        "aws-smithy-xml",
        move || aws::copied(xml),
        move |answer| same(answer, &by_aws),
    );
    targets(
        case,
        row,
        &[("quick-xml by hand", 2.5), ("aws-smithy-xml", 2.5)],
    );
    Some(())
}
