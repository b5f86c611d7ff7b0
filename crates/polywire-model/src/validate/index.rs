//! An index of the uses of structures and operations.
//!
//! Many rules about services need to know which operations use a structure, and which service has
//! an operation. This index is built once for each model.

use std::collections::{HashMap, HashSet};

use super::bindings;
use crate::model::{Model, Relation, neighbors};
use crate::shape::{Member, Shape, ShapeType};
use crate::source::SourceLocation;

/// The maximum number of operations and resources that are visited for all services together. Real
/// models have a few services and some hundred operations. A hostile model can have thousands of
/// services, each with thousands of operations.
const MAX_STEPS: usize = 500_000;

pub(super) struct Index<'m> {
    pub(super) model: &'m Model,
    pub(super) services: Vec<Contents<'m>>,
    /// The service at which the limit was reached.
    pub(super) incomplete_at: Option<&'m Shape>,
    /// The errors of services.
    pub(super) common_errors: HashSet<&'m str>,
    /// The blobs and unions with @streaming.
    pub(super) streams: HashMap<&'m str, &'m Shape>,
    uses: HashMap<&'m str, Vec<Use<'m>>>,
}

/// The operations and resources of a service, without duplicates, in the order of the source.
pub(super) struct Contents<'m> {
    pub(super) service: &'m Shape,
    pub(super) operations: Vec<&'m Shape>,
    pub(super) resources: Vec<&'m Shape>,
    /// The bindings: the parent, the bound shape, and the location.
    pub(super) bindings: Vec<Bound<'m>>,
}

#[derive(Clone, Copy)]
pub(super) struct Bound<'m> {
    pub(super) by: &'m Shape,
    pub(super) shape: &'m Shape,
    pub(super) location: SourceLocation,
}

/// A use of a structure.
#[derive(Clone, Copy)]
pub(super) struct Use<'m> {
    pub(super) relation: Relation,
    pub(super) by: &'m Shape,
    /// The member that targets the structure, if the use is by a member.
    pub(super) member: Option<&'m Member>,
    pub(super) location: SourceLocation,
}

impl<'m> Index<'m> {
    pub(super) fn of(model: &'m Model) -> Self {
        let mut index = Self {
            model,
            services: Vec::new(),
            incomplete_at: None,
            common_errors: HashSet::new(),
            streams: HashMap::new(),
            uses: HashMap::new(),
        };
        let mut steps = 0;
        for service in model.services() {
            let errors = service.as_service().map(|service| service.errors());
            let errors = errors.unwrap_or_default().iter();
            index
                .common_errors
                .extend(errors.map(|error| error.as_str()));
        }
        for service in model.services() {
            index.services.push(contents(model, service, &mut steps));
            if steps > MAX_STEPS {
                index.incomplete_at = Some(service);
                break;
            }
        }
        index.collect_uses();
        index
    }

    /// The uses of a structure. Only of those that rules need: inputs, outputs, and structures with
    /// HTTP bindings or streams.
    pub(super) fn uses(&self, structure: &Shape) -> &[Use<'m>] {
        self.uses
            .get(structure.id().as_str())
            .map_or(&[], Vec::as_slice)
    }

    fn collect_uses(&mut self) {
        let model = self.model;
        let data = model.shapes().filter(|shape| {
            matches!(shape.shape_type(), ShapeType::Blob | ShapeType::Union)
                && shape.traits().is_streaming()
        });
        self.streams = data.map(|shape| (shape.id().as_str(), shape)).collect();
        let streams = &self.streams;
        let is_asked_for = |shape: &Shape| {
            let traits = shape.traits();
            traits.is_input()
                || traits.is_output()
                || shape.members().iter().any(|member| {
                    bindings::of(member).is_some()
                        || (!streams.is_empty() && streams.contains_key(member.target().as_str()))
                })
        };
        let structures = model.shapes_of(ShapeType::Structure);
        self.uses = structures
            .filter(|shape| is_asked_for(shape))
            .map(|shape| (shape.id().as_str(), Vec::new()))
            .collect();
        if self.uses.is_empty() {
            return;
        }
        for by in model.shapes() {
            if by.shape_type().is_simple() {
                continue;
            }
            for member in by.members() {
                if let Some(uses) = self.uses.get_mut(member.target().as_str()) {
                    uses.push(Use {
                        relation: Relation::MemberTarget,
                        by,
                        member: Some(member),
                        location: member.target().location(),
                    });
                }
            }
            if !by.shape_type().is_service_type() {
                continue;
            }
            for (relation, reference) in neighbors(by) {
                if let Some(uses) = self.uses.get_mut(reference.as_str()) {
                    uses.push(Use {
                        relation,
                        by,
                        member: None,
                        location: reference.location(),
                    });
                }
            }
        }
    }
}

fn contents<'m>(model: &'m Model, service: &'m Shape, steps: &mut usize) -> Contents<'m> {
    let mut contents = Contents {
        service,
        operations: Vec::new(),
        resources: Vec::new(),
        bindings: Vec::new(),
    };
    let mut seen: HashSet<&str> = HashSet::new();
    let mut todo = vec![service];
    while let Some(by) = todo.pop() {
        if by.as_operation().is_some() {
            contents.operations.push(by);
            continue;
        }
        if by.as_resource().is_some() {
            contents.resources.push(by);
        }
        let next = neighbors(by);
        *steps += next.len();
        if *steps > MAX_STEPS {
            return contents;
        }
        let start = todo.len();
        for (relation, reference) in next {
            if !leads_to_operations(relation) {
                continue;
            }
            // Shapes of the wrong type are reported at the reference.
            let Some(shape) = model
                .get(reference)
                .filter(|shape| shape.as_operation().is_some() || shape.as_resource().is_some())
            else {
                continue;
            };
            contents.bindings.push(Bound {
                by,
                shape,
                location: reference.location(),
            });
            if seen.insert(shape.id().as_str()) {
                todo.push(shape);
            }
        }
        // The first reference is popped first.
        todo[start..].reverse();
    }
    contents
}

fn leads_to_operations(relation: Relation) -> bool {
    matches!(
        relation,
        Relation::CollectionOperation
            | Relation::LifecycleOperation
            | Relation::Operation
            | Relation::Resource
    )
}
