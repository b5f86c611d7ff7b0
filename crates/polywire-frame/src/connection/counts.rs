//! Counts of a server's calls.

use super::server::Fault;
use crate::FaultCode;

/// Counts of a server's calls and their ends, until the owner clears them.
///
/// Each call that has ended is counted in `replies` or in `faults`, once. Totals are the owner's business, since there
/// may be many connections.
#[derive(Clone, Debug, Default)]
pub struct CallCounts {
    /// Calls, subscriptions and publications that were opened.
    pub calls: u32,
    /// Calls without an answer.
    pub one_ways: u32,
    /// Calls that were answered with a reply.
    pub replies: u32,
    /// Faults: the code, whether no part of the call was executed, and their number.
    pub faults: Vec<(FaultCode, bool, u32)>,
}

impl CallCounts {
    /// Counts a call that was opened.
    #[inline]
    pub const fn call(&mut self) {
        self.calls = self.calls.wrapping_add(1);
    }

    /// Counts a call without an answer.
    #[inline]
    pub const fn one_way(&mut self) {
        self.one_ways = self.one_ways.wrapping_add(1);
    }

    /// Counts an answer of this kind, if it is a reply.
    #[inline]
    pub fn reply(&mut self, kind: crate::Kind) {
        self.replies = self
            .replies
            .wrapping_add(u32::from(kind == crate::Kind::REPLY));
    }

    /// Counts a fault.
    pub fn fault(&mut self, fault: Fault) {
        let same = |(code, unstarted, _): &&mut (FaultCode, bool, u32)| {
            (*code, *unstarted) == (fault.code, fault.unstarted)
        };
        // There are a dozen codes, and a connection uses one or two.
        match self.faults.iter_mut().find(same) {
            Some((_, _, count)) => *count = count.saturating_add(1),
            None => self.faults.push((fault.code, fault.unstarted, 1)),
        }
    }

    /// Whether all counts are 0.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.calls == 0 && self.one_ways == 0 && self.replies == 0 && self.faults.is_empty()
    }

    /// Sets all counts to 0, and keeps the memory.
    pub fn clear(&mut self) {
        (self.calls, self.one_ways, self.replies) = (0, 0, 0);
        self.faults.clear();
    }
}
