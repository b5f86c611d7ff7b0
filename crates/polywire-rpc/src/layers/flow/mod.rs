//! Flow control as layers of [`tower`], around any service: an HTTP client, a database, the handlers of
//! a server. Clients of [frames](crate::frames) have all of it inside.
//!
//! | | what it does |
//! |---|---|
//! | [`AdaptiveConcurrency`] | as many calls at once as the service can do, found out by how long they take |
//! | [`Pace`] | so many calls a second, and so many at once |
//! | [`Retries`] | further tries with a budget and a back-off, a policy for [`tower::retry`] |
//!
//! They need tokio's timers. A layer is shared by all services that it makes, and by their clones.

mod concurrency;
mod pace;
mod retries;

pub use concurrency::{AdaptiveConcurrency, Concurrent, Working};
pub use pace::{Pace, Paced};
pub use polywire_frame::flow::Sample;
pub use retries::Retries;

use std::hash::{BuildHasher, RandomState};

/// A random number from 0 to 1. It need not be unpredictable.
fn chance() -> f64 {
    (RandomState::new().hash_one(0) >> 11) as f64 / (1_u64 << 53) as f64
}
