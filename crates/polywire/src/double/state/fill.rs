//! Outputs from what is remembered.

use polywire_schema::{Location, Map, Member, Schema, ShapeKind, Text, Timestamp, Value};

use super::item::Item;
use crate::double::convention::{Action, Kind, Role, is_scalar, normal, tails};

/// How deep structures that describe a thing are filled.
const DEPTH: u32 = 4;

/// Values of a status that mean that a thing can be used, the best first.
const USABLE: [&str; 8] = [
    "active",
    "available",
    "enabled",
    "running",
    "ready",
    "succeeded",
    "completed",
    "successful",
];

/// Fills the output of an operation about one thing.
pub(super) struct Filler<'a> {
    kind: &'a Kind,
    action: &'a Action,
    item: &'a Item,
    /// The input whose members are echoed.
    input: Option<&'a Map>,
}

impl<'a> Filler<'a> {
    pub(super) const fn new(
        kind: &'a Kind,
        action: &'a Action,
        item: &'a Item,
        input: Option<&'a Map>,
    ) -> Self {
        Self {
            kind,
            action,
            item,
            input,
        }
    }

    /// The whole output.
    pub(super) fn output(&self, output: Schema<'_>) -> Map {
        let mut map = self.structure(output, Some(&self.action.sample), 0);
        self.attributes(output, &mut map);
        map
    }

    /// A structure: what is known, and samples of required members.
    pub(super) fn structure(&self, shape: Schema<'_>, sample: Option<&Map>, depth: u32) -> Map {
        let members = shape.members().filter_map(|member| {
            let sample = sample.and_then(|sample| sample.get(member.name()));
            let value = self.known(member, sample, depth);
            let value = value.or_else(|| {
                sample
                    .filter(|_| member.is_required())
                    .map(|sample| empty_or(sample, member))
            });
            Some((Text::from(member.name()), value?))
        });
        members.collect()
    }

    /// What is known of a member.
    fn known(&self, member: Member<'_>, sample: Option<&Value>, depth: u32) -> Option<Value> {
        let role = self.kind.role(member.name());
        if is_scalar(member.kind())
            && self.kind.identifies(&role)
            && let Some(value) = self.item.value(self.kind, &role)
        {
            return scalar(value, member);
        }
        let remembered = self.item.members.get(member.name());
        let echoed = || match depth {
            0 => self.input?.get(member.name()),
            _ => None,
        };
        if let Some(value) = remembered.or_else(echoed)
            && let Some(value) = project(value, member)
        {
            return Some(value);
        }
        if let Some(time) = self.time(member) {
            return Some(time);
        }
        if let Some(status) = self.usable(member) {
            return Some(status);
        }
        if member.kind() == ShapeKind::Structure && depth < DEPTH && self.describes(member, depth) {
            let sample = sample.and_then(Value::as_map);
            let inner = self.structure(member.target(), sample, depth + 1);
            return (!inner.is_empty()).then_some(Value::Map(inner));
        }
        None
    }

    /// Whether a structure describes the thing: it is named after it, and has an identifier.
    fn describes(&self, member: Member<'_>, depth: u32) -> bool {
        let target = member.target();
        let mut members = target.members();
        let identified = members.any(|inner| {
            is_scalar(inner.kind()) && self.kind.identifies(&self.kind.role(inner.name()))
        });
        let names = [normal(member.name()), normal(target.name())];
        let mut tails = tails(&self.kind.noun);
        let named = tails.any(|tail| names.iter().any(|name| name.contains(&tail)));
        let is_only = depth == 0 && member.container().len() == 1;
        // All of the body says something of the thing.
        let is_body = depth == 0 && member.location() == Location::Payload;
        (identified && (named || is_only)) || (is_body && named)
    }

    /// The status of the thing or of its last update, so that waiters end.
    fn usable(&self, member: Member<'_>) -> Option<Value> {
        if member.kind() != ShapeKind::Enum {
            return None;
        }
        let name = normal(member.name());
        let of = ["status", "state"]
            .iter()
            .find_map(|end| name.strip_suffix(end))?;
        let is_own = of.is_empty() || tails(&self.kind.noun).any(|tail| tail == of);
        if !is_own && of != "lastupdate" {
            return None;
        }
        let constraints = member.constraints()?;
        USABLE.iter().find_map(|usable| {
            let mut values = constraints.values();
            let value = values.find(|value| value.text.eq_ignore_ascii_case(usable))?;
            Some(Value::from(value.text))
        })
    }

    /// The time of the creation or the last change.
    fn time(&self, member: Member<'_>) -> Option<Value> {
        let name = normal(member.name());
        let is_text = member.kind() == ShapeKind::String;
        if is_text {
            let ends = ["at", "date", "time", "modified", "timestamp"];
            if !ends.iter().any(|end| name.ends_with(end)) {
                return None;
            }
        } else if member.kind() != ShapeKind::Timestamp {
            return None;
        }
        let time = if ["modif", "updat"].iter().any(|word| name.contains(word)) {
            self.item.modified
        } else if name.contains("creat") {
            self.item.created
        } else {
            return None;
        };
        // Some protocols write no fractions.
        let time = Timestamp::new(time.seconds(), 0);
        match is_text {
            true => crate::double::tagged::date_time(time).ok(),
            false => Some(Value::Timestamp(time)),
        }
    }

    /// Maps of strings that are all of an output also have the ARN of the thing: `QueueArn` in the
    /// `Attributes` of a queue.
    fn attributes(&self, output: Schema<'_>, map: &mut Map) {
        let mut members = output.members();
        let (Some(only), None) = (members.next(), members.next()) else {
            return;
        };
        let is_text = |kind| matches!(kind, ShapeKind::String);
        if only.kind() != ShapeKind::Map || !is_text(only.element().kind()) {
            return;
        }
        let Some(arn) = self.item.value(self.kind, &Role::Arn) else {
            return;
        };
        let name = format!("{}Arn", self.kind.noun);
        let mut entries = match map.remove(only.name()) {
            Some(Value::Map(entries)) => entries,
            _ => Map::new(),
        };
        if !entries.contains_key(&name) {
            entries.insert(name, Value::from(arn));
        }
        map.insert(only.name(), Value::Map(entries));
    }
}

/// An identifier as the kind of a member.
pub(super) fn scalar(value: &str, member: Member<'_>) -> Option<Value> {
    match member.kind() {
        ShapeKind::String | ShapeKind::Enum => Some(Value::from(value)),
        _ => {
            let number: i64 = value.parse().ok()?;
            let (least, most) = member.kind().integer_range();
            (least..=most)
                .contains(&number)
                .then_some(Value::Integer(number))
        }
    }
}

/// The sample of a required member, but no invented items.
fn empty_or(sample: &Value, member: Member<'_>) -> Value {
    match member.kind() {
        ShapeKind::List => Value::List(Vec::new()),
        ShapeKind::Map => Value::Map(Map::new()),
        _ => sample.clone(),
    }
}

/// A remembered value as a member of another structure: without what the structure does not have.
/// `None` if the types differ.
pub(super) fn project(value: &Value, member: Member<'_>) -> Option<Value> {
    Some(match (value, member.kind()) {
        (Value::Map(map), ShapeKind::Structure | ShapeKind::Union) => {
            let members = member.target().members().filter_map(|inner| {
                let value = project(map.get(inner.name())?, inner)?;
                Some((Text::from(inner.name()), value))
            });
            let inner: Map = members.collect();
            let required = member.target().members();
            let mut required = required.filter(|inner| inner.is_required());
            let is_whole =
                required.all(|inner| inner.default_json().is_some() || inner_has(&inner, map));
            // What has nothing in common is something else.
            let is_other = inner.is_empty() && !map.is_empty();
            if is_other || !is_whole || (member.kind() == ShapeKind::Union && inner.len() != 1) {
                return None;
            }
            Value::Map(inner)
        }
        (Value::Map(map), ShapeKind::Map) => {
            let element = member.element();
            let entries = map
                .iter()
                .map(|(key, value)| Some((Text::from(key), project(value, element)?)));
            Value::Map(entries.collect::<Option<Map>>()?)
        }
        (Value::List(items), ShapeKind::List) => {
            let element = member.element();
            let items = items.iter().map(|item| project(item, element));
            Value::List(items.collect::<Option<_>>()?)
        }
        (Value::Null, _) => return None,
        (_, ShapeKind::Document)
        | (Value::Boolean(_), ShapeKind::Boolean)
        | (Value::Timestamp(_), ShapeKind::Timestamp)
        | (Value::Blob(_), ShapeKind::Blob)
        | (Value::String(_), ShapeKind::String | ShapeKind::Enum)
        | (Value::Integer(_) | Value::BigInteger(_), ShapeKind::BigInteger)
        | (Value::Float(_), ShapeKind::Float)
        | (Value::Double(_), ShapeKind::Double)
        | (Value::BigDecimal(_) | Value::Integer(_), ShapeKind::BigDecimal) => value.clone(),
        (
            Value::Integer(number),
            ShapeKind::Byte
            | ShapeKind::Short
            | ShapeKind::Integer
            | ShapeKind::IntEnum
            | ShapeKind::Long,
        ) => {
            let (least, most) = member.kind().integer_range();
            if !(least..=most).contains(number) {
                return None;
            }
            value.clone()
        }
        _ => return None,
    })
}

fn inner_has(member: &Member<'_>, map: &Map) -> bool {
    map.get(member.name()).is_some_and(|value| !value.is_null())
}
