//! `@smithy.waiters#waitable`: waiters must be able to succeed, and matchers to match.
//!
//! Paths are JMESPath. Most consist of names of members only, and are resolved in the shapes.
//! Others are not checked.

use std::collections::{HashMap, HashSet};

use super::index::Index;
use super::lookup::Lookups;
use super::values::beginning;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::node::{Entry, Node};
use crate::rules::{self, Code, Rule};
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::spelling::did_you_mean;
use crate::traits::AppliedTrait;

const RULE: &Rule = rules::WAITABLE_TRAIT;
const ID: &str = ids::WAITABLE;
/// The default delays, in seconds.
const DELAYS: (i64, i64) = (2, 120);
/// The maximum number of waiters that are visited for all services together.
const MAX_STEPS: usize = 200_000;

pub(super) fn check<'m>(
    model: &'m Model,
    operation: &'m Shape,
    applied: &'m AppliedTrait,
    lookups: &mut Lookups<'m>,
    problems: &mut Problems,
) {
    let Some(waiters) = applied.value().as_object() else {
        return;
    };
    let mut check = Check {
        model,
        operation,
        errors: None,
        place: ("", 0),
        lookups,
        problems,
    };
    for waiter in waiters.entries() {
        check.waiter(waiter);
    }
}

struct Check<'a, 'm> {
    model: &'m Model,
    operation: &'m Shape,
    /// The errors of the operation by id and by name, computed on demand.
    errors: Option<HashSet<&'m str>>,
    /// The name of the current waiter, and the index of the acceptor: the suffix of codes.
    place: (&'m str, usize),
    lookups: &'a mut Lookups<'m>,
    problems: &'a mut Problems,
}

impl<'m> Check<'_, 'm> {
    fn waiter(&mut self, waiter: &'m Entry) {
        let name = waiter.key.as_str();
        let delay = |key| waiter.value.get(key).and_then(Node::as_i64);
        let least = delay("minDelay").unwrap_or(DELAYS.0);
        let most = delay("maxDelay").unwrap_or(DELAYS.1);
        if least > most {
            let node = waiter.value.get("maxDelay");
            let node = node.or_else(|| waiter.value.get("minDelay"));
            let location = node.map_or(waiter.key_location, Node::location);
            self.problems.push_with(Severity::Error, |_| {
                let message =
                    format!("the minimum delay of the waiter `{name}` is {least} s, and the maximum delay is {most} s");
                Problem::error(RULE, location, message)
                    .expected("a `minDelay` that is not greater than `maxDelay`")
                    .hint(format!(
                        "the defaults are {} s and {} s",
                        DELAYS.0, DELAYS.1
                    ))
            });
        }
        let acceptors = waiter.value.get("acceptors").and_then(Node::as_array);
        // Missing acceptors are reported as a wrong value of the trait.
        let Some(acceptors) = acceptors.filter(|acceptors| !acceptors.is_empty()) else {
            return;
        };
        let state = |node: &Node| node.get("state").and_then(Node::as_str).map(str::to_owned);
        if !acceptors
            .iter()
            .any(|node| state(node).as_deref() == Some("success"))
        {
            self.problems.push_with(Severity::Error, |_| {
                let message = format!("the waiter `{name}` never succeeds");
                Problem::error(RULE, waiter.key_location, message)
                    .expected("an acceptor with `state: \"success\"`")
            });
        }
        for (index, acceptor) in acceptors.iter().enumerate() {
            self.place = (name, index);
            if self.problems.is_full() {
                return;
            }
            if let Some(message) = acceptor.get("message") {
                self.message(message, acceptor.get("state"));
            }
            let Some(matcher) = acceptor.get("matcher") else {
                continue;
            };
            if let Some(node) = matcher.get("errorType") {
                self.error_type(node);
            }
            if let Some(node) = matcher.get("output") {
                self.path(node, false);
            }
            if let Some(node) = matcher.get("inputOutput") {
                self.path(node, true);
            }
        }
    }

    /// Checks the message of a failure: text from the output.
    fn message(&mut self, node: &Node, state: Option<&Node>) {
        let Some(path) = node.as_str() else {
            return;
        };
        let waiter = self.place.0;
        if let Some(state) = state.filter(|state| state.as_str() != Some("failure")) {
            return self.problems.push_with(Severity::Error, |_| {
                let message =
                    format!("the waiter `{waiter}` has a message for a state other than `failure`");
                Problem::error(RULE, node.location(), message)
                    .expected("messages for the state `failure` only")
                    .related("the state", state.location())
            });
        }
        if !path.split('.').all(polywire_schema::is_identifier) {
            return;
        }
        let is_text = match self.follow(path, false) {
            Ok(None | Some(Kind::List | Kind::String)) => true,
            Ok(Some(_)) | Err(_) => false,
        };
        if is_text {
            return;
        }
        self.problems.push_with(Severity::Error, |_| {
            let message = format!("the message `{}` is not a path to text", beginning(path));
            Problem::error(RULE, node.location(), message)
                .expected("a path in the output to a string, or to a list of strings")
        });
    }

    #[cold]
    fn code(&self, rule: &'static Rule) -> Code {
        let (waiter, acceptor) = self.place;
        rule.of(format_args!("{waiter}.{acceptor}"))
    }

    fn error_type(&mut self, node: &Node) {
        let Some(name) = node.as_str() else {
            return;
        };
        let errors = self.operation.as_operation().map(|o| o.errors());
        let errors = errors.unwrap_or_default();
        let known = self.errors.get_or_insert_with(|| {
            let ids = errors.iter().map(|error| error.as_str());
            ids.chain(errors.iter().map(|error| error.name())).collect()
        });
        if known.contains(name) {
            return;
        }
        let id = self.operation.id();
        let code = self.code(rules::WAITABLE_TRAIT_INVALID_ERROR_TYPE);
        self.problems.push_with(Severity::Warning, |hints| {
            let names = || errors.iter().map(|error| error.name());
            let message = format!("`{name}` is not an error of `{id}`");
            Problem::warning(code, node.location(), message)
                .expected("an error of the operation")
                .maybe_hint(hints.then(|| did_you_mean(name, names())).flatten())
        });
    }

    fn path(&mut self, matcher: &Node, has_input: bool) {
        let text = |key| {
            let node = matcher.get(key);
            node.and_then(|node| Some((node, node.as_str()?)))
        };
        let (Some((node, path)), Some((at, comparator))) = (text("path"), text("comparator"))
        else {
            return;
        };
        let expected = match comparator {
            "allStringEquals" | "anyStringEquals" => Kind::List,
            "booleanEquals" => Kind::Boolean,
            "stringEquals" => Kind::String,
            // A wrong value of the trait.
            _ => return,
        };
        if let Some((node, value)) = text("expected")
            && expected == Kind::Boolean
            && !matches!(value, "true" | "false")
        {
            self.problems.push_with(Severity::Error, |_| {
                let message = format!("a boolean is compared with `{}`", beginning(value));
                Problem::error(RULE, node.location(), message)
                    .expected("`\"true\"` or `\"false\"`")
                    .related("the comparison", at.location())
            });
        }
        if !path.split('.').all(polywire_schema::is_identifier) {
            return;
        }
        let found = match self.follow(path, has_input) {
            Ok(found) => found,
            Err((owner, name)) => {
                let id = self.operation.id();
                let code = self.code(rules::WAITABLE_TRAIT_JMESPATH_PROBLEM_JMESPATH_EVENT_DANGER);
                return self.problems.push_with(Severity::Danger, |hints| {
                    let (message, near) = match owner {
                        Some(owner) => (
                            format!(
                                "the path `{path}` does not exist: `{}` has no `{name}`",
                                owner.id()
                            ),
                            hints
                                .then(|| {
                                    let names = owner.members().iter().map(Member::name);
                                    did_you_mean(name, names)
                                })
                                .flatten(),
                        ),
                        None => (
                            format!("the path `{path}` for `{id}` begins with `{name}`"),
                            Some("begin with `input.` or `output.`".to_owned()),
                        ),
                    };
                    Problem::danger(code, node.location(), message)
                        .expected("names of members, separated by dots")
                        .maybe_hint(near)
                });
            }
        };
        let Some(found) = found.filter(|kind| *kind != expected) else {
            return;
        };
        let code = self.code(rules::WAITABLE_TRAIT_JMESPATH_PROBLEM_RETURN_TYPE_MISMATCH);
        self.problems.push_with(Severity::Danger, |_| {
            let message = format!("`{path}` is {}", found.described());
            Problem::danger(code, node.location(), message)
                .expected(format!(
                    "{}, which `{comparator}` compares",
                    expected.described()
                ))
                .related("the comparison", at.location())
        });
    }

    /// The type of the value at a path of names, `None` if it is unknown. The error is the shape at
    /// which the path ends, `None` at the start, and the unknown name.
    #[allow(clippy::type_complexity, reason = "used once, explained above")]
    fn follow<'p>(
        &mut self,
        path: &'p str,
        has_input: bool,
    ) -> Result<Option<Kind>, (Option<&'m Shape>, &'p str)> {
        let Some(operation) = self.operation.as_operation() else {
            return Ok(None);
        };
        let mut names = path.split('.').peekable();
        let mut reference = operation.output();
        if has_input {
            reference = match names.next() {
                Some("input") => operation.input(),
                Some("output") => operation.output(),
                name => return Err((None, name.unwrap_or_default())),
            };
        }
        let Some(mut shape) = self.model.get(reference) else {
            return Ok(None);
        };
        for name in names {
            let member = match shape.shape_type() {
                ShapeType::Structure | ShapeType::Union => {
                    self.lookups.of(shape).members.get(name).copied()
                }
                // Maps can have any key, and documents any value.
                ShapeType::Map => shape.member("value"),
                ShapeType::Document => return Ok(None),
                _ => None,
            };
            let Some(member) = member else {
                return Err((Some(shape), name));
            };
            let Some(target) = self.model.target(member) else {
                return Ok(None);
            };
            shape = target;
        }
        Ok(Kind::of(shape.shape_type()))
    }
}

/// The types of JMESPath.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Boolean,
    List,
    Number,
    Object,
    String,
}

impl Kind {
    fn of(shape_type: ShapeType) -> Option<Self> {
        use ShapeType as T;
        Some(match shape_type {
            T::Boolean => Self::Boolean,
            T::List => Self::List,
            T::Map | T::Structure | T::Union => Self::Object,
            T::String | T::Enum | T::Blob => Self::String,
            T::Byte | T::Short | T::Integer | T::Long | T::Float | T::Double | T::IntEnum => {
                Self::Number
            }
            T::BigInteger | T::BigDecimal => Self::Number,
            _ => return None,
        })
    }

    fn described(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::List => "a list",
            Self::Number => "a number",
            Self::Object => "an object",
            Self::String => "a string",
        }
    }
}

/// Waiters of a service must have different names, ignoring case.
pub(super) fn check_names(index: &Index<'_>, problems: &mut Problems) {
    let has_waiters = |operation: &Shape| operation.traits().has(ID);
    if !index.model.shapes_of(ShapeType::Operation).any(has_waiters) {
        return;
    }
    let mut reported = HashSet::new();
    let mut steps = 0;
    for contents in &index.services {
        let mut firsts: HashMap<String, (&Shape, &Entry)> = HashMap::new();
        for &operation in &contents.operations {
            let waiters = operation.traits().get(ID).and_then(Node::as_object);
            for waiter in waiters.map(|object| object.entries()).unwrap_or_default() {
                steps += 1;
                if steps > MAX_STEPS || problems.is_full() {
                    return;
                }
                let key = waiter.key.to_ascii_lowercase();
                let (first, other) = *firsts.entry(key).or_insert((operation, waiter));
                // Two services may have the same two operations.
                if std::ptr::eq(first, operation) || !reported.insert(waiter.key_location) {
                    continue;
                }
                problems.push_with(Severity::Error, |_| {
                    let message = format!(
                        "`{}` and `{}` both have a waiter `{}`",
                        first.id(),
                        operation.id(),
                        waiter.key
                    );
                    Problem::error(rules::UNIQUE_WAITER_NAMES, waiter.key_location, message)
                        .about(operation.id())
                        .expected(format!(
                            "a name that is unique in `{}`",
                            contents.service.id()
                        ))
                        .related("the other", other.key_location)
                });
            }
        }
    }
}
