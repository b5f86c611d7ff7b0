//! Frames over sockets: our client, our server, and whatever else may come.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod ages;
mod authentication;
mod balancing;
mod callers;
mod calls;
mod chaos;
mod compressed;
mod faulty;
mod first_look;
mod five_times;
mod half_close;
mod inproc;
mod inproc_rate;
mod large;
mod lossy;
mod one_ways;
mod overload;
mod proxies;
mod rates;
mod raw;
mod reconnecting;
mod restarts;
mod retries;
mod said;
mod scripted;
mod secured;
mod silence;
mod slow_readers;
mod streams;
mod support;
mod topics;
mod turns;
mod udp;
mod waiting;
mod wires;
