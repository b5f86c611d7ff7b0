//! The list of the cases, and what is measured of each.

use crate::{Case, DataFolder, Group, Quote, same};

use super::message::{Shape, Wire, read_typed, read_value, write_typed, write_value};
use super::types::{
    aws_json_rpc10_data_plane as json, aws_query_data_plane as query,
    aws_rest_json_data_plane as rest_json, aws_rest_xml_data_plane as rest_xml,
    smithy_rpc_v2_cbor_data_plane as cbor,
};
use super::{body, smithy_java};

/// A case as its line and its files have it.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) protocol: String,
    pub(super) name: String,
    pub(super) writes: bool,
    pub(super) operation: String,
    pub(super) body: &'static [u8],
    /// Of a request: its first line and its headers.
    pub(super) head: String,
    /// Of a response: its status and its headers, as JSON.
    pub(super) case: String,
    data: DataFolder,
}

impl Row {
    fn new(line: &str, data: &DataFolder) -> Result<Self, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [protocol, name, direction, operation, file, _, _, head, case] = fields[..] else {
            return Err(format!("not a line of the manifest: {line}"));
        };
        let read = |file: &str| data.read(&format!("{FOLDER}/{file}"));
        let text = |file: &str| match file {
            "" => Ok(String::new()),
            file => Ok::<_, String>(String::from_utf8_lossy(read(file)?).into_owned()),
        };
        Ok(Self {
            protocol: protocol.to_owned(),
            name: name.to_owned(),
            writes: direction == "serialize",
            operation: operation.to_owned(),
            body: read(file)?,
            head: text(head)?,
            case: text(case.split(' ').next().unwrap_or_default())?,
            data: data.clone(),
        })
    }

    pub(super) fn params(&self) -> Option<&'static [u8]> {
        let direction = if self.writes {
            "serialize"
        } else {
            "deserialize"
        };
        let path = format!(
            "{FOLDER}/{}/{direction}/{}.params.json",
            self.protocol, self.name
        );
        let params = self.data.read(&path).ok()?;
        if self.operation != "PutObject" {
            return Some(params);
        }
        // They say how long the body would be without the base64 that it is in,
        // and a length that is not true is not written.
        let text = std::str::from_utf8(params).ok()?;
        let lines = text
            .lines()
            .filter(|line| !line.contains("\"ContentLength\""));
        Some(lines.collect::<String>().into_bytes().leak())
    }

    /// The response of another case.
    pub(super) fn sibling(&self, protocol: &str, name: &str, kind: &str) -> Option<&'static [u8]> {
        let path = format!("{FOLDER}/{protocol}/deserialize/{name}.{kind}");
        self.data.read(&path).ok()
    }
}

const FOLDER: &str = "bench/smithy";

pub(super) fn cases(group: &mut Group) {
    let manifest = match group.data(&format!("{FOLDER}/manifest.tsv")) {
        Ok(manifest) => String::from_utf8_lossy(manifest),
        Err(reason) => return group.skip("the manifest", reason),
    };
    let before = group.case_names().len();
    for line in manifest.lines().skip(1) {
        match Row::new(line, &group.data_folder().clone()) {
            Ok(row) => add(group, &row),
            Err(reason) => group.skip(line, reason),
        }
    }
    let names = group.case_names();
    let messages = names[before..]
        .iter()
        .filter(|name| !name.contains(", body "));
    // Each of them through types and through `Value`.
    let (made, lines) = (messages.count(), manifest.lines().count() - 1);
    group
        .case(format!("{} of {lines} cases of the manifest", made / 2))
        .polywire(move || made, move |made| same(made, &(2 * lines)));
}

fn add(group: &mut Group, row: &Row) {
    match (row.protocol.as_str(), row.operation.as_str()) {
        ("awsJson1_0", "GetItem") => {
            both::<json::GetItemInput, json::GetItemOutput>(group, row, json::schemas());
        }
        ("awsJson1_0", "Healthcheck") => {
            both::<json::HealthcheckInput, json::HealthcheckOutput>(group, row, json::schemas());
        }
        ("awsJson1_0", "PutItem") => {
            both::<json::PutItemInput, json::PutItemOutput>(group, row, json::schemas());
        }
        ("awsQuery", "GetMetricData") => {
            both::<query::GetMetricDataInput, query::GetMetricDataOutput>(
                group,
                row,
                query::schemas(),
            );
        }
        ("awsQuery", "PutMetricData") => {
            both::<query::PutMetricDataInput, query::PutMetricDataOutput>(
                group,
                row,
                query::schemas(),
            );
        }
        ("restJson1", "CopyObject") => {
            both::<rest_json::CopyObjectRequest, rest_json::CopyObjectOutput>(
                group,
                row,
                rest_json::schemas(),
            );
        }
        ("restJson1", "GetObject") => {
            both::<rest_json::GetObjectRequest, rest_json::GetObjectOutput>(
                group,
                row,
                rest_json::schemas(),
            );
        }
        ("restJson1", "PutObject") => {
            both::<rest_json::PutObjectRequest, rest_json::PutObjectOutput>(
                group,
                row,
                rest_json::schemas(),
            );
        }
        ("restXml", "CopyObject") => {
            both::<rest_xml::CopyObjectRequest, rest_xml::CopyObjectOutput>(
                group,
                row,
                rest_xml::schemas(),
            );
        }
        ("restXml", "GetObject") => {
            both::<rest_xml::GetObjectRequest, rest_xml::GetObjectOutput>(
                group,
                row,
                rest_xml::schemas(),
            );
        }
        ("restXml", "PutObject") => {
            both::<rest_xml::PutObjectRequest, rest_xml::PutObjectOutput>(
                group,
                row,
                rest_xml::schemas(),
            );
        }
        ("rpcv2Cbor", "GetItem") => {
            both::<cbor::GetItemInput, cbor::GetItemOutput>(group, row, cbor::schemas());
        }
        ("rpcv2Cbor", "PutItem") => {
            both::<cbor::PutItemInput, cbor::PutItemOutput>(group, row, cbor::schemas());
        }
        _ => {
            let name = format!("{} {}", row.protocol, row.name);
            group.skip(name, "no types of this operation");
        }
    }
}

fn both<I: Shape, O: Shape>(
    group: &mut Group,
    row: &Row,
    set: &'static polywire_schema::SchemaSet<'static>,
) {
    let name = format!("{} {}", row.protocol, row.name);
    let Some(wire) = Wire::new(set, &row.protocol, &row.operation) else {
        return group.skip(name, "no such operation in the model");
    };
    let [typed, value] = match row.writes {
        true => [write_typed::<I>, write_value],
        false => [read_typed::<O>, read_value],
    };
    let case = group.case(format!("{name}, typed"));
    let made = typed(case, row, wire);
    quote(case, row);
    unmade(case, made);
    let case = group.case(format!("{name}, Value"));
    let made = value(case, row, wire);
    unmade(case, made);
    body::cases(group, row, wire, &name);
}

/// A case whose data does not fit the types is an answer that is wrong.
fn unmade(case: &mut Case, made: Option<()>) {
    if made.is_none() {
        case.polywire(
            || (),
            |()| Err::<(), _>("the data of the case cannot be read"),
        );
    }
}

/// smithy-java's figures, the best that its codecs took on the machines of our
/// other figures, and what they have to be beaten by.
fn quote(case: &mut Case, row: &Row) {
    let found = JAVA
        .iter()
        .find(|(protocol, name, ..)| *protocol == row.protocol && *name == row.name);
    let Some((_, _, nanoseconds, published, times)) = found else {
        return;
    };
    if let Some(published) = published {
        let source = "what its authors published, on another machine";
        case.quote(Quote::new("smithy-java published", source).nanoseconds(*published));
    }
    match nanoseconds {
        Some(nanoseconds) => case
            .quote(smithy_java(*nanoseconds))
            .target_ratio_time("smithy-java", *times),
        None => case.target_ratio_time("smithy-java published", *times),
    };
}

type Figures = (&'static str, &'static str, Option<f64>, Option<f64>, f64);

const JAVA: &[Figures] = &[
    (
        "awsJson1_0",
        "GetItemOutput_L",
        Some(22_816.0),
        Some(19_877.0),
        1.7,
    ),
    (
        "awsJson1_0",
        "GetItemOutput_M",
        Some(3_156.0),
        Some(2_887.0),
        1.7,
    ),
    (
        "awsJson1_0",
        "GetItemOutput_S",
        Some(781.0),
        Some(736.0),
        1.7,
    ),
    (
        "awsJson1_0",
        "PutItemRequest_MixedItem_L",
        Some(8_672.0),
        Some(8_810.0),
        2.0,
    ),
    (
        "awsJson1_0",
        "PutItemRequest_MixedItem_M",
        Some(2_984.0),
        Some(2_645.0),
        2.0,
    ),
    (
        "awsJson1_0",
        "PutItemRequest_ShallowMap_L",
        Some(8_067.0),
        None,
        2.0,
    ),
    (
        "awsJson1_0",
        "PutItemRequest_ShallowMap_M",
        Some(3_012.0),
        None,
        2.0,
    ),
    (
        "awsQuery",
        "GetMetricDataRequest_L",
        Some(9_072.0),
        Some(7_506.0),
        2.0,
    ),
    (
        "awsQuery",
        "GetMetricDataRequest_M",
        Some(4_056.0),
        Some(3_430.0),
        2.0,
    ),
    (
        "awsQuery",
        "GetMetricDataRequest_S",
        Some(721.0),
        Some(468.0),
        2.0,
    ),
    (
        "awsQuery",
        "GetMetricDataResponse_L",
        Some(105_216.0),
        Some(78_873.0),
        2.5,
    ),
    (
        "awsQuery",
        "GetMetricDataResponse_M",
        Some(10_144.0),
        Some(7_295.0),
        2.5,
    ),
    (
        "awsQuery",
        "GetMetricDataResponse_OutOfOrder",
        Some(10_992.0),
        Some(7_921.0),
        2.5,
    ),
    (
        "awsQuery",
        "GetMetricDataResponse_S",
        Some(3_276.0),
        Some(2_596.0),
        3.5,
    ),
    (
        "awsQuery",
        "PutMetricDataRequest_L",
        Some(36_032.0),
        Some(26_308.0),
        2.0,
    ),
    (
        "awsQuery",
        "PutMetricDataRequest_M",
        Some(3_052.0),
        Some(1_911.0),
        2.0,
    ),
    (
        "awsQuery",
        "PutMetricDataRequest_S",
        Some(440.0),
        Some(287.0),
        2.0,
    ),
    (
        "restJson1",
        "CopyObjectOutput_M",
        Some(972.0),
        Some(1_145.0),
        1.7,
    ),
    (
        "restJson1",
        "CopyObjectOutput_OutOfOrder",
        Some(1_562.0),
        Some(1_690.0),
        1.7,
    ),
    (
        "restXml",
        "CopyObjectOutput_M",
        Some(1_202.0),
        Some(1_258.0),
        2.5,
    ),
    (
        "restXml",
        "CopyObjectOutput_OutOfOrder",
        Some(1_732.0),
        Some(1_726.0),
        2.5,
    ),
    (
        "restXml",
        "CopyObjectRequest_M",
        Some(1_162.0),
        Some(1_187.0),
        2.0,
    ),
    ("restXml", "PutObject_L", Some(220.0), Some(225.0), 2.0),
    ("restXml", "PutObject_S", Some(220.0), Some(207.0), 2.0),
    (
        "rpcv2Cbor",
        "GetItemOutput_L",
        Some(15_776.0),
        Some(11_832.0),
        1.7,
    ),
    (
        "rpcv2Cbor",
        "GetItemOutput_M",
        Some(2_452.0),
        Some(1_843.0),
        1.7,
    ),
    (
        "rpcv2Cbor",
        "PutItemRequest_MixedItem_M",
        Some(2_884.0),
        Some(2_619.0),
        1.7,
    ),
    (
        "rpcv2Cbor",
        "PutItemRequest_ShallowMap_L",
        Some(9_904.0),
        Some(7_195.0),
        1.7,
    ),
];
