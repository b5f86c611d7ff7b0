//! The server side of XML-RPC.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode, request};
use polywire_codec::xmlrpc::{Envelope, XmlRpcDecoder};
use polywire_codec::{Message, Sink};
use polywire_schema::{
    Body, Encode, Encoder, Error, Limits, Map, Member, Operation, OperationFlags, Schema, Text,
    Value,
};

use super::{DETAIL, DETAIL_HEADER, TEXT_XML, XmlRpc, YES, fault_code};
use crate::fault::{NamedError, PublicFault};
use crate::protocol::{Claim, HeadSummary, Plan, ReadPlan, Route, ServerProtocol};
use crate::{Fault, FaultKind, media, validate};

impl ServerProtocol for XmlRpc {
    fn endpoint(&self) -> Option<&str> {
        Some(self.path.as_str())
    }

    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        let head = summary.head;
        if head.uri.path() == self.path.as_str() {
            // A request that this protocol rejects, such as a form, can belong to another protocol.
            return match head.method == Method::POST && is_cors_safelisted(summary) {
                true => Claim::Misdirected,
                false => Claim::Strong,
            };
        }
        // Answer a call to a wrong path with an XML-RPC fault, unless it belongs to another
        // protocol.
        let is_call = head.method == Method::POST && summary.has_media_type("text/xml");
        if is_call {
            Claim::Misdirected
        } else {
            Claim::No
        }
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        self.path.check(head)?;
        let summary = HeadSummary::new(head);
        if is_cors_safelisted(&summary) {
            return Err(cors_safelisted_fault(&summary));
        }
        Ok(Plan::BufferThenRoute)
    }

    fn route_body(
        &self,
        head: &request::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Route, Fault> {
        media::check_coding(&head.headers)?;
        let (method, _) = XmlRpcDecoder::call(body, self.profile, limits)?;
        match self.methods.get(&*method) {
            Some(index) => Ok(Route::to(*index)),
            None => Err(Fault::unknown_name("method", &method)),
        }
    }

    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let positional = operation.has(OperationFlags::POSITIONAL);
        let profile = self.profile.with_positional(positional);
        let root = operation.input().root();
        let (_, mut decoder) = XmlRpcDecoder::call(request.body, profile, request.limits)?;
        sink.read(root, &mut decoder)?;
        decoder.finish()?;
        Ok(sink.finish(root, &mut decoder)?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let mut encoder = self.encoder(Envelope::Response);
        output.write(operation.output().root(), &mut encoder);
        Ok(response(encoder.finish()?))
    }

    fn wants_detail(&self, head: &request::Parts) -> bool {
        head.headers.get(DETAIL_HEADER) == Some(&YES)
    }

    /// Writes code and text of the error, and its structure as `detail` if that is included.
    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let detail = NamedError {
            name: error.id(),
            members: fault.members(error)?,
        };
        let status = error.error().map_or(500, |error| i64::from(error.status));
        let text = match fault.message() {
            "" => error.name().to_owned(),
            message => format!("{}: {message}", error.name()),
        };
        let at = Member::DOCUMENT;
        let includes_detail = self.includes_detail(fault);
        let mut encoder = self.fault_encoder();
        encoder.begin_map(at, 2 + usize::from(includes_detail));
        encoder.key(at, "faultCode");
        encoder.integer(at, fault.code().unwrap_or(status));
        encoder.key(at, "faultString");
        encoder.string(at, &text);
        if includes_detail {
            encoder.key(at, DETAIL);
            detail.encode(at, &mut encoder);
        } else {
            // Encode and discard it: a value that does not fit the schema is an error even if it is
            // not sent.
            let mut unsent = self.encoder(Envelope::Value);
            detail.encode(at, &mut unsent);
            unsent.finish()?;
        }
        encoder.end_map(at);
        let mut response = response(encoder.finish()?);
        fault.write_head(response.headers_mut());
        Ok(response)
    }

    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes> {
        let PublicFault {
            kind,
            message,
            details,
            ..
        } = fault.public();
        let code = fault_code(fault);
        let details = details.filter(|_| self.includes_detail(fault));
        let write = |text: &str, details: Option<&Map>| {
            let mut map = Map::from_iter([
                ("faultCode", Value::from(code)),
                ("faultString", Value::from(text)),
            ]);
            if let Some(details) = details {
                let name = Value::from(validate::VALIDATION_EXCEPTION);
                let members = details.iter();
                let members = members.map(|(key, value)| (Text::from(key), value.clone()));
                let name = (Text::from("__type"), name);
                let detail = Map::from_iter(std::iter::once(name).chain(members));
                map.extend([(Text::from(DETAIL), Value::Map(detail))]);
            }
            let mut encoder = self.fault_encoder();
            Value::Map(map).encode(Member::DOCUMENT, &mut encoder);
            encoder.finish()
        };
        // The message can quote the request, with characters that XML does not allow.
        let body = write(message, details)
            .or_else(|_| write("the request could not be read", None))
            .unwrap_or_default();
        let mut response = response(body);
        if kind == FaultKind::MethodNotAllowed {
            // XML-RPC clients always send POST. The status is for browsers and tools.
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        }
        if fault.own_status() == Some(StatusCode::UNSUPPORTED_MEDIA_TYPE) {
            // XML-RPC clients do not send these media types either.
            *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        }
        fault.write_head(response.headers_mut());
        response
    }
}

/// Returns whether a web page from any origin can make a browser send this request without a
/// preflight: the three media types of the
/// [safelist](https://fetch.spec.whatwg.org/#cors-safelisted-request-header), or none together with
/// the header `Origin`, which browsers send and clients do not.
///
/// Without this check, a web page could call servers that are reachable only from the machine of
/// its visitor, or use the credentials in the browser.
fn is_cors_safelisted(head: &HeadSummary<'_>) -> bool {
    const SAFELISTED: [&str; 3] = [
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain",
    ];
    match head.content_type {
        None => head.has_origin,
        Some(_) => SAFELISTED
            .iter()
            .any(|media_type| head.has_media_type(media_type)),
    }
}

#[cold]
fn cors_safelisted_fault(head: &HeadSummary<'_>) -> Fault {
    let found = match head.content_type {
        None => Cow::Borrowed("no content-type from a web page"),
        Some(sent) => String::from_utf8_lossy(sent.as_bytes()),
    };
    let message = format!(
        "expected the content-type text/xml or application/xml, or none, found {}: web pages \
         could send that to any server",
        found.escape_debug()
    );
    Fault::new(FaultKind::UnsupportedMediaType, message)
        .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
}

fn response(body: Vec<u8>) -> http::Response<Bytes> {
    let mut response = http::Response::new(Bytes::from(body));
    response.headers_mut().insert(CONTENT_TYPE, TEXT_XML);
    response
}
