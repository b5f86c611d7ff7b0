//! `aws.protocols#awsQuery`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html>

use http::HeaderValue;
use polywire_codec::form::FormProfile;

use crate::ProtocolKind;
use crate::query::{Dialect, Query, QueryProtocol};

static DIALECT: Dialect = Dialect {
    kind: ProtocolKind::AwsQuery,
    form: FormProfile::AWS_QUERY,
    content_type: HeaderValue::from_static("text/xml"),
    has_result_element: true,
    error_elements: &["ErrorResponse", "Error"],
    has_error_codes: true,
    output_id_elements: &["ResponseMetadata", "RequestId"],
    error_id_elements: &["RequestId"],
};

/// The settings of awsQuery.
#[derive(Debug)]
pub struct Aws;

impl QueryProtocol for Aws {
    fn dialect() -> &'static Dialect {
        &DIALECT
    }
}

/// awsQuery: requests are forms with the field `Action`, responses are XML.
///
/// - Inputs, and the nesting of lists and maps in forms:
///   [requests](https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#request-serialization).
/// - Outputs are in `NameResponse` and `NameResult`, and metadata is next to the latter:
///   [responses](https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#response-serialization).
/// - Codes and statuses of errors, with `@awsQueryError`:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#operation-error-serialization).
pub type AwsQuery = Query<Aws>;
