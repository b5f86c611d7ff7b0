//! `@paginated`: the tokens, the size and the items must be members of the right type. Operations
//! inherit properties of the trait from their service.

use super::index::Index;
use super::lookup::Lookups;
use super::values::beginning;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::json::MAX_DEPTH;
use crate::model::Model;
use crate::node::Node;
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;

const RULE: &Rule = rules::PAGINATED_TRAIT;

/// The requirements for the member of a property.
struct Property {
    name: &'static str,
    is_input: bool,
    is_needed: bool,
    types: &'static [ShapeType],
    /// The recommended ones of `types`. Others are a danger.
    best: &'static [ShapeType],
    /// The severity and rule for @required on the member, if it is not allowed.
    required: Option<(Severity, &'static Rule)>,
    /// For a target that is one of `types`, but none of `best`.
    wrong_type: Option<&'static Rule>,
    /// For a path of more than two names.
    deep: Option<&'static Rule>,
}

const PROPERTIES: [Property; 4] = [
    Property {
        name: "inputToken",
        is_input: true,
        is_needed: true,
        types: &[ShapeType::String, ShapeType::Map],
        best: &[ShapeType::String],
        required: Some((Severity::Error, RULE)),
        wrong_type: Some(rules::PAGINATED_TRAIT_WRONG_SHAPE_TYPE_INPUT_TOKEN),
        deep: None,
    },
    Property {
        name: "pageSize",
        is_input: true,
        is_needed: false,
        types: &[
            ShapeType::Integer,
            ShapeType::Byte,
            ShapeType::Long,
            ShapeType::Short,
        ],
        best: &[ShapeType::Integer],
        required: Some((
            Severity::Warning,
            rules::PAGINATED_TRAIT_SHOULD_NOT_BE_REQUIRED_PAGE_SIZE,
        )),
        wrong_type: Some(rules::PAGINATED_TRAIT_WRONG_SHAPE_TYPE_PAGE_SIZE),
        deep: None,
    },
    Property {
        name: "outputToken",
        is_input: false,
        is_needed: true,
        types: &[ShapeType::String, ShapeType::Map],
        best: &[ShapeType::String],
        required: Some((
            Severity::Danger,
            rules::PAGINATED_TRAIT_SHOULD_NOT_BE_REQUIRED_OUTPUT_TOKEN,
        )),
        wrong_type: Some(rules::PAGINATED_TRAIT_WRONG_SHAPE_TYPE_OUTPUT_TOKEN),
        deep: Some(rules::PAGINATED_TRAIT_DEEPLY_NESTED_OUTPUT_TOKEN),
    },
    Property {
        name: "items",
        is_input: false,
        is_needed: false,
        types: &[ShapeType::List, ShapeType::Map],
        best: &[ShapeType::List, ShapeType::Map],
        required: None,
        wrong_type: None,
        deep: Some(rules::PAGINATED_TRAIT_DEEPLY_NESTED_ITEMS),
    },
];

/// Checks all operations with `@paginated`: first alone, and, if they are valid, with the defaults
/// of each of their services.
pub(super) fn check<'m>(index: &Index<'m>, lookups: &mut Lookups<'m>, problems: &mut Problems) {
    let model = index.model;
    let mut is_used = false;
    let mut unsound: Vec<&str> = Vec::new();
    for operation in model.shapes_of(ShapeType::Operation) {
        let Some(applied) = operation.traits().find(ids::PAGINATED) else {
            continue;
        };
        is_used = true;
        let mut check = Check {
            model,
            operation,
            lookups: &mut *lookups,
            problems: &mut *problems,
            found: false,
        };
        for property in &PROPERTIES {
            if let Some(path) = applied.value().get(property.name) {
                check.property(property, path);
            }
        }
        if check.found {
            unsound.push(operation.id());
        }
    }
    if !is_used {
        return;
    }
    // Shapes are visited in the order of their ids, so these are sorted.
    for contents in &index.services {
        let defaults = contents.service.traits().get(ids::PAGINATED);
        for &operation in &contents.operations {
            if problems.is_full() {
                return;
            }
            let Some(applied) = operation.traits().find(ids::PAGINATED) else {
                continue;
            };
            if unsound.binary_search(&operation.id().as_str()).is_ok() {
                continue;
            }
            let mut check = Check {
                model,
                operation,
                lookups: &mut *lookups,
                problems: &mut *problems,
                found: false,
            };
            for property in &PROPERTIES {
                // Properties of the operation itself are checked above.
                if applied.value().get(property.name).is_some() {
                    continue;
                }
                let default = defaults.and_then(|defaults| defaults.get(property.name));
                match default {
                    Some(path) => check.property(property, path),
                    None if property.is_needed => {
                        check.missing(property, contents.service, applied.location());
                    }
                    None => {}
                }
            }
        }
    }
}

struct Check<'a, 'm> {
    model: &'m Model,
    operation: &'m Shape,
    lookups: &'a mut Lookups<'m>,
    problems: &'a mut Problems,
    found: bool,
}

impl<'m> Check<'_, 'm> {
    fn push(&mut self, severity: Severity, make: impl FnOnce(bool) -> Problem) {
        self.found = true;
        let id = self.operation.id();
        self.problems.push_with(severity, |hints| {
            let mut problem = make(hints);
            problem.severity = severity;
            problem.about(id)
        });
    }

    fn missing(&mut self, property: &Property, service: &Shape, location: SourceLocation) {
        let id = self.operation.id();
        self.push(Severity::Error, |_| {
            let name = property.name;
            let message = format!("neither `{id}` nor `{}` has `{name}`", service.id());
            Problem::error(RULE, location, message)
                .expected(format!("`{name}` here, or in @paginated on the service"))
                .related("the service", service.location())
        });
    }

    fn property(&mut self, property: &Property, node: &'m Node) {
        let Some(path) = node.as_str() else {
            return;
        };
        let location = node.location();
        let name = property.name;
        let body = self.operation.as_operation();
        let body = body.map(|body| match property.is_input {
            true => body.input(),
            false => body.output(),
        });
        let Some(structure) = body.and_then(|structure| self.model.get(structure)) else {
            return;
        };
        let id = self.operation.id();
        if property.is_input && path.contains('.') {
            return self.push(Severity::Error, |_| {
                let message = format!("`{name}` of `{id}` is a path");
                Problem::error(RULE, location, message)
                    .expected("the name of a member of the input itself")
            });
        }
        let member = match self.resolve(structure, path) {
            Ok(member) => member,
            Err((structure, name_of_member)) => {
                return self.push(Severity::Error, |hints| {
                    let message = format!(
                        "`{name}` of `{id}` is not a member: `{}` has no `{}`",
                        structure.id(),
                        beginning(name_of_member)
                    );
                    let names = || structure.members().iter().map(Member::name);
                    let near = || did_you_mean(name_of_member, names());
                    Problem::error(RULE, location, message)
                        .expected(match property.is_input {
                            true => "a member of the input",
                            false => "a member of the output, or a path to one",
                        })
                        .maybe_hint(hints.then(near).flatten())
                        .related("the structure", structure.location())
                });
            }
        };
        self.member(property, member, location);
        if let Some(rule) = property.deep
            && path.split('.').count() > 2
        {
            self.push(Severity::Warning, |_| {
                let message = format!("`{name}` of `{id}` is deeply nested in the output");
                Problem::warning(rule, location, message).expected("a path of at most two names")
            });
        }
    }

    /// The member at the end of a path. The error is the shape and the name at which the path ends.
    fn resolve<'p>(
        &mut self,
        structure: &'m Shape,
        path: &'p str,
    ) -> Result<&'m Member, (&'m Shape, &'p str)> {
        let mut shape = structure;
        let mut found: Option<&'m Member> = None;
        for name in path.split('.').take(MAX_DEPTH) {
            if let Some(member) = found {
                shape = self.model.target(member).ok_or((shape, name))?;
            }
            // Paths lead through structures only.
            let is_structure = shape.shape_type() == ShapeType::Structure;
            let member = match is_structure {
                true => self.lookups.of(shape).members.get(name).copied(),
                false => None,
            };
            found = Some(member.ok_or((shape, name))?);
        }
        found.ok_or((shape, path))
    }

    fn member(&mut self, property: &Property, member: &'m Member, location: SourceLocation) {
        let id = self.operation.id();
        let name = property.name;
        if let Some((severity, rule)) = property.required.filter(|_| member.traits().is_required())
        {
            self.push(severity, |_| {
                let message = format!("`{name}` of `{id}` is a required member");
                Problem::error(rule, location, message)
                    .expected(match property.is_input {
                        true => "a member that the first call can omit",
                        false => "a member that the last page can omit",
                    })
                    .related("the member", member.location())
            });
        }
        let Some(target) = self.model.target(member).map(Shape::shape_type) else {
            return;
        };
        let wrong_type = property
            .wrong_type
            .filter(|_| !property.best.contains(&target));
        let (severity, rule) = match wrong_type {
            _ if !property.types.contains(&target) => (Severity::Error, RULE),
            Some(rule) => (Severity::Danger, rule),
            None => return,
        };
        self.push(severity, |_| {
            let message = format!("`{name}` of `{id}` is {}", target.with_article());
            let types = property
                .best
                .iter()
                .map(|shape_type| shape_type.with_article());
            let types: Vec<String> = types.collect();
            Problem::error(rule, location, message)
                .expected(format!("a member that is {}", types.join(" or ")))
                .related("the member", member.location())
        });
    }
}
