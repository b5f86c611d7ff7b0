//! The closure of a service.

use std::collections::{BTreeMap, HashMap, HashSet};

use polywire_schema::ShapeId;

use crate::model::Model;
use crate::shape::{Shape, ShapeRef};

/// The closure of a service: its operations and resources, and the shapes of their data.
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
    /// Finds everything that a service reaches. `None` if the shape is not a service.
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

    /// The model of the service.
    pub(crate) fn model(&self) -> &'m Model {
        self.model
    }

    /// The closure with only the operations for which `keep` returns `true`, and with the shapes
    /// that they and the errors of the service reach. It has no resources.
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

    /// All operations, including those of resources, in the order of the source.
    #[must_use]
    pub fn operations(&self) -> &[&'m Shape] {
        &self.operations
    }

    /// All resources, in the order of the source.
    #[must_use]
    pub fn resources(&self) -> &[&'m Shape] {
        &self.resources
    }

    /// The data shapes, sorted by id. They include bundled shapes such as `smithy.api#String`.
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = &'m Shape> {
        self.shapes.values().copied()
    }

    /// Whether the service reaches a data shape.
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

    /// The operation with a name.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<&'m Shape> {
        self.operations
            .iter()
            .copied()
            .find(|operation| self.name(operation.id()) == name)
    }

    /// The errors that an operation can return: its own, then those of the service.
    ///
    /// Each call iterates over the errors of the service. For all operations of an untrusted model,
    /// use [`own_errors`](Self::own_errors) of each and [`common_errors`](Self::common_errors)
    /// once: their total size is linear in the model, not quadratic.
    #[must_use]
    pub fn errors(&self, operation: &'m Shape) -> Vec<&'m Shape> {
        let own = operation.as_operation().map_or(&[][..], |o| o.errors());
        let common = self.service.as_service().map_or(&[][..], |s| s.errors());
        self.distinct(own.iter().chain(common))
    }

    /// The errors of the operation itself, without duplicates.
    #[must_use]
    pub fn own_errors(&self, operation: &'m Shape) -> Vec<&'m Shape> {
        let own = operation.as_operation().map_or(&[][..], |o| o.errors());
        self.distinct(own.iter())
    }

    /// The errors of the service, without duplicates. Every operation can return them.
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
