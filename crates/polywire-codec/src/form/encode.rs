//! The form writer.
//!
//! Each field repeats the way to it, and most fields share most of it with the
//! one before. So the way to a structure, list or map is written where its first
//! field will stand, `&MetricData.member.3.`, and the fields after that copy it
//! from there, as one run of fixed width; then come the pre-encoded name of the
//! member and the value. Nothing is encoded twice, nothing is put together from
//! segments more than once, and a way that no field followed is taken back.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Member, MemberFlags, ShapeKind, Timestamp,
    TimestampFormat,
};
use polywire_text::{Text, base64, number, percent};
use smallvec::SmallVec;

use super::FormProfile;
use super::text::{encode_again, encode_plus, push_number, push_text, push_value};
use crate::refuse::unbalanced;

/// A writer of one form.
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
    /// Whether nothing stood before the form: its first field has no `&`.
    bare: bool,
    level: Level,
    /// The levels around the innermost one.
    outer: SmallVec<[Level; 8]>,
    profile: FormProfile,
    error: Option<Error>,
}

/// A structure, list or map that is being written.
#[derive(Clone, Copy, Debug)]
struct Level {
    kind: Kind,
    /// Where in the output the way here stands, `&` in front and `.` behind, and
    /// how long it is. If nothing is behind it, it is that of the next field.
    at: usize,
    len: usize,
    /// Items or entries so far.
    count: u64,
    /// The length of the output when it began.
    begun: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// Nothing has begun.
    Top,
    /// Names lead on: a structure, or an entry of a map.
    Named,
    /// Numbers lead on.
    List,
    /// A map between its entries: numbers and then names. The way leads to the
    /// entry, `base` bytes of it to the map.
    Map { base: usize },
}

/// The bytes of the way that are copied at once.
const WIDTH: usize = 64;

impl FormEncoder {
    /// A writer that appends to `out`. What `out` holds are the fields that
    /// come first, such as `Action=..&Version=..`; if it is empty, the first
    /// field has no `&` before it.
    #[must_use]
    pub fn new(profile: FormProfile, out: Vec<u8>) -> Self {
        Self {
            bare: out.is_empty(),
            level: Level {
                kind: Kind::Top,
                at: out.len(),
                len: 0,
                count: 0,
                begun: 0,
            },
            out,
            outer: SmallVec::new(),
            profile,
            error: None,
        }
    }

    /// The form.
    ///
    /// # Errors
    ///
    /// The first error that a call met.
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        if !self.outer.is_empty() || self.level.kind != Kind::Top {
            self.fail(unbalanced("form"));
        }
        if self.bare && !self.out.is_empty() {
            // One move of the whole instead of a question at each field.
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

    /// Takes fields that something else has written.
    #[cfg(feature = "reference")]
    pub(crate) fn push_fields(&mut self, fields: &[u8]) {
        if !fields.is_empty() {
            self.out.push(b'&');
            self.out.extend_from_slice(fields);
        }
    }

    /// Whether the way to the innermost level is the last that was written.
    #[inline(always)]
    const fn is_fresh(&self) -> bool {
        self.out.len() == self.level.at + self.level.len
    }

    /// Writes the way to the innermost level, unless it stands there; where it
    /// begins.
    #[inline(always)]
    fn push_way(&mut self) -> usize {
        if self.is_fresh() {
            return self.level.at;
        }
        let (old, Level { at, len, .. }) = (self.out.len(), self.level);
        match self.out.get(at..).and_then(<[u8]>::first_chunk::<WIDTH>) {
            // Moves of fixed width and a shorter length instead of a `memcpy`
            // of variable length.
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
        self.push_bare_key(at);
        self.out.push(b'=');
    }

    /// Writes `&` and the key of the value of `at`.
    #[inline(always)]
    fn push_bare_key(&mut self, at: Member<'_>) {
        self.push_way();
        match self.level.kind {
            Kind::Named | Kind::Map { .. } => self.push_name(at),
            Kind::List => {
                self.level.count += 1;
                push_number(&mut self.out, self.level.count);
            }
            Kind::Top => self.nameless(at),
        }
    }

    /// Goes to the value of `at` and on to `more` segments: the way ends behind
    /// them. A copy for each kind is smaller than one for all of them.
    #[inline(always)]
    fn enter(&mut self, at: Member<'_>, kind: Kind, more: Option<Member<'_>>, entry: bool) {
        let begun = self.out.len();
        let start = self.push_way();
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
            // The name of the structure at the top is nowhere.
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
        let len = self.out.len() - start;
        self.level = Level {
            kind: match kind {
                Kind::Map { .. } => Kind::Map { base: len },
                kind => kind,
            },
            at: start,
            len,
            count: 0,
            begun,
        };
    }

    /// Leaves the innermost level; whether nothing was written there.
    #[inline]
    fn leave(&mut self) -> bool {
        let is_empty = self.is_fresh();
        if is_empty {
            self.out.truncate(self.level.begun);
        }
        if let Some(outer) = self.outer.pop() {
            self.level = outer;
        } else {
            self.fail(unbalanced("form"));
        }
        is_empty
    }

    /// Leaves what leaves no trace if it is empty.
    #[inline]
    fn leave_traceless(&mut self, at: Member<'_>) {
        let is_empty = self.leave();
        if is_empty && (self.level.kind == Kind::List || at.kind() == ShapeKind::Union) {
            self.unwritable(at, "something in it: an empty one leaves no trace");
        }
    }

    #[cold]
    fn document(&mut self, at: Member<'_>) {
        self.unwritable(at, "no document: forms have none");
    }

    #[cold]
    fn nameless(&mut self, at: Member<'_>) {
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
            self.document(at);
            return false;
        }
        true
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills_default(at)
    }

    #[inline]
    fn end_structure(&mut self, at: Member<'_>) {
        self.leave_traceless(at);
    }

    fn begin_list(&mut self, at: Member<'_>, len: usize) {
        if len == 0 && !self.profile.flat {
            self.push_key(at);
            // `end_list` leaves what has been entered; the number has been
            // taken.
            self.outer.push(self.level);
            return;
        }
        if self.level.kind == Kind::Top || at.kind() != ShapeKind::List {
            self.nameless(at);
        }
        let element = at.element();
        if element.kind() == ShapeKind::Document {
            self.document(at);
        }
        let flat = self.profile.flat || at.has(MemberFlags::XML_FLATTENED);
        self.enter(at, Kind::List, (!flat).then_some(element), false);
    }

    #[inline]
    fn end_list(&mut self, at: Member<'_>) {
        if self.profile.flat {
            self.leave_traceless(at);
        } else {
            self.leave();
        }
    }

    fn begin_map(&mut self, at: Member<'_>, _: usize) {
        if self.profile.flat {
            self.unwritable(at, "no map: ec2Query has none");
        }
        if self.level.kind == Kind::Top || at.kind() != ShapeKind::Map {
            self.nameless(at);
        }
        if at.element().kind() == ShapeKind::Document {
            self.document(at);
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
            // A document, which has been refused.
            return;
        }
        self.level.len = base;
        self.level.at = self.push_way();
        self.level.count += 1;
        push_number(&mut self.out, self.level.count);
        self.out.push(b'.');
        self.level.len = self.out.len() - self.level.at;
        self.push_key(at.target().member(0));
        push_text(&mut self.out, key);
    }

    #[inline]
    fn end_map(&mut self, at: Member<'_>) {
        self.leave_traceless(at);
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
        self.push_bare_key(at);
        if !percent::is_inline_unreserved(value) || !value.push_inline(&mut self.out, |_| b'=') {
            push_value(&mut self.out, value);
        }
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        self.push_key(at);
        // `+`, `/` and `=` are encoded, so it goes through a buffer, piece by
        // piece: three bytes are four characters.
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
        // An entry of a map without a value is one.
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
