//! Parameters and results in the formats of the wires.

use polywire_codec::Message;
use polywire_codec::cbor::{CborDecoder, CborEncoder};
use polywire_codec::xmlrpc::{Envelope, Style, XmlRpcEncoder};
use polywire_protocol::{Fault, fault_code};
use polywire_schema::{Decode, Decoder, Encode, Encoder, Error, Member, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::MethodReply;
use super::parameters::Reader;

/// How a result is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// A whole response of XML-RPC.
    XmlRpcResponse(Style),
    /// A value of XML-RPC, for a response of several.
    XmlRpcValue(Style),
    /// A value of CBOR.
    Cbor,
}

impl Form {
    /// The form of each result where there are several.
    pub(crate) const fn of_item(self) -> Self {
        match self {
            Self::XmlRpcResponse(style) | Self::XmlRpcValue(style) => Self::XmlRpcValue(style),
            Self::Cbor => Self::Cbor,
        }
    }

    /// A writer of this form.
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

/// All parameters as a value of a type.
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

/// All parameters as values.
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
    // An empty body has no parameters.
    if decoder.major_type().is_none() && decoder.offset() == 0 {
        return Ok(values);
    }
    let mut seq = decoder.list(Member::DOCUMENT)?;
    while decoder.item(Member::DOCUMENT, &mut seq)? {
        values.push(Value::decode(Member::DOCUMENT, decoder)?);
    }
    Ok(values)
}

/// A writer of one result, or of the results of several calls.
pub(crate) enum Writer {
    XmlRpc(XmlRpcEncoder),
    Cbor(CborEncoder),
}

/// Writes a result of a type.
pub(crate) fn serialize<T: Serialize>(
    form: Form,
    out: Vec<u8>,
    result: &T,
) -> Result<Vec<u8>, Error> {
    let mut writer = form.writer(out);
    match &mut writer {
        Writer::XmlRpc(encoder) => encoder.serialize(result)?,
        Writer::Cbor(encoder) => encoder.serialize(result)?,
    }
    writer.finish()
}

/// Writes a result that is a value.
pub(crate) fn write(form: Form, out: Vec<u8>, result: &Value) -> Result<Vec<u8>, Error> {
    let mut writer = form.writer(out);
    match &mut writer {
        Writer::XmlRpc(encoder) => result.encode(Member::DOCUMENT, encoder),
        Writer::Cbor(encoder) => result.encode(Member::DOCUMENT, encoder),
    }
    writer.finish()
}

/// Writes the output of an operation.
pub(crate) fn write_output(
    form: Form,
    mut out: Vec<u8>,
    root: Member<'_>,
    output: &dyn Message,
) -> Result<Vec<u8>, Error> {
    out.clear();
    let mut writer = form.writer(out);
    match &mut writer {
        Writer::XmlRpc(encoder) => output.write_xmlrpc(root, encoder),
        Writer::Cbor(encoder) => output.write_cbor(root, encoder),
    }
    writer.finish()
}

impl Writer {
    /// Begins the results of so many calls.
    pub(crate) fn list(form: Form, out: Vec<u8>, len: usize) -> Self {
        let mut writer = form.writer(out);
        match &mut writer {
            Self::XmlRpc(encoder) => encoder.begin_list(Member::DOCUMENT, len),
            Self::Cbor(encoder) => encoder.begin_list(Member::DOCUMENT, len),
        }
        writer
    }

    /// A result stands in an array of its own, which tells it from a fault.
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

    /// A fault, as the body of the response that it would be alone.
    pub(crate) fn fault(&mut self, body: &[u8]) {
        match self {
            Self::XmlRpc(encoder) => encoder.raw(value_of_fault(body)),
            Self::Cbor(encoder) => encoder.raw(body),
        }
    }

    /// Ends the results.
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

/// The value in a response with a result, as our writer writes it.
pub(crate) fn value_of_response(response: &[u8]) -> &[u8] {
    between(response, b"<param>", b"</param></params></methodResponse>")
}

/// The struct in a response with a fault, as our writer writes it.
fn value_of_fault(response: &[u8]) -> &[u8] {
    between(response, b"<fault>", b"</fault></methodResponse>")
}

fn between<'a>(response: &'a [u8], open: &[u8], close: &[u8]) -> &'a [u8] {
    let begin = response.windows(open.len()).position(|part| part == open);
    let begin = begin.map_or(response.len(), |begin| begin + open.len());
    let rest = response.get(begin..).unwrap_or_default();
    rest.strip_suffix(close).unwrap_or_default()
}

/// What a caller is told whose parameters cannot be read: which of them it is.
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
