//! Variants of enums.

use polywire_schema::Error;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};

use super::de::Reader;
use crate::xmlrpc::XmlRpcDecoder;
use crate::xmlrpc::value::Type;

impl<'de> Reader<'_, 'de> {
    /// A variant: its name, or a struct of the one member that has its name.
    pub(super) fn variant<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let decoder = self.decoder;
        let start = decoder.cursor.at;
        let (kind, tag) = decoder.value_type()?;
        let visited = match kind {
            Type::Struct => {
                let mut seq = decoder.begin_struct(tag.mark())?;
                let Some(name) = decoder.next_member(&mut seq)? else {
                    let expected = "a struct of one member, which names the variant";
                    return Err(decoder.invalid(start, expected));
                };
                let value = visitor.visit_enum(Variant {
                    decoder,
                    name: &name,
                    unit: false,
                });
                let value = value.map_err(|error| decoder.placed(error, start))?;
                if decoder.next_member(&mut seq)?.is_some() {
                    let expected = "a struct of one member, which names the variant";
                    return Err(decoder.invalid(start, expected));
                }
                return Ok(value);
            }
            _ => {
                decoder.cursor.at = start;
                let name = decoder.string()?;
                visitor.visit_enum(Variant {
                    decoder,
                    name: &name,
                    unit: true,
                })
            }
        };
        visited.map_err(|error| decoder.placed(error, start))
    }
}

/// A variant of an enum: its name, and its content if it is not a name alone.
struct Variant<'a, 'de> {
    decoder: &'a mut XmlRpcDecoder<'de>,
    name: &'a str,
    unit: bool,
}

impl<'a, 'de> EnumAccess<'de> for Variant<'a, 'de> {
    type Error = Error;
    type Variant = Content<'a, 'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Content<'a, 'de>), Error> {
        let variant = seed.deserialize(self.name.into_deserializer())?;
        let content = Content {
            decoder: self.decoder,
            unit: self.unit,
        };
        Ok((variant, content))
    }
}

/// The content of a variant.
struct Content<'a, 'de> {
    decoder: &'a mut XmlRpcDecoder<'de>,
    unit: bool,
}

impl<'a, 'de> Content<'a, 'de> {
    fn reader(self) -> Result<Reader<'a, 'de>, Error> {
        match self.unit {
            false => Ok(Reader::new(self.decoder)),
            true => Err(Error::invalid_type(
                Unexpected::UnitVariant,
                &"a struct of one member, the content of the variant",
            )),
        }
    }
}

impl<'de> VariantAccess<'de> for Content<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.unit {
            true => Ok(()),
            false => self.decoder.deserialize(),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.reader()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.reader()?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let reader = self.reader()?;
        let seq = reader.decoder.begin_any_struct()?;
        reader.mapping(seq, false, visitor)
    }
}
