//! Makes a thing of the parts of an upload.

use polywire_protocol::{Fault, FaultKind};
use polywire_schema::{Map, Operation, Value};

use super::actions::with_payload;
use super::fill::Filler;
use super::item::Item;
use super::{State, Surroundings};
use crate::double::convention::{Action, Kind, Role};

impl State {
    /// Puts the contents of the parts together, in the order of their numbers. All parts that the
    /// input lists must be there.
    pub(super) fn complete(
        &mut self,
        action: &Action,
        operation: Operation<'_>,
        input: &Map,
        given: &[(&Role, String)],
        surroundings: Surroundings<'_>,
    ) -> Result<Option<Map>, Fault> {
        let conventions = std::sync::Arc::clone(&self.conventions);
        let Some(plan) = &action.complete else {
            return Ok(None);
        };
        let kind = &conventions.kinds[action.kind];
        let Some(upload) = self.find(action.kind, given).cloned() else {
            let key = given.last().map_or("", |(_, value)| value);
            return action
                .errors
                .not_found(&kind.noun, key, &[])
                .map_or(Ok(None), Err);
        };
        let part_kind = &conventions.kinds[plan.parts];
        let parts = self.things[plan.parts].values().filter(|part| {
            plan.roles.iter().all(|(role, own)| {
                let value = part.value(part_kind, role);
                value.is_some_and(|value| upload.matches(kind, own, value))
            })
        });
        let number = |part: &Item| part.identity[plan.number].parse::<i64>().unwrap_or(0);
        let mut parts: Vec<(i64, &Item)> = parts.map(|part| (number(part), part)).collect();
        parts.sort_by_key(|(number, _)| *number);
        if let Some((path, member)) = &plan.listed {
            let mut at = input.get(&path[0]);
            for name in &path[1..] {
                at = at.and_then(|value| value.get(name));
            }
            let listed = at.and_then(Value::as_list).unwrap_or_default();
            let listed = listed.iter().filter_map(|part| part.get(member)?.as_i64());
            let listed: Vec<i64> = listed.collect();
            let is_there = |number: &&i64| parts.iter().any(|(own, _)| own == *number);
            if let Some(missing) = listed.iter().find(|number| !is_there(number)) {
                let text = format!("{} {missing} does not exist", part_kind.noun);
                return Err(Fault::new(FaultKind::Invalid, text));
            }
            parts.retain(|(number, _)| listed.contains(number));
        }
        let mut content = Vec::new();
        for (_, part) in &parts {
            let own = part
                .members
                .get(&plan.part_content)
                .and_then(Value::as_blob);
            content.extend_from_slice(own.unwrap_or_default());
        }
        let target = &conventions.kinds[plan.target];
        let Some(identity) = identity(target, kind, &upload) else {
            return Ok(None);
        };
        let mut members = upload.members.clone();
        members.insert(plan.content.as_str(), Value::Blob(content.into()));
        with_payload(&mut members, &plan.content);
        let old = self.things[plan.target].get(&identity);
        let own = match old {
            Some(old) => old.own.clone(),
            None => {
                let id = self.next_id();
                self.own(target, &identity, &[], &id, surroundings.base)
            }
        };
        let item = Item {
            identity: identity.clone(),
            own,
            members,
            created: surroundings.now,
            modified: surroundings.now,
            size: 0,
        }
        .measure();
        let filler = Filler::new(target, action, &item, Some(input));
        let output = filler.output(operation.output());
        let mut changes = vec![
            (plan.target, identity, Some(item)),
            (action.kind, upload.identity.clone(), None),
        ];
        self.find_children(action.kind, &upload, &mut changes);
        self.commit(changes)?;
        Ok(Some(output))
    }
}

/// The identity of the thing, from that of the upload.
fn identity(target: &Kind, kind: &Kind, upload: &Item) -> Option<Vec<String>> {
    let parts = target.identity.iter();
    let values = parts.map(|part| upload.value(kind, &part.role).map(str::to_owned));
    values.collect()
}
