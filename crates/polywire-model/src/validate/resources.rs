//! Resources: operations must have the identifiers, and the traits of their lifecycle.

use std::collections::{HashMap, HashSet};

use super::{listed, report_incomplete};
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Lifecycle, Member, Resource, Shape, ShapeRef, ShapeType};

/// The maximum number of members and identifiers that are visited. A hostile model can bind the
/// same large operations to thousands of resources.
const MAX_STEPS: usize = 1_000_000;

/// The members of a structure that are bound to identifiers of a resource.
pub(super) type Bindings<'m> = HashMap<&'m str, &'m Member>;

pub(super) fn check(model: &Model, problems: &mut Problems) {
    let mut checker = Checker {
        model,
        problems,
        steps: 0,
    };
    for shape in model.shapes_of(ShapeType::Resource) {
        let Some(resource) = shape.as_resource() else {
            continue;
        };
        if checker.problems.is_full() {
            return;
        }
        if checker.steps > MAX_STEPS {
            return report_incomplete(
                "not all bindings of resources were checked",
                shape,
                problems,
            );
        }
        checker.lifecycle(shape, resource);
        checker.own_identifiers(shape, resource);
        checker.children(shape, resource);
        checker.operations(shape, resource);
    }
}

struct Checker<'a, 'm> {
    model: &'m Model,
    problems: &'a mut Problems,
    steps: usize,
}

impl<'m> Checker<'_, 'm> {
    fn lifecycle(&mut self, shape: &Shape, resource: &Resource) {
        // Whether the operation must have @readonly and @idempotent.
        let rules = [
            (Lifecycle::Create, false, false),
            (Lifecycle::Put, false, true),
            (Lifecycle::Read, true, false),
            (Lifecycle::Update, false, false),
            (Lifecycle::Delete, false, true),
            (Lifecycle::List, true, false),
        ];
        for (lifecycle, is_readonly, is_idempotent) in rules {
            let Some(reference) = resource.lifecycle(lifecycle) else {
                continue;
            };
            let Some(operation) = self.model.get(reference) else {
                continue;
            };
            let traits = operation.traits();
            let what = match (is_readonly, traits.is_readonly()) {
                (true, false) => "@readonly",
                (false, true) => "no @readonly",
                _ if is_idempotent && !traits.is_idempotent() => "@idempotent",
                _ => continue,
            };
            // An operation that writes must replace one trait by the other.
            let what = match (what, is_idempotent && !traits.is_idempotent()) {
                ("no @readonly", true) => "@idempotent instead of @readonly",
                _ => what,
            };
            let name = lifecycle.name();
            self.problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "the {name} operation of `{}` is `{}`, which {}",
                    shape.id(),
                    operation.id(),
                    match what {
                        "@readonly" => "does not have @readonly",
                        "@idempotent" => "does not have @idempotent",
                        _ => "has @readonly",
                    }
                );
                Problem::error(rules::RESOURCE_LIFECYCLE, reference.location(), message)
                    .about(shape.id())
                    .expected(format!("an operation with {what}"))
                    .related("the operation", operation.location())
            });
        }
    }

    fn own_identifiers(&mut self, shape: &Shape, resource: &Resource) {
        if resource.properties().is_empty() {
            return;
        }
        let identifiers = identifiers_of(resource);
        for (name, reference) in resource.properties() {
            let Some(identifier) = identifiers.get(name.as_str()) else {
                continue;
            };
            self.problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "`{name}` of `{}` is both an identifier and a property",
                    shape.id()
                );
                Problem::error(rules::RESOURCE_IDENTIFIER, reference.location(), message)
                    .about(shape.id())
                    .expected("one of them")
                    .related("the identifier", identifier.location())
            });
        }
    }

    /// Children have the identifiers of their parents, and so have the operations of the children.
    fn children(&mut self, shape: &'m Shape, parent: &'m Resource) {
        for reference in parent.resources() {
            let Some(child) = self.model.get(reference) else {
                continue;
            };
            let Some(resource) = child.as_resource() else {
                continue;
            };
            self.steps += parent.identifiers().len() + resource.identifiers().len();
            if self.steps > MAX_STEPS {
                return;
            }
            let own = identifiers_of(resource);
            let mut missing: Vec<&str> = Vec::new();
            for (name, target) in parent.identifiers() {
                match own.get(name.as_str()) {
                    None => missing.push(name),
                    Some(found) if found.id() != target.id() => {
                        self.mismatched(shape, child, name, target, found);
                    }
                    Some(_) => {}
                }
            }
            if !missing.is_empty() {
                self.problems.push_with(Severity::Error, |_| {
                    let message = format!(
                        "`{}` lacks identifiers of its parent `{}`: {}",
                        child.id(),
                        shape.id(),
                        listed(missing.iter().copied())
                    );
                    Problem::error(rules::RESOURCE_IDENTIFIER, child.location(), message)
                        .about(child.id())
                        .expected("all identifiers of the parent")
                        .related("bound", reference.location())
                });
            }
            self.operations_of_child(shape, parent, child, resource, &own);
        }
    }

    fn mismatched(
        &mut self,
        parent: &Shape,
        child: &Shape,
        name: &str,
        target: &ShapeRef,
        found: &ShapeRef,
    ) {
        self.problems.push_with(Severity::Error, |_| {
            let message = format!(
                "the target of the identifier `{name}` of `{}` differs from that in its parent `{}`",
                child.id(),
                parent.id()
            );
            Problem::error(rules::RESOURCE_IDENTIFIER, found.location(), message)
                .about(child.id())
                .expected(format!("`{}`", target.id()))
                .related("in the parent", target.location())
        });
    }

    fn operations_of_child(
        &mut self,
        parent_shape: &Shape,
        parent: &Resource,
        child: &Shape,
        resource: &'m Resource,
        own: &HashMap<&'m str, &'m ShapeRef>,
    ) {
        if parent.identifiers().is_empty() {
            return;
        }
        let collections = collection_operations(resource);
        for reference in resource.all_operations() {
            // Other shapes are reported at the reference.
            let target = self.model.get(reference);
            let Some(operation) = target.filter(|shape| shape.as_operation().is_some()) else {
                continue;
            };
            self.steps += parent.identifiers().len();
            let Some(bindings) = self.bindings(own, operation) else {
                return;
            };
            let names = parent.identifiers().iter().map(|(name, _)| name.as_str());
            let missing: Vec<&str> = names.filter(|name| !bindings.contains_key(name)).collect();
            if missing.is_empty() {
                continue;
            }
            // Identifiers of its own resource are reported with the resource.
            if missing.iter().all(|name| own.contains_key(name))
                && !collections.contains(reference.as_str())
            {
                continue;
            }
            self.problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "`{}` of `{}` lacks identifiers of the parent `{}`: {}",
                    operation.id(),
                    child.id(),
                    parent_shape.id(),
                    listed(missing.iter().copied())
                );
                Problem::error(
                    rules::RESOURCE_IDENTIFIER_BINDING,
                    operation.location(),
                    message,
                )
                .about(operation.id())
                .expected("these members in the input, with @required")
                .related("bound", reference.location())
            });
        }
    }

    /// Operations on an instance have all identifiers, those on the collection do not.
    fn operations(&mut self, shape: &'m Shape, resource: &'m Resource) {
        let identifiers = identifiers_of(resource);
        let collections = collection_operations(resource);
        for reference in resource.all_operations() {
            // Other shapes are reported at the reference.
            let target = self.model.get(reference);
            let Some(operation) = target.filter(|shape| shape.as_operation().is_some()) else {
                continue;
            };
            self.steps += identifiers.len();
            let Some(bindings) = self.bindings(&identifiers, operation) else {
                return;
            };
            let is_bound = |name: &str, target: &ShapeRef| {
                let member = bindings.get(name);
                member.is_some_and(|member| member.target().id() == target.id())
            };
            let all = resource.identifiers().iter();
            let missing = all.filter(|(name, target)| !is_bound(name, target));
            let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
            match (collections.contains(reference.as_str()), missing.is_empty()) {
                (true, true) => self.problems.push_with(Severity::Error, |_| {
                    let message = format!(
                        "`{}` is an operation on the collection of `{}`, {}",
                        operation.id(),
                        shape.id(),
                        match identifiers.is_empty() {
                            true => "which has no identifiers",
                            false => "but has the identifiers of an instance",
                        }
                    );
                    let problem = Problem::error(
                        rules::RESOURCE_IDENTIFIER_BINDING,
                        reference.location(),
                        message,
                    )
                    .about(operation.id())
                    .related("the operation", operation.location());
                    match identifiers.is_empty() {
                        true => problem.expected(
                            "a resource with identifiers: without them there is no collection",
                        ),
                        false => problem
                            .expected("an input without one of the identifiers")
                            .hint("operations on an instance belong in `operations`"),
                    }
                }),
                (false, false) => self.problems.push_with(Severity::Error, |_| {
                    let message = format!(
                        "`{}` is an operation on an instance of `{}`, but its input lacks identifiers: {}",
                        operation.id(),
                        shape.id(),
                        listed(missing.iter().copied())
                    );
                    Problem::error(
                        rules::RESOURCE_IDENTIFIER_BINDING,
                        operation.location(),
                        message,
                    )
                    .about(operation.id())
                    .expected("these members in the input, with @required and the same target")
                    .hint("apply @resourceIdentifier to a member with another name")
                    .related("bound", reference.location())
                }),
                _ => {}
            }
        }
    }

    /// `None` if the limit is reached.
    fn bindings(
        &mut self,
        identifiers: &HashMap<&'m str, &'m ShapeRef>,
        operation: &'m Shape,
    ) -> Option<Bindings<'m>> {
        let input = operation
            .as_operation()
            .and_then(|o| self.model.get(o.input()));
        self.steps += input.map_or(0, |input| input.members().len());
        if self.steps > MAX_STEPS || self.problems.is_full() {
            return None;
        }
        Some(input.map_or_else(HashMap::new, |input| bindings(identifiers, input)))
    }
}

pub(super) fn identifiers_of(resource: &Resource) -> HashMap<&str, &ShapeRef> {
    let identifiers = resource.identifiers().iter();
    identifiers
        .map(|(name, target)| (name.as_str(), target))
        .collect()
}

/// A member is bound if it has @resourceIdentifier, or if it has the name and target of the
/// identifier and is required.
pub(super) fn bindings<'m>(
    identifiers: &HashMap<&'m str, &'m ShapeRef>,
    structure: &'m Shape,
) -> Bindings<'m> {
    let mut bindings = Bindings::new();
    for member in structure.members() {
        if let Some(name) = resource_identifier(member) {
            bindings.insert(name, member);
        } else if identifiers
            .get(member.name())
            .is_some_and(|target| target.id() == member.target().id())
            && member.traits().is_required()
        {
            bindings.entry(member.name()).or_insert(member);
        }
    }
    bindings
}

fn resource_identifier(member: &Member) -> Option<&str> {
    member.traits().get(ids::RESOURCE_IDENTIFIER)?.as_str()
}

/// The operations on the collection of a resource, including `create`.
fn collection_operations(resource: &Resource) -> HashSet<&str> {
    let lifecycle = [Lifecycle::Create, Lifecycle::List];
    let lifecycle = lifecycle
        .into_iter()
        .filter_map(|lifecycle| resource.lifecycle(lifecycle));
    let all = lifecycle.chain(resource.collection_operations());
    all.map(|reference| reference.as_str()).collect()
}

/// Checks that members of a structure are bound to different identifiers.
pub(super) fn check_bindings(structure: &Shape, problems: &mut Problems) {
    let mut explicit: HashMap<&str, &Member> = HashMap::new();
    for member in structure.members() {
        let Some(name) = resource_identifier(member) else {
            continue;
        };
        let first = *explicit.entry(name).or_insert(member);
        if std::ptr::eq(first, member) {
            continue;
        }
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` and `{}` of `{}` are both the identifier `{name}`",
                first.name(),
                member.name(),
                structure.id()
            );
            Problem::error(
                rules::RESOURCE_IDENTIFIER_BINDING,
                member.location(),
                message,
            )
            .expected("a different identifier")
            .related("the other", first.location())
        });
    }
    if explicit.is_empty() {
        return;
    }
    for member in structure.members() {
        if resource_identifier(member).is_some() {
            continue;
        }
        let Some(other) = explicit.get(member.name()) else {
            continue;
        };
        problems.push_with(Severity::Warning, |_| {
            let message = format!(
                "`{}` has the name of an identifier, but `{}` is bound to it",
                member.id(),
                other.name()
            );
            Problem::warning(
                rules::RESOURCE_IDENTIFIER_BINDING,
                member.location(),
                message,
            )
            .expected("one member for each identifier")
            .related("bound", other.location())
        });
    }
}
