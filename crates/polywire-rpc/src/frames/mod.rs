//! What both sides of the framed protocol share: the clock, and reading and writing.

mod clock;
mod session;
mod wire;

pub(crate) use clock::Clock;
pub(crate) use session::{Ended, Session, Side};
pub(crate) use wire::Taken;
