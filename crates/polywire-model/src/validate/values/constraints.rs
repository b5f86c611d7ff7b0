//! Constraints on values, from traits on the shape and on the member that leads to it. Both apply.

use polywire_schema::ShapeId;
use polywire_text::base64;

use super::constraint_cache::{Constraints, IdRef};
use super::id_refs::{MatchResult, NamedShape};
use super::unique;
use super::words::{ValuePath, beginning, shown};
use super::{Walk, problem};
use crate::diagnostic::Problem;
use crate::node::{Node, NodeValue, Number};
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::spelling::{did_you_mean, one_of};
use crate::traits::{LengthTrait, RangeTrait};
use crate::validate::selectors::in_words;

/// Bounds with more digits are not checked: comparing a bound of a megabyte with each number in a
/// list would take too long, and no real range has such bounds.
const MAX_DIGITS: usize = 400;

impl<'m> Walk<'_, 'm> {
    /// Checks constraints. The value has the right type.
    pub(super) fn constraints(
        &mut self,
        node: &'m Node,
        shape: &'m Shape,
        via: Option<&'m Member>,
    ) {
        let location = self.location(node);
        match node.value() {
            NodeValue::String(text) if shape.shape_type() == ShapeType::Blob => {
                for facts in self.facts(shape, via) {
                    self.length(&facts, ["byte", "bytes"], location, || {
                        // If a blob is not base64, its text is measured.
                        base64::decode(text.as_bytes()).map_or(text.len(), |blob| blob.len())
                    });
                }
            }
            NodeValue::String(text) => self.text(text, location, shape, via),
            NodeValue::Array(items) => {
                for facts in self.facts(shape, via) {
                    self.length(&facts, ["item", "items"], location, || items.len());
                    if facts.has_unique_items {
                        self.unique_items(items, facts.owner);
                    }
                }
            }
            NodeValue::Object(object) if shape.shape_type() == ShapeType::Map => {
                for facts in self.facts(shape, via) {
                    self.length(&facts, ["entry", "entries"], location, || object.len());
                }
            }
            NodeValue::Number(number) => {
                for facts in self.facts(shape, via) {
                    self.range(number, node, &facts, via);
                }
                if shape.shape_type() == ShapeType::IntEnum {
                    self.int_enum(number, node, shape);
                }
            }
            _ => {}
        }
    }

    /// A string, or the key of a map.
    pub(super) fn text(
        &mut self,
        text: &'m str,
        location: SourceLocation,
        shape: &'m Shape,
        via: Option<&'m Member>,
    ) {
        // The format of a timestamp was checked with its type.
        if !matches!(shape.shape_type(), ShapeType::String | ShapeType::Enum) {
            return;
        }
        for facts in self.facts(shape, via) {
            if facts.has_enum {
                self.string_enum(text, location, shape);
            }
            self.length(&facts, ["character", "characters"], location, || {
                text.chars().count()
            });
            self.pattern(text, location, &facts);
            if let Some(id_ref) = facts.id_ref {
                self.id_ref(text, location, &id_ref);
            }
        }
        if shape.shape_type() == ShapeType::Enum {
            self.string_enum(text, location, shape);
        }
    }

    /// The constraints of the member and of the shape.
    fn facts(&mut self, shape: &'m Shape, via: Option<&'m Member>) -> [Constraints<'m>; 2] {
        [
            via.map_or_else(Constraints::default, |member| self.facts.of_member(member)),
            self.facts.of_shape(shape),
        ]
    }

    fn length(
        &mut self,
        facts: &Constraints<'m>,
        [one, many]: [&str; 2],
        location: SourceLocation,
        length: impl FnOnce() -> usize,
    ) {
        let Some((LengthTrait { min, max }, at)) = facts.length else {
            return;
        };
        let length = length() as u64;
        let expected = match (min, max) {
            (Some(min), _) if length < min => format!("at least {min}"),
            (_, Some(max)) if length > max => format!("at most {max}"),
            _ => return,
        };
        let (severity, owner) = (self.constraint_severity(), facts.owner);
        self.report(severity, |place, rule| {
            let unit = if length == 1 { one } else { many };
            let message = format!("{place} has {length} {unit}");
            problem(severity, rule, location, message)
                .expected(format!("{expected}, because `{owner}` has @length"))
                .related("@length", at)
        });
    }

    fn range(
        &mut self,
        number: &Number,
        node: &Node,
        facts: &Constraints<'m>,
        via: Option<&Member>,
    ) {
        let Some((RangeTrait { min, max }, at)) = facts.range else {
            return;
        };
        let usable = |bound: &&Number| bound.written().is_none_or(|text| text.len() <= MAX_DIGITS);
        let expected = match (min.filter(usable), max.filter(usable)) {
            (Some(min), _) if number < min => format!("at least {min}"),
            (_, Some(max)) if number > max => format!("at most {max}"),
            _ => return,
        };
        let severity = match self.subject.leniency.zeros && number.as_i64() == Some(0) {
            true => Severity::Warning,
            false => self.constraint_severity(),
        };
        // Models converted from 1.0 suppress these ids.
        let owner = facts.owner;
        let by_member = via.is_some_and(|member| member.id() == owner);
        let rule = match (self.subject.rule, by_member) {
            (rules::DEFAULT_TRAIT, true) => rules::DEFAULT_TRAIT_MEMBER_INVALID_RANGE,
            (rules::DEFAULT_TRAIT, false) => rules::DEFAULT_TRAIT_TARGET_INVALID_RANGE,
            (rules::TRAIT_VALUE, true) => rules::TRAIT_VALUE_MEMBER_INVALID_RANGE,
            (rules::TRAIT_VALUE, false) => rules::TRAIT_VALUE_TARGET_INVALID_RANGE,
            (other, _) => other,
        };
        let location = self.location(node);
        self.report(severity, |place, _| {
            let message = format!("{place} is {}", shown(node));
            problem(severity, rule, location, message)
                .expected(format!("{expected}, because `{owner}` has @range"))
                .related("@range", at)
        });
    }

    fn pattern(&mut self, text: &str, location: SourceLocation, facts: &Constraints<'m>) {
        let Some((pattern, at)) = facts.pattern else {
            return;
        };
        if self.patterns.matches(pattern, text) != Some(false) {
            return;
        }
        let (severity, owner) = (self.constraint_severity(), facts.owner);
        self.report(severity, |place, rule| {
            let message = format!("{place} is `{}`", beginning(text));
            problem(severity, rule, location, message)
                .expected(format!(
                    "text that matches `{}`, the @pattern of `{owner}`",
                    beginning(pattern)
                ))
                .related("@pattern", at)
        });
    }

    fn unique_items(&mut self, items: &'m [Node], owner: &str) {
        let Some((first, second)) = unique::repeated(items) else {
            return;
        };
        let severity = self.constraint_severity();
        self.report(severity, |place, rule| {
            let message = format!("{place} has the same item twice");
            problem(severity, rule, second.location(), message)
                .expected(format!(
                    "different items, because `{owner}` has @uniqueItems"
                ))
                .related("first", first.location())
        });
    }

    /// Checks the values of an enum, or of a string with `@enum`.
    fn string_enum(&mut self, text: &str, location: SourceLocation, shape: &'m Shape) {
        let known = self.lookups.of(shape);
        if known.texts.contains(text) {
            return;
        }
        let severity = self.constraint_severity();
        let place = ValuePath::of(self.subject, &self.path, self.at_key);
        let rule = self.subject.rule;
        self.problems.push_with(severity, |hints| {
            let hint = || did_you_mean(text, known.texts_in_order.iter().copied());
            let message = format!("{place} is `{}`", beginning(text));
            problem(severity, rule, location, message)
                .expected(one_of(known.texts_in_order.iter().copied()))
                .maybe_hint(hints.then(hint).flatten())
                .related("the values", shape.location())
        });
    }

    fn int_enum(&mut self, number: &Number, node: &Node, shape: &'m Shape) {
        let known = self.lookups.of(shape);
        if number
            .as_i64()
            .is_some_and(|value| known.numbers.contains(&value))
        {
            return;
        }
        let (severity, location) = (self.constraint_severity(), self.location(node));
        self.report(severity, |place, rule| {
            let values = shape.members().iter();
            let values = values.filter_map(|member| member.traits().enum_value());
            let values: Vec<String> = values.take(21).map(Node::to_json).collect();
            let message = format!("{place} is {}", shown(node));
            problem(severity, rule, location, message)
                .expected(one_of(values.iter().map(String::as_str)))
                .related("the values", shape.location())
        });
    }

    fn id_ref(&mut self, text: &'m str, location: SourceLocation, id_ref: &IdRef<'m>) {
        let Ok(id) = ShapeId::parse(text) else {
            let hint = polywire_schema::is_identifier(text)
                .then(|| format!("without quotes, `{text}` is resolved to an absolute id"));
            return self.report(Severity::Error, |place, rule| {
                let message = format!("{place} is `{}`", beginning(text));
                Problem::error(rule, location, message)
                    .expected("the absolute id of a shape, such as `smithy.api#String`")
                    .maybe_hint(hint)
            });
        };
        let hint = || id_ref.error_message.map(str::to_owned);
        let Some(named) = self.named(&id) else {
            if id_ref.must_exist {
                self.report(Severity::Error, |place, rule| {
                    let shown = beginning(text);
                    let message = format!("{place} names `{shown}`, which is not defined");
                    Problem::error(rule, location, message).maybe_hint(hint())
                });
            }
            return;
        };
        let place = ValuePath::of(self.subject, &self.path, self.at_key);
        let (rule, problems) = (self.subject.rule, &mut *self.problems);
        match self.id_refs.matches(id_ref.selector, named) {
            MatchResult::No(selector) => problems.push_with(Severity::Error, |_| {
                let message = format!("{place} names `{}`, {}", beginning(text), named.kind());
                Problem::error(rule, location, message)
                    .expected(in_words(selector.sequence()))
                    .maybe_hint(hint())
                    .related("defined", named.location())
            }),
            MatchResult::TooMuchWork => {
                let shown = beginning(id_ref.selector);
                let message = format!("the selector `{shown}` of an @idRef takes too much work");
                problems.push(
                    Problem::error(rules::SELECTOR_WORK, location, message)
                        .expected("a selector that visits fewer shapes"),
                );
            }
            MatchResult::Yes => {}
        }
    }

    /// The shape or member with an id, if it exists.
    fn named(&mut self, id: &ShapeId) -> Option<NamedShape<'m>> {
        let shape = self.model.get(id.root_str())?;
        let member = match id.member() {
            Some(name) => Some(*self.lookups.of(shape).members.get(name)?),
            None => None,
        };
        Some(NamedShape { shape, member })
    }
}
