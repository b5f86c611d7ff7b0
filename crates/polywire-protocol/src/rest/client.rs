//! The client side of the REST protocols.

use bytes::Bytes;
use http::response;
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, ErrorKind, Limits, Operation, Schema};

use super::{HeadDecoder, HeadEncoder, IncomingMessage, Rest, RestFormat};
use crate::PayloadStream;
use crate::document::Side;
use crate::error_info::not_an_error;
use crate::event_stream::read_events;
use crate::protocol::{ClientProtocol, HostPrefix, Outcome};

impl<F: RestFormat> ClientProtocol for Rest<F> {
    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let operation_bindings = self.operation_bindings(operation)?;
        let bindings = &operation_bindings.input;
        let root = operation.input().root();
        let host_prefix = operation.host_prefix();
        let mut encoder = HeadEncoder::new(bindings);
        encoder.write(root, input)?;
        let body = self.write_body(root, bindings, input, &mut encoder, None)?;
        let stream = encoder.take_stream(root)?;
        if stream.is_none() {
            check_length(encoder.content_length(), body.as_deref())?;
        }
        let media_type = bindings.media_type_of(body.as_ref())?;
        let head = encoder.request(&operation_bindings.target, host_prefix, media_type)?;
        let mut request = http::Request::new(body.unwrap_or_default());
        *request.method_mut() = operation_bindings.method.clone();
        *request.uri_mut() = head.target;
        *request.headers_mut() = head.headers;
        if let Some(stream) = stream {
            request.extensions_mut().insert(PayloadStream(stream));
        }
        if !head.host_prefix.is_empty() {
            request
                .extensions_mut()
                .insert(HostPrefix(head.host_prefix));
        }
        Ok(request)
    }

    fn has_output_stream(&self, operation: Operation<'_>, head: &response::Parts) -> bool {
        let bindings = self.operation_bindings(operation);
        bindings.is_ok_and(|bindings| {
            bindings.output.has_stream()
                && (head.status.is_success() || head.status == bindings.status)
        })
    }

    fn parse_outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        let operation_bindings = self.operation_bindings(operation)?;
        let expected = head.status.is_success() || head.status == operation_bindings.status;
        if expected && !self.format.is_error(operation_bindings, body) {
            return Ok(Outcome::Output);
        }
        let Some(info) = self.format.error_info(head, body, limits) else {
            return Ok(Outcome::Foreign(not_an_error(head.status, F::KIND)));
        };
        Ok(info.into_outcome(operation, head.status))
    }

    fn parse_output<'de>(
        &self,
        operation: Operation<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let bindings = &self.operation_bindings(operation)?.output;
        if bindings.has_event_stream {
            let message = (operation.output().root(), body, Side::Client);
            read_events(&head.extensions, message, sink)?;
        }
        let incoming = IncomingMessage {
            root: operation.output().root(),
            bindings,
            body,
            stream: bindings.stream_of(&head.extensions),
            limits,
            is_error: false,
        };
        let mut decoder = HeadDecoder::response(head, bindings);
        incoming.read(&self.format, &mut decoder, sink)
    }

    fn parse_error<'de>(
        &self,
        error: Schema<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        self.with_error(error, |bindings| {
            let incoming = IncomingMessage {
                root: error.root(),
                bindings,
                body,
                stream: None,
                limits,
                is_error: true,
            };
            let mut decoder = HeadDecoder::response(head, bindings);
            incoming.read(&self.format, &mut decoder, sink)
        })
    }
}

/// Checks the length in a member that is bound to `Content-Length`. A server that receives a wrong
/// length takes the wrong number of bytes for the body, and the rest for the next request.
fn check_length(declared: Option<&[u8]>, body: Option<&[u8]>) -> Result<(), Error> {
    let Some(declared) = declared else {
        return Ok(());
    };
    let len = body.map_or(0, <[u8]>::len);
    if is_decimal_of(declared, len) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected(format!("{len}, the length of the body"))
        .found(format!("{:?}", String::from_utf8_lossy(declared)))
        .at_path("header content-length".to_owned()))
}

/// Returns whether a text is this number in decimal, without sign or leading zeros.
fn is_decimal_of(text: &[u8], number: usize) -> bool {
    let mut rest = number;
    for byte in text.iter().rev() {
        if usize::from(byte.wrapping_sub(b'0')) != rest % 10 {
            return false;
        }
        rest /= 10;
    }
    rest == 0 && (text.len() == 1 || text.first().is_some_and(|first| *first != b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for number in [0, 7, 10, 99, 100, 341_336, usize::MAX] {
            assert!(is_decimal_of(number.to_string().as_bytes(), number));
            assert!(!is_decimal_of(format!("0{number}").as_bytes(), number));
            assert!(!is_decimal_of(format!("{number}1").as_bytes(), number));
        }
        for text in ["", "+1", "-1", "1 ", "x", "11"] {
            assert!(!is_decimal_of(text.as_bytes(), 1), "{text}");
        }
    }
}
