//! The form encoder.
//!
//! The keys of all fields in a structure, list or map begin with the same prefix, such as
//! `&MetricData.member.3.`. The encoder writes the prefix when the container begins, as the start of
//! its first field, and copies it for the other fields. The encoded name of the member and the value
//! follow. If the container turns out to be empty, the prefix is removed.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Member, MemberFlags, ShapeKind, Timestamp,
    TimestampFormat,
};
use polywire_text::{Text, base64, number, percent};
use smallvec::SmallVec;

use super::FormProfile;
use super::text::{encode_again, encode_plus, push_number, push_text, push_value};
use crate::checks::unbalanced;

/// An encoder of one form.
///
/// ```
/// use polywire_codec::form::{FormEncoder, FormProfile};
/// use polywire_schema::{Encode, Map, Member, MemberSpec, SchemaBuilder, ShapeKind, Value};
///
/// let mut builder = SchemaBuilder::new();
/// let string = builder.shape(ShapeKind::String, "smithy.api#String");
/// let list = builder.shape(ShapeKind::List, "ns#Names");
/// builder.member(list, MemberSpec::new("member", string));
/// let input = builder.shape(ShapeKind::Structure, "ns#Input");
/// builder.member(input, MemberSpec::new("Names", list));
/// let set = builder.finish()?;
/// let at = set.shape(input.index()).root();
///
/// let names = Value::List(vec![Value::from("a b"), Value::from("c")]);
/// let mut encoder = FormEncoder::new(FormProfile::AWS_QUERY, b"Action=Name".to_vec());
/// Map::from_iter([("Names", names)]).encode(at, &mut encoder);
/// assert_eq!(
///     encoder.finish()?,
///     b"Action=Name&Names.member.1=a%20b&Names.member.2=c",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FormEncoder {
    out: Vec<u8>,
    /// Whether the output already had fields. Otherwise, `finish` removes the `&` of the first field.
    has_leading_fields: bool,
    level: Level,
    /// The levels around `level`.
    outer: SmallVec<[Level; 8]>,
    profile: FormProfile,
    error: Option<Error>,
}

/// A structure, list or map that is being written.
#[derive(Clone, Copy, Debug)]
struct Level {
    kind: Kind,
    /// The offset of the prefix in the output. The prefix includes the `&` and the last `.`. If it is
    /// the end of the output, it is the prefix of the next field.
    at: usize,
    /// The length of the prefix.
    len: usize,
    /// The number of items or entries so far.
    count: u64,
    /// The length of the output before the level.
    start: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// Before the top-level structure.
    Top,
    /// A structure. Its keys continue with names.
    Named,
    /// A list. Its keys continue with numbers.
    List,
    /// A map. Its keys continue with numbers and then names. The prefix is that of the current entry,
    /// and its first `base` bytes are the prefix of the map.
    Map { base: usize },
}

/// The number of bytes that are copied at once.
const WIDTH: usize = 64;

impl FormEncoder {
    /// Creates an encoder that appends to `out`, which may contain the first fields, such as
    /// `Action=..&Version=..`.
    #[must_use]
    pub fn new(profile: FormProfile, out: Vec<u8>) -> Self {
        Self {
            has_leading_fields: !out.is_empty(),
            level: Level {
                kind: Kind::Top,
                at: out.len(),
                len: 0,
                count: 0,
                start: 0,
            },
            out,
            outer: SmallVec::new(),
            profile,
            error: None,
        }
    }

    /// Returns the form.
    ///
    /// # Errors
    ///
    /// The first error of a previous call.
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        if !self.outer.is_empty() || self.level.kind != Kind::Top {
            self.fail(unbalanced("form"));
        }
        if !self.has_leading_fields && !self.out.is_empty() {
            // One move of the output is cheaper than a check for each field.
            self.out.remove(0);
        }
        match self.error {
            None => Ok(self.out),
            Some(error) => Err(error),
        }
    }

    #[cfg(feature = "reference")]
    pub(crate) const fn profile(&self) -> FormProfile {
        self.profile
    }

    /// Appends encoded fields.
    #[cfg(feature = "reference")]
    pub(crate) fn push_fields(&mut self, fields: &[u8]) {
        if !fields.is_empty() {
            self.out.push(b'&');
            self.out.extend_from_slice(fields);
        }
    }

    /// Whether the output ends with the prefix of the current level.
    #[inline(always)]
    const fn is_fresh(&self) -> bool {
        self.out.len() == self.level.at + self.level.len
    }

    /// Writes the prefix of the current level unless the output ends with it. Returns its offset.
    #[inline(always)]
    fn push_prefix(&mut self) -> usize {
        if self.is_fresh() {
            return self.level.at;
        }
        let (old, Level { at, len, .. }) = (self.out.len(), self.level);
        match self.out.get(at..).and_then(<[u8]>::first_chunk::<WIDTH>) {
            // A copy of fixed size and a truncation are faster than a copy of variable size.
            Some(chunk) if len <= WIDTH => {
                let chunk = *chunk;
                self.out.extend_from_slice(&chunk);
                self.out.truncate(old + len);
            }
            _ => self.out.extend_from_within(at..at + len),
        }
        old
    }

    /// Writes the name of a member.
    #[inline(always)]
    fn push_name(&mut self, at: Member<'_>) {
        if !at.encoded(self.profile.names).push_to(&mut self.out) {
            at.run(self.profile.names).push_to(&mut self.out);
        }
    }

    /// Writes `&`, the key of the value of `at`, and `=`.
    #[inline(always)]
    fn push_key(&mut self, at: Member<'_>) {
        self.push_key_name(at);
        self.out.push(b'=');
    }

    /// Writes `&` and the key of the value of `at`.
    #[inline(always)]
    fn push_key_name(&mut self, at: Member<'_>) {
        self.push_prefix();
        match self.level.kind {
            Kind::Named | Kind::Map { .. } => self.push_name(at),
            Kind::List => {
                self.level.count += 1;
                push_number(&mut self.out, self.level.count);
            }
            Kind::Top => self.not_a_structure(at),
        }
    }

    /// Enters the value of `at`. The prefix ends with the name of the member `more` and with `entry`,
    /// if set. Inlining this for each kind gives smaller code than one copy.
    #[inline(always)]
    fn enter(&mut self, at: Member<'_>, kind: Kind, more: Option<Member<'_>>, entry: bool) {
        let start = self.out.len();
        let prefix = self.push_prefix();
        match self.level.kind {
            Kind::Named | Kind::Map { .. } => {
                self.push_name(at);
                self.out.push(b'.');
            }
            Kind::List => {
                self.level.count += 1;
                push_number(&mut self.out, self.level.count);
                self.out.push(b'.');
            }
            // The name of the top-level structure is not written.
            Kind::Top => self.out.push(b'&'),
        }
        if let Some(element) = more {
            self.push_name(element);
            self.out.push(b'.');
        }
        if entry {
            self.out.extend_from_slice(b"entry.");
        }
        self.outer.push(self.level);
        let len = self.out.len() - prefix;
        self.level = Level {
            kind: match kind {
                Kind::Map { .. } => Kind::Map { base: len },
                kind => kind,
            },
            at: prefix,
            len,
            count: 0,
            start,
        };
    }

    /// Leaves the current level. Returns whether it is empty.
    #[inline]
    fn leave(&mut self) -> bool {
        let is_empty = self.is_fresh();
        if is_empty {
            self.out.truncate(self.level.start);
        }
        if let Some(outer) = self.outer.pop() {
            self.level = outer;
        } else {
            self.fail(unbalanced("form"));
        }
        is_empty
    }

    /// Leaves a level of which nothing is written if it is empty. As an item or as a variant of a
    /// union, that is an error.
    #[inline]
    fn leave_nonempty(&mut self, at: Member<'_>) {
        let is_empty = self.leave();
        if is_empty && (self.level.kind == Kind::List || at.kind() == ShapeKind::Union) {
            self.unwritable(
                at,
                "at least one member or item: an empty value cannot be written here",
            );
        }
    }

    #[cold]
    fn unsupported_document(&mut self, at: Member<'_>) {
        self.unwritable(at, "no document: forms have none");
    }

    #[cold]
    fn not_a_structure(&mut self, at: Member<'_>) {
        self.unwritable(at, "a structure at the top");
    }

    #[cold]
    fn unwritable(&mut self, at: Member<'_>, expected: &'static str) {
        let error = Error::new(ErrorKind::Unwritable).in_format("form");
        self.fail(error.expected(expected).at_path(format!("{at:?}")));
    }
}

impl Encoder for FormEncoder {
    fn begin_structure(&mut self, at: Member<'_>, _: usize) {
        self.enter(at, Kind::Named, None, false);
    }

    #[inline(always)]
    fn member(&mut self, at: Member<'_>) -> bool {
        if at.kind() == ShapeKind::Document {
            self.unsupported_document(at);
            return false;
        }
        true
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.profile.rules.defaults.fills_default(at)
    }

    #[inline]
    fn end_structure(&mut self, at: Member<'_>) {
        self.leave_nonempty(at);
    }

    fn begin_list(&mut self, at: Member<'_>, len: usize) {
        if len == 0 && !self.profile.flat {
            self.push_key(at);
            // A level for `end_list` to leave.
            self.outer.push(self.level);
            return;
        }
        if self.level.kind == Kind::Top || at.kind() != ShapeKind::List {
            self.not_a_structure(at);
        }
        let element = at.element();
        if element.kind() == ShapeKind::Document {
            self.unsupported_document(at);
        }
        let flat = self.profile.flat || at.has(MemberFlags::XML_FLATTENED);
        self.enter(at, Kind::List, (!flat).then_some(element), false);
    }

    #[inline]
    fn end_list(&mut self, at: Member<'_>) {
        if self.profile.flat {
            self.leave_nonempty(at);
        } else {
            self.leave();
        }
    }

    fn begin_map(&mut self, at: Member<'_>, _: usize) {
        if self.profile.flat {
            self.unwritable(at, "no map: ec2Query has none");
        }
        if self.level.kind == Kind::Top || at.kind() != ShapeKind::Map {
            self.not_a_structure(at);
        }
        if at.element().kind() == ShapeKind::Document {
            self.unsupported_document(at);
        }
        let entry = !at.has(MemberFlags::XML_FLATTENED);
        self.enter(at, Kind::Map { base: 0 }, None, entry);
    }

    #[inline]
    fn key(&mut self, at: Member<'_>, key: &str) {
        let Kind::Map { base } = self.level.kind else {
            return self.fail(unbalanced("form"));
        };
        if at.kind() != ShapeKind::Map {
            // A document. `begin_map` has reported the error.
            return;
        }
        self.level.len = base;
        self.level.at = self.push_prefix();
        self.level.count += 1;
        push_number(&mut self.out, self.level.count);
        self.out.push(b'.');
        self.level.len = self.out.len() - self.level.at;
        self.push_key(at.target().member(0));
        push_text(&mut self.out, key);
    }

    #[inline]
    fn end_map(&mut self, at: Member<'_>) {
        self.leave_nonempty(at);
    }

    #[inline]
    fn boolean(&mut self, at: Member<'_>, value: bool) {
        self.push_key(at);
        self.out
            .extend_from_slice(if value { b"true" } else { b"false" });
    }

    #[inline]
    fn integer(&mut self, at: Member<'_>, value: i64) {
        self.push_key(at);
        number::push_i64(&mut self.out, value);
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.push_key(at);
        let start = self.out.len();
        number::push_f32(&mut self.out, value);
        encode_plus(&mut self.out, start);
    }

    #[inline]
    fn double(&mut self, at: Member<'_>, value: f64) {
        self.push_key(at);
        let start = self.out.len();
        number::push_f64(&mut self.out, value);
        encode_plus(&mut self.out, start);
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.string(at, value.as_str());
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.string(at, value.as_str());
    }

    #[inline]
    fn string(&mut self, at: Member<'_>, value: &str) {
        self.push_key(at);
        push_text(&mut self.out, value);
    }

    #[inline]
    fn text(&mut self, at: Member<'_>, value: &Text) {
        self.push_key_name(at);
        if !percent::is_inline_unreserved(value) || !value.push_inline(&mut self.out, |_| b'=') {
            push_value(&mut self.out, value);
        }
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        self.push_key(at);
        // The buffer is needed because `+`, `/` and `=` are percent-encoded. The length of a piece is
        // a multiple of three, so that only the last one has padding.
        let mut buffer = Vec::with_capacity(1024);
        for piece in value.chunks(768) {
            buffer.clear();
            base64::push(&mut buffer, piece);
            percent::push_bytes(&mut self.out, &buffer, &percent::UNRESERVED);
        }
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        self.push_key(at);
        let start = self.out.len();
        let written = match at
            .timestamp_format()
            .unwrap_or(self.profile.timestamp_format)
        {
            TimestampFormat::EpochSeconds => {
                value.push_epoch_seconds(&mut self.out);
                return;
            }
            TimestampFormat::DateTime => value.push_encoded_date_time(&mut self.out),
            TimestampFormat::HttpDate => {
                let written = value.push_http_date(&mut self.out);
                encode_again(&mut self.out, start);
                written
            }
        };
        if let Err(malformed) = written {
            self.unwritable(at, malformed.expected);
        }
    }

    fn null(&mut self, at: Member<'_>) {
        // A null in a map is an entry without a value. A null member is omitted.
        if self.level.kind == Kind::List {
            self.level.count += 1;
            self.unwritable(at, "no null: the lists of forms have none");
        }
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
