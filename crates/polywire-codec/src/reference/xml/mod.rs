//! The twin of XML.

mod decode;
mod encode;
mod tree;

pub use decode::XmlDecoder;
pub use encode::XmlEncoder;

use polywire_schema::{Encoder as _, Error, Member};

use super::{ReferenceDecoder, ReferenceEncoder};
use crate::DecodeAny;
use crate::EncodeAny;

impl ReferenceEncoder for crate::xml::XmlEncoder<'_> {
    fn write_reference(&mut self, at: Member<'_>, message: &dyn EncodeAny) {
        let mut reference = XmlEncoder::new(self.profile(), self.is_open());
        message.encode_any(at, &mut reference);
        match reference.finish() {
            Ok(value) => self.push_value(&value),
            Err(error) => self.fail(error),
        }
    }
}

impl<'de> ReferenceDecoder<'de> for crate::xml::XmlDecoder<'de> {
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error> {
        let (text, start, limits, profile) = self.rest_of_message();
        let mut reference = XmlDecoder::at(text, start, self.is_at_root(), profile, &limits)?;
        sink.decode_any(at, &mut reference)?;
        self.go_to(reference.end());
        Ok(())
    }
}
