//! Receiving a server's datagrams.

use std::time::Duration;

use polywire_frame::{CallId, FaultCode, Flags, Frame, Header, Kind, Reason, Settings, Time};

use super::{Client, Event, Stage};
use crate::TOKEN;
use crate::datagrams::nonce;

/// The least time to wait for the answer to a call that the server has confirmed before it is resent, in case the
/// answer was lost.
const ACCEPTED: Duration = Duration::from_millis(250);

impl<T> Client<T> {
    /// Reads a datagram of the server. After [`Event::GoAway`] with [`Reason::TOKEN`], [`begin`](Self::begin) a new
    /// connection.
    #[inline]
    pub fn receive<'a>(&mut self, now: Time, datagram: &'a [u8]) -> Option<Event<'a, T>> {
        let (token, bytes) = datagram.split_first_chunk::<TOKEN>()?;
        let token = u64::from_le_bytes(*token);
        if token != self.token || token == 0 {
            return self.receive_handshake(now, token, bytes);
        }
        let frame = self.reader.datagram(false, bytes)?;
        self.last_received = now;
        let Header {
            kind,
            code,
            id,
            value,
            ..
        } = frame.header;
        let payload = frame.payload;
        match kind {
            Kind::REPLY | Kind::FAULT => self.take_answer(now, &frame),
            Kind::ACCEPT => {
                self.take_acceptance(now, CallId::from(id), frame.header.flags);
                None
            }
            Kind::PONG => Some(Event::Pong { id, value }),
            Kind::PING => {
                let pong = Header {
                    value,
                    ..Header::new(Kind::PONG, id)
                };
                self.output.push_header(self.token, &pong, ());
                None
            }
            Kind::CREDIT if id == CallId::NONE => {
                match code {
                    1 => self.most_calls = value.clamp(1, self.peer.calls()),
                    2 => self.most_bytes = value.min(self.peer.bytes()),
                    _ => return None,
                }
                Some(Event::Limits)
            }
            Kind::GOAWAY => {
                let message = std::str::from_utf8(payload).ok()?;
                self.stage = Stage::Ending;
                Some(Event::GoAway {
                    reason: Reason(code),
                    within: value,
                    message,
                })
            }
            _ => None,
        }
    }

    #[inline]
    fn take_answer<'a>(&mut self, now: Time, frame: &Frame<'a>) -> Option<Event<'a, T>> {
        let Header {
            kind, code, value, ..
        } = frame.header;
        let id = CallId::from(frame.header.id);
        let in_flight = self.calls.in_flight();
        let call = self.calls.remove(now, id)?;
        self.bytes -= u64::from(call.bytes);
        let answered = kind == Kind::REPLY || FaultCode(code) != FaultCode::CANCELLED;
        if call.number != 0 && answered {
            self.known.insert(call.number);
        }
        let flags = frame.header.flags;
        let unstarted = flags.contains(Flags::UNSTARTED);
        let took = match kind {
            Kind::REPLY => Duration::from_micros(value.into()),
            _ => Duration::ZERO,
        };
        if let Some(sent) = call.answered(flags)
            && (kind == Kind::REPLY || unstarted)
        {
            self.round_trip
                .measured(now.since(sent).saturating_sub(took));
        }
        // Earlier losses were counted when it was resent.
        if call.times == 2 && !call.accepted && flags.intersection(Flags::AGAIN) != Flags::NONE {
            self.flight.lost(now, call.sent, in_flight);
        }
        self.flight.arrived(in_flight);
        let context = call.context?;
        let payload = frame.payload;
        Some(match kind {
            Kind::REPLY => Event::Reply {
                id,
                context,
                took: value,
                payload,
            },
            _ => Event::Fault {
                id,
                context,
                code: FaultCode(code),
                retry_after: value,
                unstarted,
                payload,
            },
        })
    }

    /// The server has confirmed a call: it is resent less often from now on.
    #[cold]
    fn take_acceptance(&mut self, now: Time, id: CallId, flags: Flags) {
        let in_flight = self.calls.in_flight();
        let Some((call, _)) = self.calls.get_mut(id) else {
            return;
        };
        // A cancellation is resent until it is answered.
        if call.context.is_none() || call.accepted {
            return;
        }
        if let Some(sent) = call.answered(flags) {
            self.round_trip.measured(now.since(sent));
        }
        call.wait = call.wait.max(ACCEPTED);
        let again = now.after(call.wait);
        call.again = again;
        self.calls.accept(id, true);
        self.calls.wake_at(again);
        self.flight.arrived(in_flight);
    }

    /// Reads the answer to `HELLO`, or the notice that a token is unknown. Both contain a number that only the server has
    /// received.
    #[cold]
    fn receive_handshake<'a>(
        &mut self,
        now: Time,
        token: u64,
        bytes: &'a [u8],
    ) -> Option<Event<'a, T>> {
        let frame = self.reader.datagram(true, bytes)?;
        let Header { kind, code, .. } = frame.header;
        let seen = nonce(&frame.header);
        match (kind, self.stage) {
            (
                Kind::HELLO,
                Stage::Greeting {
                    nonce,
                    began,
                    last,
                    times,
                    ..
                },
            ) if seen == nonce && token != 0 => {
                self.peer = Settings::read(frame.payload, 0).ok()?;
                self.token = token;
                self.stage = Stage::Open;
                self.most_calls = self.peer.calls();
                self.most_bytes = self.peer.bytes();
                // The token may be as old as the first `HELLO`.
                self.last_received = began;
                let again = frame.header.flags.intersection(Flags::AGAIN);
                if again == Flags::again(times - 1) {
                    self.round_trip.measured(now.since(last));
                } else if again == Flags::NONE && times <= 4 {
                    self.round_trip.measured(now.since(began));
                }
                Some(Event::Hello(frame.fields()))
            }
            (Kind::GOAWAY, stage) if token == 0 => {
                let expected = match stage {
                    Stage::None => return None,
                    Stage::Greeting { nonce, .. } => nonce,
                    Stage::Open | Stage::Ending => self.token,
                };
                if seen != expected {
                    return None;
                }
                let message = std::str::from_utf8(frame.payload).ok()?;
                self.stage = Stage::None;
                Some(Event::GoAway {
                    reason: Reason(code),
                    within: 0,
                    message,
                })
            }
            _ => None,
        }
    }
}
