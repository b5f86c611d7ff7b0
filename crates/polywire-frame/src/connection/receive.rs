//! Receiving frames: what both roles have in common.

use super::credit::{CreditEffect, Stream};
use super::{Connection, Event, Phase, Role, Step};
use crate::wire::{Frame, Next, ProtocolError};
use crate::{CallId, Flags, Header, Kind, Reason, Settings, Time};

/// What a role makes of a frame.
pub(super) type FrameResult<'a, R> =
    Result<Option<Event<'a, <R as Role>::Operation, <R as Role>::Context>>, ProtocolError>;

impl<R: Role> Connection<R> {
    /// Reads one frame from the front of the input and has `take` interpret it.
    #[inline]
    pub(super) fn receive_with<'a>(
        &mut self,
        input: &'a [u8],
        buffer: &'a mut Vec<u8>,
        take: impl FnOnce(&mut Self, &Frame<'a>) -> FrameResult<'a, R>,
    ) -> Result<Step<'a, R::Operation, R::Context>, ProtocolError> {
        let error = match self.reader.next(input) {
            Ok(Next::Frame(mut frame, consumed)) => match self
                .decompress(&mut frame, buffer)
                .and_then(|()| take(self, &frame))
            {
                Ok(event) => return Ok(Step::Consumed(consumed, event)),
                Err(error) => error,
            },
            Ok(Next::Skipped(consumed)) => return Ok(Step::Consumed(consumed, None)),
            Ok(Next::NeedMore(bytes)) => return Ok(Step::NeedMore(bytes)),
            Err(error) => error,
        };
        self.phase = Phase::Closed;
        R::report(self, &error);
        Err(error)
    }

    #[inline]
    fn decompress<'a>(
        &mut self,
        frame: &mut Frame<'a>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<(), ProtocolError> {
        // After an error of either side, frames are ignored.
        if frame.header.flags.contains(Flags::DEFLATE) && self.phase != Phase::Closed {
            self.decompressor
                .decompress(frame, self.reader.most(), buffer)?;
        }
        Ok(())
    }

    /// Interprets a frame of any kind but those of the fast path of the role.
    #[inline(never)]
    pub(super) fn receive_other<'a>(&mut self, now: Time, frame: &Frame<'a>) -> FrameResult<'a, R> {
        let Header {
            kind, id, value, ..
        } = frame.header;
        match kind {
            Kind::HELLO => self.receive_hello(frame),
            Kind::PING => {
                self.role.check_ping(&self.settings, now, frame)?;
                let pong = Header {
                    value,
                    ..Header::new(Kind::PONG, id)
                };
                pong.append_to(&mut self.output.bytes);
                Ok(None)
            }
            Kind::PONG => Ok(Some(Event::Pong { id, value })),
            Kind::GOAWAY => {
                let message = frame.message()?;
                let reason = Reason(frame.header.code);
                self.phase = match self.phase {
                    Phase::Closed => Phase::Closed,
                    // This side has violated the protocol: the client does not read answers any more.
                    _ if !R::IS_CLIENT && reason.is_error() => Phase::Closed,
                    _ => Phase::PeerLeaving,
                };
                Ok(Some(Event::GoAway {
                    reason,
                    within: value,
                    message,
                }))
            }
            Kind::ITEM => self.receive_item(frame),
            Kind::CREDIT => self.receive_credit(frame),
            _ => R::receive(self, now, frame),
        }
    }

    fn receive_hello<'a>(&mut self, frame: &Frame<'a>) -> FrameResult<'a, R> {
        self.peer = Settings::read(frame.payload, frame.payload_offset())?;
        // A setting is never below its initial value, so no credit is taken back. Credit above the maximum is
        // reported with the next `CREDIT`.
        let (peer, initial) = (&self.peer, Settings::INITIAL);
        let more = peer.window() - initial.window();
        self.calls.each(|_, call| {
            if let Some(stream) = &mut call.stream {
                let _ = stream.credit.add(more);
            }
        });
        let _ = self.items.add(peer.items() - initial.items());
        self.role.peer_settings(peer);
        Ok(Some(Event::Hello(frame.fields())))
    }

    fn receive_item<'a>(&mut self, frame: &Frame<'a>) -> FrameResult<'a, R> {
        let id = CallId::from(frame.header.id);
        let cost = frame.cost();
        if !self.items.received(cost) {
            return Err(no_credit(frame));
        }
        let Some(call) = self.calls.get_mut(id) else {
            let ignored = self.late(frame);
            if ignored.is_ok() {
                self.consumed_of_connection(cost);
            }
            return ignored;
        };
        let stream = match &mut call.stream {
            // Any call may have items from the server.
            stream if R::IS_CLIENT => {
                stream.get_or_insert_with(|| Stream::new(&self.peer, &self.settings, false, false))
            }
            Some(stream) if stream.open => stream,
            _ => {
                return Err(ProtocolError::new(
                    frame.offset,
                    "ITEM of a stream that is open",
                ));
            }
        };
        if !stream.credit.received(cost) {
            return Err(no_credit(frame));
        }
        if R::IS_CLIENT && call.context.is_none() {
            // The call is cancelled.
            self.consumed_of_connection(cost);
            return Ok(None);
        }
        Ok(Some(Event::Item {
            id,
            missed: frame.header.value,
            cost,
            payload: frame.payload,
        }))
    }

    fn receive_credit<'a>(&mut self, frame: &Frame<'a>) -> FrameResult<'a, R> {
        let Header {
            code, id, value, ..
        } = frame.header;
        match (code, id) {
            (3, CallId::NONE) => match self.items.add(value) {
                CreditEffect::TooMuch => Err(credit_error(frame, TOO_MUCH)),
                CreditEffect::Unblocks => Ok(Some(Event::Writable(None))),
                CreditEffect::Nothing => Ok(None),
            },
            (1 | 2, CallId::NONE) if R::IS_CLIENT => match self.role.limit(&self.peer, code, value)
            {
                Ok(()) => Ok(Some(Event::Limits)),
                Err(expected) => Err(credit_error(frame, expected)),
            },
            (0, id) if id != CallId::NONE => self.receive_stream_credit(frame, id.into()),
            _ if R::IS_CLIENT => Err(credit_error(
                frame,
                "CREDIT of code 0 for a call, or of 1 to 3 for none",
            )),
            _ => Err(credit_error(
                frame,
                "CREDIT of code 0 for a call, or of 3 for none",
            )),
        }
    }

    fn receive_stream_credit<'a>(&mut self, frame: &Frame<'a>, id: CallId) -> FrameResult<'a, R> {
        let Some(call) = self.calls.get_mut(id) else {
            // It may have crossed the answer.
            return match self.calls.has_ended(id) {
                true => Ok(None),
                false => Err(unknown_call::<R>(frame)),
            };
        };
        let stream = match &mut call.stream {
            Some(stream) => stream,
            None if R::IS_CLIENT => return Err(credit_error(frame, "credit for a stream")),
            // The client may give credit before it knows whether items will come.
            stream => stream.insert(Stream::new(&self.peer, &self.settings, false, false)),
        };
        match stream.credit.add(frame.header.value) {
            CreditEffect::TooMuch => Err(credit_error(frame, TOO_MUCH)),
            CreditEffect::Unblocks if !R::IS_CLIENT || stream.open && call.context.is_some() => {
                Ok(Some(Event::Writable(Some(id))))
            }
            _ => Ok(None),
        }
    }

    /// A frame for a call that is not open. A client's may have crossed the answer, and is ignored then.
    pub(super) fn late<'a>(&self, frame: &Frame<'a>) -> FrameResult<'a, R> {
        match !R::IS_CLIENT && self.calls.has_ended(frame.header.id.into()) {
            true => Ok(None),
            false => Err(unknown_call::<R>(frame)),
        }
    }
}

const TOO_MUCH: &str = "credit of at most 2^31 - 1 bytes";

#[cold]
fn no_credit(frame: &Frame<'_>) -> ProtocolError {
    ProtocolError::new(frame.offset, "no ITEM without credit").because(Reason::LIMIT)
}

#[cold]
fn credit_error(frame: &Frame<'_>, expected: &'static str) -> ProtocolError {
    let Header { id, value, .. } = frame.header;
    let found = format!("{value} for id 0x{id:08x}");
    ProtocolError::new(frame.offset, expected).found(found)
}

/// A frame for a call that never was, or at a client, that is not open.
#[cold]
pub(super) fn unknown_call<R: Role>(frame: &Frame<'_>) -> ProtocolError {
    let kind = frame.header.kind;
    let expected = match R::IS_CLIENT {
        true => format!("{kind} for a call that is open"),
        false => format!("{kind} for a call"),
    };
    let id = CallId::from(frame.header.id);
    let found = format!("slot {}, count {}", id.slot(), id.count());
    ProtocolError::new(frame.offset, expected).found(found)
}
