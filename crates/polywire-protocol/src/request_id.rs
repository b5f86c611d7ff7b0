//! The id of a call, as its caller is told it.
//!
//! ```text
//! awsQuery  <NameResponse>...<ResponseMetadata><RequestId/></ResponseMetadata></NameResponse>
//!           <ErrorResponse>...<RequestId/></ErrorResponse>
//! ec2Query  <NameResponse>...<requestId/></NameResponse>
//!           <Response>...<RequestID/></Response>
//! restXml   <ErrorResponse>...<RequestId/></ErrorResponse>, or <Error>...<RequestId/></Error>
//! ```
//!
//! <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#response-serialization>,
//! <https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#response-serialization>,
//! <https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#error-response-serialization>

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use polywire_text::escape;

use crate::ProtocolKind;

/// The header that tells the id of a call.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-amzn-requestid");

/// Puts an id into the header `x-amzn-requestid`, and at the end of the outermost
/// element where the protocol has a place for it. What a header or XML cannot hold
/// is left out there, and a member of the output that is bound to the header stays.
/// The id as a header has it, if one can.
pub(crate) fn tell(
    kind: ProtocolKind,
    response: &mut http::Response<Bytes>,
    id: &str,
) -> Option<HeaderValue> {
    let value = HeaderValue::from_str(id).ok();
    if let Some(value) = value.clone() {
        response.headers_mut().entry(HEADER).or_insert(value);
    }
    let failed = !response.status().is_success();
    let place: &[&str] = match (kind, failed) {
        (ProtocolKind::AwsQuery, false) => &["ResponseMetadata", "RequestId"],
        (ProtocolKind::AwsQuery, true) => &["RequestId"],
        (ProtocolKind::Ec2Query, false) => &["requestId"],
        (ProtocolKind::Ec2Query, true) => &["RequestID"],
        (ProtocolKind::RestXml, true) if is_error(response.body()) => &["RequestId"],
        _ => return value,
    };
    if let Some(body) = with_element(response.body(), place, id) {
        *response.body_mut() = body;
    }
    value
}

/// Whether a body is what restXml says of an error.
fn is_error(body: &Bytes) -> bool {
    body.starts_with(b"<ErrorResponse>") || body.starts_with(b"<Error>")
}

/// A document with a text in these elements at the end of its root.
fn with_element(body: &Bytes, path: &[&str], text: &str) -> Option<Bytes> {
    // We have written it, so the last tag is that of the root.
    let end = body.windows(2).rposition(|bytes| bytes == b"</")?;
    let mut out = Vec::with_capacity(body.len() + text.len() + 96);
    out.extend_from_slice(&body[..end]);
    for name in path {
        out.extend_from_slice(format!("<{name}>").as_bytes());
    }
    escape::push_xml(&mut out, text).ok()?;
    for name in path.iter().rev() {
        out.extend_from_slice(format!("</{name}>").as_bytes());
    }
    out.extend_from_slice(&body[end..]);
    Some(Bytes::from(out))
}
