//! One input through every reader.

use std::fmt::{Debug, Write as _};

use polywire_codec::cbor::{CborDecoder, CborProfile};
use polywire_codec::form::{FormDecoder, FormProfile};
use polywire_codec::json::{self, JsonDecoder};
use polywire_codec::xml::{XmlDecoder, XmlProfile};
use polywire_codec::xmlrpc::{Duplicates, Leniency, XmlRpcDecoder, XmlRpcProfile, to_utf8};
use polywire_schema::{Body, Decode, Decoder, Encode, Error, Limits, Member, Value};
use test_data::record::Transcript;

use crate::inputs::{Input, Wire};
use crate::shapes::{
    Bucket, Choice, Collections, Named, Node, PutBlob, PutNode, PutThing, QueryInput, Scalars,
    Strict, Wide, root,
};
use crate::written::{FORM_PROFILES, JSON_PROFILES, XML_PROFILES};
use crate::{observe, serde_types, written};

/// Inputs of at most this many bytes are also cut off and changed at every byte.
const SHORT: usize = 160;

/// What a byte is changed to, beside one with another lowest and one with another highest bit.
const CHANGES: [u8; 3] = [b' ', b'<', 0xff];

/// Small enough that ordinary inputs reach them.
const SMALL: Limits = Limits::DEFAULT
    .with_bytes(300)
    .with_depth(4)
    .with_items(8)
    .with_string(60);

pub(crate) const SHAPES: [&str; 12] = [
    "Bucket",
    "Choice",
    "Collections",
    "Named",
    "Node",
    "PutBlob",
    "PutNode",
    "PutThing",
    "QueryInput",
    "Scalars",
    "Strict",
    "Wide",
];

/// Something that is read from a decoder whose type the caller does not know.
trait Visit {
    fn visit<'de, D: Decoder<'de>>(
        &mut self,
        profile: &str,
        decoder: Result<D, Error>,
        finish: fn(&mut D) -> Result<(), Error>,
    );
}

fn decode<'de, T: Decode<'de>, D: Decoder<'de>>(
    decoder: Result<D, Error>,
    at: Member<'_>,
    finish: fn(&mut D) -> Result<(), Error>,
) -> Result<T, Error> {
    let mut decoder = decoder?;
    let value = T::decode(at, &mut decoder)?;
    finish(&mut decoder)?;
    Ok(value)
}

/// Calls the visitor with a fresh decoder of every profile of the wire.
fn decoders(wire: Wire, body: &Body, limits: &Limits, all: bool, visit: &mut impl Visit) {
    let count = if all { usize::MAX } else { 1 };
    match wire {
        Wire::Json => {
            for (name, profile) in JSON_PROFILES.into_iter().take(count) {
                visit.visit(
                    name,
                    JsonDecoder::from_body(body, profile, limits),
                    JsonDecoder::finish,
                );
            }
        }
        Wire::Cbor => {
            let profiles = [
                ("default", CborProfile::DEFAULT),
                ("client", CborProfile::DEFAULT.for_client()),
            ];
            for (name, profile) in profiles.into_iter().take(count) {
                visit.visit(
                    name,
                    CborDecoder::from_body(body, profile, limits),
                    CborDecoder::finish,
                );
            }
        }
        Wire::Xml => {
            for (name, profile) in XML_PROFILES.into_iter().take(count) {
                visit.visit(
                    name,
                    XmlDecoder::from_body(body, profile, limits),
                    XmlDecoder::finish,
                );
            }
        }
        Wire::Form => {
            for (name, profile) in FORM_PROFILES.into_iter().take(count) {
                visit.visit(name, FormDecoder::from_body(body, profile, limits), |_| {
                    Ok(())
                });
            }
        }
        Wire::XmlRpcCall | Wire::XmlRpcResponse => {
            let lenient = Leniency::ALL;
            let profiles = [
                ("default", XmlRpcProfile::DEFAULT),
                ("client", XmlRpcProfile::DEFAULT.for_client()),
                ("positional", XmlRpcProfile::DEFAULT.with_positional(true)),
                ("lenient", XmlRpcProfile::DEFAULT.with_leniency(lenient)),
                (
                    "first",
                    XmlRpcProfile::DEFAULT.with_duplicates(Duplicates::First),
                ),
                (
                    "last",
                    XmlRpcProfile::DEFAULT.with_duplicates(Duplicates::Last),
                ),
            ];
            for (name, profile) in profiles.into_iter().take(count) {
                let decoder = match wire {
                    Wire::XmlRpcCall => {
                        XmlRpcDecoder::call(body, profile, limits).map(|(_, decoder)| decoder)
                    }
                    _ => XmlRpcDecoder::response(body, profile, limits).map(|(_, decoder)| decoder),
                };
                visit.visit(name, decoder, XmlRpcDecoder::finish);
            }
        }
    }
}

struct Dynamic<'a> {
    to: &'a mut Transcript,
    shape: &'a str,
    at: Member<'a>,
    /// The value that the first profile read.
    value: Option<Value>,
}

impl Visit for Dynamic<'_> {
    fn visit<'de, D: Decoder<'de>>(
        &mut self,
        profile: &str,
        decoder: Result<D, Error>,
        finish: fn(&mut D) -> Result<(), Error>,
    ) {
        let read = decode::<Value, D>(decoder, self.at, finish);
        observe::result(self.to, &format!("{} {profile}", self.shape), &read);
        if profile == "default" || profile == "query" {
            self.value = read.ok();
        }
    }
}

struct Typed<'a, T> {
    to: &'a mut Transcript,
    shape: &'a str,
    of: std::marker::PhantomData<T>,
}

impl<T: for<'de> Decode<'de> + Debug + Encode> Visit for Typed<'_, T> {
    fn visit<'de, D: Decoder<'de>>(
        &mut self,
        profile: &str,
        decoder: Result<D, Error>,
        finish: fn(&mut D) -> Result<(), Error>,
    ) {
        let read = decode::<T, D>(decoder, root(self.shape), finish);
        observe::result(self.to, &format!("typed {} {profile}", self.shape), &read);
    }
}

/// The input through every reader, and what is read through every writer.
pub(crate) fn everything(input: &Input, to: &mut Transcript) {
    let body = Body::from(input.bytes.clone());
    for limits in [Limits::DEFAULT, SMALL] {
        dynamic(input.wire, &body, &limits, to);
        typed(input.wire, &body, &limits, to);
    }
    others(input, &body, to);
    if input.bytes.len() <= SHORT {
        broken(input, to);
    }
}

fn dynamic(wire: Wire, body: &Body, limits: &Limits, to: &mut Transcript) {
    for shape in SHAPES.into_iter().chain(["Document"]) {
        let at = match shape {
            "Document" => Member::DOCUMENT,
            shape => root(shape),
        };
        let mut visit = Dynamic {
            to,
            shape,
            at,
            value: None,
        };
        decoders(wire, body, limits, true, &mut visit);
        let (value, whole) = (visit.value, *limits == Limits::DEFAULT);
        if let Some(value) = value
            && whole
        {
            written::everything(&value, at, to);
        }
    }
}

fn typed(wire: Wire, body: &Body, limits: &Limits, to: &mut Transcript) {
    fn read<T>(wire: Wire, body: &Body, limits: &Limits, shape: &str, to: &mut Transcript)
    where
        T: for<'de> Decode<'de> + Debug + Encode,
    {
        let of = std::marker::PhantomData;
        decoders(wire, body, limits, true, &mut Typed::<T> { to, shape, of });
    }

    read::<Bucket>(wire, body, limits, "Bucket", to);
    read::<Choice>(wire, body, limits, "Choice", to);
    read::<Collections>(wire, body, limits, "Collections", to);
    read::<Named>(wire, body, limits, "Named", to);
    read::<Node>(wire, body, limits, "Node", to);
    read::<PutBlob>(wire, body, limits, "PutBlob", to);
    read::<PutNode>(wire, body, limits, "PutNode", to);
    read::<PutThing>(wire, body, limits, "PutThing", to);
    read::<QueryInput>(wire, body, limits, "QueryInput", to);
    read::<Scalars>(wire, body, limits, "Scalars", to);
    read::<Strict>(wire, body, limits, "Strict", to);
    read::<Wide>(wire, body, limits, "Wide", to);
}

/// Readers that only one format has.
fn others(input: &Input, body: &Body, to: &mut Transcript) {
    serde_types::everything(input, to);
    match input.wire {
        Wire::Json => {
            if let Ok(text) = std::str::from_utf8(&input.bytes) {
                writeln!(to, "pretty: {}", json::pretty(text)).unwrap();
            }
        }
        Wire::Cbor => {
            let mut decoder =
                CborDecoder::from_slice(&input.bytes, CborProfile::DEFAULT, &Limits::DEFAULT);
            let skipped = decoder
                .as_mut()
                .map(|decoder| (decoder.skip(), decoder.offset()));
            writeln!(to, "skip: {skipped:?}").unwrap();
        }
        Wire::Xml => {
            let skipped = XmlDecoder::from_body(body, XmlProfile::DEFAULT, &Limits::DEFAULT)
                .and_then(|mut decoder| {
                    let element = decoder.element().to_owned();
                    let peeked = decoder
                        .peek_text(&["Name"])?
                        .map(std::borrow::Cow::into_owned);
                    decoder.skip()?;
                    decoder.finish()?;
                    Ok((element, peeked))
                });
            observe::result(to, "skip", &skipped);
            let entered = XmlDecoder::from_body(body, XmlProfile::DEFAULT, &Limits::DEFAULT)
                .and_then(|mut decoder| {
                    let found = decoder.enter("left")?;
                    let value = Value::decode(root("Node"), &mut decoder)?;
                    decoder.finish()?;
                    Ok((found, value))
                });
            observe::result(to, "enter", &entered);
        }
        Wire::Form => {
            let decoder = FormDecoder::from_body(body, FormProfile::AWS_QUERY, &Limits::DEFAULT);
            let finished = decoder.and_then(|mut decoder| {
                let value = Value::decode(root("QueryInput"), &mut decoder)?;
                decoder.finish()?;
                Ok(value)
            });
            observe::result(to, "finish", &finished);
        }
        Wire::XmlRpcCall => {
            for profile in [
                XmlRpcProfile::DEFAULT,
                XmlRpcProfile::DEFAULT.with_leniency(Leniency::ALL),
            ] {
                let parameters = XmlRpcDecoder::call(body, profile, &Limits::DEFAULT).and_then(
                    |(method, mut decoder)| {
                        let mut values = Vec::new();
                        while decoder.parameter()? {
                            values.push(Value::decode(Member::DOCUMENT, &mut decoder)?);
                        }
                        decoder.finish()?;
                        Ok((method.into_owned(), values))
                    },
                );
                observe::result(to, "parameters", &parameters);
                let calls = XmlRpcDecoder::call(body, profile, &Limits::DEFAULT)
                    .and_then(|(_, mut decoder)| Ok(format!("{:?}", decoder.multicall()?)));
                observe::result(to, "multicall", &calls);
            }
        }
        Wire::XmlRpcResponse => {
            let utf8 = to_utf8(body, None, Leniency::ALL, &Limits::DEFAULT);
            let utf8 = utf8.map(|body| body.map(|body| body.as_bytes().to_vec()));
            observe::result(to, "utf8", &utf8);
            for profile in [
                XmlRpcProfile::DEFAULT,
                XmlRpcProfile::DEFAULT.with_leniency(Leniency::ALL),
            ] {
                let reply = XmlRpcDecoder::response(body, profile, &Limits::DEFAULT)
                    .map(|(reply, _)| reply);
                observe::result(to, "reply", &reply);
                let results = XmlRpcDecoder::response(body, profile, &Limits::DEFAULT)
                    .and_then(|(_, mut decoder)| Ok(format!("{:?}", decoder.multicall_results()?)));
                observe::result(to, "results", &results);
                let entered = XmlRpcDecoder::response(body, profile, &Limits::DEFAULT).and_then(
                    |(_, mut decoder)| {
                        let found = decoder.enter("detail")?;
                        found
                            .then(|| Value::decode(root("Node"), &mut decoder))
                            .transpose()
                    },
                );
                observe::result(to, "enter", &entered);
            }
        }
    }
}

/// The input cut off and changed at every byte.
fn broken(input: &Input, to: &mut Transcript) {
    let mut read = |bytes: &[u8], label: &str| {
        let body = Body::from(bytes.to_vec());
        for shape in ["Node", "Collections", "Document"] {
            let at = match shape {
                "Document" => Member::DOCUMENT,
                shape => root(shape),
            };
            let shape = &format!("{label} {shape}");
            let mut visit = Dynamic {
                to,
                shape,
                at,
                value: None,
            };
            decoders(input.wire, &body, &Limits::DEFAULT, false, &mut visit);
        }
    };
    for len in 0..input.bytes.len() {
        read(&input.bytes[..len], &format!("cut at {len}"));
    }
    let mut bytes = input.bytes.clone();
    for at in 0..bytes.len() {
        let before = bytes[at];
        for changed in CHANGES.into_iter().chain([before ^ 1, before ^ 0x80]) {
            bytes[at] = changed;
            read(&bytes, &format!("{changed:#x} at {at}"));
        }
        bytes[at] = before;
    }
}
