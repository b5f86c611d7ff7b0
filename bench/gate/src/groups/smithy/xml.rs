//! restXml and awsQuery: bodies of responses. The documents are laid out with
//! line breaks and indents, as they come with the cases.

use std::sync::LazyLock;

use crate::{Case, Group, same, same_bytes};
use polywire_codec::json::{JsonDecoder, JsonProfile};
use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_schema::{Body, Decode, Encode, Limits, Member, SchemaSet, Value};

use super::shapes::{self, CopyObjectResult, GetMetricDataOutput};
use super::{smithy_java, xml_peers as peers};

static SET: LazyLock<SchemaSet<'static>> = LazyLock::new(shapes::schemas);

pub(super) fn root(name: &str) -> Member<'static> {
    match SET.find_shape(&format!("example#{name}")) {
        Some(shape) => shape.root(),
        None => unreachable!("no shape {name}"),
    }
}

const METRICS: &str = "bench/smithy/awsQuery/deserialize/GetMetricDataResponse";
const COPY: &str = "bench/smithy/restXml/deserialize/CopyObjectOutput";

pub(super) fn cases(group: &mut Group) {
    for (size, java) in [
        ("S", 3_276.0),
        ("M", 10_144.0),
        ("L", 105_600.0),
        ("OutOfOrder", 10_992.0),
    ] {
        let files = [
            format!("{METRICS}_{size}.xml"),
            format!("{METRICS}_{size}.params.json"),
        ];
        let files = [files[0].as_str(), files[1].as_str()];
        let name = format!("XML GetMetricDataResponse_{size}");
        group.case_from(format!("{name}, read typed"), files, |case, [xml, json]| {
            read_metrics(case, xml, &expected(size, json));
            case.quote(smithy_java(java));
            // The small response is mostly head, which is not read here.
            case.target_ratio_time("smithy-java", if size == "S" { 3.5 } else { 2.5 });
            if size == "OutOfOrder" {
                case.target_instructions_of_case("XML GetMetricDataResponse, in order", 1.4);
            }
        });
        if size == "OutOfOrder" {
            group.case_from(
                "XML GetMetricDataResponse, in order",
                files,
                |case, [_, json]| {
                    in_order(case, &expected(size, json));
                },
            );
        }
        group.case_from(format!("{name}, read Value"), files, |case, [xml, json]| {
            read_value(case, xml, &expected(size, json));
        });
        group.case_from(format!("{name}, write typed"), files, |case, [_, json]| {
            write_metrics(case, &expected(size, json));
        });
        group.case_from(format!("{name}, write Value"), files, |case, [_, json]| {
            write_value(case, &expected(size, json));
        });
    }
    for (size, java) in [("M", 1_202.0), ("OutOfOrder", 1_732.0)] {
        let file = format!("{COPY}_{size}.xml");
        let name = format!("XML CopyObjectOutput_{size}, read typed");
        group.case_from(name, [file.as_str()], |case, [xml]| {
            read_copied(case, xml);
            case.quote(smithy_java(java));
            case.target_ratio_time("smithy-java", 2.5);
        });
    }
    growth(group);
}

/// The parameters of a case, by the same shapes. Those of the permuted
/// document name the items of two lists in the other order.
fn expected(size: &str, json: &[u8]) -> GetMetricDataOutput {
    let text = std::str::from_utf8(json).unwrap_or_default();
    let at = root("GetMetricDataOutput");
    let mut expected = JsonDecoder::from_str(text, JsonProfile::DEFAULT, &Limits::DEFAULT)
        .and_then(|mut decoder| GetMetricDataOutput::decode(at, &mut decoder))
        .unwrap_or_default();
    for result in expected.metric_data_results.iter_mut().flatten() {
        if size == "OutOfOrder" {
            result.timestamps.iter_mut().for_each(|list| list.reverse());
            result.values.iter_mut().for_each(|list| list.reverse());
        }
    }
    expected
}

/// What a client of awsQuery does with a body.
fn metrics<T: for<'de> Decode<'de>>(xml: &'static [u8], at: Member<'_>) -> Option<T> {
    let body = Body::from(xml);
    let profile = XmlProfile::DEFAULT.for_client();
    let mut decoder = XmlDecoder::from_body(&body, profile, &Limits::DEFAULT).ok()?;
    decoder.enter("GetMetricDataResult").ok()?;
    let output = T::decode(at, &mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(output)
}

fn read_metrics(case: &mut Case, xml: &'static [u8], expected: &GetMetricDataOutput) {
    let at = root("GetMetricDataOutput");
    let (ours, quick, aws) = (expected.clone(), expected.clone(), expected.clone());
    case.bytes(xml.len())
        .polywire(
            move || metrics::<GetMetricDataOutput>(xml, at),
            move |answer| same(answer, &Some(ours.clone())),
        )
        .peer(
            "quick-xml by hand",
            move || peers::quick::metrics(xml),
            move |answer| same(answer, &Some(quick.clone())),
        )
        .peer(
            "aws-smithy-xml",
            move || peers::aws::metrics(xml),
            move |answer| match answer {
                Some(answer) => same(&answer.to_shape(), &aws),
                None => Err("not read".to_owned()),
            },
        )
        .target_ratio_time("quick-xml by hand", 2.5)
        .target_ratio_time("aws-smithy-xml", 2.5);
}

fn read_value(case: &mut Case, xml: &'static [u8], expected: &GetMetricDataOutput) {
    let at = root("GetMetricDataOutput");
    let canonical = written(expected);
    let text = text_of(xml);
    case.bytes(xml.len())
        .polywire(
            move || metrics::<Value>(xml, at),
            move |answer| match answer {
                // Which writes the members in the order of the model.
                Some(value) => same_bytes(&written_value(value), &canonical),
                None => Err("not read".to_owned()),
            },
        )
        .peer(
            "quick-xml tree",
            move || peers::quick::tree(xml),
            move |answer| match answer {
                Some(tree) => same_bytes(tree.text().as_bytes(), &text),
                None => Err("not read".to_owned()),
            },
        )
        .target_ratio_time("quick-xml tree", 1.5);
}

/// All that stands between tags and is not layout.
fn text_of(xml: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(xml).unwrap_or_default();
    let parts = text.split('<').filter_map(|part| part.split_once('>'));
    parts
        .map(|(_, text)| text.trim())
        .collect::<String>()
        .into_bytes()
}

fn encode(value: &impl Encode, at: Member<'_>, out: Vec<u8>) -> Vec<u8> {
    let namespace = Some((None, "https://awsquerydataplane.amazonaws.com"));
    let mut encoder = XmlEncoder::new(XmlProfile::DEFAULT.with_namespace(namespace), out);
    encoder.open("GetMetricDataResponse");
    encoder.open("GetMetricDataResult");
    value.encode(at, &mut encoder);
    encoder.close("GetMetricDataResult");
    encoder.close("GetMetricDataResponse");
    encoder.finish().unwrap_or_default()
}

fn written(output: &GetMetricDataOutput) -> Vec<u8> {
    encode(output, root("GetMetricDataOutput"), Vec::new())
}

fn written_value(value: &Value) -> Vec<u8> {
    encode(value, root("GetMetricDataOutput"), Vec::new())
}

/// The same in the order of the model and without what the shapes do not have,
/// laid out as the other is.
fn in_order(case: &mut Case, expected: &GetMetricDataOutput) {
    let at = root("GetMetricDataOutput");
    let xml: &'static [u8] = Box::leak(indented(&written(expected)).into_boxed_slice());
    let expected = expected.clone();
    case.bytes(xml.len()).polywire(
        move || metrics::<GetMetricDataOutput>(xml, at),
        move |answer| same(answer, &Some(expected.clone())),
    );
}

/// A line for each element that holds elements or text.
fn indented(xml: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(xml).unwrap_or_default();
    let mut out = String::new();
    let mut depth = 0;
    let mut before_was_end = false;
    for tag in text.split('<').skip(1) {
        let end = tag.starts_with('/');
        depth -= usize::from(end);
        if !end || before_was_end {
            out.push('\n');
            out.push_str(&" ".repeat(4 * depth));
        }
        depth += usize::from(!end);
        before_was_end = end;
        out.push('<');
        out.push_str(tag);
    }
    out.into_bytes()
}

fn write_metrics(case: &mut Case, expected: &GetMetricDataOutput) {
    let at = root("GetMetricDataOutput");
    let bytes = written(expected);
    let (ours, quick, aws) = (expected.clone(), expected.clone(), expected.clone());
    let (by_quick, by_aws) = (bytes.clone(), expected.clone());
    case.bytes(bytes.len())
        .polywire_writes(
            move |out| *out = encode(&ours, at, std::mem::take(out)),
            move |written| same_bytes(written, &bytes),
        )
        .peer_writes(
            "quick-xml by hand",
            move |out| peers::quick::write(&quick, out),
            move |written| same_bytes(written, &by_quick),
        )
        .peer(
            "aws-smithy-xml",
            move || peers::aws::write(&aws),
            // It writes whole numbers as `1.0`.
            move |written| {
                let xml: &'static [u8] = Box::leak(written.as_bytes().into());
                let read = metrics::<GetMetricDataOutput>(xml, root("GetMetricDataOutput"));
                same(&read, &Some(by_aws.clone()))
            },
        )
        .target_ratio_time("quick-xml by hand", 1.5)
        .target_ratio_time("aws-smithy-xml", 1.5)
        .target_allocations(0);
}

fn write_value(case: &mut Case, expected: &GetMetricDataOutput) {
    let at = root("GetMetricDataOutput");
    let bytes = written(expected);
    let tree = peers::quick::tree(&bytes).unwrap_or_default();
    let xml: &'static [u8] = Box::leak(bytes.clone().into_boxed_slice());
    let value = metrics::<Value>(xml, at).unwrap_or_default();
    let by_quick = bytes.clone();
    case.bytes(bytes.len())
        .polywire_writes(
            move |out| *out = encode(&value, at, std::mem::take(out)),
            move |written| same_bytes(written, &bytes),
        )
        .peer_writes(
            "quick-xml tree",
            move |out| tree.write(out),
            move |written| same_bytes(written, &by_quick),
        )
        .target_ratio_time("quick-xml tree", 1.5)
        .target_allocations(0);
}

fn read_copied(case: &mut Case, xml: &'static [u8]) {
    let at = root("CopyObjectResult");
    let json = br#"{"ETag": "\"9bb58f26192e4ba00f01e2e7b136bbd8\"", "LastModified": 1609459200,
        "ChecksumType": "SHA256", "ChecksumCRC32": "checksum-crc32",
        "ChecksumCRC32C": "checksum-crc32c", "ChecksumCRC64NVME": "checksum-crc64nvme",
        "ChecksumSHA1": "checksum-sha1", "ChecksumSHA256": "checksum-sha256"}"#;
    let text = std::str::from_utf8(json).unwrap_or_default();
    let expected = JsonDecoder::from_str(text, JsonProfile::DEFAULT, &Limits::DEFAULT)
        .and_then(|mut decoder| CopyObjectResult::decode(at, &mut decoder))
        .unwrap_or_default();
    let (ours, quick, aws) = (expected.clone(), expected.clone(), expected);
    case.bytes(xml.len())
        .polywire(
            move || {
                let body = Body::from(xml);
                let profile = XmlProfile::DEFAULT.for_client();
                let mut decoder = XmlDecoder::from_body(&body, profile, &Limits::DEFAULT).ok()?;
                let result = CopyObjectResult::decode(at, &mut decoder).ok()?;
                decoder.finish().ok()?;
                Some(result)
            },
            move |answer| same(answer, &Some(ours.clone())),
        )
        .peer(
            "quick-xml by hand",
            move || peers::quick::copied(xml),
            move |answer| same(answer, &Some(quick.clone())),
        )
        .peer(
            "aws-smithy-xml",
            move || peers::aws::copied(xml),
            move |answer| match answer {
                Some(answer) => same(&answer.to_shape(), &aws),
                None => Err("not read".to_owned()),
            },
        )
        .target_ratio_time("quick-xml by hand", 2.5)
        .target_ratio_time("aws-smithy-xml", 2.5);
}

/// Twice the document costs twice as much: no step looks at what was before.
fn growth(group: &mut Group) {
    let at = root("GetMetricDataOutput");
    for (name, results) in [
        ("XML growth, 200 results", 200),
        ("XML growth, 400 results", 400),
    ] {
        let result = |index: usize| {
            let (start, open) = (
                "<member><Id>m</Id><Unknown/><!-- x --><Label>a&amp;b</Label>",
                "<Values>",
            );
            format!("{start}{open}<member>{index}</member> <member>0.5</member></Values></member>")
        };
        let results: String = (0..results).map(result).collect();
        let xml = format!(
            "<R><GetMetricDataResult><MetricDataResults>{results}</MetricDataResults>\
             </GetMetricDataResult></R>"
        );
        let xml: &'static [u8] = Box::leak(xml.into_bytes().into_boxed_slice());
        let case = group.case(name);
        case.bytes(xml.len()).polywire(
            move || metrics::<GetMetricDataOutput>(xml, at),
            |answer| same(&answer.is_some(), &true),
        );
        if name.contains("400") {
            case.target_instructions_of_case("XML growth, 200 results", 2.3);
        }
    }
}
