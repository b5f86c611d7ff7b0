//! The plan of the generated module: its types, their names, and the Rust types of their members.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use polywire_model::{Closure, Member, Model, Shape, ShapeId, ShapeType, Traits, UNIT};
use polywire_schema::SchemaSet;

use crate::defaults;
use crate::names::{Scope, camel, plain_snake, snake};
use crate::pagination::{self, Pages};
use crate::protocols::Protocol;
use crate::recursion::boxed_members;
use crate::settings::{Maps, Settings, Strings};

/// The input of the writers in `write`.
pub(crate) struct Plan<'m> {
    pub(crate) settings: &'m Settings,
    pub(crate) closure: Closure<'m>,
    /// The packed schemas.
    pub(crate) schemas: Vec<u8>,
    /// The protocols of the generated client.
    pub(crate) protocols: Vec<&'static Protocol>,
    /// The formats with specialized codecs: variants of `Format`.
    pub(crate) formats: BTreeSet<&'static str>,
    pub(crate) structures: Vec<Structure<'m>>,
    pub(crate) unions: Vec<Union<'m>>,
    pub(crate) enums: Vec<Enum<'m>>,
    pub(crate) operations: Vec<Operation<'m>>,
    /// The Rust names of shapes.
    pub(crate) names: BTreeMap<&'m ShapeId, String>,
    types: Types<'m>,
}

/// A structure, or the empty input or output of an operation without one.
pub(crate) struct Structure<'m> {
    pub(crate) id: &'m ShapeId,
    pub(crate) name: String,
    pub(crate) builder: String,
    pub(crate) traits: Option<&'m Traits>,
    /// Sorted by ordinal.
    pub(crate) fields: Vec<Field<'m>>,
    pub(crate) has_lifetime: bool,
}

/// A member of a structure.
pub(crate) struct Field<'m> {
    pub(crate) member: &'m Member,
    pub(crate) name: String,
    /// The name without raw prefix, for use in longer names.
    pub(crate) plain: String,
    pub(crate) ordinal: u32,
    /// The type, without `Option`.
    pub(crate) ty: String,
    pub(crate) presence: Presence,
    /// The type of the setter's argument if it differs from `ty`: `impl Into<...>`.
    pub(crate) into: Option<String>,
    pub(crate) is_collection: bool,
    pub(crate) is_sensitive: bool,
    /// Estimated size in bytes.
    pub(crate) size: usize,
}

impl Field<'_> {
    /// Whether this is a string, with any setting of [`Strings`].
    pub(crate) fn is_text(&self) -> bool {
        ["schema::Text", "String", "std::borrow::Cow<'a, str>"].contains(&self.ty.as_str())
    }

    /// Whether this is a flattened XML map stored as a `Vec`. Its entries may be interleaved with
    /// other members, so duplicate keys are detected only after all members were read.
    pub(crate) fn is_flattened_map(&self) -> bool {
        let flattened = "smithy.api#xmlFlattened";
        self.ty.starts_with("Vec<(") && self.member.traits().get(flattened).is_some()
    }
}

/// Whether a member is always present.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Presence {
    /// Always present.
    Required,
    /// Always present. If absent in the message, it gets this default (an expression).
    Default(String),
    /// `Option`.
    Optional,
    /// Required by the server, but an `Option` in Rust because clients may omit it:
    /// `@clientOptional`, `@input` and idempotency tokens.
    ClientOptional,
    /// Has a default (an expression), but is an `Option` in Rust because clients may omit it.
    /// Decoders that apply defaults set it.
    ClientOptionalDefault(String),
}

impl Presence {
    /// Whether the member is a stream of events, which is not written with the other members.
    pub(crate) fn is_event_stream(&self) -> bool {
        matches!(self, Self::Default(default) if default == EMPTY_STREAM)
    }

    pub(crate) fn is_option(&self) -> bool {
        matches!(
            self,
            Self::Optional | Self::ClientOptional | Self::ClientOptionalDefault(_)
        )
    }
}

pub(crate) struct Union<'m> {
    pub(crate) shape: &'m Shape,
    pub(crate) name: String,
    pub(crate) unknown: String,
    pub(crate) variants: Vec<UnionVariant<'m>>,
    pub(crate) has_lifetime: bool,
}

pub(crate) struct UnionVariant<'m> {
    pub(crate) member: &'m Member,
    pub(crate) name: String,
    pub(crate) plain: String,
    pub(crate) ordinal: u32,
    /// `None` if the variant has no data.
    pub(crate) ty: Option<String>,
    pub(crate) is_sensitive: bool,
    pub(crate) is_copy: bool,
}

pub(crate) struct Enum<'m> {
    pub(crate) shape: &'m Shape,
    pub(crate) name: String,
    pub(crate) unknown: String,
    pub(crate) variants: Vec<EnumVariant<'m>>,
}

pub(crate) struct EnumVariant<'m> {
    pub(crate) member: &'m Member,
    pub(crate) name: String,
    pub(crate) value: Literal,
}

pub(crate) enum Literal {
    Text(String),
    Number(i64),
}

pub(crate) struct Operation<'m> {
    pub(crate) shape: &'m Shape,
    /// The index of the operation in the schema set.
    pub(crate) index: u32,
    /// The name in `CamelCase`.
    pub(crate) name: String,
    /// The name in `snake_case`.
    pub(crate) method: String,
    pub(crate) error: String,
    /// The index of the input in [`Plan::structures`], and that of the output.
    pub(crate) input: usize,
    pub(crate) output: usize,
    /// The indices of the errors in [`Plan::structures`], and their variants.
    pub(crate) errors: Vec<(usize, String)>,
    pub(crate) pages: Option<Pages>,
}

impl Operation<'_> {
    /// Returns the name of the marker type. It must differ from `Formats` in the same module.
    pub(crate) fn marker(&self) -> &str {
        match self.name.as_str() {
            "Formats" => "FormatsOperation",
            name => name,
        }
    }
}

/// Maps shapes to Rust types.
pub(crate) struct Types<'m> {
    model: &'m Model,
    names: BTreeMap<&'m ShapeId, String>,
    /// The shapes whose types have a lifetime.
    borrowing: BTreeSet<&'m ShapeId>,
    strings: Strings,
    maps: Maps,
}

/// Names that generated code uses from the standard library, sorted.
const RESERVED: &[&str] = &[
    "AsRef",
    "Box",
    "Clone",
    "Debug",
    "Default",
    "Eq",
    "Err",
    "From",
    "Hash",
    "Into",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "Vec",
];

impl<'m> Plan<'m> {
    pub(crate) fn new(
        settings: &'m Settings,
        model: &'m Model,
        closure: Closure<'m>,
        schemas: Vec<u8>,
        set: &SchemaSet<'static>,
        protocols: Vec<&'static Protocol>,
    ) -> Self {
        let mut scope = Scope::with(RESERVED);
        let mut names = BTreeMap::new();
        for shape in closure.shapes() {
            let is_type = matches!(
                shape.shape_type(),
                ShapeType::Structure | ShapeType::Union | ShapeType::Enum | ShapeType::IntEnum
            );
            if is_type && *shape.id() != UNIT {
                let name = camel(closure.name(shape.id()));
                let other = format!("{name}Shape");
                names.insert(shape.id(), scope.claim(&[name, other]));
            }
        }
        let mut types = Types {
            model,
            names: names.clone(),
            borrowing: BTreeSet::new(),
            strings: settings.strings,
            maps: settings.maps,
        };
        if settings.strings == Strings::Borrowed {
            types.find_borrowing(&closure);
        }
        let boxed = boxed_members(model, &closure);
        let mut plan = Self {
            settings,
            closure,
            schemas,
            formats: formats(&protocols),
            protocols,
            structures: Vec::new(),
            unions: Vec::new(),
            enums: Vec::new(),
            operations: Vec::new(),
            names,
            types,
        };
        plan.fill(&mut scope, &boxed, set);
        plan.paginate(model);
        plan
    }

    fn fill(&mut self, scope: &mut Scope, boxed: &BTreeSet<&'m ShapeId>, set: &SchemaSet<'static>) {
        let schemas: HashMap<&str, _> = set.shapes().map(|schema| (schema.id(), schema)).collect();
        let mut indices: BTreeMap<&ShapeId, usize> = BTreeMap::new();
        let shapes: Vec<&'m Shape> = self.closure.shapes().collect();
        for shape in shapes {
            let Some(name) = self.names.get(shape.id()).cloned() else {
                continue;
            };
            // Use the order of the schema, which has XML attributes first.
            let ordered: Vec<(u32, &'m Member)> = match schemas.get(shape.id().as_str()) {
                Some(schema) => schema
                    .members()
                    .filter_map(|at| Some((at.ordinal(), shape.member(at.name())?)))
                    .collect(),
                None => Vec::new(),
            };
            match shape.shape_type() {
                ShapeType::Structure => {
                    indices.insert(shape.id(), self.structures.len());
                    let structure = self.structure(shape, name, &ordered, scope, boxed);
                    self.structures.push(structure);
                }
                ShapeType::Union => {
                    let union = self.union(shape, name, &ordered, boxed);
                    self.unions.push(union);
                }
                _ => self.enums.push(enumeration(shape, name)),
            }
        }
        for operation in set.services().flat_map(|service| service.operations()) {
            let found = self.closure.operations().iter().copied();
            let Some(shape) = found
                .into_iter()
                .find(|shape| shape.id().as_str() == operation.id())
            else {
                continue;
            };
            let planned = self.operation(shape, operation.index(), &indices, scope);
            self.operations.extend(planned);
        }
    }

    fn paginate(&mut self, model: &Model) {
        let pages: Vec<Option<Pages>> = self
            .operations
            .iter()
            .map(|operation| {
                let input = &self.structures[operation.input];
                let output = &self.structures[operation.output];
                pagination::pages(self, model, operation.shape, input, output)
            })
            .collect();
        for (operation, pages) in self.operations.iter_mut().zip(pages) {
            operation.pages = pages;
        }
    }

    /// Whether a client or a server is generated.
    pub(crate) fn has_operations(&self) -> bool {
        self.settings.client || self.settings.server
    }

    fn structure(
        &self,
        shape: &'m Shape,
        name: String,
        members: &[(u32, &'m Member)],
        scope: &mut Scope,
        boxed: &BTreeSet<&ShapeId>,
    ) -> Structure<'m> {
        let builder = scope.claim(&[format!("{name}Builder")]);
        let mut field_names = Scope::default();
        let is_input = shape.traits().is_input();
        let mut fields = Vec::new();
        for (ordinal, member) in members {
            let Some(target) = self.types.model.target(member) else {
                continue;
            };
            let field_name = field_names.claim(&[snake(member.name())]);
            let is_boxed = boxed.contains(member.id());
            let ty = match is_event_stream(target) {
                false => self.types.of(target, is_boxed),
                true => format!("schema::EventStream<{}>", self.types.of(target, false)),
            };
            fields.push(Field {
                member,
                plain: plain_snake(&field_name),
                name: field_name,
                ordinal: *ordinal,
                presence: self.presence(member, target, is_input, is_boxed),
                into: self.types.setter_type(target, is_boxed),
                is_collection: is_collection(target),
                is_sensitive: self.types.is_sensitive(member, target),
                size: self.types.size(target, is_boxed),
                ty,
            });
        }
        Structure {
            id: shape.id(),
            name,
            builder,
            traits: Some(shape.traits()),
            fields,
            has_lifetime: self.types.borrowing.contains(shape.id()),
        }
    }

    fn presence(
        &self,
        member: &Member,
        target: &Shape,
        is_input: bool,
        is_boxed: bool,
    ) -> Presence {
        if is_event_stream(target) {
            return Presence::Default(EMPTY_STREAM.to_owned());
        }
        let traits = member.traits();
        let is_client_optional = traits.is_client_optional();
        let default = traits.default_value().filter(|value| !value.is_null());
        if let Some(default) = default {
            let expression = defaults::expression(&self.types, target, default);
            let expression = match (is_boxed, expression) {
                (true, Some(expression)) => Some(format!("Box::new({expression})")),
                (_, expression) => expression,
            };
            return match expression {
                Some(expression) if is_client_optional || is_input => {
                    Presence::ClientOptionalDefault(expression)
                }
                Some(expression) => Presence::Default(expression),
                None => Presence::Optional,
            };
        }
        // Clients generate a missing idempotency token.
        let is_for_clients = is_client_optional || traits.is_idempotency_token();
        match (traits.is_required(), is_for_clients) {
            (true, false) => Presence::Required,
            (true, true) => Presence::ClientOptional,
            (false, _) => Presence::Optional,
        }
    }

    fn union(
        &self,
        shape: &'m Shape,
        name: String,
        members: &[(u32, &'m Member)],
        boxed: &BTreeSet<&ShapeId>,
    ) -> Union<'m> {
        let mut scope = Scope::with(&["Self"]);
        let mut methods = Scope::default();
        let mut variants = Vec::new();
        for (ordinal, member) in members {
            let Some(target) = self.types.model.target(member) else {
                continue;
            };
            let is_boxed = boxed.contains(member.id());
            let ty = (*target.id() != UNIT).then(|| self.types.of(target, is_boxed));
            variants.push(UnionVariant {
                member,
                name: scope.claim(&[camel(member.name())]),
                plain: methods.claim(&[plain_snake(member.name())]),
                ordinal: *ordinal,
                ty,
                is_sensitive: self.types.is_sensitive(member, target),
                is_copy: is_copy(target),
            });
        }
        Union {
            shape,
            name,
            unknown: unknown(&mut scope),
            variants,
            has_lifetime: self.types.borrowing.contains(shape.id()),
        }
    }

    fn operation(
        &mut self,
        shape: &'m Shape,
        index: u32,
        indices: &BTreeMap<&ShapeId, usize>,
        scope: &mut Scope,
    ) -> Option<Operation<'m>> {
        let own_name = self.closure.name(shape.id());
        let name = camel(own_name);
        let operation = shape.as_operation()?;
        let input = self.data(operation.input().id(), &name, "Input", indices, scope);
        let output = self.data(operation.output().id(), &name, "Output", indices, scope);
        let mut variants = Scope::with(&["Self", "Other"]);
        let errors = self
            .closure
            .errors(shape)
            .into_iter()
            .filter_map(|error| {
                let index = *indices.get(error.id())?;
                let variant = self.structures[index].name.clone();
                Some((index, variants.claim(&[variant])))
            })
            .collect();
        Some(Operation {
            shape,
            index,
            error: scope.claim(&[format!("{name}Error"), format!("{name}OperationError")]),
            method: snake(own_name),
            name,
            input: input?,
            output: output?,
            errors,
            pages: None,
        })
    }

    /// Returns the index of an input or output structure. An operation without one gets an empty
    /// structure, so that adding members to the model later does not break programs.
    fn data(
        &mut self,
        id: &'m ShapeId,
        operation: &str,
        suffix: &str,
        indices: &BTreeMap<&ShapeId, usize>,
        scope: &mut Scope,
    ) -> Option<usize> {
        if *id != UNIT {
            return indices.get(id).copied();
        }
        let name = scope.claim(&[format!("{operation}{suffix}")]);
        let builder = scope.claim(&[format!("{name}Builder")]);
        self.structures.push(Structure {
            id,
            name,
            builder,
            traits: None,
            fields: Vec::new(),
            has_lifetime: false,
        });
        Some(self.structures.len() - 1)
    }
}

/// The formats of all protocols.
fn formats(protocols: &[&Protocol]) -> BTreeSet<&'static str> {
    let formats = protocols.iter().flat_map(|protocol| protocol.formats);
    formats.copied().collect()
}

impl Structure<'_> {
    pub(crate) fn is_error(&self) -> bool {
        self.traits.is_some_and(|traits| traits.error().is_some())
    }

    pub(crate) fn is_sensitive(&self) -> bool {
        self.traits.is_some_and(Traits::is_sensitive)
    }

    /// Returns the type with a lifetime, if it needs one.
    pub(crate) fn ty(&self, lifetime: &str) -> String {
        with_lifetime(&self.name, self.has_lifetime, lifetime)
    }

    pub(crate) fn builder_ty(&self, lifetime: &str) -> String {
        with_lifetime(&self.builder, self.has_lifetime, lifetime)
    }

    /// Estimates the size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.fields.iter().map(|field| field.size).sum()
    }
}

pub(crate) fn with_lifetime(name: &str, has_lifetime: bool, lifetime: &str) -> String {
    if has_lifetime {
        format!("{name}<{lifetime}>")
    } else {
        name.to_owned()
    }
}

fn enumeration(shape: &Shape, name: String) -> Enum<'_> {
    let mut scope = Scope::with(&["Self"]);
    let mut next = 0;
    let variants = shape
        .members()
        .iter()
        .map(|member| {
            let value = member.traits().enum_value();
            let value = if shape.shape_type() == ShapeType::IntEnum {
                let number = value.and_then(|value| value.as_i64()).unwrap_or(next);
                next = number + 1;
                Literal::Number(number)
            } else {
                let text = value.and_then(|value| value.as_str());
                Literal::Text(text.unwrap_or(member.name()).to_owned())
            };
            EnumVariant {
                member,
                name: scope.claim(&[camel(member.name())]),
                value,
            }
        })
        .collect();
    Enum {
        shape,
        name,
        unknown: unknown(&mut scope),
        variants,
    }
}

/// Returns the name of the variant for values that are not in the model.
fn unknown(scope: &mut Scope) -> String {
    scope.claim(&["Unknown".to_owned(), "UnknownValue".to_owned()])
}

fn is_collection(shape: &Shape) -> bool {
    matches!(shape.shape_type(), ShapeType::List | ShapeType::Map)
}

fn is_copy(shape: &Shape) -> bool {
    matches!(
        shape.shape_type(),
        ShapeType::Boolean
            | ShapeType::Byte
            | ShapeType::Short
            | ShapeType::Integer
            | ShapeType::IntEnum
            | ShapeType::Long
            | ShapeType::Float
            | ShapeType::Double
            | ShapeType::Timestamp
    )
}

/// Returns whether a shape is a union with `@streaming`.
pub(crate) fn is_event_stream(shape: &Shape) -> bool {
    shape.shape_type() == ShapeType::Union && shape.traits().is_streaming()
}

/// The default of a stream of events.
pub(crate) const EMPTY_STREAM: &str = "schema::EventStream::default()";

impl<'m> Types<'m> {
    pub(crate) fn name(&self, id: &ShapeId) -> &str {
        self.names.get(id).map_or("", String::as_str)
    }

    /// Returns the Rust type of a shape.
    pub(crate) fn of(&self, shape: &'m Shape, is_boxed: bool) -> String {
        let ty = match shape.shape_type() {
            ShapeType::BigDecimal => "schema::BigDecimal".to_owned(),
            ShapeType::BigInteger => "schema::BigInteger".to_owned(),
            ShapeType::Blob if shape.traits().is_streaming() => "schema::ByteStream".to_owned(),
            ShapeType::Blob => "schema::Blob".to_owned(),
            ShapeType::Boolean => "bool".to_owned(),
            ShapeType::Byte => "i8".to_owned(),
            ShapeType::Document => "schema::Value".to_owned(),
            ShapeType::Double => "f64".to_owned(),
            ShapeType::Float => "f32".to_owned(),
            ShapeType::Integer => "i32".to_owned(),
            ShapeType::Long => "i64".to_owned(),
            ShapeType::Short => "i16".to_owned(),
            ShapeType::String => self.string().to_owned(),
            ShapeType::Timestamp => "schema::Timestamp".to_owned(),
            ShapeType::List => format!("Vec<{}>", self.element(shape, "member")),
            ShapeType::Map => {
                let key = shape.member("key");
                let key = key.and_then(|key| self.model.target(key));
                let key = match key {
                    Some(key) if key.shape_type() == ShapeType::Enum => {
                        self.name(key.id()).to_owned()
                    }
                    _ if self.strings == Strings::String => "String".to_owned(),
                    _ => "schema::Text".to_owned(),
                };
                let value = self.element(shape, "value");
                match self.maps {
                    Maps::BTree => format!("std::collections::BTreeMap<{key}, {value}>"),
                    Maps::Hash => format!("std::collections::HashMap<{key}, {value}>"),
                    Maps::Vector => format!("Vec<({key}, {value})>"),
                }
            }
            _ if *shape.id() == UNIT => "()".to_owned(),
            _ => with_lifetime(
                self.name(shape.id()),
                self.borrowing.contains(shape.id()),
                "'a",
            ),
        };
        if is_boxed { format!("Box<{ty}>") } else { ty }
    }

    fn element(&self, shape: &'m Shape, name: &str) -> String {
        let target = shape
            .member(name)
            .and_then(|member| self.model.target(member));
        let ty = target.map_or_else(String::new, |target| self.of(target, false));
        if shape.traits().is_sparse() {
            format!("Option<{ty}>")
        } else {
            ty
        }
    }

    fn string(&self) -> &'static str {
        match self.strings {
            Strings::Text => "schema::Text",
            Strings::String => "String",
            Strings::Borrowed => "std::borrow::Cow<'a, str>",
        }
    }

    /// Returns the type of a setter's argument if it differs from the field type.
    fn setter_type(&self, shape: &'m Shape, is_boxed: bool) -> Option<String> {
        let converts = matches!(
            shape.shape_type(),
            ShapeType::Blob | ShapeType::Document | ShapeType::String
        );
        (converts || is_boxed).then(|| format!("impl Into<{}>", self.of(shape, is_boxed)))
    }

    /// Whether `Debug` must hide a member: it or its target is sensitive. Structures hide their own
    /// members.
    fn is_sensitive(&self, member: &Member, target: &'m Shape) -> bool {
        let mut sensitive = member.traits().is_sensitive();
        let mut shape = Some(target);
        for _ in 0..8 {
            let Some(current) = shape else { break };
            sensitive |= current.traits().is_sensitive();
            let element = ["member", "value"].iter().find_map(|name| {
                is_collection(current)
                    .then(|| current.member(name))
                    .flatten()
            });
            shape = element.and_then(|element| self.model.target(element));
        }
        sensitive
    }

    fn size(&self, shape: &'m Shape, is_boxed: bool) -> usize {
        match shape.shape_type() {
            _ if is_boxed => 8,
            ShapeType::Boolean | ShapeType::Byte => 2,
            ShapeType::Short => 4,
            ShapeType::Integer | ShapeType::IntEnum | ShapeType::Float => 8,
            ShapeType::Long | ShapeType::Double | ShapeType::Timestamp => 16,
            ShapeType::Document => 32,
            ShapeType::Blob if shape.traits().is_streaming() => 32,
            ShapeType::Structure | ShapeType::Union => shape
                .members()
                .iter()
                .filter_map(|member| self.model.target(member))
                .map(|target| match target.shape_type() {
                    ShapeType::Structure | ShapeType::Union => 200,
                    _ => self.size(target, false),
                })
                .sum(),
            _ => 24,
        }
    }

    /// Finds the shapes that contain strings, directly or indirectly.
    fn find_borrowing(&mut self, closure: &Closure<'m>) {
        let mut holders: BTreeMap<&ShapeId, Vec<&'m ShapeId>> = BTreeMap::new();
        let mut pending = Vec::new();
        for shape in closure.shapes() {
            for member in shape.members() {
                let is_key = shape.shape_type() == ShapeType::Map && member.name() == "key";
                let Some(target) = self.model.target(member).filter(|_| !is_key) else {
                    continue;
                };
                holders.entry(target.id()).or_default().push(shape.id());
                if target.shape_type() == ShapeType::String {
                    pending.push(shape.id());
                }
            }
        }
        while let Some(id) = pending.pop() {
            if self.borrowing.insert(id) {
                pending.extend(holders.get(id).into_iter().flatten());
            }
        }
    }
}
