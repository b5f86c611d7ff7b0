//! `Member`: a member of a shape.

use std::fmt;

use polywire_text::scan::{Name, Run};

use crate::defaults;
use crate::{
    Encoding, Location, MemberDef, MemberFlags, NameSource, Schema, SchemaParts, SchemaSet,
    ShapeDef, ShapeFlags, ShapeKind, Span, TimestampFormat, Value,
};

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
