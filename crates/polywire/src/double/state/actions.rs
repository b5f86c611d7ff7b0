//! What operations do with the things that are remembered.

use polywire_protocol::Fault;
use polywire_schema::{Location, Map, Operation, ShapeKind, Value};

use super::fill::Filler;
use super::item::{Item, joined};
use super::{State, Surroundings};
use crate::double::convention::{Action, Kind, Role, Verb, identifier, normal};
use crate::mock::digest;

impl State {
    /// `None`: the mock answers.
    pub(super) fn act(
        &mut self,
        action: &Action,
        operation: Operation<'_>,
        input: &Map,
        surroundings: Surroundings<'_>,
    ) -> Result<Option<Map>, Fault> {
        let given = given(action, input);
        match action.verb {
            Verb::Create | Verb::Put => self.write(action, operation, input, &given, surroundings),
            Verb::List => self.list(action, operation, input, &given).map(Some),
            Verb::Read | Verb::Update | Verb::Merge | Verb::Delete => {
                self.visit(action, operation, input, &given, surroundings)
            }
        }
    }

    /// Creates or puts a thing.
    fn write(
        &mut self,
        action: &Action,
        operation: Operation<'_>,
        input: &Map,
        given: &[(&Role, String)],
        surroundings: Surroundings<'_>,
    ) -> Result<Option<Map>, Fault> {
        let conventions = std::sync::Arc::clone(&self.conventions);
        let kind = &conventions.kinds[action.kind];
        if let Some(fault) = self.missing_parent(action, given) {
            return Err(fault);
        }
        let find = |role: &Role| given.iter().find(|(own, _)| *own == role);
        let mut ids = self.ids;
        let mut generate = || {
            ids += 1;
            format!("00000000-0000-4000-8000-{ids:012}")
        };
        let id = generate();
        let mut identity = Vec::new();
        for part in &kind.identity {
            identity.push(match find(&part.role) {
                Some((_, value)) => value.clone(),
                None if action.verb == Verb::Create => new_value(part.role.clone(), &id),
                // What is meant is not known.
                None => return Ok(None),
            });
        }
        let old = self.things[action.kind].get(&identity);
        if let Some(old) = old
            && action.verb == Verb::Create
        {
            let is_same = action.is_idempotent && old.members == self.members(action, input, operation);
            let conflict = action.errors.conflict(&kind.noun, &joined(&identity));
            if let Some(fault) = conflict.filter(|_| !is_same) {
                return Err(fault);
            }
            let filler = Filler::new(kind, action, old, Some(input));
            return Ok(Some(filler.output(operation.output())));
        }
        let created = old.map_or(surroundings.now, |old| old.created);
        let old_own = old.map(|old| old.own.clone());
        let is_new = old.is_none();
        let item = Item {
            own: match old_own {
                Some(own) => own,
                None => self.own(kind, &identity, given, &id, surroundings.base),
            },
            members: self.members(action, input, operation),
            created,
            modified: surroundings.now,
            identity: identity.clone(),
            size: 0,
        };
        let filler = Filler::new(kind, action, &item, Some(input));
        let output = filler.output(operation.output());
        self.commit(vec![(action.kind, identity, Some(item.measure()))])?;
        if is_new {
            self.ids = ids;
        }
        Ok(Some(output))
    }

    /// Reads, changes or deletes a thing.
    fn visit(
        &mut self,
        action: &Action,
        operation: Operation<'_>,
        input: &Map,
        given: &[(&Role, String)],
        surroundings: Surroundings<'_>,
    ) -> Result<Option<Map>, Fault> {
        let conventions = std::sync::Arc::clone(&self.conventions);
        let kind = &conventions.kinds[action.kind];
        if given.is_empty() && !kind.identity.is_empty() {
            return Ok(None);
        }
        let Some(old) = self.find(action.kind, given) else {
            if let Some(fault) = self.missing_parent(action, given) {
                return Err(fault);
            }
            let parts: Vec<&str> = kind.identity.iter().map(|part| part.role.name()).collect();
            let key = given.iter().map(|(_, value)| value.clone());
            let key = joined(&key.collect::<Vec<_>>());
            return match action.errors.not_found(&kind.noun, &key, &parts) {
                Some(fault) => Err(fault),
                // Deleting what is not there is no error then.
                None if action.verb == Verb::Delete => Ok(Some(Map::new())),
                None => Ok(None),
            };
        };
        let mut item = old.clone();
        let key = item.identity.clone();
        match action.verb {
            Verb::Update | Verb::Merge => {
                let merges = action.verb == Verb::Merge;
                for (name, value) in self.members(action, input, operation).into_entries() {
                    let is_identity = action.bindings.iter().any(|(own, _)| *own == *name);
                    if is_identity && item.members.contains_key(&name) {
                        continue;
                    }
                    match (item.members.get_mut(&name), value) {
                        (Some(Value::Map(old)), Value::Map(new)) if merges => {
                            for (name, value) in new.into_entries() {
                                old.insert(name, value);
                            }
                        }
                        (_, value) => _ = item.members.insert(name, value),
                    }
                }
                item.modified = surroundings.now;
                let item = item.measure();
                let filler = Filler::new(kind, action, &item, Some(input));
                let output = filler.output(operation.output());
                self.commit(vec![(action.kind, key, Some(item))])?;
                Ok(Some(output))
            }
            Verb::Delete => {
                let filler = Filler::new(kind, action, &item, None);
                let output = filler.output(operation.output());
                let mut changes = vec![(action.kind, key, None)];
                self.find_children(action.kind, &item, &mut changes);
                self.commit(changes)?;
                Ok(Some(output))
            }
            _ => {
                let filler = Filler::new(kind, action, &item, Some(input));
                Ok(Some(filler.output(operation.output())))
            }
        }
    }

    /// The thing that these values identify.
    fn find(&self, kind: usize, given: &[(&Role, String)]) -> Option<&Item> {
        let things = &self.things[kind];
        let kind = &self.conventions.kinds[kind];
        let key = kind.identity.iter().map(|part| {
            let mut given = given.iter();
            given.find(|(role, _)| **role == part.role)
        });
        let key: Option<Vec<String>> = key.map(|given| Some(given?.1.clone())).collect();
        if let Some(item) = key.and_then(|key| things.get(&key)) {
            return Some(item);
        }
        things.values().find(|item| {
            let mut given = given.iter();
            given.all(|(role, value)| item.matches(kind, role, value))
        })
    }

    /// The members of an input that are remembered.
    fn members(&self, action: &Action, input: &Map, operation: Operation<'_>) -> Map {
        let kept = input.iter().filter(|(name, value)| {
            !value.is_null() && !action.forgotten.iter().any(|own| own == name)
        });
        // Owned: parts of a request body would keep all of it in memory.
        let kept = kept.map(|(name, value)| (name.to_owned(), value.clone().into_owned()));
        let mut members = Map::from_iter(kept);
        let mut shape = operation.input().members();
        let payload = shape.find(|member| {
            member.location() == Location::Payload && member.kind() == ShapeKind::Blob
        });
        if let Some(payload) = payload
            && action.verb.writes()
        {
            let content = members.get(payload.name()).and_then(Value::as_blob);
            let content = content.unwrap_or_default().to_vec();
            let length = i64::try_from(content.len()).unwrap_or(i64::MAX);
            members.insert("ETag", format!("\"{}\"", digest::md5_hex(&content)));
            members.insert("Size", length);
            members.insert("ContentLength", length);
        }
        members
    }

    /// The own names, ids, ARNs and URLs of a new thing.
    fn own(
        &self,
        kind: &Kind,
        identity: &[String],
        given: &[(&Role, String)],
        id: &str,
        base: &str,
    ) -> Vec<(Role, String)> {
        let own = given.iter().filter(|(role, _)| role.is_own());
        let mut own: Vec<(Role, String)> = own
            .map(|(role, value)| ((*role).clone(), value.clone()))
            .collect();
        let has = |own: &[(Role, String)], role: &Role| own.iter().any(|(own, _)| own == role);
        for (part, value) in kind.identity.iter().zip(identity) {
            if part.role.is_own() && !has(&own, &part.role) {
                own.push((part.role.clone(), value.clone()));
            }
        }
        let name = match identity.is_empty() {
            true => "default".to_owned(),
            false => joined(identity),
        };
        if !has(&own, &Role::Id) {
            own.push((Role::Id, id.to_owned()));
        }
        if !has(&own, &Role::Arn) {
            let resource = match &kind.arn {
                Some(template) => expand(template, kind, identity),
                None => format!("{}/{name}", normal(&kind.noun)),
            };
            let namespace = &self.namespace;
            let arn = format!("arn:aws:{namespace}:us-east-1:123456789012:{resource}");
            own.push((Role::Arn, arn));
        }
        if !has(&own, &Role::Url) {
            own.push((Role::Url, format!("{base}/123456789012/{name}")));
        }
        own
    }

    /// The error for a parent that does not exist, if the operation models one.
    fn missing_parent(&self, action: &Action, given: &[(&Role, String)]) -> Option<Fault> {
        for (parent, role, own) in self.parents(action.kind) {
            let mut given = given.iter();
            let Some((_, value)) = given.find(|(given, _)| **given == role) else {
                continue;
            };
            let kind = &self.conventions.kinds[parent];
            if self.find(parent, &[(&own, value.clone())]).is_none() {
                return action.errors.not_found(&kind.noun, value, &[]);
            }
        }
        None
    }

    /// The kinds of which things of a kind are parts: their index, the role that identifies them
    /// in this kind, and the role in their own.
    fn parents(&self, kind: usize) -> Vec<(usize, Role, Role)> {
        let identity = &self.conventions.kinds[kind].identity;
        let kinds = self.conventions.kinds.iter().enumerate();
        let parents = kinds.filter(|(index, _)| *index != kind).flat_map(|(index, parent)| {
            identity.iter().filter_map(move |part| {
                let own = parent_role(parent, &part.role)?;
                Some((index, part.role.clone(), own))
            })
        });
        parents.collect()
    }

    /// Adds the removal of all parts of a thing.
    fn find_children(
        &self,
        kind: usize,
        item: &Item,
        changes: &mut Vec<(usize, Vec<String>, Option<Item>)>,
    ) {
        let parent = &self.conventions.kinds[kind];
        for (index, things) in self.things.iter().enumerate() {
            let child = &self.conventions.kinds[index];
            for (of, role, own) in self.parents(index) {
                if of != kind {
                    continue;
                }
                for (key, part) in things {
                    let value = part.value(child, &role).unwrap_or_default();
                    let is_new = !changes.iter().any(|(own, at, _)| *own == index && at == key);
                    if is_new && item.matches(parent, &own, value) {
                        changes.push((index, key.clone(), None));
                        self.find_children(index, part, changes);
                    }
                }
            }
        }
    }
}

/// The role of a parent's identifier in the parent. A child names the parent by its noun, or, as
/// parts of resources do, by all its identifiers.
fn parent_role(parent: &Kind, role: &Role) -> Option<Role> {
    let Role::Other(name) = role else {
        return None;
    };
    if let [part] = &*parent.identity
        && part.role == *role
    {
        return Some(role.clone());
    }
    let noun = normal(&parent.noun);
    name.starts_with(&*noun)
        .then(|| parent.role(name))
        .filter(|role| role.is_own() && parent.identifies(role))
}

/// The values of an input that identify a thing.
fn given<'a>(action: &'a Action, input: &Map) -> Vec<(&'a Role, String)> {
    let bindings = action.bindings.iter();
    let given = bindings.filter_map(|(member, role)| Some((role, identifier(input.get(member)?)?)));
    given.collect()
}

/// A generated identifier.
fn new_value(role: Role, id: &str) -> String {
    match role {
        Role::Name => format!("name-{id}"),
        _ => id.to_owned(),
    }
}

/// The template of an ARN with the values of identifiers.
fn expand(template: &str, kind: &Kind, identity: &[String]) -> String {
    let mut text = template.to_owned();
    for (part, value) in kind.identity.iter().zip(identity) {
        let name = part.role.name();
        let start = text
            .match_indices('{')
            .map(|(at, _)| at)
            .find(|at| {
                let label = text[at + 1..].split('}').next().unwrap_or_default();
                normal(label) == name
            });
        if let Some(start) = start
            && let Some(length) = text[start..].find('}')
        {
            text.replace_range(start..=start + length, value);
        }
    }
    text
}
