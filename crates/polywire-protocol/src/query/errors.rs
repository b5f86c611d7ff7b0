//! Errors of the query protocols. Their names are in the element `Code`.
//!
//! ```text
//! awsQuery  <ErrorResponse><Error><Type/><Code/>members</Error><RequestId/></ErrorResponse>
//! ec2Query  <Response><Errors><Error><Code/>members</Error></Errors><RequestID/></Response>
//! ```
//!
//! Clients read the message from the element `Message`. The server writes this element even if the
//! error has no such member.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#operation-error-serialization>,
//! <https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html#operation-error-serialization>

use bytes::Bytes;
use http::StatusCode;
use polywire_codec::Typed;
use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_schema::{Body, Error, ErrorKind, Limits, NameSource, Operation, Schema};

use super::{CLIENT, Query, QueryProtocol};
use crate::fault::PublicFault;
use crate::protocol::Outcome;
use crate::{Fault, FaultKind, error_info, validate};

/// The content of an error before its members.
struct ErrorHeader<'a> {
    code: &'a str,
    status: StatusCode,
    message: &'a str,
}

impl<D: QueryProtocol> Query<D> {
    pub(super) fn write_modelled(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let members = fault.members(error)?;
        let traits = error.error();
        let nonzero = |status: u16| (status != 0).then_some(status);
        let status = traits.and_then(|traits| match self.dialect.has_error_codes {
            true => nonzero(traits.query_status).or_else(|| nonzero(traits.status)),
            false => nonzero(traits.status),
        });
        let code = error.query_code().filter(|_| self.dialect.has_error_codes);
        let is_message = |name: &str| name == "Message";
        let message = match members
            .0
            .iter()
            .any(|(member, _)| is_message(member.plain(NameSource::Xml)))
        {
            true => "",
            false => fault.message(),
        };
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        let header = ErrorHeader {
            code: code.unwrap_or_else(|| error.name()),
            status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            message,
        };
        let mut response = fault.write(&Typed::new(&members), |members| {
            self.write_error(&header, |encoder| members.write(error.root(), encoder))
        })?;
        fault.write_head(response.headers_mut());
        Ok(response)
    }

    pub(super) fn write_fault(&self, fault: &Fault) -> http::Response<Bytes> {
        let PublicFault {
            kind,
            status,
            message,
            details,
            ..
        } = fault.public();
        let (code, status) = match kind {
            FaultKind::Named => (fault.name(), status),
            _ if fault.name() == "MissingAction" => ("MissingAction", status_of(kind)),
            kind => (code_of(kind, fault), status_of(kind)),
        };
        let write = |message, details| {
            let header = ErrorHeader {
                code,
                status,
                message,
            };
            self.write_error(&header, |encoder| validate::push_fields(encoder, details))
        };
        // The message can quote the request, with characters that XML does not allow.
        let response =
            write(message, details).or_else(|_| write("the request could not be read", None));
        let mut response = response
            .unwrap_or_else(|_| self.response(StatusCode::INTERNAL_SERVER_ERROR, Vec::new()));
        fault.write_head(response.headers_mut());
        response
    }

    fn write_error(
        &self,
        header: &ErrorHeader<'_>,
        members: impl FnOnce(&mut XmlEncoder<'_>),
    ) -> Result<http::Response<Bytes>, Error> {
        let mut encoder = XmlEncoder::new(XmlProfile::DEFAULT, Vec::with_capacity(512));
        let elements = self.dialect.error_elements;
        elements.iter().for_each(|name| encoder.open(name));
        if self.dialect.has_error_codes {
            let sender = header.status.is_client_error();
            encoder.element("Type", if sender { "Sender" } else { "Receiver" });
        }
        encoder.element("Code", header.code);
        if !header.message.is_empty() {
            encoder.element("Message", header.message);
        }
        members(&mut encoder);
        elements.iter().rev().for_each(|name| encoder.close(name));
        Ok(self.response(header.status, encoder.finish()?))
    }

    /// Decodes a response that is not an output.
    pub(super) fn failure<'s>(
        &self,
        operation: Operation<'s>,
        status: StatusCode,
        body: &Body,
        limits: &Limits,
    ) -> Outcome<'s> {
        let read = || -> Result<_, Error> {
            let mut decoder = XmlDecoder::from_body(body, CLIENT, limits)?;
            if !enter(&mut decoder)? {
                return Ok(None);
            }
            let code = decoder.peek_text(&["Code"])?;
            let message = match decoder.peek_text(&["Message"])? {
                None => decoder.peek_text(&["message"])?,
                message => message,
            };
            Ok(code.map(|code| (code.into_owned(), message.unwrap_or_default().into_owned())))
        };
        let Ok(Some((code, message))) = read() else {
            return Outcome::Foreign(error_info::not_an_error(status, self.dialect.kind));
        };
        let by_code =
            |error: &Schema<'_>| self.dialect.has_error_codes && error.query_code() == Some(&code);
        let error = operation.errors().find(by_code);
        match error.or_else(|| operation.find_error(&code)) {
            Some(error) => Outcome::Error(error),
            None => {
                let kind = kind_of(&code);
                let kind = kind.unwrap_or_else(|| error_info::kind_of_status(status, &code));
                let fault = Fault::new(kind, message).with_name(code);
                Outcome::Fault(fault.with_status(status))
            }
        }
    }
}

/// Enters the element of an error, with the surrounding elements of either protocol, because some
/// compatible services confuse the two. Returns `false` if the document is not an error.
pub(super) fn enter(decoder: &mut XmlDecoder<'_>) -> Result<bool, Error> {
    match decoder.element() {
        "ErrorResponse" => decoder.enter("Error"),
        "Response" => Ok(decoder.enter("Errors")? && decoder.enter("Error")?),
        "Error" => Ok(true),
        _ => Ok(false),
    }
}

/// The common error codes of AWS, for faults that are not modelled errors.
const CODES: [(FaultKind, &str); 13] = [
    (FaultKind::DeadlineExceeded, "RequestTimeout"),
    (FaultKind::Forbidden, "AccessDenied"),
    (FaultKind::Internal, "InternalFailure"),
    (FaultKind::Invalid, "ValidationError"),
    (FaultKind::Malformed, "InvalidParameterValue"),
    (FaultKind::MethodNotAllowed, "MethodNotAllowed"),
    (FaultKind::NotAcceptable, "NotAcceptable"),
    (FaultKind::Overloaded, "ServiceUnavailable"),
    (FaultKind::RequestTimeout, "RequestExpired"),
    (FaultKind::TooLarge, "RequestEntityTooLarge"),
    (FaultKind::Unauthenticated, "MissingAuthenticationToken"),
    (FaultKind::UnknownOperation, "InvalidAction"),
    (FaultKind::UnsupportedMediaType, "UnsupportedMediaType"),
];

fn code_of(kind: FaultKind, fault: &Fault) -> &'static str {
    match (kind, fault.decode_error().map(Error::kind)) {
        (
            FaultKind::Malformed,
            Some(ErrorKind::Characters | ErrorKind::Syntax | ErrorKind::Truncated),
        ) => {
            return "MalformedQueryString";
        }
        (FaultKind::Invalid, Some(ErrorKind::Missing)) => return "MissingParameter",
        _ => {}
    }
    let entry = CODES.iter().find(|(own, _)| *own == kind);
    entry.map_or("InternalFailure", |(_, code)| code)
}

fn status_of(kind: FaultKind) -> StatusCode {
    match kind {
        // AWS services respond with 400, because the path of a request does not name the operation.
        FaultKind::UnknownOperation => StatusCode::BAD_REQUEST,
        kind => kind.status(),
    }
}

fn kind_of(code: &str) -> Option<FaultKind> {
    match code {
        "MissingAction" => return Some(FaultKind::UnknownOperation),
        "MissingParameter" => return Some(FaultKind::Invalid),
        "MalformedQueryString" => return Some(FaultKind::Malformed),
        "InternalError" => return Some(FaultKind::Internal),
        "Throttling" | "RequestLimitExceeded" | "Unavailable" => {
            return Some(FaultKind::Overloaded);
        }
        _ => {}
    }
    let entry = CODES.iter().find(|(_, own)| *own == code);
    entry
        .map(|(kind, _)| *kind)
        .or_else(|| FaultKind::from_name(code))
}
