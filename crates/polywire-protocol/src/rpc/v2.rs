//! The common part of the Smithy RPC v2 protocols.
//!
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html>,
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html>

use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue, Method, request, response};

use super::{Document, Style};
use crate::event_stream::EventFormat;
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::{Fault, FaultKind};

const MARK: HeaderName = HeaderName::from_static("smithy-protocol");

/// Headers that name an operation in other protocols. A request with such a header is malformed,
/// because a proxy that filters by it would see a different operation.
///
/// "Server-side implementations MUST reject such requests for security reasons."
const FOREIGN: [HeaderName; 2] = [
    HeaderName::from_static("x-amz-target"),
    HeaderName::from_static("x-amzn-target"),
];

/// The differences between the Smithy RPC v2 protocols.
pub trait RpcV2: EventFormat + Sized {
    const NEW: Self;
    const KIND: ProtocolKind;
    type Document: Document;
    const MEDIA_TYPE: &'static str;
    /// The value of the header `smithy-protocol`.
    const MARK: HeaderValue;
    /// Whether the media type is sufficient to claim a request.
    const CLAIMS_MEDIA_TYPE: bool;
    /// Whether a request can name the service with its namespace.
    const ACCEPTS_NAMESPACES: bool;

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
        let is_call = P::CLAIMS_MEDIA_TYPE
            && summary.head.method == Method::POST
            && summary.has_media_type(P::MEDIA_TYPE);
        if is_call { Claim::Weak } else { Claim::No }
    }

    fn operation<'h>(
        &self,
        head: &'h request::Parts,
        own_service: &str,
        qualified_service: &str,
    ) -> Result<&'h str, Fault> {
        let mut foreign = FOREIGN.into_iter();
        if let Some(name) = foreign.find(|name| head.headers.contains_key(name)) {
            let message = format!("a request of {} must not have the header {name}", P::KIND);
            return Err(Fault::new(FaultKind::Malformed, message));
        }
        let path = head.uri.path();
        // The path can have a prefix before these four segments.
        let mut segments = path.rsplit('/');
        let (name, operation, service, marker) = (
            segments.next(),
            segments.next(),
            segments.next(),
            segments.next(),
        );
        let is_own = |service: &str| {
            service == own_service || P::ACCEPTS_NAMESPACES && service == qualified_service
        };
        match (marker, service, operation, name) {
            (Some("service"), Some(service), Some("operation"), Some(name)) if is_own(service) => {
                Ok(name)
            }
            (Some("service"), Some(service), Some("operation"), Some(name)) => {
                let message = format!("no operation {name} in service {service}");
                Err(Fault::new(FaultKind::UnknownOperation, message))
            }
            _ => {
                let message = format!(
                    "no operation at {path}: expected /service/{own_service}/operation/NAME"
                );
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

    fn check_response(&self, head: &response::Parts) -> Result<(), String> {
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
