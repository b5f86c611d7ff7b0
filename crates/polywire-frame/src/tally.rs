//! What a server's machine counts.

use crate::FaultCode;
use crate::server::Fault;

/// What has become of the calls of a connection since its owner last asked.
///
/// Each call that has ended is in `replies` or in `faults`, once. Connections keep no sums: they
/// are many, and who wants sums adds up.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Calls, subscriptions and publications that were opened.
    pub calls: u32,
    /// Calls that nobody waits for.
    pub one_ways: u32,
    /// Calls that were answered with a reply.
    pub replies: u32,
    /// Faults: the code, whether nothing of the call was carried out, and how many of these.
    pub faults: Vec<(FaultCode, bool, u32)>,
}

impl Tally {
    pub(crate) fn fault(&mut self, fault: Fault) {
        let same = |(code, unstarted, _): &&mut (FaultCode, bool, u32)| {
            (*code, *unstarted) == (fault.code, fault.unstarted)
        };
        // There are a dozen codes, of which a connection sees one or two.
        match self.faults.iter_mut().find(same) {
            Some((_, _, count)) => *count = count.saturating_add(1),
            None => self.faults.push((fault.code, fault.unstarted, 1)),
        }
    }

    /// Whether there is nothing to add.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.calls == 0 && self.one_ways == 0 && self.replies == 0 && self.faults.is_empty()
    }

    /// Begins anew, in the same memory.
    pub fn clear(&mut self) {
        (self.calls, self.one_ways, self.replies) = (0, 0, 0);
        self.faults.clear();
    }
}
