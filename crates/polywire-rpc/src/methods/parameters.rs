//! The parameters of a call, before they are read.

use std::fmt;

use bytes::Bytes;
use polywire_codec::cbor::{CborDecoder, CborProfile};
use polywire_codec::xmlrpc::{XmlRpcDecoder, XmlRpcProfile};
use polywire_protocol::Fault;
use polywire_schema::{Body, Limits, Value};
use serde::de::DeserializeOwned;

use super::format;

/// The parameters of a call as they came: the body of the request, and where in
/// it they stand. Nothing of them is read before the method asks for its own
/// types.
///
/// Layers around methods see them so. What a layer reads is read again by the
/// method.
pub struct Parameters {
    bytes: Bytes,
    place: Place,
    limits: Limits,
}

/// Where in a body parameters stand, and in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// XML-RPC: those of the one call that the body is.
    XmlRpc(XmlRpcProfile),
    /// XML-RPC: an array that is the whole body, which stood in another at this
    /// offset.
    XmlRpcItem(usize, XmlRpcProfile),
    /// CBOR: an array that is the whole body.
    Cbor,
    /// CBOR: an array from this offset up to that one.
    CborItem(usize, usize),
}

/// The bytes of a body.
#[derive(Clone, Copy)]
pub(crate) enum Whole<'a> {
    /// They will be gone when the call has begun.
    Lent(&'a [u8]),
    Shared(&'a Bytes),
}

impl Whole<'_> {
    pub(crate) fn to_bytes(self) -> Bytes {
        match self {
            Self::Lent(bytes) => Bytes::copy_from_slice(bytes),
            Self::Shared(bytes) => bytes.clone(),
        }
    }
}

/// A reader that stands before the parameters of a call.
pub(crate) struct Source<'a> {
    pub(crate) bytes: Whole<'a>,
    pub(crate) place: Place,
    pub(crate) limits: &'a Limits,
    pub(crate) reader: Reader<'a>,
}

pub(crate) enum Reader<'a> {
    XmlRpc(XmlRpcDecoder<'a>),
    Cbor(CborDecoder<'a>),
    /// Behind the parameters more follows.
    CborItem(CborDecoder<'a>),
}

impl Parameters {
    /// All of them as one value of a type: a tuple, an array or a `Vec`, `()` if there
    /// are none; any other type is the one parameter.
    ///
    /// # Errors
    ///
    /// They are not of that type: a fault for the caller that says which one is
    /// not, and where.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        self.read(|source| source.decode())
    }

    /// All of them as values.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub fn values(&self) -> Result<Vec<Value>, Fault> {
        self.read(|source| source.values())
    }

    /// The name of their format: `XML-RPC` or `CBOR`.
    #[must_use]
    pub const fn format(&self) -> &'static str {
        match self.place {
            Place::XmlRpc(_) | Place::XmlRpcItem(..) => "XML-RPC",
            Place::Cbor | Place::CborItem(..) => "CBOR",
        }
    }

    /// The bytes that they are part of: for a call within a multicall its own
    /// parameters, else the whole body of the request. Calls of one method with the
    /// same bytes have the same parameters.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self.place {
            Place::XmlRpc(_) | Place::XmlRpcItem(..) | Place::Cbor => &self.bytes,
            Place::CborItem(start, end) => self.bytes.get(start..end).unwrap_or_default(),
        }
    }

    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(Source<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let body = Body::new(self.bytes.clone());
        read(self.place.open(&self.bytes, &body, &self.limits)?)
    }
}

impl Place {
    /// A reader of what stands here.
    pub(crate) fn open<'a>(
        self,
        bytes: &'a Bytes,
        body: &'a Body,
        limits: &'a Limits,
    ) -> Result<Source<'a>, Fault> {
        Ok(Source {
            bytes: Whole::Shared(bytes),
            place: self,
            limits,
            reader: self.reader(body, limits)?,
        })
    }

    /// A reader of parameters in CBOR that are all there is, and are not kept: what is read out of
    /// them is copied.
    pub(crate) fn lent<'a>(bytes: &'a [u8], limits: &'a Limits) -> Result<Source<'a>, Fault> {
        let decoder = CborDecoder::from_slice(bytes, CborProfile::DEFAULT, limits)?;
        Ok(Source {
            bytes: Whole::Lent(bytes),
            place: Self::Cbor,
            limits,
            reader: Reader::Cbor(decoder),
        })
    }

    pub(crate) fn reader<'a>(self, body: &'a Body, limits: &Limits) -> Result<Reader<'a>, Fault> {
        let cbor = || CborDecoder::from_body(body, CborProfile::DEFAULT, limits);
        Ok(match self {
            Self::XmlRpc(profile) => Reader::XmlRpc(XmlRpcDecoder::call(body, profile, limits)?.1),
            Self::XmlRpcItem(offset, profile) => {
                Reader::XmlRpc(XmlRpcDecoder::parameters_of(body, offset, profile, limits)?)
            }
            Self::Cbor => Reader::Cbor(cbor()?),
            Self::CborItem(offset, _) => {
                let mut decoder = cbor()?;
                decoder.begin_at(offset);
                Reader::CborItem(decoder)
            }
        })
    }

    /// How its XML-RPC is read.
    pub(crate) const fn profile(self) -> XmlRpcProfile {
        match self {
            Self::XmlRpc(profile) | Self::XmlRpcItem(_, profile) => profile,
            Self::Cbor | Self::CborItem(..) => XmlRpcProfile::DEFAULT,
        }
    }

    /// The same, where each member of an operation's input is a parameter.
    pub(crate) const fn with_positional(self, positional: bool) -> Self {
        match self {
            Self::XmlRpc(profile) => Self::XmlRpc(profile.with_positional(positional)),
            Self::XmlRpcItem(offset, profile) => {
                Self::XmlRpcItem(offset, profile.with_positional(positional))
            }
            other => other,
        }
    }
}

impl Source<'_> {
    /// All parameters as a value of a type.
    pub(crate) fn decode<T: DeserializeOwned>(mut self) -> Result<T, Fault> {
        let read = format::decode(&mut self.reader);
        read.map_err(|error| format::fault(error, &self.reader))
    }

    /// All parameters as values.
    pub(crate) fn values(mut self) -> Result<Vec<Value>, Fault> {
        let read = format::values(&mut self.reader);
        read.map_err(|error| format::fault(error, &self.reader))
    }

    /// The parameters, to be read later.
    pub(crate) fn keep(&self) -> Parameters {
        Parameters {
            bytes: self.bytes.to_bytes(),
            place: self.place,
            limits: *self.limits,
        }
    }
}

impl fmt::Debug for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameters")
            .field("format", &self.format())
            .field("bytes", &self.bytes().len())
            .finish_non_exhaustive()
    }
}
