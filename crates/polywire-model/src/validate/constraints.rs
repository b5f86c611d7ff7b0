//! The constraint traits themselves: whether values can satisfy `@length`, `@range` and `@pattern`.

use super::traits::Owner;
use polywire_text::pattern::EcmaPattern;

use super::values::{is_plain, shown};
use crate::diagnostic::{Problem, Problems};
use crate::node::{Node, Number};
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::ShapeType;
use crate::traits::{AppliedTrait, RangeTrait};

/// `@length`: bounds are not negative, and `min` is not greater than `max`.
pub(super) fn length(owner: Owner<'_>, applied: &AppliedTrait, problems: &mut Problems) {
    let bound = |key| {
        applied
            .value()
            .get(key)
            .filter(|node| node.as_i64().is_some())
    };
    check_bounded(rules::LENGTH_TRAIT, "length", owner, applied, problems);
    let (min, max) = (bound("min"), bound("max"));
    for (key, bound) in [("min", min), ("max", max)] {
        if let Some(bound) = bound.filter(|bound| bound.as_i64() < Some(0)) {
            problems.push_with(Severity::Error, |_| {
                let message = format!("the `{key}` of @length on `{}` is negative", owner.id);
                Problem::error(rules::LENGTH_TRAIT, bound.location(), message)
                    .expected("a number that is not negative")
            });
        }
    }
    if let (Some(min), Some(max)) = (min, max)
        && min.as_i64() > max.as_i64()
    {
        check_order(rules::LENGTH_TRAIT, "length", owner, min, max, problems);
    }
}

/// `@range`: `min` is not greater than `max`, and bounds of integers have no fractions.
pub(super) fn range(owner: Owner<'_>, applied: &AppliedTrait, problems: &mut Problems) {
    check_bounded(rules::RANGE_TRAIT, "range", owner, applied, problems);
    let Some(RangeTrait { min, max }) = RangeTrait::of(applied.value()) else {
        return;
    };
    let has_fractions = owner.data.is_some_and(|data| {
        matches!(
            data.shape_type(),
            ShapeType::BigDecimal | ShapeType::Double | ShapeType::Float
        )
    });
    let node = |key| applied.value().get(key);
    for (key, bound) in [("min", min), ("max", max)] {
        let (Some(bound), Some(node)) = (bound, node(key)) else {
            continue;
        };
        if !has_fractions && !is_plain(bound) {
            problems.push_with(Severity::Error, |_| {
                let message = format!("the `{key}` of @range on `{}` is {}", owner.id, shown(node));
                let problem = Problem::error(rules::RANGE_TRAIT, node.location(), message);
                match owner.data {
                    Some(data) => problem.expected(format!(
                        "an integer, as `{}` is {}",
                        data.id(),
                        data.shape_type().with_article()
                    )),
                    None => problem.expected("an integer"),
                }
            });
        }
    }
    let is_reversed = |(min, max): (&Number, &Number)| min > max;
    if let (Some(min), Some(max)) = (node("min"), node("max")) {
        let bounds = min.as_number().zip(max.as_number());
        if bounds.is_some_and(is_reversed) {
            check_order(rules::RANGE_TRAIT, "range", owner, min, max, problems);
        }
    }
}

/// A trait without bounds has no effect.
fn check_bounded(
    rule: &'static Rule,
    name: &str,
    owner: Owner<'_>,
    applied: &AppliedTrait,
    problems: &mut Problems,
) {
    let value = applied.value();
    if ["min", "max"].iter().any(|key| value.get(key).is_some()) || value.as_object().is_none() {
        return;
    }
    problems.push_with(Severity::Error, |_| {
        let message = format!("@{name} on `{}` has no bound", owner.id);
        Problem::error(rule, applied.location(), message).expected("`min`, `max` or both")
    });
}

#[cold]
fn check_order(
    rule: &'static Rule,
    name: &str,
    owner: Owner<'_>,
    min: &Node,
    max: &Node,
    problems: &mut Problems,
) {
    problems.push_with(Severity::Error, |_| {
        let message = format!(
            "the `min` of @{name} on `{}` is greater than its `max`",
            owner.id
        );
        Problem::error(rule, min.location(), message)
            .expected(format!("at most {}", shown(max)))
            .related("`max`", max.location())
    });
}

/// `@pattern`: valid, and anchored at both ends.
pub(super) fn pattern(owner: Owner<'_>, applied: &AppliedTrait, problems: &mut Problems) {
    let value = applied.value();
    let Some(pattern) = value.as_str() else {
        return;
    };
    if let Err(flaw) = EcmaPattern::read(pattern) {
        return problems.push_with(Severity::Error, |_| {
            let message = format!("the pattern of `{}` has {}", owner.id, flaw.what);
            let rest = pattern.get(flaw.offset..).unwrap_or_default();
            let rest: String = rest.chars().take(20).collect();
            Problem::error(rules::PATTERN_TRAIT, value.location(), message)
                .expected("a regular expression of ECMA 262")
                .hint(format!("the error is at `{rest}`"))
        });
    }
    let missing = match (pattern.starts_with('^'), pattern.ends_with('$')) {
        (true, true) => return,
        (false, true) => "`^` at the start",
        (true, false) => "`$` at the end",
        (false, false) => "`^` at the start and `$` at the end",
    };
    problems.push_with(Severity::Warning, |_| {
        let message = format!("the pattern of `{}` can match a part of a text", owner.id);
        Problem::warning(rules::PATTERN_TRAIT, value.location(), message)
            .expected(missing)
            .hint("add `.*` if the rest of the text may be anything")
    });
}
