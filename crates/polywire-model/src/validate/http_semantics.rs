//! Whether operations match the semantics of their method and status in RFC 9110: safe and
//! idempotent methods, and bodies.

use super::bindings::{Direction, Messages};
use super::http::Http;
use super::listed;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::node::Node;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape};
use crate::source::SourceLocation;
use crate::traits::{AppliedTrait, ErrorKind};

/// The expected traits of an operation with a method. `None` if both are allowed.
struct Semantics {
    method: &'static str,
    is_readonly: bool,
    is_idempotent: Option<bool>,
    has_body: bool,
}

const METHODS: [Semantics; 8] = [
    semantics("DELETE", false, Some(true), false),
    semantics("GET", true, Some(false), false),
    semantics("HEAD", true, Some(false), false),
    semantics("OPTIONS", true, Some(false), true),
    semantics("PATCH", false, None, true),
    semantics("POST", false, None, true),
    semantics("PUT", false, Some(true), true),
    semantics("TRACE", true, Some(false), false),
];

const fn semantics(
    method: &'static str,
    is_readonly: bool,
    is_idempotent: Option<bool>,
    has_body: bool,
) -> Semantics {
    Semantics {
        method,
        is_readonly,
        is_idempotent,
        has_body,
    }
}

/// Checks method and status of an operation with `@http`.
pub(super) fn check<'m>(
    model: &'m Model,
    operation: &'m Shape,
    applied: &AppliedTrait,
    http: &Http<'_>,
    messages: &mut Messages<'m>,
    problems: &mut Problems,
) {
    let at = |key| applied.value().get(key).map(Node::location);
    let method_location = at("method").unwrap_or(applied.location());
    let semantics = METHODS
        .iter()
        .find(|known| known.method.eq_ignore_ascii_case(http.method));
    // Other methods have no defined semantics.
    if let Some(semantics) = semantics {
        let method = Method {
            semantics,
            operation,
            location: method_location,
        };
        method.check_spelling(http.method, problems);
        method.check_traits(problems);
        method.check_body(model, messages, problems);
    }
    let code = applied.value().get("code");
    if let Some((code, number)) = code.and_then(|code| Some((code, code.as_i64()?))) {
        check_code(
            model,
            operation,
            (number, code.location()),
            messages,
            problems,
        );
    }
}

struct Method<'m> {
    semantics: &'static Semantics,
    operation: &'m Shape,
    location: SourceLocation,
}

impl<'m> Method<'m> {
    fn check_spelling(&self, given: &str, problems: &mut Problems) {
        let name = self.semantics.method;
        if given != name {
            problems.push_with(Severity::Warning, |_| {
                let message = format!("the method of `{}` is `{given}`", self.operation.id());
                Problem::warning(rules::HTTP_METHOD_SEMANTICS, self.location, message)
                    .expected(format!("`{name}`: methods are case-sensitive"))
            });
        }
        if name == "OPTIONS" {
            problems.push_with(Severity::Warning, |_| {
                let message = format!("`{}` models an OPTIONS request", self.operation.id());
                Problem::warning(rules::HTTP_METHOD_SEMANTICS_OPTIONS, self.location, message)
                    .expected("no such operation: servers answer these requests themselves")
                    .hint("apply @cors to the service")
            });
        }
    }

    fn check_traits(&self, problems: &mut Problems) {
        let traits = self.operation.traits();
        let readonly = (
            "readonly",
            traits.find(ids::READONLY),
            Some(self.semantics.is_readonly),
            rules::HTTP_METHOD_SEMANTICS_MISSING_READONLY_TRAIT,
            rules::HTTP_METHOD_SEMANTICS_UNNECESSARY_READONLY_TRAIT,
        );
        let idempotent = (
            "idempotent",
            traits.find(ids::IDEMPOTENT),
            self.semantics.is_idempotent,
            rules::HTTP_METHOD_SEMANTICS_MISSING_IDEMPOTENT_TRAIT,
            rules::HTTP_METHOD_SEMANTICS_UNNECESSARY_IDEMPOTENT_TRAIT,
        );
        let (id, method) = (self.operation.id(), self.semantics.method);
        for (name, applied, expected, missing, unnecessary) in [readonly, idempotent] {
            match (applied, expected) {
                (None, Some(true)) => problems.push_with(Severity::Warning, |_| {
                    let message = format!("`{id}` is sent with {method}, but has no @{name}");
                    Problem::warning(missing, self.location, message)
                        .hint(format!("apply @{name} to the operation"))
                }),
                (Some(applied), Some(false)) => problems.push_with(Severity::Warning, |_| {
                    let message = format!("`{id}` has @{name}, but is sent with {method}");
                    let problem = Problem::warning(unnecessary, applied.location(), message)
                        .related("the method", self.location);
                    match self.semantics.is_readonly {
                        true => {
                            problem.expected(format!("no @{name}: {method} is idempotent anyway"))
                        }
                        false => problem.expected(format!("no @{name}, or another method")),
                    }
                }),
                _ => {}
            }
        }
    }

    fn check_body(&self, model: &'m Model, messages: &mut Messages<'m>, problems: &mut Problems) {
        if self.semantics.has_body {
            return;
        }
        let operation = self.operation.as_operation();
        let Some(input) = operation.and_then(|operation| model.get(operation.input())) else {
            return;
        };
        let body = messages.body(input, Direction::Request);
        let members: &[&Member] = match &body.payload {
            Some(payload) => std::slice::from_ref(payload),
            None => &body.unbound,
        };
        let Some(first) = members.first() else {
            return;
        };
        problems.push_with(Severity::Danger, |_| {
            let message = format!(
                "`{}` is sent with {}, but has a body: {}",
                self.operation.id(),
                self.semantics.method,
                listed(members.iter().map(|member| member.name()))
            );
            let code = rules::HTTP_METHOD_SEMANTICS_UNEXPECTED_PAYLOAD;
            Problem::danger(code, self.location, message)
                .expected("all members in the path, the query or headers")
                .hint("bind them with @httpLabel, @httpQuery or @httpHeader")
                .related("the first", first.location())
        });
    }
}

fn check_code<'m>(
    model: &'m Model,
    operation: &'m Shape,
    (code, location): (i64, SourceLocation),
    messages: &mut Messages<'m>,
    problems: &mut Problems,
) {
    // Other numbers are reported as wrong values of the trait.
    if !(200..300).contains(&code) && (100..1000).contains(&code) {
        problems.push_with(Severity::Danger, |_| {
            let message = format!("`{}` has the status {code}", operation.id());
            Problem::danger(rules::HTTP_RESPONSE_CODE_SEMANTICS, location, message)
                .expected("a status from 200 to 299")
                .hint("model other results as errors, with @error and @httpError")
        });
    }
    if !matches!(code, 204 | 205) {
        return;
    }
    let output = operation.as_operation().map(|operation| operation.output());
    let Some(output) = output.and_then(|output| model.get(output)) else {
        return;
    };
    let body = messages.body(output, Direction::Response);
    let Some(first) = body.payload.or_else(|| body.unbound.first().copied()) else {
        return;
    };
    problems.push_with(Severity::Warning, |_| {
        let message = format!(
            "`{}` has the status {code}, which allows no body, but `{}` has one",
            operation.id(),
            output.id()
        );
        Problem::warning(rules::HTTP_RESPONSE_CODE_SEMANTICS, location, message)
            .expected("another status, or all members of the output in headers")
            .related("the member in the body", first.location())
    });
}

/// Checks the status of a structure with `@error`.
pub(super) fn check_error(structure: &Shape, problems: &mut Problems) {
    let Some(applied) = structure.traits().find(ids::HTTP_ERROR) else {
        return;
    };
    let (Some(kind), Some(code)) = (structure.traits().error(), applied.value().as_i64()) else {
        return;
    };
    let (name, first) = match kind {
        ErrorKind::Client => ("client", 400),
        ErrorKind::Server => ("server", 500),
    };
    if (first..first + 100).contains(&code) {
        return;
    }
    problems.push_with(Severity::Danger, |_| {
        let message = format!(
            "`{}` is an error of the {name}, but has the status {code}",
            structure.id()
        );
        let error = structure.traits().find(ids::ERROR);
        let problem = Problem::danger(
            rules::HTTP_RESPONSE_CODE_SEMANTICS,
            applied.value().location(),
            message,
        )
        .expected(format!("a status from {first} to {}", first + 99));
        match error {
            Some(error) => problem.related("the trait @error", error.location()),
            None => problem,
        }
    });
}
