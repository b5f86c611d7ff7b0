//! A model to JSON AST, always the same text for the same model: shapes, traits
//! and metadata sorted, members in their order. Operations, resources and errors
//! are sets to Smithy: they are sorted, and stand once.

mod definitions;
mod shapes;
mod version_1;

use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::node::{Node, Object};
use crate::shape::Shape;

use self::version_1::Downgrade;

/// What to write.
///
/// # Examples
///
/// ```
/// use polywire_model::{Loader, ast};
///
/// let text = "$version: \"2\"\nnamespace a\nenum Color { RED }\n";
/// let model = Loader::new().add_text("a.smithy", text).assemble().unwrap().model;
/// let written = ast::write_with(&model, &ast::Options::new().version_1());
/// assert!(written.losses.is_empty());
/// assert_eq!(
///     written.document.to_json(),
///     r#"{"smithy":"1.0","shapes":{"a#Color":{"type":"string","traits":{"smithy.api#enum":[{"value":"RED","name":"RED"}]}}}}"#,
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    is_version_1: bool,
    with_definitions: bool,
}

impl Options {
    /// Version 2.0, and only what the files of the model define.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Version 1.0, for readers that know no other. Mixins are flattened, enums
    /// become strings and integers, and what 1.0 can't say is left out:
    /// [`Written::losses`] lists it.
    #[must_use]
    pub fn version_1(mut self) -> Self {
        self.is_version_1 = true;
        self
    }

    /// With the definitions that come with this crate, as far as the model uses
    /// them: its traits, what those are made of, and so on. Then the document
    /// needs nothing but Smithy's prelude, which every reader has.
    #[must_use]
    pub fn with_definitions(mut self) -> Self {
        self.with_definitions = true;
        self
    }
}

/// A model that was written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Written {
    /// The JSON AST.
    pub document: Node,
    /// What the model says and the document does not, with the code
    /// `VersionLoss`: warnings where meaning is lost, notes where only the form
    /// is. A few hundred at most, and none for version 2.0.
    pub losses: Vec<Diagnostic>,
}

/// The AST of a model, without the prelude and the other bundled definitions.
///
/// Mixins stand as their authors wrote them: a shape holds what it adds, and a
/// trait on an inherited member is an `apply` entry beside the shape.
///
/// # Examples
///
/// ```
/// use polywire_model::{Loader, ast};
///
/// let text = "$version: \"2\"\nnamespace a\nlist Names { member: String }\n";
/// let model = Loader::new().add_text("a.smithy", text).assemble().unwrap().model;
/// assert_eq!(
///     ast::write(&model).to_json(),
///     r#"{"smithy":"2.0","shapes":{"a#Names":{"type":"list","member":{"target":"smithy.api#String"}}}}"#,
/// );
/// ```
#[must_use]
pub fn write(model: &Model) -> Node {
    write_with(model, &Options::new()).document
}

/// The AST of a model in a version of choice, with or without the bundled
/// definitions that it uses: see [`Options`].
#[must_use]
pub fn write_with(model: &Model, options: &Options) -> Written {
    let mut all: Vec<&Shape> = model.shapes().collect();
    if options.with_definitions {
        all.extend(definitions::used(model));
        all.sort_by(|left, right| left.id().cmp(right.id()));
    }
    let mut downgrade = Downgrade::new(model);
    let mut shapes = Object::new();
    for shape in all {
        if options.is_version_1 {
            downgrade.push_shape(&mut shapes, shape);
        } else {
            shapes::push_shape(&mut shapes, shape);
        }
    }
    let mut root = Object::new();
    root.push("smithy", if options.is_version_1 { "1.0" } else { "2.0" });
    if !model.metadata().is_empty() {
        let mut metadata = model.metadata().clone();
        metadata.sort_by_key();
        root.push("metadata", metadata);
    }
    root.push("shapes", shapes);
    Written {
        document: root.into(),
        losses: downgrade.into_problems().into_diagnostics(model.sources()),
    }
}
