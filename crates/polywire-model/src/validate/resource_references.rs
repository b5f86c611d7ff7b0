//! Members that look like a reference to a resource, without @references.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::listed;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::{Model, neighbors};
use crate::node::Node;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Resource, Shape, ShapeType};

/// The maximum number of shapes that are visited.
const MAX_STEPS: usize = 1_000_000;

pub(super) fn check(model: &Model, problems: &mut Problems) {
    let mut resources: HashMap<(&str, &str), Vec<&Shape>> = HashMap::new();
    let mut parents: HashMap<&str, Vec<&Shape>> = HashMap::new();
    for shape in model.shapes_of(ShapeType::Resource) {
        let identifiers = shape.as_resource().map(Resource::identifiers);
        for (name, target) in identifiers.unwrap_or_default() {
            let key = (name.as_str(), target.as_str());
            resources.entry(key).or_default().push(shape);
        }
        let children = shape.as_resource().map(Resource::resources);
        for child in children.unwrap_or_default() {
            parents.entry(child.as_str()).or_default().push(shape);
        }
    }
    if resources.is_empty() {
        return;
    }
    let mut reached = ReachableShapes {
        model,
        sets: HashMap::new(),
        steps: 0,
    };
    for structure in model.shapes() {
        for member in structure.members() {
            let key = (member.name(), member.target().as_str());
            let Some(candidates) = resources.get(&key) else {
                continue;
            };
            // Inherited members are reported on the mixin.
            if member.is_inherited() {
                continue;
            }
            let mut found: Vec<&str> = Vec::new();
            for resource in candidates {
                let of_parents = parents.get(resource.id().as_str());
                let mut bound = [*resource]
                    .into_iter()
                    .chain(of_parents.into_iter().flatten().copied());
                let is_bound =
                    bound.any(|resource| reached.by(resource).contains(structure.id().as_str()));
                if !is_bound && !refers_to(structure, member, resource.id()) {
                    found.push(resource.id());
                }
                if reached.steps > MAX_STEPS || problems.is_full() {
                    return;
                }
            }
            if found.is_empty() {
                continue;
            }
            problems.push_with(Severity::Warning, |_| {
                let message = format!("`{}` looks like the identifier of a resource", member.id());
                Problem::warning(
                    rules::MEMBER_SHOULD_REFERENCE_RESOURCE,
                    member.location(),
                    message,
                )
                .about(member.id())
                .expected(format!(
                    "@references on `{}` with {}",
                    structure.id().name(),
                    listed(found.into_iter())
                ))
            });
        }
    }
}

/// Whether the member or its structure has @references to this resource.
fn refers_to(structure: &Shape, member: &Member, resource: &str) -> bool {
    [structure.traits(), member.traits()]
        .into_iter()
        .any(|traits| {
            let references = traits.get(ids::REFERENCES).and_then(Node::as_array);
            references.unwrap_or_default().iter().any(|reference| {
                let named = reference.get("resource").and_then(Node::as_str);
                named == Some(resource)
            })
        })
}

/// The shapes that resources reach, computed once for each.
struct ReachableShapes<'m> {
    model: &'m Model,
    sets: HashMap<&'m str, Rc<HashSet<&'m str>>>,
    steps: usize,
}

impl<'m> ReachableShapes<'m> {
    fn by(&mut self, resource: &'m Shape) -> Rc<HashSet<&'m str>> {
        self.steps += 1;
        if let Some(set) = self.sets.get(resource.id().as_str()) {
            return Rc::clone(set);
        }
        let mut set: HashSet<&str> = HashSet::from([resource.id().as_str()]);
        let mut todo = vec![resource];
        while let Some(shape) = todo.pop() {
            let next = neighbors(shape);
            self.steps += next.len();
            if self.steps > MAX_STEPS {
                break;
            }
            for (_, reference) in next {
                if let Some(shape) = self.model.get(reference)
                    && set.insert(shape.id().as_str())
                {
                    todo.push(shape);
                }
            }
        }
        let set = Rc::new(set);
        self.sets.insert(resource.id().as_str(), Rc::clone(&set));
        set
    }
}
