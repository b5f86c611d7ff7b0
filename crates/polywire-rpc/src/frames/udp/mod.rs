//! Frames over datagrams: the socket of either side, and a client's task.

mod alarm;
mod driver;
mod machine;
mod socket;

pub(crate) use alarm::Alarm;
pub(super) use driver::{connect, drive};
pub(crate) use socket::{Received, Sender, Sending, Socket};
