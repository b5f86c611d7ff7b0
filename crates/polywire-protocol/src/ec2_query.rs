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
    answer: HeaderValue::from_static("text/xml;charset=UTF-8"),
    result: false,
    error: &["Response", "Errors", "Error"],
    codes: false,
    output_id: &["requestId"],
    error_id: &["RequestID"],
};

/// The settings of ec2Query.
#[derive(Debug)]
pub struct Ec2;

impl QueryProtocol for Ec2 {
    fn dialect() -> &'static Dialect {
        &DIALECT
    }
}

/// ec2Query: as awsQuery, with flat lists and without maps in forms.
///
/// - Names in forms, by `@ec2QueryName` or with a capital:
///   [requests](https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#request-serialization).
/// - Outputs stand in `NameResponse`, with the request id among them:
///   [responses](https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#response-serialization).
/// - Errors:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#operation-error-serialization).
pub type Ec2Query = Query<Ec2>;
