//! Answers that are being written.

use std::hash::BuildHasher;

use super::super::{Address, Datagrams, TooLong};
use super::{Call, Fault, Server};
use crate::deflate::Packer;
use crate::draft::Draft;
use crate::header::header;
use crate::{FaultCode, Flags, Header, Kind, Settings, Time};

impl<O, T, H, A> Server<O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Address,
{
    /// Begins the answer to a call. Nothing, if the call has ended.
    #[inline]
    pub fn reply(&mut self, now: Time, call: Call) -> Option<Answer<'_, O, T, H, A>> {
        let took = now.since(self.entry(call)?.arrived).as_micros();
        let header = Header {
            value: u32::try_from(took).unwrap_or(u32::MAX),
            ..header(Kind::REPLY, call.id.into())
        };
        self.answer(now, call, header)
    }

    /// Answers a call with a fault and its details. Nothing is sent if the call has ended, and
    /// details that are too long for a datagram are left out.
    pub fn fault(&mut self, now: Time, call: Call, fault: Fault, details: &[u8]) {
        let header = Header {
            flags: match fault.unstarted {
                true => Flags::UNSTARTED,
                false => Flags::NONE,
            },
            code: fault.code.0,
            value: fault.retry_after,
            ..header(Kind::FAULT, call.id.into())
        };
        for details in [details, b""] {
            let Some(mut answer) = self.answer(now, call, header) else {
                return;
            };
            answer.payload().extend_from_slice(details);
            let (token, to) = (answer.token, answer.to);
            if answer.send().is_ok() {
                self.tally.fault(fault);
                if fault.unstarted && fault.code == FaultCode::OVERLOADED {
                    self.tell_limit(token, to);
                }
                return;
            }
        }
    }

    #[inline]
    fn answer(&mut self, now: Time, call: Call, header: Header) -> Option<Answer<'_, O, T, H, A>> {
        let peer = self.peers.of(call.place, call.generation)?;
        let again = peer.open_mut(call.id)?.again;
        let header = Header {
            flags: header.flags.with(again),
            ..header
        };
        let (token, to) = (peer.token, peer.address);
        let start = self.output.begin(token);
        let draft = Draft::new(&mut self.output.buffer, header);
        Some(Answer {
            server: self,
            start,
            draft,
            now,
            call,
            token,
            to,
            sent: false,
        })
    }
}

/// An answer that is being written. One that is dropped is not sent, and its call is as it was.
#[derive(Debug)]
pub struct Answer<'a, O, T, H, A: Address> {
    server: &'a mut Server<O, T, H, A>,
    start: usize,
    draft: Draft,
    now: Time,
    call: Call,
    token: u64,
    to: A,
    sent: bool,
}

impl<O, T, H, A> Answer<'_, O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Address,
{
    /// Where the payload is appended; nothing that is there may be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.server.output.buffer.bytes
    }

    /// Sends it, and keeps it for the case that it is lost. It ends the call; what was kept of that
    /// is dropped.
    ///
    /// # Errors
    ///
    /// It is longer than a datagram may be. The call is still open.
    #[inline]
    pub fn send(mut self) -> Result<(), TooLong> {
        let Self {
            start,
            now,
            call,
            to,
            ..
        } = self;
        let server = &mut *self.server;
        let output = &mut server.output.buffer;
        let (length, most) = (output.bytes.len() - start, server.limits.datagram);
        let too_long = TooLong { length, most };
        if length > most {
            return Err(too_long);
        }
        // All take 65,536 bytes, which is more than a datagram has.
        let checked = self
            .draft
            .check(output, &Settings::INITIAL, &mut Packer::off());
        checked.map_err(|_| too_long)?;
        self.draft.finish(output);
        self.sent = true;
        let datagram = server.output.end(start, to);
        server
            .peers
            .change(call.place, |peer| peer.answer(now, call.id, datagram));
        server.open -= 1;
        let replies = &mut server.tally.replies;
        *replies = replies.wrapping_add(u32::from(self.draft.kind() == Kind::REPLY));
        server.peers.fit(call.place, &server.limits);
        Ok(())
    }
}

impl<O, T, H, A: Address> Drop for Answer<'_, O, T, H, A> {
    #[inline]
    fn drop(&mut self) {
        if !self.sent {
            let Datagrams { buffer, .. } = &mut self.server.output;
            buffer.bytes.truncate(self.start);
        }
    }
}
