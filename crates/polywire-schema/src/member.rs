//! `Schema` and `Member`: a shape and a member of a set.

use std::fmt;

use polywire_text::scan::{Name, Run};

use crate::defaults;
use crate::names::{hash, hash_of_ends, hash_whole};
use crate::{
    Encoding, ErrorDef, Location, MemberDef, MemberFlags, NameSource, SchemaParts, SchemaSet,
    ShapeDef, ShapeFlags, ShapeKind, Span, Text, TimestampFormat, Value,
};

/// A shape of a set.
#[derive(Clone, Copy)]
pub struct Schema<'s> {
    set: &'s SchemaSet<'s>,
    index: u32,
    /// Its members, looked up once: codecs ask for them all the time.
    first_member: u32,
    member_count: u32,
}

impl<'s> Schema<'s> {
    #[inline]
    pub(crate) fn at(set: &'s SchemaSet<'s>, index: u32) -> Self {
        let def = &set.shapes[index as usize];
        Self {
            set,
            index,
            first_member: def.first_member,
            member_count: def.member_count,
        }
    }

    #[inline]
    pub(crate) fn def(self) -> &'s ShapeDef {
        &self.set.shapes[self.index as usize]
    }

    /// The set that the shape belongs to.
    #[must_use]
    pub const fn set(self) -> &'s SchemaSet<'s> {
        self.set
    }

    /// The index within the set.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The absolute id, `namespace#Name`.
    #[must_use]
    pub fn id(self) -> &'s str {
        self.set.str(self.def().id)
    }

    /// The name without its namespace.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.id().rsplit('#').next().unwrap_or_default()
    }

    /// The kind.
    #[inline]
    #[must_use]
    pub fn kind(self) -> ShapeKind {
        self.def().kind
    }

    /// How many members there are.
    #[inline]
    #[must_use]
    pub fn len(self) -> u32 {
        self.member_count
    }

    /// Whether there are no members.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The member at a place: of a list, 0 is its element; of a map, 0 its key
    /// and 1 its value.
    #[inline]
    #[must_use]
    pub fn member(self, ordinal: u32) -> Member<'s> {
        debug_assert!(
            ordinal < self.member_count,
            "{} has no member {ordinal}",
            self.id()
        );
        Member {
            set: self.set,
            index: self.first_member + ordinal,
        }
    }

    /// All members, in the order in which they are written.
    pub fn members(
        self,
    ) -> impl ExactSizeIterator<Item = Member<'s>> + DoubleEndedIterator + use<'s> {
        let def = self.def();
        let set = self.set;
        (def.first_member..def.first_member + def.member_count)
            .map(move |index| Member { set, index })
    }

    /// The names of all members by an encoding, in the members' order: what
    /// [`Member::encoded`] says of each.
    #[inline]
    #[must_use]
    pub fn encoded_names(self, encoding: Encoding) -> &'s [Name] {
        let first = self.first_member as usize;
        let names: &'s [Name] = &self.set.names[encoding as usize];
        names
            .get(first..first + self.member_count as usize)
            .unwrap_or_default()
    }

    /// All members with their names.
    #[inline]
    pub(crate) fn named_members(self) -> impl Iterator<Item = (&'s [u8], Member<'s>)> + use<'s> {
        let set = self.set;
        let first = self.first_member as usize;
        let names = set.plain[NameSource::Member as usize].get(first..);
        let names = names.unwrap_or_default().iter().map(move |span| {
            let start = span.start as usize;
            let name = set.text.as_bytes().get(start..start + span.len as usize);
            name.unwrap_or_default()
        });
        names.zip(self.members())
    }

    /// The member of a top-level value of this shape.
    #[inline]
    #[must_use]
    pub fn root(self) -> Member<'s> {
        Member {
            set: self.set,
            index: self.def().root,
        }
    }

    /// The traits of an error shape.
    #[must_use]
    pub fn error(self) -> Option<&'s ErrorDef> {
        self.set
            .errors
            .get((self.def().error as usize).wrapping_sub(1))
    }

    /// Whether it has all these flags.
    #[inline]
    #[must_use]
    pub fn has(self, flags: ShapeFlags) -> bool {
        self.def().flags.contains(flags)
    }

    /// `@awsQueryError`'s code of an error shape, if it has one.
    #[must_use]
    pub fn query_code(self) -> Option<&'s str> {
        let code = self.set.str(self.error()?.query_code);
        (!code.is_empty()).then_some(code)
    }

    /// `@awsQueryError`'s status code of an error shape, if it has one.
    #[must_use]
    pub fn query_status(self) -> Option<u16> {
        let status = self.error()?.query_status;
        (status != 0).then_some(status)
    }

    /// The ordinal of the member with a name, by a source of names.
    #[inline]
    #[must_use]
    pub fn find(self, source: NameSource, name: &[u8]) -> Option<u32> {
        self.search(source, name).0
    }

    /// As [`Schema::find`] by the members' own names, for a name that mostly is
    /// inline: then it is hashed and compared in registers.
    #[inline]
    pub(crate) fn find_text(self, name: &Text) -> Option<u32> {
        let names = self.encoded_names(Encoding::Cbor);
        let def = self.def();
        let Some(ends) = name.inline_ends().filter(|_| !def.lookup_whole) else {
            return self.find(NameSource::Member, name.as_bytes());
        };
        if def.lookup_bits == 0 {
            let ordinal = names.iter().position(|own| own.matches_after_head(name));
            return ordinal.map(|ordinal| ordinal as u32);
        }
        let mask = (1_usize << def.lookup_bits) - 1;
        let table = def.lookup[NameSource::Member as usize] as usize;
        let mut at = (hash_of_ends(ends, name.len()) >> (64 - u32::from(def.lookup_bits))) as usize;
        loop {
            // The table is at most half full, so there is always an end.
            let bucket = self.set.buckets.get(table + at).copied().unwrap_or(0);
            let ordinal = u32::from(bucket).checked_sub(1)?;
            if names.get(ordinal as usize)?.matches_after_head(name) {
                return Some(ordinal);
            }
            at = (at + 1) & mask;
        }
    }

    /// As [`Schema::find`], and with how many names were compared.
    #[inline]
    pub(crate) fn search(self, source: NameSource, name: &[u8]) -> (Option<u32>, u32) {
        let def = self.def();
        let first = def.first_member as usize;
        let spans = &self.set.plain[source as usize];
        let is = |ordinal: u32| {
            let span = spans
                .get(first + ordinal as usize)
                .copied()
                .unwrap_or_default();
            span.of(&*self.set.text) == name
        };
        if def.lookup_bits == 0 {
            let found = (0..def.member_count).find(|ordinal| is(*ordinal));
            return (found, found.map_or(def.member_count, |ordinal| ordinal + 1));
        }
        let mask = (1_usize << def.lookup_bits) - 1;
        let table = def.lookup[source as usize] as usize;
        let hash = match def.lookup_whole {
            false => hash(name),
            true => hash_whole(name),
        };
        let mut at = (hash >> (64 - u32::from(def.lookup_bits))) as usize;
        let mut compared = 0;
        loop {
            // The table is at most half full, so there is always an end.
            let ordinal = match self.set.buckets.get(table + at) {
                None | Some(0) => return (None, compared),
                Some(bucket) => u32::from(*bucket) - 1,
            };
            compared += 1;
            if is(ordinal) {
                return (Some(ordinal), compared);
            }
            at = (at + 1) & mask;
        }
    }
}

impl PartialEq for Schema<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.set, other.set) && self.index == other.index
    }
}

impl Eq for Schema<'_> {}

impl fmt::Debug for Schema<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.id(), self.kind())
    }
}

/// A member of a shape: what a codec is given with each value.
#[derive(Clone, Copy)]
pub struct Member<'s> {
    pub(crate) set: &'s SchemaSet<'s>,
    pub(crate) index: u32,
}

impl<'s> Member<'s> {
    /// The member of a document: a value without a schema.
    pub const DOCUMENT: Member<'static> = Member {
        set: &DOCUMENT_SET,
        index: 0,
    };

    #[inline]
    fn def(self) -> &'s MemberDef {
        &self.set.members[self.index as usize]
    }

    /// Its index within its set.
    #[inline]
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Its own name; of a root, the name of the shape.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.plain(NameSource::Member)
    }

    /// Its name by a source.
    #[must_use]
    pub fn plain(self, source: NameSource) -> &'s str {
        match self.set.plain[source as usize].get(self.index as usize) {
            Some(span) => self.set.str(*span),
            None => "",
        }
    }

    /// Whether a message may call it so, by whatever source of names.
    pub(crate) fn has_name(self, name: &str) -> bool {
        let spans = self.set.plain.iter();
        let mut spans = spans.filter_map(|spans| spans.get(self.index as usize));
        spans.any(|span| self.set.str(*span) == name)
    }

    /// Its name, ready for a wire.
    #[inline]
    #[must_use]
    pub fn run(self, encoding: Encoding) -> Run<'s> {
        let code: &'s [u8] = &self.set.code;
        self.encoded(encoding).run(code)
    }

    /// Its name as an entry of the table of an encoding: what the quick paths
    /// of readers and writers work with. A long name stands elsewhere, and
    /// [`Member::run`] finds it.
    #[inline]
    #[must_use]
    pub fn encoded(self, encoding: Encoding) -> &'s Name {
        let names: &'s [Name] = &self.set.names[encoding as usize];
        names.get(self.index as usize).unwrap_or(&Name::EMPTY)
    }

    /// The kind of its target.
    #[inline]
    #[must_use]
    pub fn kind(self) -> ShapeKind {
        self.def().kind
    }

    /// The shape that it targets.
    #[inline]
    #[must_use]
    pub fn target(self) -> Schema<'s> {
        Schema::at(self.set, self.def().target)
    }

    #[inline(always)]
    pub(crate) fn target_def(self) -> &'s ShapeDef {
        &self.set.shapes[self.def().target as usize]
    }

    /// The shape that it belongs to; of a root, the shape itself.
    #[must_use]
    pub fn container(self) -> Schema<'s> {
        Schema::at(self.set, self.def().container)
    }

    /// Its place in its shape.
    #[inline]
    #[must_use]
    pub fn ordinal(self) -> u32 {
        self.def().ordinal
    }

    /// Whether it stands for a shape at the top of a message.
    #[must_use]
    pub fn is_root(self) -> bool {
        self.def().ordinal == u32::MAX
    }

    /// Which part of a message carries it.
    #[inline]
    #[must_use]
    pub fn location(self) -> Location {
        self.def().location
    }

    /// The header, prefix or query parameter of its location.
    #[must_use]
    pub fn location_name(self) -> &'s str {
        self.set.str(self.def().location_name)
    }

    /// `@timestampFormat`, if the model gives one.
    #[inline]
    #[must_use]
    pub fn timestamp_format(self) -> Option<TimestampFormat> {
        self.def().timestamp_format
    }

    /// Whether it has all these flags.
    #[inline]
    #[must_use]
    pub fn has(self, flags: MemberFlags) -> bool {
        self.def().flags.contains(flags)
    }

    /// Whether it has to come: it is `@required`, and no default stands in for
    /// it.
    #[must_use]
    pub fn is_required(self) -> bool {
        self.has(MemberFlags::REQUIRED) && !self.has(MemberFlags::DEFAULT)
    }

    /// Whether its target, a list or map, may hold nulls.
    #[must_use]
    pub fn is_sparse(self) -> bool {
        self.has(MemberFlags::SPARSE)
    }

    /// `@mediaType` of its target, if it has one.
    #[must_use]
    pub fn media_type(self) -> Option<&'s str> {
        let media_type = self.set.str(self.def().media_type);
        (!media_type.is_empty()).then_some(media_type)
    }

    /// The index of its constraints, plus one.
    pub(crate) fn constraint_index(self) -> u32 {
        self.def().constraint
    }

    /// Its default as a value of its shape, if it has one. Whether it is to be
    /// filled in say [`Decoder::fills`](crate::Decoder::fills) and
    /// [`Encoder::fills`](crate::Encoder::fills).
    ///
    /// It is read from its text each time, which for the short texts that
    /// defaults are costs about as much as a clone.
    #[must_use]
    pub fn default_value(self) -> Option<Value> {
        defaults::value(self.default_json()?, self.kind(), self.timestamp_format())
    }

    /// Its default as JSON, as the model has it: blobs in base64.
    #[must_use]
    pub fn default_json(self) -> Option<&'s str> {
        let def = self.def();
        def.flags
            .contains(MemberFlags::DEFAULT)
            .then(|| self.set.str(def.default))
    }

    /// The element of a target that is a list, or the value of one that is a
    /// map; of a document, itself.
    #[inline]
    #[must_use]
    pub fn element(self) -> Self {
        match self.kind() {
            ShapeKind::List => self.target().member(0),
            ShapeKind::Map => self.target().member(1),
            _ => self,
        }
    }
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return write!(f, "{:?}", self.target());
        }
        write!(
            f,
            "{}${} ({:?})",
            self.container().id(),
            self.name(),
            self.kind()
        )
    }
}

/// The set behind [`Member::DOCUMENT`].
static DOCUMENT_SET: SchemaSet<'static> = SchemaSet::from_parts(SchemaParts {
    shapes: &[ShapeDef {
        id: Span { start: 0, len: 19 },
        kind: ShapeKind::Document,
        root: 0,
        first_member: 0,
        member_count: 0,
        lookup: [0; NameSource::COUNT],
        lookup_bits: 0,
        lookup_whole: false,
        variants: [0; 2],
        variant_bits: 0,
        error: 0,
        flags: ShapeFlags::NONE,
    }],
    members: &[MemberDef {
        container: 0,
        target: 0,
        kind: ShapeKind::Document,
        location: Location::Body,
        timestamp_format: None,
        flags: MemberFlags::SPARSE,
        ordinal: u32::MAX,
        location_name: Span { start: 0, len: 0 },
        media_type: Span { start: 0, len: 0 },
        default: Span { start: 0, len: 0 },
        constraint: 0,
    }],
    plain: [&[Span { start: 0, len: 0 }]; NameSource::COUNT],
    names: [&[Name::EMPTY]; Encoding::COUNT],
    text: "smithy.api#Document",
    ..SchemaParts::EMPTY
});
