//! Checks whether a node value matches a shape: its type, its parts, and all constraints of the
//! shape and of the member that leads to it.
//!
//! Values of traits, defaults, examples and metadata are all checked here, so that they have the
//! same messages. A [`Subject`] describes the value, and its [`Leniency`] what is only a warning.
//!
//! A finding has the exact location of the value and its path, such as `/items/3/name`. The path is
//! a stack of keys and indices, which is formatted only for findings.

mod constraint_cache;
mod constraints;
mod id_refs;
mod kinds;
mod pattern;
mod unique;
mod words;

use std::collections::HashSet;

use super::lookup::Lookups;
use crate::diagnostic::{Problem, Problems};
use crate::json::MAX_DEPTH;
use crate::model::Model;
use crate::node::{Node, NodeValue, Object};
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;

pub(super) use self::kinds::is_plain;
pub(super) use self::words::{beginning, shown};

use self::constraint_cache::ConstraintCache;
use self::id_refs::IdRefs;
use self::pattern::Patterns;
use self::words::ValuePath;

/// Objects with more keys are indexed before they are searched.
const MANY: usize = 32;

/// The subject of a check, for messages: `the value of the trait`, and the id of the trait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    /// The rule that a wrong value violates, such as `TraitValue`.
    pub(crate) rule: &'static Rule,
    /// The relation of the value to `id`, with an article.
    pub(crate) what: &'a str,
    /// The shape, member or trait that has the value.
    pub(crate) id: &'a str,
    /// The location for values that are not in a file: defaults that Smithy 1.0 implies.
    pub(crate) at: SourceLocation,
    /// Relaxations of the check.
    pub(crate) leniency: Leniency,
}

/// Relaxations of the check of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leniency {
    /// Violated constraints and missing members are warnings: examples can show the response to a
    /// wrong request.
    pub(crate) constraints: bool,
    /// Null is accepted for an absent member.
    pub(crate) nulls: bool,
    /// A zero out of range is a warning: models of Smithy 1.0 have many zeros without meaning.
    pub(crate) zeros: bool,
}

/// Checks values, with caches for shapes and patterns.
pub(crate) struct Values<'m> {
    model: &'m Model,
    lookups: Lookups<'m>,
    facts: ConstraintCache<'m>,
    id_refs: IdRefs<'m>,
    patterns: Patterns<'m>,
}

impl<'m> Values<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        Self {
            model,
            lookups: Lookups::default(),
            facts: ConstraintCache::default(),
            id_refs: IdRefs::new(model),
            patterns: Patterns::default(),
        }
    }

    /// The index of members, for other rules.
    pub(crate) fn lookups(&mut self) -> &mut Lookups<'m> {
        &mut self.lookups
    }

    /// Reports differences between `node` and `shape`.
    pub(crate) fn check(
        &mut self,
        subject: Subject<'_>,
        node: &'m Node,
        shape: &'m Shape,
        problems: &mut Problems,
    ) {
        self.walk(subject, problems).value(node, shape, None);
    }

    /// Reports differences between `node` and `member`: its target, and the constraints of the
    /// member.
    pub(crate) fn check_member(
        &mut self,
        subject: Subject<'_>,
        node: &'m Node,
        member: &'m Member,
        problems: &mut Problems,
    ) {
        self.walk(subject, problems).member(node, member);
    }

    fn walk<'a>(&'a mut self, subject: Subject<'a>, problems: &'a mut Problems) -> Walk<'a, 'm> {
        Walk {
            model: self.model,
            subject,
            path: Vec::new(),
            at_key: false,
            lookups: &mut self.lookups,
            facts: &mut self.facts,
            id_refs: &mut self.id_refs,
            patterns: &mut self.patterns,
            problems,
        }
    }
}

/// One step from a value to a part of it.
#[derive(Clone, Copy)]
enum Step<'m> {
    Index(usize),
    Key(&'m str),
}

/// The state of a check: the path, and the list of findings.
struct Walk<'a, 'm> {
    model: &'m Model,
    subject: Subject<'a>,
    path: Vec<Step<'m>>,
    /// Whether the value is a key of the map at the path.
    at_key: bool,
    lookups: &'a mut Lookups<'m>,
    facts: &'a mut ConstraintCache<'m>,
    id_refs: &'a mut IdRefs<'m>,
    patterns: &'a mut Patterns<'m>,
    problems: &'a mut Problems,
}

impl<'m> Walk<'_, 'm> {
    fn member(&mut self, node: &'m Node, member: &'m Member) {
        // An unknown target is reported at the member.
        if let Some(target) = self.model.target(member) {
            self.member_of(node, member, target);
        }
    }

    fn member_of(&mut self, node: &'m Node, member: &'m Member, target: &'m Shape) {
        if node.is_null() && self.subject.leniency.nulls && !member.traits().is_required() {
            return;
        }
        self.value(node, target, Some(member));
    }

    /// `via` is the member that leads to the shape.
    fn value(&mut self, node: &'m Node, shape: &'m Shape, via: Option<&'m Member>) {
        // The recursion is as deep as the value, which the readers limit.
        if self.path.len() > MAX_DEPTH || self.problems.is_full() {
            return;
        }
        let format = match shape.shape_type() {
            ShapeType::Timestamp => {
                let own = via.and_then(|member| self.facts.of_member(member).timestamp_format);
                own.or_else(|| self.facts.of_shape(shape).timestamp_format)
            }
            _ => None,
        };
        if let Some(expected) = kinds::mismatch(shape.shape_type(), format, node) {
            return self.mismatch(node, expected);
        }
        match (shape.shape_type(), node.value()) {
            (ShapeType::Structure, NodeValue::Object(object)) => {
                self.structure(node, object, shape);
            }
            (ShapeType::Union, NodeValue::Object(object)) => self.union(node, object, shape),
            (ShapeType::Map, NodeValue::Object(object)) => self.map(object, shape),
            (ShapeType::List, NodeValue::Array(items)) => self.list(items, shape),
            _ => {}
        }
        self.constraints(node, shape, via);
    }

    fn part(&mut self, step: Step<'m>, node: &'m Node, member: &'m Member, target: &'m Shape) {
        self.path.push(step);
        self.member_of(node, member, target);
        self.path.pop();
    }

    /// Checks the values of members, and reports unknown keys.
    fn members(&mut self, object: &'m Object, shape: &'m Shape, unknown: Severity) {
        let known = self.lookups.of(shape);
        for entry in object.entries() {
            match known.members.get(entry.key.as_str()) {
                Some(member) => {
                    if let Some(target) = self.model.target(member) {
                        self.part(Step::Key(&entry.key), &entry.value, member, target);
                    }
                }
                None => self.unknown(unknown, &entry.key, entry.key_location, shape),
            }
        }
    }

    fn structure(&mut self, node: &Node, object: &'m Object, shape: &'m Shape) {
        self.members(object, shape, Severity::Warning);
        let known = self.lookups.of(shape);
        let keys: HashSet<&str> = match object.len() > MANY {
            true => object.iter().map(|(key, _)| key).collect(),
            false => HashSet::new(),
        };
        let has = |name| match object.len() > MANY {
            true => keys.contains(name),
            false => object.get(name).is_some(),
        };
        for name in known.required.iter().filter(|name| !has(name)) {
            if self.problems.is_full() {
                return;
            }
            let (severity, location) = (self.constraint_severity(), self.location(node));
            self.report(severity, |place, rule| {
                problem(severity, rule, location, format!("{place} lacks `{name}`"))
                    .expected(format!("`{name}`, which is required"))
            });
        }
    }

    fn union(&mut self, node: &Node, object: &'m Object, shape: &'m Shape) {
        if object.len() != 1 {
            // Smithy's own tool accepts a union without a member.
            let severity = match object.is_empty() {
                true => Severity::Warning,
                false => Severity::Error,
            };
            let location = match object.entries() {
                [_, second, ..] => second.key_location,
                _ => self.location(node),
            };
            return self.report(severity, |place, rule| {
                let message = format!("{place} has {} members", object.len());
                problem(severity, rule, location, message).expected(format!(
                    "exactly one member, because `{}` is a union",
                    shape.id()
                ))
            });
        }
        self.members(object, shape, Severity::Error);
    }

    fn map(&mut self, object: &'m Object, shape: &'m Shape) {
        let is_sparse = shape.traits().is_sparse();
        let key = self.shape_of(shape, "key").filter(|(member, target)| {
            // Most keys are strings without constraints.
            let is_constrained = !member.traits().is_empty() || !target.traits().is_empty();
            is_constrained || target.shape_type() == ShapeType::Enum
        });
        let Some((member, target)) = self.shape_of(shape, "value") else {
            return;
        };
        for entry in object.entries() {
            if let Some((member, target)) = key {
                self.at_key = true;
                self.text(&entry.key, entry.key_location, target, Some(member));
                self.at_key = false;
            }
            if !(is_sparse && entry.value.is_null()) {
                self.part(Step::Key(&entry.key), &entry.value, member, target);
            }
        }
    }

    fn list(&mut self, items: &'m [Node], shape: &'m Shape) {
        let Some((member, target)) = self.shape_of(shape, "member") else {
            return;
        };
        let is_sparse = shape.traits().is_sparse();
        for (index, item) in items.iter().enumerate() {
            if !(is_sparse && item.is_null()) {
                self.part(Step::Index(index), item, member, target);
            }
        }
    }

    /// A member of a list or map with its target, looked up once for all items.
    fn shape_of(&self, shape: &'m Shape, name: &str) -> Option<(&'m Member, &'m Shape)> {
        let member = shape.member(name)?;
        Some((member, self.model.target(member)?))
    }

    #[cold]
    fn mismatch(&mut self, node: &Node, expected: &'static str) {
        let is_bare_trait =
            self.subject.rule == rules::TRAIT_VALUE && self.path.is_empty() && node.is_null();
        let (id, location) = (self.subject.id, self.location(node));
        self.report(Severity::Error, |place, rule| {
            let message = match is_bare_trait {
                true => format!("the trait `{id}` requires a value"),
                false => format!("{place} is {}", shown(node)),
            };
            Problem::error(rule, location, message).expected(expected)
        });
    }

    #[cold]
    fn unknown(
        &mut self,
        severity: Severity,
        key: &str,
        location: SourceLocation,
        shape: &'m Shape,
    ) {
        let rule = match self.subject.rule {
            rules::TRAIT_VALUE => rules::TRAIT_VALUE_UNKNOWN_MEMBER,
            rules::EXAMPLES_TRAIT => rules::EXAMPLES_TRAIT_UNKNOWN_MEMBER,
            rules::TYPED_METADATA => rules::TYPED_METADATA_UNKNOWN_MEMBER,
            other => other,
        };
        let place = ValuePath::of(self.subject, &self.path, false);
        self.problems.push_with(severity, |hints| {
            let names = || shape.members().iter().map(Member::name);
            let hint = hints.then(|| did_you_mean(key, names())).flatten();
            let message = format!("{place} has the unknown member `{}`", beginning(key));
            problem(severity, rule, location, message)
                .expected(format!("a member of `{}`", shape.id()))
                .maybe_hint(hint)
        });
    }

    /// The location of a value.
    fn location(&self, node: &Node) -> SourceLocation {
        match node.location() {
            SourceLocation::NONE => self.subject.at,
            location => location,
        }
    }

    /// The severity of a violated constraint.
    fn constraint_severity(&self) -> Severity {
        match self.subject.leniency.constraints {
            true => Severity::Warning,
            false => Severity::Error,
        }
    }

    /// Adds a finding. The arguments of `make` are the description of the path, and the rule.
    fn report(
        &mut self,
        severity: Severity,
        make: impl FnOnce(ValuePath<'_, 'm>, &'static Rule) -> Problem,
    ) {
        let place = ValuePath::of(self.subject, &self.path, self.at_key);
        self.problems
            .push_with(severity, |_| make(place, self.subject.rule));
    }
}

fn problem(
    severity: Severity,
    rule: &'static Rule,
    location: SourceLocation,
    message: String,
) -> Problem {
    match severity {
        Severity::Error => Problem::error(rule, location, message),
        _ => Problem::warning(rule, location, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loader;

    const MODEL: &str = r#"
        $version: "2"
        metadata value = { name: "too long", size: null, tags: { a: [1, 200] } }
        namespace a
        structure City {
            @required id: String
            @length(max: 3) name: String
            size: Integer
            tags: Tags
        }
        map Tags { key: String, value: Numbers }
        list Numbers { member: Byte }
    "#;

    fn findings(leniency: Leniency) -> Vec<(Severity, String)> {
        let loaded = Loader::new().add_text("a.smithy", MODEL).assemble();
        let model = loaded.unwrap().model;
        let subject = Subject {
            rule: rules::TRAIT_VALUE,
            what: "the example",
            id: "x",
            at: SourceLocation::NONE,
            leniency,
        };
        let mut problems = Problems::default();
        let node = model.metadata().get("value").unwrap();
        let shape = model.get("a#City").unwrap();
        Values::new(&model).check(subject, node, shape, &mut problems);
        let found = problems.into_diagnostics(model.sources());
        found.into_iter().map(|d| (d.severity, d.message)).collect()
    }

    #[test]
    fn leniency_is_about_constraints_and_nulls_alone() {
        let id = "the example `x` lacks `id`".to_owned();
        let name = "`/name` in the example `x` has 8 characters".to_owned();
        let size = "`/size` in the example `x` is null".to_owned();
        let tag = "`/tags/a/1` in the example `x` is `200`".to_owned();
        let strict = [&id, &name, &size, &tag].map(|text| (Severity::Error, text.clone()));
        assert_eq!(findings(Leniency::default()), strict);
        let lenient = Leniency {
            constraints: true,
            nulls: true,
            zeros: false,
        };
        assert_eq!(
            findings(lenient),
            [
                (Severity::Warning, id),
                (Severity::Warning, name),
                (Severity::Error, tag)
            ]
        );
    }
}
