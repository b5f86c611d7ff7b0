//! The whole state as JSON, and back.

use std::collections::BTreeMap;
use std::fmt;

use polywire_codec::json;
use polywire_protocol::Fault;
use polywire_schema::{Map, Value};

use super::State;
use super::item::Item;

/// Why a dump could not be loaded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LoadError {
    /// Where, such as `Queue[2]`.
    pub(crate) path: String,
    /// What is wrong.
    pub(crate) reason: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.reason),
            false => write!(f, "{}: {}", self.path, self.reason),
        }
    }
}

impl std::error::Error for LoadError {}

fn wrong(path: impl Into<String>, reason: impl Into<String>) -> LoadError {
    LoadError {
        path: path.into(),
        reason: reason.into(),
    }
}

type Things = Vec<BTreeMap<Vec<String>, Item>>;

impl State {
    /// All things, by the noun of their kind.
    pub(crate) fn dump(&self) -> Result<Value, Fault> {
        let mut map = Map::new();
        for (kind, things) in self.conventions.kinds.iter().zip(&self.things) {
            if !things.is_empty() {
                let things = things.values().map(Item::to_value);
                let things = things.collect::<Result<Vec<_>, _>>()?;
                map.insert(kind.noun.as_str(), Value::List(things));
            }
        }
        Ok(Value::Map(map))
    }

    /// Reads what [`dump`](Self::dump) returns, without a change of the state.
    pub(crate) fn read_dump(&self, dump: &Value) -> Result<Things, LoadError> {
        let dump = dump
            .as_map()
            .ok_or_else(|| wrong("", "expected an object"))?;
        let mut loaded: Things = self.things.iter().map(|_| BTreeMap::new()).collect();
        for (noun, things) in dump.iter() {
            let mut kinds = self.conventions.kinds.iter();
            let Some(kind) = kinds.position(|kind| kind.noun == noun) else {
                return Err(wrong(noun, "nothing of this kind is remembered"));
            };
            let things = things.as_list();
            let things = things.ok_or_else(|| wrong(noun, "expected a list"))?;
            for (index, thing) in things.iter().enumerate() {
                let path = format!("{noun}[{index}]");
                let item = Item::from_value(&self.conventions.kinds[kind], thing);
                let item = item.map_err(|reason| wrong(&*path, reason))?;
                let key = item.identity.clone();
                if loaded[kind].insert(key, item).is_some() {
                    return Err(wrong(path, "another one has the same identity"));
                }
            }
        }
        Ok(loaded)
    }

    /// Replaces all things by others: those of a dump, or none.
    pub(crate) fn replace(&mut self, things: Things) -> Result<(), Fault> {
        let mut changes = Vec::new();
        for (kind, (old, new)) in self.things.iter().zip(&things).enumerate() {
            let gone = old.keys().filter(|key| !new.contains_key(*key));
            changes.extend(gone.map(|key| (kind, key.clone(), None)));
        }
        for (kind, new) in things.into_iter().enumerate() {
            let new = new.into_iter();
            changes.extend(new.map(|(key, item)| (kind, key, Some(item))));
        }
        self.commit(changes)?;
        self.continue_ids();
        Ok(())
    }

    /// Removes all things.
    pub(crate) fn reset(&mut self) -> Result<(), Fault> {
        self.replace(self.things.iter().map(|_| BTreeMap::new()).collect())
    }

    /// Adds a thing that the journal has stored. `false` if the service has no such kind any more.
    pub(crate) fn restore(&mut self, noun: &str, content: &[u8]) -> Result<bool, LoadError> {
        let mut kinds = self.conventions.kinds.iter();
        let Some(kind) = kinds.position(|kind| kind.noun == noun) else {
            return Ok(false);
        };
        let text = std::str::from_utf8(content);
        let text = text.map_err(|_| wrong(noun, "expected UTF-8"))?;
        let value = json::read_value(text).map_err(|error| wrong(noun, error.to_string()))?;
        let item = Item::from_value(&self.conventions.kinds[kind], &value);
        let item = item.map_err(|reason| wrong(noun, reason))?;
        self.bytes += item.size;
        self.things[kind].insert(item.identity.clone(), item);
        self.continue_ids();
        Ok(true)
    }

    /// Generated ids continue after those of the things.
    fn continue_ids(&mut self) {
        let own = self.things.iter().flat_map(BTreeMap::values);
        let own = own.flat_map(|item| item.own.iter().map(|(_, value)| value));
        let numbers = own.filter_map(|value| {
            let number = value.strip_prefix("00000000-0000-4000-8000-")?;
            number.parse::<u64>().ok()
        });
        self.ids = numbers.max().unwrap_or(0);
    }
}
