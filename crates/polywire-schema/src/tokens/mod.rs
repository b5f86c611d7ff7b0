//! The decoding loops that all formats share.
//!
//! A format implements [`TokenReader`]: small functions that read one token each. The loop over
//! the members of a structure, the items of a list and the entries of a map is written once, in
//! the implementation of [`Decoder`] for every `TokenReader`. The loop identifies members, rejects
//! duplicates, skips nulls and handles missing members.
//!
//! Functions whose documentation begins with "Fast" are inlined into the code of each type.
//! `match_member`, `quick_key` and `variant` handle only the most common form of the input. For all
//! other input they return `None` without consuming it, and the general functions are called, which
//! handle white space, limits and errors.

mod part;

use std::borrow::Cow;

use polywire_text::{Blob, Text, Timestamp};

use self::part::{begin_part, part_member};
use crate::budget::Budget;
use crate::{
    BigDecimal, BigInteger, Decoder, END, Error, ErrorKind, Event, Member, MemberFlags, NameSource,
    Part, Rules, Schema, Seq, ShapeKind, Value,
};

/// The container that is being read. It determines the tokens that separate and end its parts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Container {
    /// A structure or union.
    Structure,
    /// A list.
    List,
    /// A map.
    Map,
}

/// The result of reading the name of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Name {
    /// The member with this ordinal.
    Member(u32),
    /// A name that the shape does not have. Its value follows.
    Unknown,
    /// A name that the shape does not have, whose value has been read, checked and counted, such as an
    /// XML attribute. No value follows.
    Ignored,
}

/// A reader of the tokens of one format. [`Decoder`] is implemented for every token reader.
///
/// Functions that refer to [`Decoder`] have the same contract as the function with the same name.
pub trait TokenReader<'de> {
    /// The next token of a structure, for readers that pass it from [`peek`](Self::peek) to the other
    /// functions, so that it is inspected only once. Otherwise `()`.
    type Next: Copy;

    /// The result of [`match_member`](Self::match_member), such as a number of bytes.
    type Match: Copy;

    /// Returns the remaining limits of the message.
    fn budget(&mut self) -> &mut Budget;

    /// Returns the rules of the profile.
    fn rules(&self) -> Rules;

    /// Returns the source of member names in errors.
    fn name_source(&self) -> NameSource {
        NameSource::Member
    }

    /// Returns the part of the top-level structure that the document contains. The loop asks before
    /// each structure. Unless the result is [`Part::Whole`], it then calls
    /// [`part_begun`](Self::part_begun).
    #[inline(always)]
    fn part(&self) -> Part {
        Part::Whole
    }

    /// Called when the top-level structure begins. Afterwards [`part`](Self::part) must return
    /// [`Part::Whole`].
    fn part_begun(&mut self) {}

    /// Reads the token that begins a structure, list or map, and enters a level of the budget.
    fn begin(&mut self, container: Container, at: Member<'_>) -> Result<Seq, Error>;

    /// Advances to the next member, item or entry of a container and returns `true`. At the end of the
    /// container, reads the end token, leaves the level of the budget and returns `false`. Counts items
    /// and entries. Members are not counted here: [`slow_member`] counts unknown ones.
    fn next(&mut self, container: Container, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error>;

    /// Whether [`other_member`](Self::other_member) tries the expected member first. In a part of a
    /// structure the fast match before it is then left out.
    const TRIES_EXPECTED: bool = false;

    /// Fast: inspects the next token.
    fn peek(&self, seq: &Seq) -> Self::Next;

    /// Fast: matches the input before the value of `member`. Succeeds if the name has the same form
    /// as in the output of the encoder, and the value is not null. Does not consume input.
    fn match_member(&self, next: Self::Next, member: Member<'_>, seq: &Seq) -> Option<Self::Match>;

    /// Consumes the input that [`match_member`](Self::match_member) has matched.
    fn accept_member(&mut self, found: Self::Match, seq: &mut Seq);

    /// Returns the next member, which can be any, or [`END`]. Called if the fast match has failed, or
    /// without it in a part of a structure. Handles common cases, and calls [`slow_member`] for all
    /// others.
    fn other_member(
        &mut self,
        next: Self::Next,
        shape: Schema<'_>,
        seq: &mut Seq,
    ) -> Result<u32, Error>;

    /// Reads the name of a member, after [`next`](Self::next).
    fn name(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<Name, Error>;

    /// Returns whether this member can occur several times, as flattened XML lists do. `continues`
    /// is set if it has already occurred.
    fn may_continue(&mut self, member: Member<'_>, continues: bool) -> bool {
        let _ = (member, continues);
        false
    }

    /// Fast: reads the next key of a map, if its value is not null. Returns `Some(None)` at the end
    /// of the map.
    fn quick_key(&mut self, seq: &mut Seq) -> Option<Option<Text>> {
        let _ = seq;
        None
    }

    /// Reads the key of an entry, after [`next`](Self::next), into [`scratch`](Self::scratch).
    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<(), Error>;

    /// The buffer for the result of slow functions. If they returned a `Text`, the fast path could
    /// not return its result in registers.
    fn scratch(&mut self) -> &mut Text;

    /// Skips a value.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not well-formed.
    fn skip_value(&mut self) -> Result<(), Error>;

    /// Fast: returns `false` if the next value is not null, or must not be skipped as one.
    fn may_be_null(&self) -> bool;

    /// Called at the end of the list or map of `at`.
    fn ended(&mut self, at: Member<'_>, seq: &Seq) {
        let _ = (at, seq);
    }

    /// See [`Decoder::variant`].
    fn variant(&mut self, at: Member<'_>) -> Option<u32> {
        let _ = at;
        None
    }

    /// See [`Decoder::end_variant`].
    fn end_variant(&mut self, ordinal: u32) -> Option<Seq> {
        let _ = ordinal;
        None
    }

    /// See [`Decoder::size_hint`].
    fn size_hint(&mut self, at: Member<'_>, seq: &Seq) -> usize {
        let _ = (at, seq);
        0
    }

    /// See [`Decoder::null`].
    fn null(&mut self) -> Result<bool, Error>;
    /// See [`Decoder::boolean`].
    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error>;
    /// See [`Decoder::integer`].
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error>;
    /// See [`Decoder::float`].
    fn float(&mut self, at: Member<'_>) -> Result<f32, Error>;
    /// See [`Decoder::double`].
    fn double(&mut self, at: Member<'_>) -> Result<f64, Error>;
    /// See [`Decoder::big_integer`].
    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error>;
    /// See [`Decoder::big_decimal`].
    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error>;
    /// See [`Decoder::text`].
    fn text(&mut self, at: Member<'_>) -> Result<Text, Error>;
    /// See [`Decoder::str`].
    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error>;
    /// See [`Decoder::blob`].
    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error>;
    /// See [`Decoder::timestamp`].
    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error>;
    /// See [`Decoder::any`].
    fn any(&mut self) -> Result<Event, Error>;
    /// See [`Decoder::document`].
    fn document(&mut self) -> Result<Value, Error> {
        crate::dynamic::document(self)
    }
    /// See [`Decoder::error`].
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error;
}

/// Advances to the next member of a structure and returns its ordinal or [`END`]. Handles all
/// input.
///
/// # Errors
///
/// Returns an error if the input is malformed, if a member occurs twice, or if unknown members
/// exceed the limit of items.
#[inline(never)]
pub fn slow_member<'de, R: TokenReader<'de> + ?Sized>(
    reader: &mut R,
    shape: Schema<'_>,
    seq: &mut Seq,
) -> Result<u32, Error> {
    loop {
        if !reader.next(Container::Structure, shape.root(), seq)? {
            return Ok(END);
        }
        let ordinal = match reader.name(shape, seq)? {
            Name::Member(ordinal) => ordinal,
            Name::Ignored => continue,
            Name::Unknown => {
                seq.unknown = true;
                if let Err(limit) = reader.budget().count(1) {
                    return Err(reader.error(ErrorKind::Limit(limit), ""));
                }
                reader.skip_value()?;
                continue;
            }
        };
        let member = shape.member(ordinal);
        seq.guess = ordinal + 1;
        // Members of the message head are unknown in the document.
        if !seq.part.holds(member) {
            seq.unknown = true;
            reader.skip_value()?;
            continue;
        }
        let continues = reader.budget().seen(seq, ordinal);
        let may_continue = reader.may_continue(member, continues);
        if continues && !may_continue {
            return Err(reader.error(ErrorKind::Duplicate, "each member once"));
        }
        if !may_continue
            && reader.may_be_null()
            && member.kind() != ShapeKind::Document
            && reader.null()?
        {
            continue;
        }
        return Ok(ordinal);
    }
}

/// Reads the next key into [`TokenReader::scratch`]. Returns `false` at the end of the map.
#[inline(never)]
fn slow_key<'de, R: TokenReader<'de> + ?Sized>(
    reader: &mut R,
    at: Member<'_>,
    seq: &mut Seq,
) -> Result<bool, Error> {
    loop {
        if !reader.next(Container::Map, at, seq)? {
            return Ok(false);
        }
        reader.key(at, seq)?;
        if !skip_null(reader, at)? {
            return Ok(true);
        }
    }
}

/// Skips a null in the list or map of `at`, if the profile skips nulls and the collection may not
/// contain them. Returns whether it skipped one.
#[inline(always)]
fn skip_null<'de, R: TokenReader<'de> + ?Sized>(
    reader: &mut R,
    at: Member<'_>,
) -> Result<bool, Error> {
    let skips = reader.rules().skip_nulls && reader.may_be_null();
    if skips && !at.is_sparse() && at.element().kind() != ShapeKind::Document {
        return reader.null();
    }
    Ok(false)
}

/// Implements functions of [`Decoder`] with the functions of [`TokenReader`] of the same names.
macro_rules! forward {
    ($($name:ident -> $type:ty;)*) => {
        $(#[inline(always)]
        fn $name(&mut self, at: Member<'_>) -> Result<$type, Error> {
            TokenReader::$name(self, at)
        })*
    };
}

impl<'de, R: TokenReader<'de> + ?Sized> Decoder<'de> for R {
    #[inline(always)]
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if self.part() != Part::Whole {
            return begin_part(self, at);
        }
        self.begin(Container::Structure, at)
    }

    #[inline(always)]
    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        // The expected member. `END` if the document contains a part of the structure.
        let ordinal = seq.guess;
        let next = self.peek(seq);
        if ordinal < shape.len()
            && let Some(found) = self.match_member(next, shape.member(ordinal), seq)
            && seq.mark_new(ordinal)
        {
            self.accept_member(found, seq);
            seq.guess = ordinal + 1;
            return Ok(ordinal);
        }
        if seq.part != Part::Whole {
            return part_member(self, shape, seq);
        }
        self.other_member(next, shape, seq)
    }

    #[inline(always)]
    fn variant(&mut self, at: Member<'_>) -> Option<u32> {
        TokenReader::variant(self, at)
    }

    #[inline(always)]
    fn end_variant(&mut self, ordinal: u32) -> Option<Seq> {
        TokenReader::end_variant(self, ordinal)
    }

    #[inline(always)]
    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.begin(Container::List, at)
    }

    #[inline(always)]
    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        loop {
            if !self.next(Container::List, at, seq)? {
                self.ended(at, seq);
                return Ok(false);
            }
            if !skip_null(self, at)? {
                return Ok(true);
            }
        }
    }

    #[inline(always)]
    fn size_hint(&mut self, at: Member<'_>, seq: &Seq) -> usize {
        TokenReader::size_hint(self, at, seq)
    }

    #[inline(always)]
    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.begin(Container::Map, at)
    }

    #[inline(always)]
    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error> {
        if let Some(key) = self.quick_key(seq) {
            if key.is_none() {
                self.ended(at, seq);
            }
            return Ok(key);
        }
        if !slow_key(self, at, seq)? {
            self.ended(at, seq);
            return Ok(None);
        }
        Ok(Some(std::mem::take(self.scratch())))
    }

    #[inline(always)]
    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        TokenReader::null(self)
    }

    forward! {
        boolean -> bool;
        integer -> i64;
        float -> f32;
        double -> f64;
        big_integer -> BigInteger;
        big_decimal -> BigDecimal;
        text -> Text;
        str -> Cow<'de, str>;
        blob -> Blob;
        timestamp -> Timestamp;
    }

    #[inline(always)]
    fn any(&mut self) -> Result<Event, Error> {
        TokenReader::any(self)
    }

    #[inline(always)]
    fn document(&mut self) -> Result<Value, Error> {
        TokenReader::document(self)
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.rules().defaults.fills_default(at)
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        // An event stream is no member of a document.
        let is_event_stream = at.kind() == ShapeKind::Union && at.has(MemberFlags::STREAMING);
        if !self.rules().strict || is_event_stream {
            return Ok(());
        }
        let (name, shape) = (at.plain(self.name_source()), at.container());
        let error = TokenReader::error(self, ErrorKind::Missing, "");
        let expected = format!("the required member `{name}` of {}", shape.id());
        Err(error.expected(expected).found(""))
    }

    fn unknown(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.rules().strict {
            return Ok(());
        }
        let error = TokenReader::error(self, ErrorKind::Unknown, "");
        let expected = format!("only members that {} has", at.target().id());
        Err(error.expected(expected).found(""))
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        TokenReader::error(self, kind, expected)
    }
}
