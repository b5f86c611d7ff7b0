//! A structure of more members than fit the two words of a `Seq`.

use polywire_schema::{
    Decode, DecodeStructure, Decoder, END, Encode, Encoder, Error, ErrorKind, Member,
};

use super::WIDE;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wide {
    pub(crate) numbers: Vec<Option<i64>>,
    pub(crate) inner: Option<Box<Wide>>,
    pub(crate) list: Option<Vec<i32>>,
}

impl Default for Wide {
    fn default() -> Self {
        Self {
            numbers: vec![None; WIDE as usize],
            inner: None,
            list: None,
        }
    }
}

impl Encode for Wide {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        let present = self.numbers.iter().flatten().count()
            + usize::from(self.inner.is_some())
            + usize::from(self.list.is_some());
        encoder.begin_structure(at, present);
        for (number, at) in self.numbers.iter().zip(shape.members()) {
            super::put(number.as_ref(), at, encoder);
        }
        super::put(self.inner.as_ref(), shape.member(WIDE), encoder);
        super::put(self.list.as_ref(), shape.member(WIDE + 1), encoder);
        encoder.end_structure(at);
    }
}

impl<'de> Decode<'de> for Wide {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut wide = Self::default();
        Self::decode_part(&mut wide, at, decoder)?;
        Ok(wide)
    }
}

impl<'de> DecodeStructure<'de> for Wide {
    type Builder = Self;

    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut Self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        const INNER: u32 = WIDE;
        const LIST: u32 = WIDE + 1;
        let shape = at.target();
        let mut seq = decoder.structure(at)?;
        loop {
            let ordinal = decoder.member(shape, &mut seq)?;
            match ordinal {
                0..WIDE => {
                    let number = decoder.integer(shape.member(ordinal))?;
                    builder.numbers[ordinal as usize] = Some(number);
                }
                INNER => builder.inner = Some(Decode::decode(shape.member(INNER), decoder)?),
                LIST => builder.list = Some(Decode::decode(shape.member(LIST), decoder)?),
                END => return Ok(()),
                _ => return Err(decoder.error(ErrorKind::Internal, "a member of Wide")),
            }
        }
    }

    fn build<D: Decoder<'de> + ?Sized>(
        builder: Self,
        _: Member<'_>,
        _: &mut D,
    ) -> Result<Self, Error> {
        Ok(builder)
    }
}
