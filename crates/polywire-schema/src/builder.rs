//! `SchemaBuilder`: how a set is made.
//!
//! The model and the code generator both build through here, so that names are
//! encoded and members ordered in one place.

use std::borrow::Cow;
use std::fmt;

use polywire_text::scan::{Name, RUN_PADDING};

use crate::names::{NameParts, hash};
use crate::{
    Encoding, ErrorDef, Location, MemberDef, MemberFlags, NameSource, OperationDef, OperationFlags,
    SchemaSet, ServiceDef, ShapeDef, ShapeKind, Span, TimestampFormat,
};

/// The index that a shape will have in its set.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ShapeRef(u32);

impl ShapeRef {
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
    /// The default value as JSON.
    pub default_json: Option<String>,
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
    /// The errors.
    pub errors: Vec<ShapeRef>,
    /// Method, URI pattern and status code of `@http`.
    pub http: Option<(String, String, u16)>,
    /// The host prefix of `@endpoint`.
    pub host_prefix: String,
    /// The method of XML-RPC, if it is not the operation's name.
    pub xmlrpc_method: Option<String>,
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
}

/// Why a set could not be built.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BuildError(String);

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
    shapes: Vec<ShapeSpec>,
    operations: Vec<OperationSpec>,
    services: Vec<ServiceSpec>,
}

#[derive(Debug)]
struct ShapeSpec {
    id: String,
    kind: ShapeKind,
    members: Vec<MemberSpec>,
    /// The traits of the shape itself, as its root member has them.
    root: MemberSpec,
    error: Option<(u16, bool, Option<bool>, Option<String>)>,
}

/// Shapes with up to this many members are searched in order.
const LINEAR: usize = 4;

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
    pub fn member(&mut self, shape: ShapeRef, member: MemberSpec) {
        self.shapes[shape.0 as usize].members.push(member);
    }

    /// The traits of a shape itself: XML name and namespace at the top of a
    /// message, timestamp format and media type for members that target it,
    /// sparse and streaming.
    pub fn root(&mut self, shape: ShapeRef) -> &mut MemberSpec {
        &mut self.shapes[shape.0 as usize].root
    }

    /// Makes a structure an error: its status code, whether the sender is to
    /// blame, `@retryable` (and whether it is throttling), and
    /// `@awsQueryError`'s code.
    pub fn error(
        &mut self,
        shape: ShapeRef,
        status: u16,
        client: bool,
        retryable: Option<bool>,
        query_code: Option<String>,
    ) {
        self.shapes[shape.0 as usize].error = Some((status, client, retryable, query_code));
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
    /// A list without exactly one member, a map without exactly two, or more
    /// than 65,534 members of one shape.
    pub fn finish(self) -> Result<SchemaSet<'static>, BuildError> {
        Assembly::default().assemble(self)
    }
}

/// The arrays of a set while they grow.
#[derive(Default)]
struct Assembly {
    text: String,
    code: Vec<u8>,
    shapes: Vec<ShapeDef>,
    members: Vec<MemberDef>,
    errors: Vec<ErrorDef>,
    lists: Vec<u32>,
    buckets: Vec<u16>,
    plain: [Vec<Span>; NameSource::COUNT],
    names: [Vec<Name>; Encoding::COUNT],
}

impl Assembly {
    fn assemble(mut self, builder: SchemaBuilder) -> Result<SchemaSet<'static>, BuildError> {
        let SchemaBuilder {
            shapes,
            operations,
            services,
        } = builder;
        // What members take from their targets.
        let targets: Vec<(ShapeKind, MemberSpec)> = shapes
            .iter()
            .map(|shape| (shape.kind, shape.root.clone()))
            .collect();
        for (index, shape) in shapes.into_iter().enumerate() {
            self.shape(index as u32, shape, &targets)?;
        }
        let operations = operations.iter().map(|spec| self.operation(spec)).collect();
        let services = services.iter().map(|spec| self.service(spec)).collect();
        self.code.extend_from_slice(&[0; RUN_PADDING]);
        Ok(SchemaSet {
            shapes: Cow::Owned(self.shapes),
            members: Cow::Owned(self.members),
            operations: Cow::Owned(operations),
            services: Cow::Owned(services),
            errors: Cow::Owned(self.errors),
            lists: Cow::Owned(self.lists),
            plain: self.plain.map(Cow::Owned),
            names: self.names.map(Cow::Owned),
            buckets: Cow::Owned(self.buckets),
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

        let first_member = self.members.len() as u32;
        for (ordinal, member) in members.iter().enumerate() {
            self.member(index, ordinal as u32, member, targets);
        }
        let root_index = self.members.len() as u32;
        self.member(index, u32::MAX, &root, targets);
        let (lookup, lookup_bits) = self.lookup(first_member as usize, members.len());
        if let Some((status, client, retryable, query_code)) = error {
            let query_code = self.intern(query_code.as_deref().unwrap_or_default());
            self.errors.push(ErrorDef {
                status,
                client,
                retryable,
                query_code,
            });
        }
        let has_error = self.shapes.iter().filter(|shape| shape.error != 0).count();
        let error = if self.errors.len() > has_error {
            self.errors.len() as u32
        } else {
            0
        };
        let id = self.intern(&id);
        self.shapes.push(ShapeDef {
            id,
            kind,
            root: root_index,
            first_member,
            member_count: members.len() as u32,
            lookup,
            lookup_bits,
            error,
        });
        Ok(())
    }

    fn member(
        &mut self,
        container: u32,
        ordinal: u32,
        spec: &MemberSpec,
        targets: &[(ShapeKind, MemberSpec)],
    ) {
        let (kind, target) = &targets[spec.target.0 as usize];
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
        if spec.default_json.is_some() {
            flags = flags.with(MemberFlags::DEFAULT);
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
            timestamp_format: spec.timestamp_format.or(target.timestamp_format),
            flags,
            ordinal,
            location_name: self.intern(&spec.location_name),
            media_type: self.intern(media_type),
            default: self.intern(spec.default_json.as_deref().unwrap_or_default()),
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
            let span = self.intern(&parts.plain(source));
            self.plain[source as usize].push(span);
        }
        for encoding in Encoding::ALL {
            let mut run = Vec::new();
            parts.push(&mut run, encoding);
            let name = Name::short(&run).unwrap_or_else(|| {
                let start = self.code.len() as u32;
                self.code.extend_from_slice(&run);
                Name::long(start, run.len() as u32)
            });
            self.names[encoding as usize].push(name);
        }
    }

    /// Builds the look-up tables of a shape; sources that spell all names
    /// alike share one.
    fn lookup(&mut self, first: usize, count: usize) -> ([u32; NameSource::COUNT], u8) {
        if count <= LINEAR {
            return ([0; NameSource::COUNT], 0);
        }
        let size = (count * 2).next_power_of_two();
        let bits = size.trailing_zeros() as u8;
        let mut tables = [0_u32; NameSource::COUNT];
        for source in 0..NameSource::COUNT {
            let names = |source: usize| &self.plain[source][first..first + count];
            let text =
                |span: &Span| &self.text[span.start as usize..(span.start + span.len) as usize];
            let same = |other: &usize| {
                names(*other)
                    .iter()
                    .map(text)
                    .eq(names(source).iter().map(text))
            };
            if let Some(other) = (0..source).find(same) {
                tables[source] = tables[other];
                continue;
            }
            let mut buckets = vec![0_u16; size];
            for (ordinal, span) in names(source).iter().enumerate() {
                let mut at = (hash(text(span).as_bytes()) >> (64 - u32::from(bits))) as usize;
                while buckets[at] != 0 {
                    at = (at + 1) & (size - 1);
                }
                buckets[at] = ordinal as u16 + 1;
            }
            tables[source] = self.buckets.len() as u32;
            self.buckets.extend_from_slice(&buckets);
        }
        (tables, bits)
    }

    fn operation(&mut self, spec: &OperationSpec) -> OperationDef {
        let (method, uri, code) = match &spec.http {
            Some((method, uri, code)) => (method.as_str(), uri.as_str(), *code),
            None => ("", "", 200),
        };
        let name = spec.id.rsplit('#').next().unwrap_or_default();
        let errors: Vec<u32> = spec.errors.iter().map(|error| error.0).collect();
        OperationDef {
            id: self.intern(&spec.id),
            input: spec.input.0,
            output: spec.output.0,
            errors: self.list(&errors),
            http_method: self.intern(method),
            http_uri: self.intern(uri),
            http_code: code,
            host_prefix: self.intern(&spec.host_prefix),
            xmlrpc_method: self.intern(spec.xmlrpc_method.as_deref().unwrap_or(name)),
            flags: if spec.http.is_some() {
                spec.flags.with(OperationFlags::HTTP)
            } else {
                spec.flags
            },
        }
    }

    fn service(&mut self, spec: &ServiceSpec) -> ServiceDef {
        ServiceDef {
            id: self.intern(&spec.id),
            version: self.intern(&spec.version),
            operations: self.list(&spec.operations),
            protocols: self.intern(&spec.protocols.join(" ")),
        }
    }

    fn list(&mut self, indices: &[u32]) -> Span {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(indices);
        Span {
            start,
            len: indices.len() as u32,
        }
    }

    fn intern(&mut self, text: &str) -> Span {
        if text.is_empty() {
            return Span::default();
        }
        let start = self.text.len() as u32;
        self.text.push_str(text);
        Span {
            start,
            len: text.len() as u32,
        }
    }
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
            "<cityId xmlns:p=\"http://example.com/?a&amp;b\""
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
}
