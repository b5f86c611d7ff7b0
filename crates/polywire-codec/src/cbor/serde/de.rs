//! Reading.

use std::borrow::Cow;

use polywire_schema::serde_names::NUMBER_KEY;
use polywire_schema::{Decoder, Error, ErrorKind, Member};
use polywire_text::serde_token::{LARGE, lend};
use polywire_text::{Body, SHARE_FRACTION, utf8};
use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, IntoDeserializer, Visitor};

use super::super::CborDecoder;
use super::super::head::Tag;
use super::access::{Bytes, Entries, Items, Variant};
use super::kept::Kept;
use super::keys::{Keys, Seen};
use crate::integers;

/// A reader of the next data item.
pub(super) struct Reader<'a, 'de>(pub(super) &'a mut CborDecoder<'de>);

type Result<T> = std::result::Result<T, Error>;

/// Says where an error of a visitor was, which knows no places.
#[inline(always)]
pub(super) fn at<T>(decoder: &CborDecoder<'_>, start: usize, result: Result<T>) -> Result<T> {
    result.map_err(|error| place(decoder, start, error))
}

#[cold]
pub(super) fn place(decoder: &CborDecoder<'_>, start: usize, error: Error) -> Error {
    if error.offset().is_some() {
        return error;
    }
    let path = decoder.path_at(start, None);
    error.in_format("CBOR").at_offset(start).at_path(path)
}

impl<'de> Reader<'_, 'de> {
    /// An integer, as most of them are; whatever else may stand there.
    #[inline(always)]
    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let decoder = self.0;
        let Some((value, len)) = decoder.quick_integer() else {
            return Reader(decoder).any(visitor);
        };
        let start = decoder.at;
        decoder.at += len;
        let result = match u64::try_from(value) {
            Ok(value) => visitor.visit_u64(value),
            Err(_) => visitor.visit_i64(value),
        };
        at(decoder, start, result)
    }

    /// The same of a floating-point number.
    #[inline(always)]
    fn double<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let decoder = self.0;
        let Some(&[0xfb, ref bytes @ ..]) = decoder.rest().first_chunk::<9>() else {
            return Reader(decoder).any(visitor);
        };
        let start = decoder.at;
        decoder.at += 9;
        let result = visitor.visit_f64(f64::from_be_bytes(*bytes));
        at(decoder, start, result)
    }

    /// The same of text, such as the name of a member.
    #[inline(always)]
    fn string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let decoder = self.0;
        if let Some((window, len)) = decoder.short_text()
            && let Some(bytes) = window.get(..len)
            && let Ok(text) = utf8::validate(bytes)
        {
            let start = decoder.at;
            decoder.at += 1 + len;
            return at(decoder, start, visitor.visit_borrowed_str(text));
        }
        Reader(decoder).any(visitor)
    }

    /// The same of a list.
    #[inline(always)]
    fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.peek() >> 5 {
            4 => Items::read(self.0, visitor),
            _ => self.any_list(visitor),
        }
    }

    /// A byte string is a list of bytes too.
    #[inline(never)]
    fn any_list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let decoder = self.0;
        if decoder.peek() >> 5 != 2 {
            return Reader(decoder).any(visitor);
        }
        let start = decoder.at;
        let bytes = decoder.string_bytes(2, "a byte string")?;
        at(decoder, start, visitor.visit_seq(Bytes(bytes.iter())))
    }

    /// The same of a map.
    fn map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.peek() >> 5 {
            5 => Entries::read(self.0, Keys::default(), visitor),
            _ => self.any(visitor),
        }
    }

    /// Text for who wants a string of its own and is lent none: keys of values are asked
    /// so.
    fn any_given_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let decoder = self.0;
        let start = decoder.at;
        decoder.skip_plain_tags()?;
        if decoder.peek() >> 5 != 3 {
            return Reader(decoder).any(visitor);
        }
        let result = match decoder.text_string()? {
            Cow::Borrowed(text) => visitor.visit_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        };
        at(decoder, start, result)
    }

    /// The same of a text string as most of them are.
    #[inline(always)]
    fn given_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let decoder = self.0;
        if let Some((window, len)) = decoder.short_text()
            && let Some(bytes) = window.get(..len)
            && let Ok(text) = utf8::validate(bytes)
        {
            let start = decoder.at;
            decoder.at += 1 + len;
            return at(decoder, start, visitor.visit_str(text));
        }
        Reader(decoder).any_given_string(visitor)
    }

    /// Whatever stands there.
    pub(super) fn any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.any_by::<Keys<'de>, V>(visitor)
    }

    /// The same, where `S` sees to the keys of a map.
    #[inline(never)]
    pub(super) fn any_by<S, V>(self, visitor: V) -> Result<V::Value>
    where
        S: Seen<'de> + Default,
        V: Visitor<'de>,
    {
        let decoder = self.0;
        let start = decoder.at;
        if start >= decoder.bytes.len() {
            return Err(decoder.error(ErrorKind::Truncated, "a value"));
        }
        match decoder.peek() >> 5 {
            0 | 1 => {
                let head = decoder.head("an integer")?;
                let argument = head.argument;
                let result = match (head.major, i64::try_from(argument)) {
                    (0, _) => visitor.visit_u64(argument),
                    (_, Ok(argument)) => visitor.visit_i64(!argument),
                    (_, Err(_)) => visitor.visit_i128(-1 - i128::from(argument)),
                };
                at(decoder, start, result)
            }
            2 => {
                let result = match decoder.string_bytes(2, "a byte string")? {
                    Cow::Borrowed(bytes) => lent(decoder.body, bytes, visitor),
                    Cow::Owned(bytes) => visitor.visit_byte_buf(bytes),
                };
                at(decoder, start, result)
            }
            3 => {
                let result = match decoder.text_string()? {
                    // The name by which serde_json hands its numbers over is never lent: types that
                    // keep what they read would lend it to others, who take it for serde_json's.
                    Cow::Borrowed(NUMBER_KEY) => visitor.visit_str(NUMBER_KEY),
                    Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                    Cow::Owned(text) => visitor.visit_string(text),
                };
                at(decoder, start, result)
            }
            4 => Items::read(decoder, visitor),
            5 => Entries::read(decoder, S::default(), visitor),
            6 => Reader(decoder).tagged_by::<S, V>(visitor),
            _ => {
                let result = match decoder.peek() {
                    0xf4 | 0xf5 => visitor.visit_bool(decoder.boolean(Member::DOCUMENT)?),
                    0xf6 | 0xf7 => {
                        decoder.at += 1;
                        visitor.visit_unit()
                    }
                    0xfa => visitor.visit_f32(decoder.any_double("a number")? as f32),
                    0xf9 | 0xfb => visitor.visit_f64(decoder.any_double("a number")?),
                    _ => {
                        let error =
                            decoder.error(ErrorKind::Syntax, "a value with a known first byte");
                        return Err(error);
                    }
                };
                at(decoder, start, result)
            }
        }
    }

    /// What stands behind tags: those with a meaning give text, which is what the
    /// types that know them take.
    fn tagged_by<S, V>(self, visitor: V) -> Result<V::Value>
    where
        S: Seen<'de> + Default,
        V: Visitor<'de>,
    {
        let decoder = self.0;
        let Some((tag, start)) = decoder.tag()? else {
            return Reader(decoder).any_by::<S, V>(visitor);
        };
        let result = match tag {
            Tag::Epoch | Tag::DateTime => {
                decoder.at = start;
                let text = timestamp(decoder)?;
                visitor.visit_str(&text)
            }
            Tag::Unsigned | Tag::Negative => integers::visit(&decoder.bignum(tag, start)?, visitor),
            Tag::Decimal => visitor.visit_str(decoder.decimal(start)?.as_str()),
        };
        at(decoder, start, result)
    }
}

/// Shows a visitor bytes, which a blob shares with the body if that is worth it.
#[inline]
fn lent<'de, V: Visitor<'de>>(
    body: Option<&'de Body>,
    bytes: &'de [u8],
    visitor: V,
) -> Result<V::Value> {
    match body {
        Some(body) if bytes.len() >= LARGE.max(body.len() / SHARE_FRACTION) => {
            lend(body.blob(bytes), || visitor.visit_borrowed_bytes(bytes))
        }
        _ => visitor.visit_borrowed_bytes(bytes),
    }
}

/// A timestamp as text by RFC 3339.
pub(super) fn timestamp(decoder: &mut CborDecoder<'_>) -> Result<String> {
    let start = decoder.at;
    let timestamp = decoder.timestamp(Member::DOCUMENT)?;
    let mut text = Vec::with_capacity(32);
    if let Err(malformed) = timestamp.push_date_time(&mut text) {
        return Err(decoder.invalid(start, malformed.expected));
    }
    // A date is ASCII.
    Ok(String::from_utf8(text).unwrap_or_default())
}

/// Methods that look for what the type expects, then read whatever comes, and leave it
/// to the visitor to refuse it.
macro_rules! as_expected {
    ($($way:ident: $($method:ident)*;)*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.$way(visitor)
            }
        )*)*
    };
}

impl<'de> Deserializer<'de> for Reader<'_, 'de> {
    type Error = Error;

    as_expected! {
        any: deserialize_any deserialize_bool deserialize_bytes deserialize_byte_buf
            deserialize_unit;
        integer: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
            deserialize_u128;
        double: deserialize_f32 deserialize_f64;
        string: deserialize_char deserialize_str deserialize_identifier;
        given_string: deserialize_string;
        list: deserialize_seq;
        map: deserialize_map;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.is_null()? {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match Kept::of(name) {
            None => visitor.visit_newtype_struct(self),
            Some(kept) => kept.read(self, visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.0.peek() >> 5 {
            // A structure sees to it itself that no member comes twice.
            5 => Entries::read(self.0, (), visitor),
            _ => self.any_by::<(), V>(visitor),
        }
    }

    /// The name of a variant, or a map of its one entry.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let decoder = self.0;
        decoder.skip_tags()?;
        let start = decoder.at;
        match decoder.peek() >> 5 {
            3 => {
                let name = decoder.text_string()?;
                let name: StrDeserializer<'_, Error> = (*name).into_deserializer();
                at(decoder, start, visitor.visit_enum(name))
            }
            5 => {
                let mut seq = decoder.enter(5, Member::DOCUMENT)?;
                let one = "a variant: its name, or a map of one entry";
                if !decoder.next_item(&mut seq)? {
                    return Err(decoder.invalid(start, one));
                }
                let result = visitor.visit_enum(Variant(decoder));
                let value = at(decoder, start, result)?;
                if decoder.next_item(&mut seq)? {
                    return Err(decoder.invalid(start, one));
                }
                Ok(value)
            }
            _ => Err(decoder.wrong_type("a variant: its name, or a map of one entry")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.skip_value()?;
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
