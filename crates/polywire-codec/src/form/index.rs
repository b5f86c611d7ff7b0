//! The fields of a form, sorted into the order of the shape.
//!
//! The fields of a form may have any order, and the fields of one structure need not be adjacent. So
//! the form is split once, and each key is resolved against the schema to a sequence of numbers:
//! ordinals of members and numbers of items. The fields are sorted by these numbers, after which the
//! fields of each structure, list or map are adjacent, and the decoder reads them in one pass. Most
//! clients write fields in the order of the model, and then nothing has to be sorted.
//!
//! Segments that a key shares with the previous key are not resolved again. Resolving takes time
//! proportional to the length of the keys. Sorting n fields multiplies this by log n.

use std::borrow::Cow;

use polywire_schema::{
    Budget, Error, ErrorKind, LimitKind, Member, MemberFlags, NameSource, ShapeKind,
};
use polywire_text::{Malformed, percent};

use super::FormProfile;
use crate::snippet;

/// Stands for the ordinal of a member that the shape does not have.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The numbers of the key and the value of an entry.
pub(super) const KEY: u32 = 0;
pub(super) const VALUE: u32 = 1;

/// The maximum number of characters of a key in an error.
const MAX_PATH: usize = 256;

/// An iterator over the fields of a form, in the order of the form.
pub(super) struct Fields<'de> {
    form: &'de str,
    /// The offset of the last field.
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

    /// The next field: its key, and the start and the end of its value.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(Cow<'de, str>, usize, usize)>, Error> {
        let Some([start, key_end, value, end]) = self.next_offsets() else {
            return Ok(None);
        };
        let key = decode(&self.form[start..key_end], start)?;
        Ok(Some((key, value, end)))
    }

    /// The start and the end of the key and of the value of the next field.
    #[inline]
    pub(super) fn next_offsets(&mut self) -> Option<[usize; 4]> {
        let bytes = self.form.as_bytes();
        while bytes.get(self.at) == Some(&b'&') {
            self.at += 1;
        }
        self.start = self.at;
        let rest = bytes.get(self.start..).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr(b'&', rest).unwrap_or(rest.len());
        // After the `&`, or beyond the end.
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
    /// The range of its segments is `first..first + len`.
    first: u32,
    pub(super) len: u32,
    /// The number of leading segments that are equal to those of the previous field.
    pub(super) shared: u32,
}

/// A resolved segment of a key: the ordinal of a member, the number of an item or entry, or [`KEY`] or
/// [`VALUE`].
#[derive(Clone, Copy, Debug)]
struct Segment {
    number: u32,
    /// The end of the segment in the decoded key.
    end: u32,
}

/// A resolved segment, and the target of the key up to it.
#[derive(Clone, Copy)]
struct Step<'s> {
    segment: Segment,
    target: Target<'s>,
}

#[derive(Clone, Copy)]
enum Target<'s> {
    Value(Member<'s>),
    /// An entry of a map.
    Entry(Member<'s>),
    /// A value of an unknown member.
    Unknown,
}

impl Index {
    /// Resolves and sorts the fields of a form for the structure `root`.
    pub(super) fn new(
        form: &str,
        root: Member<'_>,
        profile: &FormProfile,
        budget: &mut Budget,
    ) -> Result<Self, Error> {
        let mut index = Self::default();
        let mut steps: Vec<Step<'_>> = Vec::new();
        let mut previous = Cow::Borrowed("");
        let mut seen_protocol_fields = 0_u64;
        let mut fields = Fields::new(form);
        while let Some((key, value, end)) = fields.next()? {
            let start = fields.start;
            let mut resolver = Resolver {
                key: &key,
                start,
                form,
                profile,
            };
            if let Some(bit) = profile.protocol_fields.iter().position(|name| *name == key) {
                if seen_protocol_fields & 1 << bit != 0 {
                    return Err(resolver.error(ErrorKind::Duplicate, 0, "each key once"));
                }
                seen_protocol_fields |= 1 << bit;
                decode(&form[value..end], value)?;
                continue;
            }
            resolver.pop_different(&mut steps, &previous);
            resolver.push_rest(&mut steps, root, budget)?;
            resolver.check_end(&steps, value == end)?;
            if let Some(Step {
                target: Target::Unknown,
                ..
            }) = steps.last()
            {
                decode(&form[value..end], value)?;
                budget
                    .count(1)
                    .map_err(|limit| resolver.error(ErrorKind::Limit(limit), 0, ""))?;
            }
            // Unknown members of the top-level structure are dropped. Deeper ones are kept, because
            // the container around them exists even if it has no other fields.
            if !matches!(
                steps[..],
                [Step {
                    target: Target::Unknown,
                    ..
                }]
            ) {
                index.push(&steps, [start, value, end]);
            }
            previous = key;
        }
        index.sort(form)?;
        Ok(index)
    }

    fn push(&mut self, steps: &[Step<'_>], [key, value, end]: [usize; 3]) {
        let first = self.segments.len() as u32;
        self.segments.extend(steps.iter().map(|step| step.segment));
        // `check_size` has rejected longer forms.
        self.fields.push(Field {
            key: key as u32,
            value: value as u32,
            end: end as u32,
            first,
            len: steps.len() as u32,
            shared: 0,
        });
    }

    /// Sorts the fields, and compares each with the previous one to find shared segments and
    /// duplicates.
    fn sort(&mut self, form: &str) -> Result<(), Error> {
        let Self { fields, segments } = self;
        let segments: &[Segment] = segments;
        let numbers = |field: &Field| {
            let first = field.first as usize;
            let segments = &segments[first..first + field.len as usize];
            segments.iter().map(|segment| segment.number)
        };
        if !fields.is_sorted_by(|left, right| numbers(left).le(numbers(right))) {
            // The sort is stable, so that the error for a duplicate is about the later field.
            fields.sort_by(|left, right| numbers(left).cmp(numbers(right)));
        }
        for at in 1..fields.len() {
            let (left, right) = (fields[at - 1], fields[at]);
            let same = |(left, right): &(u32, u32)| left == right;
            let shared = numbers(&left).zip(numbers(&right)).take_while(same).count() as u32;
            fields[at].shared = shared;
            if shared == left.len && numbers(&right).next_back() != Some(UNKNOWN) {
                return Err(duplicate_key(form, left, right));
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The number of the segment of a field at a level.
    #[inline]
    pub(super) fn number(&self, field: &Field, level: u32) -> u32 {
        if level >= field.len {
            return UNKNOWN;
        }
        let segment = self.segments.get((field.first + level) as usize);
        segment.map_or(UNKNOWN, |segment| segment.number)
    }

    /// The first `levels` segments of the key of a field, for errors.
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

/// A key for errors: shortened and printable.
pub(super) fn shown(key: &str) -> String {
    let shown = key.chars().take(MAX_PATH).map(snippet::printable);
    shown.collect()
}

/// Decodes a part of the form, which begins at `start`.
#[inline]
pub(super) fn decode(part: &str, start: usize) -> Result<Cow<'_, str>, Error> {
    percent::decode_query(part).map_err(|error| malformed(error, start))
}

#[cold]
fn malformed(error: Malformed, start: usize) -> Error {
    Error::malformed(ErrorKind::Syntax, error, start).in_format("form")
}

#[cold]
fn duplicate_key(form: &str, left: Field, right: Field) -> Error {
    let later = left.key.max(right.key) as usize;
    let key = key_of(form, later);
    let expected = match left.len == right.len {
        true => "each key once",
        false => "either an empty list or map or its elements",
    };
    Error::new(ErrorKind::Duplicate)
        .in_format("form")
        .expected(expected)
        .at_offset(later)
        .at_path(shown(&key))
}

/// Resolves one key against the schema.
struct Resolver<'k> {
    key: &'k str,
    /// The offset of the field in the form.
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

    /// Removes the steps of the previous key that this key does not share.
    fn pop_different(&self, steps: &mut Vec<Step<'_>>, previous: &str) {
        let (key, previous) = (self.key.as_bytes(), previous.as_bytes());
        let longest = steps.last().map_or(0, |step| step.segment.end as usize);
        let same = common_prefix_len(&key[..key.len().min(longest)], previous);
        // In the previous key, each step ends at a dot or at the end of the key.
        let is_shared = |step: &Step<'_>| {
            let end = step.segment.end as usize;
            end <= same && matches!(key.get(end), None | Some(b'.'))
        };
        while steps.last().is_some_and(|step| !is_shared(step)) {
            steps.pop();
        }
    }

    /// Resolves the rest of the key, within the depth limit.
    fn push_rest<'s>(
        &mut self,
        steps: &mut Vec<Step<'s>>,
        root: Member<'s>,
        budget: &Budget,
    ) -> Result<(), Error> {
        let (mut at, mut target) = match steps.last() {
            None => (0, Target::Value(root)),
            Some(step) if step.segment.end as usize == self.key.len() => return Ok(()),
            Some(step) => (step.segment.end as usize + 1, step.target),
        };
        // The nesting depth: the root, and each value whose key has more segments.
        let is_value = |step: &&Step<'_>| matches!(step.target, Target::Value(_));
        let mut depth = 1 + steps.iter().filter(is_value).count();
        loop {
            budget
                .depth_of(depth)
                .map_err(|limit| self.error(ErrorKind::Limit(limit), at, ""))?;
            let (number, end) = match target {
                Target::Unknown => return Ok(()),
                Target::Entry(map) => {
                    let name = self.segment(at);
                    let half = |ordinal| map.target().member(ordinal);
                    let found = [KEY, VALUE]
                        .into_iter()
                        .find(|ordinal| half(*ordinal).plain(self.profile.names.source()) == name);
                    target = found.map_or(Target::Unknown, |ordinal| Target::Value(half(ordinal)));
                    (found.unwrap_or(UNKNOWN), at + name.len())
                }
                Target::Value(member) => match member.kind() {
                    ShapeKind::Structure | ShapeKind::Union => {
                        let name = self.segment(at);
                        let shape = member.target();
                        let found = shape.find(self.profile.names.source(), name.as_bytes());
                        target = match found {
                            Some(ordinal) => Target::Value(shape.member(ordinal)),
                            None => Target::Unknown,
                        };
                        (found.unwrap_or(UNKNOWN), at + name.len())
                    }
                    ShapeKind::List => {
                        let flat = self.profile.flat || member.has(MemberFlags::XML_FLATTENED);
                        let element = member.element();
                        if !flat {
                            let name = element.plain(NameSource::Query);
                            self.skip_segment(&mut at, name)?;
                        }
                        target = Target::Value(element);
                        self.number(at)?
                    }
                    ShapeKind::Map => {
                        if self.profile.flat {
                            let expected = "no map: ec2Query has none";
                            return Err(self.error(ErrorKind::WrongType, at, expected));
                        }
                        if !member.has(MemberFlags::XML_FLATTENED) {
                            self.skip_segment(&mut at, "entry")?;
                        }
                        target = Target::Entry(member);
                        self.number(at)?
                    }
                    kind => {
                        let error = self.error(ErrorKind::WrongType, at.saturating_sub(1), "");
                        return Err(error.expected(format!(
                            "{}, not a key with more segments",
                            kind.describe()
                        )));
                    }
                },
            };
            let end = end as u32;
            depth += usize::from(matches!(target, Target::Value(_)));
            steps.push(Step {
                segment: Segment { number, end },
                target,
            });
            if end as usize >= self.key.len() {
                return Ok(());
            }
            at = end as usize + 1;
        }
    }

    /// Skips a segment with a fixed name.
    #[inline]
    fn skip_segment(&self, at: &mut usize, word: &str) -> Result<(), Error> {
        if self.segment(*at) != word {
            let error = self.error(ErrorKind::WrongType, *at, "");
            return Err(error.expected(format!(
                "`{word}`, which comes before the number of an item"
            )));
        }
        // Without a dot, this is beyond the end of the key, and `number` reports the error.
        *at += word.len() + 1;
        Ok(())
    }

    /// Parses the number of an item or entry. Returns it with its end.
    fn number(&self, at: usize) -> Result<(u32, usize), Error> {
        let digits = self.segment(at).as_bytes();
        let is_valid = digits.iter().all(u8::is_ascii_digit) && !matches!(digits, [] | [b'0', ..]);
        let value = digits.iter().try_fold(0_u32, |value, digit| {
            let digit = u32::from(digit.wrapping_sub(b'0'));
            value.checked_mul(10)?.checked_add(digit)
        });
        match value {
            Some(value) if is_valid && value != UNKNOWN => Ok((value, at + digits.len())),
            _ => Err(self.error(
                ErrorKind::InvalidValue,
                at,
                "the number of an item: 1, 2, 3 and so on",
            )),
        }
    }

    /// Checks that a key may end with these steps.
    fn check_end(&self, steps: &[Step<'_>], empty: bool) -> Result<(), Error> {
        let expected = match steps.last().map(|step| step.target) {
            Some(Target::Value(member)) => match member.kind() {
                ShapeKind::Structure | ShapeKind::Union => "a key with the name of a member",
                ShapeKind::List | ShapeKind::Map if !empty => "a key with the number of an item",
                ShapeKind::Document => "no document: forms have none",
                _ => return Ok(()),
            },
            Some(Target::Entry(_)) => "the key or the value of an entry",
            Some(Target::Unknown) | None => return Ok(()),
        };
        Err(self.error(ErrorKind::WrongType, 0, expected))
    }

    /// An error at an offset of the key.
    #[cold]
    fn error(&self, kind: ErrorKind, at: usize, expected: &'static str) -> Error {
        // Offsets in a percent-encoded key are unknown. The error is then about the key as a whole.
        let is_plain = self.form[self.start..].starts_with(self.key);
        let error = Error::new(kind)
            .in_format("form")
            .expected(expected)
            .at_offset(self.start + if is_plain { at.min(self.key.len()) } else { 0 })
            .at_path(shown(self.key));
        match kind {
            ErrorKind::Limit(_) | ErrorKind::Duplicate => error,
            _ if at >= self.key.len() => error.found("the end of the key"),
            _ => error.found(snippet::rest(self.key.as_bytes(), at)),
        }
    }
}

/// The length of the common prefix.
fn common_prefix_len(left: &[u8], right: &[u8]) -> usize {
    let words = left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0);
    let start = 8 * words.take_while(|(left, right)| left == right).count();
    let bytes = left[start..].iter().zip(&right[start..]);
    start + bytes.take_while(|(left, right)| left == right).count()
}

/// Checks that offsets into the form fit in 32 bits.
pub(super) fn check_size(len: usize) -> Result<(), Error> {
    const MAX: usize = u32::MAX as usize - 1;
    match len <= MAX {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Limit(LimitKind::Bytes(MAX))).in_format("form")),
    }
}
