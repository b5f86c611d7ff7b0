//! Writes a map as a structure. The fast path iterates over the entries of the map, the slow path
//! over the members of the shape.

use polywire_text::Text;

use super::encode::{encode, encode_member};
use crate::error::quoted;
use crate::{
    Encode, Encoder, Error, ErrorKind, Location, Map, Member, MemberFlags, NameEncoding,
    NameSource, Schema, ShapeFlags, ShapeKind, Value,
};

/// Writes a map as the structure or union of `at`. Fails for entries that the shape does not have.
/// Omits nulls, except for documents.
pub fn encode_structure<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    if encoder.is_head() {
        return encode_head(map, at, encoder);
    }
    let shape = at.target();
    let entries = map.entries();
    let mut matches = EntryMatches::default();
    // The slow path also writes the defaults of absent members.
    if shape.has(ShapeFlags::DEFAULTS) || !matches.find(entries, shape) {
        return encode_by_member(map, at, encoder);
    }
    if at.kind() == ShapeKind::Union && matches.present != 1 {
        return encoder.fail(not_one_member(shape, matches.present));
    }
    encoder.begin_structure(at, matches.present);
    for found in matches.found.iter().take(entries.len()) {
        let (member, index) = (
            shape.member(u32::from(found >> 8)),
            usize::from(found & 0xff),
        );
        // Always succeeds, because `find` returned `true`.
        let Some((_, value)) = entries.get(index) else {
            continue;
        };
        if is_present(value, member) && encoder.member(member) {
            encode_member(value, member, encoder);
        }
    }
    encoder.end_structure(at);
}

/// Returns whether an entry is written: nulls are written only as documents.
#[inline(always)]
fn is_present(value: &Value, member: Member<'_>) -> bool {
    !value.is_absent() || member.kind() == ShapeKind::Document
}

/// The members that the entries of a map belong to.
#[derive(Default)]
struct EntryMatches {
    /// One element for each entry, sorted by ordinal. The upper byte is the ordinal of the member,
    /// the lower byte is the index of the entry.
    found: [u16; Self::MAX_ENTRIES],
    /// The number of entries that are written.
    present: usize,
}

impl EntryMatches {
    const MAX_ENTRIES: usize = 32;

    /// Finds the members of all entries. Returns `false` if there are too many entries or members,
    /// or if an entry is not a member.
    #[inline(always)]
    fn find(&mut self, entries: &[(Text, Value)], shape: Schema<'_>) -> bool {
        if entries.len() > Self::MAX_ENTRIES || shape.len() > 1 << 8 {
            return false;
        }
        let names = shape.encoded_names(NameEncoding::Cbor);
        let (mut next, mut is_sorted) = (0, true);
        for (index, ((name, value), found)) in entries.iter().zip(&mut self.found).enumerate() {
            // Most maps are in the order of the model.
            let expected = names.get(next);
            let ordinal = if expected.is_some_and(|expected| expected.matches_after_head(name)) {
                next
            } else {
                let Some(ordinal) = find_from(shape, next + 1, name) else {
                    return false;
                };
                is_sorted &= ordinal >= next;
                ordinal
            };
            self.present += usize::from(!value.is_absent());
            if value.is_null() && shape.member(ordinal as u32).kind() == ShapeKind::Document {
                self.present += 1;
            }
            // Both are below 256.
            *found = (ordinal << 8 | index) as u16;
            next = ordinal + 1;
        }
        if !is_sorted && let Some(found) = self.found.get_mut(..entries.len()) {
            found.sort_unstable();
        }
        true
    }
}

/// Finds the member with a name. Absent members leave gaps, so this first compares the members at
/// `next` and shortly after.
fn find_from(shape: Schema<'_>, next: usize, name: &Text) -> Option<usize> {
    /// The number of names to compare before the hash table is used.
    const MAX_GAP: usize = 3;

    let names = shape.encoded_names(NameEncoding::Cbor).get(next..);
    let mut near = names.unwrap_or_default().iter().take(MAX_GAP);
    match near.position(|candidate| candidate.matches_after_head(name)) {
        Some(gap) => Some(next + gap),
        None => shape.find_text(name).map(|ordinal| ordinal as usize),
    }
}

#[cold]
fn not_one_member(shape: Schema<'_>, present: usize) -> Error {
    Error::new(ErrorKind::WrongType)
        .expected("exactly one member of a union")
        .found(format!("{present}"))
        .at_path(shape.id())
}

/// Slow path of [`encode_structure`]: handles all maps.
fn encode_by_member<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    let shape = at.target();
    let entries = map.entries();
    let is_document = |name: &Text| {
        let ordinal = shape.find(NameSource::Member, name.as_bytes());
        ordinal.is_some_and(|ordinal| shape.member(ordinal).kind() == ShapeKind::Document)
    };
    let is_present = |(name, value): &&(Text, Value)| !value.is_absent() || is_document(name);
    let mut present = entries.iter().filter(is_present).count();
    let has_defaults = shape.has(ShapeFlags::DEFAULTS);
    if has_defaults {
        let absent = shape
            .members()
            .filter(|member| is_filled(map, *member, encoder));
        present += absent.count();
    }
    if at.kind() == ShapeKind::Union && present != 1 {
        return encoder.fail(not_one_member(shape, present));
    }
    encoder.begin_structure(at, present);
    let mut lookup = Lookup::new(map);
    for (name, member) in shape.named_members() {
        let found = lookup.next(name);
        let is_written =
            |value: &&Value| !value.is_absent() || member.kind() == ShapeKind::Document;
        let value = found.filter(is_written);
        match value {
            Some(value) if encoder.member(member) => encode(value, member, encoder),
            None if has_defaults => encode_default(member, encoder),
            _ => {}
        }
    }
    if lookup.found != entries.len() {
        let has = |name: &Text| shape.members().any(|member| *name == member.name());
        let unknown = entries.iter().map(|(name, _)| name).find(|name| !has(name));
        let error = Error::new(ErrorKind::Unknown)
            .expected(format!("a member of {}", shape.id()))
            .found(unknown.map_or_else(String::new, |name| quoted(name)));
        encoder.fail(error);
    }
    encoder.end_structure(at);
}

/// Returns whether a member is absent and its default is written.
fn is_filled<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &E) -> bool {
    let is_absent = |value: Option<&Value>| match value {
        None => true,
        Some(value) => value.is_null() && at.kind() != ShapeKind::Document,
    };
    at.has(MemberFlags::DEFAULT) && encoder.fills_default(at) && is_absent(map.get(at.name()))
}

/// Writes the default of an absent member, if it has one and the encoder fills in defaults.
#[cold]
fn encode_default<E: Encoder + ?Sized>(at: Member<'_>, encoder: &mut E) {
    if at.has(MemberFlags::DEFAULT)
        && encoder.fills_default(at)
        && let Some(value) = at.default_value()
        && encoder.member(at)
    {
        encode(&value, at, encoder);
    }
}

/// Writes the members in the head of a message. Does not validate the other members: the pass that
/// writes them does.
fn encode_head<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    encoder.begin_structure(at, 0);
    let shape = at.target();
    let has_defaults = shape.has(ShapeFlags::DEFAULTS);
    let mut lookup = Lookup::new(map);
    // The name is looked up after the location: most members are in the body, and are skipped.
    for member in shape.members() {
        let is_in_body = matches!(member.location(), Location::Body | Location::Payload);
        if member.kind() == ShapeKind::Union && member.has(MemberFlags::STREAMING) {
            if let Some(Value::Events(events)) = lookup.next(member.name().as_bytes()) {
                events.encode(member, encoder);
            }
            continue;
        }
        if is_in_body && !member.has(MemberFlags::HOST_LABEL) {
            lookup.skip();
            continue;
        }
        let name = member.name().as_bytes();
        match lookup.next(name).filter(|value| !value.is_null()) {
            Some(value) if encoder.member(member) => encode(value, member, encoder),
            None if has_defaults => encode_default(member, encoder),
            _ => {}
        }
    }
    encoder.end_structure(at);
}

/// Finds the members of a shape in a map. Fast if the entries are in the order of the model.
struct Lookup<'v> {
    map: &'v Map,
    entries: &'v [(Text, Value)],
    /// The expected position of the next member.
    guess: usize,
    /// The number of members that were found.
    found: usize,
}

impl<'v> Lookup<'v> {
    fn new(map: &'v Map) -> Self {
        Self {
            map,
            entries: map.entries(),
            guess: 0,
            found: 0,
        }
    }

    #[inline(always)]
    fn next(&mut self, name: &[u8]) -> Option<&'v Value> {
        match self.entries.get(self.guess) {
            Some((key, value)) if key.is(name) => {
                self.guess += 1;
                self.found += 1;
                Some(value)
            }
            _ => self.search(name),
        }
    }

    #[cold]
    fn search(&mut self, name: &[u8]) -> Option<&'v Value> {
        // Names of a schema are UTF-8.
        let name = std::str::from_utf8(name).unwrap_or_default();
        let position = self.map.position(name)?;
        self.guess = position + 1;
        self.found += 1;
        Some(&self.entries[position].1)
    }

    /// Skips a member without a search.
    fn skip(&mut self) {
        self.guess += 1;
    }
}
