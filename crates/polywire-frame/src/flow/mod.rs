//! Flow control. Each type is a small state machine: it receives the time, what was asked and the outcome, and decides
//! what may be done. Randomness is an argument too: a number from 0 to 1, or bits.

mod admission;
mod allowance;
mod backoff;
mod balance;
mod bucket;
mod budget;
mod limit;
mod rate;
mod throttle;
mod window;

pub use admission::{Admission, Shed};
pub use allowance::Allowance;
pub use backoff::Backoff;
pub use balance::Balancer;
pub use bucket::{LeakyBucket, TokenBucket};
pub use budget::RetryBudget;
pub use limit::{AdaptiveLimit, Sample};
pub use rate::AdaptiveRate;
pub use throttle::Throttle;
