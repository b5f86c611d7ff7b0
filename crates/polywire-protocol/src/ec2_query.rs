//! `aws.protocols#ec2Query`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html>

use http::HeaderValue;
use polywire_codec::form::FormProfile;

use crate::ProtocolKind;
use crate::query::{Dialect, Query, QueryProtocol};

static DIALECT: Dialect = Dialect {
    kind: ProtocolKind::Ec2Query,
    form: FormProfile::EC2_QUERY,
    content_type: HeaderValue::from_static("text/xml;charset=UTF-8"),
    has_result_element: false,
    error_elements: &["Response", "Errors", "Error"],
    has_error_codes: false,
    output_id_elements: &["requestId"],
    error_id_elements: &["RequestID"],
};

/// The settings of ec2Query.
#[derive(Debug)]
pub struct Ec2;

impl QueryProtocol for Ec2 {
    fn dialect() -> &'static Dialect {
        &DIALECT
    }
}

/// ec2Query: like awsQuery, but lists in forms are flat and maps are not supported.
///
/// - Names in forms, with `@ec2QueryName` or capitalized:
///   [requests](https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#request-serialization).
/// - Outputs are in `NameResponse`, together with the request id:
///   [responses](https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#response-serialization).
/// - Errors:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#operation-error-serialization).
pub type Ec2Query = Query<Ec2>;
