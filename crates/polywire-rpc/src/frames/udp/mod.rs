//! Frames over datagrams: the socket for both sides, and the task of a client.

mod driver;
mod machine;
mod socket;

pub(super) use driver::{connect, drive};
pub(crate) use socket::{ReadStatus, SendQueue, Sender, Socket};
