//! [`SchemaBuilder`]: builds a [`SchemaSet`].
//!
//! The model and generated code both use this builder, so that names are encoded and members are
//! sorted in one place.

mod assembly;
mod specs;
#[cfg(test)]
mod tests;

use std::fmt;

use assembly::Assembly;
pub use specs::{MemberSpec, OperationSpec, ServiceSpec, ShapeRef};

use crate::{SchemaSet, ShapeKind};

/// The error of [`SchemaBuilder::finish`] and [`SchemaBuilder::from_compact`].
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

/// Builds a [`SchemaSet`].
///
/// A shape can be referenced before its members are added, so shapes can be recursive.
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
    /// The first reference to a shape that this builder does not have, and a dummy for its root.
    /// `finish` reports the reference.
    pub(crate) invalid_ref: Option<Box<(ShapeRef, MemberSpec)>>,
}

/// The arguments of [`SchemaBuilder::error`].
pub(crate) type ErrorSpec = (u16, bool, Option<bool>, Option<(String, u16)>);

#[derive(Debug)]
pub(crate) struct ShapeSpec {
    pub(crate) id: String,
    pub(crate) kind: ShapeKind,
    pub(crate) members: Vec<MemberSpec>,
    /// The root member, with the traits of the shape.
    pub(crate) root: MemberSpec,
    pub(crate) error: Option<ErrorSpec>,
}

impl SchemaBuilder {
    /// Creates a builder of an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a shape without members and returns a reference to it. `id` is the absolute shape id.
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

    /// Adds a member to a shape. The element of a list and the key and value of a map are also
    /// members.
    ///
    /// If this builder does not have the shape, [`finish`](Self::finish) returns an error. The same
    /// is true for [`root`](Self::root) and [`error`](Self::error).
    pub fn member(&mut self, shape: ShapeRef, member: MemberSpec) {
        match self.shapes.get_mut(shape.0 as usize) {
            Some(spec) => spec.members.push(member),
            None => {
                self.invalid_ref(shape);
            }
        }
    }

    /// Returns the root member of a shape, which has the traits of the shape. The XML name and
    /// namespace apply at the top of a message. Members that target the shape inherit the timestamp
    /// format, media type and constraints, and the flags `SPARSE`, `STREAMING` and `SENSITIVE`.
    pub fn root(&mut self, shape: ShapeRef) -> &mut MemberSpec {
        if self.shapes.len() <= shape.0 as usize {
            return self.invalid_ref(shape);
        }
        &mut self.shapes[shape.0 as usize].root
    }

    /// Marks a structure as an error.
    ///
    /// - `status`: the HTTP status code
    /// - `client`: whether the client is at fault (`@error("client")`)
    /// - `retryable`: `Some` if the error has `@retryable`, with the value of `throttling`
    /// - `query`: code and HTTP status of `@awsQueryError`
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
                self.invalid_ref(shape);
            }
        }
    }

    /// Records an invalid reference, if it is the first, and returns a dummy root member.
    #[cold]
    fn invalid_ref(&mut self, shape: ShapeRef) -> &mut MemberSpec {
        let entry = || Box::new((shape, MemberSpec::new("", shape)));
        &mut self.invalid_ref.get_or_insert_with(entry).1
    }

    /// Adds an operation and returns its index.
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
    /// Returns an error if:
    ///
    /// - a list does not have exactly one member, a map does not have exactly two, or a shape has
    ///   more than 65,534;
    /// - a default is not a valid value of the target shape, or a bound of a range is not a number;
    /// - a name has more than 65,535 bytes, or the length of an array or of all texts together does
    ///   not fit 32 bits;
    /// - a shape or operation does not exist. References are indices, so a reference from another
    ///   builder is an error only if its index is out of bounds.
    pub fn finish(self) -> Result<SchemaSet<'static>, BuildError> {
        Assembly::new(u32::MAX as usize).assemble(self)
    }
}
