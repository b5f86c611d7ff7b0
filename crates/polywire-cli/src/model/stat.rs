//! `polywire model stat`.

use std::collections::BTreeMap;

use polywire::model::{Model, Node, Object};

use super::input::Input;
use crate::{Failure, print};

/// Count the contents of a model: files, shapes by type and namespace, traits, and what each
/// service reaches.
#[derive(Debug, clap::Args)]
#[command(after_help = super::EXIT_STATUS)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = arguments.input.load()?.model;
    let counts = Counts::of(&model);
    if arguments.input.options.json {
        return print::out(&counts.to_node().to_json_pretty());
    }
    print::out(&counts.to_text())
}

/// Counts by name.
type Tally = BTreeMap<String, usize>;

struct Counts {
    files: usize,
    bytes: usize,
    shapes: usize,
    members: usize,
    namespaces: Tally,
    types: Tally,
    traits: Tally,
    services: Vec<ServiceCounts>,
}

struct ServiceCounts {
    id: String,
    version: String,
    protocols: Vec<String>,
    operations: usize,
    resources: usize,
    shapes: usize,
}

impl Counts {
    fn of(model: &Model) -> Self {
        let files = model.sources().files();
        let mut counts = Self {
            files: files.len(),
            bytes: files.iter().map(|file| file.text().len()).sum(),
            shapes: model.len(),
            members: 0,
            namespaces: Tally::new(),
            types: Tally::new(),
            traits: Tally::new(),
            services: Vec::new(),
        };
        for shape in model.shapes() {
            add(&mut counts.namespaces, shape.id().namespace());
            add(&mut counts.types, shape.shape_type().name());
            counts.members += shape.members().len();
            let of_members = shape
                .members()
                .iter()
                .flat_map(|member| member.traits().iter());
            for applied in shape.traits().iter().chain(of_members) {
                add(&mut counts.traits, applied.id());
            }
        }
        counts.services = model
            .services()
            .map(|shape| service(model, shape))
            .collect();
        counts
    }

    fn to_node(&self) -> Node {
        let mut object = Object::new();
        object.insert("files", self.files as i64);
        object.insert("bytes", self.bytes as i64);
        object.insert("shapes", self.shapes as i64);
        object.insert("members", self.members as i64);
        for (key, tally) in [
            ("namespaces", &self.namespaces),
            ("types", &self.types),
            ("traits", &self.traits),
        ] {
            let mut counts = Object::new();
            for (name, count) in tally {
                counts.insert(name.as_str(), *count as i64);
            }
            object.insert(key, counts);
        }
        let services: Vec<Node> = self.services.iter().map(ServiceCounts::to_node).collect();
        object.insert("services", services);
        object.into()
    }

    fn to_text(&self) -> String {
        let mut text = format!(
            "{} in {}, {} bytes: {} with {}\n",
            plural(self.namespaces.len(), "namespace"),
            plural(self.files, "file"),
            self.bytes,
            plural(self.shapes, "shape"),
            plural(self.members, "member"),
        );
        for service in &self.services {
            text.push_str(&format!(
                "\nservice {} {}\n    {}, {}, {} reached\n",
                service.id,
                service.version,
                plural(service.operations, "operation"),
                plural(service.resources, "resource"),
                plural(service.shapes, "shape"),
            ));
            if !service.protocols.is_empty() {
                text.push_str(&format!("    {}\n", service.protocols.join(", ")));
            }
        }
        for (title, tally) in [
            ("namespaces", &self.namespaces),
            ("shapes", &self.types),
            ("traits", &self.traits),
        ] {
            if tally.is_empty() {
                continue;
            }
            text.push_str(&format!("\n{title}\n"));
            let mut rows: Vec<(&String, &usize)> = tally.iter().collect();
            rows.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
            for (name, count) in rows {
                text.push_str(&format!("{count:>8}  {name}\n"));
            }
        }
        text
    }
}

impl ServiceCounts {
    fn to_node(&self) -> Node {
        let mut object = Object::new();
        object.insert("id", self.id.as_str());
        object.insert("version", self.version.as_str());
        let protocols: Vec<Node> = self
            .protocols
            .iter()
            .map(|p| Node::from(p.as_str()))
            .collect();
        object.insert("protocols", protocols);
        object.insert("operations", self.operations as i64);
        object.insert("resources", self.resources as i64);
        object.insert("shapes", self.shapes as i64);
        object.into()
    }
}

fn service(model: &Model, shape: &polywire::model::Shape) -> ServiceCounts {
    let closure = model.closure(shape.id());
    let count = |of: fn(&polywire::model::Closure<'_>) -> usize| closure.as_ref().map_or(0, of);
    ServiceCounts {
        id: shape.id().to_string(),
        version: shape.as_service().map_or("", |s| s.version()).to_owned(),
        protocols: model.protocols(shape).map(ToString::to_string).collect(),
        operations: count(|closure| closure.operations().len()),
        resources: count(|closure| closure.resources().len()),
        shapes: count(|closure| closure.shapes().len()),
    }
}

fn add(tally: &mut Tally, name: &str) {
    match tally.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            tally.insert(name.to_owned(), 1);
        }
    }
}

/// "1 shape", "2 shapes".
pub(super) fn plural(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}
