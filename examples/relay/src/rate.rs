//! How often a client may ask.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A bucket of tokens, told as a time: when the next request would come if all came at the rate.
#[derive(Debug)]
pub(crate) struct Bucket {
    between: Duration,
    ahead: Duration,
    due: Mutex<Instant>,
}

impl Bucket {
    /// So many a second, and a burst of as many as come in `burst` seconds. None at all: without a limit.
    fn new(per_second: u32, burst: u32) -> Self {
        let between = Duration::from_secs(1)
            .checked_div(per_second)
            .unwrap_or_default();
        Self {
            between,
            ahead: between * per_second * burst,
            due: Mutex::new(Instant::now()),
        }
    }

    /// Takes a token, if there is one.
    pub(crate) fn take(&self) -> bool {
        if self.between.is_zero() {
            return true;
        }
        let now = Instant::now();
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let next = (*due).max(now) + self.between;
        let within = next - now <= self.ahead;
        if within {
            *due = next;
        }
        within
    }

    fn is_full(&self, now: Instant) -> bool {
        *self.due.lock().unwrap_or_else(PoisonError::into_inner) <= now
    }
}

/// What the connections of one address may do together.
#[derive(Debug)]
pub(crate) struct Allowance {
    pub(crate) events: Bucket,
    pub(crate) requests: Bucket,
}

/// The allowances of addresses.
#[derive(Debug)]
pub(crate) struct Rates {
    events: u32,
    requests: u32,
    known: Mutex<HashMap<IpAddr, Arc<Allowance>>>,
}

/// The seconds whose tokens may be used at once.
const BURST: u32 = 5;

/// The addresses for which nothing is tidied.
const LEAST: usize = 1024;

impl Rates {
    pub(crate) fn new(events: u32, requests: u32) -> Self {
        Self {
            events,
            requests,
            known: Mutex::default(),
        }
    }

    /// The allowance of an address, or one of its own for who has none.
    pub(crate) fn of(&self, address: Option<IpAddr>) -> Arc<Allowance> {
        let new = || {
            Arc::new(Allowance {
                events: Bucket::new(self.events, BURST),
                requests: Bucket::new(self.requests, BURST),
            })
        };
        let Some(address) = address else { return new() };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= LEAST && known.len() == known.capacity() {
            let now = Instant::now();
            known.retain(|_, allowance| {
                let full = allowance.events.is_full(now) && allowance.requests.is_full(now);
                Arc::strong_count(allowance) > 1 || !full
            });
        }
        Arc::clone(known.entry(network(address)).or_insert_with(new))
    }
}

/// An address as it counts: who has an address of IPv6 has its network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address => address,
    }
}
