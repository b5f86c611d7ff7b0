//! Chooses how to write ids in a file: `City`, or `example.weather#City` if the short name has
//! another meaning.

use std::collections::{BTreeMap, HashSet};

use crate::ids;
use crate::model::Model;

/// Words that are values and not shape ids.
const VALUES: [&str; 3] = ["false", "null", "true"];

pub(super) struct Names<'m> {
    model: &'m Model,
    namespace: &'m str,
    /// Ids of other namespaces by their short name.
    named: BTreeMap<&'m str, BTreeMap<&'m str, u32>>,
    uses: HashSet<&'m str>,
}

impl<'m> Names<'m> {
    pub(super) fn new(model: &'m Model, namespace: &'m str) -> Self {
        Self {
            model,
            namespace,
            named: BTreeMap::new(),
            uses: HashSet::new(),
        }
    }

    /// Decides which ids get a `use` statement: all used ids whose short name is free. Of two ids
    /// with the same name, the one that is used more often gets it.
    pub(super) fn choose(&mut self) {
        for (name, ids) in std::mem::take(&mut self.named) {
            let is_taken =
                self.is_local(name) || self.is_in_prelude(name) || VALUES.contains(&name);
            let most = ids.into_iter().rev().max_by_key(|(_, count)| *count);
            if let (false, Some((id, _))) = (is_taken, most) {
                self.uses.insert(id);
            }
        }
    }

    /// The ids that have a `use` statement, sorted.
    pub(super) fn uses(&self) -> Vec<&'m str> {
        let mut uses: Vec<&str> = self.uses.iter().copied().collect();
        uses.sort_unstable();
        uses
    }

    /// The shortest form that resolves to the id in this file.
    pub(super) fn spell(&mut self, id: &'m str) -> &'m str {
        let root = id.split('$').next().unwrap_or(id);
        let Some((namespace, name)) = root.split_once('#') else {
            return id;
        };
        let is_short = if namespace == self.namespace {
            // A name that no file defines could resolve to a shape of the prelude.
            self.model.defined(root).is_some() && !VALUES.contains(&name)
        } else if namespace == ids::PRELUDE {
            self.is_in_prelude(name) && !self.is_local(name) && !VALUES.contains(&name)
        } else if self.uses.contains(root) {
            true
        } else {
            if self.model.get(root).is_some() {
                *self.named.entry(name).or_default().entry(root).or_default() += 1;
            }
            false
        };
        if is_short {
            &id[namespace.len() + 1..]
        } else {
            id
        }
    }

    fn is_local(&self, name: &str) -> bool {
        let id = format!("{}#{name}", self.namespace);
        self.model.defined(&id).is_some()
    }

    /// Whether the prelude has a shape of the name.
    fn is_in_prelude(&self, name: &str) -> bool {
        let prelude = self.model.bundled();
        prelude.shape(&ids::prelude_id(name)).is_some()
    }
}
