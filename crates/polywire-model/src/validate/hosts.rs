//! `@endpoint`: the host prefix of an operation, with labels from its input.

use std::collections::HashSet;

use super::lookup::Lookups;
use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;
use crate::traits::AppliedTrait;

pub(super) fn check<'m>(
    model: &'m Model,
    operation: &'m Shape,
    applied: &'m AppliedTrait,
    lookups: &mut Lookups<'m>,
    problems: &mut Problems,
) {
    let prefix = applied.value().get("hostPrefix");
    let Some((text, location)) = prefix.and_then(|node| Some((node.as_str()?, node.location())))
    else {
        return;
    };
    // An empty prefix is reported as a wrong value of the trait.
    if text.is_empty() {
        return;
    }
    let host = Host {
        operation,
        location,
    };
    let labels = match labels_of(text) {
        Ok(labels) => labels,
        Err(flaw) => return host.malformed(&flaw, problems),
    };
    if !labels.is_empty() && !text.ends_with('.') {
        problems.push_with(Severity::Danger, |_| {
            let message = format!(
                "the host prefix of `{}` has a label, but no `.` at the end",
                operation.id()
            );
            Problem::danger(rules::HOST_LABEL_TRAIT, location, message)
                .expected("a `.` at the end")
                .hint("without it, the value of a caller can select another host")
        });
    }
    let input = operation.as_operation().and_then(|o| model.get(o.input()));
    let Some(input) = input.filter(|input| input.shape_type() == ShapeType::Structure) else {
        return;
    };
    let known = lookups.of(input);
    for label in &labels {
        let member = known.members.get(label).copied();
        if !member.is_some_and(|member| member.traits().is_host_label()) {
            host.unbound(label, member, input, problems);
        }
    }
    let labels: HashSet<&str> = labels.into_iter().collect();
    for member in &known.host_labels {
        if problems.is_full() {
            return;
        }
        if !labels.contains(member.name()) {
            host.unnamed(member, problems);
        }
    }
}

struct Host<'m> {
    operation: &'m Shape,
    location: SourceLocation,
}

impl Host<'_> {
    fn malformed(&self, flaw: &str, problems: &mut Problems) {
        problems.push_with(Severity::Error, |_| {
            let message = format!("the host prefix of `{}` {flaw}", self.operation.id());
            Problem::error(rules::HOST_LABEL_TRAIT, self.location, message)
                .expected("letters, digits and `-` between dots, such as `{bucket}.data.`")
        });
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
                    "the label `{{{label}}}` names `{}`, which has no @hostLabel",
                    member.id()
                );
                Problem::error(rules::HOST_LABEL_TRAIT, self.location, message)
                    .hint(format!("apply @hostLabel to `{label}`"))
                    .related("the member", member.location())
            }
            None => {
                let names = || input.members().iter().map(|member| member.name());
                let message = format!(
                    "the label `{{{label}}}` is not a member of `{}`",
                    input.id()
                );
                Problem::error(rules::HOST_LABEL_TRAIT, self.location, message)
                    .expected("the names of members with @hostLabel in the braces")
                    .maybe_hint(hints.then(|| did_you_mean(label, names())).flatten())
                    .related("the input", input.location())
            }
        });
    }

    fn unnamed(&self, member: &Member, problems: &mut Problems) {
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` has @hostLabel, but the host prefix of `{}` has no such label",
                member.id(),
                self.operation.id()
            );
            Problem::error(rules::HOST_LABEL_TRAIT, member.location(), message)
                .about(member.id())
                .expected(format!("`{{{}}}` in the prefix", member.name()))
                .related("the prefix", self.location)
        });
    }
}

/// The labels of a prefix. The error is a sentence without a subject: "must not contain the label
/// `a` twice".
fn labels_of(text: &str) -> Result<Vec<&str>, String> {
    let mut labels: Vec<&str> = Vec::new();
    // The prefix with a letter for each label must be a host.
    let mut host = String::with_capacity(text.len());
    let mut rest = text;
    let mut after_label = false;
    while let Some(at) = rest.find(['{', '}']) {
        let (literal, brace) = rest.split_at(at);
        host.push_str(literal);
        let Some(brace) = brace.strip_prefix('{') else {
            return Err("has a `}` without a `{`".to_owned());
        };
        let Some((label, behind)) = brace.split_once('}') else {
            return Err("has a `{` without a `}`".to_owned());
        };
        if after_label && literal.is_empty() {
            return Err(format!("must have text before the label `{label}`"));
        }
        if label.ends_with('+') {
            return Err(format!("must not have the greedy label `{{{label}}}`"));
        }
        if !polywire_schema::is_identifier(label) {
            return Err(format!(
                "must have the name of a member in the label `{{{label}}}`"
            ));
        }
        host.push('a');
        labels.push(label);
        after_label = true;
        rest = behind;
    }
    host.push_str(rest);
    let mut names: Vec<String> = labels.iter().map(|l| l.to_ascii_lowercase()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("must not have the label `{}` twice", pair[0]));
    }
    match is_host(&host) {
        true => Ok(labels),
        false => Err("is not the start of a host".to_owned()),
    }
}

/// Names of letters, digits and hyphens, separated by dots. Most prefixes end with a dot, because
/// the host of the service follows.
fn is_host(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let is_name = |name: &str| {
        (1..=63).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    !text.starts_with('-') && text.split('.').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        assert_eq!(labels_of("{a}-{b_c}.data.").unwrap(), ["a", "b_c"]);
        assert!(labels_of("data").unwrap().is_empty());
        for text in [
            "", ".", "-a", "a..b", "a_b", "{a", "a}", "{}", "{a}{b}", "{a}.{A}", "{a+}",
        ] {
            assert!(labels_of(text).is_err(), "{text}");
        }
    }
}
