//! `aws.protocols#awsQuery`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html>

use http::HeaderValue;
use polywire_codec::form::FormProfile;
use polywire_schema::Service;

use crate::delegate::delegate;
use crate::protocol::{MountError, ProtocolKind};
use crate::query::{Dialect, Query};

static DIALECT: Dialect = Dialect {
    kind: ProtocolKind::AwsQuery,
    form: FormProfile::AWS_QUERY,
    answer: HeaderValue::from_static("text/xml"),
    result: true,
    error: &["ErrorResponse", "Error"],
    codes: true,
};

/// awsQuery: a form with the `Action` in it, XML that answers.
///
/// - Inputs, and how lists and maps nest in a form:
///   [requests](https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#request-serialization).
/// - Outputs stand in `NameResponse` and `NameResult`, with metadata beside them:
///   [responses](https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#response-serialization).
/// - Codes and statuses of errors, by `@awsQueryError` where it is:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#operation-error-serialization).
#[derive(Debug)]
pub struct AwsQuery(Query);

impl AwsQuery {
    /// The protocol for a service.
    ///
    /// # Errors
    ///
    /// A member of an input is called `Action` or `Version` in forms, which are
    /// fields of the protocol.
    pub fn new(service: Service<'_>) -> Result<Self, MountError> {
        Query::new(service, &DIALECT).map(Self)
    }
}

delegate!(AwsQuery, ProtocolKind::AwsQuery, by_body);
