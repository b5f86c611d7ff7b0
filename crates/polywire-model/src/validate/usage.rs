//! Traits that have an effect only for some uses of a structure: HTTP bindings at the top level of
//! a message, @input and @output for one operation.

use std::collections::HashMap;

use super::bindings::{self, Binding};
use super::index::{Index, Use};
use crate::diagnostic::{Problem, Problems};
use crate::model::Relation;
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::Shape;
use crate::source::SourceLocation;

const INPUT: &[Relation] = &[Relation::Input];
const OUTPUT: &[Relation] = &[Relation::Output];
const TOP_LEVEL: &[Relation] = &[Relation::Input, Relation::Output, Relation::Error];

/// Checks the members of a structure. Members of mixins are checked in the structures that use
/// them.
pub(super) fn check(index: &Index<'_>, structure: &Shape, problems: &mut Problems) {
    let uses = index.uses(structure);
    if uses.is_empty() || structure.traits().is_mixin() {
        return;
    }
    // The uses in which bindings of each kind are ignored, computed once for all members.
    let mut found: HashMap<&[Relation], Option<(&Use<'_>, bool)>> = HashMap::new();
    let mut ignored_in = |wanted: &'static [Relation]| {
        *found.entry(wanted).or_insert_with(|| {
            let is_ignored = |used: &&Use<'_>| !wanted.contains(&used.relation);
            let first = uses.iter().find(is_ignored)?;
            Some((first, uses.iter().all(|used| is_ignored(&used))))
        })
    };
    for member in structure.members() {
        if let Some((binding, applied)) = bindings::of(member) {
            let (rule, wanted, where_it_counts) = match binding {
                Binding::Label | Binding::Query(_) | Binding::QueryParams => (
                    rules::HTTP_BINDING_TRAIT_IGNORED_INPUT,
                    INPUT,
                    "in the input of an operation",
                ),
                Binding::ResponseCode => (
                    rules::HTTP_BINDING_TRAIT_IGNORED_OUTPUT,
                    OUTPUT,
                    "in the output of an operation",
                ),
                Binding::Header(_) | Binding::Payload | Binding::PrefixHeaders(_) => (
                    rules::HTTP_BINDING_TRAIT_IGNORED_TOP_LEVEL,
                    TOP_LEVEL,
                    "at the top level of an input, output or error",
                ),
            };
            // With @input, the trait is reported as on the wrong shape.
            if matches!(binding, Binding::ResponseCode) && structure.traits().is_input() {
                continue;
            }
            let what = applied.id().name();
            let ignored = IgnoredBinding {
                rule,
                owner: member.id(),
                location: applied.location(),
                what,
                where_it_counts,
            };
            if let Some(where_ignored) = ignored_in(wanted) {
                ignored.report(where_ignored, problems);
            }
        }
    }
}

struct IgnoredBinding<'m> {
    rule: &'static Rule,
    owner: &'m str,
    location: SourceLocation,
    what: &'m str,
    where_it_counts: &'static str,
}

impl IgnoredBinding<'_> {
    fn report(&self, (first, all): (&Use<'_>, bool), problems: &mut Problems) {
        problems.push_with(Severity::Warning, |_| {
            let message = format!(
                "the trait `{}` of `{}` is ignored {}",
                self.what,
                self.owner,
                if all { "everywhere" } else { "in some places" }
            );
            Problem::warning(self.rule, self.location, message)
                .expected(format!("the trait {} only", self.where_it_counts))
                .related("used here without effect", first.location)
        });
    }
}

/// Checks the uses of a structure with @input or @output: by one operation, as input or output.
pub(super) fn check_input_and_output(
    index: &Index<'_>,
    structure: &Shape,
    problems: &mut Problems,
) {
    let uses = index.uses(structure);
    if uses.is_empty() {
        return;
    }
    let traits = structure.traits();
    let (name, wanted, code_of_name) = if traits.is_input() {
        (
            "input",
            Relation::Input,
            rules::OPERATION_INPUT_OUTPUT_NAME_INPUT,
        )
    } else if traits.is_output() {
        (
            "output",
            Relation::Output,
            rules::OPERATION_INPUT_OUTPUT_NAME_OUTPUT,
        )
    } else {
        return;
    };
    let mut owner: Option<&Use<'_>> = None;
    for used in uses {
        let wrong = match used.relation {
            relation if relation == wanted => {
                check_name(structure, used, name, code_of_name, problems);
                match owner {
                    Some(owner) if owner.by.id() != used.by.id() => {
                        format!("also the {name} of `{}`", used.by.id())
                    }
                    _ => {
                        owner = Some(used);
                        continue;
                    }
                }
            }
            Relation::Input => format!("the input of `{}`", used.by.id()),
            Relation::Output => format!("the output of `{}`", used.by.id()),
            Relation::MemberTarget => match used.member {
                Some(member) => format!("the target of `{}`", member.id()),
                None => continue,
            },
            _ => continue,
        };
        problems.push_with(Severity::Error, |_| {
            let message = format!("`{}` has @{name}, but is {wrong}", structure.id());
            let problem =
                Problem::error(rules::OPERATION_INPUT_OUTPUT_MISUSE, used.location, message)
                    .about(used.by.id())
                    .expected(format!("a structure without @{name}"));
            match owner {
                Some(owner) => problem.related("its operation", owner.location),
                None => problem.related("the structure", structure.location()),
            }
        });
    }
}

fn check_name(
    structure: &Shape,
    used: &Use<'_>,
    what: &str,
    rule: &'static Rule,
    problems: &mut Problems,
) {
    let operation = used.by.id().name();
    if structure.id().name().starts_with(operation) {
        return;
    }
    problems.push_with(Severity::Warning, |_| {
        let message = format!(
            "the {what} of `{}` is named `{}`",
            used.by.id(),
            structure.id().name()
        );
        Problem::warning(rule, used.location, message)
            .about(used.by.id())
            .expected(format!("a name that begins with `{operation}`"))
    });
}

/// Reports shapes that are named like the input or output of an operation, but are not.
pub(super) fn check_ambiguous_names(index: &Index<'_>, operation: &Shape, problems: &mut Problems) {
    let Some(body) = operation.as_operation() else {
        return;
    };
    let mut name = String::with_capacity(operation.id().len() + 8);
    for (what, own, suffixes) in [
        ("input", body.input(), ["Input", "Request"]),
        ("output", body.output(), ["Output", "Response"]),
    ] {
        for suffix in suffixes {
            name.clear();
            name.push_str(operation.id());
            name.push_str(suffix);
            if **own == *name {
                continue;
            }
            let Some(shape) = index.model.get(&name) else {
                continue;
            };
            problems.push_with(Severity::Warning, |_| {
                let message = format!(
                    "`{}` is named like the {what} of `{}`, but is not",
                    shape.id(),
                    operation.id()
                );
                Problem::warning(rules::OPERATION_NAME_AMBIGUITY, shape.location(), message)
                    .about(shape.id())
                    .expected("another name, because generated code often has such names")
                    .related(format!("the {what} is `{}`", own.id()), own.location())
            });
        }
    }
}
