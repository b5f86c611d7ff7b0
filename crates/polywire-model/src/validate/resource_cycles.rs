//! Resources must not be their own descendants. Each reference that closes a cycle is reported
//! once.

use std::collections::HashMap;

use super::listed;
use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Resource, Shape, ShapeType};

pub(super) fn check(model: &Model, problems: &mut Problems) {
    let mut states: HashMap<&str, State> = HashMap::new();
    for root in model.shapes_of(ShapeType::Resource) {
        if states.contains_key(root.id().as_str()) {
            continue;
        }
        // An explicit stack, because the recursion would be as deep as the model.
        let mut path: Vec<(&Shape, usize)> = vec![(root, 0)];
        states.insert(root.id(), State::Open);
        while let Some((shape, next)) = path.last_mut() {
            let shape = *shape;
            let children = shape.as_resource().map(Resource::resources);
            let Some(reference) = children.unwrap_or_default().get(*next) else {
                states.insert(shape.id(), State::Done);
                path.pop();
                continue;
            };
            *next += 1;
            let Some(child) = model.get(reference).filter(|s| s.as_resource().is_some()) else {
                continue;
            };
            match states.get(child.id().as_str()) {
                None => {
                    states.insert(child.id(), State::Open);
                    path.push((child, 0));
                }
                Some(State::Open) => problems.push_with(Severity::Error, |_| {
                    let start = path.iter().position(|(shape, _)| shape.id() == child.id());
                    let names = path[start.unwrap_or(0)..].iter();
                    let names = names.map(|(shape, _)| shape.id().as_str());
                    let message = format!(
                        "`{}` is its own descendant, through {}",
                        child.id(),
                        listed(names)
                    );
                    Problem::error(rules::RESOURCE_CYCLE, reference.location(), message)
                        .about(child.id())
                        .expected("a resource that does not lead back")
                        .related("the resource", child.location())
                }),
                Some(State::Done) => {}
            }
        }
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum State {
    Done,
    Open,
}
