//! `aws.protocols#awsQuery`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html>

use http::HeaderValue;
use polywire_codec::form::FormProfile;
use polywire_schema::Service;

use crate::protocol::{MountError, ProtocolKind};
use crate::query::{Dialect, Query, RequestIds, delegate};

static DIALECT: Dialect = Dialect {
    kind: ProtocolKind::AwsQuery,
    form: FormProfile::AWS_QUERY,
    answer: HeaderValue::from_static("text/xml"),
    result: true,
    request_id: &["ResponseMetadata", "RequestId"],
    error: &["ErrorResponse", "Error"],
    error_request_id: "RequestId",
    codes: true,
};

/// awsQuery: a form with the `Action` in it, XML that answers.
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

    /// Puts request ids into answers, as the metadata of outputs and beside
    /// errors. Without them there are none, and clients do without.
    #[must_use]
    pub fn with_request_ids(mut self, ids: RequestIds) -> Self {
        self.0.request_ids = Some(ids);
        self
    }
}

delegate!(AwsQuery);
