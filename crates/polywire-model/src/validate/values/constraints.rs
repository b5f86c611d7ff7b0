//! What traits demand of a value, be they on its shape or on the member that
//! leads to it. Where both have a constraint, both hold.

use polywire_schema::ShapeId;
use polywire_text::base64;

use super::unique;
use super::{Walk, beginning, problem, shown};
use crate::diagnostic::{Problem, Severity, did_you_mean, one_of};
use crate::model::Model;
use crate::node::{Node, NodeValue, Number};
use crate::shape::{Member, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::traits::{AppliedTrait, LengthTrait, RangeTrait};

/// Bounds of more digits than this are not compared with: a bound of a megabyte
/// and a list of small numbers would take forever, and no real range has them.
const MAX_DIGITS: usize = 400;

impl<'m> Walk<'_, 'm> {
    /// The value is known to be of the right kind.
    pub(super) fn constraints(
        &mut self,
        node: &'m Node,
        shape: &'m Shape,
        via: Option<&'m Member>,
    ) {
        let location = self.location(node);
        match node.value() {
            NodeValue::String(text) if shape.shape_type() == ShapeType::Blob => {
                // Not all authors know that a blob is written in base64.
                let bytes =
                    || base64::decode(text.as_bytes()).map_or(text.len(), |blob| blob.len());
                self.each("length", shape, via, |walk, owner, applied| {
                    walk.length(bytes(), "bytes", location, owner, applied);
                });
            }
            NodeValue::String(text) => self.text(text, location, shape, via),
            NodeValue::Array(items) => {
                self.each("length", shape, via, |walk, owner, applied| {
                    walk.length(items.len(), "items", location, owner, applied);
                });
                self.each("uniqueItems", shape, via, |walk, owner, _| {
                    walk.unique_items(items, owner);
                });
            }
            NodeValue::Object(object) if shape.shape_type() == ShapeType::Map => {
                self.each("length", shape, via, |walk, owner, applied| {
                    walk.length(object.len(), "entries", location, owner, applied);
                });
            }
            NodeValue::Number(number) => {
                self.each("range", shape, via, |walk, owner, applied| {
                    walk.range(number, node, owner, applied, via);
                });
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
        // The format of a timestamp was looked at with its kind.
        if !matches!(shape.shape_type(), ShapeType::String | ShapeType::Enum) {
            return;
        }
        let is_plain = shape.traits().is_empty() && via.is_none_or(|m| m.traits().is_empty());
        if is_plain && shape.shape_type() == ShapeType::String {
            return;
        }
        self.string_enum(text, location, shape);
        self.each("length", shape, via, |walk, owner, applied| {
            let length = text.chars().count();
            walk.length(length, "characters", location, owner, applied);
        });
        self.each("pattern", shape, via, |walk, owner, applied| {
            walk.pattern(text, location, owner, applied);
        });
        self.each("idRef", shape, via, |walk, _, applied| {
            walk.id_ref(text, location, applied);
        });
    }

    /// Calls `check` with each of the member and the shape that has the trait.
    fn each(
        &mut self,
        name: &str,
        shape: &'m Shape,
        via: Option<&'m Member>,
        mut check: impl FnMut(&mut Self, &'m str, &'m AppliedTrait),
    ) {
        let of_member = via.map(|member| (member.id().as_str(), member.traits()));
        for (owner, traits) in of_member
            .into_iter()
            .chain([(shape.id().as_str(), shape.traits())])
        {
            let mut all = traits.iter();
            let applied = all.find(|applied| {
                applied
                    .id()
                    .strip_prefix("smithy.api#")
                    .is_some_and(|rest| rest == name)
            });
            if let Some(applied) = applied {
                check(self, owner, applied);
            }
        }
    }

    fn length(
        &mut self,
        length: usize,
        unit: &str,
        location: SourceLocation,
        owner: &str,
        applied: &AppliedTrait,
    ) {
        let Some(LengthTrait { min, max }) = LengthTrait::of(applied.value()) else {
            return;
        };
        let length = length as u64;
        let expected = match (min, max) {
            (Some(min), _) if length < min => format!("at least {min}"),
            (_, Some(max)) if length > max => format!("at most {max}"),
            _ => return,
        };
        let (severity, at) = (self.constraint_severity(), applied.location());
        self.report(severity, |place, code| {
            let message = format!("{place} has {length} {unit}");
            problem(severity, code, location, message)
                .expected(format!("{expected}, as `{owner}` has @length"))
                .related("@length", at)
        });
    }

    fn range(
        &mut self,
        number: &Number,
        node: &Node,
        owner: &str,
        applied: &AppliedTrait,
        via: Option<&Member>,
    ) {
        let Some(RangeTrait { min, max }) = RangeTrait::of(applied.value()) else {
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
        // Converters of 1.0 models suppress these by name.
        let by_member = via.is_some_and(|member| member.id() == owner);
        let code = match (self.subject.code, by_member) {
            ("DefaultTrait", true) => "DefaultTrait.Member.InvalidRange",
            ("DefaultTrait", false) => "DefaultTrait.Target.InvalidRange",
            ("TraitValue", true) => "TraitValue.Member.InvalidRange",
            ("TraitValue", false) => "TraitValue.Target.InvalidRange",
            (other, _) => other,
        };
        let location = self.location(node);
        self.report(severity, |place, _| {
            let message = format!("{place} is {}", shown(node));
            problem(severity, code, location, message)
                .expected(format!("{expected}, as `{owner}` has @range"))
                .related("@range", applied.location())
        });
    }

    fn pattern(
        &mut self,
        text: &str,
        location: SourceLocation,
        owner: &str,
        applied: &'m AppliedTrait,
    ) {
        let Some(pattern) = applied.value().as_str() else {
            return;
        };
        if self.patterns.matches(pattern, text) != Some(false) {
            return;
        }
        let severity = self.constraint_severity();
        self.report(severity, |place, code| {
            let message = format!("{place} is `{}`", beginning(text));
            problem(severity, code, location, message)
                .expected(format!(
                    "text that matches `{}`, the @pattern of `{owner}`",
                    beginning(pattern)
                ))
                .related("@pattern", applied.location())
        });
    }

    fn unique_items(&mut self, items: &'m [Node], owner: &str) {
        let Some((first, second)) = unique::repeated(items) else {
            return;
        };
        let severity = self.constraint_severity();
        self.report(severity, |place, code| {
            let message = format!("{place} has the same item twice");
            problem(severity, code, second.location(), message)
                .expected(format!("items that differ, as `{owner}` has @uniqueItems"))
                .related("first", first.location())
        });
    }

    /// What an enum allows, and a string with the trait of the same name.
    fn string_enum(&mut self, text: &str, location: SourceLocation, shape: &'m Shape) {
        let is_enum = shape.shape_type() == ShapeType::Enum;
        if !is_enum && !shape.traits().has("smithy.api#enum") {
            return;
        }
        let known = self.lookups.of(shape);
        if known.texts.contains(text) {
            return;
        }
        let severity = self.constraint_severity();
        let place = super::Place::of(self.subject, &self.path);
        let code = self.subject.code;
        self.problems.push_with(severity, |hints| {
            let hint = || did_you_mean(text, known.texts_in_order.iter().copied());
            let message = format!("{place} is `{}`", beginning(text));
            problem(severity, code, location, message)
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
        self.report(severity, |place, code| {
            let values = shape.members().iter();
            let values = values.filter_map(|member| member.traits().enum_value());
            let values: Vec<String> = values.take(21).map(Node::to_json).collect();
            let message = format!("{place} is {}", shown(node));
            problem(severity, code, location, message)
                .expected(one_of(values.iter().map(String::as_str)))
                .related("the values", shape.location())
        });
    }

    fn id_ref(&mut self, text: &str, location: SourceLocation, applied: &'m AppliedTrait) {
        let value = applied.value();
        let own_words = value.get("errorMessage").and_then(Node::as_str);
        let must_exist = value
            .get("failWhenMissing")
            .and_then(Node::as_bool)
            .unwrap_or(false);
        let selector = value.get("selector").and_then(Node::as_str).unwrap_or("*");
        let Ok(id) = ShapeId::parse(text) else {
            return self.report(Severity::Error, |place, code| {
                let message = format!("{place} is `{}`", beginning(text));
                Problem::error(code, location, message)
                    .expected("the absolute id of a shape, such as `smithy.api#String`")
            });
        };
        let is_found = match id.is_member() {
            true => self.model.member(&id).is_some(),
            false => self.model.get(&id).is_some(),
        };
        let fits = match is_found {
            true => fits_selector(self.model, selector, &id),
            false => !must_exist,
        };
        if fits {
            return;
        }
        self.report(Severity::Error, |place, code| {
            let why = match is_found {
                true => format!("does not match the selector `{}`", beginning(selector)),
                false => "is not defined".to_owned(),
            };
            let message = format!("{place} names `{}`, which {why}", beginning(text));
            Problem::error(code, location, message).maybe_hint(own_words.map(str::to_owned))
        });
    }
}

/// Whether a shape is among those that a selector picks: what `@idRef` demands.
/// Selectors are not evaluated here: whatever exists fits.
fn fits_selector(_model: &Model, _selector: &str, _id: &ShapeId) -> bool {
    true
}
