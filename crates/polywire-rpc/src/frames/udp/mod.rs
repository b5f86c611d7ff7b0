//! Frames over datagrams: the socket of either side, and a client's task.

mod driver;
mod socket;

pub(super) use driver::{connect, drive};
pub(crate) use socket::{Received, Sending, Socket};
