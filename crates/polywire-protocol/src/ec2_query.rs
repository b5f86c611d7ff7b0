//! `aws.protocols#ec2Query`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html>

use http::HeaderValue;
use polywire_codec::form::FormProfile;
use polywire_schema::Service;

use crate::delegate::delegate;
use crate::protocol::{MountError, ProtocolKind};
use crate::query::{Dialect, Query};

static DIALECT: Dialect = Dialect {
    kind: ProtocolKind::Ec2Query,
    form: FormProfile::EC2_QUERY,
    answer: HeaderValue::from_static("text/xml;charset=UTF-8"),
    result: false,
    error: &["Response", "Errors", "Error"],
    codes: false,
};

/// ec2Query: as awsQuery, with flat lists and without maps in forms.
///
/// - Names in forms, by `@ec2QueryName` or with a capital:
///   [requests](https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#request-serialization).
/// - Outputs stand in `NameResponse`, with the request id among them:
///   [responses](https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#response-serialization).
/// - Errors:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#operation-error-serialization).
#[derive(Debug)]
pub struct Ec2Query(Query);

impl Ec2Query {
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

delegate!(Ec2Query, ProtocolKind::Ec2Query, by_body);
