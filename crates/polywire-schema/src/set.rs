//! `SchemaSet`: shapes prepared for codecs, in flat arrays.
//!
//! Everything is an index into an array, and every text a span of a pool. So
//! a set can be a `static` that a code generator wrote
//! ([`SchemaParts`](crate::SchemaParts)), or live in an `Arc`
//! built from a model at run time and be dropped again; recursion between
//! shapes is nothing special; and a handle is two words, `Copy`, and found
//! without hashing.
//!
//! Members stand in the order in which they are written: XML attributes
//! first, then the order of the model. A member's ordinal is its place in that
//! order. Each shape also has a *root* member, which belongs to no structure:
//! it is what a codec is given for the shape at the top of a message.

use std::borrow::Cow;
use std::fmt;

use polywire_text::scan::{Name, Run};

use crate::names::{hash, hash_whole};
use crate::{Encoding, NameSource, SchemaParts};

/// A text in the pool of a set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    /// The offset of its first byte.
    pub start: u32,
    /// Its length in bytes.
    pub len: u32,
}

impl Span {
    fn of<T: ?Sized + AsRef<[u8]>>(self, pool: &T) -> &[u8] {
        let start = self.start as usize;
        pool.as_ref()
            .get(start..start + self.len as usize)
            .unwrap_or_default()
    }
}

/// The kind of a shape. `set` of older models is a list.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are Smithy's")]
pub enum ShapeKind {
    BigDecimal,
    BigInteger,
    Blob,
    Boolean,
    Byte,
    Document,
    Double,
    Enum,
    Float,
    IntEnum,
    Integer,
    List,
    Long,
    Map,
    Short,
    String,
    Structure,
    Timestamp,
    Union,
}

impl ShapeKind {
    /// The numbers that an integer shape holds; those of a long otherwise.
    #[must_use]
    pub const fn integer_range(self) -> (i64, i64) {
        match self {
            Self::Byte => (i8::MIN as i64, i8::MAX as i64),
            Self::Short => (i16::MIN as i64, i16::MAX as i64),
            Self::Integer | Self::IntEnum => (i32::MIN as i64, i32::MAX as i64),
            _ => (i64::MIN, i64::MAX),
        }
    }

    /// Whether the shape has members with names.
    #[must_use]
    pub const fn is_structure(self) -> bool {
        matches!(self, Self::Structure | Self::Union)
    }

    /// What a value of this shape is, as a noun phrase for messages.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::BigDecimal => "a decimal number",
            Self::BigInteger => "an integer",
            Self::Blob => "a blob",
            Self::Boolean => "a boolean",
            Self::Byte => "an integer of 8 bits",
            Self::Document => "a document",
            Self::Double | Self::Float => "a number",
            Self::Enum | Self::String => "a string",
            Self::IntEnum | Self::Integer => "an integer of 32 bits",
            Self::List => "a list",
            Self::Long => "an integer of 64 bits",
            Self::Map => "a map",
            Self::Short => "an integer of 16 bits",
            Self::Structure => "a structure",
            Self::Timestamp => "a timestamp",
            Self::Union => "a union",
        }
    }
}

/// The forms of a timestamp that `@timestampFormat` names.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TimestampFormat {
    /// RFC 3339 in UTC.
    DateTime,
    /// Seconds since the epoch, with a fraction.
    EpochSeconds,
    /// HTTP's date.
    HttpDate,
}

/// Which part of a message carries a member. Only members at the top of an
/// operation's input, output or error have any but `Body`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Location {
    /// The document.
    Body,
    /// A header: `@httpHeader`.
    Header,
    /// A segment of the path: `@httpLabel`.
    Label,
    /// The whole body: `@httpPayload`.
    Payload,
    /// All headers with a prefix: `@httpPrefixHeaders`.
    PrefixHeaders,
    /// A parameter of the query: `@httpQuery`.
    Query,
    /// All other parameters of the query: `@httpQueryParams`.
    QueryParams,
    /// The status code: `@httpResponseCode`.
    StatusCode,
}

/// Yes-or-no traits of a member.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MemberFlags(u16);

impl MemberFlags {
    /// `@required`.
    pub const REQUIRED: Self = Self(1);
    /// `@xmlAttribute`.
    pub const XML_ATTRIBUTE: Self = Self(1 << 1);
    /// `@xmlFlattened`.
    pub const XML_FLATTENED: Self = Self(1 << 2);
    /// `@idempotencyToken`.
    pub const IDEMPOTENCY_TOKEN: Self = Self(1 << 3);
    /// `@hostLabel`.
    pub const HOST_LABEL: Self = Self(1 << 4);
    /// `@streaming` of the target.
    pub const STREAMING: Self = Self(1 << 5);
    /// `@sensitive` of the target or member.
    pub const SENSITIVE: Self = Self(1 << 6);
    /// `@clientOptional`.
    pub const CLIENT_OPTIONAL: Self = Self(1 << 7);
    /// `@sparse` of the target.
    pub const SPARSE: Self = Self(1 << 8);
    /// `@eventHeader`.
    pub const EVENT_HEADER: Self = Self(1 << 9);
    /// `@eventPayload`.
    pub const EVENT_PAYLOAD: Self = Self(1 << 10);
    /// Has a default value. No reader applies it yet: see
    /// [`Member::default_json`].
    pub const DEFAULT: Self = Self(1 << 11);

    /// These flags and others.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all flags of `other` are set.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Yes-or-no traits of an operation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OperationFlags(u16);

impl OperationFlags {
    /// `@readonly`.
    pub const READONLY: Self = Self(1);
    /// `@idempotent`.
    pub const IDEMPOTENT: Self = Self(1 << 1);
    /// `@xmlRpcMethod(positional: true)`.
    pub const POSITIONAL: Self = Self(1 << 2);
    /// Has `@http`.
    pub const HTTP: Self = Self(1 << 3);
    /// `@httpChecksumRequired`.
    pub const CHECKSUM_REQUIRED: Self = Self(1 << 4);
    /// The model gives no output: `smithy.api#Unit`.
    pub const UNIT_OUTPUT: Self = Self(1 << 5);
    /// The model gives no input: `smithy.api#Unit`.
    pub const UNIT_INPUT: Self = Self(1 << 6);

    /// These flags and others.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A shape, as a set stores it.
#[derive(Clone, Copy, Debug)]
pub struct ShapeDef {
    /// The absolute id.
    pub id: Span,
    /// The kind.
    pub kind: ShapeKind,
    /// The index of its root member.
    pub root: u32,
    /// The index of its first member.
    pub first_member: u32,
    /// How many members it has: a list one, a map two (key, value).
    pub member_count: u32,
    /// Where its look-up table starts, per [`NameSource`].
    pub lookup: [u32; NameSource::COUNT],
    /// The size of each look-up table as a power of two; 0 if it has none.
    pub lookup_bits: u8,
    /// Whether the look-up tables are by all bytes of a name, since its ends
    /// do not tell the members apart.
    pub lookup_whole: bool,
    /// The index of its error traits, plus one; 0 if it is no error.
    pub error: u32,
}

/// A member, as a set stores it.
#[derive(Clone, Copy, Debug)]
pub struct MemberDef {
    /// The index of the shape that it belongs to.
    pub container: u32,
    /// The index of the shape that it targets.
    pub target: u32,
    /// The kind of the target.
    pub kind: ShapeKind,
    /// Which part of a message carries it.
    pub location: Location,
    /// `@timestampFormat` of the member, else of the target.
    pub timestamp_format: Option<TimestampFormat>,
    /// Yes-or-no traits.
    pub flags: MemberFlags,
    /// Its place in its shape; `u32::MAX` for a root.
    pub ordinal: u32,
    /// The header, prefix or query parameter of its location.
    pub location_name: Span,
    /// `@mediaType` of the target.
    pub media_type: Span,
    /// The default value as JSON, if the flag says so.
    pub default: Span,
}

/// The traits of an error shape.
#[derive(Clone, Copy, Debug)]
pub struct ErrorDef {
    /// The status code: `@httpError`, else 400 or 500.
    pub status: u16,
    /// Whether the sender is to blame (`@error("client")`).
    pub client: bool,
    /// `@retryable`, and whether it is throttling.
    pub retryable: Option<bool>,
    /// `@awsQueryError`'s code; empty if none.
    pub query_code: Span,
}

/// An operation, as a set stores it.
#[derive(Clone, Copy, Debug)]
pub struct OperationDef {
    /// The absolute id.
    pub id: Span,
    /// The index of the input structure.
    pub input: u32,
    /// The index of the output structure.
    pub output: u32,
    /// Its errors: a range of the set's index list.
    pub errors: Span,
    /// The method of `@http`.
    pub http_method: Span,
    /// The URI pattern of `@http`.
    pub http_uri: Span,
    /// The status code of `@http`.
    pub http_code: u16,
    /// The host prefix of `@endpoint`.
    pub host_prefix: Span,
    /// The method of XML-RPC: the operation's name unless the model says other.
    pub xmlrpc_method: Span,
    /// Yes-or-no traits.
    pub flags: OperationFlags,
}

/// A service, as a set stores it.
#[derive(Clone, Copy, Debug)]
pub struct ServiceDef {
    /// The absolute id.
    pub id: Span,
    /// The version.
    pub version: Span,
    /// Its operations: a range of the set's index list.
    pub operations: Span,
    /// The ids of its protocols, separated by spaces.
    pub protocols: Span,
}

/// Shapes prepared for codecs, in flat arrays that refer to each other by
/// index. [`SchemaBuilder`](crate::SchemaBuilder) makes one; generated code holds
/// one by [`SchemaSet::from_parts`].
#[derive(Clone, Default)]
pub struct SchemaSet<'a> {
    pub(crate) shapes: Cow<'a, [ShapeDef]>,
    pub(crate) members: Cow<'a, [MemberDef]>,
    pub(crate) operations: Cow<'a, [OperationDef]>,
    pub(crate) services: Cow<'a, [ServiceDef]>,
    pub(crate) errors: Cow<'a, [ErrorDef]>,
    /// Lists of indices: operations of services, errors of operations.
    pub(crate) lists: Cow<'a, [u32]>,
    /// Plain names per source and member.
    pub(crate) plain: [Cow<'a, [Span]>; NameSource::COUNT],
    /// Encoded names per encoding and member.
    pub(crate) names: [Cow<'a, [Name]>; Encoding::COUNT],
    /// Buckets of the look-up tables: an ordinal plus one, or 0.
    pub(crate) buckets: Cow<'a, [u16]>,
    /// Ids and plain names.
    pub(crate) text: Cow<'a, str>,
    /// Encoded names that are too long for their table, and padding behind
    /// the last.
    pub(crate) code: Cow<'a, [u8]>,
}

impl<'a> SchemaSet<'a> {
    /// The shape at an index.
    ///
    /// # Panics
    ///
    /// There is no such shape. Indices come from this set or from the code
    /// that was generated with it.
    #[must_use]
    pub fn shape<'s>(&'s self, index: u32) -> Schema<'s>
    where
        'a: 's,
    {
        assert!(
            (index as usize) < self.shapes.len(),
            "no shape {index} in this set"
        );
        Schema::at(self, index)
    }

    /// All shapes.
    pub fn shapes<'s>(&'s self) -> impl ExactSizeIterator<Item = Schema<'s>>
    where
        'a: 's,
    {
        (0..self.shapes.len() as u32).map(|index| Schema::at(self, index))
    }

    /// The shape with an absolute id. Looks at every shape: keep the answer.
    #[must_use]
    pub fn find_shape<'s>(&'s self, id: &str) -> Option<Schema<'s>>
    where
        'a: 's,
    {
        self.shapes().find(|shape| shape.id() == id)
    }

    /// The operation at an index.
    ///
    /// # Panics
    ///
    /// There is no such operation.
    #[must_use]
    pub fn operation<'s>(&'s self, index: u32) -> Operation<'s>
    where
        'a: 's,
    {
        assert!(
            (index as usize) < self.operations.len(),
            "no operation {index} in this set"
        );
        Operation { set: self, index }
    }

    /// The service at an index.
    ///
    /// # Panics
    ///
    /// There is no such service.
    #[must_use]
    pub fn service<'s>(&'s self, index: u32) -> Service<'s>
    where
        'a: 's,
    {
        assert!(
            (index as usize) < self.services.len(),
            "no service {index} in this set"
        );
        Service { set: self, index }
    }

    /// All services.
    pub fn services<'s>(&'s self) -> impl ExactSizeIterator<Item = Service<'s>>
    where
        'a: 's,
    {
        (0..self.services.len() as u32).map(|index| Service { set: self, index })
    }

    fn str(&self, span: Span) -> &str {
        let start = span.start as usize;
        self.text
            .get(start..start + span.len as usize)
            .unwrap_or_default()
    }

    fn list(&self, span: Span) -> &[u32] {
        let start = span.start as usize;
        self.lists
            .get(start..start + span.len as usize)
            .unwrap_or_default()
    }
}

impl fmt::Debug for SchemaSet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaSet")
            .field("shapes", &self.shapes.len())
            .field("members", &self.members.len())
            .field("operations", &self.operations.len())
            .finish_non_exhaustive()
    }
}

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
    fn at(set: &'s SchemaSet<'s>, index: u32) -> Self {
        let def = &set.shapes[index as usize];
        Self {
            set,
            index,
            first_member: def.first_member,
            member_count: def.member_count,
        }
    }

    #[inline]
    fn def(self) -> &'s ShapeDef {
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

    /// `@awsQueryError`'s code of an error shape, if it has one.
    #[must_use]
    pub fn query_code(self) -> Option<&'s str> {
        let code = self.set.str(self.error()?.query_code);
        (!code.is_empty()).then_some(code)
    }

    /// The ordinal of the member with a name, by a source of names.
    #[inline]
    #[must_use]
    pub fn find(self, source: NameSource, name: &[u8]) -> Option<u32> {
        self.search(source, name).0
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

    /// Whether it is required.
    #[must_use]
    pub fn is_required(self) -> bool {
        self.has(MemberFlags::REQUIRED)
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

    /// Its default value as JSON, if it has one.
    ///
    /// It is stored and no more: a member that did not come stays absent in
    /// what the readers give, whatever its default.
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

/// An operation of a set.
#[derive(Clone, Copy)]
pub struct Operation<'s> {
    set: &'s SchemaSet<'s>,
    index: u32,
}

impl<'s> Operation<'s> {
    fn def(self) -> &'s OperationDef {
        &self.set.operations[self.index as usize]
    }

    /// The index within the set.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The absolute id.
    #[must_use]
    pub fn id(self) -> &'s str {
        self.set.str(self.def().id)
    }

    /// The name without its namespace.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.id().rsplit('#').next().unwrap_or_default()
    }

    /// The input structure.
    #[must_use]
    pub fn input(self) -> Schema<'s> {
        Schema::at(self.set, self.def().input)
    }

    /// The output structure.
    #[must_use]
    pub fn output(self) -> Schema<'s> {
        Schema::at(self.set, self.def().output)
    }

    /// The errors that the model gives, the service's own included.
    pub fn errors(self) -> impl ExactSizeIterator<Item = Schema<'s>> + use<'s> {
        let set = self.set;
        set.list(self.def().errors)
            .iter()
            .map(move |index| Schema::at(set, *index))
    }

    /// The error with a name, with or without its namespace.
    #[must_use]
    pub fn find_error(self, name: &str) -> Option<Schema<'s>> {
        self.errors()
            .find(|error| error.id() == name || error.name() == name)
    }

    /// Method, URI pattern and status code of `@http`.
    #[must_use]
    pub fn http(self) -> Option<(&'s str, &'s str, u16)> {
        let def = self.def();
        let http = def.flags.contains(OperationFlags::HTTP);
        http.then(|| {
            (
                self.set.str(def.http_method),
                self.set.str(def.http_uri),
                def.http_code,
            )
        })
    }

    /// The host prefix of `@endpoint`; empty if there is none.
    #[must_use]
    pub fn host_prefix(self) -> &'s str {
        self.set.str(self.def().host_prefix)
    }

    /// The method name in XML-RPC.
    #[must_use]
    pub fn xmlrpc_method(self) -> &'s str {
        self.set.str(self.def().xmlrpc_method)
    }

    /// Whether it has all these flags.
    #[must_use]
    pub fn has(self, flags: OperationFlags) -> bool {
        self.def().flags.contains(flags)
    }
}

impl fmt::Debug for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A service of a set.
#[derive(Clone, Copy)]
pub struct Service<'s> {
    set: &'s SchemaSet<'s>,
    index: u32,
}

impl<'s> Service<'s> {
    fn def(self) -> &'s ServiceDef {
        &self.set.services[self.index as usize]
    }

    /// The set that the service belongs to.
    #[must_use]
    pub const fn set(self) -> &'s SchemaSet<'s> {
        self.set
    }

    /// The index within the set.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The absolute id.
    #[must_use]
    pub fn id(self) -> &'s str {
        self.set.str(self.def().id)
    }

    /// The name without its namespace.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.id().rsplit('#').next().unwrap_or_default()
    }

    /// The version.
    #[must_use]
    pub fn version(self) -> &'s str {
        self.set.str(self.def().version)
    }

    /// The ids of the protocol traits that the model gives.
    pub fn protocols(self) -> impl Iterator<Item = &'s str> {
        self.set
            .str(self.def().protocols)
            .split(' ')
            .filter(|id| !id.is_empty())
    }

    /// Its operations, sorted by id.
    pub fn operations(self) -> impl ExactSizeIterator<Item = Operation<'s>> + use<'s> {
        let set = self.set;
        set.list(self.def().operations)
            .iter()
            .map(move |index| Operation { set, index: *index })
    }

    /// The operation with a name.
    #[must_use]
    pub fn find_operation(self, name: &str) -> Option<Operation<'s>> {
        self.operations().find(|operation| operation.name() == name)
    }
}

impl fmt::Debug for Service<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
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
        error: 0,
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
    }],
    plain: [&[Span { start: 0, len: 0 }]; NameSource::COUNT],
    names: [&[Name::EMPTY]; Encoding::COUNT],
    text: "smithy.api#Document",
    ..SchemaParts::EMPTY
});
