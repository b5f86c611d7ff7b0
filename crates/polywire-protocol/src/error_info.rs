//! What an answer says of the error in it, as a client finds out which it is.

use http::{HeaderMap, HeaderName, StatusCode};
use polywire_schema::Value;

use crate::{Fault, FaultKind};

/// The name of an error, where documents have no place for it; and in most
/// protocols of JSON besides.
pub(crate) const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

/// The members in which an error may have its text, the usual one first.
pub(crate) const MESSAGES: [&str; 3] = ["message", "Message", "errorMessage"];

/// What a response says of its error.
#[derive(Debug, Default)]
pub struct ErrorInfo {
    /// Its name; empty if it has none.
    pub(crate) name: String,
    pub(crate) message: Option<String>,
}

impl ErrorInfo {
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

    /// A fault under the name that the peer gave it, or else its status.
    pub(crate) fn into_fault(self, status: StatusCode) -> Fault {
        let Self { name, message } = self;
        let reason = || status.canonical_reason().unwrap_or_default().to_owned();
        let kind = FaultKind::from_name(&name).unwrap_or_else(|| kind_of_status(status, &name));
        let fault = Fault::new(kind, message.unwrap_or_else(reason)).with_status(status);
        match name.as_str() {
            "" => fault.with_name(format!("HTTP {}", status.as_u16())),
            _ => fault.with_name(name),
        }
    }
}

/// What kind a fault is of whose name nobody here knows: the status tells whether
/// to try again, say. One that has a name of its own is no missing operation.
pub(crate) fn kind_of_status(status: StatusCode, name: &str) -> FaultKind {
    match status {
        StatusCode::NOT_FOUND if name.is_empty() => FaultKind::UnknownOperation,
        StatusCode::FORBIDDEN => FaultKind::Forbidden,
        StatusCode::PAYLOAD_TOO_LARGE => FaultKind::TooLarge,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => FaultKind::Overloaded,
        StatusCode::GATEWAY_TIMEOUT => FaultKind::DeadlineExceeded,
        StatusCode::UNAUTHORIZED => FaultKind::Unauthenticated,
        status if status.is_client_error() => FaultKind::Malformed,
        _ => FaultKind::Internal,
    }
}

/// The name of an error without namespace and URI:
/// `aws.example#Name:http://...` is `Name`.
fn plain_name(text: &str) -> &str {
    let text = text.split(':').next().unwrap_or_default();
    text.rsplit('#').next().unwrap_or_default()
}
