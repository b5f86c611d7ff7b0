//! Answers that are being written.

use std::hash::BuildHasher;

use polywire_frame::wire::{FrameWriter, TooLong};
use polywire_frame::{FaultCode, Header, Kind, Settings, Time};

use super::{Call, Fault, Server};
use crate::Address;

impl<O, T, H, A> Server<O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Address,
{
    /// Begins the answer to a call. `None` if the call has ended.
    #[inline]
    pub fn reply(&mut self, now: Time, call: Call) -> Option<Answer<'_, O, T, H, A>> {
        let took = now.since(self.entry(call)?.arrived).as_micros();
        let header = Header {
            value: u32::try_from(took).unwrap_or(u32::MAX),
            ..Header::new(Kind::REPLY, call.id.into())
        };
        self.answer(now, call, header)
    }

    /// Answers a call with a fault. Does nothing if the call has ended. Details that are too long for a datagram are
    /// left out.
    pub fn fault(&mut self, now: Time, call: Call, fault: Fault, details: &[u8]) {
        for details in [details, b""] {
            let Some(mut answer) = self.answer(now, call, fault.header(call.id)) else {
                return;
            };
            answer.payload().extend_from_slice(details);
            let (token, to) = (answer.token, answer.to);
            if answer.send().is_ok() {
                self.counts.fault(fault);
                if fault.unstarted && fault.code == FaultCode::OVERLOADED {
                    self.send_limit(token, to);
                }
                return;
            }
        }
    }

    #[inline]
    fn answer(&mut self, now: Time, call: Call, header: Header) -> Option<Answer<'_, O, T, H, A>> {
        let peer = self.peers.of(call.peer, call.generation)?;
        let again = peer.open_mut(call.id)?.again;
        let header = Header {
            flags: header.flags.union(again),
            ..header
        };
        let (token, to) = (peer.token, peer.address);
        let frame = FrameWriter::new(self.output.begin(token), header);
        Some(Answer {
            server: self,
            frame,
            now,
            call,
            token,
            to,
            sent: false,
        })
    }
}

/// An answer that is being written: append the payload, then [`send`](Self::send). If it is dropped before, it is not
/// sent and has no effect.
#[derive(Debug)]
pub struct Answer<'a, O, T, H, A: Address> {
    server: &'a mut Server<O, T, H, A>,
    frame: FrameWriter,
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
    /// The buffer to append the payload to. Its content must not be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        self.server.output.buffer()
    }

    /// Sends the answer, and keeps it in case it is lost. The call ends, and what was stored with it is dropped.
    ///
    /// # Errors
    ///
    /// It is longer than a datagram may be. The call remains open.
    #[inline]
    pub fn send(mut self) -> Result<(), TooLong> {
        let Self { now, call, to, .. } = self;
        let server = &mut *self.server;
        let most = server.limits.datagram;
        server
            .output
            .finish(&mut self.frame, most, &Settings::INITIAL)?;
        self.sent = true;
        let datagram = server.output.end(self.frame.start(), to);
        server
            .peers
            .change(call.peer, |peer| peer.answer(now, call.id, datagram));
        server.open -= 1;
        server.counts.reply(self.frame.kind());
        server.peers.fit(call.peer, &server.limits);
        Ok(())
    }
}

impl<O, T, H, A: Address> Drop for Answer<'_, O, T, H, A> {
    #[inline]
    fn drop(&mut self) {
        if !self.sent {
            self.server.output.discard(self.frame.start());
        }
    }
}
