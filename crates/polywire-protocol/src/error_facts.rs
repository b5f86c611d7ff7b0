//! What an answer says of the error in it, as a client finds out which it is.

use http::{HeaderMap, HeaderName};
use polywire_schema::Value;

use crate::{Fault, FaultKind};

/// The name of an error, where documents have no place for it; and in most
/// protocols of JSON besides.
pub(crate) const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

/// The members in which an error may have its text, the usual one first.
pub(crate) const MESSAGES: [&str; 3] = ["message", "Message", "errorMessage"];

/// What a response says of its error.
#[derive(Debug, Default)]
pub(crate) struct ErrorFacts {
    /// Its name; empty if it has none.
    pub(crate) name: String,
    pub(crate) message: Option<String>,
}

impl ErrorFacts {
    /// What a head and a document of members by name say: the header names the
    /// error, or else the document in one of two members.
    pub(crate) fn of(headers: &HeaderMap, document: &Value) -> Self {
        let header = headers.get(ERROR_TYPE);
        let name = header
            .and_then(|value| value.to_str().ok())
            .or_else(|| document["__type"].as_str())
            .or_else(|| document["code"].as_str())
            .unwrap_or_default();
        let mut messages = MESSAGES.into_iter();
        let message = messages.find_map(|key| document[key].as_str());
        Self {
            name: plain_name(name).to_owned(),
            message: message.map(str::to_owned),
        }
    }

    /// A fault under the name that the peer gave it, or else its status. What
    /// kind it is tells the status: whether to try again, say.
    pub(crate) fn into_fault(self, status: http::StatusCode) -> Fault {
        use http::StatusCode as Status;

        let Self { name, message } = self;
        let reason = || status.canonical_reason().unwrap_or_default().to_owned();
        let kind = FaultKind::from_name(&name).unwrap_or(match status {
            Status::NOT_FOUND => FaultKind::UnknownOperation,
            Status::PAYLOAD_TOO_LARGE => FaultKind::TooLarge,
            Status::SERVICE_UNAVAILABLE | Status::TOO_MANY_REQUESTS => FaultKind::Overloaded,
            Status::GATEWAY_TIMEOUT => FaultKind::DeadlineExceeded,
            status if status.is_client_error() => FaultKind::Malformed,
            _ => FaultKind::Internal,
        });
        let fault = Fault::new(kind, message.unwrap_or_else(reason));
        match name.as_str() {
            "" => fault.with_name(format!("HTTP {}", status.as_u16())),
            _ => fault.with_name(name),
        }
    }
}

/// The name of an error without namespace and URI:
/// `aws.example#Name:http://...` is `Name`.
fn plain_name(text: &str) -> &str {
    let text = text.split(':').next().unwrap_or_default();
    text.rsplit('#').next().unwrap_or_default()
}
