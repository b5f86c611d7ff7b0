//! The twin of [`form`](crate::form): AWS's query protocols.

mod decode;
mod encode;
mod tree;

pub use decode::FormDecoder;
pub use encode::FormEncoder;

use polywire_schema::{Encoder as _, Error, Member};

use super::{ReferenceDecoder, ReferenceEncoder};
use crate::DecodeAny;
use crate::EncodeAny;

impl ReferenceEncoder for crate::form::FormEncoder {
    fn write_reference(&mut self, at: Member<'_>, message: &dyn EncodeAny) {
        let mut reference = FormEncoder::new(self.profile());
        message.encode_any(at, &mut reference);
        match reference.finish() {
            Ok(fields) => self.push_fields(&fields),
            Err(error) => self.fail(error),
        }
    }
}

impl<'de> ReferenceDecoder<'de> for crate::form::FormDecoder<'de> {
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error> {
        let (text, limits, profile) = self.whole();
        let mut reference = FormDecoder::new(text, profile, &limits)?;
        sink.decode_any(at, &mut reference)
    }
}
