//! Reading values as serde types.

use std::borrow::Cow;

use polywire_schema::serde_names::{
    BLOB, DECIMAL_KEY, NUMBER_KEY, TIMESTAMP, TIMESTAMP_KEY, VALUE, number_of,
};
use polywire_schema::{BigInteger, Decoder, Error, ErrorKind, Event, Member, Seq, Value};
use polywire_text::base64;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};

use crate::xmlrpc::XmlRpcDecoder;
use crate::xmlrpc::value::Type;

/// Base64 of at most so many characters is decoded on the stack.
const FEW_BYTES: usize = 96;

/// The value at the reader.
pub(super) struct Reader<'a, 'de> {
    decoder: &'a mut XmlRpcDecoder<'de>,
    /// Whether a [`Value`] asks, which takes what serde has no type for.
    for_value: bool,
}

impl<'a, 'de> Reader<'a, 'de> {
    #[inline]
    pub(super) const fn new(decoder: &'a mut XmlRpcDecoder<'de>) -> Self {
        Self {
            decoder,
            for_value: false,
        }
    }

    /// An integer of 64 bits, which most are.
    #[inline(always)]
    fn integer(&mut self) -> Result<i64, Error> {
        match self.decoder.short_integer() {
            Some(value) => Ok(value),
            None => self.any_integer(),
        }
    }

    #[inline(never)]
    fn any_integer(&mut self) -> Result<i64, Error> {
        if let Some(value) = self.decoder.longer_integer() {
            return Ok(value);
        }
        let start = self.decoder.cursor.at;
        let value = self.decoder.any_integer("an integer")?;
        value
            .to_i64()
            .ok_or_else(|| self.decoder.invalid(start, "an integer of 64 bits"))
    }

    /// A string, however it is spelled, or a date as one.
    #[inline(never)]
    fn any_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let decoder = self.decoder;
        let start = decoder.cursor.at;
        if !decoder.empty_value && decoder.cursor.skip(b"<string>") {
            if let Some(text) = decoder.escaped_text() {
                let visited = visitor.visit_str(&text);
                return visited.map_err(|error| decoder.placed(error, start));
            }
            decoder.cursor.at = start;
        }
        let text = match decoder.is_date() {
            true => {
                let value = decoder.any_timestamp()?;
                Cow::Owned(iso_8601(value, decoder, start)?)
            }
            false => decoder.string()?,
        };
        let visited = match text {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        };
        visited.map_err(|error| decoder.placed(error, start))
    }

    /// Hands a scalar over. Without optimizations its variables would stand on the stack at
    /// every level of a nested value.
    #[cfg_attr(debug_assertions, inline(never))]
    fn visit_scalar<V: Visitor<'de>>(
        self,
        value: Value,
        start: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let decoder = &mut *self.decoder;
        let visited = match value {
            Value::Null => visitor.visit_unit(),
            Value::Boolean(value) => visitor.visit_bool(value),
            Value::Integer(value) => visitor.visit_i64(value),
            Value::BigInteger(value) => match value.as_str().parse::<i128>() {
                Ok(value) => visitor.visit_i128(value),
                Err(_) => visitor.visit_map(One(Some((NUMBER_KEY, value.as_str().to_owned())))),
            },
            Value::Double(value) => visitor.visit_f64(value),
            Value::BigDecimal(value) if self.for_value => {
                visitor.visit_map(One(Some((DECIMAL_KEY, value.as_str().to_owned()))))
            }
            Value::BigDecimal(value) => visitor.visit_str(value.as_str()),
            Value::Blob(value) => visitor.visit_byte_buf(value.to_vec()),
            Value::Timestamp(value) => {
                let text = iso_8601(value, decoder, start)?;
                match self.for_value {
                    true => visitor.visit_map(One(Some((TIMESTAMP_KEY, text)))),
                    false => visitor.visit_string(text),
                }
            }
            // The reader makes no others.
            _ => Err(Error::invalid_type(Unexpected::Other("a value"), &visitor)),
        };
        visited.map_err(|error| self.decoder.placed(error, start))
    }

    #[inline]
    fn sequence<V: Visitor<'de>>(self, mut seq: Seq, visitor: V) -> Result<V::Value, Error> {
        let decoder = self.decoder;
        let start = decoder.cursor.at;
        let mut items = Items {
            decoder,
            seq: &mut seq,
            for_value: self.for_value,
            ended: false,
        };
        let value = visitor.visit_seq(&mut items);
        let ended = items.ended;
        let value = value.map_err(|error| decoder.placed(error, start))?;
        if !ended && decoder.next_item(&mut seq)? {
            let error = decoder.error(ErrorKind::InvalidValue, "");
            return Err(error.expected(format!("an array of {} items", seq.count - 1)));
        }
        Ok(value)
    }

    fn mapping<V: Visitor<'de>>(
        self,
        mut seq: Seq,
        distinct: bool,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let decoder = self.decoder;
        let start = decoder.cursor.at;
        let plain = !distinct && decoder.is_plain(&seq);
        let mut members = Members {
            decoder,
            seq: &mut seq,
            for_value: self.for_value,
            ended: false,
            plain,
            names: distinct.then(Vec::new),
        };
        let value = visitor.visit_map(&mut members);
        let (ended, names) = (members.ended, members.names.take());
        let value = value.map_err(|error| decoder.placed(error, start))?;
        if !ended {
            while decoder.next_member(&mut seq)?.is_some() {
                decoder.count_item()?;
                decoder.skip_value()?;
            }
        }
        if let Some(mut names) = names {
            names.sort_unstable();
            if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(decoder.twice(&pair[0]));
            }
        }
        Ok(value)
    }
}

impl<'de> XmlRpcDecoder<'de> {
    /// The error of a type, with the place of its value if it has none.
    #[cold]
    pub(super) fn placed(&mut self, error: Error, start: usize) -> Error {
        if error.offset().is_some() {
            return error;
        }
        let end = std::mem::replace(&mut self.cursor.at, start);
        let place = self.error(error.kind(), "");
        self.cursor.at = end;
        error
            .in_format(place.format())
            .at_offset(start)
            .at_path(place.path().to_owned())
    }
}

/// A number as what was asked for.
macro_rules! numbers {
    ($($method:ident $visit:ident;)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
                let start = self.decoder.cursor.at;
                let value = self.integer()?;
                visitor.$visit(value).map_err(|error| self.decoder.placed(error, start))
            }
        )*
    };
}

/// The same without a sign, if it has none.
macro_rules! unsigned {
    ($($method:ident;)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
                let start = self.decoder.cursor.at;
                let value = self.integer()?;
                visit_unsigned(value, visitor).map_err(|error| self.decoder.placed(error, start))
            }
        )*
    };
}

/// Hands over what was asked for without a sign.
#[inline]
fn visit_unsigned<'de, V: Visitor<'de>>(value: i64, visitor: V) -> Result<V::Value, Error> {
    match u64::try_from(value) {
        Ok(value) => visitor.visit_u64(value),
        Err(_) => visitor.visit_i64(value),
    }
}

impl<'de> Deserializer<'de> for Reader<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let decoder = &mut *self.decoder;
        let start = decoder.cursor.at;
        let (kind, _) = decoder.value_type()?;
        decoder.cursor.at = start;
        let value = match kind {
            Type::String | Type::Untyped => return self.deserialize_str(visitor),
            _ => match decoder.any()? {
                Event::List(seq) => return self.sequence(seq, visitor),
                // A value sees to it itself that none comes twice.
                Event::Map(seq) => {
                    let distinct = !self.for_value;
                    return self.mapping(seq, distinct, visitor);
                }
                Event::Scalar(value) => value,
                _ => return Err(decoder.error(ErrorKind::Internal, "a value")),
            },
        };
        self.visit_scalar(value, start, visitor)
    }

    numbers! {
        deserialize_i8 visit_i64;
        deserialize_i16 visit_i64;
        deserialize_i32 visit_i64;
        deserialize_i64 visit_i64;
    }

    unsigned! {
        deserialize_u8;
        deserialize_u16;
        deserialize_u32;
    }

    #[inline]
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let visited = match self.decoder.plain_integer() {
            Some(value) => visit_unsigned(value, visitor),
            None => {
                let value = self.decoder.any_integer("an integer")?;
                match value.as_str().parse() {
                    Ok(value) => visitor.visit_u64(value),
                    Err(_) => {
                        let expected = "an integer from 0 to 2^64 - 1";
                        return Err(self.decoder.invalid(start, expected));
                    }
                }
            }
        };
        visited.map_err(|error| self.decoder.placed(error, start))
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value: BigInteger = self.decoder.any_integer("an integer")?;
        match value.as_str().parse() {
            Ok(value) => visitor
                .visit_i128(value)
                .map_err(|error| self.decoder.placed(error, start)),
            Err(_) => Err(self.decoder.invalid(start, "an integer of 128 bits")),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value: BigInteger = self.decoder.any_integer("an integer")?;
        match value.as_str().parse() {
            Ok(value) => visitor
                .visit_u128(value)
                .map_err(|error| self.decoder.placed(error, start)),
            Err(_) => Err(self
                .decoder
                .invalid(start, "an integer from 0 to 2^128 - 1")),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value = match self.decoder.plain_boolean() {
            Some(value) => value,
            None => self.decoder.boolean(Member::DOCUMENT)?,
        };
        visitor
            .visit_bool(value)
            .map_err(|error| self.decoder.placed(error, start))
    }

    #[inline]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value = self.decoder.float(Member::DOCUMENT)?;
        visitor
            .visit_f32(value)
            .map_err(|error| self.decoder.placed(error, start))
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value = match self.decoder.plain_double() {
            Some(value) => value,
            None => self.decoder.double(Member::DOCUMENT)?,
        };
        visitor
            .visit_f64(value)
            .map_err(|error| self.decoder.placed(error, start))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        if let Some(text) = self.decoder.plain_string() {
            return visitor
                .visit_borrowed_str(text)
                .map_err(|error| self.decoder.placed(error, start));
        }
        self.any_str(visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        // Few bytes need no vector of their own.
        let mut few = [0; FEW_BYTES];
        let decode = |text: &[u8]| match text.len() <= FEW_BYTES {
            true => {
                let bytes = base64::STANDARD.decode_to_slice(text, &mut few);
                bytes.ok().map(|bytes| Ok(bytes.len()))
            }
            false => {
                let mut bytes = Vec::new();
                base64::STANDARD.push_decoded(&mut bytes, text).ok()?;
                Some(Err(bytes))
            }
        };
        let bytes = match self.decoder.plain_bytes(decode) {
            Some(Ok(len)) => {
                let visited = visitor.visit_bytes(&few[..len]);
                return visited.map_err(|error| self.decoder.placed(error, start));
            }
            Some(Err(bytes)) => bytes,
            None => Vec::from(self.decoder.blob(Member::DOCUMENT)?),
        };
        visitor
            .visit_byte_buf(bytes)
            .map_err(|error| self.decoder.placed(error, start))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.decoder.is_nil()? {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        match self.decoder.is_nil()? {
            true => visitor.visit_unit(),
            false => Err(self.decoder.wrong_type(start, "nil")),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        match name {
            BLOB => self.deserialize_byte_buf(visitor),
            TIMESTAMP => {
                let timestamp = match self.decoder.plain_date() {
                    Some(timestamp) => timestamp,
                    None => self.decoder.any_timestamp()?,
                };
                visitor
                    .visit_i128(number_of(timestamp))
                    .map_err(|error| self.decoder.placed(error, start))
            }
            VALUE => {
                self.for_value = true;
                visitor.visit_newtype_struct(self)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let seq = self.decoder.begin_any_array()?;
        self.sequence(seq, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let seq = self.decoder.begin_any_struct()?;
        // Maps of serde take what comes last; structures see to it themselves.
        self.mapping(seq, true, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let seq = self.decoder.begin_any_struct()?;
        self.mapping(seq, false, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
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

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.decoder.skip_value()?;
        visitor.visit_unit()
    }
}

/// An instant as text that types of other crates read: with a zone if it has one.
fn iso_8601(
    value: polywire_schema::Timestamp,
    decoder: &mut XmlRpcDecoder<'_>,
    start: usize,
) -> Result<String, Error> {
    let mut text = Vec::with_capacity(32);
    if let Err(malformed) = value.push_date_time(&mut text) {
        return Err(decoder.invalid(start, malformed.expected));
    }
    if value.is_unzoned() {
        // The `Z`.
        text.pop();
    }
    // A date is ASCII, so nothing is lost.
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The items of an array.
struct Items<'a, 'de> {
    decoder: &'a mut XmlRpcDecoder<'de>,
    seq: &'a mut Seq,
    for_value: bool,
    ended: bool,
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.ended || !self.decoder.next_item(self.seq)? {
            self.ended = true;
            return Ok(None);
        }
        let reader = Reader {
            decoder: self.decoder,
            for_value: self.for_value,
        };
        seed.deserialize(reader).map(Some)
    }
}

/// The members of a struct.
struct Members<'a, 'de> {
    decoder: &'a mut XmlRpcDecoder<'de>,
    seq: &'a mut Seq,
    for_value: bool,
    ended: bool,
    /// Whether nothing but the spelling keeps a member from the quick way.
    plain: bool,
    /// The names so far, if nobody else looks whether one comes twice.
    names: Option<Vec<Cow<'de, str>>>,
}

impl<'de> Members<'_, 'de> {
    /// The next name, however it is spelled and whatever it is to be.
    #[inline(never)]
    fn any_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(name) = self.decoder.next_member(self.seq)? else {
            self.ended = true;
            return Ok(None);
        };
        self.decoder.count_item()?;
        if let Some(names) = &mut self.names {
            names.push(name.clone());
        }
        seed.deserialize(Key(name)).map(Some)
    }
}

impl<'de> MapAccess<'de> for &mut Members<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if self.plain {
            let name = match self.seq.count {
                0 => self.decoder.first_member(),
                _ => self.decoder.following_member(),
            };
            if let Some(name) = name {
                self.seq.count += 1;
                self.decoder.count_item()?;
                return seed.deserialize(PlainKey(name)).map(Some);
            }
        }
        if self.decoder.plain_struct_end(self.seq) {
            self.ended = true;
            return Ok(None);
        }
        self.any_key_seed(seed)
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Reader {
            decoder: self.decoder,
            for_value: self.for_value,
        })
    }
}

/// The name of a member as it stands in the message. Maps may have keys of other types,
/// which names say.
struct PlainKey<'de>(&'de str);

/// The same, however it came about.
struct Key<'de>(Cow<'de, str>);

/// Whether a name is how a number or boolean is written: two names are then two keys.
fn is_canonical(name: &str) -> bool {
    match name.strip_prefix('-').unwrap_or(name) {
        "0" => name == "0",
        digits => !digits.starts_with(['0', '+']),
    }
}

/// Names as what they are, and as keys that are no text.
macro_rules! keys {
    ($type:ident, $own:ident, $visitor:ident => $visit:expr, $($method:ident $visit_as:ident;)*) => {
        impl<'de> Deserializer<'de> for $type<'de> {
            type Error = Error;

            #[inline]
            fn deserialize_any<V: Visitor<'de>>(self, $visitor: V) -> Result<V::Value, Error> {
                let $own = self.0;
                $visit
            }

            #[inline]
            fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.deserialize_any(visitor)
            }

            $(
                fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self.0.parse() {
                        Ok(value) if is_canonical(&self.0) => visitor.$visit_as(value),
                        _ => Err(Error::invalid_value(Unexpected::Str(&self.0), &visitor)),
                    }
                }
            )*

            fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                visitor.visit_some(self)
            }

            fn deserialize_newtype_struct<V: Visitor<'de>>(
                self,
                _: &'static str,
                visitor: V,
            ) -> Result<V::Value, Error> {
                visitor.visit_newtype_struct(self)
            }

            fn deserialize_enum<V: Visitor<'de>>(
                self,
                _: &'static str,
                _: &'static [&'static str],
                visitor: V,
            ) -> Result<V::Value, Error> {
                visitor.visit_enum(self.0.into_deserializer())
            }

            serde::forward_to_deserialize_any! {
                f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
                struct ignored_any
            }
        }
    };
}

/// Both kinds of names, and all types that keys may have.
macro_rules! all_keys {
    ($type:ident, $own:ident, $visitor:ident => $visit:expr) => {
        keys! {
            $type, $own, $visitor => $visit,
            deserialize_bool visit_bool;
            deserialize_i8 visit_i8;
            deserialize_i16 visit_i16;
            deserialize_i32 visit_i32;
            deserialize_i64 visit_i64;
            deserialize_i128 visit_i128;
            deserialize_u8 visit_u8;
            deserialize_u16 visit_u16;
            deserialize_u32 visit_u32;
            deserialize_u64 visit_u64;
            deserialize_u128 visit_u128;
        }
    };
}

all_keys!(PlainKey, name, visitor => visitor.visit_borrowed_str(name));
all_keys!(Key, name, visitor => match name {
    Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
    Cow::Owned(name) => visitor.visit_string(name),
});

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

/// A map of one entry, as which a value takes what serde has no type for.
struct One(Option<(&'static str, String)>);

impl<'de> MapAccess<'de> for One {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        match &self.0 {
            Some((key, _)) => seed.deserialize((*key).into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let text = self.0.take().map_or_else(String::new, |(_, text)| text);
        seed.deserialize(text.into_deserializer())
    }
}
