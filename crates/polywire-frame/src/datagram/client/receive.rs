//! What a server's datagrams mean to a client.

use std::time::Duration;

use super::super::TOKEN;
use super::{Client, Event, Stage};
use crate::frames::Frame;
use crate::header::{From, header};
use crate::{CallId, FaultCode, Flags, Frames, Header, Kind, Reason, Settings, Time};

/// How long to wait for the answer to a call that is at work before it is asked for: that only helps if the answer was
/// lost.
const ACCEPTED: Duration = Duration::from_millis(250);

impl<T> Client<T> {
    /// What a datagram of the server means, if anything. After an [`Event::GoAway`] of
    /// [`Reason::TOKEN`] it is time to [`begin`](Self::begin).
    #[inline]
    pub fn receive<'a>(&mut self, now: Time, datagram: &'a [u8]) -> Option<Event<'a, T>> {
        let (token, bytes) = datagram.split_first_chunk::<TOKEN>()?;
        let token = u64::from_le_bytes(*token);
        if token != self.token || token == 0 {
            return self.receive_handshake(now, token, bytes);
        }
        let frame = Frames::whole(From::Server, &self.own, true, bytes)?;
        self.heard = now;
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
                    ..header(Kind::PONG, id)
                };
                self.bare(&pong);
                None
            }
            Kind::CREDIT if id == CallId::NONE => {
                match code {
                    1 => self.most_calls = value.clamp(1, self.settings.calls()),
                    2 => self.most_bytes = value.min(self.settings.bytes()),
                    _ => return None,
                }
                Some(Event::Limits)
            }
            Kind::GOAWAY => {
                let words = std::str::from_utf8(payload).ok()?;
                self.stage = Stage::Ending;
                Some(Event::GoAway {
                    reason: Reason(code),
                    within: value,
                    words,
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
        if call.names != 0 && answered {
            self.named.insert(call.names);
        }
        let flags = frame.header.flags;
        let unstarted = flags.has(Flags::UNSTARTED);
        let took = match kind {
            Kind::REPLY => Duration::from_micros(value.into()),
            _ => Duration::ZERO,
        };
        if let Some(sent) = call.answered(flags)
            && (kind == Kind::REPLY || unstarted)
        {
            self.trip.measured(now.since(sent).saturating_sub(took));
        }
        // The losses before the last were seen when it was sent.
        if call.times == 2 && !call.accepted && flags.and(Flags::AGAIN) != Flags::NONE {
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

    /// A call is at work: it is asked for its answer seldom from now on.
    #[cold]
    fn take_acceptance(&mut self, now: Time, id: CallId, flags: Flags) {
        let in_flight = self.calls.in_flight();
        let Some((call, _)) = self.calls.get_mut(id) else {
            return;
        };
        // What was cancelled is told so until it is answered.
        if call.context.is_none() || call.accepted {
            return;
        }
        if let Some(sent) = call.answered(flags) {
            self.trip.measured(now.since(sent));
        }
        call.wait = call.wait.max(ACCEPTED);
        let again = now.after(call.wait);
        call.again = again;
        self.calls.accept(id, true);
        self.calls.wants(again);
        self.flight.arrived(in_flight);
    }

    /// The answer to a greeting, or the word that a token is not known: each bears what only the server
    /// has seen.
    #[cold]
    fn receive_handshake<'a>(
        &mut self,
        now: Time,
        token: u64,
        bytes: &'a [u8],
    ) -> Option<Event<'a, T>> {
        let frame = Frames::whole(From::Server, &self.own, false, bytes)?;
        let Header {
            kind,
            code,
            id,
            value,
            ..
        } = frame.header;
        let seen = u64::from(id) | u64::from(value) << 32;
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
                self.settings = Settings::read(frame.payload, 0).ok()?;
                self.token = token;
                self.stage = Stage::Open;
                self.most_calls = self.settings.calls();
                self.most_bytes = self.settings.bytes();
                // The token may be as old as the first greeting.
                self.heard = began;
                let again = frame.header.flags.and(Flags::AGAIN);
                if again == Flags::again(times - 1) {
                    self.trip.measured(now.since(last));
                } else if again == Flags::NONE && times <= 4 {
                    self.trip.measured(now.since(began));
                }
                Some(Event::Hello)
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
                let words = std::str::from_utf8(frame.payload).ok()?;
                self.stage = Stage::None;
                Some(Event::GoAway {
                    reason: Reason(code),
                    within: 0,
                    words,
                })
            }
            _ => None,
        }
    }
}
