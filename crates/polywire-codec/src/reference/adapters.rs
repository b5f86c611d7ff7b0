//! Passes messages from the decoders and encoders of the formats to their reference
//! implementations.

use polywire_schema::{Decoder as _, Encoder as _, Error, ErrorKind, Member};

use super::decode::TreeDecoder;
use super::encode::{EncodeFormat, plain_text};
use super::format::DecodeFormat;
use super::node::{Data, Node};
use super::{ReferenceDecoder, ReferenceEncoder, cbor, form, json, xml, xmlrpc};
use crate::{DecodeAny, EncodeAny};

/// Each row: `|encoder| reference encoder => method of the encoder that appends its output`.
macro_rules! encoders {
    ($($encoder:ty: |$this:ident| $reference:expr => $push:ident;)*) => {
        $(impl ReferenceEncoder for $encoder {
            fn write_reference(&mut self, at: Member<'_>, message: &dyn EncodeAny) {
                let $this = &*self;
                let mut reference = $reference;
                message.encode_any(at, &mut reference);
                match reference.finish() {
                    Ok(written) => self.$push(&written),
                    Err(error) => self.fail(error),
                }
            }
        })*
    };
}

encoders! {
    crate::cbor::CborEncoder: |this| cbor::CborEncoder::new(this.defaults()) => raw;
    crate::form::FormEncoder: |this| form::FormEncoder::new(this.profile()) => push_fields;
    crate::json::JsonEncoder: |this| json::JsonEncoder::new(this.profile()) => push_value;
    crate::xml::XmlEncoder<'_>:
        |this| xml::XmlEncoder::new(this.profile(), this.is_open()) => push_value;
}

/// Reads the members of `at`. Returns the offset of their end.
fn read_members<'de, F: DecodeFormat>(
    mut reference: TreeDecoder<F>,
    at: Member<'_>,
    sink: &mut dyn DecodeAny<'de>,
) -> Result<usize, Error> {
    sink.decode_any(at, &mut reference)?;
    Ok(reference.end())
}

impl<'de> ReferenceDecoder<'de> for crate::cbor::CborDecoder<'de> {
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error> {
        let (bytes, limits, profile) = self.rest_of_message();
        let reference = cbor::CborDecoder::new(bytes, self.offset(), profile, &limits)?;
        self.go_to(read_members(reference, at, sink)?);
        Ok(())
    }
}

impl<'de> ReferenceDecoder<'de> for crate::form::FormDecoder<'de> {
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error> {
        let (text, limits, profile) = self.input();
        let reference = form::FormDecoder::new(text, profile, &limits)?;
        read_members(reference, at, sink).map(drop)
    }
}

impl<'de> ReferenceDecoder<'de> for crate::json::JsonDecoder<'de> {
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error> {
        let (text, limits, profile) = self.rest_of_message();
        let reference = json::JsonDecoder::new(text, self.offset(), profile, &limits)?;
        self.go_to(read_members(reference, at, sink)?);
        Ok(())
    }
}

impl<'de> ReferenceDecoder<'de> for crate::xml::XmlDecoder<'de> {
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error> {
        let (text, start, limits, profile) = self.rest_of_message();
        let reference = xml::XmlDecoder::at(text, start, self.is_at_root(), profile, &limits)?;
        self.go_to(read_members(reference, at, sink)?);
        Ok(())
    }
}

impl ReferenceEncoder for crate::xmlrpc::XmlRpcEncoder {
    fn write_reference(&mut self, at: Member<'_>, message: &dyn EncodeAny) {
        let (style, defaults, positional) = self.settings();
        let mut reference = xmlrpc::XmlRpcEncoder::new(style, defaults);
        message.encode_any(at, &mut reference);
        let written = reference.into_tree().and_then(|(root, format)| {
            let root = root.unwrap_or_default();
            match &root.data {
                Data::Map(members) if positional => push_parameters(self, at, members, &format),
                _ => {
                    self.raw(&format.write(&root)?);
                    Ok(())
                }
            }
        });
        if let Err(error) = written {
            self.fail(error.in_format("XML-RPC"));
        }
    }
}

/// Writes the members of a structure as the parameters of a call.
fn push_parameters(
    encoder: &mut crate::xmlrpc::XmlRpcEncoder,
    at: Member<'_>,
    members: &[(Node, Node)],
    format: &impl EncodeFormat,
) -> Result<(), Error> {
    encoder.begin_structure(at, members.len());
    for (name, value) in members {
        let name = plain_text(&name.data);
        let member = at.target().members().find(|member| member.name() == name);
        if member.is_some_and(|member| encoder.member(member)) {
            encoder.raw(&format.write(value)?);
        }
    }
    encoder.end_structure(at);
    Ok(())
}

impl<'de> ReferenceDecoder<'de> for crate::xmlrpc::XmlRpcDecoder<'de> {
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error> {
        let root = match self.is_before_parameters() {
            true => parameters(self, at)?,
            false => next_value(self)?,
        };
        let (.., limits, profile) = self.rest_of_message();
        let reference = xmlrpc::XmlRpcDecoder::of(root, profile, &limits)?;
        read_members(reference, at, sink).map(drop)
    }
}

/// The structure in the parameters of a call: either the first parameter is the structure, or each
/// parameter is one of its members.
fn parameters(
    decoder: &mut crate::xmlrpc::XmlRpcDecoder<'_>,
    at: Member<'_>,
) -> Result<Node, Error> {
    let (.., profile) = decoder.rest_of_message();
    let mut members = Vec::new();
    let mut names = at.target().members().map(Member::name);
    while decoder.parameter()? {
        if !profile.positional {
            return next_value(decoder);
        }
        let Some(name) = names.next() else {
            return Err(decoder.error(ErrorKind::Unknown, "no more parameters"));
        };
        members.push((Node::text(name), next_value(decoder)?));
    }
    Ok(Data::Map(members).into())
}

fn next_value(decoder: &mut crate::xmlrpc::XmlRpcDecoder<'_>) -> Result<Node, Error> {
    let (text, start, limits, profile) = decoder.rest_of_message();
    let value = match start {
        Some(start) => xmlrpc::value_at(text, start, profile, &limits)?,
        None => Node::text(""),
    };
    decoder.go_to(start.map(|_| value.end));
    Ok(value)
}
