//! Which operations remember what: the conventions of a service.
//!
//! A *kind* is what a service has many of, such as queues. An *action* is what an operation does with
//! a kind. `docs/double.md` has the rules for users.

mod build;
mod complete;
mod each;
mod errors;
mod identity;
mod list;
mod names;

use std::collections::HashMap;
use std::fmt::Write;

use polywire_model::Model;
use polywire_schema::{Map, Service, Value};

pub(crate) use self::complete::CompletePlan;
pub(crate) use self::each::EachPlan;
pub(crate) use self::errors::Errors;
pub(crate) use self::list::{ItemList, ListPlan, member_at};
pub(crate) use self::names::{Role, Verb, normal, role, tails};
pub(crate) use crate::mock::is_scalar;

/// The kinds and actions of a service.
#[derive(Debug, Default)]
pub(crate) struct Conventions {
    pub(crate) kinds: Vec<Kind>,
    /// By the index of the operation.
    pub(crate) actions: HashMap<u32, Action>,
    /// The operations that look like actions but are none, with the reason.
    pub(crate) rejected: Vec<(String, String)>,
}

/// What is remembered: things of the same sort.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) noun: String,
    /// The names of the identifiers of a resource shape, in lower case. Empty for other kinds.
    pub(crate) identifiers: Vec<String>,
    /// What distinguishes things of the kind, parents first. Empty: there is one thing.
    pub(crate) identity: Vec<IdentityPart>,
    /// The template of `@aws.api#arn`.
    pub(crate) arn: Option<String>,
}

/// A part of the identity.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct IdentityPart {
    pub(crate) role: Role,
    /// Whether the service chooses it.
    pub(crate) is_generated: bool,
}

/// What an operation does.
#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) kind: usize,
    pub(crate) verb: Verb,
    /// The members of the input that identify things.
    pub(crate) bindings: Vec<(String, Role)>,
    /// Members of the input that are not remembered: idempotency tokens, and what was copied.
    pub(crate) forgotten: Vec<String>,
    pub(crate) errors: Errors,
    /// For `Verb::List`.
    pub(crate) list: Option<ListPlan>,
    /// For `Verb::DeleteEach`.
    pub(crate) each: Option<EachPlan>,
    /// For `Verb::Complete`.
    pub(crate) complete: Option<CompletePlan>,
    /// For `Verb::Copy`: the member of the input that names the thing to copy.
    pub(crate) source: Option<String>,
    /// The values of required members about which nothing is known.
    pub(crate) sample: Map,
    /// Whether equal inputs may be sent twice.
    pub(crate) is_idempotent: bool,
}

impl Conventions {
    /// The conventions of a service.
    pub(crate) fn of(model: &Model, service: Service<'_>) -> Self {
        build::build(model, service)
    }

    /// A table for people: what each operation remembers, and why others do not.
    pub(crate) fn explain(&self, service: Service<'_>) -> String {
        let mut text = String::new();
        for (index, kind) in self.kinds.iter().enumerate() {
            if !self.actions.values().any(|action| action.kind == index) {
                continue;
            }
            let parts = kind.identity.iter().map(|part| match part.is_generated {
                true => format!("{} (generated)", part.role.name()),
                false => part.role.name().to_owned(),
            });
            let parts: Vec<_> = parts.collect();
            let by = match parts.is_empty() {
                true => "one only".to_owned(),
                false => format!("by {}", parts.join(", ")),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}, {by}", kind.noun);
            for operation in service.operations() {
                let action = self.actions.get(&operation.index());
                let Some(action) = action.filter(|action| action.kind == index) else {
                    continue;
                };
                let bound = action.bindings.iter().map(|(member, _)| member.as_str());
                let bound: Vec<_> = bound.collect();
                let _ = writeln!(
                    text,
                    "  {:<36} {:<12} {}",
                    operation.name(),
                    action.verb.name(),
                    bound.join(", ")
                );
            }
        }
        let mut title = "not remembered\n";
        for operation in service.operations() {
            if self.actions.contains_key(&operation.index()) {
                continue;
            }
            let reason = self.rejected.iter();
            let mut reason = reason.filter(|(name, _)| name == operation.name());
            let reason = reason.next().map_or("", |(_, reason)| reason);
            let line = format!("  {:<36} {reason}", operation.name());
            let _ = writeln!(text, "{title}{}", line.trim_end());
            title = "";
        }
        text
    }
}

impl Kind {
    /// The role of a member for things of this kind.
    pub(crate) fn role(&self, member: &str) -> Role {
        let name = normal(member);
        match self.identifiers.contains(&name) {
            true => Role::Other(name),
            false => role(&self.noun, member),
        }
    }

    /// The role of a member of an input. A member that has the name of the noun is an identifier only
    /// if it identifies things: `Bucket` is a name, but `Policy` the text of a policy.
    fn binding(&self, member: &str) -> Role {
        let name = normal(member);
        let is_bare = tails(&self.noun).any(|tail| tail == name);
        match self.role(member) {
            role if is_bare && self.part(&role).is_none() => Role::Other(name),
            role => role,
        }
    }

    /// The position of a role in the identity.
    pub(crate) fn part(&self, role: &Role) -> Option<usize> {
        self.identity.iter().position(|part| part.role == *role)
    }

    /// The roles that identify a thing of this kind in things of another one that are parts of it, and
    /// those in its own. Empty if they are no parts.
    ///
    /// A resource is the parent of those that have all its identifiers, and so is a thing with several
    /// identifiers of which one is its own. Other kinds are parents of those that are identified by a member with their
    /// noun: `Bucket`, `FunctionName`.
    pub(crate) fn parts_in(&self, child: &Self) -> Vec<(Role, Role)> {
        let others = child.identity.iter();
        let others = others.filter(|part| matches!(part.role, Role::Other(_)));
        let pairs = others.filter_map(|part| {
            let name = part.role.name();
            let own = self.role(name);
            let noun = normal(&self.noun);
            let is_named = self.identity.len() > 1 || own.is_own() && name.starts_with(&*noun);
            let is_own = own.is_own() || self.part(&own).is_some();
            (is_own && (is_named || !self.identifiers.is_empty())).then(|| (part.role.clone(), own))
        });
        let pairs: Vec<(Role, Role)> = pairs.collect();
        if self.identity.len() == 1 && self.identifiers.is_empty() {
            // One is enough, and another one is an alternative.
            let own = pairs.into_iter().filter(|(_, own)| self.identifies(own));
            return own.take(1).collect();
        }
        let has_all = self
            .identity
            .iter()
            .all(|part| pairs.iter().any(|(_, own)| *own == part.role));
        // `Bucket` and `Key` of a part are those of its upload, not of an object.
        let has_own = !self.identifiers.is_empty() || pairs.iter().any(|(_, own)| own.is_own());
        match has_all && has_own && child.identity.len() > self.identity.len() {
            true => pairs,
            false => Vec::new(),
        }
    }

    /// Whether a role identifies things of this kind.
    pub(crate) fn identifies(&self, role: &Role) -> bool {
        role.is_own() || self.part(role).is_some()
    }
}

/// An identifier as text.
pub(crate) fn identifier(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}
