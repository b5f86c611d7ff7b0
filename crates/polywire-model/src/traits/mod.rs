//! Traits. Every trait can be read by its id. The traits that protocols need have typed views.
//!
//! Views are created on demand. They are `None` if the value is malformed: validation reports such
//! values, so code that reads an assembled model needs no error handling for them.

mod views;

use std::sync::Arc;

use polywire_schema::ShapeId;

use crate::node::Node;
use crate::source::SourceLocation;

pub use views::{
    AwsQueryError, AwsService, Deprecated, ErrorKind, Example, HttpChecksum, HttpTrait,
    LengthTrait, Paginated, RangeTrait, Retryable, TimestampFormat, XmlNamespace, XmlRpcMethod,
};

/// The traits on a shape or member, in the order in which they were applied.
///
/// # Examples
///
/// ```
/// use polywire_model::{Loader, Node};
///
/// let text = r#"
///     $version: "2"
///     namespace example
///     @readonly
///     @http(method: "GET", uri: "/cities/{name}?v=2")
///     operation GetCity { input := { @required @httpLabel name: String } }
/// "#;
/// let model = Loader::new().add_text("example.smithy", text).assemble().unwrap().model;
/// let traits = model.get("example#GetCity").unwrap().traits();
/// let http = traits.http().unwrap();
/// assert_eq!((http.method, http.code), ("GET", 200));
/// assert_eq!(http.uri.labels().collect::<Vec<_>>(), ["name"]);
/// assert!(traits.has("smithy.api#readonly"));
/// assert_eq!(traits.get("smithy.api#http").unwrap().get("method").and_then(Node::as_str), Some("GET"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Traits {
    entries: Vec<AppliedTrait>,
}

/// A trait on a shape or member, with its value.
#[derive(Clone, Debug)]
pub struct AppliedTrait {
    pub(crate) id: ShapeId,
    /// Shared with inherited traits, because a value can be long, and a mixin can have thousands of
    /// users.
    pub(crate) value: Arc<Node>,
    pub(crate) location: SourceLocation,
    pub(crate) inherited: bool,
}

impl AppliedTrait {
    /// A trait that was not inherited.
    pub(crate) fn new(id: ShapeId, value: Node, location: SourceLocation) -> Self {
        Self {
            id,
            value: Arc::new(value),
            location,
            inherited: false,
        }
    }

    /// The id of the trait's definition.
    #[must_use]
    pub fn id(&self) -> &ShapeId {
        &self.id
    }

    /// The value. An empty object for an annotation such as `@required`.
    #[must_use]
    pub fn value(&self) -> &Node {
        &self.value
    }

    /// The location where the trait was applied.
    #[must_use]
    pub fn location(&self) -> SourceLocation {
        self.location
    }

    /// Whether the trait was inherited from a mixin.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        self.inherited
    }
}

impl Traits {
    /// The value of a trait, by the absolute id of its definition.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Node> {
        self.find(id).map(AppliedTrait::value)
    }

    /// Whether there is a trait with this id.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// The trait with its location and origin.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&AppliedTrait> {
        self.entries.iter().find(|applied| applied.id == *id)
    }

    /// All traits, in the order in which they were applied.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &AppliedTrait> {
        self.entries.iter()
    }

    /// The number of traits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn push(&mut self, applied: AppliedTrait) {
        self.entries.push(applied);
    }

    pub(crate) fn append(&mut self, mut more: Self) {
        self.entries.append(&mut more.entries);
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut AppliedTrait> {
        self.entries.iter_mut()
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut AppliedTrait> {
        self.entries.iter_mut().find(|applied| applied.id == *id)
    }

    pub(crate) fn forget_mixins(&mut self) {
        self.iter_mut()
            .for_each(|applied| applied.inherited = false);
    }

    pub(crate) fn into_entries(self) -> Vec<AppliedTrait> {
        self.entries
    }
}

impl PartialEq for Traits {
    /// The same traits with equal values, in any order.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .all(|applied| other.get(&applied.id) == Some(applied.value()))
    }
}
