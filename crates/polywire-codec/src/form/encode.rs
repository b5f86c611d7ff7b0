//! The form writer.
//!
//! Each field repeats the way to it, and most fields share most of it with the
//! one before. So the way to the innermost structure, list or map stands ready
//! in one buffer, `&MetricData.member.3.`, and a field copies it as one run of
//! fixed width, then the pre-encoded name of the member and the value. Nothing
//! is encoded twice and nothing is put together from segments more than once.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Member, MemberFlags, ShapeKind, Timestamp,
    TimestampFormat,
};
use polywire_text::{base64, number, percent};

use super::FormProfile;
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
    /// The way to the innermost level, with `&` in front and `.` behind, and
    /// whatever is left of longer ways. `way.len() >= WIDTH`.
    way: Vec<u8>,
    level: Level,
    /// The levels around the innermost one.
    outer: Vec<Level>,
    profile: FormProfile,
    error: Option<Error>,
}

/// A structure, list or map that is being written.
#[derive(Clone, Copy, Debug)]
struct Level {
    kind: Kind,
    /// How many bytes of the way lead here.
    way: usize,
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
    /// A map between its entries: numbers and then names. `way` leads to the
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
        let mut way = Vec::with_capacity(4 * WIDTH);
        way.resize(WIDTH, 0);
        way[0] = b'&';
        Self {
            bare: out.is_empty(),
            level: Level {
                kind: Kind::Top,
                way: 1,
                count: 0,
                begun: 0,
            },
            out,
            way,
            outer: Vec::new(),
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

    /// Writes the way to the innermost level.
    #[inline(always)]
    fn push_way(&mut self) {
        let (old, len) = (self.out.len(), self.level.way);
        match self.way.first_chunk::<WIDTH>() {
            // Moves of fixed width and a shorter length instead of a `memcpy`
            // of variable length.
            Some(chunk) if len <= WIDTH => {
                self.out.extend_from_slice(chunk);
                self.out.truncate(old + len);
            }
            _ => self.out.extend_from_slice(&self.way[..len]),
        }
    }

    /// Writes `&`, the key of the value of `at`, and `=`.
    #[inline(always)]
    fn push_key(&mut self, at: Member<'_>) {
        self.push_way();
        match self.level.kind {
            Kind::Named | Kind::Map { .. } => {
                if !at.encoded(self.profile.names).push_to(&mut self.out) {
                    at.run(self.profile.names).push_to(&mut self.out);
                }
            }
            Kind::List => {
                self.level.count += 1;
                number::push_u64(&mut self.out, self.level.count);
            }
            Kind::Top => self.nameless(at),
        }
        self.out.push(b'=');
    }

    /// Goes to the value of `at` and on to `more` segments: the way ends behind
    /// them.
    #[inline]
    fn enter(&mut self, at: Member<'_>, kind: Kind, more: Option<Member<'_>>, entry: bool) {
        let mut level = self.level;
        self.way.truncate(level.way);
        match level.kind {
            Kind::Named | Kind::Map { .. } => {
                at.run(self.profile.names).push_to(&mut self.way);
                self.way.push(b'.');
            }
            Kind::List => {
                level.count += 1;
                self.level.count = level.count;
                number::push_u64(&mut self.way, level.count);
                self.way.push(b'.');
            }
            // The name of the structure at the top is nowhere.
            Kind::Top => {}
        }
        if let Some(element) = more {
            element.run(self.profile.names).push_to(&mut self.way);
            self.way.push(b'.');
        }
        if entry {
            self.way.extend_from_slice(b"entry.");
        }
        self.outer.push(self.level);
        let way = self.way.len();
        self.level = Level {
            kind: match kind {
                Kind::Map { .. } => Kind::Map { base: way },
                kind => kind,
            },
            way,
            count: 0,
            begun: self.out.len(),
        };
        // So many bytes more are cheaper than a question how many are missing.
        self.way.extend_from_slice(&[0; WIDTH]);
    }

    #[inline]
    fn leave(&mut self) {
        if let Some(outer) = self.outer.pop() {
            self.level = outer;
        } else {
            self.fail(unbalanced("form"));
        }
    }

    /// Leaves what leaves no trace if it is empty.
    #[inline]
    fn leave_traceless(&mut self, at: Member<'_>) {
        let empty = self.level.begun == self.out.len();
        self.leave();
        if empty && (self.level.kind == Kind::List || at.kind() == ShapeKind::Union) {
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
    #[inline]
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

    fn fills(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills(at)
    }

    #[inline]
    fn end_structure(&mut self, at: Member<'_>) {
        self.leave_traceless(at);
    }

    #[inline]
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

    #[inline]
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
        self.way.truncate(base);
        self.level.count += 1;
        number::push_u64(&mut self.way, self.level.count);
        self.way.push(b'.');
        self.level.way = self.way.len();
        self.way.extend_from_slice(&[0; WIDTH]);
        self.push_key(at.target().member(0));
        percent::push_bytes(&mut self.out, key.as_bytes(), &percent::UNRESERVED);
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
        percent::push_bytes(&mut self.out, value.as_bytes(), &percent::UNRESERVED);
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
            TimestampFormat::DateTime => value.push_date_time(&mut self.out),
            TimestampFormat::HttpDate => value.push_http_date(&mut self.out),
        };
        if let Err(malformed) = written {
            return self.unwritable(at, malformed.expected);
        }
        encode_time(&mut self.out, start);
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

/// Percent-encodes the `+` of an exponent.
#[inline]
fn encode_plus(out: &mut Vec<u8>, start: usize) {
    // Numbers without an exponent are shorter than this, or have no room for it.
    let long = out.len() - start > 4;
    if long && out[start..].contains(&b'+') {
        encode_again(out, start);
    }
}

/// Percent-encodes a date and time: the two colons of RFC 3339, which mostly
/// stand in the same places, or the spaces too of an HTTP-date.
#[inline]
fn encode_time(out: &mut Vec<u8>, start: usize) {
    let Some(tail) = out.get(start + 13..) else {
        return encode_again(out, start);
    };
    match tail.first_chunk::<7>() {
        // `:30:00` and then `Z` or a fraction, in which nothing is encoded.
        Some(&[b':', a, b, b':', c, d, end]) if end == b'Z' || end == b'.' => {
            let [x, y, z] = *b"%3A";
            let old = out.len();
            out.extend_from_slice(&[0; 4]);
            out.copy_within(start + 19..old, start + 23);
            if let Some(space) = out.get_mut(start + 13..start + 23) {
                space.copy_from_slice(&[x, y, z, a, b, x, y, z, c, d]);
            }
        }
        _ => encode_again(out, start),
    }
}

#[cold]
fn encode_again(out: &mut Vec<u8>, start: usize) {
    let plain = out.split_off(start);
    percent::push_bytes(out, &plain, &percent::UNRESERVED);
}
