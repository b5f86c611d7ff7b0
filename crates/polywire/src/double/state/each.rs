//! Deletes several things.

use polywire_protocol::Fault;
use polywire_schema::{Map, Operation, Value};

use super::State;
use super::fill::project;
use super::list::set;
use crate::double::convention::{Action, EachPlan, Role, identifier, member_at};

impl State {
    /// Deletes the things that a list of the input names. Those that are not there count as deleted.
    pub(super) fn delete_each(
        &mut self,
        action: &Action,
        operation: Operation<'_>,
        input: &Map,
        given: &[(&Role, String)],
    ) -> Result<Option<Map>, Fault> {
        let Some(plan) = &action.each else {
            return Ok(None);
        };
        if let Some(fault) = self.missing_parent(action, given) {
            return Err(fault);
        }
        let mut at = input.get(plan.input.path.first().map_or("", String::as_str));
        for name in plan.input.path.iter().skip(1) {
            at = at.and_then(|value| value.get(name));
        }
        let elements = at.and_then(Value::as_list).unwrap_or_default();
        let mut changes = Vec::new();
        for element in elements {
            let mut all = given.to_vec();
            all.extend(own(plan, element));
            let Some(item) = self.find(action.kind, &all).cloned() else {
                continue;
            };
            let key = (action.kind, item.identity.clone(), None);
            if !changes
                .iter()
                .any(|(kind, own, _)| (kind, own) == (&key.0, &key.1))
            {
                changes.push(key);
                self.find_children(action.kind, &item, &mut changes);
            }
        }
        self.commit(changes)?;
        let mut output = Map::new();
        if let Some(list) = &plan.output
            && let Some(member) = member_at(operation.output(), &list.path)
        {
            let deleted = elements.iter();
            let deleted = deleted.filter_map(|element| project(element, member.element()));
            set(&mut output, &list.path, Value::List(deleted.collect()));
        }
        Ok(Some(output))
    }
}

/// The identifiers of an item of the list.
fn own<'p>(plan: &'p EachPlan, element: &Value) -> Vec<(&'p Role, String)> {
    match &plan.input.role {
        Some(role) => identifier(element)
            .map(|value| (role, value))
            .into_iter()
            .collect(),
        None => {
            let bindings = plan.bindings.iter();
            let own = bindings
                .filter_map(|(member, role)| Some((role, identifier(element.get(member)?)?)));
            own.collect()
        }
    }
}
