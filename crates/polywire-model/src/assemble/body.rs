//! Merges the bodies of mixins into services, resources and operations.

use std::collections::{HashMap, HashSet};

use polywire_schema::ShapeId;

use crate::shape::{Body, Service, Shape, ShapeRef, ShapeType, UNIT};
use crate::source::SourceLocation;

/// The number of references in a body.
pub(super) fn size(body: &Body) -> usize {
    match body {
        Body::None => 0,
        Body::Operation(operation) => operation.errors.len(),
        Body::Resource(resource) => {
            resource.identifiers.len()
                + resource.properties.len()
                + resource.operations.len()
                + resource.collection_operations.len()
                + resource.resources.len()
        }
        Body::Service(service) => {
            service.operations.len()
                + service.resources.len()
                + service.errors.len()
                + service.rename.len()
        }
    }
}

/// The bodies of the mixins and of the shape itself, merged in this order. Entries are indexed as
/// they are added, because a hostile model can have long lists and many mixins.
pub(super) struct MergedBody {
    pub(super) body: Body,
    references: HashSet<(List, ShapeId)>,
    /// The index of each name, or of each renamed shape, in its list.
    named: HashMap<(List, String), usize>,
}

#[derive(Clone, Copy, Eq, Hash, PartialEq)]
enum List {
    CollectionOperations,
    Errors,
    Identifiers,
    Operations,
    Properties,
    Rename,
    Resources,
}

impl MergedBody {
    pub(super) fn of(shape_type: ShapeType) -> Self {
        Self {
            body: Shape::new(UNIT, shape_type, SourceLocation::NONE).body,
            references: HashSet::new(),
            named: HashMap::new(),
        }
    }

    /// Lists are joined without duplicates. Of names and single properties, the last one counts.
    pub(super) fn add(&mut self, more: &Body) {
        let (references, named) = (&mut self.references, &mut self.named);
        let mut add = |which: List, list: &mut Vec<ShapeRef>, more: &[ShapeRef]| {
            let start = list.len();
            let is_known = |new: &&ShapeRef| references.contains(&(which, new.id().clone()));
            list.extend(more.iter().filter(|new| !is_known(new)).cloned());
            let new = list[start..].iter().map(|new| (which, new.id().clone()));
            references.extend(new);
        };
        let mut add_named = |which, list: &mut Vec<_>, more: &[(String, ShapeRef)]| {
            for (name, target) in more {
                put(
                    named,
                    (which, name.clone()),
                    list,
                    (name.clone(), target.clone()),
                );
            }
        };
        match (&mut self.body, more) {
            (Body::Operation(body), Body::Operation(more)) => {
                // Mixins have neither input nor output, so these come from the shape itself.
                body.input = more.input.clone();
                body.output = more.output.clone();
                add(List::Errors, &mut body.errors, &more.errors);
            }
            (Body::Service(body), Body::Service(more)) => {
                if !more.version.is_empty() {
                    body.version.clone_from(&more.version);
                }
                add(List::Operations, &mut body.operations, &more.operations);
                add(List::Resources, &mut body.resources, &more.resources);
                add(List::Errors, &mut body.errors, &more.errors);
                add_renames(named, body, more);
            }
            (Body::Resource(body), Body::Resource(more)) => {
                add_named(List::Identifiers, &mut body.identifiers, &more.identifiers);
                add_named(List::Properties, &mut body.properties, &more.properties);
                for (slot, more) in body.lifecycle.iter_mut().zip(&more.lifecycle) {
                    if more.is_some() {
                        slot.clone_from(more);
                    }
                }
                add(List::Operations, &mut body.operations, &more.operations);
                add(
                    List::CollectionOperations,
                    &mut body.collection_operations,
                    &more.collection_operations,
                );
                add(List::Resources, &mut body.resources, &more.resources);
            }
            _ => {}
        }
    }
}

fn add_renames(named: &mut HashMap<(List, String), usize>, body: &mut Service, more: &Service) {
    for (id, name) in &more.rename {
        let key = (List::Rename, id.id().as_str().to_owned());
        put(named, key, &mut body.rename, (id.clone(), name.clone()));
    }
}

/// Adds an entry, or replaces the entry with the same key.
fn put<T>(
    named: &mut HashMap<(List, String), usize>,
    key: (List, String),
    list: &mut Vec<T>,
    entry: T,
) {
    match named.get(&key) {
        Some(&at) => list[at] = entry,
        None => {
            named.insert(key, list.len());
            list.push(entry);
        }
    }
}
