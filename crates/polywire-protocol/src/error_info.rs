//! The name and the message of the error in a response, as a client reads them.

use http::{HeaderMap, HeaderName, StatusCode};
use polywire_schema::{Operation, Value};

use crate::protocol::{Outcome, ProtocolKind};
use crate::{Fault, FaultKind};

/// The header for the name of an error. Most JSON protocols use it, and restJson1 has no other
/// place for the name.
pub(crate) const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

/// The members that can contain the message of an error, the most common one first.
pub(crate) const MESSAGES: [&str; 3] = ["message", "Message", "errorMessage"];

/// The name and the message of an error in a response.
#[derive(Debug, Default)]
pub struct ErrorInfo {
    /// The name without namespace and URI. Empty if the response does not contain one.
    pub(crate) name: String,
    pub(crate) message: Option<String>,
}

impl ErrorInfo {
    /// Reads the name from the header, or from `__type` or `code` of the document, and the message
    /// from the document.
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

    /// Returns the error of the operation with this name, or else a fault.
    pub(crate) fn into_outcome(self, operation: Operation<'_>, status: StatusCode) -> Outcome<'_> {
        match operation.find_error(&self.name) {
            Some(error) => Outcome::Error(error),
            None => Outcome::Fault(self.into_fault(status)),
        }
    }

    /// Creates a fault with this name. Without a name, the fault is named after the status.
    fn into_fault(self, status: StatusCode) -> Fault {
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

/// Describes a response that is neither an output nor an error of the protocol.
#[cold]
pub(crate) fn not_an_error(status: StatusCode, kind: ProtocolKind) -> String {
    format!("status {status}, and the response is not an error of {kind}")
}

/// Returns the kind of a fault with an unknown name from its status, so that callers can decide
/// whether to retry. A 404 with a name is an error of the service, not an unknown operation.
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

/// Returns the name of an error without namespace and URI: `Name` for
/// `aws.example#Name:http://...`.
fn plain_name(text: &str) -> &str {
    let text = text.split(':').next().unwrap_or_default();
    text.rsplit('#').next().unwrap_or_default()
}
