//! Finds the kinds and actions of a service.

use std::collections::BTreeMap;

use polywire_model::{Lifecycle, Model, ShapeType};
use polywire_schema::{MemberFlags, Operation, OperationFlags, Service};

use super::names::{singulars, split};
use super::{
    Action, CompletePlan, Conventions, EachPlan, Errors, IdentityPart, Kind, ListPlan, Role, Verb,
    identity, is_scalar, normal,
};
use crate::mock::sample;

const LIFECYCLE: [(Lifecycle, Verb); 6] = [
    (Lifecycle::Create, Verb::Create),
    (Lifecycle::Put, Verb::Put),
    (Lifecycle::Read, Verb::Read),
    (Lifecycle::Update, Verb::Update),
    (Lifecycle::Delete, Verb::Delete),
    (Lifecycle::List, Verb::List),
];

pub(super) fn build(model: &Model, service: Service<'_>) -> Conventions {
    let mut builder = Builder {
        model,
        service,
        conventions: Conventions::default(),
    };
    builder.resources();
    builder.nouns();
    builder.completions();
    builder.remove_unread();
    builder.conventions
}

struct Builder<'m, 's> {
    model: &'m Model,
    service: Service<'s>,
    conventions: Conventions,
}

impl<'s> Builder<'_, 's> {
    /// The kinds that the model describes as resources.
    fn resources(&mut self) {
        for shape in self.model.shapes_of(ShapeType::Resource) {
            let Some(resource) = shape.as_resource() else {
                continue;
            };
            let operations = LIFECYCLE.iter().filter_map(|(lifecycle, verb)| {
                let id = resource.lifecycle(*lifecycle)?;
                let name = id.id().name();
                let operation = self.service.find_operation(name)?;
                (operation.id() == id.id().as_str()).then_some((*verb, operation))
            });
            let operations: Vec<(Verb, Operation<'s>)> = operations.collect();
            let writer = operations.iter().find(|(verb, _)| verb.creates());
            let Some((_, writer)) = writer.copied() else {
                for (_, operation) in operations {
                    self.reject(
                        operation,
                        format!("no operation creates {}", shape.id().name()),
                    );
                }
                continue;
            };
            let names = resource.identifiers().iter();
            let names: Vec<String> = names.map(|(name, _)| normal(name)).collect();
            let bound = self.bindings(writer, |role| matches!(role, Role::Other(_)), Role::Other);
            let identity = names.iter().map(|name| {
                let role = Role::Other(name.clone());
                IdentityPart {
                    is_generated: !bound.iter().any(|(_, own)| *own == role),
                    role,
                }
            });
            let arn = shape.traits().get("aws.api#arn");
            let arn = arn.and_then(|arn| arn.get("template")?.as_str());
            let kind = Kind {
                noun: shape.id().name().to_owned(),
                identity: identity.collect(),
                identifiers: names,
                arn: arn.map(str::to_owned),
            };
            self.add(kind, &operations);
        }
    }

    /// The kinds of operations that belong to no resource, by their names.
    fn nouns(&mut self) {
        let mut nouns: BTreeMap<&'s str, Vec<(Verb, Operation<'s>)>> = BTreeMap::new();
        for operation in self.service.operations() {
            let is_taken = self.conventions.actions.contains_key(&operation.index());
            if let Some((verb, noun)) = split(operation.name())
                && !is_taken
            {
                nouns.entry(noun).or_default().push((verb, operation));
            }
        }
        let writes = |all: &[(Verb, Operation<'_>)]| all.iter().any(|(verb, _)| verb.creates());
        let written: Vec<&str> = nouns
            .iter()
            .filter(|(_, all)| writes(all))
            .map(|(noun, _)| *noun)
            .collect();
        // Lists of plurals, and what reads or changes a part of a thing.
        let mut others: BTreeMap<&'s str, Vec<(Verb, Operation<'s>)>> = BTreeMap::new();
        let mut parts = Vec::new();
        for (noun, all) in &nouns {
            let is_written = written.contains(noun);
            for (verb, operation) in all {
                if is_written && *verb != Verb::List {
                    continue;
                }
                let mut singulars = singulars(noun);
                let singular = singulars
                    .find_map(|one| written.iter().find(|noun| **noun == one))
                    .or_else(|| written.iter().find(|own| *own == noun));
                match (verb, singular) {
                    (Verb::List | Verb::Read, Some(singular)) => {
                        others
                            .entry(*singular)
                            .or_default()
                            .push((Verb::List, *operation));
                    }
                    (Verb::Delete, Some(singular)) => {
                        let each = (Verb::DeleteEach, *operation);
                        others.entry(*singular).or_default().push(each);
                    }
                    (Verb::Read | Verb::Update | Verb::Merge, None) => {
                        parts.push((*noun, *verb, *operation));
                    }
                    _ => self.reject(*operation, format!("no operation creates {noun}")),
                }
            }
        }
        for noun in &written {
            let mut operations: Vec<_> = nouns[noun]
                .iter()
                .filter(|(verb, _)| *verb != Verb::List)
                .copied()
                .collect();
            let own_parts = parts
                .iter()
                .filter(|(name, ..)| whole(name, &written) == Some(*noun));
            let own_parts: Vec<_> = own_parts.map(|(_, verb, own)| (*verb, *own)).collect();
            operations.extend(others.get(noun).into_iter().flatten().copied());
            let has_readers = operations.iter().any(|(verb, _)| !verb.writes());
            let all: Vec<_> = operations.iter().chain(&own_parts).copied().collect();
            let identity = match has_readers || !own_parts.is_empty() {
                true => identity::of_noun(noun, &operations, &own_parts),
                false => Err(format!("no operation reads, lists or deletes {noun}")),
            };
            match identity {
                Ok(identity) => {
                    let kind = Kind {
                        noun: (*noun).to_owned(),
                        identifiers: Vec::new(),
                        identity,
                        arn: None,
                    };
                    self.add(kind, &all);
                }
                Err(reason) => {
                    for (_, operation) in all {
                        self.reject(operation, reason.clone());
                    }
                }
            }
        }
        for (noun, verb, operation) in parts {
            if whole(noun, &written).is_some() {
                continue;
            }
            // A part of a resource.
            let kinds = self.conventions.kinds.iter();
            let kinds: Vec<&str> = kinds.map(|kind| &*kind.noun).collect();
            let kind =
                whole(noun, &kinds).and_then(|own| kinds.iter().position(|noun| *noun == own));
            match kind {
                Some(kind) => self.add_action(kind, verb, operation),
                None => self.reject(operation, format!("no operation creates {noun}")),
            }
        }
    }

    /// Plans the operations that complete uploads, now that all kinds are known.
    fn completions(&mut self) {
        let actions = self.conventions.actions.iter();
        let completing = actions.filter(|(_, action)| action.verb == Verb::Complete);
        let completing: Vec<(u32, usize)> = completing
            .map(|(index, action)| (*index, action.kind))
            .collect();
        for (index, kind) in completing {
            let mut operations = self.service.operations();
            let Some(operation) = operations.find(|own| own.index() == index) else {
                continue;
            };
            let plan = CompletePlan::of(&self.conventions, self.service, operation, kind);
            match (plan, self.conventions.actions.get_mut(&index)) {
                (Some(plan), Some(action)) => action.complete = Some(plan),
                _ => {
                    self.conventions.actions.remove(&index);
                    self.reject(
                        operation,
                        "no operation puts parts with contents".to_owned(),
                    );
                }
            }
        }
    }

    /// Removes the actions of kinds that nothing reads, lists or deletes: remembering has no effect.
    fn remove_unread(&mut self) {
        for (index, kind) in self.conventions.kinds.iter().enumerate() {
            let mut own = self.conventions.actions.values();
            if own.any(|action| action.kind == index && !action.verb.writes()) {
                continue;
            }
            let reason = format!("no operation reads, lists or deletes {}", kind.noun);
            self.conventions.actions.retain(|operation, action| {
                if action.kind == index {
                    let operations = &mut self.service.operations();
                    let name = operations.find(|own| own.index() == *operation);
                    let name = name.map_or(String::new(), |own| own.name().to_owned());
                    self.conventions.rejected.push((name, reason.clone()));
                }
                action.kind != index
            });
        }
    }

    /// Adds a kind and its actions.
    fn add(&mut self, kind: Kind, operations: &[(Verb, Operation<'s>)]) {
        let index = self.conventions.kinds.len();
        self.conventions.kinds.push(kind);
        for (verb, operation) in operations {
            self.add_action(index, *verb, *operation);
        }
    }

    fn add_action(&mut self, index: usize, verb: Verb, operation: Operation<'s>) {
        let kind = &self.conventions.kinds[index];
        let bindings = self.bindings(
            operation,
            |role| kind.identifies(role),
            |name| kind.binding(&name),
        );
        let list = match verb {
            Verb::List => match ListPlan::of(self.model, self.service, operation, kind) {
                None => {
                    let reason = format!("its output has no list of {}", kind.noun);
                    return self.reject(operation, reason);
                }
                plan => plan,
            },
            _ => None,
        };
        let each = match verb {
            Verb::DeleteEach => match EachPlan::of(operation, kind) {
                None => {
                    let reason = format!("its input has no list of {}", kind.noun);
                    return self.reject(operation, reason);
                }
                plan => plan,
            },
            _ => None,
        };
        let source = match verb {
            Verb::Copy => match source(operation) {
                None => return self.reject(operation, "its input names no source".to_owned()),
                source => source,
            },
            _ => None,
        };
        let required = operation.input().members();
        let mut required = required.filter(|member| member.is_required());
        if verb == Verb::List
            && let Some(unbound) =
                required.find(|member| !bindings.iter().any(|(name, _)| name == member.name()))
        {
            let reason = format!("it requires {}, which is no identifier", unbound.name());
            return self.reject(operation, reason);
        }
        // What has no way to tell which thing is meant.
        let is_bound = kind.identity.is_empty() || !bindings.is_empty();
        if !is_bound
            && !matches!(
                verb,
                Verb::List | Verb::Create | Verb::Copy | Verb::DeleteEach
            )
        {
            let reason = format!("its input does not identify {}", kind.noun);
            return self.reject(operation, reason);
        }
        let members = operation.input().members();
        let tokens = members.filter(|member| member.has(MemberFlags::IDEMPOTENCY_TOKEN));
        let action = Action {
            kind: index,
            verb,
            bindings,
            forgotten: tokens
                .map(|member| member.name().to_owned())
                .chain(source.clone())
                .collect(),
            errors: Errors::of(self.model, operation),
            list,
            each,
            complete: None,
            source,
            sample: sample::structure(self.model, operation.output()),
            is_idempotent: operation.has(OperationFlags::IDEMPOTENT),
        };
        self.conventions.actions.insert(operation.index(), action);
    }

    /// The members of an input that identify things. `role` takes the name of a member or of the
    /// identifier that `@resourceIdentifier` names, in lower case.
    fn bindings(
        &self,
        operation: Operation<'_>,
        identifies: impl Fn(&Role) -> bool,
        role: impl Fn(String) -> Role,
    ) -> Vec<(String, Role)> {
        let shape = self.model.get(operation.input().id());
        let members = operation.input().members();
        let members = members.filter(|member| is_scalar(member.kind()));
        let roles = members.map(|member| {
            let own = shape.and_then(|shape| shape.member(member.name()));
            let own = own.and_then(|own| own.traits().get("smithy.api#resourceIdentifier"));
            let name = own.and_then(|own| own.as_str()).unwrap_or(member.name());
            (member.name().to_owned(), role(normal(name)))
        });
        roles.filter(|(_, role)| identifies(role)).collect()
    }

    fn reject(&mut self, operation: Operation<'_>, reason: String) {
        let rejected = &mut self.conventions.rejected;
        if !rejected.iter().any(|(name, _)| name == operation.name()) {
            rejected.push((operation.name().to_owned(), reason));
        }
    }
}

/// The member of an input that names the thing to copy: `CopySource`, `SourceSnapshotId`.
fn source(operation: Operation<'_>) -> Option<String> {
    let members = operation.input().members();
    let mut members = members.filter(|member| is_scalar(member.kind()) && member.is_required());
    let source = members.find(|member| {
        let name = normal(member.name());
        name == "copysource" || name.starts_with("source")
    });
    source.map(|member| member.name().to_owned())
}

/// The longest of these nouns that a noun begins with: `Queue` for `QueueAttributes`.
fn whole<'n>(noun: &str, nouns: &[&'n str]) -> Option<&'n str> {
    let begins = |whole: &&&str| {
        let rest = noun.strip_prefix(**whole);
        rest.is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_uppercase()))
    };
    let longest = nouns.iter().filter(begins).max_by_key(|noun| noun.len());
    longest.copied()
}
