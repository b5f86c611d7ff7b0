//! Writes a model as JSON AST. The same model always gives the same text: shapes, traits and
//! metadata are sorted, and members keep their order. Operations, resources and errors are sets in
//! Smithy: they are sorted, without duplicates.

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
    /// Version 2.0, with only the shapes that the files of the model define.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Version 1.0, for old readers. Mixins are flattened, enums become strings and integers, and
    /// what 1.0 cannot express is omitted: [`Output::losses`] lists it.
    #[must_use]
    pub fn version_1(mut self) -> Self {
        self.is_version_1 = true;
        self
    }

    /// With the bundled definitions that the model uses: its traits, and the shapes that these use.
    /// The document then depends only on the prelude of Smithy, which every reader has.
    #[must_use]
    pub fn with_definitions(mut self) -> Self {
        self.with_definitions = true;
        self
    }
}

/// A model as JSON AST.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Output {
    /// The JSON AST.
    pub document: Node,
    /// What the document cannot express, as findings with the code `VersionLoss`: warnings if
    /// meaning is lost, notes if only the form is lost. At most 1000, and none for version 2.0.
    pub losses: Vec<Diagnostic>,
}

/// The AST of a model, without the prelude and the other bundled definitions.
///
/// Mixins are kept: a shape has only what it adds, and a trait on an inherited member is an `apply`
/// entry.
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

/// The AST of a model with [`Options`]: the version, and whether to include bundled definitions.
#[must_use]
pub fn write_with(model: &Model, options: &Options) -> Output {
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
    Output {
        document: root.into(),
        losses: downgrade.into_problems().into_diagnostics(model.sources()),
    }
}
