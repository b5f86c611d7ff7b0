//! The three readers: whatever comes, they agree with themselves.
//!
//! The shapes are those of the codec's own tests: between them every kind of
//! member, a union, recursion, sparse and dense collections, required members,
//! and more members than a reader's bit set holds.

use std::fmt::Debug;

use polywire_codec::cbor::CborProfile;
use polywire_codec::json::{self, JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::reference;
use polywire_codec::xml::{XmlDecoder, XmlProfile};
use polywire_codec::xmlrpc::{self, Envelope, Style, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{
    Body, Decode, Decoder, Encode, Error, ErrorKind, LimitKind, Limits, Member, Value,
};

use support::{Cbor, Format, Json, Xml, XmlRpc, encode};
use typed::{Bucket, Choice, Collections, Node, Scalars, Strict, Wide, root};

use super::alike::{Size, Wire, same, unwritable};

#[path = "../crates/polywire-codec/tests/support/mod.rs"]
mod support;
#[path = "../crates/polywire-codec/tests/shapes/mod.rs"]
pub(crate) mod typed;

/// So small that ordinary inputs reach them.
pub(crate) const SMALL: Limits = Limits::DEFAULT
    .with_bytes(2_000)
    .with_depth(5)
    .with_items(20)
    .with_string(30);

pub(crate) fn json(data: &[u8]) {
    let body = Body::from(data.to_vec());
    let document = document::<Json>(&body);
    shapes::<Json>(&body, &document);
    if let Ok(text) = std::str::from_utf8(data) {
        like_serde(text);
        people(text);
        for at in [Member::DOCUMENT, root("Node"), root("Scalars")] {
            let profile = JsonProfile::DEFAULT;
            let reference = reference::json::JsonDecoder::new(text, 0, profile, &Limits::DEFAULT)
                .and_then(|mut reference| {
                    Ok((Value::decode(at, &mut reference)?, reference.end()))
                });
            like_reference::<Json>(&body, at, reference);
        }
    }
}

pub(crate) fn cbor(data: &[u8]) {
    let body = Body::from(data.to_vec());
    let document = document::<Cbor>(&body);
    shapes::<Cbor>(&body, &document);
    for at in [Member::DOCUMENT, root("Node"), root("Scalars")] {
        let profile = CborProfile::DEFAULT;
        let reference = reference::cbor::CborDecoder::new(data, 0, profile, &Limits::DEFAULT)
            .and_then(|mut reference| Ok((Value::decode(at, &mut reference)?, reference.end())));
        like_reference::<Cbor>(&body, at, reference);
    }
}

/// XML has no documents: shapes only.
pub(crate) fn xml(data: &[u8]) {
    let body = Body::from(data.to_vec());
    let limits = &Limits::DEFAULT;
    let whole =
        XmlDecoder::from_body(&body, XmlProfile::DEFAULT, limits).and_then(|mut decoder| {
            decoder.skip()?;
            decoder.finish()
        });
    shapes::<Xml>(&body, &whole);
    shape::<Xml, Bucket>(&body, "Bucket");
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for (name, profile) in [
        ("Bucket", XmlProfile::DEFAULT),
        ("Bucket", XmlProfile::DEFAULT.for_client()),
        ("Collections", XmlProfile::DEFAULT),
        ("Scalars", XmlProfile::DEFAULT.for_client()),
    ] {
        let at = root(name);
        let native = XmlDecoder::from_body(&body, profile, limits).and_then(|mut decoder| {
            let value = Value::decode(at, &mut decoder)?;
            decoder.finish()?;
            Ok(value)
        });
        let reference = reference::xml::XmlDecoder::from_str(text, profile, limits)
            .and_then(|mut reference| Value::decode(at, &mut reference));
        assert_eq!(
            format!("{:?}", native.ok()),
            format!("{:?}", reference.ok())
        );
    }
}

/// The reference implementation, which says where it ended, found the same or refused too.
fn like_reference<F: Format>(
    body: &Body,
    at: Member<'_>,
    reference: Result<(Value, usize), Error>,
) {
    let native = read::<F, Value>(body, at, false, &Limits::DEFAULT);
    let whole = |(_, end): &(Value, usize)| *end == body.as_bytes().len();
    let reference = reference.ok().filter(whole).map(|(value, _)| value);
    assert_eq!(format!("{:?}", native.ok()), format!("{reference:?}"));
}

pub(crate) fn xmlrpc_response(data: &[u8]) {
    let body = Body::from(data.to_vec());
    let document = document::<XmlRpc>(&body);
    shapes::<XmlRpc>(&body, &document);
    // As clients read faults: into the struct, and not on behind it.
    let response = XmlRpcDecoder::response(&body, XmlRpcProfile::DEFAULT, &SMALL);
    let entered = response.and_then(|(_, mut decoder)| {
        decoder
            .enter("detail")?
            .then(|| Value::decode(root("Node"), &mut decoder))
            .transpose()
    });
    check(&entered, data.len());
}

pub(crate) fn xmlrpc_call(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let read = xmlrpc::read_call(text, &Limits::DEFAULT);
    check(&read, data.len());
    let body = Body::from(data.to_vec());
    shapes::<Call<false>>(&body, &read);
    shapes::<Call<true>>(&body, &read);
    if let Ok((method, parameters)) = read
        && let Ok(written) = whole_call(&method, &parameters)
    {
        let written = std::str::from_utf8(&written).unwrap();
        let (method_again, parameters_again) =
            xmlrpc::read_call(written, &Limits::DEFAULT).unwrap();
        assert_eq!(method_again, method);
        let (parameters, again) = (Value::List(parameters), Value::List(parameters_again));
        let alike = Wire::XmlRpc.alike(&parameters, &again);
        assert!(alike, "{parameters:?}\n{again:?}");
    }
}

/// A call with the fractions of a second, which are cut off unless somebody asks.
fn whole_call(method: &str, parameters: &[Value]) -> Result<Vec<u8>, Error> {
    let envelope = Envelope::Call {
        method,
        positional: true,
    };
    let style = Style::DEFAULT.with_fractions(true);
    let mut encoder = XmlRpcEncoder::new(envelope, Vec::new()).with_style(style);
    for parameter in parameters {
        encoder.parameter();
        parameter.encode(Member::DOCUMENT, &mut encoder);
    }
    encoder.finish()
}

/// The parameters of a call: one struct, or positional.
struct Call<const POSITIONAL: bool>;

impl<const POSITIONAL: bool> Format for Call<POSITIONAL> {
    const NAME: &'static str = "XML-RPC";
    type Encoder = XmlRpcEncoder;
    type Decoder<'de> = XmlRpcDecoder<'de>;

    /// One that loses nothing.
    fn encoder() -> XmlRpcEncoder {
        let envelope = Envelope::Call {
            method: "method",
            positional: POSITIONAL,
        };
        let style = Style::DEFAULT.with_fractions(true);
        XmlRpcEncoder::new(envelope, Vec::new()).with_style(style)
    }

    fn written(encoder: XmlRpcEncoder) -> Result<Vec<u8>, Error> {
        encoder.finish()
    }

    fn decoder<'de>(
        body: &'de Body,
        lenient: bool,
        limits: &Limits,
    ) -> Result<XmlRpcDecoder<'de>, Error> {
        let profile = XmlRpcProfile::DEFAULT.with_positional(POSITIONAL);
        let profile = if lenient {
            profile.for_client()
        } else {
            profile
        };
        XmlRpcDecoder::call(body, profile, limits).map(|(_, decoder)| decoder)
    }

    fn finish(decoder: &mut XmlRpcDecoder<'_>) -> Result<(), Error> {
        decoder.finish()
    }
}

/// Reads what comes, whatever it is.
fn document<F: Format>(body: &Body) -> Result<Value, Error> {
    let document = value::<F>(body, Member::DOCUMENT);
    if let Ok(value) = read::<F, Value>(body, Member::DOCUMENT, false, &SMALL) {
        let size = Size::of(&value);
        assert!(size.depth <= SMALL.depth() as usize, "{size:?}");
        assert!(size.items <= SMALL.items() as usize, "{size:?}");
        assert!(size.longest <= SMALL.string(), "{size:?}");
    }
    document
}

fn shapes<F: Format>(body: &Body, document: &Result<impl Sized, Error>) {
    shape::<F, Collections>(body, "Collections");
    shape::<F, Node>(body, "Node");
    // What is not well formed is so for every shape: two of them tell enough,
    // and the fuzzer has time for three times the inputs.
    if let Err(error) = document
        && matches!(
            error.kind(),
            ErrorKind::Structure | ErrorKind::Syntax | ErrorKind::Truncated
        )
    {
        return;
    }
    shape::<F, Choice>(body, "Choice");
    shape::<F, Scalars>(body, "Scalars");
    shape::<F, Strict>(body, "Strict");
    shape::<F, Wide>(body, "Wide");
}

/// The copy of the code that was made for a type and a format, the one that
/// serves all formats, and the one that knows only the schema find the same.
fn shape<F: Format, T>(body: &Body, name: &str)
where
    T: Encode + for<'de> Decode<'de> + Debug,
{
    let at = root(name);
    let value = value::<F>(body, at);
    let typed = read::<F, T>(body, at, false, &Limits::DEFAULT);
    let shared = read_shared::<F, T>(body, at, &Limits::DEFAULT);
    check(&typed, body.as_bytes().len());
    assert_eq!(message(&typed), message(&shared));
    assert_eq!(typed.is_ok(), value.is_ok(), "{typed:?}\n{value:?}");
    let (Ok(typed), Ok(shared), Ok(value)) = (typed, shared, value) else {
        return;
    };
    let written = [
        encode::<F, T>(&typed, at),
        encode::<F, T>(&shared, at),
        encode::<F, Value>(&value, at),
    ];
    let read = written.map(|bytes| {
        let body = Body::from(bytes.ok()?);
        Some(read::<F, Value>(&body, at, false, &Limits::DEFAULT).unwrap())
    });
    match read {
        [Some(typed), Some(shared), Some(value)] => {
            assert!(same(&typed, &value), "{typed:?}\n{value:?}");
            assert!(same(&shared, &value), "{shared:?}\n{value:?}");
        }
        [None, None, None] => {}
        mixed => panic!("some can be written, some not: {mixed:?}"),
    }
}

/// Reads a value in every way, and compares.
fn value<F: Format>(body: &Body, at: Member<'_>) -> Result<Value, Error> {
    let input = body.as_bytes().len();
    let value = read::<F, Value>(body, at, false, &Limits::DEFAULT);
    check(&value, input);
    let shared = read_shared::<F, Value>(body, at, &Limits::DEFAULT);
    assert_eq!(shown(&value), shown(&shared));

    // Smaller limits refuse, and change nothing else.
    let limited = read::<F, Value>(body, at, false, &SMALL);
    check(&limited, input);
    if !limited.as_ref().is_err_and(Error::is_limit) {
        assert_eq!(shown(&value), shown(&limited));
    }

    // A client takes whatever a server takes, and finds the same in it.
    let lenient = read::<F, Value>(body, at, true, &Limits::DEFAULT);
    check(&lenient, input);
    if value.is_ok() {
        assert_eq!(shown(&lenient), shown(&value));
    }

    if let Ok(value) = &value {
        match encode::<F, Value>(value, at) {
            Ok(written) => {
                let body = Body::from(written);
                let again = read::<F, Value>(&body, at, false, &Limits::DEFAULT).unwrap();
                assert!(wire::<F>().alike(value, &again), "{value:?}\n{again:?}");
                // What was written once is canonical.
                assert_eq!(encode::<F, Value>(&again, at).unwrap(), body.as_bytes());
            }
            Err(error) => assert!(unwritable(&error), "{error}"),
        }
    }
    value
}

/// Reads by the copy of the code that was made for the format.
fn read<F: Format, T: for<'de> Decode<'de>>(
    body: &Body,
    at: Member<'_>,
    lenient: bool,
    limits: &Limits,
) -> Result<T, Error> {
    support::decode_from::<F, T>(body, at, lenient, limits)
}

/// Reads by the one copy of the code that serves every format.
fn read_shared<F: Format, T: for<'de> Decode<'de>>(
    body: &Body,
    at: Member<'_>,
    limits: &Limits,
) -> Result<T, Error> {
    let mut decoder = F::decoder(body, false, limits)?;
    let shared: &mut dyn Decoder<'_> = &mut decoder;
    let value = T::decode(at, shared)?;
    F::finish(&mut decoder)?;
    Ok(value)
}

fn message<T>(result: &Result<T, Error>) -> Option<String> {
    result.as_ref().err().map(Error::to_string)
}

fn shown<T: Debug>(result: &Result<T, Error>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}

/// An error of a reader says where and what, shortly and in printable text.
pub(crate) fn check<T>(result: &Result<T, Error>, input: usize) {
    let Err(error) = result else {
        return;
    };
    match error.kind() {
        // Said before anything is read.
        ErrorKind::Limit(LimitKind::Bytes(_)) => {}
        _ => assert!(error.offset().is_some_and(|at| at <= input), "{error}"),
    }
    assert!(error.is_sender_fault(), "{error}");
    assert!(!error.format().is_empty(), "{error}");
    let message = error.to_string();
    assert!(message.len() < 10_000, "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
}

/// JSON is what others take for JSON. Three differences are meant to be: a key
/// that comes twice is an error here, a byte order mark is skipped, and there
/// are limits.
fn like_serde(text: &str) {
    let ours = json::read_value(text);
    let theirs: Result<serde_json::Value, _> =
        serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    match (ours, theirs) {
        (Ok(_), Err(theirs)) => panic!("ours alone takes it: {theirs}"),
        (Err(ours), Ok(_)) => {
            assert!(
                ours.is_limit() || ours.kind() == ErrorKind::Duplicate,
                "{ours}"
            );
        }
        _ => {}
    }
    if let Ok(ours) = json::read_value(text) {
        let pretty = json::read_value(&json::pretty(text)).unwrap();
        assert_eq!(shown(&Ok(ours)), shown(&Ok(pretty)));
    }
}

/// What people write, and what stands in models.
fn people(text: &str) {
    for profile in [JsonProfile::HUMAN, JsonProfile::NODE] {
        let at = root("Scalars");
        let read = |text: &str| {
            let mut decoder = JsonDecoder::from_str(text, profile, &Limits::DEFAULT)?;
            let value = Value::decode(at, &mut decoder)?;
            decoder.finish()?;
            Ok(value)
        };
        let value = read(text);
        check(&value, text.len());
        if let Ok(value) = value
            && !profile.text_blobs
        {
            let mut encoder = JsonEncoder::new(profile, Vec::new());
            value.encode(at, &mut encoder);
            if let Ok(written) = encoder.finish() {
                let again = read(std::str::from_utf8(&written).unwrap()).unwrap();
                assert!(Wire::Json.alike(&value, &again), "{value:?}\n{again:?}");
            }
        }
    }
}

fn wire<F: Format>() -> Wire {
    match F::NAME {
        "JSON" => Wire::Json,
        "CBOR" => Wire::Cbor,
        "XML" => Wire::Xml,
        "XML-RPC" => Wire::XmlRpc,
        other => panic!("{other}"),
    }
}
