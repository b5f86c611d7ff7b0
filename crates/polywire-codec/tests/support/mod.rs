//! The formats behind one interface, so that a test is written once.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "each test file uses a part of it"
)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_codec::xmlrpc::{Envelope, Style, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{Body, Decode, Decoder, Encode, Encoder, Error, Limits, Member, Value};

/// A format, as the tests need it.
pub(crate) trait Format {
    const NAME: &'static str;
    type Encoder: Encoder;
    type Decoder<'de>: Decoder<'de>;

    fn encoder() -> Self::Encoder;
    fn written(encoder: Self::Encoder) -> Result<Vec<u8>, Error>;
    fn decoder<'de>(
        body: &'de Body,
        lenient: bool,
        limits: &Limits,
    ) -> Result<Self::Decoder<'de>, Error>;
    fn finish(decoder: &mut Self::Decoder<'_>) -> Result<(), Error>;
}

pub(crate) struct Json;
pub(crate) struct Cbor;
pub(crate) struct Xml;
/// XML-RPC: the value of a response.
pub(crate) struct XmlRpc;

impl Format for Json {
    const NAME: &'static str = "JSON";
    type Encoder = JsonEncoder;
    type Decoder<'de> = JsonDecoder<'de>;

    fn encoder() -> JsonEncoder {
        JsonEncoder::new(JsonProfile::DEFAULT, Vec::new())
    }

    fn written(encoder: JsonEncoder) -> Result<Vec<u8>, Error> {
        encoder.finish()
    }

    fn decoder<'de>(
        body: &'de Body,
        lenient: bool,
        limits: &Limits,
    ) -> Result<JsonDecoder<'de>, Error> {
        let profile = JsonProfile::DEFAULT;
        let profile = if lenient {
            profile.for_client()
        } else {
            profile
        };
        JsonDecoder::from_body(body, profile, limits)
    }

    fn finish(decoder: &mut JsonDecoder<'_>) -> Result<(), Error> {
        decoder.finish()
    }
}

impl Format for Cbor {
    const NAME: &'static str = "CBOR";
    type Encoder = CborEncoder;
    type Decoder<'de> = CborDecoder<'de>;

    fn encoder() -> CborEncoder {
        CborEncoder::new(Vec::new())
    }

    fn written(encoder: CborEncoder) -> Result<Vec<u8>, Error> {
        encoder.finish()
    }

    fn decoder<'de>(
        body: &'de Body,
        lenient: bool,
        limits: &Limits,
    ) -> Result<CborDecoder<'de>, Error> {
        let profile = CborProfile::DEFAULT;
        let profile = if lenient {
            profile.for_client()
        } else {
            profile
        };
        CborDecoder::from_body(body, profile, limits)
    }

    fn finish(decoder: &mut CborDecoder<'_>) -> Result<(), Error> {
        decoder.finish()
    }
}

impl Format for Xml {
    const NAME: &'static str = "XML";
    type Encoder = XmlEncoder<'static>;
    type Decoder<'de> = XmlDecoder<'de>;

    fn encoder() -> XmlEncoder<'static> {
        XmlEncoder::new(XmlProfile::DEFAULT, Vec::new())
    }

    fn written(encoder: XmlEncoder<'_>) -> Result<Vec<u8>, Error> {
        encoder.finish()
    }

    fn decoder<'de>(
        body: &'de Body,
        lenient: bool,
        limits: &Limits,
    ) -> Result<XmlDecoder<'de>, Error> {
        let profile = XmlProfile::DEFAULT;
        let profile = if lenient {
            profile.for_client()
        } else {
            profile
        };
        XmlDecoder::from_body(body, profile, limits)
    }

    fn finish(decoder: &mut XmlDecoder<'_>) -> Result<(), Error> {
        decoder.finish()
    }
}

impl Format for XmlRpc {
    const NAME: &'static str = "XML-RPC";
    type Encoder = XmlRpcEncoder;
    type Decoder<'de> = XmlRpcDecoder<'de>;

    /// One that loses nothing.
    fn encoder() -> XmlRpcEncoder {
        let style = Style::DEFAULT.with_fractions(true);
        XmlRpcEncoder::new(Envelope::Response, Vec::new()).with_style(style)
    }

    fn written(encoder: XmlRpcEncoder) -> Result<Vec<u8>, Error> {
        encoder.finish()
    }

    fn decoder<'de>(
        body: &'de Body,
        lenient: bool,
        limits: &Limits,
    ) -> Result<XmlRpcDecoder<'de>, Error> {
        let profile = XmlRpcProfile::DEFAULT;
        let profile = if lenient {
            profile.for_client()
        } else {
            profile
        };
        XmlRpcDecoder::response(body, profile, limits).map(|(_, decoder)| decoder)
    }

    fn finish(decoder: &mut XmlRpcDecoder<'_>) -> Result<(), Error> {
        decoder.finish()
    }
}

/// Writes by the copy of the code that was made for the format.
pub(crate) fn encode<F: Format, T: Encode + ?Sized>(
    value: &T,
    at: Member<'_>,
) -> Result<Vec<u8>, Error> {
    let mut encoder = F::encoder();
    value.encode(at, &mut encoder);
    F::written(encoder)
}

/// Writes by the one copy of the code that serves every format.
pub(crate) fn encode_dyn<F: Format, T: Encode + ?Sized>(
    value: &T,
    at: Member<'_>,
) -> Result<Vec<u8>, Error> {
    let mut encoder = F::encoder();
    let dynamic: &mut dyn Encoder = &mut encoder;
    value.encode(at, dynamic);
    F::written(encoder)
}

/// Reads by the copy of the code that was made for the format.
pub(crate) fn decode_from<'de, F: Format, T: Decode<'de>>(
    body: &'de Body,
    at: Member<'_>,
    lenient: bool,
    limits: &Limits,
) -> Result<T, Error> {
    let mut decoder = F::decoder(body, lenient, limits)?;
    let value = T::decode(at, &mut decoder)?;
    F::finish(&mut decoder)?;
    Ok(value)
}

/// Reads a value that keeps what it needs of the input.
pub(crate) fn decode<F: Format, T: for<'de> Decode<'de>>(
    bytes: &[u8],
    at: Member<'_>,
) -> Result<T, Error> {
    let body = Body::from(bytes.to_vec());
    decode_from::<F, T>(&body, at, false, &Limits::DEFAULT)
}

/// As a client reads: members may be missing, unknown variants come.
pub(crate) fn decode_lenient<F: Format, T: for<'de> Decode<'de>>(
    bytes: &[u8],
    at: Member<'_>,
) -> Result<T, Error> {
    let body = Body::from(bytes.to_vec());
    decode_from::<F, T>(&body, at, true, &Limits::DEFAULT)
}

pub(crate) fn decode_limited<F: Format, T: for<'de> Decode<'de>>(
    bytes: &[u8],
    at: Member<'_>,
    limits: &Limits,
) -> Result<T, Error> {
    let body = Body::from(bytes.to_vec());
    decode_from::<F, T>(&body, at, false, limits)
}

/// Reads by the one copy of the code that serves every format.
pub(crate) fn decode_dyn<F: Format, T: for<'de> Decode<'de>>(
    bytes: &[u8],
    at: Member<'_>,
) -> Result<T, Error> {
    let body = Body::from(bytes.to_vec());
    let mut decoder = F::decoder(&body, false, &Limits::DEFAULT)?;
    let dynamic: &mut dyn Decoder<'_> = &mut decoder;
    let value = T::decode(at, dynamic)?;
    F::finish(&mut decoder)?;
    Ok(value)
}

/// The bytes of a value without a schema.
pub(crate) fn document<F: Format>(value: &Value) -> Vec<u8> {
    encode::<F, Value>(value, Member::DOCUMENT).unwrap()
}

/// Makes a module of tests for each format.
macro_rules! for_every_format {
    ($($test:ident),* $(,)?) => {
        mod json {
            $(#[test] fn $test() { super::$test::<crate::support::Json>(); })*
        }
        mod cbor {
            $(#[test] fn $test() { super::$test::<crate::support::Cbor>(); })*
        }
        mod xmlrpc {
            $(#[test] fn $test() { super::$test::<crate::support::XmlRpc>(); })*
        }
    };
}
pub(crate) use for_every_format;

/// Makes a module of the tests that XML can run too: it has no documents, which
/// others are about or put their messages together with.
macro_rules! for_xml_too {
    ($($test:ident),* $(,)?) => {
        mod xml {
            $(#[test] fn $test() { super::$test::<crate::support::Xml>(); })*
        }
    };
}
pub(crate) use for_xml_too;
