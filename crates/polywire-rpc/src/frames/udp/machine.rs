//! The state machine of a client over datagrams, behind the common interface.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use polywire_frame::client::{LostCall, RequestError};
use polywire_frame::{CallId, Time};
use polywire_frame_udp::Client;

use crate::frames::machine::{CallStart, Input, Machine};
use crate::frames::request::RequestKind;
use crate::frames::tickets::Ticket;

impl Machine for Client<Ticket> {
    #[inline]
    fn open(&self) -> u32 {
        Self::open(self)
    }

    #[inline]
    fn capacity(&self) -> u32 {
        Self::room(self)
    }

    #[inline]
    fn begin(
        &mut self,
        now: Time,
        begin: &CallStart<'_>,
        input: &mut Input<'_>,
        ticket: Ticket,
    ) -> Result<CallId, RequestError> {
        match begin.kind {
            RequestKind::Call => {}
            RequestKind::Stream | RequestKind::TwoWay => {
                return Err(RequestError::Invalid(
                    "a call without streams, over datagrams",
                ));
            }
            RequestKind::Subscribe | RequestKind::Publish => {
                return Err(RequestError::Invalid("no topic, over datagrams"));
            }
        }
        if self.wants_to_begin(now) {
            // No call is open, so none is lost.
            Self::begin(self, now, nonce());
        }
        let mut call = self.call(now, &begin.request())?;
        call.payload().extend_from_slice(input);
        call.send(ticket)
    }

    fn notify(
        &mut self,
        now: Time,
        begin: &CallStart<'_>,
        payload: &[u8],
    ) -> Result<(), RequestError> {
        if self.wants_to_begin(now) {
            Self::begin(self, now, nonce());
        }
        let mut message = self.one_way(now, &begin.request())?;
        message.payload().extend_from_slice(payload);
        message.send()
    }

    fn unsent(&self) -> usize {
        self.output().bytes()
    }

    fn cancel(&mut self, now: Time, id: CallId) {
        Self::cancel(self, now, id);
    }

    fn go_away(&mut self) {
        // The driver does this when all calls are answered.
    }

    fn next_timeout(&self) -> Time {
        Self::next_timeout(self)
    }

    fn timeout(&mut self, now: Time, expired: impl FnMut(CallId, Ticket)) {
        Self::timeout(self, now, expired);
    }

    fn lose(&mut self) -> Vec<LostCall<Ticket>> {
        self.leave()
    }
}

/// An unpredictable number.
pub(super) fn nonce() -> u64 {
    RandomState::new().build_hasher().finish()
}
