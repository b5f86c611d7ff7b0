//! What speaks for a client: over a stream, or over datagrams.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use polywire_frame::client::{Connection, Lost, Refused, Request, Step};
use polywire_frame::datagram::{self, Datagrams};
use polywire_frame::{Broken, CallId, Output, Settings, Time};

use super::tickets::Ticket;

/// The state machine of a connection. What only streams have does nothing over datagrams.
#[derive(Debug)]
pub(super) enum Machine {
    Datagrams(Box<datagram::Client<Ticket>>),
    Stream(Box<Connection<Ticket>>),
}

impl Machine {
    #[inline]
    pub(super) fn open(&self) -> u32 {
        match self {
            Self::Datagrams(client) => client.open(),
            Self::Stream(connection) => connection.open(),
        }
    }

    #[inline]
    pub(super) fn room(&self) -> u32 {
        match self {
            Self::Datagrams(client) => client.room(),
            Self::Stream(connection) => connection.room(),
        }
    }

    /// Makes a call with this input.
    #[inline]
    pub(super) fn call(
        &mut self,
        now: Time,
        request: &Request<'_>,
        input: &[u8],
        ticket: Ticket,
    ) -> Result<CallId, Refused> {
        match self {
            Self::Datagrams(client) => {
                if client.wants_to_begin(now) {
                    // Nothing is open, so that nothing is lost.
                    client.begin(now, nonce());
                }
                let mut call = client.call(now, request)?;
                call.payload().extend_from_slice(input);
                call.send(ticket)
            }
            Self::Stream(connection) => {
                let mut call = connection.call(now, request)?;
                call.payload().extend_from_slice(input);
                call.send(ticket)
            }
        }
    }

    pub(super) fn cancel(&mut self, now: Time, id: CallId) {
        match self {
            Self::Datagrams(client) => client.cancel(now, id),
            Self::Stream(connection) => connection.cancel(id),
        };
    }

    /// No more calls will be made.
    pub(super) fn go_away(&mut self) {
        match self {
            // Only when all is answered: its driver sees to it.
            Self::Datagrams(_) => {}
            Self::Stream(connection) => connection.go_away(),
        }
    }

    /// The connection has ended, and so have its calls.
    pub(super) fn close(&mut self) -> Vec<Lost<Ticket>> {
        match self {
            Self::Datagrams(client) => client.leave(),
            Self::Stream(connection) => connection.close(None).collect(),
        }
    }

    pub(super) fn next_timeout(&self) -> Time {
        match self {
            Self::Datagrams(client) => client.next_timeout(),
            Self::Stream(connection) => connection.next_timeout(),
        }
    }

    /// Gives up the calls whose time is over.
    pub(super) fn timeout(&mut self, now: Time, expired: impl FnMut(CallId, Ticket)) {
        match self {
            Self::Datagrams(client) => client.timeout(now, expired),
            Self::Stream(connection) => connection.timeout(now, expired),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        match self {
            Self::Datagrams(client) => client.settings(),
            Self::Stream(connection) => connection.settings(),
        }
    }

    pub(super) fn shrink(&mut self) {
        match self {
            Self::Datagrams(client) => client.output_mut().shrink_to(0),
            Self::Stream(connection) => connection.shrink(),
        }
    }
}

/// What only streams have.
impl Machine {
    #[inline]
    pub(super) fn receive<'a>(&mut self, input: &'a [u8]) -> Result<Step<'a, Ticket>, Broken> {
        match self {
            Self::Datagrams(_) => Ok(Step::Wants(usize::MAX)),
            Self::Stream(connection) => connection.receive(input),
        }
    }

    #[inline]
    pub(super) fn output_len(&self) -> usize {
        match self {
            Self::Datagrams(_) => 0,
            Self::Stream(connection) => connection.output().len(),
        }
    }

    pub(super) fn take_output(&mut self, empty: Output) -> Output {
        match self {
            Self::Datagrams(_) => empty,
            Self::Stream(connection) => connection.take_output(empty),
        }
    }

    pub(super) fn is_ending(&self) -> bool {
        match self {
            Self::Datagrams(_) => false,
            Self::Stream(connection) => connection.is_ending(),
        }
    }

    pub(super) fn ping(&mut self, id: u32, value: u32) {
        match self {
            Self::Datagrams(client) => client.ping(id, value),
            Self::Stream(connection) => connection.ping(id, value),
        }
    }
}

/// What only datagrams have.
impl Machine {
    pub(super) fn datagrams(&mut self) -> Option<&mut datagram::Client<Ticket>> {
        match self {
            Self::Datagrams(client) => Some(client),
            Self::Stream(_) => None,
        }
    }

    /// Takes what is to be sent, and leaves `empty` in its place.
    pub(super) fn take_datagrams(&mut self, empty: Datagrams) -> Datagrams {
        match self {
            Self::Datagrams(client) => std::mem::replace(client.output_mut(), empty),
            Self::Stream(_) => empty,
        }
    }
}

/// A number that nobody can foresee.
pub(super) fn nonce() -> u64 {
    RandomState::new().build_hasher().finish()
}
