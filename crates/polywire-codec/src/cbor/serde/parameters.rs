//! The parameters of a call: an array, or nothing at all.

use polywire_schema::{Error, ErrorKind, Member, Seq, TokenReader as _};

use super::super::CborDecoder;
use crate::parameters::Source;
use crate::serde::ValueDeserializer;

/// The parameters that are left.
pub(super) struct List<'a, 'de> {
    decoder: &'a mut CborDecoder<'de>,
    seq: Seq,
    ended: bool,
}

impl<'a, 'de> List<'a, 'de> {
    pub(super) fn enter(decoder: &'a mut CborDecoder<'de>) -> Result<Self, Error> {
        let ended = decoder.bytes.is_empty();
        let seq = match ended {
            true => Seq::default(),
            false => decoder.enter(4, Member::DOCUMENT)?,
        };
        Ok(Self {
            decoder,
            seq,
            ended,
        })
    }
}

impl<'de> Source<'de> for List<'_, 'de> {
    type Reader<'b>
        = ValueDeserializer<'b, CborDecoder<'de>>
    where
        Self: 'b;

    #[inline]
    fn next(&mut self) -> Result<bool, Error> {
        if self.ended {
            return Ok(false);
        }
        let more = self.decoder.next_item(&mut self.seq)?;
        self.ended = !more;
        Ok(more)
    }

    #[inline]
    fn reader(&mut self) -> ValueDeserializer<'_, CborDecoder<'de>> {
        ValueDeserializer(self.decoder)
    }

    fn is_nothing(&mut self) -> Result<bool, Error> {
        let (at, ended) = (self.decoder.at, self.decoder.ended);
        let (seq, budget) = (self.seq.clone(), self.decoder.budget.mark());
        if !self.next()? || self.decoder.is_null()? && !self.next()? {
            return Ok(true);
        }
        (self.decoder.at, self.decoder.ended) = (at, ended);
        self.decoder.budget.back_to(budget);
        (self.seq, self.ended) = (seq, false);
        Ok(false)
    }

    #[cold]
    fn error(&self, kind: ErrorKind) -> Error {
        self.decoder.error(kind, "")
    }
}
