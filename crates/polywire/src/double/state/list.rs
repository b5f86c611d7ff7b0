//! Pages of things.

use polywire_protocol::Fault;
use polywire_schema::{Map, Member, Operation, Schema, ShapeKind, Text, Value};

use super::State;
use super::fill::Filler;
use super::item::{Item, joined};
use crate::double::convention::{Action, ItemList, Kind, ListPlan, Role, member_at, normal};

impl State {
    /// A page of the things of a kind, in the order of their identifiers.
    pub(super) fn list(
        &self,
        action: &Action,
        operation: Operation<'_>,
        input: &Map,
        given: &[(&Role, String)],
    ) -> Result<Map, Fault> {
        let kind = &self.conventions.kinds[action.kind];
        let Some(plan) = &action.list else {
            return Err(Fault::internal("a list without a plan"));
        };
        if let Some(fault) = self.missing_parent(action, given) {
            return Err(fault);
        }
        let text = |name: &Option<String>| input.get(name.as_deref()?)?.as_str();
        let things = self.things[action.kind].values();
        let in_scope = things.filter(|item| {
            let mut given = given.iter();
            given.all(|(role, value)| item.matches(kind, role, value))
        });
        let prefix = text(&plan.prefix).unwrap_or_default();
        // Parts of the identity that the caller gave are the same in all keys.
        let is_open = |role: &Role| !given.iter().any(|(given, _)| *given == role);
        let key = |item: &Item| {
            let parts = kind.identity.iter().zip(&item.identity);
            let open = parts.filter(|(part, _)| is_open(&part.role));
            joined(&open.map(|(_, value)| value.clone()).collect::<Vec<_>>())
        };
        let keys = in_scope.map(|item| (key(item), Some(item)));
        let mut keys: Vec<Entry<'_>> = keys.filter(|(key, _)| key.starts_with(prefix)).collect();
        keys.sort_by(|(one, _), (other, _)| one.cmp(other));
        let groups = plan.groups.as_ref().and_then(|(member, list, name)| {
            let delimiter = input.get(member)?.as_str()?;
            (!delimiter.is_empty()).then_some((delimiter, list, name))
        });
        if let Some((delimiter, ..)) = groups {
            group(&mut keys, prefix.len(), delimiter);
        }
        let start = text(&plan.input_token).filter(|token| !token.is_empty());
        if let Some(start) = start {
            keys.retain(|(key, _)| key.as_str() > start);
        }
        let wanted = plan
            .page_size
            .as_deref()
            .and_then(|name| input.get(name)?.as_i64());
        let wanted = wanted.and_then(|wanted| usize::try_from(wanted).ok());
        let size = match plan.output_token {
            Some(_) => wanted.unwrap_or(plan.largest).clamp(1, plan.largest),
            None => usize::MAX,
        };
        let has_more = keys.len() > size;
        keys.truncate(size);
        let mut output = outline(action, operation.output(), input, &keys);
        for list in &plan.lists {
            let items = keys.iter().filter_map(|(_, item)| *item);
            let items =
                items.filter_map(|item| entry(kind, action, list, item, operation.output()));
            set(&mut output, &list.path, Value::List(items.collect()));
        }
        if let Some((_, list, name)) = groups {
            let groups = keys.iter().filter(|(_, item)| item.is_none());
            let groups = groups.map(|(prefix, _)| {
                let prefix = Value::from(prefix.as_str());
                Value::Map(Map::from_iter([(name.as_str(), prefix)]))
            });
            set(&mut output, &list.path, Value::List(groups.collect()));
        }
        finish(plan, &mut output, &keys, has_more, operation.output());
        Ok(output)
    }
}

/// An identifier and its thing, or the prefix of a group of identifiers.
type Entry<'a> = (String, Option<&'a Item>);

/// Puts the start of identifiers, up to a delimiter, in place of those that have it after the prefix.
fn group(keys: &mut Vec<Entry<'_>>, prefix: usize, delimiter: &str) {
    for (key, item) in keys.iter_mut() {
        if let Some(at) = key[prefix..].find(delimiter) {
            key.truncate(prefix + at + delimiter.len());
            *item = None;
        }
    }
    // An identifier that ends with the delimiter is in its group too.
    keys.dedup_by(|(key, item), (before, group)| {
        key == before && (item.is_none() && group.is_none())
    });
}

/// The members of the output besides its lists: those of the input, and counts.
fn outline(action: &Action, output: Schema<'_>, input: &Map, keys: &[Entry<'_>]) -> Map {
    let members = output.members().filter_map(|member| {
        let counted =
            member.kind() == ShapeKind::Integer && normal(member.name()).ends_with("count");
        let value = if counted {
            i64::try_from(keys.len()).ok().map(Value::Integer)
        } else {
            // Enums say how an answer is to be made, such as `EncodingType`.
            let echoed = input.get(member.name());
            let echoed = echoed.filter(|_| member.kind() != ShapeKind::Enum);
            echoed.and_then(|value| super::fill::project(value, member))
        };
        let value = value.or_else(|| {
            let sample = action.sample.get(member.name());
            sample.filter(|_| member.is_required()).cloned()
        });
        Some((Text::from(member.name()), value?))
    });
    members.collect()
}

/// An item of a list.
fn entry(
    kind: &Kind,
    action: &Action,
    list: &ItemList,
    item: &Item,
    output: Schema<'_>,
) -> Option<Value> {
    if let Some(role) = &list.role {
        let value = item.value(kind, role);
        return value.map(Value::from);
    }
    let member = member_at(output, &list.path)?;
    let mut sample = Some(&action.sample);
    let (last, path) = list.path.split_last()?;
    for name in path {
        sample = sample.and_then(|sample| sample.get(name)?.as_map());
    }
    let sample = sample.and_then(|sample| sample.get(last)?.as_list()?.first()?.as_map());
    let filler = Filler::new(kind, action, item, None);
    Some(Value::Map(filler.structure(
        member.element().target(),
        sample,
        1,
    )))
}

/// Says whether and where the list goes on.
fn finish(
    plan: &ListPlan,
    output: &mut Map,
    keys: &[Entry<'_>],
    has_more: bool,
    shape: Schema<'_>,
) {
    if let Some(path) = &plan.more_results {
        set(output, path, Value::Boolean(has_more));
    }
    let Some(path) = &plan.output_token else {
        return;
    };
    match keys.last() {
        Some((key, _)) if has_more => set(output, path, Value::from(key.as_str())),
        // Clients take an empty token for none.
        _ if member_at(shape, path).is_some_and(Member::is_required) => {
            set(output, path, Value::from(""));
        }
        _ => remove(output, path),
    }
}

/// Sets a value at a path, and makes the structures on the way.
pub(super) fn set(output: &mut Map, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => _ = output.insert(name.as_str(), value),
        [name, rest @ ..] => {
            if !matches!(output.get(name), Some(Value::Map(_))) {
                output.insert(name.as_str(), Value::Map(Map::new()));
            }
            if let Some(Value::Map(inner)) = output.get_mut(name) {
                set(inner, rest, value);
            }
        }
    }
}

fn remove(output: &mut Map, path: &[String]) {
    match path {
        [] => {}
        [name] => _ = output.remove(name),
        [name, rest @ ..] => {
            if let Some(Value::Map(inner)) = output.get_mut(name) {
                remove(inner, rest);
            }
        }
    }
}
