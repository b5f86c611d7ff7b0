//! Decoding of parameters and encoding of results.

use polywire_codec::Message;
use polywire_codec::cbor::{CborDecoder, CborEncoder};
use polywire_codec::xmlrpc::{Envelope, Style, XmlRpcEncoder};
use polywire_protocol::{Fault, fault_code};
use polywire_schema::{Decode, Decoder, Encode, Encoder, Error, Member, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::MethodReply;
use super::parameters::Reader;

/// The format of a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ReplyFormat {
    /// A complete XML-RPC response.
    XmlRpcResponse(Style),
    /// An XML-RPC value, to be part of the response to a multicall.
    XmlRpcValue(Style),
    /// A CBOR value.
    Cbor,
}

impl ReplyFormat {
    /// The format of a result within the response to a multicall.
    pub(crate) const fn of_item(self) -> Self {
        match self {
            Self::XmlRpcResponse(style) | Self::XmlRpcValue(style) => Self::XmlRpcValue(style),
            Self::Cbor => Self::Cbor,
        }
    }

    fn writer(self, out: Vec<u8>) -> Writer {
        match self {
            Self::XmlRpcResponse(style) => {
                Writer::XmlRpc(XmlRpcEncoder::new(Envelope::Response, out).with_style(style))
            }
            Self::XmlRpcValue(style) => {
                Writer::XmlRpc(XmlRpcEncoder::new(Envelope::Value, out).with_style(style))
            }
            Self::Cbor => Writer::Cbor(CborEncoder::new(out)),
        }
    }
}

/// Decodes all parameters into one type.
pub(crate) fn decode<T: DeserializeOwned>(reader: &mut Reader<'_>) -> Result<T, Error> {
    match reader {
        Reader::XmlRpc(decoder) => decoder.deserialize_parameters(),
        Reader::Cbor(decoder) => {
            let parameters = decoder.deserialize_parameters()?;
            decoder.finish()?;
            Ok(parameters)
        }
        Reader::CborItem(decoder) => decoder.deserialize_parameters(),
    }
}

/// Decodes all parameters into values.
pub(crate) fn values(reader: &mut Reader<'_>) -> Result<Vec<Value>, Error> {
    match reader {
        Reader::XmlRpc(decoder) => {
            let mut values = Vec::new();
            while decoder.parameter()? {
                values.push(Value::decode(Member::DOCUMENT, decoder)?);
            }
            decoder.finish()?;
            Ok(values)
        }
        Reader::Cbor(decoder) => {
            let values = values_of_cbor(decoder)?;
            decoder.finish()?;
            Ok(values)
        }
        Reader::CborItem(decoder) => values_of_cbor(decoder),
    }
}

fn values_of_cbor(decoder: &mut CborDecoder<'_>) -> Result<Vec<Value>, Error> {
    let mut values = Vec::new();
    // An empty body means no parameters.
    if decoder.major_type().is_none() && decoder.offset() == 0 {
        return Ok(values);
    }
    let mut seq = decoder.list(Member::DOCUMENT)?;
    while decoder.item(Member::DOCUMENT, &mut seq)? {
        values.push(Value::decode(Member::DOCUMENT, decoder)?);
    }
    Ok(values)
}

/// Writes one result, or the results of a multicall.
pub(crate) enum Writer {
    XmlRpc(XmlRpcEncoder),
    Cbor(CborEncoder),
}

pub(crate) fn serialize<T: Serialize>(
    format: ReplyFormat,
    out: Vec<u8>,
    result: &T,
) -> Result<Vec<u8>, Error> {
    let mut writer = format.writer(out);
    match &mut writer {
        Writer::XmlRpc(encoder) => encoder.serialize(result)?,
        Writer::Cbor(encoder) => encoder.serialize(result)?,
    }
    writer.finish()
}

pub(crate) fn write(format: ReplyFormat, out: Vec<u8>, result: &Value) -> Result<Vec<u8>, Error> {
    let mut writer = format.writer(out);
    match &mut writer {
        Writer::XmlRpc(encoder) => result.encode(Member::DOCUMENT, encoder),
        Writer::Cbor(encoder) => result.encode(Member::DOCUMENT, encoder),
    }
    writer.finish()
}

/// Writes the output of an operation.
pub(crate) fn write_output(
    format: ReplyFormat,
    mut out: Vec<u8>,
    root: Member<'_>,
    output: &dyn Message,
) -> Result<Vec<u8>, Error> {
    out.clear();
    let mut writer = format.writer(out);
    match &mut writer {
        Writer::XmlRpc(encoder) => output.write(root, encoder),
        Writer::Cbor(encoder) => output.write(root, encoder),
    }
    writer.finish()
}

impl Writer {
    /// Starts the results of a multicall with `len` calls.
    pub(crate) fn list(format: ReplyFormat, out: Vec<u8>, len: usize) -> Self {
        let mut writer = format.writer(out);
        match &mut writer {
            Self::XmlRpc(encoder) => encoder.begin_list(Member::DOCUMENT, len),
            Self::Cbor(encoder) => encoder.begin_list(Member::DOCUMENT, len),
        }
        writer
    }

    /// Writes a result, in an array of one element, which distinguishes it from a fault.
    pub(crate) fn result(&mut self, reply: &MethodReply) {
        let document = Member::DOCUMENT;
        match self {
            Self::XmlRpc(encoder) => {
                encoder.begin_list(document, 1);
                encoder.raw(reply.value());
                encoder.end_list(document);
            }
            Self::Cbor(encoder) => {
                encoder.begin_list(document, 1);
                encoder.raw(reply.value());
                encoder.end_list(document);
            }
        }
    }

    /// Writes a fault. `body` is that of a response with the fault.
    pub(crate) fn fault(&mut self, body: &[u8]) {
        match self {
            Self::XmlRpc(encoder) => encoder.raw(value_of_fault(body)),
            Self::Cbor(encoder) => encoder.raw(body),
        }
    }

    /// Ends the results of a multicall.
    pub(crate) fn end_list(mut self) -> Result<Vec<u8>, Error> {
        match &mut self {
            Self::XmlRpc(encoder) => encoder.end_list(Member::DOCUMENT),
            Self::Cbor(encoder) => encoder.end_list(Member::DOCUMENT),
        }
        self.finish()
    }

    fn finish(self) -> Result<Vec<u8>, Error> {
        match self {
            Self::XmlRpc(encoder) => encoder.finish(),
            Self::Cbor(encoder) => encoder.finish(),
        }
    }
}

/// The value in a response that [`XmlRpcEncoder`] has written.
pub(crate) fn value_of_response(response: &[u8]) -> &[u8] {
    strip_envelope(response, b"<param>", b"</param></params></methodResponse>")
}

/// The struct in a fault response that [`XmlRpcEncoder`] has written.
fn value_of_fault(response: &[u8]) -> &[u8] {
    strip_envelope(response, b"<fault>", b"</fault></methodResponse>")
}

/// The part of `response` after the first `open`, without `close` at its end.
fn strip_envelope<'a>(response: &'a [u8], open: &[u8], close: &[u8]) -> &'a [u8] {
    let start = response.windows(open.len()).position(|part| part == open);
    let start = start.map_or(response.len(), |start| start + open.len());
    let rest = response.get(start..).unwrap_or_default();
    rest.strip_suffix(close).unwrap_or_default()
}

/// The fault for parameters that cannot be decoded. The message contains the number of the parameter.
#[cold]
pub(crate) fn fault(error: Error, reader: &Reader<'_>) -> Fault {
    if !error.is_sender_fault() || error.is_limit() {
        return Fault::from(error);
    }
    let position = match reader {
        Reader::XmlRpc(decoder) => decoder.current_parameter().map(|number| number as usize),
        Reader::Cbor(_) | Reader::CborItem(_) => position(error.path()),
    };
    let Some(number) = position else {
        return Fault::from(error);
    };
    let message = format!("parameter {number}: {}", error.message());
    let fault = Fault::from(error);
    let code = fault_code(&fault);
    Fault::new(fault.kind(), message).with_code(code)
}

/// The number of a parameter in a path such as `[1].name`.
fn position(path: &str) -> Option<usize> {
    let (index, _) = path.strip_prefix('[')?.split_once(']')?;
    Some(index.parse::<usize>().ok()? + 1)
}
