//! The parameters of a call: an array, or an empty message.

use polywire_schema::{Error, ErrorKind, Member, Seq, TokenReader as _};

use super::super::CborDecoder;
use crate::parameters::ParameterSource;
use crate::serde::ValueDeserializer;

/// The remaining parameters.
pub(super) struct ParameterList<'a, 'de> {
    decoder: &'a mut CborDecoder<'de>,
    seq: Seq,
    is_done: bool,
}

impl<'a, 'de> ParameterList<'a, 'de> {
    pub(super) fn enter(decoder: &'a mut CborDecoder<'de>) -> Result<Self, Error> {
        let is_done = decoder.bytes.is_empty();
        let seq = match is_done {
            true => Seq::default(),
            false => decoder.enter(4, Member::DOCUMENT)?,
        };
        Ok(Self {
            decoder,
            seq,
            is_done,
        })
    }
}

impl<'de> ParameterSource<'de> for ParameterList<'_, 'de> {
    type Reader<'b>
        = ValueDeserializer<'b, CborDecoder<'de>>
    where
        Self: 'b;

    #[inline]
    fn next(&mut self) -> Result<bool, Error> {
        if self.is_done {
            return Ok(false);
        }
        let more = self.decoder.next_item(&mut self.seq)?;
        self.is_done = !more;
        Ok(more)
    }

    #[inline]
    fn reader(&mut self) -> ValueDeserializer<'_, CborDecoder<'de>> {
        ValueDeserializer(self.decoder)
    }

    fn is_none(&mut self) -> Result<bool, Error> {
        let (at, last_end) = (self.decoder.at, self.decoder.last_end);
        let (seq, budget) = (self.seq.clone(), self.decoder.budget.mark());
        if !self.next()? || self.decoder.null()? && !self.next()? {
            return Ok(true);
        }
        (self.decoder.at, self.decoder.last_end) = (at, last_end);
        self.decoder.budget.back_to(budget);
        (self.seq, self.is_done) = (seq, false);
        Ok(false)
    }

    #[cold]
    fn error(&self, kind: ErrorKind) -> Error {
        self.decoder.error(kind, "")
    }
}
