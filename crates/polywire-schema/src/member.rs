//! [`Member`]: a handle to a member of a shape.

use std::fmt;

use polywire_text::scan::{Name, Run};

use crate::defaults;
use crate::{
    Location, MemberDef, MemberFlags, NameEncoding, NameSource, Schema, SchemaParts, SchemaSet,
    ShapeDef, ShapeFlags, ShapeKind, Span, TimestampFormat, Value,
};

/// A handle to a member of a shape. Codecs receive one with each value.
#[derive(Clone, Copy)]
pub struct Member<'s> {
    pub(crate) set: &'s SchemaSet<'s>,
    pub(crate) index: u32,
}

impl<'s> Member<'s> {
    /// The root member of a document, which is a value without a schema.
    pub const DOCUMENT: Member<'static> = Member {
        set: &DOCUMENT_SET,
        index: 0,
    };

    #[inline]
    fn def(self) -> &'s MemberDef {
        &self.set.members[self.index as usize]
    }

    /// Returns the index of the member in its set.
    #[inline]
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns the name in the model. For a root member, returns the name of the shape.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.plain(NameSource::Member)
    }

    /// Returns the name from a source, unencoded.
    #[must_use]
    pub fn plain(self, source: NameSource) -> &'s str {
        match self.set.plain[source as usize].get(self.index as usize) {
            Some(span) => self.set.str(*span),
            None => "",
        }
    }

    /// Returns whether any source of names has this name for the member.
    pub(crate) fn has_name(self, name: &str) -> bool {
        let spans = self.set.plain.iter();
        let mut spans = spans.filter_map(|spans| spans.get(self.index as usize));
        spans.any(|span| self.set.str(*span) == name)
    }

    /// Returns the encoded name: the bytes that are written to the wire.
    #[inline]
    #[must_use]
    pub fn run(self, encoding: NameEncoding) -> Run<'s> {
        let code: &'s [u8] = &self.set.code;
        self.encoded(encoding).run(code)
    }

    /// Returns the entry of the member in the table of encoded names, for the fast paths of readers
    /// and writers. It contains only short names. [`Member::run`] works for all names.
    #[inline]
    #[must_use]
    pub fn encoded(self, encoding: NameEncoding) -> &'s Name {
        let names: &'s [Name] = &self.set.names[encoding as usize];
        names.get(self.index as usize).unwrap_or(&Name::EMPTY)
    }

    /// Returns the kind of the target.
    #[inline]
    #[must_use]
    pub fn kind(self) -> ShapeKind {
        self.def().kind
    }

    /// Returns the shape that the member targets.
    #[inline]
    #[must_use]
    pub fn target(self) -> Schema<'s> {
        Schema::at(self.set, self.def().target)
    }

    #[inline(always)]
    pub(crate) fn target_def(self) -> &'s ShapeDef {
        &self.set.shapes[self.def().target as usize]
    }

    /// Returns the shape that contains the member. For a root member, returns the shape itself.
    #[must_use]
    pub fn container(self) -> Schema<'s> {
        Schema::at(self.set, self.def().container)
    }

    /// Returns the position in the shape, or `u32::MAX` for a root member.
    #[inline]
    #[must_use]
    pub fn ordinal(self) -> u32 {
        self.def().ordinal
    }

    /// Returns whether this is the [root member](Schema::root) of a shape.
    #[must_use]
    pub fn is_root(self) -> bool {
        self.def().ordinal == u32::MAX
    }

    /// Returns the part of a message that contains the member.
    #[inline]
    #[must_use]
    pub fn location(self) -> Location {
        self.def().location
    }

    /// Returns the name of the header or query parameter, or the header prefix. Empty for other
    /// locations.
    #[must_use]
    pub fn location_name(self) -> &'s str {
        self.set.str(self.def().location_name)
    }

    /// Returns `@timestampFormat`, if the model has it.
    #[inline]
    #[must_use]
    pub fn timestamp_format(self) -> Option<TimestampFormat> {
        self.def().timestamp_format
    }

    /// Returns whether the member has all of these flags.
    #[inline]
    #[must_use]
    pub fn has(self, flags: MemberFlags) -> bool {
        self.def().flags.contains(flags)
    }

    /// Returns whether a message must contain the member: it is `@required` and has no default.
    #[must_use]
    pub fn is_required(self) -> bool {
        self.has(MemberFlags::REQUIRED) && !self.has(MemberFlags::DEFAULT)
    }

    /// Returns whether the target is a list or map that may contain nulls.
    #[must_use]
    pub fn is_sparse(self) -> bool {
        self.has(MemberFlags::SPARSE)
    }

    /// Returns `@mediaType`, if the model has it.
    #[must_use]
    pub fn media_type(self) -> Option<&'s str> {
        let media_type = self.set.str(self.def().media_type);
        (!media_type.is_empty()).then_some(media_type)
    }

    /// Returns the index of the constraints plus one, or 0 if there are none.
    pub(crate) fn constraint_index(self) -> u32 {
        self.def().constraint
    }

    /// Returns the default as a value of the target shape, if the member has one.
    /// [`Decoder::fills_default`](crate::Decoder::fills_default) and
    /// [`Encoder::fills_default`](crate::Encoder::fills_default) decide whether it is used.
    ///
    /// Each call parses the JSON text. Defaults are short, so this costs about as much as cloning
    /// a value.
    #[must_use]
    pub fn default_value(self) -> Option<Value> {
        defaults::value(self.default_json()?, self.kind(), self.timestamp_format())
    }

    /// Returns the default as JSON, as in the model. Blobs are in base64.
    #[must_use]
    pub fn default_json(self) -> Option<&'s str> {
        let def = self.def();
        def.flags
            .contains(MemberFlags::DEFAULT)
            .then(|| self.set.str(def.default))
    }

    /// Returns the element of a list or the value of a map. For all other targets, returns the
    /// member itself.
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

/// The set of [`Member::DOCUMENT`].
static DOCUMENT_SET: SchemaSet<'static> = SchemaSet::from_parts(SchemaParts {
    shapes: &[ShapeDef {
        id: Span { start: 0, len: 19 },
        kind: ShapeKind::Document,
        root: 0,
        first_member: 0,
        member_count: 0,
        required: 0,
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
    names: [&[Name::EMPTY]; NameEncoding::COUNT],
    text: "smithy.api#Document",
    ..SchemaParts::EMPTY
});
