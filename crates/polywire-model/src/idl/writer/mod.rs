//! Writes a model as IDL 2.0. Smithy's own formatter leaves the layout unchanged.
//!
//! The same model gives the same text, from whatever files it was read. The order is: services,
//! resources, operations with their input and output, errors, then data shapes by kind and name. So
//! an added shape does not move others. Members, traits and the operations of a service keep the
//! order of the model.
//!
//! ```text
//! plan:   which shapes, in which order, which of them inline (`input := {}`)
//! names:  which ids get a `use` statement; found by writing the shapes once and
//!         looking at what they name
//! write:  shapes -> members -> traits -> values -> text
//! ```

mod names;
mod plan;
mod services;
mod shapes;
mod text;
mod traits;
mod value_shape;
mod values;

use std::collections::{BTreeMap, HashMap};

use polywire_schema::ShapeId;

use crate::model::Model;
use crate::node::Node;
use crate::shape::{Member, Shape};
use crate::traits::AppliedTrait;

use self::names::Names;
use self::plan::{Plan, References};
use self::shapes::Fields;
use self::value_shape::ValueShape;
use self::values::ValueContext;

/// A file of IDL.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct IdlFile {
    /// The namespace of its shapes. `None` for a file that has only metadata.
    pub namespace: Option<String>,
    /// A name for the file: `example.weather.smithy`, or `metadata.smithy`.
    pub name: String,
    /// The contents.
    pub text: String,
}

/// What to write, and how.
///
/// # Examples
///
/// ```
/// use polywire_model::idl::Options;
///
/// let options = Options::new().namespaces(["example.weather"]).width(100);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    namespaces: Option<Vec<String>>,
    width: usize,
}

impl Options {
    /// Every namespace, in lines of 120 characters.
    #[must_use]
    pub fn new() -> Self {
        Self {
            namespaces: None,
            // The width of Smithy's formatter, so that it does not change the files.
            width: 120,
        }
    }

    /// Only the shapes of some namespaces. Metadata belongs to no namespace and is always written.
    #[must_use]
    pub fn namespaces<S: Into<String>>(mut self, namespaces: impl IntoIterator<Item = S>) -> Self {
        self.namespaces = Some(namespaces.into_iter().map(Into::into).collect());
        self
    }

    /// The maximum width of a line, in characters. Arrays, objects and values of traits are broken
    /// into several lines. Strings and names are not.
    #[must_use]
    pub fn width(mut self, width: usize) -> Self {
        self.width = width;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// The IDL of a model, without the prelude and the other bundled definitions: one file for each
/// namespace.
///
/// With one namespace, metadata is in its file. With several, metadata has a file of its own, so
/// that it does not move when a namespace is added. Loaded together, the files give the same
/// model, except for source locations.
///
/// IDL can express everything that a model can contain.
///
/// # Examples
///
/// ```
/// use polywire_model::{Loader, idl};
///
/// let text = r#"{
///     "smithy": "2.0",
///     "shapes": {
///         "example#City": {
///             "type": "structure",
///             "members": {
///                 "name": {
///                     "target": "smithy.api#String",
///                     "traits": { "smithy.api#required": {} }
///                 }
///             },
///             "traits": { "smithy.api#documentation": "A place with people." }
///         }
///     }
/// }"#;
/// let model = Loader::new().add_text("city.json", text).assemble().unwrap().model;
/// let files = idl::write(&model);
/// assert_eq!(files[0].name, "example.smithy");
/// assert_eq!(files[0].text, r#"$version: "2.0"
///
/// namespace example
///
/// /// A place with people.
/// structure City {
///     @required
///     name: String
/// }
/// "#);
/// ```
#[must_use]
pub fn write(model: &Model) -> Vec<IdlFile> {
    write_with(model, &Options::new())
}

/// The IDL of a model or of a part of it: see [`write()`].
///
/// # Examples
///
/// ```
/// use polywire_model::{Loader, idl};
///
/// let mut loader = Loader::new();
/// loader.add_text("a.smithy", "$version: \"2\"\nnamespace a\nstructure A { b: b#B }\n");
/// loader.add_text("b.smithy", "$version: \"2\"\nnamespace b\nstring B\n");
/// let model = loader.assemble().unwrap().model;
/// let files = idl::write_with(&model, &idl::Options::new().namespaces(["a"]));
/// assert_eq!(files.len(), 1);
/// assert!(files[0].text.contains("use b#B"));
/// ```
#[must_use]
pub fn write_with(model: &Model, options: &Options) -> Vec<IdlFile> {
    let mut by_namespace: BTreeMap<&str, Vec<&Shape>> = BTreeMap::new();
    for shape in model.shapes() {
        let namespace = shape.id().namespace();
        let is_wanted = |namespaces: &Vec<String>| namespaces.iter().any(|n| n == namespace);
        if options.namespaces.as_ref().is_none_or(is_wanted) {
            by_namespace.entry(namespace).or_default().push(shape);
        }
    }
    let references = References::of(model);
    let mut files = Vec::new();
    let has_metadata = !model.metadata().is_empty();
    let is_on_pool = by_namespace.len() != 1;
    if has_metadata && is_on_pool {
        let mut writer = Writer::new(model, "", Plan::default(), options.width);
        writer.out.push_str("$version: \"2.0\"\n");
        writer.metadata();
        files.push(IdlFile {
            namespace: None,
            name: "metadata.smithy".to_owned(),
            text: writer.out,
        });
    }
    for (namespace, shapes) in by_namespace {
        let plan = Plan::of(&shapes, model, &references);
        let mut writer = Writer::new(model, namespace, plan, options.width);
        writer.file(has_metadata && !is_on_pool);
        files.push(IdlFile {
            namespace: Some(namespace.to_owned()),
            name: format!("{namespace}.smithy"),
            text: writer.out,
        });
    }
    files
}

struct Writer<'m> {
    model: &'m Model,
    namespace: &'m str,
    plan: Plan<'m>,
    names: Names<'m>,
    width: usize,
    out: String,
    /// `apply` statements to write after the current shape.
    applies: Vec<(&'m Member, Vec<&'m AppliedTrait>)>,
    /// The targets of identifiers and properties, of the resources that were indexed so far.
    resource_fields: HashMap<&'m ShapeId, Fields<'m>>,
}

impl<'m> Writer<'m> {
    fn new(model: &'m Model, namespace: &'m str, plan: Plan<'m>, width: usize) -> Self {
        Self {
            model,
            namespace,
            plan,
            names: Names::new(model, namespace),
            width,
            out: String::new(),
            applies: Vec::new(),
            resource_fields: HashMap::new(),
        }
    }

    fn file(&mut self, has_metadata: bool) {
        self.shapes();
        self.names.choose();
        self.out.clear();
        self.out.push_str("$version: \"2.0\"\n");
        for (statement, suffix, default) in [
            ("operationInputSuffix", &self.plan.input_suffix, "Input"),
            ("operationOutputSuffix", &self.plan.output_suffix, "Output"),
        ] {
            if suffix != default {
                self.out.push_str(&format!("${statement}: \"{suffix}\"\n"));
            }
        }
        if has_metadata {
            self.metadata();
        }
        self.out.push_str("\nnamespace ");
        self.out.push_str(self.namespace);
        self.out.push('\n');
        for (at, id) in self.names.uses().into_iter().enumerate() {
            self.out.push_str(if at == 0 { "\nuse " } else { "use " });
            self.out.push_str(id);
            self.out.push('\n');
        }
        self.shapes();
    }

    /// Statements of one line are adjacent, longer ones are separated by empty lines.
    fn metadata(&mut self) {
        let mut metadata: Vec<(&str, &Node)> = self.model.metadata().iter().collect();
        metadata.sort_by_key(|(key, _)| *key);
        let mut after_long = true;
        for (key, value) in metadata {
            let start = self.out.len();
            self.out.push_str("metadata ");
            self.key(key);
            self.out.push_str(" = ");
            self.value(value, 0, ValueContext::Alone, ValueShape::UNKNOWN);
            let is_long = self.out[start..].contains('\n');
            if is_long || after_long {
                self.out.insert(start, '\n');
            }
            after_long = is_long;
            self.out.push('\n');
        }
    }

    fn shapes(&mut self) {
        for shape in self.plan.shapes.clone() {
            self.out.push('\n');
            self.shape(shape);
            self.out.push('\n');
            for (member, traits) in std::mem::take(&mut self.applies) {
                self.out.push('\n');
                self.apply(member.id(), &traits);
                self.out.push('\n');
            }
        }
    }

    /// Begins a line, indented by four spaces for each level.
    fn line(&mut self, indent: usize) {
        self.out.push('\n');
        for _ in 0..indent {
            self.out.push_str("    ");
        }
    }

    /// The number of characters in the last line.
    fn column(&self) -> usize {
        let start = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.out[start..].chars().count()
    }
}
