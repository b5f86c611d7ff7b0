//! Smithy RPC v2, whatever the format of its documents.
//!
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html>,
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html>

use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue, Method, request, response};

use super::{Document, Style};
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::{Fault, FaultKind};

const MARK: HeaderName = HeaderName::from_static("smithy-protocol");

/// Headers that name an operation in other protocols. A request that has one is
/// malformed: what checks requests by them would see another call than we do.
///
/// "Server-side implementations MUST reject such requests for security reasons."
const FOREIGN: [HeaderName; 2] = [
    HeaderName::from_static("x-amz-target"),
    HeaderName::from_static("x-amzn-target"),
];

/// What a protocol of the family adds to it.
pub trait RpcV2: std::fmt::Debug + Send + Sync + Sized {
    const NEW: Self;
    const KIND: ProtocolKind;
    type Document: Document;
    const MEDIA_TYPE: &'static str;
    /// The value of the header `smithy-protocol`.
    const MARK: HeaderValue;
    /// Whether the media type alone tells it from everything that is no RPC.
    const CLAIMS_MEDIA_TYPE: bool;
    /// Whether a request may name the service with its namespace.
    const TAKES_NAMESPACES: bool;

    fn document(&self) -> &Self::Document;
}

impl<P: RpcV2> Style for P {
    const NEW: Self = P::NEW;
    const KIND: ProtocolKind = P::KIND;
    type Document = P::Document;
    const MEDIA_TYPE: &'static str = P::MEDIA_TYPE;
    const ALWAYS_A_DOCUMENT: bool = false;
    const ALWAYS_A_TYPE: bool = false;
    const ABSOLUTE_ERRORS: bool = true;

    fn document(&self) -> &P::Document {
        RpcV2::document(self)
    }

    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        if let Some(mark) = summary.smithy_protocol {
            return match *mark == P::MARK {
                true => Claim::Strong,
                false => Claim::No,
            };
        }
        let call = P::CLAIMS_MEDIA_TYPE
            && summary.head.method == Method::POST
            && summary.is_of(P::MEDIA_TYPE);
        if call { Claim::Weak } else { Claim::No }
    }

    fn operation<'h>(
        &self,
        head: &'h request::Parts,
        own: &str,
        absolute: &str,
    ) -> Result<&'h str, Fault> {
        let mut foreign = FOREIGN.into_iter();
        if let Some(name) = foreign.find(|name| head.headers.contains_key(name)) {
            let message = format!("a request of {} must not have the header {name}", P::KIND);
            return Err(Fault::new(FaultKind::Malformed, message));
        }
        let path = head.uri.path();
        // A prefix before these four segments is allowed.
        let mut segments = path.rsplit('/');
        let (name, operation, service, marker) = (
            segments.next(),
            segments.next(),
            segments.next(),
            segments.next(),
        );
        let is_own = |service: &str| service == own || P::TAKES_NAMESPACES && service == absolute;
        match (marker, service, operation, name) {
            (Some("service"), Some(service), Some("operation"), Some(name)) if is_own(service) => {
                Ok(name)
            }
            (Some("service"), Some(service), Some("operation"), Some(name)) => {
                let message = format!("no operation {name} in service {service}");
                Err(Fault::new(FaultKind::UnknownOperation, message))
            }
            _ => {
                let message =
                    format!("no operation at {path}: expected /service/{own}/operation/NAME");
                Err(Fault::new(FaultKind::UnknownOperation, message))
            }
        }
    }

    fn target(&self, service: &str, operation: &str) -> String {
        format!("/service/{service}/operation/{operation}")
    }

    fn mark_request(&self, headers: &mut HeaderMap, _: &str, _: &str) {
        headers.insert(MARK, P::MARK);
        headers.insert(ACCEPT, HeaderValue::from_static(P::MEDIA_TYPE));
    }

    fn mark_response(&self, headers: &mut HeaderMap) {
        headers.insert(MARK, P::MARK);
    }

    fn check_accept(&self, head: &HeadSummary<'_>) -> Result<(), Fault> {
        head.check_accept(P::MEDIA_TYPE, |_| false)
    }

    fn check_answer(&self, head: &response::Parts) -> Result<(), String> {
        if head.headers.get(MARK) == Some(&P::MARK) {
            return Ok(());
        }
        let mark = P::MARK;
        Err(format!(
            "status {} and no header {MARK}: {}, so the response is not one of {}",
            head.status,
            mark.to_str().unwrap_or_default(),
            P::KIND
        ))
    }
}
