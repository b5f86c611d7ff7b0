//! Frames over sockets and in process: the client, the server, and peers that the tests script byte by byte.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "tls")]
#[path = "../support/authority.rs"]
mod authority;

mod authentication;
mod balancing;
mod calls;
mod chaos;
mod client_queue;
mod compressed;
mod connection_lifetime;
mod faulty_proxy;
mod first_poll;
mod five_times_capacity;
mod half_close;
mod inproc;
mod inproc_rate;
mod large;
mod lossy_network;
mod metadata;
mod multicall;
mod one_ways;
mod overload;
mod proxies;
mod rate_per_caller;
mod rates;
mod raw;
mod reconnecting;
mod restarts;
mod retries;
mod run_queue;
mod scripted;
mod silent_peers;
mod slow_readers;
mod streams;
mod support;
mod tls;
mod topics;
mod udp;
mod wires;
