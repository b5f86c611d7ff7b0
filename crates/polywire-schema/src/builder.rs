//! `SchemaBuilder`: how a set is made.
//!
//! The model and the code generator both build through here, so that names are
//! encoded and members ordered in one place.

use std::borrow::Cow;
use std::fmt;

use polywire_text::scan::{Name, RUN_PADDING};

use crate::names::{NameParts, hash, hash_whole};
use crate::{
    BigDecimal, ConstraintDef, ConstraintSpec, Encoding, EnumValueDef, ErrorDef, Location,
    MemberDef, MemberFlags, NameSource, OperationDef, OperationFlags, SchemaSet, ServiceDef,
    ServiceFlags, ShapeDef, ShapeFlags, ShapeKind, Span, TimestampFormat,
};
use crate::{defaults, variants};

/// The index that a shape will have in its set.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ShapeRef(u32);

impl ShapeRef {
    pub(crate) const fn at(index: u32) -> Self {
        Self(index)
    }

    /// The index.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.0
    }
}

/// What the builder is told about a member. The fields are the traits that
/// codecs and protocols look at.
#[derive(Clone, Debug)]
pub struct MemberSpec {
    /// The member's own name.
    pub name: String,
    /// The shape that it targets.
    pub target: ShapeRef,
    /// Yes-or-no traits.
    pub flags: MemberFlags,
    /// `@jsonName`.
    pub json_name: Option<String>,
    /// `@xmlName`.
    pub xml_name: Option<String>,
    /// `@xmlNamespace`: prefix and URI.
    pub xml_namespace: Option<(Option<String>, String)>,
    /// `@ec2QueryName`.
    pub ec2_name: Option<String>,
    /// `@timestampFormat`.
    pub timestamp_format: Option<TimestampFormat>,
    /// Which part of a message carries the member.
    pub location: Location,
    /// The header, prefix or query parameter of the location.
    pub location_name: String,
    /// `@mediaType`.
    pub media_type: String,
    /// `@default` as JSON.
    pub default_json: Option<String>,
    /// Constraint traits.
    pub constraints: ConstraintSpec,
}

impl MemberSpec {
    /// A member without traits.
    #[must_use]
    pub fn new(name: impl Into<String>, target: ShapeRef) -> Self {
        Self {
            name: name.into(),
            target,
            flags: MemberFlags::default(),
            json_name: None,
            xml_name: None,
            xml_namespace: None,
            ec2_name: None,
            timestamp_format: None,
            location: Location::Body,
            location_name: String::new(),
            media_type: String::new(),
            default_json: None,
            constraints: ConstraintSpec::default(),
        }
    }

    /// Adds yes-or-no traits.
    #[must_use]
    pub fn flag(mut self, flags: MemberFlags) -> Self {
        self.flags = self.flags.with(flags);
        self
    }

    /// Sets `@jsonName`.
    #[must_use]
    pub fn json_name(mut self, name: &str) -> Self {
        self.json_name = Some(name.to_owned());
        self
    }

    /// Sets `@xmlName`.
    #[must_use]
    pub fn xml_name(mut self, name: &str) -> Self {
        self.xml_name = Some(name.to_owned());
        self
    }

    /// Sets `@xmlNamespace`.
    #[must_use]
    pub fn xml_namespace(mut self, prefix: Option<&str>, uri: &str) -> Self {
        self.xml_namespace = Some((prefix.map(str::to_owned), uri.to_owned()));
        self
    }

    /// Sets `@timestampFormat`.
    #[must_use]
    pub fn timestamp_format(mut self, format: TimestampFormat) -> Self {
        self.timestamp_format = Some(format);
        self
    }

    /// Binds the member to a part of the message.
    #[must_use]
    pub fn location(mut self, location: Location, name: &str) -> Self {
        self.location = location;
        self.location_name = name.to_owned();
        self
    }
}

/// What the builder is told about an operation.
#[derive(Clone, Debug)]
pub struct OperationSpec {
    /// The absolute id.
    pub id: String,
    /// The input structure.
    pub input: ShapeRef,
    /// The output structure.
    pub output: ShapeRef,
    /// The errors. Those of the service need not be repeated.
    pub errors: Vec<ShapeRef>,
    /// Method, URI pattern and status code of `@http`.
    pub http: Option<(String, String, u16)>,
    /// The host prefix of `@endpoint`.
    pub host_prefix: String,
    /// The method of XML-RPC, if it is not the operation's name.
    pub xmlrpc_method: Option<String>,
    /// The encodings of `@requestCompression`, the best first.
    pub request_compression: Vec<String>,
    /// Yes-or-no traits.
    pub flags: OperationFlags,
}

impl OperationSpec {
    /// An operation without traits.
    #[must_use]
    pub fn new(id: impl Into<String>, input: ShapeRef, output: ShapeRef) -> Self {
        Self {
            id: id.into(),
            input,
            output,
            errors: Vec::new(),
            http: None,
            host_prefix: String::new(),
            xmlrpc_method: None,
            request_compression: Vec::new(),
            flags: OperationFlags::default(),
        }
    }
}

/// What the builder is told about a service.
#[derive(Clone, Debug, Default)]
pub struct ServiceSpec {
    /// The absolute id.
    pub id: String,
    /// The version.
    pub version: String,
    /// The ids of its protocol traits.
    pub protocols: Vec<String>,
    /// The indices of its operations, as [`SchemaBuilder::operation`] gave them.
    pub operations: Vec<u32>,
    /// The errors that each of its operations can end in.
    pub errors: Vec<ShapeRef>,
    /// `@xmlNamespace`: prefix and URI.
    pub xml_namespace: Option<(Option<String>, String)>,
    /// `sdkId` of `@aws.api#service`.
    pub sdk_id: String,
    /// `endpointPrefix` of `@aws.api#service`.
    pub endpoint_prefix: String,
    /// The name of `@aws.auth#sigv4`.
    pub signing_name: String,
    /// Yes-or-no traits.
    pub flags: ServiceFlags,
}

/// Why a set could not be built.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BuildError(String);

impl BuildError {
    pub(crate) fn new(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}

/// Makes a [`SchemaSet`].
///
/// Shapes can be referred to before their members are added, so recursion
/// needs nothing special.
///
/// ```
/// use polywire_schema::{MemberSpec, SchemaBuilder, ShapeKind};
///
/// let mut builder = SchemaBuilder::new();
/// let string = builder.shape(ShapeKind::String, "smithy.api#String");
/// let region = builder.shape(ShapeKind::Structure, "example#Region");
/// let regions = builder.shape(ShapeKind::List, "example#Regions");
/// builder.member(region, MemberSpec::new("name", string).json_name("n"));
/// builder.member(region, MemberSpec::new("parts", regions));
/// builder.member(regions, MemberSpec::new("member", region));
/// let set = builder.finish()?;
///
/// let region = set.shape(region.index());
/// assert_eq!(region.member(0).name(), "name");
/// assert_eq!(region.member(1).element().target(), region);
/// # Ok::<(), polywire_schema::BuildError>(())
/// ```
#[derive(Debug, Default)]
pub struct SchemaBuilder {
    pub(crate) shapes: Vec<ShapeSpec>,
    pub(crate) operations: Vec<OperationSpec>,
    pub(crate) services: Vec<ServiceSpec>,
    /// What was said about shapes that this builder does not have: `finish`
    /// reports the first of them.
    pub(crate) stray: Option<Box<(ShapeRef, MemberSpec)>>,
}

/// What [`SchemaBuilder::error`] is told: status, whether the sender is to blame,
/// whether to try again and whether that is for throttling, code and status in
/// the query protocol.
pub(crate) type ErrorSpec = (u16, bool, Option<bool>, Option<(String, u16)>);

#[derive(Debug)]
pub(crate) struct ShapeSpec {
    pub(crate) id: String,
    pub(crate) kind: ShapeKind,
    pub(crate) members: Vec<MemberSpec>,
    /// The traits of the shape itself, as its root member has them.
    pub(crate) root: MemberSpec,
    pub(crate) error: Option<ErrorSpec>,
}

/// Shapes with up to this many members are searched in order.
const LINEAR: usize = 4;

/// How many names a look-up may compare before a shape's tables are made by
/// all bytes of the names.
const PROBES: usize = 8;

/// The look-up tables of a shape.
#[derive(Default)]
struct Lookup {
    tables: [u32; NameSource::COUNT],
    bits: u8,
    whole: bool,
}

/// The longest name that a CBOR head of three bytes tells. Identifiers are far
/// shorter.
const LONGEST_NAME: usize = u16::MAX as usize;

impl SchemaBuilder {
    /// A builder of an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a shape without members.
    pub fn shape(&mut self, kind: ShapeKind, id: impl Into<String>) -> ShapeRef {
        let reference = ShapeRef(self.shapes.len() as u32);
        let id = id.into();
        let name = id.rsplit('#').next().unwrap_or_default().to_owned();
        let root = MemberSpec::new(name, reference);
        self.shapes.push(ShapeSpec {
            id,
            kind,
            members: Vec::new(),
            root,
            error: None,
        });
        reference
    }

    /// Adds a member. The element of a list and the key and value of a map
    /// are members too.
    ///
    /// A shape that this builder does not have makes
    /// [`finish`](Self::finish) fail, here and below.
    pub fn member(&mut self, shape: ShapeRef, member: MemberSpec) {
        match self.shapes.get_mut(shape.0 as usize) {
            Some(spec) => spec.members.push(member),
            None => {
                self.stray(shape);
            }
        }
    }

    /// The traits of a shape itself: XML name and namespace at the top of a
    /// message, timestamp format, media type and constraints for members that
    /// target it, sparse and streaming.
    pub fn root(&mut self, shape: ShapeRef) -> &mut MemberSpec {
        if self.shapes.len() <= shape.0 as usize {
            return self.stray(shape);
        }
        &mut self.shapes[shape.0 as usize].root
    }

    /// Makes a structure an error: its status code, whether the sender is to
    /// blame, `@retryable` (and whether it is throttling), and
    /// `@awsQueryError`'s code and status.
    pub fn error(
        &mut self,
        shape: ShapeRef,
        status: u16,
        client: bool,
        retryable: Option<bool>,
        query: Option<(String, u16)>,
    ) {
        match self.shapes.get_mut(shape.0 as usize) {
            Some(spec) => spec.error = Some((status, client, retryable, query)),
            None => {
                self.stray(shape);
            }
        }
    }

    /// Notes a shape that is not there; where its traits go instead.
    #[cold]
    fn stray(&mut self, shape: ShapeRef) -> &mut MemberSpec {
        let stray = || Box::new((shape, MemberSpec::new("", shape)));
        &mut self.stray.get_or_insert_with(stray).1
    }

    /// Adds an operation; returns its index.
    pub fn operation(&mut self, operation: OperationSpec) -> u32 {
        self.operations.push(operation);
        self.operations.len() as u32 - 1
    }

    /// Adds a service.
    pub fn service(&mut self, service: ServiceSpec) {
        self.services.push(service);
    }

    /// Builds the set.
    ///
    /// # Errors
    ///
    /// - A list without exactly one member, a map without exactly two, or more
    ///   than 65,534 members of one shape.
    /// - A default that is no value of its member's shape, or a range whose bound
    ///   is no number.
    /// - A name of more than 65,535 bytes, or more of anything, texts together
    ///   included, than 32 bits count.
    /// - A reference to a shape or operation that this builder does not have.
    ///   One of another builder is told by its index alone: within the range
    ///   it means the shape of this builder that has it.
    pub fn finish(self) -> Result<SchemaSet<'static>, BuildError> {
        Assembly::default().assemble(self)
    }
}

/// The arrays of a set while they grow.
struct Assembly {
    /// How long each of them may get: what a [`Span`] can tell. Less in tests.
    most: usize,
    text: String,
    code: Vec<u8>,
    shapes: Vec<ShapeDef>,
    members: Vec<MemberDef>,
    errors: Vec<ErrorDef>,
    constraints: Vec<ConstraintDef>,
    enum_values: Vec<EnumValueDef>,
    /// The constraints of each shape, as its root has them: an index plus one.
    own_constraints: Vec<u32>,
    lists: Vec<u32>,
    buckets: Vec<u16>,
    variants: Vec<variants::Slot>,
    plain: [Vec<Span>; NameSource::COUNT],
    names: [Vec<Name>; Encoding::COUNT],
}

impl Default for Assembly {
    fn default() -> Self {
        Self {
            most: u32::MAX as usize,
            text: String::new(),
            code: Vec::new(),
            shapes: Vec::new(),
            members: Vec::new(),
            errors: Vec::new(),
            constraints: Vec::new(),
            enum_values: Vec::new(),
            own_constraints: Vec::new(),
            lists: Vec::new(),
            buckets: Vec::new(),
            variants: Vec::new(),
            plain: Default::default(),
            names: Default::default(),
        }
    }
}

impl Assembly {
    fn assemble(mut self, builder: SchemaBuilder) -> Result<SchemaSet<'static>, BuildError> {
        let SchemaBuilder {
            shapes,
            operations,
            services,
            stray,
        } = builder;
        if let Some(stray) = stray {
            return Err(BuildError(format!(
                "a shape of another builder: number {}, of {}",
                stray.0.0,
                shapes.len()
            )));
        }
        // What members take from their targets.
        let targets: Vec<(ShapeKind, MemberSpec)> = shapes
            .iter()
            .map(|shape| (shape.kind, shape.root.clone()))
            .collect();
        for (_, root) in &targets {
            let own = self.constraint(&root.constraints, None)?;
            self.own_constraints.push(own);
        }
        for (index, shape) in shapes.into_iter().enumerate() {
            self.shape(index as u32, shape, &targets)?;
        }
        self.mark_constrained();
        let mut operation_defs = Vec::with_capacity(operations.len());
        for spec in &operations {
            operation_defs.push(self.operation(spec)?);
        }
        let mut service_defs = Vec::with_capacity(services.len());
        for spec in &services {
            service_defs.push(self.service(spec, &mut operation_defs)?);
        }
        self.code.extend_from_slice(&[0; RUN_PADDING]);
        Ok(SchemaSet {
            shapes: Cow::Owned(self.shapes),
            members: Cow::Owned(self.members),
            operations: Cow::Owned(operation_defs),
            services: Cow::Owned(service_defs),
            errors: Cow::Owned(self.errors),
            constraints: Cow::Owned(self.constraints),
            enum_values: Cow::Owned(self.enum_values),
            lists: Cow::Owned(self.lists),
            plain: self.plain.map(Cow::Owned),
            names: self.names.map(Cow::Owned),
            buckets: Cow::Owned(self.buckets),
            variants: Cow::Owned(self.variants),
            text: Cow::Owned(self.text),
            code: Cow::Owned(self.code),
        })
    }

    fn shape(
        &mut self,
        index: u32,
        shape: ShapeSpec,
        targets: &[(ShapeKind, MemberSpec)],
    ) -> Result<(), BuildError> {
        let ShapeSpec {
            id,
            kind,
            mut members,
            root,
            error,
        } = shape;
        let wanted = match kind {
            ShapeKind::List => Some(1),
            ShapeKind::Map => Some(2),
            ShapeKind::Structure | ShapeKind::Union => None,
            _ => Some(0),
        };
        if wanted.is_some_and(|wanted| wanted != members.len()) {
            let count = members.len();
            return Err(BuildError(format!(
                "{id}: a {kind:?} cannot have {count} members"
            )));
        }
        if members.len() >= usize::from(u16::MAX) {
            return Err(BuildError(format!(
                "{id}: too many members: {}",
                members.len()
            )));
        }
        // Attributes are written into the start tag, before everything else.
        members.sort_by_key(|member| !member.flags.contains(MemberFlags::XML_ATTRIBUTE));

        let mut flags = ShapeFlags::default();
        let has_default = |member: &MemberSpec| member.default_json.is_some();
        if kind == ShapeKind::Structure && members.iter().any(has_default) {
            flags = flags.with(ShapeFlags::DEFAULTS);
        }
        let is_token = |member: &MemberSpec| member.flags.contains(MemberFlags::IDEMPOTENCY_TOKEN);
        if kind == ShapeKind::Structure && members.iter().any(is_token) {
            flags = flags.with(ShapeFlags::TOKEN);
        }
        let is_apart = |member: &MemberSpec| {
            member.flags.contains(MemberFlags::XML_ATTRIBUTE)
                || member
                    .xml_name
                    .as_deref()
                    .unwrap_or(&member.name)
                    .contains(':')
        };
        if members.iter().any(is_apart) {
            flags = flags.with(ShapeFlags::XML_APART);
        }
        let first_member = self.index(self.members.len())?;
        for (ordinal, member) in members.iter().enumerate() {
            self.member((index, &id), ordinal as u32, member, targets)?;
        }
        let root_index = self.index(self.members.len())?;
        self.member((index, &id), u32::MAX, &root, targets)?;
        let lookup = self.lookup(first_member as usize, members.len())?;
        let (variants, variant_bits) = match kind {
            ShapeKind::Union => self.variants(first_member as usize, members.len())?,
            _ => Default::default(),
        };
        if let Some((status, client, retryable, query)) = error {
            let (query_code, query_status) = query.unwrap_or_default();
            let query_code = self.intern(&query_code)?;
            self.errors.push(ErrorDef {
                status,
                client,
                retryable,
                query_code,
                query_status,
            });
        }
        let has_error = self.shapes.iter().filter(|shape| shape.error != 0).count();
        let error = if self.errors.len() > has_error {
            self.errors.len() as u32
        } else {
            0
        };
        let id = self.intern(&id)?;
        self.shapes.push(ShapeDef {
            id,
            kind,
            root: root_index,
            first_member,
            member_count: members.len() as u32,
            lookup: lookup.tables,
            lookup_bits: lookup.bits,
            lookup_whole: lookup.whole,
            variants,
            variant_bits,
            error,
            flags,
        });
        Ok(())
    }

    fn member(
        &mut self,
        (container, id): (u32, &str),
        ordinal: u32,
        spec: &MemberSpec,
        targets: &[(ShapeKind, MemberSpec)],
    ) -> Result<(), BuildError> {
        let Some((kind, target)) = targets.get(spec.target.0 as usize) else {
            return Err(no_shape(&format!("{id}${}", spec.name), spec.target));
        };
        let inherited = [
            MemberFlags::SPARSE,
            MemberFlags::STREAMING,
            MemberFlags::SENSITIVE,
        ];
        let mut flags = spec.flags;
        for flag in inherited {
            if target.flags.contains(flag) {
                flags = flags.with(flag);
            }
        }
        let timestamp_format = spec.timestamp_format.or(target.timestamp_format);
        if let Some(json) = &spec.default_json {
            if defaults::value(json, *kind, timestamp_format).is_none() {
                return Err(BuildError(format!(
                    "{id}${}: the default {json:.40} is not {}",
                    spec.name,
                    kind.describe()
                )));
            }
            flags = flags.with(MemberFlags::DEFAULT);
        }
        if spec.xml_name.is_some() {
            flags = flags.with(MemberFlags::XML_NAMED);
        }
        let media_type = if spec.media_type.is_empty() {
            &target.media_type
        } else {
            &spec.media_type
        };
        let def = MemberDef {
            container,
            target: spec.target.0,
            kind: *kind,
            location: spec.location,
            timestamp_format,
            flags,
            ordinal,
            location_name: self.intern(&spec.location_name)?,
            media_type: self.intern(media_type)?,
            constraint: match self.own_constraints.get(spec.target.0 as usize) {
                // Roots target themselves, and have their constraints already.
                Some(own) if ordinal == u32::MAX => *own,
                own => self.constraint(&spec.constraints, own.copied())?,
            },
            default: self.intern(spec.default_json.as_deref().unwrap_or_default())?,
        };
        self.members.push(def);
        let parts = NameParts {
            member: &spec.name,
            json: spec.json_name.as_deref(),
            xml: spec.xml_name.as_deref(),
            xml_namespace: spec
                .xml_namespace
                .as_ref()
                .map(|(prefix, uri)| (prefix.as_deref(), uri.as_str())),
            xml_attribute: spec.flags.contains(MemberFlags::XML_ATTRIBUTE),
            ec2: spec.ec2_name.as_deref(),
        };
        let sources = [
            NameSource::Member,
            NameSource::Json,
            NameSource::Xml,
            NameSource::Query,
            NameSource::Ec2,
        ];
        for source in sources {
            let name = parts.plain(source);
            if name.len() > LONGEST_NAME {
                let start: String = name.chars().take(40).collect();
                return Err(BuildError(format!(
                    "{id}: the name `{start}...` has {} bytes; {LONGEST_NAME} are allowed",
                    name.len()
                )));
            }
            let span = self.intern(&name)?;
            self.plain[source as usize].push(span);
        }
        for encoding in Encoding::ALL {
            let mut run = Vec::new();
            parts.push(&mut run, encoding);
            let name = match Name::short(&run) {
                Some(name) => name,
                None => {
                    let start = self.index(self.code.len())?;
                    self.code.extend_from_slice(&run);
                    // The padding comes behind it.
                    let end = self.index(self.code.len() + RUN_PADDING)?;
                    Name::long(start, end - start - RUN_PADDING as u32)
                }
            };
            self.names[encoding as usize].push(name);
        }
        Ok(())
    }

    /// Stores what a member's own traits demand beside those of its target; the
    /// index plus one, or 0 where there is nothing.
    fn constraint(
        &mut self,
        spec: &ConstraintSpec,
        target: Option<u32>,
    ) -> Result<u32, BuildError> {
        let target = target.unwrap_or(0);
        if spec.is_empty() {
            return Ok(target);
        }
        let mut def = match target.checked_sub(1) {
            Some(index) => self.constraints[index as usize],
            None => ConstraintDef {
                min_length: 0,
                max_length: u64::MAX,
                least: Span::default(),
                most: Span::default(),
                pattern: Span::default(),
                unique_items: false,
                values: Span::default(),
            },
        };
        if let Some((least, most)) = spec.length {
            def.min_length = least.unwrap_or(0);
            def.max_length = most.unwrap_or(u64::MAX);
        }
        if let Some((least, most)) = &spec.range {
            def.least = self.decimal(least.as_deref())?;
            def.most = self.decimal(most.as_deref())?;
        }
        if let Some(pattern) = &spec.pattern {
            def.pattern = self.intern(pattern)?;
        }
        def.unique_items |= spec.unique_items;
        if !spec.values.is_empty() {
            let start = self.index(self.enum_values.len())?;
            for value in &spec.values {
                let (text, number) = match &value.value {
                    Ok(text) => (self.intern(text)?, 0),
                    Err(number) => (Span::default(), *number),
                };
                self.enum_values.push(EnumValueDef {
                    text,
                    number,
                    is_internal: value.is_internal,
                });
            }
            let len = self.index(self.enum_values.len())? - start;
            def.values = Span { start, len };
        }
        self.constraints.push(def);
        self.index(self.constraints.len())
    }

    /// A bound of a range.
    fn decimal(&mut self, text: Option<&str>) -> Result<Span, BuildError> {
        let Some(text) = text else {
            return Ok(Span::default());
        };
        match text.parse::<BigDecimal>() {
            Ok(_) => self.intern(text),
            Err(_) => Err(BuildError(format!(
                "a bound of a range that is no number: {text:.40}"
            ))),
        }
    }

    /// Marks the members with constraints and everything above them, once the
    /// arrays are whole: each member is looked at once, and once more if what
    /// it targets turns out to be constrained.
    fn mark_constrained(&mut self) {
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); self.shapes.len()];
        let mut work = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            users[member.target as usize].push(index as u32);
            if member.constraint > 0 {
                work.push(index as u32);
            }
        }
        while let Some(index) = work.pop() {
            let member = &mut self.members[index as usize];
            if member.flags.contains(MemberFlags::CONSTRAINED) {
                continue;
            }
            member.flags = member.flags.with(MemberFlags::CONSTRAINED);
            // A root is no part of its shape.
            let shape = &mut self.shapes[member.container as usize];
            if member.ordinal != u32::MAX && !shape.flags.contains(ShapeFlags::CONSTRAINED) {
                shape.flags = shape.flags.with(ShapeFlags::CONSTRAINED);
                work.append(&mut users[member.container as usize]);
            }
        }
    }

    /// Builds the look-up tables of a shape; sources that spell all names
    /// alike share one.
    fn lookup(&mut self, first: usize, count: usize) -> Result<Lookup, BuildError> {
        let mut lookup = Lookup::default();
        if count <= LINEAR {
            return Ok(lookup);
        }
        let size = (count * 2).next_power_of_two();
        lookup.bits = size.trailing_zeros() as u8;
        // All tables of a shape hash alike: by all bytes as soon as one needs it.
        let quick = self.tables(first, count, size, hash, PROBES);
        lookup.whole = quick.is_none();
        let tables = quick.or_else(|| self.tables(first, count, size, hash_whole, usize::MAX));
        for (source, table) in tables.into_iter().flatten().enumerate() {
            lookup.tables[source] = match table {
                Some(buckets) => {
                    let start = self.index(self.buckets.len())?;
                    self.buckets.extend_from_slice(&buckets);
                    start
                }
                None => lookup.tables[self.spelled_alike(first, count, source)],
            };
        }
        Ok(lookup)
    }

    /// Where the tables of a union's short names start, and their size.
    fn variants(
        &mut self,
        first: usize,
        count: usize,
    ) -> Result<([u32; variants::SOURCES], u8), BuildError> {
        let mut starts = [0; variants::SOURCES];
        let mut bits = 0;
        for (start, source) in starts
            .iter_mut()
            .zip([NameSource::Member, NameSource::Json])
        {
            let (slots, size) = variants::table(self.names(source as usize, first, count));
            *start = self.index(self.variants.len())?;
            bits = size;
            self.variants.extend_from_slice(&slots);
        }
        Ok((starts, bits))
    }

    /// The first source that spells the names of these members as `source` does.
    fn spelled_alike(&self, first: usize, count: usize, source: usize) -> usize {
        let names = |source: usize| self.names(source, first, count);
        let same = |other: &usize| names(*other).eq(names(source));
        (0..source).find(same).unwrap_or(source)
    }

    fn names(
        &self,
        source: usize,
        first: usize,
        count: usize,
    ) -> impl ExactSizeIterator<Item = &str> {
        self.plain[source][first..first + count]
            .iter()
            .map(|span| &self.text[span.start as usize..(span.start + span.len) as usize])
    }

    /// A table for each source that spells names in a way of its own; nothing
    /// if a look-up in one of them would compare more than `most` names.
    fn tables(
        &self,
        first: usize,
        count: usize,
        size: usize,
        hash: fn(&[u8]) -> u64,
        most: usize,
    ) -> Option<Vec<Option<Vec<u16>>>> {
        let mut tables = Vec::with_capacity(NameSource::COUNT);
        for source in 0..NameSource::COUNT {
            if self.spelled_alike(first, count, source) != source {
                tables.push(None);
                continue;
            }
            let mut buckets = vec![0_u16; size];
            for (ordinal, name) in self.names(source, first, count).enumerate() {
                let mut at = (hash(name.as_bytes()) >> (64 - size.trailing_zeros())) as usize;
                let mut probes = 1;
                while buckets[at] != 0 {
                    at = (at + 1) & (size - 1);
                    probes += 1;
                    if probes > most {
                        return None;
                    }
                }
                buckets[at] = ordinal as u16 + 1;
            }
            tables.push(Some(buckets));
        }
        Some(tables)
    }

    fn operation(&mut self, spec: &OperationSpec) -> Result<OperationDef, BuildError> {
        let (method, uri, code) = match &spec.http {
            Some((method, uri, code)) => (method.as_str(), uri.as_str(), *code),
            None => ("", "", 200),
        };
        let name = spec.id.rsplit('#').next().unwrap_or_default();
        let shapes = [spec.input, spec.output];
        let mut shapes = shapes.iter().chain(&spec.errors);
        if let Some(stray) = shapes.find(|shape| !self.has(**shape)) {
            return Err(no_shape(&spec.id, *stray));
        }
        let errors: Vec<u32> = spec.errors.iter().map(|error| error.0).collect();
        Ok(OperationDef {
            id: self.intern(&spec.id)?,
            input: spec.input.0,
            output: spec.output.0,
            errors: self.list(&errors)?,
            service_errors: Span::default(),
            http_method: self.intern(method)?,
            http_uri: self.intern(uri)?,
            http_code: code,
            host_prefix: self.intern(&spec.host_prefix)?,
            xmlrpc_method: self.intern(spec.xmlrpc_method.as_deref().unwrap_or(name))?,
            request_compression: self.intern(&spec.request_compression.join(" "))?,
            flags: if spec.http.is_some() {
                spec.flags.with(OperationFlags::HTTP)
            } else {
                spec.flags
            },
        })
    }

    fn service(
        &mut self,
        spec: &ServiceSpec,
        operations: &mut [OperationDef],
    ) -> Result<ServiceDef, BuildError> {
        if let Some(stray) = spec.errors.iter().find(|shape| !self.has(**shape)) {
            return Err(no_shape(&spec.id, *stray));
        }
        let errors: Vec<u32> = spec.errors.iter().map(|error| error.0).collect();
        let errors = self.list(&errors)?;
        for at in &spec.operations {
            let Some(operation) = operations.get_mut(*at as usize) else {
                return Err(BuildError(format!(
                    "{}: there is no operation number {at}",
                    spec.id
                )));
            };
            self.add_errors(operation, errors)?;
        }
        let namespace = spec.xml_namespace.as_ref();
        let (prefix, uri) = namespace.map_or((None, ""), |(prefix, uri)| (prefix.as_deref(), uri));
        Ok(ServiceDef {
            id: self.intern(&spec.id)?,
            version: self.intern(&spec.version)?,
            operations: self.list(&spec.operations)?,
            protocols: self.intern(&spec.protocols.join(" "))?,
            xml_prefix: self.intern(prefix.unwrap_or_default())?,
            xml_uri: self.intern(uri)?,
            sdk_id: self.intern(&spec.sdk_id)?,
            endpoint_prefix: self.intern(&spec.endpoint_prefix)?,
            signing_name: self.intern(&spec.signing_name)?,
            flags: spec.flags,
        })
    }

    /// Adds the errors of a service to an operation. The list is the same for
    /// all operations and is stored once.
    fn add_errors(&mut self, operation: &mut OperationDef, errors: Span) -> Result<(), BuildError> {
        if operation.service_errors.len > 0 {
            // An operation of two services: it has the errors of both.
            let mut own = self.indices(operation.errors).to_vec();
            own.extend_from_slice(self.indices(operation.service_errors));
            operation.errors = self.list(&own)?;
        }
        operation.service_errors = errors;
        Ok(())
    }

    fn has(&self, shape: ShapeRef) -> bool {
        (shape.0 as usize) < self.shapes.len()
    }

    fn indices(&self, span: Span) -> &[u32] {
        let start = span.start as usize;
        self.lists
            .get(start..start + span.len as usize)
            .unwrap_or_default()
    }

    fn list(&mut self, indices: &[u32]) -> Result<Span, BuildError> {
        let start = self.index(self.lists.len())?;
        self.lists.extend_from_slice(indices);
        let len = self.index(self.lists.len())? - start;
        Ok(Span { start, len })
    }

    fn intern(&mut self, text: &str) -> Result<Span, BuildError> {
        if text.is_empty() {
            return Ok(Span::default());
        }
        let start = self.index(self.text.len())?;
        self.text.push_str(text);
        let len = self.index(self.text.len())? - start;
        Ok(Span { start, len })
    }

    /// A place in one of the arrays, as the definitions store it.
    fn index(&self, at: usize) -> Result<u32, BuildError> {
        match u32::try_from(at) {
            Ok(index) if at <= self.most => Ok(index),
            _ => Err(BuildError(format!(
                "too large: more than {} names, members or bytes of text",
                self.most
            ))),
        }
    }
}

fn no_shape(what: &str, shape: ShapeRef) -> BuildError {
    BuildError(format!("{what}: there is no shape number {}", shape.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_by_every_source() {
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "smithy.api#String");
        let wide = builder.shape(ShapeKind::Structure, "example#Wide");
        let names: Vec<String> = (0..300)
            .map(|index| format!("someLongCommonPrefix{index}Suffix"))
            .collect();
        for (index, name) in names.iter().enumerate() {
            let mut member = MemberSpec::new(name.clone(), string);
            if index % 3 == 0 {
                member = member
                    .json_name(&format!("j{index}"))
                    .xml_name(&format!("x:{index}"));
            }
            builder.member(wide, member);
        }
        let set = builder.finish().unwrap();
        let wide = set.shape(wide.index());
        for member in wide.members() {
            for source in [
                NameSource::Member,
                NameSource::Json,
                NameSource::Xml,
                NameSource::Query,
                NameSource::Ec2,
            ] {
                let name = member.plain(source);
                assert_eq!(
                    wide.find(source, name.as_bytes()),
                    Some(member.ordinal()),
                    "{name}"
                );
            }
        }
        for absent in ["", "j1", "someLongCommonPrefix300Suffix", "some"] {
            assert_eq!(wide.find(NameSource::Member, absent.as_bytes()), None);
        }
    }

    /// The most names that a look-up compares, by name and for names that the
    /// shape does not have.
    fn most_compared(names: &[String], absent: impl Iterator<Item = String>) -> (u32, u32) {
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "smithy.api#String");
        let shape = builder.shape(ShapeKind::Structure, "example#Shape");
        for name in names {
            builder.member(shape, MemberSpec::new(name.clone(), string));
        }
        let set = builder.finish().unwrap();
        let shape = set.shape(shape.index());
        let compared = |(ordinal, name): (usize, &String)| {
            let (found, compared) = shape.search(NameSource::Member, name.as_bytes());
            assert_eq!(found, Some(ordinal as u32), "{name}");
            compared
        };
        let present = names.iter().enumerate().map(compared).max();
        let absent = absent.map(|name| {
            let (found, compared) = shape.search(NameSource::Member, name.as_bytes());
            assert_eq!(found, None, "{name}");
            compared
        });
        (present.unwrap(), absent.max().unwrap())
    }

    #[test]
    fn names_that_differ_in_the_middle_are_told_apart() {
        let name = |index: u32| format!("configuration{index:06}Parameters");
        let names: Vec<String> = (0..5000).map(name).collect();
        let (present, absent) = most_compared(&names, (5000..10_000).map(name));
        assert!(present <= 16 && absent <= 16, "{present} {absent}");
    }

    #[test]
    fn usual_names_are_compared_a_few_times() {
        let name = |index: u32| format!("member{index}");
        let names: Vec<String> = (0..200).map(name).collect();
        let (present, absent) = most_compared(&names, (200..400).map(name));
        assert!(present <= 8 && absent <= 16, "{present} {absent}");
    }

    #[test]
    fn runs_are_what_stands_on_the_wire() {
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "smithy.api#String");
        let shape = builder.shape(ShapeKind::Structure, "example#Shape");
        builder.member(shape, MemberSpec::new("plain", string));
        builder.member(
            shape,
            MemberSpec::new("kind", string)
                .flag(MemberFlags::XML_ATTRIBUTE)
                .xml_name("xsi:type"),
        );
        let spec = MemberSpec::new("cityId", string)
            .json_name("a\"b")
            .xml_namespace(Some("p"), "http://example.com/?a&b");
        builder.member(shape, spec);
        let set = builder.finish().unwrap();
        let shape = set.shape(shape.index());
        let run = |ordinal, encoding| {
            String::from_utf8(shape.member(ordinal).run(encoding).as_bytes().to_vec()).unwrap()
        };
        // The attribute has moved to the front.
        assert_eq!(shape.member(0).name(), "kind");
        assert_eq!(run(0, Encoding::XmlOpen), " xsi:type=\"");
        assert_eq!(run(2, Encoding::JsonMember), "\"cityId\":");
        assert_eq!(run(2, Encoding::JsonName), "\"a\\\"b\":");
        assert_eq!(run(2, Encoding::Cbor), "\u{66}cityId");
        assert_eq!(
            run(2, Encoding::XmlRpc),
            "<member><name>cityId</name><value>"
        );
        assert_eq!(
            run(2, Encoding::XmlOpen),
            "<cityId xmlns:p=\"http://example.com/?a&amp;b\">"
        );
        assert_eq!(run(2, Encoding::XmlClose), "</cityId>");
        assert_eq!(run(2, Encoding::Ec2), "CityId");
    }

    #[test]
    fn lists_and_maps_are_checked() {
        let mut builder = SchemaBuilder::new();
        builder.shape(ShapeKind::List, "example#List");
        assert_eq!(
            builder.finish().unwrap_err().to_string(),
            "example#List: a List cannot have 0 members"
        );
    }

    /// A builder with a structure of one member, whose name is of this length.
    fn named(len: usize) -> SchemaBuilder {
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "smithy.api#String");
        let shape = builder.shape(ShapeKind::Structure, "example#Shape");
        builder.member(shape, MemberSpec::new("n".repeat(len), string));
        builder
    }

    #[test]
    fn a_name_fits_its_cbor_head() {
        let set = named(65_535).finish().unwrap();
        let run = set.shape(1).member(0).run(Encoding::Cbor).as_bytes();
        assert_eq!(&run[..4], b"\x79\xff\xffn");
        assert_eq!(run.len(), 3 + 65_535);

        let error = named(65_536).finish().unwrap_err().to_string();
        assert!(error.starts_with("example#Shape: the name `nnn"), "{error}");
        assert!(error.len() < 200, "{error}");
        // The name of any wire counts.
        let mut builder = named(1);
        builder.root(ShapeRef(1)).json_name = Some("j".repeat(65_536));
        assert!(builder.finish().is_err());
    }

    #[test]
    fn arrays_end_where_spans_do() {
        let assemble = |most| {
            let assembly = Assembly {
                most,
                ..Assembly::default()
            };
            assembly.assemble(named(100))
        };
        let set = assemble(usize::MAX).unwrap();
        let most = set.text.len().max(set.code.len());
        assert!(assemble(most).is_ok());
        let error = assemble(most - 1).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "too large: more than {} names, members or bytes of text",
                most - 1
            )
        );
    }

    #[test]
    fn shapes_of_another_builder_are_refused() {
        let mut other = named(1);
        for _ in 0..5 {
            other.shape(ShapeKind::Structure, "example#Other");
        }
        let stray = ShapeRef(6);
        let check = |wrong: &dyn Fn(&mut SchemaBuilder), expected: &str| {
            let mut builder = named(1);
            wrong(&mut builder);
            let error = builder.finish().unwrap_err().to_string();
            assert_eq!(error, expected);
        };
        let elsewhere = "a shape of another builder: number 6, of 2";
        check(
            &|builder| builder.member(stray, MemberSpec::new("a", ShapeRef(0))),
            elsewhere,
        );
        check(&|builder| builder.root(stray).xml_name = None, elsewhere);
        check(
            &|builder| builder.error(stray, 400, true, None, None),
            elsewhere,
        );
        check(
            &|builder| builder.member(ShapeRef(1), MemberSpec::new("a", stray)),
            "example#Shape$a: there is no shape number 6",
        );
        check(
            &|builder| {
                builder.operation(OperationSpec::new("example#Do", ShapeRef(1), stray));
            },
            "example#Do: there is no shape number 6",
        );
        check(
            &|builder| {
                let mut spec = OperationSpec::new("example#Do", ShapeRef(1), ShapeRef(1));
                spec.errors = vec![stray];
                builder.operation(spec);
            },
            "example#Do: there is no shape number 6",
        );
        check(
            &|builder| {
                builder.service(ServiceSpec {
                    id: "example#Service".to_owned(),
                    operations: vec![0],
                    ..ServiceSpec::default()
                });
            },
            "example#Service: there is no operation number 0",
        );
    }
}
