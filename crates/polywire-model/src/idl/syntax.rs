//! The syntax tree of a file, with unresolved names.

use crate::node::Number;
use crate::shape::ShapeType;
use crate::source::SourceLocation;

/// A parsed file, without the parts that have errors.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// Whether the file is written in Smithy 1.0.
    pub(super) is_version_1: bool,
    pub(super) input_suffix: Option<String>,
    pub(super) output_suffix: Option<String>,
    pub(super) metadata: Vec<(Name, Value)>,
    /// Absent after a reported error.
    pub(super) namespace: Option<Name>,
    pub(super) uses: Vec<Name>,
    pub(super) statements: Vec<Statement>,
}

/// An identifier or shape id, absolute or not.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) location: SourceLocation,
}

#[derive(Debug)]
pub(super) enum Statement {
    Apply(Apply),
    Shape(Definition),
}

#[derive(Debug)]
pub(super) struct Apply {
    pub(super) target: Name,
    pub(super) traits: Vec<TraitUse>,
}

#[derive(Debug)]
pub(super) struct Definition {
    pub(super) traits: Vec<TraitUse>,
    pub(super) shape_type: ShapeType,
    pub(super) name: Name,
    pub(super) for_resource: Option<Name>,
    pub(super) mixins: Vec<Name>,
    pub(super) members: Vec<MemberDefinition>,
    pub(super) body: BodyDefinition,
}

#[derive(Debug)]
pub(super) enum BodyDefinition {
    None,
    /// The properties of a service or resource.
    Object(Vec<(Name, Value)>),
    Operation {
        input: Option<InputOutput>,
        output: Option<InputOutput>,
        errors: Vec<Name>,
    },
}

#[derive(Debug)]
pub(super) enum InputOutput {
    /// `:=` with a structure whose name is derived from that of the operation.
    Inline(Box<Definition>),
    Target(Name),
}

#[derive(Debug)]
pub(super) struct MemberDefinition {
    pub(super) traits: Vec<TraitUse>,
    pub(super) name: Name,
    /// Absent if the member is elided or belongs to an enum.
    pub(super) target: Option<Name>,
    pub(super) elided: bool,
    pub(super) value: Option<Value>,
}

#[derive(Debug)]
pub(super) struct TraitUse {
    pub(super) name: Name,
    /// Absent for an annotation such as `@required` or `@required()`.
    pub(super) value: Option<Value>,
    pub(super) location: SourceLocation,
}

#[derive(Debug)]
pub(super) struct Value {
    pub(super) kind: ValueKind,
    pub(super) location: SourceLocation,
}

#[derive(Debug)]
pub(super) enum ValueKind {
    Array(Vec<Value>),
    Bool(bool),
    Null,
    Number(Number),
    Object(Vec<(Name, Value)>),
    /// An identifier without quotes.
    ShapeId(String),
    String(String),
}
