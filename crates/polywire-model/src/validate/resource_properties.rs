//! Properties of resources: members of inputs and outputs must be properties, and each property
//! must be used.

use std::collections::{HashMap, HashSet};

use super::report_incomplete;
use super::resources::{Bindings, bindings, identifiers_of};
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::{Lifecycle, Member, Resource, Shape, ShapeRef, ShapeType};
use crate::spelling::did_you_mean;

const RULE: &Rule = rules::RESOURCE_OPERATION_INPUT_OUTPUT;

/// The maximum number of members that are visited.
const MAX_STEPS: usize = 1_000_000;

pub(super) fn check(model: &Model, problems: &mut Problems) {
    let mut steps = 0;
    for shape in model.shapes_of(ShapeType::Resource) {
        // Mixins with properties are reported elsewhere.
        let resource = shape.as_resource().filter(|_| !shape.traits().is_mixin());
        let Some(resource) = resource.filter(|r| !r.properties().is_empty()) else {
            continue;
        };
        let properties = resource.properties().iter();
        let mut checker = Checker {
            model,
            shape,
            identifiers: identifiers_of(resource),
            properties: properties
                .map(|(name, target)| (name.as_str(), target))
                .collect(),
            used: HashSet::new(),
            steps: &mut steps,
            problems: &mut *problems,
        };
        checker.operations(resource);
        if *checker.steps > MAX_STEPS {
            return report_incomplete(
                "not all properties of resources were checked",
                shape,
                problems,
            );
        }
        if checker.problems.is_full() {
            return;
        }
        checker.unused(resource);
    }
}

struct Checker<'a, 'm> {
    model: &'m Model,
    shape: &'m Shape,
    identifiers: HashMap<&'m str, &'m ShapeRef>,
    properties: HashMap<&'m str, &'m ShapeRef>,
    used: HashSet<&'m str>,
    steps: &'a mut usize,
    problems: &'a mut Problems,
}

impl<'m> Checker<'_, 'm> {
    fn operations(&mut self, resource: &'m Resource) {
        let one = [
            Lifecycle::Create,
            Lifecycle::Put,
            Lifecycle::Read,
            Lifecycle::Update,
            Lifecycle::Delete,
        ];
        let one = one
            .into_iter()
            .filter_map(|lifecycle| resource.lifecycle(lifecycle));
        for reference in one.chain(resource.operations()) {
            let operation = self.model.get(reference);
            let Some(body) = operation.and_then(|operation| operation.as_operation()) else {
                continue;
            };
            if *self.steps > MAX_STEPS {
                return;
            }
            for structure in [body.input(), body.output()] {
                if let Some(structure) = self.model.get(structure) {
                    self.message(structure);
                }
            }
        }
        let many = resource.lifecycle(Lifecycle::List).into_iter();
        for reference in many.chain(resource.collection_operations()) {
            if *self.steps > MAX_STEPS {
                return;
            }
            let operation = self.model.get(reference);
            if let Some(item) = operation.and_then(|operation| self.item(operation)) {
                self.use_properties(item);
            }
        }
    }

    /// Checks the members of an input or output, or of the structure that @nestedProperties
    /// selects.
    fn message(&mut self, structure: &'m Shape) {
        *self.steps += structure.members().len();
        let bound = bindings(&self.identifiers, structure);
        let nested = structure.members().iter();
        let mut nested = nested.filter(|m| m.traits().has(ids::NESTED_PROPERTIES));
        let nested = nested.next().and_then(|member| self.model.target(member));
        let nested = nested.filter(|target| target.shape_type() == ShapeType::Structure);
        self.members(nested.unwrap_or(structure), &bound);
    }

    /// The items of a `list` operation: the structure in the only list of structures, or in the
    /// list of the items of a page.
    fn item(&self, operation: &'m Shape) -> Option<&'m Shape> {
        let output = self.model.get(operation.as_operation()?.output())?;
        let item_of = |member: &Member| {
            let list = self.model.target(member)?;
            let list = (list.shape_type() == ShapeType::List).then_some(list)?;
            let item = self.model.target(list.member("member")?)?;
            (item.shape_type() == ShapeType::Structure).then_some(item)
        };
        if let Some(items) = operation.traits().paginated().and_then(|p| p.items) {
            return item_of(output.member(items)?);
        }
        let mut items = output.members().iter().filter_map(item_of);
        match (items.next(), items.next()) {
            (Some(item), None) => Some(item),
            _ => None,
        }
    }

    /// Marks the properties that the items of a list have as used. What else is in an item is not
    /// checked: smithy-cli does not either.
    fn use_properties(&mut self, item: &'m Shape) {
        *self.steps += item.members().len();
        for member in item.members() {
            let name = property_name(member).unwrap_or(member.name());
            if let Some((name, _)) = self.properties.get_key_value(name) {
                self.used.insert(name);
            }
        }
    }

    /// Each member must be a property or an identifier.
    fn members(&mut self, structure: &'m Shape, bound: &Bindings<'m>) {
        *self.steps += structure.members().len();
        if *self.steps > MAX_STEPS || self.problems.is_full() {
            return;
        }
        let bound: HashSet<&str> = bound.values().map(|member| member.name()).collect();
        let mut firsts: HashMap<&str, &Member> = HashMap::new();
        for member in structure.members() {
            let own_name = property_name(member);
            let is_known = self.properties.contains_key(member.name());
            let is_free = bound.contains(member.name()) || is_no_property(self.model, member);
            if is_free && !is_known {
                continue;
            }
            let name = own_name.unwrap_or(member.name());
            let Some(target) = self.properties.get(name).copied() else {
                self.unknown(member, name, own_name.is_some());
                continue;
            };
            self.used.insert(name);
            if target.id() != member.target().id() {
                self.mismatched(member, name, target);
            }
            if let Some(first) = firsts.insert(name, member) {
                self.problems.push_with(Severity::Error, |_| {
                    let message = format!(
                        "`{}` and `{}` of `{}` are both the property `{name}`",
                        first.name(),
                        member.name(),
                        structure.id()
                    );
                    Problem::error(RULE, member.location(), message)
                        .about(structure.id())
                        .expected("a different property")
                        .related("the other", first.location())
                });
            }
        }
    }

    fn unknown(&mut self, member: &Member, name: &str, is_explicit: bool) {
        let shape = self.shape;
        let names = || self.properties.keys().copied();
        self.problems.push_with(Severity::Error, |hints| {
            let message = format!("`{}` is not a property of `{}`", member.id(), shape.id());
            let location = match member.traits().find(ids::PROPERTY) {
                Some(applied) if is_explicit => applied.value().location(),
                _ => member.location(),
            };
            let near = hints.then(|| did_you_mean(name, names())).flatten();
            let marks = "apply @notProperty if it is not a property, or @resourceIdentifier if it is an identifier";
            Problem::error(RULE, location, message)
                .about(member.id())
                .expected("a property or an identifier of the resource")
                .hint(near.unwrap_or_else(|| marks.to_owned()))
                .related("the resource", shape.location())
        });
    }

    fn mismatched(&mut self, member: &Member, name: &str, target: &ShapeRef) {
        self.problems.push_with(Severity::Error, |_| {
            let message = format!(
                "the target of `{}` differs from that of the property `{name}`",
                member.id()
            );
            Problem::error(RULE, member.target().location(), message)
                .about(member.id())
                .expected(format!("`{}`", target.id()))
                .related("the property", target.location())
        });
    }

    fn unused(&mut self, resource: &Resource) {
        for (name, reference) in resource.properties() {
            if self.used.contains(name.as_str()) {
                continue;
            }
            let shape = self.shape;
            self.problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "no operation of `{}` uses the property `{name}`",
                    shape.id()
                );
                Problem::error(RULE, reference.location(), message)
                    .about(shape.id())
                    .expected("a member of that name in an input or output")
            });
        }
    }
}

/// The name of the property that `@property` gives.
fn property_name(member: &Member) -> Option<&str> {
    let property = member.traits().get(ids::PROPERTY)?;
    property.get("name")?.as_str()
}

/// Whether a member has @notProperty, or a trait whose definition has it.
fn is_no_property(model: &Model, member: &Member) -> bool {
    member.traits().iter().any(|applied| {
        *applied.id() == *ids::NOT_PROPERTY
            || model
                .get(applied.id())
                .is_some_and(|definition| definition.traits().has(ids::NOT_PROPERTY))
    })
}
