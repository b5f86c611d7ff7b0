//! Lowers syntax trees to fragments: names become absolute ids.
//!
//! `City` is resolved in this order:
//!
//! 1. the shape that a `use` statement of the file imports under this name;
//! 2. the shape of that name in the file's namespace, defined in any file;
//! 3. the shape of that name in the prelude, `smithy.api`;
//! 4. else the shape of that name in the file's namespace, which validation reports as unknown.

mod services;
mod shapes;
mod values;

use std::collections::{HashMap, HashSet};

use polywire_schema::ShapeId;

use super::syntax::{self, BodyDefinition, File, InputOutput, Name, Statement};
use crate::diagnostic::{Problem, Problems};
use crate::fragment::{Apply, Fragment};
use crate::ids;
use crate::node::Entry;
use crate::rules;
use crate::shape::ShapeRef;
use crate::shape_table::ShapeTable;
use crate::source::SourceLocation;

/// Lowers all IDL files of a model. `others` are the fragments of its AST files, whose shapes the
/// IDL can name. `bundled` is `None` while the bundled files themselves are read.
pub(crate) fn lower(
    files: Vec<File>,
    others: &[Fragment],
    bundled: Option<&ShapeTable>,
    problems: &mut Problems,
) -> Vec<Fragment> {
    let mut defined: HashSet<String> = HashSet::new();
    for shape in others.iter().flat_map(|fragment| &fragment.shapes) {
        defined.insert(shape.id.as_str().to_owned());
    }
    for file in &files {
        collect_names(file, &mut defined);
    }
    let namespaces = defined
        .iter()
        .filter_map(|id| Some(id.split_once('#')?.0.to_owned()))
        .collect();
    let names = Names {
        defined,
        namespaces,
        bundled,
    };
    files
        .into_iter()
        .map(|file| {
            let lowering = Lowering {
                names: &names,
                is_version_1: file.is_version_1,
                namespace: file
                    .namespace
                    .as_ref()
                    .map_or("", |name| &name.text)
                    .to_owned(),
                input_suffix: file
                    .input_suffix
                    .clone()
                    .unwrap_or_else(|| "Input".to_owned()),
                output_suffix: file
                    .output_suffix
                    .clone()
                    .unwrap_or_else(|| "Output".to_owned()),
                uses: HashMap::new(),
                resolved: HashMap::new(),
                problems: &mut *problems,
                fragment: Fragment::default(),
            };
            lowering.file(file)
        })
        .collect()
}

/// The shapes that all files of the model define.
struct Names<'a> {
    defined: HashSet<String>,
    /// The namespaces of `defined`.
    namespaces: HashSet<String>,
    bundled: Option<&'a ShapeTable>,
}

impl Names<'_> {
    fn contains(&self, id: &str) -> bool {
        self.defined.contains(id) || self.bundled.is_some_and(|b| b.shape(id).is_some())
    }

    fn has_namespace(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace)
            || self
                .bundled
                .is_some_and(|bundled| bundled.has_namespace(namespace))
    }
}

fn collect_names(file: &File, defined: &mut HashSet<String>) {
    let Some(namespace) = file.namespace.as_ref().map(|name| &name.text) else {
        return;
    };
    for statement in &file.statements {
        let Statement::Shape(definition) = statement else {
            continue;
        };
        let name = &definition.name.text;
        defined.insert(format!("{namespace}#{name}"));
        if let BodyDefinition::Operation { input, output, .. } = &definition.body {
            if let Some(InputOutput::Inline(_)) = input {
                let suffix = file.input_suffix.as_deref().unwrap_or("Input");
                defined.insert(format!("{namespace}#{name}{suffix}"));
            }
            if let Some(InputOutput::Inline(_)) = output {
                let suffix = file.output_suffix.as_deref().unwrap_or("Output");
                defined.insert(format!("{namespace}#{name}{suffix}"));
            }
        }
    }
}

struct Lowering<'a> {
    names: &'a Names<'a>,
    is_version_1: bool,
    namespace: String,
    input_suffix: String,
    output_suffix: String,
    /// The id that a `use` statement imports, by short name.
    uses: HashMap<String, ShapeId>,
    /// A cache of resolved names.
    resolved: HashMap<String, ShapeId>,
    problems: &'a mut Problems,
    fragment: Fragment,
}

impl Lowering<'_> {
    fn file(mut self, file: File) -> Fragment {
        self.fragment.is_version_1 = self.is_version_1;
        self.uses(&file.uses);
        for (key, value) in file.metadata {
            let value = self.value(value);
            let entry = Entry {
                key: key.text,
                key_location: key.location,
                value,
            };
            self.fragment.metadata.push(entry);
        }
        // Without a namespace names cannot be resolved. The missing namespace is reported already.
        if file.namespace.is_some() {
            for statement in file.statements {
                match statement {
                    Statement::Apply(apply) => self.apply(apply),
                    Statement::Shape(definition) => self.definition(definition),
                }
            }
        }
        self.fragment
    }

    fn uses(&mut self, uses: &[Name]) {
        let mut places: HashMap<String, SourceLocation> = HashMap::new();
        for name in uses {
            let Some(id) = self.absolute(&name.text, name.location) else {
                continue;
            };
            let short = id.name().to_owned();
            if let Some(first) = places.insert(short.clone(), name.location) {
                let same = self.uses.get(&short) == Some(&id);
                let message = format!("`{short}` is imported by two use statements");
                let problem = if same {
                    Problem::warning(rules::DUPLICATE_USE, name.location, message)
                } else {
                    Problem::error(rules::DUPLICATE_USE, name.location, message)
                };
                self.problems.push(problem.related("first", first));
            }
            let local = format!("{}#{short}", self.namespace);
            if id != *local && self.names.defined.contains(&local) {
                self.problems.push(
                    Problem::error(
                        rules::USE_CONFLICT,
                        name.location,
                        format!(
                            "`{short}` is also the name of a shape in `{}`",
                            self.namespace
                        ),
                    )
                    .hint(format!("write the full id `{id}` instead")),
                );
            }
            if !self.names.contains(&id) && self.names.has_namespace(id.namespace()) {
                self.problems.push(
                    Problem::warning(
                        rules::UNRESOLVED_USE,
                        name.location,
                        format!("`{id}` is not defined"),
                    )
                    .expected("the id of a shape"),
                );
            }
            self.uses.insert(short, id);
        }
    }

    fn apply(&mut self, apply: syntax::Apply) {
        let target = self.reference(&apply.target);
        let traits = self.traits(apply.traits).into_entries();
        if let Some(target) = target {
            self.fragment.applies.push(Apply { target, traits });
        }
    }

    fn reference(&mut self, name: &Name) -> Option<ShapeRef> {
        Some(ShapeRef::new(
            self.resolve(&name.text, name.location)?,
            name.location,
        ))
    }

    fn references(&mut self, names: &[Name]) -> Vec<ShapeRef> {
        names
            .iter()
            .filter_map(|name| self.reference(name))
            .collect()
    }

    /// Resolves a name in this file.
    fn resolve(&mut self, text: &str, location: SourceLocation) -> Option<ShapeId> {
        if let Some(id) = self.resolved.get(text) {
            return Some(id.clone());
        }
        match self.lookup(text) {
            Ok(id) => {
                self.resolved.insert(text.to_owned(), id.clone());
                Some(id)
            }
            Err(message) => {
                self.problems.push(
                    Problem::error(rules::SHAPE_ID, location, message)
                        .expected("the name of a shape, or `namespace#Name`"),
                );
                None
            }
        }
    }

    fn lookup(&self, text: &str) -> Result<ShapeId, String> {
        if text.contains('#') {
            return ShapeId::parse(text).map_err(|error| error.to_string());
        }
        let (name, member) = match text.split_once('$') {
            Some((name, member)) => (name, Some(member)),
            None => (text, None),
        };
        if !polywire_schema::is_identifier(name) {
            return Err(format!("`{text}` is not the name of a shape"));
        }
        let root = match self.uses.get(name) {
            Some(id) => id.clone(),
            None => {
                let local = format!("{}#{name}", self.namespace);
                let prelude = ids::prelude_id(name);
                let use_prelude = !self.names.defined.contains(&local)
                    && (self.names.contains(&prelude) || self.namespace.is_empty());
                ShapeId::parse(if use_prelude { &prelude } else { &local })
                    .map_err(|error| error.to_string())?
            }
        };
        match member {
            Some(member) => root.with_member(member).map_err(|error| error.to_string()),
            None => Ok(root),
        }
    }

    fn absolute(&mut self, text: &str, location: SourceLocation) -> Option<ShapeId> {
        match ShapeId::parse(text) {
            Ok(id) => Some(id),
            Err(error) => {
                self.problems
                    .push(Problem::error(rules::SHAPE_ID, location, error.to_string()));
                None
            }
        }
    }
}
