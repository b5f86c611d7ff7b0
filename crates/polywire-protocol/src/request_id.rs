//! Request ids in responses.
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

/// The header for the request id.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-amzn-requestid");

/// Adds a request id to a response: to the header `x-amzn-requestid`, if the output has not set it,
/// and as the text of the elements `path` at the end of the root element of the document, if `path`
/// is not empty. An id that is not valid in a header or in XML is omitted there. Returns the id as
/// a header value.
pub(crate) fn add(
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

/// Returns the document with a text in these nested elements at the end of its root element.
fn with_element(body: &Bytes, path: &[&str], text: &str) -> Option<Bytes> {
    // This crate has written the document, so the last tag closes the root element.
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
