//! What operations do with the things that are remembered.

use polywire_protocol::Fault;
use polywire_schema::{Location, Map, Operation, ShapeKind, Value};
use polywire_text::percent;

use super::fill::Filler;
use super::item::{Item, joined};
use super::range;
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
            Verb::Create | Verb::Put => {
                let members = self.members(action, input, operation);
                self.write(action, operation, (input, members), &given, surroundings)
            }
            Verb::Copy => {
                let Some(mut members) = self.source(action, input) else {
                    let noun = &self.conventions.kinds[action.kind].noun;
                    let fault = action.errors.not_found(noun, "to copy", &[]);
                    return fault.map_or(Ok(None), Err);
                };
                for (name, value) in self.members(action, input, operation).into_entries() {
                    members.insert(name, value);
                }
                self.write(action, operation, (input, members), &given, surroundings)
            }
            Verb::Complete => self.complete(action, operation, input, &given, surroundings),
            Verb::DeleteEach => self.delete_each(action, operation, input, &given),
            Verb::List => self.list(action, operation, input, &given).map(Some),
            Verb::Read | Verb::Update | Verb::Merge | Verb::Delete => {
                self.visit(action, operation, input, &given, surroundings)
            }
        }
    }

    /// Creates or puts a thing with these members.
    fn write(
        &mut self,
        action: &Action,
        operation: Operation<'_>,
        (input, members): (&Map, Map),
        given: &[(&Role, String)],
        surroundings: Surroundings<'_>,
    ) -> Result<Option<Map>, Fault> {
        let conventions = std::sync::Arc::clone(&self.conventions);
        let kind = &conventions.kinds[action.kind];
        if let Some(fault) = self.missing_parent(action, given) {
            return Err(fault);
        }
        let find = |role: &Role| given.iter().find(|(own, _)| *own == role);
        let id = self.next_id();
        let mut identity = Vec::new();
        for part in &kind.identity {
            identity.push(match find(&part.role) {
                Some((_, value)) => value.clone(),
                None if action.verb != Verb::Put => new_value(&part.role, &id),
                // What is meant is not known.
                None => return Ok(None),
            });
        }
        let old = self.things[action.kind].get(&identity);
        if let Some(old) = old
            && action.verb == Verb::Create
        {
            let is_same = action.is_idempotent && old.members == members;
            let conflict = action.errors.conflict(&kind.noun, &joined(&identity));
            if let Some(fault) = conflict.filter(|_| !is_same) {
                return Err(fault);
            }
            let filler = Filler::new(kind, action, old, Some(input));
            return Ok(Some(filler.output(operation.output())));
        }
        let created = old.map_or(surroundings.now, |old| old.created);
        let old_own = old.map(|old| old.own.clone());
        let item = Item {
            own: match old_own {
                Some(own) => own,
                None => self.own(kind, &identity, given, &id, surroundings.base),
            },
            members,
            created,
            modified: surroundings.now,
            identity: identity.clone(),
            size: 0,
        };
        let filler = Filler::new(kind, action, &item, Some(input));
        let output = filler.output(operation.output());
        self.commit(vec![(action.kind, identity, Some(item.measure()))])?;
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
                let mut output = filler.output(operation.output());
                range::apply(operation, input, &mut output)?;
                Ok(Some(output))
            }
        }
    }

    /// The members of the thing to copy. Its name is an identifier, or a path of all of them.
    fn source(&self, action: &Action, input: &Map) -> Option<Map> {
        let text = identifier(input.get(action.source.as_deref()?)?)?;
        // `CopySource` of S3 is percent-encoded, and can name a version.
        let text = text.split("?versionId=").next().unwrap_or_default();
        let decoded = percent::decode(text).ok()?;
        let name = decoded.strip_prefix('/').unwrap_or(&decoded);
        let kind = &self.conventions.kinds[action.kind];
        let role = &kind.identity.last()?.role;
        let mut things = self.things[action.kind].values();
        let source = things.find(|item| {
            joined(&item.identity) == name || (role.is_own() && item.matches(kind, role, name))
        });
        source.map(|item| item.members.clone())
    }

    /// The thing that these values identify.
    pub(super) fn find(&self, kind: usize, given: &[(&Role, String)]) -> Option<&Item> {
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
            with_payload(&mut members, payload.name());
        }
        members
    }

    /// A new id. Those of things that could not be stored are not used again.
    pub(super) fn next_id(&mut self) -> String {
        self.ids += 1;
        format!("00000000-0000-4000-8000-{:012}", self.ids)
    }

    /// The own names, ids, ARNs and URLs of a new thing.
    pub(super) fn own(
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
    pub(super) fn missing_parent(
        &self,
        action: &Action,
        given: &[(&Role, String)],
    ) -> Option<Fault> {
        for (parent, roles) in self.parents(action.kind) {
            let own = roles.iter().map(|(child, own)| {
                let mut given = given.iter();
                let (_, value) = given.find(|(role, _)| *role == child)?;
                Some((own, value.clone()))
            });
            let Some(own) = own.collect::<Option<Vec<_>>>() else {
                continue;
            };
            if self.find(parent, &own).is_none() {
                let noun = &self.conventions.kinds[parent].noun;
                let key = own.into_iter().map(|(_, value)| value);
                let key = joined(&key.collect::<Vec<_>>());
                return action.errors.not_found(noun, &key, &[]);
            }
        }
        None
    }

    /// The kinds of which things of a kind are parts: their index, and the roles that identify them
    /// in this kind and in their own.
    fn parents(&self, kind: usize) -> Vec<(usize, Vec<(Role, Role)>)> {
        let child = &self.conventions.kinds[kind];
        let kinds = self.conventions.kinds.iter().enumerate();
        let others = kinds.filter(|(index, _)| *index != kind);
        let parents = others.map(|(index, parent)| (index, parent.parts_in(child)));
        parents.filter(|(_, roles)| !roles.is_empty()).collect()
    }

    /// Adds the removal of all parts of a thing.
    pub(super) fn find_children(
        &self,
        kind: usize,
        item: &Item,
        changes: &mut Vec<(usize, Vec<String>, Option<Item>)>,
    ) {
        let parent = &self.conventions.kinds[kind];
        for (index, things) in self.things.iter().enumerate() {
            if index == kind {
                continue;
            }
            let child = &self.conventions.kinds[index];
            let roles = parent.parts_in(child);
            if roles.is_empty() {
                continue;
            }
            for (key, part) in things {
                let is_part = roles.iter().all(|(role, own)| {
                    let value = part.value(child, role);
                    value.is_some_and(|value| item.matches(parent, own, value))
                });
                let is_new = !changes
                    .iter()
                    .any(|(own, at, _)| *own == index && at == key);
                if is_part && is_new {
                    changes.push((index, key.clone(), None));
                    self.find_children(index, part, changes);
                }
            }
        }
    }
}

/// Adds what the body of a thing says.
pub(super) fn with_payload(members: &mut Map, name: &str) {
    let content = members
        .get(name)
        .and_then(Value::as_blob)
        .unwrap_or_default();
    let length = i64::try_from(content.len()).unwrap_or(i64::MAX);
    let tag = format!("\"{}\"", digest::md5_hex(content));
    members.insert("ETag", tag);
    members.insert("Size", length);
    members.insert("ContentLength", length);
}

/// The values of an input that identify a thing.
fn given<'a>(action: &'a Action, input: &Map) -> Vec<(&'a Role, String)> {
    let bindings = action.bindings.iter();
    let given = bindings.filter_map(|(member, role)| Some((role, identifier(input.get(member)?)?)));
    given.collect()
}

/// A generated identifier.
fn new_value(role: &Role, id: &str) -> String {
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
        let start = text.match_indices('{').map(|(at, _)| at).find(|at| {
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
