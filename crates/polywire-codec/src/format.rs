//! The table of formats.
//!
//! A format consists of one folder and one row in this table. The table generates [`Format`],
//! [`Message`] and [`Sink`].

use polywire_schema::{Decoder, Encoder};

use crate::cbor::{CborDecoder, CborEncoder};
use crate::form::{FormDecoder, FormEncoder};
use crate::json::{JsonDecoder, JsonEncoder};
use crate::message::{DecodeAny, DecodeWith, EncodeAny, EncodeWith};
use crate::msgpack::{MsgPackDecoder, MsgPackEncoder};
use crate::xml::{XmlDecoder, XmlEncoder};
use crate::xmlrpc::{XmlRpcDecoder, XmlRpcEncoder};

/// The encoder of a format.
pub trait FormatEncoder: Encoder + Sized {
    /// The format.
    const FORMAT: Format;
}

/// The decoder of a format.
pub trait FormatDecoder<'de>: Decoder<'de> + Sized {
    /// The format.
    const FORMAT: Format;
}

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident: $text:literal, $encoder:ty, $decoder:ty;)+) => {
        /// A data format.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $name,)+
        }

        impl Format {
            /// All formats.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The name of the format, which is also the name of its module in this crate.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }

        /// A value that can be written in any format.
        ///
        /// A protocol is compiled once for all operations, so it cannot be generic over
        /// their types. The code that reads and writes a type is compiled for that type
        /// and one format, for speed. This trait connects the two: [`write`](#method.write)
        /// on `dyn Message` calls the code that was compiled for its type and for the encoder.
        pub trait Message: EncodeAny $(+ for<'x> EncodeWith<$encoder>)+ {}

        impl<M> Message for M
        where
            M: EncodeAny + ?Sized,
            $(M: for<'x> EncodeWith<$encoder>,)+
        {
        }

        /// A structure that can be read from any format, in parts such as the body and the
        /// headers of an HTTP message.
        ///
        /// A protocol calls [`read`](#method.read) or
        /// [`decode_any`](DecodeAny::decode_any) for each part, and then
        /// [`finish`](DecodeAny::finish).
        pub trait Sink<'de>: DecodeAny<'de> $(+ DecodeWith<'de, $decoder>)+ {}

        impl<'de, S> Sink<'de> for S
        where
            S: DecodeAny<'de> + ?Sized,
            $(S: DecodeWith<'de, $decoder>,)+
        {
        }

        $(
            impl<'x> FormatEncoder for $encoder {
                const FORMAT: Format = Format::$name;
            }

            impl<'de> FormatDecoder<'de> for $decoder {
                const FORMAT: Format = Format::$name;
            }
        )+
    };
}

formats! {
    /// CBOR, RFC 8949: rpcv2Cbor.
    Cbor: "cbor", CborEncoder, CborDecoder<'de>;
    /// Forms: requests in awsQuery and ec2Query.
    Form: "form", FormEncoder, FormDecoder<'de>;
    /// JSON, RFC 8259: awsJson, restJson1, rpcv2Json.
    Json: "json", JsonEncoder, JsonDecoder<'de>;
    /// MessagePack.
    MsgPack: "msgpack", MsgPackEncoder, MsgPackDecoder<'de>;
    /// XML 1.0: restXml, and responses in awsQuery and ec2Query.
    Xml: "xml", XmlEncoder<'x>, XmlDecoder<'de>;
    /// XML-RPC.
    XmlRpc: "xmlrpc", XmlRpcEncoder, XmlRpcDecoder<'de>;
}
