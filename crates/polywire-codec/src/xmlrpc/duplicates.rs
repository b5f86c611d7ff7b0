//! Members that come twice, where one of them counts.
//!
//! Readers of structures, of values and of serde types each have a way of their own
//! to find a member twice. So that all of them do the same, members that do not
//! count are found before anybody reads: once for the outermost struct and all
//! within it, in one walk.

use std::collections::BTreeMap;

use polywire_schema::{Error, Event, Seq};

use super::XmlRpcDecoder;
use super::leniency::Duplicates;

/// The members that do not count.
#[derive(Debug)]
pub(super) struct Dropped {
    /// Where each begins, in order.
    at: Vec<usize>,
    /// Up to where members have been looked at.
    looked: usize,
}

impl XmlRpcDecoder<'_> {
    /// Whether the member at this place does not count.
    #[inline]
    pub(super) fn is_dropped(&self, start: usize) -> bool {
        let dropped = self.dropped.as_ref();
        dropped.is_some_and(|dropped| dropped.at.binary_search(&start).is_ok())
    }

    /// Finds the members that do not count in the struct that begins at the cursor
    /// and in all within it.
    #[cold]
    pub(super) fn look_for_duplicates(&mut self, mark: u64) -> Result<(), Error> {
        let policy = self.profile.duplicates;
        let looked = self.dropped.as_ref().map_or(0, |dropped| dropped.looked);
        if self.cursor.at < looked {
            return Ok(());
        }
        let start = self.cursor.at;
        // What is read twice counts once.
        let (items, depth) = self.budget.mark();
        self.profile.duplicates = Duplicates::Refuse;
        let mut found = Vec::new();
        let mut seq = Seq {
            mark,
            ..Seq::default()
        };
        let walked = self.walk_struct(&mut seq, policy, &mut found);
        self.profile.duplicates = policy;
        self.budget.back_to((items, depth));
        walked?;
        let looked = self.cursor.at;
        self.cursor.at = start;
        found.sort_unstable();
        self.dropped = Some(Box::new(Dropped { at: found, looked }));
        Ok(())
    }

    fn walk_struct(
        &mut self,
        seq: &mut Seq,
        policy: Duplicates,
        found: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let mut seen = BTreeMap::new();
        loop {
            let start = self.cursor.at;
            let Some(name) = self.next_member(seq)? else {
                return Ok(());
            };
            if let Some(before) = seen.get_mut(&name) {
                match policy {
                    Duplicates::First => found.push(start),
                    _ => found.push(std::mem::replace(before, start)),
                }
            } else {
                seen.insert(name, start);
            }
            self.walk_value(policy, found)?;
        }
    }

    fn walk_value(&mut self, policy: Duplicates, found: &mut Vec<usize>) -> Result<(), Error> {
        match self.any_skipped()? {
            Event::List(mut seq) => {
                while self.next_item(&mut seq)? {
                    self.walk_value(policy, found)?;
                }
                Ok(())
            }
            Event::Map(mut seq) => self.walk_struct(&mut seq, policy, found),
            _ => Ok(()),
        }
    }
}
