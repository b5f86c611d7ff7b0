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

/// The header that tells the id of a call.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-amzn-requestid");

/// Adds an id to a response: in the header `x-amzn-requestid`, unless an output has set
/// it, and at the end of the root element of the document, in the elements `path`, if there
/// are any. An id that a header or XML cannot contain is left out there. Returns the id as
/// the value of a header.
pub(crate) fn tell(
    path: &[&str],
    response: &mut http::Response<Bytes>,
    id: &str,
) -> Option<HeaderValue> {
    let value = HeaderValue::from_str(id).ok();
    if let Some(value) = value.clone() {
        response.headers_mut().entry(HEADER).or_insert(value);
    }
    if !path.is_empty()
        && let Some(body) = with_element(response.body(), path, id)
    {
        *response.body_mut() = body;
    }
    value
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
