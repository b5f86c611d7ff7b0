//! Flow control. Each type is a small state machine: it receives the time, what was asked and the outcome, and decides
//! what may be done. Randomness is an argument too: a number from 0 to 1, or bits.

mod adaptation;
mod allowance;
mod backoff;
mod balance;
mod budget;
mod codel;
mod limit;
mod rate;
mod throttle;
mod window;

pub use allowance::Allowance;
pub use backoff::Backoff;
pub use balance::Balancer;
pub use budget::RetryBudget;
pub use codel::CoDel;
pub use limit::{AdaptiveLimit, Sample};
pub use rate::{Rate, RateError, RateLimiter, RateState};
pub use throttle::Throttle;
