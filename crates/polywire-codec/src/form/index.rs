//! The fields of a form, brought into the order of the shape.
//!
//! Fields come in any order, and what belongs to one structure may stand apart.
//! So the form is split once, and each key is resolved against the schema to a
//! row of numbers: the ordinal of a member, the number of an item. Sorted by
//! these, the fields of a structure, list or map are neighbours at each level,
//! and reading is one walk from the first to the last. Clients write in the
//! order of the model, so mostly there is nothing to sort.
//!
//! What a key has in common with the one before it is not resolved again. All
//! of it takes time in proportion to the bytes of the keys, and sorting as many
//! times that as the logarithm of their number.

use std::borrow::Cow;
use std::cmp::Ordering;

use polywire_schema::{
    Budget, Error, ErrorKind, LimitKind, Member, MemberFlags, NameSource, ShapeKind,
};
use polywire_text::{Malformed, percent};

use super::FormProfile;
use crate::snippet;

/// The number of all members that the shape does not have.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The numbers of the key and the value of an entry.
pub(super) const KEY: u32 = 0;
pub(super) const VALUE: u32 = 1;

/// The most characters of a key that an error shows.
const LONGEST_PATH: usize = 256;

/// The fields of a form, one after the other.
pub(super) struct Fields<'de> {
    form: &'de str,
    /// Where the field that was read last begins.
    start: usize,
    at: usize,
}

impl<'de> Fields<'de> {
    pub(super) fn new(form: &'de str) -> Self {
        Self {
            form,
            start: 0,
            at: 0,
        }
    }

    /// The next field: its key, and where its value begins and ends.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(Cow<'de, str>, usize, usize)>, Error> {
        let Some([start, key_end, value, end]) = self.next_offsets() else {
            return Ok(None);
        };
        let key = decode(&self.form[start..key_end], start)?;
        Ok(Some((key, value, end)))
    }

    /// Where the key of the next field begins and ends, and its value.
    #[inline]
    pub(super) fn next_offsets(&mut self) -> Option<[usize; 4]> {
        let bytes = self.form.as_bytes();
        while bytes.get(self.at) == Some(&b'&') {
            self.at += 1;
        }
        self.start = self.at;
        let rest = bytes.get(self.start..).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr(b'&', rest).unwrap_or(rest.len());
        // Behind the `&`, or behind the end.
        self.at += len + 1;
        let equals = memchr::memchr(b'=', &rest[..len]);
        let key_end = self.start + equals.unwrap_or(len);
        let value = self.start + equals.map_or(len, |equals| equals + 1);
        Some([self.start, key_end, value, self.start + len])
    }
}

/// The fields of a form that belong to a shape.
#[derive(Debug, Default)]
pub(super) struct Index {
    fields: Vec<Field>,
    segments: Vec<Segment>,
}

/// A field, by offsets into the form: `key <= value <= end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) key: u32,
    pub(super) value: u32,
    pub(super) end: u32,
    /// Its segments: `first..first + len` of all.
    first: u32,
    pub(super) len: u32,
    /// How many of the first ones it has in common with the field before it.
    pub(super) shared: u32,
}

/// What a segment of a key stands for: a member, an item, one half of an entry.
#[derive(Clone, Copy, Debug)]
struct Segment {
    number: u32,
    /// Where it ends in the key, once decoded.
    end: u32,
}

/// A segment while keys are resolved, and what it leads to.
#[derive(Clone, Copy)]
struct Step<'s> {
    segment: Segment,
    place: Place<'s>,
}

#[derive(Clone, Copy)]
enum Place<'s> {
    Value(Member<'s>),
    /// An entry of a map.
    Entry(Member<'s>),
    /// Behind a name that the shape does not have.
    Nowhere,
}

impl Index {
    /// Resolves the keys of a form whose structure is the value of `root`.
    pub(super) fn new(
        form: &str,
        root: Member<'_>,
        profile: &FormProfile,
        budget: &mut Budget,
    ) -> Result<Self, Error> {
        let mut index = Self::default();
        let mut trail: Vec<Step<'_>> = Vec::new();
        let mut before = Cow::Borrowed("");
        let mut own = 0_u64;
        let mut fields = Fields::new(form);
        while let Some((key, value, end)) = fields.next()? {
            let start = fields.start;
            let mut resolver = Resolver {
                key: &key,
                start,
                form,
                profile,
            };
            if let Some(place) = profile.own.iter().position(|name| *name == key) {
                if own & 1 << place != 0 {
                    return Err(resolver.error(ErrorKind::Duplicate, 0, "each key once"));
                }
                own |= 1 << place;
                decode(&form[value..end], value)?;
                continue;
            }
            resolver.shorten(&mut trail, &before);
            resolver.lengthen(&mut trail, root, budget)?;
            resolver.check_end(&trail, value == end)?;
            if let Some(Step {
                place: Place::Nowhere,
                ..
            }) = trail.last()
            {
                decode(&form[value..end], value)?;
                budget
                    .count(1)
                    .map_err(|limit| resolver.error(ErrorKind::Limit(limit), 0, ""))?;
            }
            // What the structure at the top does not have is of no use, but
            // below it somebody has to know that there was something.
            if !matches!(
                trail[..],
                [Step {
                    place: Place::Nowhere,
                    ..
                }]
            ) {
                index.push(&trail, [start, value, end]);
            }
            before = key;
        }
        index.order(form)?;
        Ok(index)
    }

    fn push(&mut self, trail: &[Step<'_>], [key, value, end]: [usize; 3]) {
        let first = self.segments.len() as u32;
        self.segments.extend(trail.iter().map(|step| step.segment));
        // The decoder refuses forms of 4 GiB.
        self.fields.push(Field {
            key: key as u32,
            value: value as u32,
            end: end as u32,
            first,
            len: trail.len() as u32,
            shared: 0,
        });
    }

    /// Sorts the fields, unless they are in order, and compares each with the
    /// one before it.
    fn order(&mut self, form: &str) -> Result<(), Error> {
        let Self { fields, segments } = self;
        let segments: &[Segment] = segments;
        let numbers = |field: &Field| {
            let first = field.first as usize;
            let segments = &segments[first..first + field.len as usize];
            segments.iter().map(|segment| segment.number)
        };
        if !fields.is_sorted_by(|left, right| numbers(left).le(numbers(right))) {
            // Stable, so that of equal fields the later one is the second.
            fields.sort_by(|left, right| numbers(left).cmp(numbers(right)));
        }
        for at in 1..fields.len() {
            let (left, right) = (fields[at - 1], fields[at]);
            let same = |(left, right): &(u32, u32)| left == right;
            let shared = numbers(&left).zip(numbers(&right)).take_while(same).count() as u32;
            fields[at].shared = shared;
            if shared == left.len && numbers(&right).next_back() != Some(UNKNOWN) {
                return Err(twice(form, left, right));
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The number of a field at a level.
    #[inline]
    pub(super) fn number(&self, field: &Field, level: u32) -> u32 {
        if level >= field.len {
            return UNKNOWN;
        }
        let segment = self.segments.get((field.first + level) as usize);
        segment.map_or(UNKNOWN, |segment| segment.number)
    }

    /// The key of a field up to a level, as an error shows it.
    #[cold]
    pub(super) fn path(&self, form: &str, field: &Field, levels: u32) -> String {
        let Some(last) = levels.min(field.len).checked_sub(1) else {
            return String::new();
        };
        let key = key_of(form, field.key as usize);
        let end = self.segments.get((field.first + last) as usize);
        let end = end.map_or(key.len(), |segment| segment.end as usize);
        shown(key.get(..end).unwrap_or(&key))
    }
}

/// The decoded key of the field that begins at `start`.
fn key_of(form: &str, start: usize) -> Cow<'_, str> {
    let rest = &form[start..];
    let end = memchr::memchr2(b'&', b'=', rest.as_bytes()).unwrap_or(rest.len());
    percent::decode_query(&rest[..end]).unwrap_or_default()
}

/// A key as an error shows it.
pub(super) fn shown(key: &str) -> String {
    let shown = key.chars().take(LONGEST_PATH).map(snippet::printable);
    shown.collect()
}

/// A percent-decoded part of the form.
#[inline]
pub(super) fn decode(part: &str, start: usize) -> Result<Cow<'_, str>, Error> {
    percent::decode_query(part).map_err(|malformed| not_encoded(malformed, start))
}

#[cold]
fn not_encoded(malformed: Malformed, start: usize) -> Error {
    Error::malformed(ErrorKind::Syntax, malformed, start).in_format("form")
}

#[cold]
fn twice(form: &str, left: Field, right: Field) -> Error {
    let later = left.key.max(right.key) as usize;
    let key = key_of(form, later);
    let expected = match left.len == right.len {
        true => "each key once",
        false => "either an empty list or map or what is in it",
    };
    Error::new(ErrorKind::Duplicate)
        .in_format("form")
        .expected(expected)
        .at_offset(later)
        .at_path(shown(&key))
}

/// One key against the schema.
struct Resolver<'k> {
    key: &'k str,
    /// Where the field begins in the form.
    start: usize,
    form: &'k str,
    profile: &'k FormProfile,
}

impl<'k> Resolver<'k> {
    /// The segment that begins at an offset of the key.
    #[inline]
    fn segment(&self, at: usize) -> &'k str {
        let rest = self.key.get(at..).unwrap_or_default();
        match memchr::memchr(b'.', rest.as_bytes()) {
            Some(end) => &rest[..end],
            None => rest,
        }
    }

    /// Keeps of the way to the field before what leads to this one too.
    fn shorten(&self, trail: &mut Vec<Step<'_>>, before: &str) {
        let (key, before) = (self.key.as_bytes(), before.as_bytes());
        let longest = trail.last().map_or(0, |step| step.segment.end as usize);
        let same = common(&key[..key.len().min(longest)], before);
        // What the key before had at the end of a step was a dot or its end.
        let leads_here = |step: &Step<'_>| {
            let end = step.segment.end as usize;
            end <= same && matches!(key.get(end), None | Some(b'.'))
        };
        while trail.last().is_some_and(|step| !leads_here(step)) {
            trail.pop();
        }
    }

    /// Resolves the rest of the key, down to the depth that a message may have.
    fn lengthen<'s>(
        &mut self,
        trail: &mut Vec<Step<'s>>,
        root: Member<'s>,
        budget: &Budget,
    ) -> Result<(), Error> {
        let (mut at, mut place) = match trail.last() {
            None => (0, Place::Value(root)),
            Some(step) if step.segment.end as usize == self.key.len() => return Ok(()),
            Some(step) => (step.segment.end as usize + 1, step.place),
        };
        // The collections that are entered on the way: the root, and each value on the trail, whose
        // key goes on.
        let is_value = |step: &&Step<'_>| matches!(step.place, Place::Value(_));
        let mut depth = 1 + trail.iter().filter(is_value).count();
        loop {
            budget
                .depth_of(depth)
                .map_err(|limit| self.error(ErrorKind::Limit(limit), at, ""))?;
            let (number, end) = match place {
                Place::Nowhere => return Ok(()),
                Place::Entry(map) => {
                    let name = self.segment(at);
                    let half = |ordinal| map.target().member(ordinal);
                    let found = [KEY, VALUE]
                        .into_iter()
                        .find(|ordinal| half(*ordinal).plain(self.profile.names.source()) == name);
                    place = found.map_or(Place::Nowhere, |ordinal| Place::Value(half(ordinal)));
                    (found.unwrap_or(UNKNOWN), at + name.len())
                }
                Place::Value(member) => match member.kind() {
                    ShapeKind::Structure | ShapeKind::Union => {
                        let name = self.segment(at);
                        let shape = member.target();
                        let found = shape.find(self.profile.names.source(), name.as_bytes());
                        place = match found {
                            Some(ordinal) => Place::Value(shape.member(ordinal)),
                            None => Place::Nowhere,
                        };
                        (found.unwrap_or(UNKNOWN), at + name.len())
                    }
                    ShapeKind::List => {
                        let flat = self.profile.flat || member.has(MemberFlags::XML_FLATTENED);
                        let element = member.element();
                        if !flat {
                            let name = element.plain(NameSource::Query);
                            self.word(&mut at, name)?;
                        }
                        place = Place::Value(element);
                        self.number(at)?
                    }
                    ShapeKind::Map => {
                        if self.profile.flat {
                            let expected = "no map: ec2Query has none";
                            return Err(self.error(ErrorKind::WrongType, at, expected));
                        }
                        if !member.has(MemberFlags::XML_FLATTENED) {
                            self.word(&mut at, "entry")?;
                        }
                        place = Place::Entry(member);
                        self.number(at)?
                    }
                    kind => {
                        let error = self.error(ErrorKind::WrongType, at.saturating_sub(1), "");
                        return Err(
                            error.expected(format!("{}, not a key that goes on", kind.describe()))
                        );
                    }
                },
            };
            let end = end as u32;
            depth += usize::from(matches!(place, Place::Value(_)));
            trail.push(Step {
                segment: Segment { number, end },
                place,
            });
            if end as usize >= self.key.len() {
                return Ok(());
            }
            at = end as usize + 1;
        }
    }

    /// Skips a segment that carries nothing.
    #[inline]
    fn word(&self, at: &mut usize, word: &str) -> Result<(), Error> {
        if self.segment(*at) != word {
            let error = self.error(ErrorKind::WrongType, *at, "");
            return Err(error.expected(format!(
                "`{word}`, which comes before the number of an item"
            )));
        }
        // Behind the dot; if there is none, no number will be found.
        *at += word.len() + 1;
        Ok(())
    }

    /// The number of an item or entry, and where it ends.
    fn number(&self, at: usize) -> Result<(u32, usize), Error> {
        let digits = self.segment(at).as_bytes();
        let plain = digits.iter().all(u8::is_ascii_digit) && !matches!(digits, [] | [b'0', ..]);
        let value = digits.iter().try_fold(0_u32, |value, digit| {
            let digit = u32::from(digit.wrapping_sub(b'0'));
            value.checked_mul(10)?.checked_add(digit)
        });
        match value {
            Some(value) if plain && value != UNKNOWN => Ok((value, at + digits.len())),
            _ => Err(self.error(
                ErrorKind::InvalidValue,
                at,
                "the number of an item: 1, 2, 3 and so on",
            )),
        }
    }

    /// Whether a field may end here.
    fn check_end(&self, trail: &[Step<'_>], empty: bool) -> Result<(), Error> {
        let expected = match trail.last().map(|step| step.place) {
            Some(Place::Value(member)) => match member.kind() {
                ShapeKind::Structure | ShapeKind::Union => "the key of a member behind it",
                ShapeKind::List | ShapeKind::Map if !empty => "the key of an item behind it",
                ShapeKind::Document => "no document: forms have none",
                _ => return Ok(()),
            },
            Some(Place::Entry(_)) => "the key or the value of an entry",
            Some(Place::Nowhere) | None => return Ok(()),
        };
        Err(self.error(ErrorKind::WrongType, 0, expected))
    }

    /// An error at an offset of the key.
    #[cold]
    fn error(&self, kind: ErrorKind, at: usize, expected: &'static str) -> Error {
        // Where the key is percent-encoded, the whole of it is meant.
        let plain = self.form[self.start..].starts_with(self.key);
        let error = Error::new(kind)
            .in_format("form")
            .expected(expected)
            .at_offset(self.start + if plain { at.min(self.key.len()) } else { 0 })
            .at_path(shown(self.key));
        match kind {
            ErrorKind::Limit(_) | ErrorKind::Duplicate => error,
            _ if at >= self.key.len() => error.found("the end of the key"),
            _ => error.found(snippet::rest(self.key.as_bytes(), at)),
        }
    }
}

/// How many of the first bytes are the same.
fn common(left: &[u8], right: &[u8]) -> usize {
    let words = left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0);
    let start = 8 * words.take_while(|(left, right)| left == right).count();
    let bytes = left[start..].iter().zip(&right[start..]);
    start + bytes.take_while(|(left, right)| left == right).count()
}

/// Refuses forms whose offsets do not fit.
pub(super) fn check_size(len: usize) -> Result<(), Error> {
    match u32::try_from(len).map(|len| len.cmp(&u32::MAX)) {
        Ok(Ordering::Less) => Ok(()),
        _ => {
            let limit = LimitKind::Bytes(u32::MAX as usize - 1);
            Err(Error::new(ErrorKind::Limit(limit)).in_format("form"))
        }
    }
}
