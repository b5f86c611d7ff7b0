//! The findings that a model suppresses or raises.

use std::collections::HashMap;

use polywire_schema::ShapeId;

use super::Problem;
use crate::severity::Severity;
use crate::source::SourceLocation;

/// The findings that a model suppresses, and those that it raises to a higher severity.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    pub(crate) suppressions: Vec<Scope>,
    pub(crate) overrides: Vec<(Scope, Severity)>,
    /// The ids that `@suppress` has, by shape or member.
    pub(crate) by_shape: HashMap<ShapeId, Vec<String>>,
    /// Locations that belong to a member with `@suppress`: findings about a shape can have the
    /// location of one of its members.
    pub(crate) members: HashMap<SourceLocation, ShapeId>,
}

/// The findings that an entry of the metadata applies to.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) id: String,
    /// `None` is all namespaces, and findings about no shape.
    pub(crate) namespace: Option<String>,
    pub(crate) reason: Option<String>,
}

impl Policy {
    /// Whether a finding is suppressed. If not, its severity may be raised.
    pub(super) fn suppresses(&self, problem: &mut Problem) -> bool {
        if problem.severity == Severity::Error {
            return false;
        }
        if let Some(member) = self.members.get(&problem.location)
            && problem
                .shape
                .as_ref()
                .is_some_and(|shape| shape.root_str() == member.root_str())
        {
            problem.shape = Some(member.clone());
        }
        if let Some(ids) = problem.shape.as_ref().and_then(|id| self.by_shape.get(id))
            && ids.iter().any(|id| includes(id, problem.code.as_str()))
        {
            return true;
        }
        if let Some(scope) = self.suppressions.iter().find(|scope| scope.has(problem)) {
            problem.reason.clone_from(&scope.reason);
            return true;
        }
        for (scope, severity) in &self.overrides {
            if scope.has(problem) {
                problem.severity = problem.severity.max(*severity);
            }
        }
        false
    }
}

impl Scope {
    fn has(&self, problem: &Problem) -> bool {
        let namespace = || problem.shape.as_ref().map(|shape| shape.namespace());
        includes(&self.id, problem.code.as_str())
            && (self.namespace.is_none() || self.namespace.as_deref() == namespace())
    }
}

/// Whether a code is `id`, or `id` followed by a dot and more.
fn includes(id: &str, code: &str) -> bool {
    let rest = code.strip_prefix(id);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
