//! The documents of errors.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full, Limited};

use crate::error::Error;

/// The most bytes of the document of an error.
const DOCUMENT: usize = 64 * 1024;

/// The body of a response: of the server, or one that the layer around it wrote.
#[derive(Debug)]
pub(crate) enum ResponseBody<R> {
    Server(R),
    Own(Full<Bytes>),
}

impl<R: Body<Data = Bytes> + Unpin> Body for ResponseBody<R> {
    type Data = Bytes;
    type Error = R::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, R::Error>>> {
        match self.get_mut() {
            Self::Server(body) => Pin::new(body).poll_frame(context),
            Self::Own(body) => {
                let frame = Pin::new(body).poll_frame(context);
                frame.map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Server(body) => body.is_end_stream(),
            Self::Own(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Server(body) => body.size_hint(),
            Self::Own(body) => body.size_hint(),
        }
    }
}

/// Completes the document of an error: S3 starts it with an XML declaration, names the resource, and has no `Type`.
pub(crate) async fn complete_error<R>(
    response: Response<R>,
    resource: &str,
) -> Response<ResponseBody<R>>
where
    R: Body<Data = Bytes> + Unpin,
{
    let is_document = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/xml");
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    let is_short = response
        .body()
        .size_hint()
        .upper()
        .is_some_and(|size| size <= DOCUMENT as u64);
    if !is_document || !is_error || !is_short {
        return response.map(ResponseBody::Server);
    }
    let (mut head, body) = response.into_parts();
    let document = match Limited::new(BodyErased(body), DOCUMENT).collect().await {
        Ok(document) => document.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let text = String::from_utf8_lossy(&document);
    let translated = translated(&text);
    if let Some((status, _)) = &translated {
        head.status = StatusCode::from_u16(*status).unwrap_or(head.status);
    }
    let text = translated.as_ref().map_or(&*text, |(_, text)| text);
    let text = completed(text, resource).map_or(document.clone(), Bytes::from);
    if head.headers.contains_key(CONTENT_LENGTH) && !text.is_empty() {
        head.headers
            .insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
    }
    Response::from_parts(head, ResponseBody::Own(Full::new(text)))
}

/// Replaces the errors that the server itself has for all services by those of S3. Returns the status and the document.
fn translated(document: &str) -> Option<(u16, String)> {
    let between = |name: &str| {
        let (_, rest) = document.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0)
    };
    let code = between("Code")?;
    let message = between("Message").unwrap_or_default();
    let is_of_head = ["in header ", "in query parameter ", "in label "];
    let is_of_head = is_of_head.iter().any(|place| message.contains(place));
    // The path of a member of the input: those of documents are deeper than those of the head.
    let path = message.split('\'').nth(1).unwrap_or_default();
    let is_of_input = path.matches('/').count() == 1;
    let error = match code {
        "SerializationException" if is_of_head => Error::InvalidArgument(""),
        "ValidationException" if is_of_input => Error::InvalidArgument(""),
        "SerializationException" | "ValidationException" => Error::MalformedXml,
        "MethodNotAllowedException" | "UnknownOperationException" => Error::MethodNotAllowed,
        "UnauthorizedException" | "AccessDeniedException" => Error::AccessDenied("Access Denied"),
        "RequestTimeoutException" => Error::RequestTimeout,
        "RequestEntityTooLargeException" => Error::EntityTooLarge,
        "ServiceUnavailableException" => Error::SlowDown,
        "InternalFailureException" | "DeadlineExceededException" => Error::Internal,
        _ => return None,
    };
    let (code, status, own) = error.facts();
    // The reason is more help than S3's message, which names only the argument.
    let message = match error {
        Error::InvalidArgument(_) => message.to_owned(),
        _ => escaped(own),
    };
    let id = between("RequestId").unwrap_or_default();
    let document = format!(
        "<Error><Code>{code}</Code><Message>{message}</Message><RequestId>{id}</RequestId></Error>"
    );
    Some((status, document))
}

/// A body whose errors do not matter.
struct BodyErased<R>(R);

impl<R: Body<Data = Bytes> + Unpin> Body for BodyErased<R> {
    type Data = Bytes;
    type Error = std::fmt::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = Pin::new(&mut self.get_mut().0).poll_frame(context);
        frame.map(|frame| frame.map(|frame| frame.map_err(|_| std::fmt::Error)))
    }
}

fn completed(document: &str, resource: &str) -> Option<String> {
    let mut rest = document.strip_prefix("<Error>")?;
    if let Some(kind) = rest.strip_prefix("<Type>") {
        rest = kind.split_once("</Type>")?.1;
    }
    let at = rest
        .find("<RequestId>")
        .or_else(|| rest.rfind("</Error>"))?;
    let (before, after) = rest.split_at(at);
    let resource = escaped(resource);
    Some(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>{before}<Resource>{resource}</Resource>{after}"
    ))
}

/// The response to a request that the server does not see.
pub(crate) fn error_response<R>(error: Error, resource: &str) -> Response<ResponseBody<R>> {
    let (code, status, message) = error.facts();
    let id = uuid::Uuid::new_v4().to_string();
    let document = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{}</Message><Resource>{}</Resource><RequestId>{id}</RequestId></Error>",
        escaped(message),
        escaped(resource)
    );
    let mut response = Response::new(ResponseBody::Own(Full::new(document.into())));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert("x-amz-request-id", id);
    }
    response
}

/// Escapes text in XML.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{0}'..='\u{1f}' => escaped.push('\u{fffd}'),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_server_become_those_of_s3() {
        let of = |code: &str, message: &str| {
            let document = format!(
                "<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message><RequestId>1</RequestId></Error>"
            );
            translated(&document).map(|(status, document)| {
                let code = document.split_once("</Code>").unwrap().0;
                (status, code.split_once("<Code>").unwrap().1.to_owned())
            })
        };
        let is = |status: u16, code: &str| Some((status, code.to_owned()));
        let query = "invalid value: expected an integer, in query parameter max-keys";
        assert_eq!(
            of("SerializationException", query),
            is(400, "InvalidArgument")
        );
        assert_eq!(
            of("SerializationException", "at 3"),
            is(400, "MalformedXML")
        );
        let member = "1 validation error detected. Value at '/ACL' failed";
        assert_eq!(
            of("ValidationException", member),
            is(400, "InvalidArgument")
        );
        let nested = "1 validation error detected. Value at '/Delete/Objects' failed";
        assert_eq!(of("ValidationException", nested), is(400, "MalformedXML"));
        assert_eq!(
            of("MethodNotAllowedException", ""),
            is(405, "MethodNotAllowed")
        );
        assert_eq!(of("ServiceUnavailableException", ""), is(503, "SlowDown"));
        assert_eq!(of("NoSuchKey", ""), None);
    }

    #[test]
    fn documents_name_the_resource() {
        let document = "<Error><Type>Sender</Type><Code>A</Code><RequestId>1</RequestId></Error>";
        assert_eq!(
            completed(document, "/b/<k>").unwrap(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>A</Code><Resource>/b/&lt;k&gt;</Resource><RequestId>1</RequestId></Error>"
        );
        let document = "<Error><Code>A</Code></Error>";
        assert!(
            completed(document, "/")
                .unwrap()
                .ends_with("</Resource></Error>")
        );
        assert_eq!(completed("<Other/>", "/"), None);
    }
}
