//! The serialization benchmarks that Smithy publishes: 76 requests and responses of five protocols.
//!
//! Each one is measured as a whole message, head and body, through generated types and through
//! `Value`. Bodies are measured alone as well, because codec crates read and write no heads.
//! Answers are checked against the parameters that come with the cases.

#[cfg(smithy_model)]
mod body;
#[cfg(smithy_model)]
mod growth;
mod manifest;
#[cfg(smithy_model)]
mod message;
#[cfg(smithy_model)]
mod oracle;

pub use manifest::{Row, rows};

use crate::Group;

/// What the build script generates from the model.
#[cfg(smithy_model)]
mod types {
    include!(concat!(env!("OUT_DIR"), "/smithy_types.rs"));
}

/// Where the generated code finds the crates of Polywire.
#[cfg(smithy_model)]
mod polywire {
    pub(crate) use polywire_schema as schema;
}

/// The formats of each protocol, for which types get code of their own.
#[cfg(smithy_model)]
mod formats {
    use polywire_codec::{Format, Formats};

    pub(super) struct Cbor;
    pub(super) struct Json;
    pub(super) struct Query;
    pub(super) struct Xml;

    impl Formats for Cbor {
        const FORMATS: &'static [Format] = &[Format::Cbor];
    }

    impl Formats for Json {
        const FORMATS: &'static [Format] = &[Format::Json];
    }

    impl Formats for Query {
        const FORMATS: &'static [Format] = &[Format::Form, Format::Xml];
    }

    impl Formats for Xml {
        const FORMATS: &'static [Format] = &[Format::Xml];
    }
}

/// Adds the cases, or counts them as skipped if there is no model or no manifest.
pub fn cases(group: &mut Group) {
    let rows = match rows(group) {
        Ok(rows) => rows,
        Err(reason) => return group.skip("the cases of the manifest", reason),
    };
    #[cfg(smithy_model)]
    {
        for row in &rows {
            operations::add(group, row);
        }
        growth::cases(group);
    }
    #[cfg(not(smithy_model))]
    for row in rows {
        group.skip(
            row.full_name(),
            "the model was missing when the gate was built",
        );
    }
}

#[cfg(smithy_model)]
mod operations {
    use super::formats::{Cbor, Json, Query, Xml};
    use super::types::{
        aws_json_rpc10_data_plane as json, aws_query_data_plane as query,
        aws_rest_json_data_plane as rest_json, aws_rest_xml_data_plane as rest_xml,
        smithy_rpc_v2_cbor_data_plane as cbor,
    };
    use super::{Row, body, message};
    use crate::Group;

    /// Calls `add_row` with the input and output type of the row's operation.
    macro_rules! add_row {
        ($group:ident, $row:ident, $($protocol:literal $module:ident $formats:ident {
            $($operation:literal $input:ident $output:ident,)+
        })+) => {
            match ($row.protocol.as_str(), $row.operation.as_str()) {
                $($(($protocol, $operation) => {
                    message::cases::<$module::$input, $module::$output, $formats>(
                        $group,
                        $row,
                        $module::schemas(),
                    );
                })+)+
                _ => $group.skip($row.full_name(), "no types of this operation"),
            }
        };
    }

    pub(super) fn add(group: &mut Group, row: &Row) {
        add_row!(group, row,
            "awsJson1_0" json Json {
                "GetItem" GetItemInput GetItemOutput,
                "Healthcheck" HealthcheckInput HealthcheckOutput,
                "PutItem" PutItemInput PutItemOutput,
            }
            "awsQuery" query Query {
                "GetMetricData" GetMetricDataInput GetMetricDataOutput,
                "PutMetricData" PutMetricDataInput PutMetricDataOutput,
            }
            "restJson1" rest_json Json {
                "CopyObject" CopyObjectRequest CopyObjectOutput,
                "GetObject" GetObjectRequest GetObjectOutput,
                "PutObject" PutObjectRequest PutObjectOutput,
            }
            "restXml" rest_xml Xml {
                "CopyObject" CopyObjectRequest CopyObjectOutput,
                "GetObject" GetObjectRequest GetObjectOutput,
                "PutObject" PutObjectRequest PutObjectOutput,
            }
            "rpcv2Cbor" cbor Cbor {
                "GetItem" GetItemInput GetItemOutput,
                "PutItem" PutItemInput PutItemOutput,
            }
        );
        body::cases(group, row);
    }
}
