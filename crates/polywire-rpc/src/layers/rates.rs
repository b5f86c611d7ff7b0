//! The rates of a server: per address and per caller.

use polywire_protocol::Fault;

use super::{Callers, Firewall};
use crate::call::CallHead;
use crate::call::admission::{RateScope, Rejection};

/// Limits requests per address and per caller.
#[derive(Debug)]
pub(crate) struct RequestRates {
    pub(crate) firewall: Option<Firewall>,
    pub(crate) callers: Vec<Callers>,
}

impl RequestRates {
    /// Whether there is no limit.
    pub(crate) fn is_empty(&self) -> bool {
        self.firewall.is_none() && self.callers.is_empty()
    }

    /// Counts a request, or rejects it.
    pub(crate) fn request(&self, head: &CallHead<'_>) -> Result<(), Fault> {
        if let Some(firewall) = &self.firewall {
            let limited = |time| Rejection::RateLimited(RateScope::Address, time).fault();
            firewall.request(head.peer()).map_err(limited)?;
        }
        self.callers
            .iter()
            .try_for_each(|callers| callers.request(head))
    }
}
