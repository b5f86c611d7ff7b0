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
    answer: HeaderValue::from_static("text/xml"),
    result: true,
    error: &["ErrorResponse", "Error"],
    codes: true,
    output_id: &["ResponseMetadata", "RequestId"],
    error_id: &["RequestId"],
};

/// The settings of awsQuery.
#[derive(Debug)]
pub struct Aws;

impl QueryProtocol for Aws {
    fn dialect() -> &'static Dialect {
        &DIALECT
    }
}

/// awsQuery: a form with the `Action` in it, XML that answers.
///
/// - Inputs, and how lists and maps nest in a form:
///   [requests](https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#request-serialization).
/// - Outputs stand in `NameResponse` and `NameResult`, with metadata beside them:
///   [responses](https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#response-serialization).
/// - Codes and statuses of errors, by `@awsQueryError` where it is:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#operation-error-serialization).
pub type AwsQuery = Query<Aws>;
