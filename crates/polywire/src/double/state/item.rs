//! A thing that is remembered.

use polywire_codec::json;
use polywire_protocol::Fault;
use polywire_schema::{Map, Timestamp, Value};

use super::super::tagged;
use crate::double::convention::{Kind, Role};

/// A thing: what calls have said of it, and what was generated.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// As many values as its kind has parts of the identity.
    pub(crate) identity: Vec<String>,
    /// Its own names, ids, ARNs and URLs.
    pub(crate) own: Vec<(Role, String)>,
    /// The members of the inputs.
    pub(crate) members: Map,
    pub(crate) created: Timestamp,
    pub(crate) modified: Timestamp,
    /// An estimate of the bytes in memory.
    pub(crate) size: usize,
}

impl Item {
    /// The value of a role.
    pub(crate) fn value(&self, kind: &Kind, role: &Role) -> Option<&str> {
        if let Some(part) = kind.part(role) {
            return self.identity.get(part).map(String::as_str);
        }
        let mut own = self.own.iter();
        own.find(|(own, _)| own == role)
            .map(|(_, value)| value.as_str())
    }

    /// Whether a value identifies it. Its own names, ids and ARNs are alternatives.
    pub(crate) fn matches(&self, kind: &Kind, role: &Role, value: &str) -> bool {
        if self.value(kind, role) == Some(value) {
            return true;
        }
        let same_path = |own: &str| path(own) == path(value) && own.contains("://");
        role.is_own()
            && self
                .own
                .iter()
                .any(|(own_role, own)| own == value || (*own_role == Role::Url && same_path(own)))
    }

    /// Counts the size again.
    pub(crate) fn measure(mut self) -> Self {
        let own: usize = self.own.iter().map(|(_, value)| value.len() + 40).sum();
        self.size = 160 + own + size(&self.members);
        self
    }

    /// The item as a JSON object.
    pub(crate) fn to_value(&self) -> Result<Value, Fault> {
        let own = self.own.iter().map(|(role, value)| (role.name(), &**value));
        let own = Map::from_iter(own.map(|(role, value)| (role, Value::from(value))));
        let identity = self
            .identity
            .iter()
            .map(|value| Value::from(value.as_str()));
        Ok(Value::Map(Map::from_iter([
            ("identity", Value::List(identity.collect())),
            ("own", Value::Map(own)),
            ("created", tagged::date_time(self.created)?),
            ("modified", tagged::date_time(self.modified)?),
            ("members", tagged::tag(&Value::Map(self.members.clone()))?),
        ])))
    }

    pub(crate) fn to_json(&self) -> Result<Vec<u8>, Fault> {
        Ok(json::write_value(&self.to_value()?)?)
    }

    /// Reads what [`to_value`](Self::to_value) returns. The error says what is wrong.
    pub(crate) fn from_value(kind: &Kind, value: &Value) -> Result<Self, String> {
        let list = value["identity"]
            .as_list()
            .ok_or("expected `identity`: a list")?;
        let identity = list.iter().map(|part| part.as_str().map(str::to_owned));
        let identity: Option<Vec<String>> = identity.collect();
        let identity = identity.ok_or("expected `identity`: a list of strings")?;
        if identity.len() != kind.identity.len() {
            let names = kind.identity.iter().map(|part| part.role.name());
            let names: Vec<_> = names.collect();
            return Err(format!("expected `identity`: [{}]", names.join(", ")));
        }
        let own = value["own"].as_map().ok_or("expected `own`: an object")?;
        let own = own.iter().map(|(name, value)| {
            let roles = [Role::Name, Role::Id, Role::Arn, Role::Url];
            let role = roles.into_iter().find(|role| role.name() == name);
            Some((role?, value.as_str()?.to_owned()))
        });
        let own: Option<Vec<_>> = own.collect();
        let time = |name: &str| {
            let text = value[name].as_str().unwrap_or_default();
            let time = Timestamp::parse_date_time(text);
            time.map_err(|_| format!("expected `{name}`: a time such as 2026-01-31T12:00:00Z"))
        };
        let members = tagged::untag(&value["members"])?;
        let Value::Map(members) = members else {
            return Err("expected `members`: an object".to_owned());
        };
        let item = Self {
            identity,
            own: own.ok_or("expected `own`: strings by `name`, `id`, `arn` and `url`")?,
            members,
            created: time("created")?,
            modified: time("modified")?,
            size: 0,
        };
        Ok(item.measure())
    }
}

/// The parts of an identity as one text.
pub(crate) fn joined(identity: &[String]) -> String {
    identity.join("/")
}

/// The path of a URL. A caller can reach the double by several names and ports.
fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("", |at| &rest[at..])
}

/// An estimate of the bytes of a map.
pub(crate) fn size(map: &Map) -> usize {
    let entries = map.iter();
    entries
        .map(|(name, value)| 56 + name.len() + size_of(value))
        .sum()
}

fn size_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Blob(blob) => blob.len(),
        Value::List(items) => items.iter().map(|item| 32 + size_of(item)).sum(),
        Value::Map(map) => size(map),
        _ => 0,
    }
}
