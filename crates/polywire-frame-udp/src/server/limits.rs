//! Limits of a server.

use std::time::Duration;

use crate::DEFAULT_DATAGRAM;

/// What a server stores, and for how long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// The most clients; more are rejected. Default: 4,096.
    pub peers: usize,
    /// The most clients of one [host](crate::Address::host). Default: 1,024.
    pub peers_per_host: usize,
    /// Bytes of all that is stored of clients: answers, and tables of slots and numbers. Above it, answers are forgotten,
    /// first the older ones of clients with more than others; when no answer is left, calls that need a larger table are
    /// dropped. Default: 64 MiB.
    pub memory: usize,
    /// Bytes of the answers of one client. Above it, the older half of them is forgotten. Default: 8 MiB.
    pub memory_of_one: usize,
    /// How long a silent client is remembered. Default and minimum: 60 seconds.
    pub idle: Duration,
    /// The limit of datagrams that are sent, in bytes, from 256 to 65,000; received datagrams may be longer. Default:
    /// 1,400.
    pub datagram: usize,
}

impl Limits {
    /// The defaults of the fields.
    pub const DEFAULT: Self = Self {
        peers: 4_096,
        peers_per_host: 1_024,
        memory: 64 << 20,
        memory_of_one: 8 << 20,
        idle: Duration::from_secs(60),
        datagram: DEFAULT_DATAGRAM,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
