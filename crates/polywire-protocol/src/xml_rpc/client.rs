//! The client side of XML-RPC.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode, response};
use polywire_codec::xmlrpc::{Envelope, FaultDetail, Reply, XmlRpcDecoder, fault_parts};
use polywire_codec::{Message, Sink};
use polywire_schema::{
    Body, Decode, Defaults, Error, Limits, Member, Operation, OperationFlags, Schema, Value,
};

use super::code::kind_of_code;
use super::{DETAIL, DETAIL_HEADER, TEXT_XML, XmlRpc, YES};
use crate::endpoint::add_host_prefix;
use crate::protocol::{ClientProtocol, Outcome};
use crate::{Fault, error_info};

impl ClientProtocol for XmlRpc {
    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let envelope = Envelope::Call {
            method: operation.xmlrpc_method(),
            positional: operation.has(OperationFlags::POSITIONAL),
        };
        let mut encoder = self.encoder(envelope).with_defaults(Defaults::Client);
        input.write(operation.input().root(), &mut encoder);
        let mut request = http::Request::new(Bytes::from(encoder.finish()?));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.path.target()?;
        request.headers_mut().insert(CONTENT_TYPE, TEXT_XML);
        if self.style.fault_detail != FaultDetail::Never {
            request.headers_mut().insert(DETAIL_HEADER, YES);
        }
        add_host_prefix(&mut request, operation, input)?;
        Ok(request)
    }

    fn parse_outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        // A server can reject a request with a fault and an HTTP status other than 200. The status
        // is for proxies.
        let is_error = head.status != StatusCode::OK;
        let is_fault = || {
            matches!(
                XmlRpcDecoder::response(body, self.profile.for_client(), limits),
                Ok((Reply::Fault, _))
            )
        };
        if is_error && !is_fault() {
            let message = format!(
                "status {}, and the response is not an XML-RPC fault",
                head.status
            );
            return Ok(Outcome::Foreign(message));
        }
        let (reply, mut decoder) =
            XmlRpcDecoder::response(body, self.profile.for_client(), limits)?;
        if reply == Reply::Result {
            return Ok(Outcome::Output);
        }
        let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
        let id = value[DETAIL]["__type"].as_str().unwrap_or_default();
        if let Some(error) = operation.find_error(id) {
            return Ok(Outcome::Error(error));
        }
        let (code, message) = fault_parts(&value, self.profile.leniency)?;
        let kind = match is_error {
            true => error_info::kind_of_status(head.status, &message),
            false => kind_of_code(code),
        };
        let fault = Fault::new(kind, message).with_code(code);
        Ok(Outcome::Fault(fault.with_status(head.status)))
    }

    fn parse_output<'de>(
        &self,
        operation: Operation<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let root = operation.output().root();
        let (_, mut decoder) = XmlRpcDecoder::response(body, self.profile.for_client(), limits)?;
        sink.read(root, &mut decoder)?;
        decoder.finish()?;
        sink.finish(root, &mut decoder)
    }

    fn parse_error<'de>(
        &self,
        error: Schema<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let (_, mut decoder) = XmlRpcDecoder::response(body, self.profile.for_client(), limits)?;
        // The structure is a member of the fault. Skip the members before it, and ignore those
        // after it.
        if decoder.enter(DETAIL)? {
            sink.read(error.root(), &mut decoder)?;
        }
        sink.finish(error.root(), &mut decoder)
    }
}
