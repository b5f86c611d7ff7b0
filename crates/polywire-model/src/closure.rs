//! What a service reaches.

use std::collections::{BTreeMap, HashMap, HashSet};

use polywire_schema::ShapeId;

use crate::model::Model;
use crate::shape::{Shape, ShapeRef};

/// The closure of a service: its operations and resources, and the shapes of
/// the data that they carry.
///
/// # Examples
///
/// ```
/// use polywire_model::Loader;
///
/// let text = r#"
///     $version: "2"
///     namespace example
///     service Store { version: "1", resources: [Book], rename: { "other#Page": "OtherPage" } }
///     resource Book { identifiers: { id: String }, read: GetBook }
///     @readonly
///     operation GetBook { input := for Book { @required $id }, output := { page: other#Page } }
/// "#;
/// let other = "$version: \"2\"\nnamespace other\nstructure Page { text: String }\n";
/// let mut loader = Loader::new();
/// loader.add_text("store.smithy", text).add_text("other.smithy", other);
/// let model = loader.assemble().unwrap().model;
///
/// let closure = model.closure("example#Store").unwrap();
/// assert_eq!(closure.operations()[0].id(), &"example#GetBook");
/// let page = model.get("other#Page").unwrap();
/// assert_eq!(closure.name(page.id()), "OtherPage");
/// ```
#[derive(Clone, Debug)]
pub struct Closure<'m> {
    service: &'m Shape,
    operations: Vec<&'m Shape>,
    resources: Vec<&'m Shape>,
    shapes: BTreeMap<&'m ShapeId, &'m Shape>,
    names: HashMap<&'m ShapeId, &'m str>,
    model: &'m Model,
}

impl<'m> Closure<'m> {
    /// Walks from a service; `None` when the shape is none.
    pub(crate) fn of(model: &'m Model, service: &'m Shape) -> Option<Self> {
        let names = service.as_service()?.rename().iter();
        let mut closure = Self {
            service,
            operations: Vec::new(),
            resources: Vec::new(),
            shapes: BTreeMap::new(),
            names: names.map(|(id, name)| (id.id(), name.as_str())).collect(),
            model,
        };
        for shape in model.reach(service) {
            if shape.as_operation().is_some() {
                closure.operations.push(shape);
            } else if shape.as_resource().is_some() {
                closure.resources.push(shape);
            } else if shape.as_service().is_none() {
                closure.shapes.insert(shape.id(), shape);
            }
        }
        Some(closure)
    }

    /// The model that it is of.
    pub(crate) fn model(&self) -> &'m Model {
        self.model
    }

    /// The closure with those operations only that `keep` says yes to, with the
    /// shapes that they and the service's errors reach. There are no resources
    /// in it.
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::Loader;
    ///
    /// let text = r#"
    ///     $version: "2"
    ///     namespace example
    ///     service Store { version: "1", operations: [Get, Put] }
    ///     operation Get { output := { text: String } }
    ///     operation Put { input := { count: Integer } }
    /// "#;
    /// let model = Loader::new().add_text("store.smithy", text).assemble()?.model;
    /// let closure = model.closure("example#Store").unwrap();
    /// let closure = closure.with_operations(|operation| operation.id().name() == "Get");
    /// let ids: Vec<&str> = closure.shapes().map(|shape| shape.id().as_str()).collect();
    /// assert_eq!(ids, ["example#GetOutput", "smithy.api#String", "smithy.api#Unit"]);
    /// # Ok::<(), polywire_model::ModelError>(())
    /// ```
    #[must_use]
    pub fn with_operations(&self, mut keep: impl FnMut(&'m Shape) -> bool) -> Self {
        let mut closure = Self {
            service: self.service,
            operations: Vec::new(),
            resources: Vec::new(),
            shapes: BTreeMap::new(),
            names: self.names.clone(),
            model: self.model,
        };
        let kept = self.operations.iter().copied();
        closure.operations = kept.filter(|operation| keep(operation)).collect();
        let errors = self.common_errors();
        for from in closure.operations.iter().chain(&errors) {
            for shape in self.model.reach(from) {
                if shape.as_operation().is_none() {
                    closure.shapes.insert(shape.id(), shape);
                }
            }
        }
        closure
    }

    /// The service itself.
    #[must_use]
    pub fn service(&self) -> &'m Shape {
        self.service
    }

    /// All operations, also those of resources, in the order of the source.
    #[must_use]
    pub fn operations(&self) -> &[&'m Shape] {
        &self.operations
    }

    /// All resources, in the order of the source.
    #[must_use]
    pub fn resources(&self) -> &[&'m Shape] {
        &self.resources
    }

    /// The shapes of the data, sorted by id; bundled ones such as
    /// `smithy.api#String` are among them.
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = &'m Shape> {
        self.shapes.values().copied()
    }

    /// Whether the service reaches a shape of data.
    #[must_use]
    pub fn contains(&self, id: &ShapeId) -> bool {
        self.shapes.contains_key(id)
    }

    /// The name that a shape has within this service, after its `rename`.
    #[must_use]
    pub fn name<'i>(&self, id: &'i ShapeId) -> &'i str
    where
        'm: 'i,
    {
        self.names.get(id).copied().unwrap_or_else(|| id.name())
    }

    /// The operation of a name.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<&'m Shape> {
        self.operations
            .iter()
            .copied()
            .find(|operation| self.name(operation.id()) == name)
    }

    /// The errors that an operation can give: its own, then the service's.
    ///
    /// Each call goes through the errors of the service. For all operations of a
    /// model that isn't trusted, ask for [`own_errors`](Self::own_errors) of each
    /// and once for the [`common_errors`](Self::common_errors): what they say
    /// together grows with the model, not with its square.
    #[must_use]
    pub fn errors(&self, operation: &'m Shape) -> Vec<&'m Shape> {
        let own = operation.as_operation().map_or(&[][..], |o| o.errors());
        let common = self.service.as_service().map_or(&[][..], |s| s.errors());
        self.distinct(own.iter().chain(common))
    }

    /// The errors that the operation itself names, each once.
    #[must_use]
    pub fn own_errors(&self, operation: &'m Shape) -> Vec<&'m Shape> {
        let own = operation.as_operation().map_or(&[][..], |o| o.errors());
        self.distinct(own.iter())
    }

    /// The errors that the service names, each once: every operation can give them.
    #[must_use]
    pub fn common_errors(&self) -> Vec<&'m Shape> {
        let common = self.service.as_service().map_or(&[][..], |s| s.errors());
        self.distinct(common.iter())
    }

    fn distinct(&self, references: impl Iterator<Item = &'m ShapeRef>) -> Vec<&'m Shape> {
        let mut seen: HashSet<&ShapeId> = HashSet::new();
        references
            .filter(|reference| seen.insert(reference.id()))
            .filter_map(|reference| self.model.get(reference))
            .collect()
    }
}
