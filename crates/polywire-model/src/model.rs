//! The assembled model: lookup, iteration and traversal.

use std::collections::{HashMap, HashSet};

use polywire_schema::ShapeId;

use crate::closure::Closure;
use crate::ids;
use crate::node::Object;
use crate::shape::{Lifecycle, Member, Shape, ShapeRef, ShapeType};
use crate::shape_table::ShapeTable;
use crate::source::Sources;
use crate::traits::{AppliedTrait, Paginated};
use crate::uses::Uses;

/// A Smithy model: every file joined, names resolved, mixins flattened, checked.
///
/// The bundled definitions, such as `smithy.api#String` and `aws.protocols#restJson1`, are found by
/// [`get`](Self::get), but [`shapes`](Self::shapes) does not include them, unless a file of the
/// model defines them itself.
///
/// # Examples
///
/// ```
/// use polywire_model::{Loader, ShapeType};
///
/// let text = r#"
///     $version: "2"
///     namespace example
///     service Weather { version: "1", operations: [GetCity] }
///     operation GetCity { output := { name: String } }
/// "#;
/// let model = Loader::new().add_text("weather.smithy", text).assemble().unwrap().model;
/// let ids: Vec<&str> = model.shapes().map(|shape| shape.id().as_str()).collect();
/// assert_eq!(ids, ["example#GetCity", "example#GetCityOutput", "example#Weather"]);
///
/// let output = model.get("example#GetCityOutput").unwrap();
/// let name = output.member("name").unwrap();
/// assert_eq!(model.target(name).unwrap().shape_type(), ShapeType::String);
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    /// Sorted by id.
    shapes: Vec<Shape>,
    /// The index of each shape in `shapes`.
    index: HashMap<ShapeId, u32>,
    metadata: Object,
    sources: Sources,
    bundled: &'static ShapeTable,
}

impl Model {
    /// `shapes` is sorted by id, without duplicates. `index` has the index of each.
    pub(crate) fn new(
        shapes: Vec<Shape>,
        index: HashMap<ShapeId, u32>,
        metadata: Object,
        sources: Sources,
        bundled: &'static ShapeTable,
    ) -> Self {
        Self {
            shapes,
            index,
            metadata,
            sources,
            bundled,
        }
    }

    /// The definitions that come with this crate.
    pub(crate) fn bundled(&self) -> &'static ShapeTable {
        self.bundled
    }

    /// The shape with an absolute id, including bundled definitions.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Shape> {
        self.defined(id).or_else(|| self.bundled.shape(id))
    }

    /// The shape with an absolute id, if a file of the model defines it.
    #[must_use]
    pub fn defined(&self, id: &str) -> Option<&Shape> {
        self.index.get(id).map(|&at| &self.shapes[at as usize])
    }

    /// Whether the id is that of a bundled definition that no file of the model defines.
    #[must_use]
    pub fn is_bundled(&self, id: &str) -> bool {
        !self.index.contains_key(id) && self.bundled.shape(id).is_some()
    }

    /// The member with an absolute id such as `example#City$name`.
    #[must_use]
    pub fn member(&self, id: &ShapeId) -> Option<&Member> {
        self.get(id.root_str())?.member(id.member()?)
    }

    /// The target of a member. It is always `Some` for members of this model.
    #[must_use]
    pub fn target(&self, member: &Member) -> Option<&Shape> {
        self.get(member.target())
    }

    /// The shapes that the files of the model define, sorted by id.
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = &Shape> {
        self.shapes.iter()
    }

    /// The index of a shape in [`shape_slice`](Self::shape_slice).
    pub(crate) fn place(&self, id: &str) -> Option<u32> {
        self.index.get(id).copied()
    }

    pub(crate) fn shape_slice(&self) -> &[Shape] {
        &self.shapes
    }

    /// The defined shapes of one type, sorted by id.
    pub fn shapes_of(&self, shape_type: ShapeType) -> impl Iterator<Item = &Shape> {
        self.shapes
            .iter()
            .filter(move |shape| shape.shape_type() == shape_type)
    }

    /// The services, sorted by id.
    pub fn services(&self) -> impl Iterator<Item = &Shape> {
        self.shapes_of(ShapeType::Service)
    }

    /// The number of shapes that the files of the model define.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether the files of the model define no shape.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// The metadata of all files.
    #[must_use]
    pub fn metadata(&self) -> &Object {
        &self.metadata
    }

    /// The files of the model, to which [`SourceLocation`](crate::SourceLocation)s refer.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Everything that a service reaches: operations, including those of resources, and the shapes
    /// of their data. `None` if there is no service with this id.
    #[must_use]
    pub fn closure(&self, service: &str) -> Option<Closure<'_>> {
        Closure::of(
            self,
            self.get(service)
                .filter(|shape| shape.as_service().is_some())?,
        )
    }

    /// How an operation paginates, with the defaults of its service.
    #[must_use]
    pub fn pagination<'m>(
        &'m self,
        service: Option<&'m Shape>,
        operation: &'m Shape,
    ) -> Option<Paginated<'m>> {
        let own = operation.traits().paginated()?;
        let base = service
            .and_then(|service| service.traits().paginated())
            .unwrap_or_default();
        Some(Paginated {
            input_token: own.input_token.or(base.input_token),
            output_token: own.output_token.or(base.output_token),
            items: own.items.or(base.items),
            page_size: own.page_size.or(base.page_size),
        })
    }

    /// The path in the output to the boolean that says whether more pages follow, if it is in the
    /// same structure as the output token. See [`is_more_results`](Self::is_more_results).
    #[must_use]
    pub fn more_results(&self, operation: &Shape, paginated: &Paginated<'_>) -> Option<String> {
        let token = paginated.output_token?;
        let (place, _) = token.rsplit_once('.').unwrap_or(("", token));
        let mut structure = self.output(operation)?;
        for name in place.split('.').filter(|name| !name.is_empty()) {
            structure = self.target(structure.member(name)?)?;
        }
        let mut members = structure.members().iter();
        let found = members.find(|member| self.is_more_results(member))?;
        Some(match place {
            "" => found.name().to_owned(),
            place => format!("{place}.{}", found.name()),
        })
    }

    /// Whether a member is a boolean that says whether more pages follow, by its name:
    /// `IsTruncated`, `Truncated`, `hasMoreResults`, `HasMoreStreams`. `@paginated` has no
    /// property for it. Of the 3,112 paginators of botocore 1.43.11, these names find 60 of
    /// the 62 such members (not `AdditionalRoutesAvailable` and `AdditionalDataPending`), and
    /// no other member.
    #[must_use]
    pub fn is_more_results(&self, member: &Member) -> bool {
        let is_boolean = |target: &Shape| target.shape_type() == ShapeType::Boolean;
        let name = member.name().to_ascii_lowercase();
        (name.ends_with("truncated") || name.starts_with("hasmore"))
            && self.target(member).is_some_and(is_boolean)
    }

    /// The protocols of a service: the ids of its traits whose definitions have
    /// `@protocolDefinition`, in the order of the source.
    pub fn protocols<'m>(&'m self, service: &'m Shape) -> impl Iterator<Item = &'m ShapeId> {
        service.traits().iter().map(AppliedTrait::id).filter(|id| {
            self.get(id)
                .is_some_and(|definition| definition.traits().has(ids::PROTOCOL_DEFINITION))
        })
    }

    /// The input structure of an operation, `smithy.api#Unit` if it has no input. `None` for other
    /// shapes.
    #[must_use]
    pub fn input(&self, operation: &Shape) -> Option<&Shape> {
        self.get(operation.as_operation()?.input())
    }

    /// The output structure of an operation, `smithy.api#Unit` if it has no output. `None` for
    /// other shapes.
    #[must_use]
    pub fn output(&self, operation: &Shape) -> Option<&Shape> {
        self.get(operation.as_operation()?.output())
    }

    /// The shape itself and every shape that it reaches in any number of steps, in the order of the
    /// source. Mixins and traits are not followed.
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::Loader;
    ///
    /// let text = r#"
    ///     $version: "2"
    ///     namespace example
    ///     list Tree { member: Node }
    ///     structure Node { name: String, children: Tree }
    /// "#;
    /// let model = Loader::new().add_text("example.smithy", text).assemble()?.model;
    /// let tree = model.get("example#Tree").unwrap();
    /// let reached: Vec<&str> = model.reach(tree).map(|shape| shape.id().name()).collect();
    /// assert_eq!(reached, ["Tree", "Node", "String"]);
    /// # Ok::<(), polywire_model::ModelError>(())
    /// ```
    pub fn reach<'m>(&'m self, from: &'m Shape) -> impl Iterator<Item = &'m Shape> {
        // An explicit stack, because the recursion would be as deep as the model.
        let mut seen: HashSet<&str> = HashSet::from([from.id().as_str()]);
        let mut todo = vec![from];
        std::iter::from_fn(move || {
            let shape = todo.pop()?;
            let first = todo.len();
            todo.extend(
                neighbors(shape)
                    .into_iter()
                    .filter(|(relation, _)| *relation != Relation::Mixin)
                    .filter_map(|(_, reference)| self.get(reference))
                    .filter(|shape| seen.insert(shape.id().as_str())),
            );
            // The first reference is popped first.
            todo[first..].reverse();
            Some(shape)
        })
    }

    /// The users of each shape: the inverse of [`neighbors`](Self::neighbors).
    #[must_use]
    pub fn uses(&self) -> Uses<'_> {
        Uses::in_model(self)
    }

    /// Every shape that a shape refers to, with its relation, in the order of the source. Without
    /// traits.
    #[must_use]
    pub fn neighbors<'m>(&self, shape: &'m Shape) -> Vec<(Relation, &'m ShapeRef)> {
        neighbors(shape)
    }
}

/// The relation of a shape to the one that refers to it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Relation {
    /// An operation on the collection of a resource.
    CollectionOperation,
    /// An error of an operation or service.
    Error,
    /// The value of an identifier of a resource.
    Identifier,
    /// The input of an operation.
    Input,
    /// A lifecycle operation of a resource.
    LifecycleOperation,
    /// The target of a member.
    MemberTarget,
    /// A mixin.
    Mixin,
    /// An operation of a service or resource.
    Operation,
    /// The output of an operation.
    Output,
    /// The value of a property of a resource.
    Property,
    /// A resource of a service or of another resource.
    Resource,
}

pub(crate) fn neighbors(shape: &Shape) -> Vec<(Relation, &ShapeRef)> {
    let mut found: Vec<(Relation, &ShapeRef)> = Vec::new();
    let mut all = |relation, references: &mut dyn Iterator<Item = _>| {
        found.extend(references.map(|reference| (relation, reference)));
    };
    all(Relation::Mixin, &mut shape.mixins().iter());
    all(
        Relation::MemberTarget,
        &mut shape.members().iter().map(Member::target),
    );
    if let Some(operation) = shape.as_operation() {
        all(Relation::Input, &mut std::iter::once(operation.input()));
        all(Relation::Output, &mut std::iter::once(operation.output()));
        all(Relation::Error, &mut operation.errors().iter());
    }
    if let Some(service) = shape.as_service() {
        all(Relation::Operation, &mut service.operations().iter());
        all(Relation::Resource, &mut service.resources().iter());
        all(Relation::Error, &mut service.errors().iter());
    }
    if let Some(resource) = shape.as_resource() {
        all(
            Relation::Identifier,
            &mut resource.identifiers().iter().map(|(_, target)| target),
        );
        all(
            Relation::Property,
            &mut resource.properties().iter().map(|(_, target)| target),
        );
        let lifecycle = Lifecycle::ALL
            .into_iter()
            .filter_map(|(_, l)| resource.lifecycle(l));
        all(Relation::LifecycleOperation, &mut lifecycle.into_iter());
        all(Relation::Operation, &mut resource.operations().iter());
        all(
            Relation::CollectionOperation,
            &mut resource.collection_operations().iter(),
        );
        all(Relation::Resource, &mut resource.resources().iter());
    }
    found
}
