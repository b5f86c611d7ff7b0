//! What the double remembers.

mod actions;
mod complete;
mod dump;
mod each;
mod fill;
mod item;
mod list;
mod range;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use polywire_protocol::{Fault, FaultKind};
use polywire_schema::{Map, Operation, Timestamp};

pub use self::dump::LoadError;
pub(crate) use self::item::Item;
use super::convention::{Action, Conventions};

/// How many bytes the things of a service take at most, by default.
pub(crate) const DEFAULT_BYTES: usize = 256 << 20;

/// A change of one thing, for storage that outlives the process.
#[derive(Debug)]
pub struct Change<'a> {
    /// The id of the service.
    pub service: &'a str,
    /// The noun of the kind, such as `Queue`.
    pub kind: &'a str,
    /// What distinguishes the thing from others of its kind.
    pub key: &'a str,
    /// The thing as a JSON object; `None` if it is removed.
    pub content: Option<&'a [u8]>,
}

/// Stores changes. Calls wait for it, so it should be fast.
pub trait Journal: Send + Sync + 'static {
    /// Stores these changes, all or none.
    ///
    /// # Errors
    ///
    /// They could not be stored. The call that made them fails, and nothing changes.
    fn store(&self, changes: &[Change<'_>]) -> std::io::Result<()>;
}

/// What an action needs to know besides its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) now: Timestamp,
    /// Scheme and authority of generated URLs, such as `http://localhost:8080`.
    pub(crate) base: &'a str,
}

/// The things of a service, by kind and identity.
pub(crate) struct State {
    service: String,
    /// The third part of generated ARNs.
    namespace: String,
    conventions: Arc<Conventions>,
    things: Vec<BTreeMap<Vec<String>, Item>>,
    /// The number of generated ids.
    ids: u64,
    bytes: usize,
    most_bytes: usize,
    journal: Option<Arc<dyn Journal>>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("service", &self.service)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl State {
    pub(crate) fn new(
        service: &str,
        namespace: &str,
        conventions: Arc<Conventions>,
        most_bytes: usize,
    ) -> Self {
        let things = conventions.kinds.iter().map(|_| BTreeMap::new()).collect();
        Self {
            service: service.to_owned(),
            namespace: namespace.to_owned(),
            conventions,
            things,
            ids: 0,
            bytes: 0,
            most_bytes,
            journal: None,
        }
    }

    /// Sets how many bytes the things take at most.
    pub(crate) const fn limit(&mut self, bytes: usize) {
        self.most_bytes = bytes;
    }

    /// Stores all further changes.
    pub(crate) fn keep_in(&mut self, journal: Arc<dyn Journal>) {
        self.journal = Some(journal);
    }

    /// Performs the action of an operation, if it has one that applies to this input. `None`: the
    /// mock answers. The second value is whether nothing is remembered of what the call asks for, so
    /// that an example is a better answer.
    pub(crate) fn perform(
        &mut self,
        operation: Operation<'_>,
        input: &Map,
        surroundings: Surroundings<'_>,
    ) -> Option<(Result<Map, Fault>, bool)> {
        let conventions = Arc::clone(&self.conventions);
        let action: &Action = conventions.actions.get(&operation.index())?;
        let result = self
            .act(action, operation, input, surroundings)
            .transpose()?;
        let is_empty_list = action.list.is_some() && self.things[action.kind].is_empty();
        let is_vacant = is_empty_list || result.is_err();
        Some((result, is_vacant))
    }

    /// Puts things in their places and removes others, in the journal first.
    fn commit(&mut self, changes: Vec<(usize, Vec<String>, Option<Item>)>) -> Result<(), Fault> {
        let old = |kind: &usize, key: &Vec<String>| {
            let old = self.things[*kind].get(key);
            old.map_or(0, |old| old.size)
        };
        let freed: usize = changes.iter().map(|(kind, key, _)| old(kind, key)).sum();
        let new = changes.iter().filter_map(|(.., item)| item.as_ref());
        let added: usize = new.map(|item| item.size).sum();
        let bytes = (self.bytes - freed).saturating_add(added);
        if bytes > self.most_bytes && added > freed {
            return Err(Fault::new(
                FaultKind::Overloaded,
                format!("the double remembers at most {} bytes", self.most_bytes),
            ));
        }
        if let Some(journal) = &self.journal {
            let encoded: Vec<_> = changes
                .iter()
                .map(|(kind, key, item)| {
                    let content = item.as_ref().map(Item::to_json).transpose()?;
                    let kind = &*self.conventions.kinds[*kind].noun;
                    Ok::<_, Fault>((kind, item::joined(key), content))
                })
                .collect::<Result<_, _>>()?;
            let changes: Vec<_> = encoded
                .iter()
                .map(|(kind, key, content)| Change {
                    service: &self.service,
                    kind,
                    key,
                    content: content.as_deref(),
                })
                .collect();
            journal.store(&changes)?;
        }
        for (kind, key, item) in changes {
            match item {
                Some(item) => self.things[kind].insert(key, item),
                None => self.things[kind].remove(&key),
            };
        }
        self.bytes = bytes;
        Ok(())
    }
}
