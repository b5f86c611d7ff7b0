//! How much a server keeps.

use std::time::Duration;

use super::super::USUAL;

/// How much a server keeps, and how long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Clients that are known at once; further ones are turned away. 4,096.
    pub peers: usize,
    /// Those of them that may be of one [host](super::super::Address::host). 1,024, so that no host takes
    /// all places.
    pub peers_per_host: usize,
    /// Bytes of all that is kept of clients: answers, and the tables of their slots and numbers. Beyond
    /// it answers are forgotten, the older ones of those who have more than others first; without any
    /// answer left, calls that need a larger table are dropped. 64 MiB.
    pub memory: usize,
    /// Bytes of the answers of one client, beyond which the older half of them is forgotten. 8 MiB.
    pub memory_of_one: usize,
    /// How long a client is known that is not heard. 60 seconds, and not less.
    pub idle: Duration,
    /// Bytes of a datagram that is sent: 1,400, and from 256 to 65,000. What comes is not bounded by it.
    pub datagram: usize,
}

impl Limits {
    /// The defaults that the fields name.
    pub const DEFAULT: Self = Self {
        peers: 4_096,
        peers_per_host: 1_024,
        memory: 64 << 20,
        memory_of_one: 8 << 20,
        idle: Duration::from_secs(60),
        datagram: USUAL,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
