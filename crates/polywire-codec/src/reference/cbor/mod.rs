//! The twin of [`cbor`](crate::cbor): RFC 8949.

mod big;
mod decode;
mod encode;
mod tree;

pub use decode::CborDecoder;
pub use encode::CborEncoder;

use polywire_schema::{Encoder as _, Error, Member};

use super::{ReferenceDecoder, ReferenceEncoder};
use crate::DecodeAny;
use crate::EncodeAny;

impl ReferenceEncoder for crate::cbor::CborEncoder {
    fn write_reference(&mut self, at: Member<'_>, message: &dyn EncodeAny) {
        let mut reference = CborEncoder::new(self.defaults());
        message.encode_any(at, &mut reference);
        match reference.finish() {
            Ok(value) => self.push_value(&value),
            Err(error) => self.fail(error),
        }
    }
}

impl<'de> ReferenceDecoder<'de> for crate::cbor::CborDecoder<'de> {
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error> {
        let (bytes, limits, profile) = self.rest_of_message();
        let mut reference = CborDecoder::new(bytes, self.offset(), profile, &limits)?;
        sink.decode_any(at, &mut reference)?;
        self.go_to(reference.end());
        Ok(())
    }
}
