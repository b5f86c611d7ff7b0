//! The writing half: what a format implements, and what a type implements.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use polywire_text::{Blob, Text, Timestamp};

use crate::{BigDecimal, BigInteger, Error, Member, Value};

/// A writer of one format.
///
/// Calls follow the shape of the data: a structure is
/// [`begin_structure`](Encoder::begin_structure), then for each member that is
/// present [`member`](Encoder::member) and, if that says yes, one value, then
/// [`end_structure`](Encoder::end_structure). Each value comes with the
/// [`Member`] that it is a value of, which knows its names and traits: for
/// members of structures that member, for items and entries the `member` or
/// `value` of the list or map, at the top the shape's
/// [root](crate::Schema::root).
///
/// Calls do not fail one by one. An encoder keeps its first error, ignores
/// what follows, and gives the error at the end.
///
/// The trait is object-safe: [`Value`] goes through `dyn Encoder`, generated
/// types through a monomorphised copy per format.
pub trait Encoder {
    /// Begins a structure or union of which `present` members will come. The
    /// count includes members that [`member`](Encoder::member) will refuse: a
    /// format that writes the count carries whole structures only.
    fn begin_structure(&mut self, at: Member<'_>, present: usize);

    /// Announces the value of a member. `false` means that this part of the
    /// message does not carry the member and its value must not be written.
    fn member(&mut self, at: Member<'_>) -> bool;

    /// Whether only the members that stand in the head of a message are
    /// wanted, and another pass over the same structure writes the others.
    /// Then those others need not be announced, nor looked up.
    fn is_head(&self) -> bool {
        false
    }

    /// Whether a member that is not there is to be written with its default.
    /// The caller asks about members that have one: on a server's side the
    /// answer is yes, on a client's unless they are optional to clients
    /// ([`Defaults`](crate::Defaults)). Without a side, as here, it is no.
    fn fills(&self, at: Member<'_>) -> bool {
        let _ = at;
        false
    }

    /// Ends the structure or union that `at` began.
    fn end_structure(&mut self, at: Member<'_>);

    /// Begins a list of `len` items.
    fn begin_list(&mut self, at: Member<'_>, len: usize);

    /// Ends the list that `at` began.
    fn end_list(&mut self, at: Member<'_>);

    /// Begins a map of `len` entries. Each entry is a key and then a value.
    fn begin_map(&mut self, at: Member<'_>, len: usize);

    /// Writes the key of an entry of the map that `at` began.
    fn key(&mut self, at: Member<'_>, key: &str);

    /// As [`key`](Encoder::key), of a [`Text`].
    #[inline]
    fn text_key(&mut self, at: Member<'_>, key: &Text) {
        self.key(at, key);
    }

    /// Ends the map that `at` began.
    fn end_map(&mut self, at: Member<'_>);

    /// Writes a boolean.
    fn boolean(&mut self, at: Member<'_>, value: bool);

    /// Writes an integer: byte, short, integer, long, intEnum.
    fn integer(&mut self, at: Member<'_>, value: i64);

    /// Writes a 32-bit floating-point number.
    fn float(&mut self, at: Member<'_>, value: f32);

    /// Writes a 64-bit floating-point number.
    fn double(&mut self, at: Member<'_>, value: f64);

    /// Writes an integer of any size.
    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger);

    /// Writes a decimal number of any size.
    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal);

    /// Writes a string or an enum.
    fn string(&mut self, at: Member<'_>, value: &str);

    /// As [`string`](Encoder::string), of a [`Text`]: a format may have a way
    /// with its short ones that a string has not.
    #[inline]
    fn text(&mut self, at: Member<'_>, value: &Text) {
        self.string(at, value);
    }

    /// Writes bytes.
    fn blob(&mut self, at: Member<'_>, value: &[u8]);

    /// Writes a value without a schema: as by the other methods, for which a format
    /// may have a shorter way.
    fn document(&mut self, at: Member<'_>, value: &Value) {
        crate::dynamic::write_document(value, at, self);
    }

    /// Writes bytes that may be shared instead of copied: a body that is a blob
    /// and nothing else.
    fn shared_blob(&mut self, at: Member<'_>, value: &Blob) {
        self.blob(at, value.as_bytes());
    }

    /// Writes an instant, in the format of the member or else of the protocol.
    fn timestamp(&mut self, at: Member<'_>, value: Timestamp);

    /// Writes a null: in sparse lists and maps and in documents.
    fn null(&mut self, at: Member<'_>);

    /// Notes an error, unless there is one already.
    fn fail(&mut self, error: Error);
}

/// A type that can be written by every [`Encoder`].
///
/// ```
/// use polywire_schema::{Encode, Encoder, Member};
///
/// struct City {
///     name: String,
///     population: Option<i64>,
/// }
///
/// impl Encode for City {
///     fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
///         let shape = at.target();
///         encoder.begin_structure(at, 1 + usize::from(self.population.is_some()));
///         let name = shape.member(0);
///         if encoder.member(name) {
///             self.name.encode(name, encoder);
///         }
///         if let Some(population) = &self.population {
///             let at = shape.member(1);
///             if encoder.member(at) {
///                 population.encode(at, encoder);
///             }
///         }
///         encoder.end_structure(at);
///     }
/// }
/// ```
pub trait Encode {
    /// Writes the value of `at`.
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E);
}

impl<T: Encode + ?Sized> Encode for &T {
    #[inline]
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        (**self).encode(at, encoder);
    }
}

impl<T: Encode + ?Sized> Encode for Arc<T> {
    #[inline]
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        (**self).encode(at, encoder);
    }
}

impl<T: Encode + ?Sized> Encode for Box<T> {
    #[inline]
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        (**self).encode(at, encoder);
    }
}

macro_rules! scalar {
    ($($type:ty, $value:ident => $call:ident($argument:expr);)*) => {
        $(impl Encode for $type {
            #[inline]
            fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
                let $value = self;
                encoder.$call(at, $argument);
            }
        })*
    };
}

scalar! {
    bool, value => boolean(*value);
    i8, value => integer(i64::from(*value));
    i16, value => integer(i64::from(*value));
    i32, value => integer(i64::from(*value));
    i64, value => integer(*value);
    f32, value => float(*value);
    f64, value => double(*value);
    BigInteger, value => big_integer(value);
    BigDecimal, value => big_decimal(value);
    str, value => string(value);
    String, value => string(value);
    Text, value => text(value);
    Cow<'_, str>, value => string(value);
    Blob, value => shared_blob(value);
    Timestamp, value => timestamp(*value);
}

/// A null where there is nothing: the items of sparse lists and maps.
impl<T: Encode> Encode for Option<T> {
    #[inline]
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        match self {
            Some(value) => value.encode(at, encoder),
            None => encoder.null(at),
        }
    }
}

impl<T: Encode> Encode for [T] {
    #[inline]
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let element = at.element();
        encoder.begin_list(at, self.len());
        for item in self {
            item.encode(element, encoder);
        }
        encoder.end_list(at);
    }
}

impl<T: Encode> Encode for Vec<T> {
    #[inline]
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        self.as_slice().encode(at, encoder);
    }
}

/// What may be a key of a map that is written: a type of one's own needs no more
/// than `impl EncodeKey for Colour {}`.
pub trait EncodeKey: AsRef<str> {
    /// Writes the key of an entry of `at`.
    #[inline]
    fn encode_key<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encoder.key(at, self.as_ref());
    }
}

impl EncodeKey for Text {
    #[inline]
    fn encode_key<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encoder.text_key(at, self);
    }
}

impl<K: EncodeKey + ?Sized> EncodeKey for &K {
    #[inline]
    fn encode_key<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        (**self).encode_key(at, encoder);
    }
}

macro_rules! string_key {
    ($($type:ty),*) => {
        $(impl EncodeKey for $type {})*
    };
}

string_key!(str, String, Box<str>, Arc<str>, Cow<'_, str>);

fn encode_map<'a, K: EncodeKey + 'a, V: Encode + 'a, E: Encoder + ?Sized>(
    entries: impl ExactSizeIterator<Item = (&'a K, &'a V)>,
    at: Member<'_>,
    encoder: &mut E,
) {
    let element = at.element();
    encoder.begin_map(at, entries.len());
    for (key, value) in entries {
        key.encode_key(at, encoder);
        value.encode(element, encoder);
    }
    encoder.end_map(at);
}

impl<K: EncodeKey, V: Encode> Encode for BTreeMap<K, V> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encode_map(self.iter(), at, encoder);
    }
}

impl<K: EncodeKey, V: Encode, S> Encode for HashMap<K, V, S> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encode_map(self.iter(), at, encoder);
    }
}

/// A map in wire order.
impl<K: EncodeKey, V: Encode> Encode for Vec<(K, V)> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encode_map(self.iter().map(|(key, value)| (key, value)), at, encoder);
    }
}

impl Encode for Value {
    /// Writes the value as the shape that `at` targets; what does not fit it
    /// is an error of the encoder. As a document, writes whatever it is.
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        crate::dynamic::encode(self, at, encoder);
    }
}
