//! The parameters of a call, before they are decoded.

use bytes::Bytes;
use polywire_codec::cbor::{CborDecoder, CborProfile};
use polywire_codec::xmlrpc::{XmlRpcDecoder, XmlRpcProfile};
use polywire_protocol::Fault;
use polywire_schema::{Body, Limits, Value};
use serde::de::DeserializeOwned;

use super::format;
use crate::call::decoding::is_large;

/// The undecoded parameters of a call. The method decodes them into its own types.
///
/// Layers around methods receive them in this form. If a layer decodes them, the method decodes them again.
pub struct Parameters {
    bytes: Bytes,
    location: Location,
    limits: Limits,
}

/// The format of parameters, and where they are in a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Location {
    /// The body is an XML-RPC call.
    XmlRpc(XmlRpcProfile),
    /// The body is the XML-RPC array of the parameters, cut from a request at this offset.
    XmlRpcItem(usize, XmlRpcProfile),
    /// The body is a CBOR array of the parameters.
    Cbor,
    /// The parameters are the CBOR array from the first offset to the second.
    CborItem(usize, usize),
}

/// The bytes of a body.
#[derive(Clone, Copy)]
pub(crate) enum BodyBytes<'a> {
    /// Valid only until the call has started.
    Borrowed(&'a [u8]),
    Shared(&'a Bytes),
}

impl BodyBytes<'_> {
    pub(crate) fn to_bytes(self) -> Bytes {
        match self {
            Self::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            Self::Shared(bytes) => bytes.clone(),
        }
    }
}

/// The parameters of a call, with a reader before the first.
pub(crate) struct Source<'a> {
    pub(crate) bytes: BodyBytes<'a>,
    pub(crate) location: Location,
    pub(crate) limits: &'a Limits,
    pub(crate) reader: Reader<'a>,
}

pub(crate) enum Reader<'a> {
    XmlRpc(XmlRpcDecoder<'a>),
    Cbor(CborDecoder<'a>),
    /// Other data may follow the parameters.
    CborItem(CborDecoder<'a>),
}

impl Parameters {
    /// Decodes all parameters into one type: a tuple, an array or a `Vec`, `()` if there are none. Any other type is that
    /// of the only parameter.
    ///
    /// # Errors
    ///
    /// They do not have this type. The fault contains the number and position of the invalid parameter.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        self.read(|source| source.decode())
    }

    /// Decodes all parameters into values.
    ///
    /// # Errors
    ///
    /// They cannot be decoded.
    pub fn values(&self) -> Result<Vec<Value>, Fault> {
        self.read(|source| source.values())
    }

    /// The name of the format: `XML-RPC` or `CBOR`.
    #[must_use]
    pub const fn format(&self) -> &'static str {
        match self.location {
            Location::XmlRpc(_) | Location::XmlRpcItem(..) => "XML-RPC",
            Location::Cbor | Location::CborItem(..) => "CBOR",
        }
    }

    /// The encoded parameters: within a multicall those of the call, otherwise the whole request body. Equal bytes of
    /// calls of one method mean equal parameters.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self.location {
            Location::XmlRpc(_) | Location::XmlRpcItem(..) | Location::Cbor => &self.bytes,
            Location::CborItem(start, end) => self.bytes.get(start..end).unwrap_or_default(),
        }
    }

    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(Source<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let body = Body::new(self.bytes.clone());
        read(self.location.open(&self.bytes, &body, &self.limits)?)
    }
}

impl Location {
    /// Returns a reader before the first parameter.
    pub(crate) fn open<'a>(
        self,
        bytes: &'a Bytes,
        body: &'a Body,
        limits: &'a Limits,
    ) -> Result<Source<'a>, Fault> {
        Ok(Source {
            bytes: BodyBytes::Shared(bytes),
            location: self,
            limits,
            reader: self.reader(body, limits)?,
        })
    }

    /// Returns a reader of borrowed CBOR parameters that are the whole input. Decoded strings and blobs are copied.
    pub(crate) fn borrowed<'a>(bytes: &'a [u8], limits: &'a Limits) -> Result<Source<'a>, Fault> {
        let decoder = CborDecoder::from_slice(bytes, CborProfile::DEFAULT, limits)?;
        Ok(Source {
            bytes: BodyBytes::Borrowed(bytes),
            location: Self::Cbor,
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

    pub(crate) const fn profile(self) -> XmlRpcProfile {
        match self {
            Self::XmlRpc(profile) | Self::XmlRpcItem(_, profile) => profile,
            Self::Cbor | Self::CborItem(..) => XmlRpcProfile::DEFAULT,
        }
    }

    /// Sets whether each member of an operation's input is a parameter.
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
    /// Whether the parameters are decoded on the pool.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        match self.bytes {
            BodyBytes::Borrowed(bytes) => is_large(bytes),
            BodyBytes::Shared(bytes) => is_large(bytes),
        }
    }

    /// Decodes all parameters into one type.
    pub(crate) fn decode<T: DeserializeOwned>(mut self) -> Result<T, Fault> {
        let read = format::decode(&mut self.reader);
        read.map_err(|error| format::fault(error, &self.reader))
    }

    /// Decodes all parameters into values.
    pub(crate) fn values(mut self) -> Result<Vec<Value>, Fault> {
        let read = format::values(&mut self.reader);
        read.map_err(|error| format::fault(error, &self.reader))
    }

    /// The parameters, to be decoded later.
    pub(crate) fn to_parameters(&self) -> Parameters {
        Parameters {
            bytes: self.bytes.to_bytes(),
            location: self.location,
            limits: *self.limits,
        }
    }
}

impl_debug!(|this| Parameters {
    format: this.format(),
    bytes: this.bytes().len()
});
