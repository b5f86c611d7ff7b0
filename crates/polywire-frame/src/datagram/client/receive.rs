//! What a server's datagrams mean to a client.

use std::time::Duration;

use super::super::TOKEN;
use super::{Client, Event, Stage};
use crate::frames::Frame;
use crate::header::{From, header};
use crate::{CallId, FaultCode, Flags, Frames, Header, Kind, Reason, Settings, Time};

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
        let call = self.calls.remove(now, id)?;
        self.bytes -= u64::from(call.bytes);
        let answered = kind == Kind::REPLY || FaultCode(code) != FaultCode::CANCELLED;
        if call.names != 0 && answered {
            self.named.insert(call.names);
        }
        if kind == Kind::REPLY && !call.resent {
            let took = Duration::from_micros(value.into());
            self.trip
                .measured(now.since(call.sent).saturating_sub(took));
        }
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
                unstarted: frame.header.flags.has(Flags::UNSTARTED),
                payload,
            },
        })
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
                    again,
                    wait,
                },
            ) if seen == nonce && token != 0 => {
                self.settings = Settings::read(frame.payload, 0).ok()?;
                self.token = token;
                self.stage = Stage::Open;
                self.most_calls = self.settings.calls();
                self.most_bytes = self.settings.bytes();
                // The token may be as old as the first greeting.
                self.heard = began;
                if again == began.after(wait) {
                    // It was sent once.
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
