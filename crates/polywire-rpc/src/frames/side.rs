//! The interface between a session and the side of the connection that it drives.

use std::task::Context;
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::{Output, ProtocolError, Reason, Time};

use super::clock::Clock;
use super::wire::ReadProgress;

/// The client or the server side of a connection: the state machine and its users, without the stream.
pub(crate) trait Side {
    /// Called when the task is polled. A turn can have several reads.
    fn begin_turn(&mut self) {}

    /// Called instead of [`Self::prepare`] while too much output is buffered, because the peer does not read.
    fn is_held_up(&mut self) {}

    /// Takes over what other tasks have left for this side, and registers the waker for more.
    fn prepare(&mut self, clock: Clock, context: &mut Context<'_>);

    /// Processes bytes that were received at the time `came`. A large frame is also given as `whole`, so that it can be
    /// kept without a copy.
    fn take(
        &mut self,
        came: Time,
        bytes: &[u8],
        whole: Option<&Bytes>,
    ) -> Result<ReadProgress, ProtocolError>;

    /// The length of the output in bytes.
    fn output_len(&self) -> usize;

    /// Takes the output, and leaves an empty one in its place.
    fn exchange(&mut self, empty: Output) -> Output;

    /// Called when all exchanged output is written.
    fn wrote(&mut self) {}

    /// Whether there will be more output as soon as the current output is written.
    fn is_stalled(&self) -> bool {
        false
    }

    /// Whether other tasks must run before the rest of the input is processed.
    fn yields(&self) -> bool {
        false
    }

    /// Whether the connection can be closed once the output is written.
    fn is_done(&self) -> bool;

    /// Whether the connection must be closed now, even with calls open or output unwritten.
    fn is_over(&self) -> bool {
        false
    }

    /// When [`Self::timeout`] must be called.
    fn next_timeout(&self) -> Time;

    /// Ends the calls whose deadline has passed.
    fn timeout(&mut self, now: Time);

    /// Whether the HELLO of the peer has been received.
    fn greeted(&self) -> bool;

    /// The time without input after which the peer is pinged, and then the time for its answer.
    fn patience(&self) -> Duration;

    /// Sends a PING.
    fn ping(&mut self);

    /// Tells the peer that the connection ends.
    fn give_up(&mut self, reason: Reason);

    /// Stop reading while more output than this is buffered, in bytes.
    fn most_waiting(&self) -> usize;

    /// Called at the end of input. `rest` is the number of bytes of an incomplete frame. Returns whether open calls are
    /// still answered.
    fn end_of_input(&mut self, rest: usize) -> Result<bool, ProtocolError>;

    /// Called at the end of input if the connection ends with it.
    fn input_ended(&mut self) {}

    /// Whether this side has decided to close the connection.
    fn has_given_up(&self) -> bool {
        false
    }

    /// Whether the session waits for input after the last output: the peer may have sent a call before it received the
    /// GOAWAY.
    fn waits_for_the_other(&self) -> bool;

    /// Called when the connection is idle. Frees unused memory.
    fn rest(&mut self);
}
