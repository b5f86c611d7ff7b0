//! `@http`: the pattern must be valid, and its labels must be members.

use std::collections::HashSet;

use super::lookup::{Lookup, Lookups};
use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType, UNIT};
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;
use crate::traits::AppliedTrait;
use crate::uri::{Segment, UriPattern};

/// The parts of `@http` that other rules also read, with the location of the uri.
pub(super) struct Http<'m> {
    pub(super) method: &'m str,
    pub(super) uri: UriPattern,
    pub(super) location: SourceLocation,
}

impl<'m> Http<'m> {
    /// `None` if the value of the trait is malformed.
    pub(super) fn of(applied: &'m AppliedTrait) -> Option<Self> {
        let uri = applied.value().get("uri")?;
        Some(Self {
            method: applied.value().get("method")?.as_str()?,
            uri: UriPattern::parse(uri.as_str()?).ok()?,
            location: uri.location(),
        })
    }
}

/// Checks the uri of an operation.
pub(super) fn check<'m>(
    model: &'m Model,
    shape: &'m Shape,
    applied: &'m AppliedTrait,
    lookups: &mut Lookups<'m>,
    problems: &mut Problems,
) {
    // A missing uri, or one that is not a string, is reported as a wrong value of the trait.
    let uri = applied.value().get("uri");
    let Some((text, location)) = uri.and_then(|node| Some((node.as_str()?, node.location())))
    else {
        return;
    };
    let flaw = match UriPattern::parse(text) {
        Ok(_) if !text.is_ascii() => "must be ASCII".to_owned(),
        Ok(pattern) => {
            check_greedy(shape, &pattern, location, problems);
            let input = shape.as_operation().and_then(|o| model.get(o.input()));
            if let Some(input) = input.filter(|input| input.shape_type() == ShapeType::Structure) {
                let labels = Labels {
                    pattern: &pattern,
                    text,
                    location,
                    operation: shape,
                };
                labels.check(model, input, &lookups.of(input), problems);
            }
            return;
        }
        Err(flaw) => flaw,
    };
    problems.push_with(Severity::Error, |_| {
        let message = format!("the uri of `{}` {flaw}", shape.id());
        Problem::error(rules::HTTP_URI_FORMAT, location, message)
            .expected("a pattern such as `/cities/{name}`")
    });
}

/// A greedy label matches all segments up to the end. Labels after it require a server that matches
/// from both ends.
fn check_greedy(
    operation: &Shape,
    pattern: &UriPattern,
    location: SourceLocation,
    problems: &mut Problems,
) {
    let segments = pattern.segments();
    let is_greedy = |segment: &Segment| matches!(segment, Segment::GreedyLabel(_));
    let Some(first) = segments.iter().position(is_greedy) else {
        return;
    };
    let rest = &segments[first + 1..];
    let (rule, message) = if rest.iter().any(is_greedy) {
        (
            rules::HTTP_URI_GREEDY_LABEL_MULTIPLE_GREEDY_LABELS,
            "has more than one greedy label",
        )
    } else if rest.iter().any(|segment| segment.label().is_some()) {
        (
            rules::HTTP_URI_GREEDY_LABEL_GREEDY_LABEL_IS_NOT_LAST_LABEL,
            "has a label after the greedy one",
        )
    } else {
        return;
    };
    problems.push_with(Severity::Danger, |_| {
        let message = format!("the uri of `{}` {message}", operation.id());
        Problem::danger(rule, location, message)
            .expected("at most one greedy label, as the last label")
            .hint("many servers cannot route such a uri")
    });
}

struct Labels<'a, 'm> {
    pattern: &'a UriPattern,
    text: &'m str,
    location: SourceLocation,
    operation: &'m Shape,
}

impl<'m> Labels<'_, 'm> {
    fn check(
        &self,
        model: &'m Model,
        input: &'m Shape,
        known: &Lookup<'m>,
        problems: &mut Problems,
    ) {
        for label in self.pattern.labels() {
            let member = known.members.get(label).copied();
            if !member.is_some_and(|member| member.traits().is_http_label()) {
                self.unbound(label, member, input, problems);
            }
        }
        if known.labels.is_empty() {
            return;
        }
        let labels: HashSet<&str> = self.pattern.labels().collect();
        let greedy = self.pattern.greedy_label();
        for member in &known.labels {
            if problems.is_full() {
                return;
            }
            if !labels.contains(member.name()) {
                self.unnamed(member, problems);
            } else if greedy == Some(member.name()) {
                self.check_greedy_member(model, member, problems);
            }
        }
    }

    fn unbound(
        &self,
        label: &str,
        member: Option<&Member>,
        input: &Shape,
        problems: &mut Problems,
    ) {
        problems.push_with(Severity::Error, |hints| match member {
            Some(member) => {
                let message = format!(
                    "the label `{{{label}}}` names `{}`, which has no @httpLabel",
                    member.id()
                );
                Problem::error(rules::HTTP_LABEL_TRAIT, self.location, message)
                    .hint(format!("apply @httpLabel to `{label}`"))
                    .related("the member", member.location())
            }
            None if *input.id() == UNIT => {
                let id = self.operation.id();
                let message = format!("`{id}` has the label `{{{label}}}`, but no input");
                Problem::error(rules::HTTP_LABEL_TRAIT, self.location, message)
                    .expected("an operation whose input has a member for each label")
            }
            None => {
                let names = || input.members().iter().map(|member| member.name());
                let message = format!(
                    "the label `{{{label}}}` is not a member of `{}`",
                    input.id()
                );
                Problem::error(rules::HTTP_LABEL_TRAIT, self.location, message)
                    .expected("the names of members with @httpLabel in the braces")
                    .maybe_hint(hints.then(|| did_you_mean(label, names())).flatten())
                    .related("the input", input.location())
            }
        });
    }

    fn unnamed(&self, member: &Member, problems: &mut Problems) {
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` has @httpLabel, but the uri of `{}` has no such label",
                member.id(),
                self.operation.id()
            );
            let problem = Problem::error(rules::HTTP_LABEL_TRAIT, member.location(), message)
                .about(member.id())
                .related("the uri", self.location);
            match self.text.len() < 100 {
                true => problem.expected(format!("`{{{}}}` in `{}`", member.name(), self.text)),
                false => problem.expected(format!("`{{{}}}` in the uri", member.name())),
            }
        });
    }

    fn check_greedy_member(&self, model: &Model, member: &Member, problems: &mut Problems) {
        let target = model.target(member).map(Shape::shape_type);
        if matches!(target, None | Some(ShapeType::String | ShapeType::Enum)) {
            return;
        }
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "the greedy label `{{{}+}}` requires a string, but `{}` is not one",
                member.name(),
                member.id()
            );
            Problem::error(rules::HTTP_LABEL_TRAIT, member.target().location(), message)
                .about(member.id())
                .expected("a string, because the label matches several segments")
                .related("the uri", self.location)
        });
    }
}
