//! One member of each scalar kind.

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decode, Decoder, Encode, Encoder, Error, Member, Text, Timestamp,
    Value,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scalars {
    pub(crate) byte: Option<i8>,
    pub(crate) short: Option<i16>,
    pub(crate) integer: Option<i32>,
    pub(crate) long: Option<i64>,
    pub(crate) float: Option<f32>,
    pub(crate) double: Option<f64>,
    pub(crate) big_integer: Option<BigInteger>,
    pub(crate) big_decimal: Option<BigDecimal>,
    pub(crate) boolean: Option<bool>,
    pub(crate) string: Option<Text>,
    pub(crate) suit: Option<Suit>,
    pub(crate) rank: Option<Rank>,
    pub(crate) blob: Option<Blob>,
    pub(crate) time: Option<Timestamp>,
    pub(crate) date_time: Option<Timestamp>,
    pub(crate) epoch_seconds: Option<Timestamp>,
    pub(crate) http_date: Option<Timestamp>,
    pub(crate) document: Option<Value>,
}

super::optional_members!(Scalars {
    byte,
    short,
    integer,
    long,
    float,
    double,
    big_integer,
    big_decimal,
    boolean,
    string,
    suit,
    rank,
    blob,
    time,
    date_time,
    epoch_seconds,
    http_date,
    document,
});

/// An enum keeps variants that the model does not have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Suit {
    Clubs,
    Hearts,
    Unknown(Text),
}

impl Suit {
    fn as_str(&self) -> &str {
        match self {
            Self::Clubs => "CLUBS",
            Self::Hearts => "HEARTS",
            Self::Unknown(name) => name,
        }
    }
}

impl Encode for Suit {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encoder.string(at, self.as_str());
    }
}

impl<'de> Decode<'de> for Suit {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let name = decoder.text(at)?;
        Ok(match name.as_str() {
            "CLUBS" => Self::Clubs,
            "HEARTS" => Self::Hearts,
            _ => Self::Unknown(name),
        })
    }
}

/// An integer enum: a number with names for some.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rank(pub(crate) i32);

impl Rank {
    pub(crate) const ACE: Self = Self(1);
}

impl Encode for Rank {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encoder.integer(at, i64::from(self.0));
    }
}

impl<'de> Decode<'de> for Rank {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        i32::decode(at, decoder).map(Self)
    }
}
