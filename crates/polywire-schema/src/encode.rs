//! The traits for writing: formats implement [`Encoder`], data types implement [`Encode`].

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use polywire_text::{Blob, Text, Timestamp};

use crate::{BigDecimal, BigInteger, ByteStream, Error, ErrorKind, Member, OutgoingEvents, Value};

/// A writer of one format.
///
/// The caller makes one call for each token. To write a structure, it calls
/// [`begin_structure`](Encoder::begin_structure), then [`member`](Encoder::member) for each
/// present member, and finally [`end_structure`](Encoder::end_structure). If `member` returns
/// `true`, the caller writes one value before it goes on.
///
/// The argument `at` of each call is the [`Member`] that the value belongs to. It provides the
/// names and traits:
///
/// - for the value of a structure member: this member
/// - for an item of a list or a value of a map: the [element](Member::element) of the list or map
/// - at the top of a message: the [root](crate::Schema::root) of the shape
///
/// The methods do not return errors. An encoder keeps its first error, ignores all later calls,
/// and returns the error at the end.
///
/// The trait is object-safe.
pub trait Encoder {
    /// Begins a structure or union. The caller will announce `present` members.
    ///
    /// The count includes members for which [`member`](Encoder::member) returns `false`. Formats
    /// that write the count never skip members.
    fn begin_structure(&mut self, at: Member<'_>, present: usize);

    /// Begins the value of a member. Returns `false` if this part of the message does not contain
    /// the member. Then the caller must not write the value.
    fn member(&mut self, at: Member<'_>) -> bool;

    /// Returns whether this encoder writes only the members in the head of a message, such as HTTP
    /// headers. The caller may then skip all other members: a second pass writes them.
    fn is_head(&self) -> bool {
        false
    }

    /// Returns whether the default of an absent member is written. The caller asks only about
    /// members that have a default.
    ///
    /// See [`Defaults`](crate::Defaults) for the rules of clients and servers. The provided method
    /// returns `false`.
    fn fills_default(&self, at: Member<'_>) -> bool {
        let _ = at;
        false
    }

    /// Ends the structure or union of `at`.
    fn end_structure(&mut self, at: Member<'_>);

    /// Begins a list of `len` items.
    fn begin_list(&mut self, at: Member<'_>, len: usize);

    /// Ends the list of `at`.
    fn end_list(&mut self, at: Member<'_>);

    /// Begins a map of `len` entries. For each entry the caller writes a key and then a value.
    fn begin_map(&mut self, at: Member<'_>, len: usize);

    /// Writes the key of an entry of the map of `at`.
    fn key(&mut self, at: Member<'_>, key: &str);

    /// Like [`key`](Encoder::key), but takes a [`Text`].
    #[inline]
    fn text_key(&mut self, at: Member<'_>, key: &Text) {
        self.key(at, key);
    }

    /// Ends the map of `at`.
    fn end_map(&mut self, at: Member<'_>);

    /// Writes a boolean.
    fn boolean(&mut self, at: Member<'_>, value: bool);

    /// Writes a byte, short, integer, long or intEnum.
    fn integer(&mut self, at: Member<'_>, value: i64);

    /// Writes a 32-bit floating-point number.
    fn float(&mut self, at: Member<'_>, value: f32);

    /// Writes a 64-bit floating-point number.
    fn double(&mut self, at: Member<'_>, value: f64);

    /// Writes an arbitrary-precision integer.
    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger);

    /// Writes an arbitrary-precision decimal number.
    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal);

    /// Writes a string or an enum.
    fn string(&mut self, at: Member<'_>, value: &str);

    /// Like [`string`](Encoder::string), but takes a [`Text`]. Formats can write short texts, which
    /// are stored inline, faster than other strings.
    #[inline]
    fn text(&mut self, at: Member<'_>, value: &Text) {
        self.string(at, value);
    }

    /// Writes bytes.
    fn blob(&mut self, at: Member<'_>, value: &[u8]);

    /// Writes a value without a schema. The provided method calls the other methods. A format can
    /// override it with a faster implementation.
    fn document(&mut self, at: Member<'_>, value: &Value) {
        crate::dynamic::write_document(value, at, self);
    }

    /// Like [`blob`](Encoder::blob), but an encoder can share the bytes instead of copying them if
    /// the blob is the entire message body.
    fn shared_blob(&mut self, at: Member<'_>, value: &Blob) {
        self.blob(at, value.as_bytes());
    }

    /// Writes a blob with `@streaming`. The provided method writes bytes that are in memory like any other blob, and
    /// fails for other streams. Encoders of HTTP messages take the stream as the body.
    fn stream(&mut self, at: Member<'_>, value: &ByteStream) {
        match value.as_blob() {
            Some(blob) => self.shared_blob(at, blob),
            None => self.fail(not_in_memory(at)),
        }
    }

    /// Passes the events of a stream on. `take` returns them. They are not written with the other members, so callers
    /// neither count this member in [`begin_structure`](Encoder::begin_structure) nor call
    /// [`member`](Encoder::member) for it. The provided method ignores the stream: a pass of its own takes it.
    fn event_stream(&mut self, at: Member<'_>, take: &mut dyn FnMut() -> OutgoingEvents) {
        let _ = (at, take);
    }

    /// Writes a timestamp in the format of the member. If the member has no format, uses the
    /// default of the protocol.
    fn timestamp(&mut self, at: Member<'_>, value: Timestamp);

    /// Writes a null. Nulls occur in sparse lists, sparse maps and documents.
    fn null(&mut self, at: Member<'_>);

    /// Records an error, unless the encoder already has one.
    fn fail(&mut self, error: Error);
}

#[cold]
fn not_in_memory(at: Member<'_>) -> Error {
    Error::new(ErrorKind::Unwritable)
        .expected("bytes in memory, because only a REST protocol over HTTP can send a stream")
        .found("a stream")
        .at_path(format!("{at:?}"))
}

/// A type that every [`Encoder`] can write.
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
    /// Writes this value as the value of `at`.
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E);
}

macro_rules! pointer {
    ($($type:ty),*) => {
        $(impl<T: Encode + ?Sized> Encode for $type {
            #[inline]
            fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
                (**self).encode(at, encoder);
            }
        })*
    };
}

pointer!(&T, Arc<T>, Box<T>);

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
    ByteStream, value => stream(value);
    Timestamp, value => timestamp(*value);
}

/// An item of a sparse list or map. `None` is written as null.
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

/// A type that can be the key of an encoded map.
///
/// The provided method is sufficient for most types: `impl EncodeKey for Colour {}`.
pub trait EncodeKey: AsRef<str> {
    /// Writes this value as a key of the map of `at`.
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

/// A map that is written in the order of the vector.
impl<K: EncodeKey, V: Encode> Encode for Vec<(K, V)> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encode_map(self.iter().map(|(key, value)| (key, value)), at, encoder);
    }
}

impl Encode for Value {
    /// Writes the value as the shape that `at` targets. Calls [`Encoder::fail`] if the value does
    /// not match the shape. Every value matches a document.
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        crate::dynamic::encode(self, at, encoder);
    }
}
