//! Duplicate members of structs, if the policy is not to reject them.
//!
//! The decoders of structures, values and serde types detect duplicates in different ways. So the
//! members that the policy ignores are found first, in one pass over the outermost struct and all
//! structs in it. The decoders then never see them.

use std::collections::BTreeMap;

use polywire_schema::{Error, Event, Seq};

use super::XmlRpcDecoder;
use super::leniency::Duplicates;

/// The members that are ignored.
#[derive(Debug)]
pub(super) struct IgnoredMembers {
    /// The offsets of the members, sorted.
    offsets: Vec<usize>,
    /// The end of the scanned part of the message.
    end: usize,
}

impl XmlRpcDecoder<'_> {
    /// Whether the member at this offset is ignored.
    #[inline]
    pub(super) fn is_ignored(&self, start: usize) -> bool {
        let ignored = self.ignored.as_ref();
        ignored.is_some_and(|ignored| ignored.offsets.binary_search(&start).is_ok())
    }

    /// Finds the ignored members in the struct at the cursor and in all structs in it. `ends` is the
    /// [`Seq::mark`] of the struct.
    #[cold]
    pub(super) fn find_ignored_members(&mut self, ends: u64) -> Result<(), Error> {
        let policy = self.profile.duplicates;
        let end = self.ignored.as_ref().map_or(0, |ignored| ignored.end);
        if self.cursor.at < end {
            return Ok(());
        }
        let start = self.cursor.at;
        // The members are read again afterwards, and count once.
        let (items, depth) = self.budget.mark();
        self.profile.duplicates = Duplicates::Reject;
        let mut offsets = Vec::new();
        let mut seq = Seq {
            mark: ends,
            ..Seq::default()
        };
        let result = self.scan_struct(&mut seq, policy, &mut offsets);
        self.profile.duplicates = policy;
        self.budget.back_to((items, depth));
        result?;
        let end = self.cursor.at;
        self.cursor.at = start;
        offsets.sort_unstable();
        self.ignored = Some(Box::new(IgnoredMembers { offsets, end }));
        Ok(())
    }

    fn scan_struct(
        &mut self,
        seq: &mut Seq,
        policy: Duplicates,
        ignored: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let mut names = BTreeMap::new();
        loop {
            let start = self.cursor.at;
            let Some(name) = self.next_member(seq)? else {
                return Ok(());
            };
            if let Some(previous) = names.get_mut(&name) {
                match policy {
                    Duplicates::First => ignored.push(start),
                    _ => ignored.push(std::mem::replace(previous, start)),
                }
            } else {
                names.insert(name, start);
            }
            self.scan_value(policy, ignored)?;
        }
    }

    fn scan_value(&mut self, policy: Duplicates, ignored: &mut Vec<usize>) -> Result<(), Error> {
        match self.begin_skipped_value()? {
            Event::List(mut seq) => {
                while self.next_item(&mut seq)? {
                    self.scan_value(policy, ignored)?;
                }
                Ok(())
            }
            Event::Map(mut seq) => self.scan_struct(&mut seq, policy, ignored),
            _ => Ok(()),
        }
    }
}
