//! Answers that are being written.

use bytes::Bytes;

use super::Connection;
use crate::draft::Draft;
use crate::header::header;
use crate::{CallId, FaultCode, Flags, HEADER, Header, Kind, Time, TooLarge};

/// Why a call failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The code.
    pub code: FaultCode,
    /// Milliseconds to wait before another try; 0 if nothing is known.
    pub retry_after: u32,
    /// Whether nothing of the call was carried out.
    pub unstarted: bool,
}

impl Fault {
    /// A fault of which nothing more is known.
    #[must_use]
    pub const fn new(code: FaultCode) -> Self {
        Self {
            code,
            retry_after: 0,
            unstarted: false,
        }
    }

    /// A call that was turned away before anything of it began.
    #[must_use]
    pub const fn unstarted(code: FaultCode) -> Self {
        Self {
            unstarted: true,
            ..Self::new(code)
        }
    }
}

impl<O: Copy, T> Connection<O, T> {
    /// Begins the answer to a call. Nothing, if the call has ended: it was cancelled, or its time
    /// is over.
    #[inline]
    pub fn reply(&mut self, now: Time, id: CallId) -> Option<Answer<'_, O, T>> {
        let call = self.slots.get_mut(id)?;
        let took = now.since(call.arrived).as_micros();
        let header = Header {
            value: u32::try_from(took).unwrap_or(u32::MAX),
            ..header(Kind::REPLY, id.into())
        };
        Some(self.answer(header, id))
    }

    /// Answers a call with a fault and its details. Nothing is sent if the call has ended, and
    /// details that the client does not take are left out.
    pub fn fault(&mut self, now: Time, id: CallId, fault: Fault, details: &[u8]) {
        let _ = now;
        if self.slots.get_mut(id).is_none() {
            return;
        }
        let header = Header {
            flags: match fault.unstarted {
                true => Flags::UNSTARTED,
                false => Flags::NONE,
            },
            code: fault.code.0,
            value: fault.retry_after,
            ..header(Kind::FAULT, id.into())
        };
        self.tally.fault(fault);
        let mut answer = self.answer(header, id);
        answer.payload().extend_from_slice(details);
        if answer.send().is_err() {
            // Without details it has a few bytes, which everybody takes.
            let _ = self.answer(header, id).send();
        }
    }

    pub(super) fn answer(&mut self, header: Header, id: CallId) -> Answer<'_, O, T> {
        let draft = Draft::new(&mut self.output, header);
        Answer {
            connection: self,
            draft,
            id,
            sent: false,
        }
    }
}

/// An answer or an item that is being written. One that is dropped is not sent, and its call is as
/// it was.
#[derive(Debug)]
pub struct Answer<'a, O, T> {
    connection: &'a mut Connection<O, T>,
    draft: Draft,
    id: CallId,
    sent: bool,
}

impl<O, T> Answer<'_, O, T> {
    /// Where the payload is appended; nothing that is there may be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.connection.output.bytes
    }

    /// A payload that is there already; if it is large it is not copied. Nothing may follow it.
    pub fn share(&mut self, payload: Bytes) {
        self.draft.share(&mut self.connection.output, payload);
    }

    /// Sends it. An answer ends the call; what was kept of it is dropped.
    ///
    /// # Errors
    ///
    /// It is larger than the client takes. The call is still open.
    #[inline]
    pub fn send(mut self) -> Result<(), TooLarge> {
        let connection = &mut *self.connection;
        let bytes = self.draft.check(
            &mut connection.output,
            &connection.client,
            &mut connection.packer,
        )?;
        self.draft.finish(&mut connection.output);
        self.sent = true;
        if self.draft.kind() == Kind::ITEM {
            let call = connection.slots.get_mut(self.id);
            if let Some(stream) = call.and_then(|call| call.stream.as_mut()) {
                let cost = i64::from(bytes) + HEADER as i64;
                stream.credit.sent(cost);
                connection.items.sent(cost);
            }
        } else if let Some(call) = connection.slots.remove(self.id) {
            connection.bytes -= u64::from(call.bytes);
            let replies = &mut connection.tally.replies;
            *replies = replies.wrapping_add(u32::from(self.draft.kind() == Kind::REPLY));
        }
        Ok(())
    }
}

impl<O, T> Drop for Answer<'_, O, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.sent {
            self.draft.undo(&mut self.connection.output);
        }
    }
}
