//! The twin of [`json`](crate::json): RFC 8259.

mod decode;
mod encode;
mod tree;

pub use decode::JsonDecoder;
pub use encode::JsonEncoder;

use polywire_schema::{Encoder as _, Error, Member};

use super::{ReferenceDecoder, ReferenceEncoder};
use crate::DecodeAny;
use crate::EncodeAny;

impl ReferenceEncoder for crate::json::JsonEncoder {
    fn write_reference(&mut self, at: Member<'_>, message: &dyn EncodeAny) {
        let mut reference = JsonEncoder::new(self.profile());
        message.encode_any(at, &mut reference);
        match reference.finish() {
            Ok(value) => self.push_value(&value),
            Err(error) => self.fail(error),
        }
    }
}

impl<'de> ReferenceDecoder<'de> for crate::json::JsonDecoder<'de> {
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error> {
        let (text, limits, profile) = self.rest_of_message();
        let mut reference = JsonDecoder::new(text, self.offset(), profile, &limits)?;
        sink.decode_any(at, &mut reference)?;
        self.go_to(reference.end());
        Ok(())
    }
}
