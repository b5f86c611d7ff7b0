//! Flow control, in pieces: each a small machine that is told the time, what was asked and what came
//! of it, and says what may be done. Chance is an argument too: a number from 0 to 1, or bits.

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
