//! Passes values without a serde type from the formats of Polywire to a [`Value`].
//!
//! They are passed as variants of an enum, because no other value is one. Other formats also create
//! enums, from tags, with variant names from the message. So a variant is recognized by the address
//! of its name, which a message cannot forge.

use polywire_text::Timestamp;
use polywire_text::serde_token::number_of;
use serde::de::value::{BorrowedStrDeserializer, I128Deserializer, StrDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};

use crate::{BigDecimal, BigInteger, Error, Value};

static BIG_DECIMAL: &str = "$polywire::extended::BigDecimal";
static BIG_INTEGER: &str = "$polywire::extended::BigInteger";
static TIMESTAMP: &str = "$polywire::extended::Timestamp";

/// A value for which serde has no type.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum ExtendedValue {
    BigDecimal(BigDecimal),
    BigInteger(BigInteger),
    Timestamp(Timestamp),
}

impl ExtendedValue {
    /// Passes the value to the visitor of a [`Value`].
    ///
    /// # Errors
    ///
    /// Returns the error of the visitor. Visitors of other types reject enums.
    #[cold]
    pub fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_enum(self)
    }
}

impl<'de> EnumAccess<'de> for ExtendedValue {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        let name = match self {
            Self::BigDecimal(_) => BIG_DECIMAL,
            Self::BigInteger(_) => BIG_INTEGER,
            Self::Timestamp(_) => TIMESTAMP,
        };
        let variant = seed.deserialize(BorrowedStrDeserializer::<Error>::new(name))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for ExtendedValue {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Err(unexpected())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        let digits = match &self {
            Self::Timestamp(value) => {
                let number: I128Deserializer<Error> = number_of(*value).into_deserializer();
                return seed.deserialize(number);
            }
            Self::BigInteger(value) => value.as_str(),
            Self::BigDecimal(value) => value.as_str(),
        };
        seed.deserialize(StrDeserializer::<Error>::new(digits))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(unexpected())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        Err(unexpected())
    }
}

/// Returns the error for all other enums.
#[cold]
fn unexpected<E: serde::de::Error>() -> E {
    E::invalid_type(Unexpected::Enum, &"any value")
}

/// Receives an [`ExtendedValue`] in the visitor of a [`Value`].
pub(super) fn receive<'de, A: EnumAccess<'de>>(data: A) -> Result<Value, A::Error> {
    let (variant, content) = data.variant()?;
    match variant {
        Variant::BigDecimal => content.newtype_variant().map(Value::BigDecimal),
        Variant::BigInteger => content.newtype_variant().map(Value::BigInteger),
        Variant::Timestamp => content.newtype_variant().map(Value::Timestamp),
    }
}

enum Variant {
    BigDecimal,
    BigInteger,
    Timestamp,
}

impl<'de> Deserialize<'de> for Variant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(VariantVisitor)
    }
}

struct VariantVisitor;

impl<'de> Visitor<'de> for VariantVisitor {
    type Value = Variant;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, name: &'de str) -> Result<Variant, E> {
        let is = |own: &'static str| std::ptr::eq(name, own);
        match () {
            () if is(BIG_DECIMAL) => Ok(Variant::BigDecimal),
            () if is(BIG_INTEGER) => Ok(Variant::BigInteger),
            () if is(TIMESTAMP) => Ok(Variant::Timestamp),
            () => Err(unexpected()),
        }
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Variant, E> {
        Err(unexpected())
    }
}
