//! `SchemaBuilder`: how a set is made.
//!
//! The model and the code generator both build through here, so that names are
//! encoded and members ordered in one place.

mod assembly;
mod specs;
#[cfg(test)]
mod tests;

use std::fmt;

use assembly::Assembly;
pub use specs::{MemberSpec, OperationSpec, ServiceSpec, ShapeRef};

use crate::{SchemaSet, ShapeKind};

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
