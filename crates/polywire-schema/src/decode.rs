//! The reading half: what a format implements, and what a type implements.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use polywire_text::{Blob, Text, Timestamp};

use crate::error::quoted;
use crate::map::fingerprint;
use crate::{BigDecimal, BigInteger, Error, ErrorKind, Map, Member, Part, Schema, Value};

/// What [`Decoder::member`] returns at the end of a structure.
pub const END: u32 = u32::MAX;

/// Where a decoder is within one structure, list or map.
///
/// It lives on the caller's stack: the caller passes it back with each call
/// and otherwise leaves it alone, and the decoder needs no stack of its own.
/// The fields are for the implementers of [`Decoder`].
#[derive(Clone, Debug, Default)]
pub struct Seq {
    /// The ordinal of the member that is expected next.
    pub guess: u32,
    /// What the format makes of it: a comma due, a closing tag to find.
    pub state: u32,
    /// Items left, where the format tells.
    pub left: u64,
    /// A position in the input, where the format needs one.
    pub mark: u64,
    /// Items or members so far.
    pub count: u32,
    /// Whether the items or entries continue a list or map that was begun
    /// before: a flattened one whose parts stand apart.
    pub continues: bool,
    /// Whether a member that the shape does not have was skipped.
    pub unknown: bool,
    /// Which members of the structure the document holds.
    pub part: Part,
    /// The ordinal of the member that is expected next in a part: [`guess`](Self::guess) is then
    /// [`END`], so that the fast path is not taken.
    pub part_guess: u32,
    /// The members seen so far, up to ordinal 127.
    pub seen: [u64; 2],
}

impl Seq {
    /// Notes that a member was seen. `Some(true)` if it had been seen before,
    /// `None` if its ordinal is beyond what fits here: then a [`WideSeen`]
    /// must be asked.
    #[inline]
    pub fn mark_seen(&mut self, ordinal: u32) -> Option<bool> {
        let word = self.seen.get_mut(ordinal as usize / 64)?;
        let bit = 1 << (ordinal % 64);
        let before = *word & bit != 0;
        *word |= bit;
        Some(before)
    }

    /// Notes that a member was seen, if its ordinal is below 64 and it had not
    /// been seen before; whether so.
    #[inline]
    pub fn mark_new(&mut self, ordinal: u32) -> bool {
        let bit = 1_u64.wrapping_shl(ordinal);
        let new = ordinal < 64 && self.seen[0] & bit == 0;
        if new {
            self.seen[0] |= bit;
        }
        new
    }

    /// Whether a member was seen, of those up to ordinal 127.
    #[must_use]
    pub fn has_seen(&self, ordinal: u32) -> bool {
        self.seen
            .get(ordinal as usize / 64)
            .is_some_and(|word| word & 1 << (ordinal % 64) != 0)
    }
}

/// The members seen in structures of more than 128 members: a decoder keeps
/// one for all levels.
///
/// A level is told by the number of levels that may still come, which decoders
/// count down: inner levels have smaller numbers.
#[derive(Debug, Default)]
pub struct WideSeen {
    /// The first `open` are in use, from the outermost inwards; the others
    /// wait for the next level, with all bits clear.
    levels: Vec<WideLevel>,
    open: usize,
}

#[derive(Debug, Default)]
struct WideLevel {
    depth_left: u32,
    /// A bit per ordinal.
    words: Vec<u64>,
    /// Which words have bits: what leaving has to clear. A list of structures
    /// with one high member each would else clear all words each time.
    used: Vec<u32>,
}

impl WideSeen {
    /// Notes that a member was seen where `depth_left` levels may still come;
    /// whether it had been before.
    #[cold]
    pub fn mark(&mut self, depth_left: u32, ordinal: u32) -> bool {
        let (index, bit) = (ordinal / 64, 1 << (ordinal % 64));
        let level = self.level(depth_left);
        if level.words.len() <= index as usize {
            level.words.resize(index as usize + 1, 0);
        }
        let word = &mut level.words[index as usize];
        if *word == 0 {
            level.used.push(index);
        }
        let before = *word & bit != 0;
        *word |= bit;
        before
    }

    /// The innermost level, which is this one or is about to be.
    fn level(&mut self, depth_left: u32) -> &mut WideLevel {
        let last = self.open.checked_sub(1);
        let at = match last {
            Some(last) if self.levels[last].depth_left == depth_left => last,
            _ => {
                self.open += 1;
                self.open - 1
            }
        };
        if at == self.levels.len() {
            self.levels.push(WideLevel::default());
        }
        let level = &mut self.levels[at];
        level.depth_left = depth_left;
        level
    }

    /// Forgets what was seen at this level and deeper.
    #[inline]
    pub fn leave(&mut self, depth_left: u32) {
        if self.open > 0 {
            self.close(depth_left);
        }
    }

    #[cold]
    fn close(&mut self, depth_left: u32) {
        while let Some(last) = self.open.checked_sub(1)
            && self.levels[last].depth_left <= depth_left
        {
            let level = &mut self.levels[last];
            for index in level.used.drain(..) {
                level.words[index as usize] = 0;
            }
            self.open = last;
        }
    }
}

/// What comes next, where no schema says it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A whole scalar.
    Scalar(Value),
    /// The start of a list: go on with [`Decoder::item`].
    List(Seq),
    /// The start of a map: go on with [`Decoder::key`].
    Map(Seq),
}

/// A reader of one format.
///
/// The caller pulls: it says what shape it expects and gets it or an error.
/// Names, numbers and order are the decoder's business:
///
/// ```
/// # use polywire_schema::{Decoder, END, Error, Member, Text};
/// # fn city<'de, D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<(), Error> {
/// let shape = at.target();
/// let mut name: Option<Text> = None;
/// let mut population = None;
/// let mut seq = decoder.structure(at)?;
/// loop {
///     match decoder.member(shape, &mut seq)? {
///         0 => name = Some(decoder.text(shape.member(0))?),
///         1 => population = Some(decoder.integer(shape.member(1))?),
///         END => break,
///         _ => unreachable!("the decoder returns ordinals of the shape"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// A decoder skips members that the shape does not have, and members whose
/// value is null. It reports a member that comes twice as an error, with one
/// exception: a flattened list or map whose items stand apart comes again, and
/// its [`Seq::continues`] says so. Callers rely on that: the map that a structure
/// becomes as a [`Value`] takes the names of its members without comparing them, so
/// a decoder that let one come twice would make a map in which a key is there twice.
pub trait Decoder<'de> {
    /// Begins a structure or union.
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error>;

    /// Goes to the next member and returns its ordinal, or [`END`].
    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error>;

    /// Begins a union, the target of `at`, in one step, where its one member stands
    /// right there in the plainest way: the ordinal. [`Decoder::end_variant`] comes behind its
    /// value. `None`, with nothing read, where anything else stands there:
    /// [`Decoder::structure`] and [`Decoder::member`] read every union.
    fn variant(&mut self, at: Member<'_>) -> Option<u32> {
        let _ = at;
        None
    }

    /// Ends a union that [`Decoder::variant`] began. If it does not end there,
    /// what to go on with in [`Decoder::member`].
    fn end_variant(&mut self, ordinal: u32) -> Option<Seq> {
        let _ = ordinal;
        None
    }

    /// Begins a list.
    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error>;

    /// Goes to the next item of the list that `at` began; `false` at the end.
    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error>;

    /// How many items or entries are likely to come in the list or map of `at`,
    /// that which [`Decoder::item`] or [`Decoder::key`] has just announced
    /// included: what to make room for, asked once. 0 where nothing is known. All
    /// in all it is not much more than a message of as many bytes can have, also
    /// where lists in each other say more.
    fn expected(&mut self, at: Member<'_>, seq: &Seq) -> usize {
        let _ = (at, seq);
        0
    }

    /// Begins a map.
    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error>;

    /// Goes to the next entry of the map that `at` began; `None` at the end.
    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error>;

    /// Reads a null if there is one.
    fn null(&mut self, at: Member<'_>) -> Result<bool, Error>;

    /// Reads a boolean.
    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error>;

    /// Reads an integer that fits the kind of `at`.
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error>;

    /// Reads a 32-bit floating-point number.
    fn float(&mut self, at: Member<'_>) -> Result<f32, Error>;

    /// Reads a 64-bit floating-point number.
    fn double(&mut self, at: Member<'_>) -> Result<f64, Error>;

    /// Reads an integer of any size.
    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error>;

    /// Reads a decimal number of any size.
    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error>;

    /// Reads a string or enum.
    fn text(&mut self, at: Member<'_>) -> Result<Text, Error>;

    /// Reads a string or enum, borrowed from the input where it stands there
    /// as it is.
    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error>;

    /// Reads bytes.
    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error>;

    /// Reads an instant, in the format of the member or else of the protocol.
    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error>;

    /// Reads whatever comes: a scalar, or the start of a list or map.
    fn any(&mut self) -> Result<Event, Error>;

    /// Reads whatever comes, whole: as by [`any`](Self::any), for which a format may
    /// have a shorter way.
    fn document(&mut self) -> Result<Value, Error> {
        crate::dynamic::document(self)
    }

    /// A required member that did not come. The answer decides: an error ends
    /// the reading, otherwise the caller goes on with a default value.
    fn missing(&mut self, at: Member<'_>) -> Result<(), Error>;

    /// Whether a member that did not come gets its default. The caller asks
    /// about members that have one: on a server's side the answer is yes, on a
    /// client's unless they are optional to clients
    /// ([`Defaults`](crate::Defaults)). Without a side, as here, it is no.
    fn fills(&self, at: Member<'_>) -> bool {
        let _ = at;
        false
    }

    /// A union, the value of `at`, that held a member which the model does
    /// not have ([`Seq::unknown`] said so). The answer decides: an error ends
    /// the reading, as on a server; otherwise a newer peer may have variants
    /// of its own, as on a client.
    fn unknown(&mut self, at: Member<'_>) -> Result<(), Error> {
        let _ = at;
        Err(self.error(ErrorKind::Unknown, "a member that the union has"))
    }

    /// An error at the current place: what was expected there.
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error;
}

/// A type that can be read by every [`Decoder`].
pub trait Decode<'de>: Sized {
    /// Makes a value that holds nothing, costs nothing and need not be dropped, for
    /// [`Decode::decode_in_place`]: of generated unions.
    #[doc(hidden)]
    const BLANK: Option<fn() -> Self> = None;

    /// Reads the value of `at`.
    ///
    /// # Errors
    ///
    /// What the input holds is no such value.
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error>;

    /// Reads the value of `at` into the place where it is to stand, which holds
    /// a [`Decode::BLANK`]: what is large need not be moved there. Anything else
    /// that it holds may be forgotten instead of dropped.
    ///
    /// # Errors
    ///
    /// What the input holds is no such value. The place may hold a part of it,
    /// which is no value to go on with.
    #[doc(hidden)]
    #[inline]
    fn decode_in_place<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        *self = Self::decode(at, decoder)?;
        Ok(())
    }

    /// Reads on into a value that was begun before: lists and maps append
    /// where the format says that they go on ([`Seq::continues`]); everything
    /// else is replaced.
    ///
    /// # Errors
    ///
    /// What the input holds is no such value.
    #[inline]
    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        *self = Self::decode(at, decoder)?;
        Ok(())
    }
}

/// A structure that can be read in parts: first from the head of a message,
/// then from its body.
pub trait DecodeStructure<'de>: Decode<'de> {
    /// The structure while it is being read.
    type Builder: Default;

    /// Reads the members that this decoder has.
    ///
    /// # Errors
    ///
    /// What the input holds is no such structure.
    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut Self::Builder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error>;

    /// The whole structure. Asks [`Decoder::missing`] about each required
    /// member that no part had, and [`Decoder::fills`] about each that has a
    /// default.
    ///
    /// # Errors
    ///
    /// A required member is missing and the decoder minds.
    fn build<D: Decoder<'de> + ?Sized>(
        builder: Self::Builder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error>;
}

macro_rules! scalar {
    ($($type:ty => $call:ident;)*) => {
        $(impl<'de> Decode<'de> for $type {
            #[inline]
            fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
                decoder.$call(at)
            }
        })*
    };
}

scalar! {
    bool => boolean;
    i64 => integer;
    f32 => float;
    f64 => double;
    BigInteger => big_integer;
    BigDecimal => big_decimal;
    Text => text;
    Cow<'de, str> => str;
    Blob => blob;
    Timestamp => timestamp;
}

macro_rules! small_integer {
    ($($type:ty => $expected:literal;)*) => {
        $(impl<'de> Decode<'de> for $type {
            #[inline]
            fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
                match Self::try_from(decoder.integer(at)?) {
                    Ok(value) => Ok(value),
                    // Decoders check the range of the kind; this is for types
                    // that are narrower than their schema.
                    Err(_) => Err(decoder.error(ErrorKind::InvalidValue, $expected)),
                }
            }
        })*
    };
}

small_integer! {
    i8 => "an integer of 8 bits";
    i16 => "an integer of 16 bits";
    i32 => "an integer of 32 bits";
}

impl<'de> Decode<'de> for String {
    #[inline]
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        Ok(decoder.str(at)?.into_owned())
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Box<T> {
    #[inline]
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        Ok(Self::new(T::decode(at, decoder)?))
    }

    #[inline]
    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        (**self).decode_into(at, decoder)
    }
}

/// Nothing where there is a null: the items of sparse lists and maps.
impl<'de, T: Decode<'de>> Decode<'de> for Option<T> {
    #[inline]
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        if decoder.null(at)? {
            return Ok(None);
        }
        Ok(Some(T::decode(at, decoder)?))
    }

    #[inline]
    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        match self {
            Some(value) => value.decode_into(at, decoder),
            None => {
                *self = Self::decode(at, decoder)?;
                Ok(())
            }
        }
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Vec<T> {
    #[inline]
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut list = Self::new();
        list.decode_into(at, decoder)?;
        Ok(list)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let element = at.element();
        let mut seq = decoder.list(at)?;
        if !seq.continues {
            self.clear();
        }
        while decoder.item(at, &mut seq)? {
            if self.capacity() == 0 {
                self.reserve_exact(decoder.expected(at, &seq));
            }
            let Some(blank) = T::BLANK else {
                self.push(T::decode(element, decoder)?);
                continue;
            };
            self.push(blank());
            if let Some(item) = self.last_mut()
                && let Err(error) = item.decode_in_place(element, decoder)
            {
                // It may be half of one.
                self.pop();
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Reads the entries of a map into whatever takes them. `insert` says whether
/// the key was new.
fn decode_map<'de, M, V: Decode<'de>, D: Decoder<'de> + ?Sized>(
    map: &mut M,
    at: Member<'_>,
    decoder: &mut D,
    clear: impl FnOnce(&mut M),
    reserve: impl Fn(&mut M, usize),
    insert: impl Fn(&mut M, Text, V) -> bool,
) -> Result<(), Error> {
    let element = at.element();
    let mut seq = decoder.map(at)?;
    if !seq.continues {
        clear(map);
    }
    // A map that goes on grows by itself: room for a few more each time would be
    // a copy of all each time.
    let mut first = !seq.continues;
    while let Some(key) = decoder.key(at, &mut seq)? {
        if first {
            reserve(map, decoder.expected(at, &seq));
            first = false;
        }
        let value = V::decode(element, decoder)?;
        if !insert(map, key, value) {
            return Err(decoder.error(ErrorKind::Duplicate, "each key once"));
        }
    }
    Ok(())
}

impl<'de, K: From<Text> + Ord, V: Decode<'de>> Decode<'de> for BTreeMap<K, V> {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut map = Self::new();
        map.decode_into(at, decoder)?;
        Ok(map)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        decode_map(
            self,
            at,
            decoder,
            Self::clear,
            |_, _| (),
            |map, key, value| map.insert(K::from(key), value).is_none(),
        )
    }
}

impl<'de, K, V, S> Decode<'de> for HashMap<K, V, S>
where
    K: From<Text> + Eq + Hash,
    V: Decode<'de>,
    S: BuildHasher + Default,
{
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut map = Self::default();
        map.decode_into(at, decoder)?;
        Ok(map)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        decode_map(
            self,
            at,
            decoder,
            Self::clear,
            Self::reserve,
            |map, key, value| map.insert(K::from(key), value).is_none(),
        )
    }
}

/// A map in wire order.
///
/// The parts of a flattened map that stand apart in XML are not compared with each other:
/// a structure with such a member calls
/// [`generated::distinct_keys`](crate::generated::distinct_keys) at its end, as generated ones
/// do.
impl<'de, K: From<Text> + AsRef<str>, V: Decode<'de>> Decode<'de> for Vec<(K, V)> {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut entries = Self::new();
        entries.decode_into(at, decoder)?;
        Ok(entries)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let element = at.element();
        let mut seq = decoder.map(at)?;
        if !seq.continues {
            self.clear();
        }
        // A map that goes on grows by itself: room for a few more each time would
        // be a copy of all each time.
        let mut first = !seq.continues;
        while let Some(key) = decoder.key(at, &mut seq)? {
            if first {
                self.reserve_exact(decoder.expected(at, &seq));
                first = false;
            }
            let Some(blank) = V::BLANK else {
                self.push((K::from(key), V::decode(element, decoder)?));
                continue;
            };
            // Made where it stands: a key that is pushed goes through the stack,
            // since it would have to be dropped if there were no memory.
            self.resize_with(self.len() + 1, || (K::from(Text::default()), blank()));
            if let Some((place, value)) = self.last_mut() {
                *place = K::from(key);
                if let Err(error) = value.decode_in_place(element, decoder) {
                    self.pop();
                    return Err(error);
                }
            }
        }
        // Parts of a map that stand apart would be sorted anew with each: whoever
        // reads the structure compares them once, at its end.
        if seq.continues {
            return Ok(());
        }
        distinct_keys(self, decoder)
    }
}

/// Sees to it that the keys of a map that is a vector all differ.
///
/// # Errors
///
/// A key is there twice.
pub fn distinct_keys<'de, K: AsRef<str>, V, D: Decoder<'de> + ?Sized>(
    entries: &[(K, V)],
    decoder: &D,
) -> Result<(), Error> {
    match repeated(entries) {
        None => Ok(()),
        Some(key) => Err(decoder
            .error(ErrorKind::Duplicate, "each key once")
            .found(quoted(key))),
    }
}

/// A key that is there twice.
fn repeated<K: AsRef<str>, V>(entries: &[(K, V)]) -> Option<&str> {
    /// So many keys are sooner compared than sorted, also if all of them have to be.
    const FEW: usize = 32;

    if entries.len() <= FEW {
        // A bit per length and first and last byte: keys that differ there need no
        // comparison, and most do.
        let mut seen = [0_u64; 4];
        for (place, (key, _)) in entries.iter().enumerate() {
            let key = key.as_ref();
            let kind = fingerprint(key);
            let (word, bit) = (&mut seen[kind as usize / 64 % 4], 1 << (kind % 64));
            if *word & bit != 0
                && entries[..place]
                    .iter()
                    .any(|(other, _)| other.as_ref() == key)
            {
                return Some(key);
            }
            *word |= bit;
        }
        return None;
    }
    // Sorted at the end, since looking at all keys before each new one would
    // let a sender choose how long it takes.
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_ref()).collect();
    keys.sort_unstable();
    let pair = keys.windows(2).find(|pair| pair[0] == pair[1]);
    pair.map(|pair| pair[0])
}

impl<'de> Decode<'de> for Value {
    /// Reads the shape that `at` targets; as a document, whatever comes.
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        crate::dynamic::decode(at, decoder)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        crate::dynamic::decode_into(self, at, decoder)
    }
}

/// A structure, union or map of any shape. Only the first two are written as a
/// `Map` too; a map shape or a document is written as a [`Value`].
impl<'de> Decode<'de> for Map {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut map = Self::new();
        map.decode_into(at, decoder)?;
        Ok(map)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let mut value = Value::Map(std::mem::take(self));
        value.decode_into(at, decoder)?;
        match value {
            Value::Map(map) => *self = map,
            other => {
                return Err(decoder
                    .error(ErrorKind::WrongType, "a map")
                    .found(other.describe()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a set per level: what a decoder does in any nesting.
        #[test]
        fn wide_structures_remember_their_members(
            steps in proptest::collection::vec((0..4_u8, 128..700_u32), 0..200),
        ) {
            let mut wide = WideSeen::default();
            let mut model = vec![HashSet::new()];
            for (step, ordinal) in steps {
                let depth_left = 64 - model.len() as u32;
                match step {
                    0 => model.push(HashSet::new()),
                    1 if model.len() > 1 => {
                        model.pop();
                        wide.leave(depth_left);
                    }
                    _ => {
                        let level = model.last_mut().unwrap();
                        let before = !level.insert(ordinal);
                        prop_assert_eq!(wide.mark(depth_left, ordinal), before);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn repeated_keys_are_found(keys in proptest::collection::vec("[ab]{0,3}|[a-z]{6}", 0..80)) {
            let entries: Vec<(&String, ())> = keys.iter().map(|key| (key, ())).collect();
            let differ = keys.iter().collect::<HashSet<_>>().len() == keys.len();
            let repeated = repeated(&entries);
            prop_assert_eq!(repeated.is_none(), differ);
            if let Some(key) = repeated {
                prop_assert!(keys.iter().filter(|other| *other == key).count() > 1);
            }
        }
    }

    #[test]
    fn wide_structures_cost_a_bit_a_member() {
        let mut wide = WideSeen::default();
        for ordinal in 128..60_000 {
            assert!(!wide.mark(60, ordinal));
        }
        assert_eq!(wide.levels.len(), 1);
        assert_eq!(wide.levels[0].words.len(), 60_000_usize.div_ceil(64));
        assert!(wide.mark(60, 59_999));
        wide.leave(60);
        assert_eq!(wide.open, 0);
        // The next level at this place clears one word, not all of them.
        assert!(!wide.mark(60, 59_999));
        assert_eq!(wide.levels[0].used.len(), 1);
    }
}
