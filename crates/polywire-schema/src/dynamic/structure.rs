//! Writing a map as a structure: entry by entry where it can be, else member by member.

use polywire_text::Text;

use super::encode::{encode, encode_member};
use crate::error::quoted;
use crate::{
    Encoder, Encoding, Error, ErrorKind, Location, Map, Member, MemberFlags, NameSource, Schema,
    ShapeFlags, ShapeKind, Value,
};

/// Writes a map as the structure or union of `at`. Entries that the shape
/// does not have are an error; nulls are left out, but for documents, which
/// may be null.
pub fn encode_structure<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    if encoder.is_head() {
        return encode_head(map, at, encoder);
    }
    let shape = at.target();
    let entries = map.entries();
    let mut places = Places::default();
    // With defaults, members without an entry count too.
    if shape.has(ShapeFlags::DEFAULTS) || !places.fill(entries, shape) {
        return encode_by_member(map, at, encoder);
    }
    if at.kind() == ShapeKind::Union && places.present != 1 {
        return encoder.fail(not_one_member(shape, places.present));
    }
    encoder.begin_structure(at, places.present);
    for place in places.found.iter().take(entries.len()) {
        let (member, index) = (
            shape.member(u32::from(place >> 8)),
            usize::from(place & 0xff),
        );
        // `fill` has found an entry for each place.
        let Some((_, value)) = entries.get(index) else {
            continue;
        };
        if is_present(value, member) && encoder.member(member) {
            encode_member(value, member, encoder);
        }
    }
    encoder.end_structure(at);
}

/// Whether an entry is written: nulls are not, except as documents.
#[inline(always)]
fn is_present(value: &Value, member: Member<'_>) -> bool {
    !value.is_null() || member.kind() == ShapeKind::Document
}

/// Which members the entries of a map are, in the order of the members.
#[derive(Default)]
struct Places {
    /// The ordinal of a member, and in the lowest byte the index of its entry.
    found: [u16; Self::MOST],
    /// How many of the entries are written.
    present: usize,
}

impl Places {
    const MOST: usize = 32;

    /// Finds the members. `false` if there are too many, or an entry is not a member.
    #[inline(always)]
    fn fill(&mut self, entries: &[(Text, Value)], shape: Schema<'_>) -> bool {
        if entries.len() > Self::MOST || shape.len() > 1 << 8 {
            return false;
        }
        let names = shape.encoded_names(Encoding::Cbor);
        let (mut next, mut sorted) = (0, true);
        for (index, ((name, value), found)) in entries.iter().zip(&mut self.found).enumerate() {
            // Most maps are in the order of the model.
            let own = names.get(next);
            let ordinal = if own.is_some_and(|own| own.matches_after_head(name)) {
                next
            } else {
                let Some(ordinal) = find_from(shape, next + 1, name) else {
                    return false;
                };
                sorted &= ordinal >= next;
                ordinal
            };
            self.present += usize::from(!value.is_null());
            if value.is_null() && shape.member(ordinal as u32).kind() == ShapeKind::Document {
                self.present += 1;
            }
            // Both are below 256.
            *found = (ordinal << 8 | index) as u16;
            next = ordinal + 1;
        }
        if !sorted && let Some(found) = self.found.get_mut(..entries.len()) {
            found.sort_unstable();
        }
        true
    }
}

/// The ordinal of the member with a name, which is probably `next` or shortly after: absent members
/// leave gaps.
fn find_from(shape: Schema<'_>, next: usize, name: &Text) -> Option<usize> {
    /// How many names are compared before the name is looked up.
    const GAP: usize = 3;

    let names = shape.encoded_names(Encoding::Cbor).get(next..);
    let mut near = names.unwrap_or_default().iter().take(GAP);
    match near.position(|own| own.matches_after_head(name)) {
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

/// As [`encode_structure`], member by member: whatever the map has.
fn encode_by_member<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    let shape = at.target();
    let entries = map.entries();
    let is_document = |name: &Text| {
        let ordinal = shape.find(NameSource::Member, name.as_bytes());
        ordinal.is_some_and(|ordinal| shape.member(ordinal).kind() == ShapeKind::Document)
    };
    let is_present = |(name, value): &&(Text, Value)| !value.is_null() || is_document(name);
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
        let value = found.filter(|value| !value.is_null() || member.kind() == ShapeKind::Document);
        match value {
            Some(value) if encoder.member(member) => encode(value, member, encoder),
            None if has_defaults => fill(member, encoder),
            _ => {}
        }
    }
    if lookup.known != entries.len() {
        let has = |name: &Text| shape.members().any(|member| *name == member.name());
        let unknown = entries.iter().map(|(name, _)| name).find(|name| !has(name));
        let error = Error::new(ErrorKind::Unknown)
            .expected(format!("a member of {}", shape.id()))
            .found(unknown.map_or_else(String::new, |name| quoted(name)));
        encoder.fail(error);
    }
    encoder.end_structure(at);
}

/// Whether a member is not there and its default is written instead.
fn is_filled<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &E) -> bool {
    let is_absent = |value: Option<&Value>| match value {
        None => true,
        Some(value) => value.is_null() && at.kind() != ShapeKind::Document,
    };
    at.has(MemberFlags::DEFAULT) && encoder.fills_default(at) && is_absent(map.get(at.name()))
}

/// Writes the default of a member that is not there, if it is to be written.
#[cold]
fn fill<E: Encoder + ?Sized>(at: Member<'_>, encoder: &mut E) {
    if at.has(MemberFlags::DEFAULT)
        && encoder.fills_default(at)
        && let Some(value) = at.default_value()
        && encoder.member(at)
    {
        encode(&value, at, encoder);
    }
}

/// Writes the members of a head. What is wrong with the others is for the pass
/// that writes them to say.
fn encode_head<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    encoder.begin_structure(at, 0);
    let shape = at.target();
    let has_defaults = shape.has(ShapeFlags::DEFAULTS);
    let mut lookup = Lookup::new(map);
    // The name is looked up after the location: most members are in the body, and are skipped.
    for member in shape.members() {
        let elsewhere = matches!(member.location(), Location::Body | Location::Payload);
        if elsewhere && !member.has(MemberFlags::HOST_LABEL) {
            lookup.skip();
            continue;
        }
        let name = member.name().as_bytes();
        match lookup.next(name).filter(|value| !value.is_null()) {
            Some(value) if encoder.member(member) => encode(value, member, encoder),
            None if has_defaults => fill(member, encoder),
            _ => {}
        }
    }
    encoder.end_structure(at);
}

/// Finds the members of a shape in a map, which mostly has them in the order
/// of the model.
struct Lookup<'v> {
    map: &'v Map,
    entries: &'v [(Text, Value)],
    /// Where the next member probably is.
    guess: usize,
    /// How many were found.
    known: usize,
}

impl<'v> Lookup<'v> {
    fn new(map: &'v Map) -> Self {
        Self {
            map,
            entries: map.entries(),
            guess: 0,
            known: 0,
        }
    }

    #[inline(always)]
    fn next(&mut self, name: &[u8]) -> Option<&'v Value> {
        match self.entries.get(self.guess) {
            Some((own, value)) if own.is(name) => {
                self.guess += 1;
                self.known += 1;
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
        self.known += 1;
        Some(&self.entries[position].1)
    }

    /// A member that need not be found.
    fn skip(&mut self) {
        self.guess += 1;
    }
}
