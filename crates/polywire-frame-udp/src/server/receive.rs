//! Receiving clients' datagrams.

use std::hash::BuildHasher;

use polywire_frame::{CallId, FaultCode, Flags, Frame, HEADER, Header, Kind, Time};

use super::peer::{CallState, Peer};
use super::{Call, Event, Fault, Server};
use crate::{Address, TOKEN};

impl<O, T, H, A> Server<O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Address,
{
    /// Reads a datagram from this address. What violates the protocol on a stream is ignored here. `resolve` maps the name
    /// of an operation.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        now: Time,
        from: A,
        datagram: &'a [u8],
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Event<'a, O, T>> {
        let (token, bytes) = datagram.split_first_chunk::<TOKEN>()?;
        let token = u64::from_le_bytes(*token);
        // All frames must have a header, so that no answer is longer than what it answers.
        let head = Header::read(bytes.first_chunk::<HEADER>()?);
        let known = self.peers.find(from);
        let index = known.filter(|index| {
            let peer = self.peers.at(*index);
            token != 0 && peer.is_some_and(|(_, peer)| peer.token == token)
        });
        let index = match index {
            Some(index) => index,
            None if token == 0 => {
                self.greet(now, from, datagram.len(), bytes);
                return None;
            }
            None => self.join(now, from, token, head.kind, known)?,
        };
        let frame = self.reader.datagram(false, bytes)?;
        let (_, peer) = self.peers.at(index)?;
        peer.last_received = now;
        if peer.is_going_away {
            return None;
        }
        self.take(now, index, &frame, resolve)
    }

    /// What a frame of a client means.
    #[inline]
    fn take<'a>(
        &mut self,
        now: Time,
        index: u32,
        frame: &Frame<'a>,
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Event<'a, O, T>> {
        let Header {
            kind, id, value, ..
        } = frame.header;
        match kind {
            Kind::CALL => self.take_call(now, index, frame, resolve),
            Kind::ONEWAY => {
                if self.stop_reason.is_some() {
                    return None;
                }
                let operation = self.operation(index, frame, resolve)??;
                self.counts.one_way();
                Some(Event::OneWay {
                    operation,
                    deadline: now.after_millis(value),
                    extension: frame.fields(),
                    payload: frame.payload,
                })
            }
            Kind::CANCEL => self.take_cancel(now, index, frame),
            Kind::PING => {
                let (_, peer) = self.peers.at(index)?;
                let (token, to) = (peer.token, peer.address);
                let pong = Header {
                    value,
                    ..Header::new(Kind::PONG, id)
                };
                self.output.push_header(token, &pong, to);
                None
            }
            Kind::GOAWAY => {
                let (_, peer) = self.peers.at(index)?;
                self.open -= peer.open as usize;
                self.peers.change(index, Peer::leave);
                None
            }
            _ => None,
        }
    }

    /// The operation of a call: `None` if the call is to be ignored, `Some(None)` if there is no such operation.
    #[inline]
    fn operation(
        &mut self,
        index: u32,
        frame: &Frame<'_>,
        mut resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Option<O>> {
        let number = frame.header.code;
        let named = self.peers.at(index)?.1.named(number);
        let Some(name) = frame.fields().operation() else {
            return (number != 0).then_some(named);
        };
        if u32::from(number) > self.settings.names() {
            return None;
        }
        let resolved = resolve(name);
        match (named, resolved) {
            (Some(named), _) if resolved != Some(named) => return None,
            (None, Some(operation)) if number != 0 => {
                let (limits, room) = (self.limits, self.room());
                self.peers.change(index, |peer| {
                    let fits = peer.needs_for_name() <= room;
                    fits.then(|| peer.name(number, operation))
                })??;
                self.peers.fit(index, &limits);
            }
            _ => {}
        }
        Some(resolved)
    }

    #[inline]
    fn take_call<'a>(
        &mut self,
        now: Time,
        index: u32,
        frame: &Frame<'a>,
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Event<'a, O, T>> {
        let call = self.call_of(index, frame)?;
        let again = frame.header.flags.intersection(Flags::AGAIN);
        let (_, peer) = self.peers.at(index)?;
        if peer.state(call.id) != CallState::New {
            self.answer_again(index, &frame.header);
            return None;
        }
        let full = peer.open_bytes >= self.settings.bytes().into();
        let operation = self.operation(index, frame, resolve)?;
        let deadline = now.after_millis(frame.header.value);
        if !self.begin(now, call, deadline, (frame.header.length, again)) {
            return None;
        }
        let fault = if self.stop_reason.is_some() {
            FaultCode::UNAVAILABLE
        } else if frame.header.flags.contains(Flags::OPEN) {
            FaultCode::UNSUPPORTED
        } else if full {
            FaultCode::OVERLOADED
        } else {
            return Some(match operation {
                Some(operation) => Event::Call {
                    id: call,
                    operation,
                    deadline,
                    open: false,
                    extension: frame.fields(),
                    payload: frame.payload,
                },
                None => Event::Unknown {
                    id: call,
                    name: frame.fields().operation(),
                },
            });
        };
        self.fault(now, call, Fault::unstarted(fault), b"");
        None
    }

    /// Bytes that can be stored in addition, once all answers are forgotten.
    #[inline]
    fn room(&self) -> usize {
        (self.limits.memory + self.peers.answer_bytes()).saturating_sub(self.peers.memory())
    }

    /// Opens a new call. `false` if there is no memory for it.
    #[inline]
    fn begin(&mut self, now: Time, call: Call, deadline: Time, body: (u32, Flags)) -> bool {
        let (limits, room) = (self.limits, self.room());
        let begun = self.peers.change(call.peer, |peer| {
            if peer.needs(call.id.slot()) > room {
                return None;
            }
            let open = peer.open;
            peer.begin(now, call.id, deadline, body);
            Some(peer.open - open)
        });
        let Some(Some(more)) = begun else {
            return false;
        };
        self.open += more as usize;
        self.counts.call();
        self.earliest = self.earliest.min(deadline);
        self.peers.fit(call.peer, &limits);
        true
    }

    /// The call of a frame, unless its slot is above the limit.
    fn call_of(&mut self, index: u32, frame: &Frame<'_>) -> Option<Call> {
        let id = CallId::from(frame.header.id);
        if u32::from(id.slot()) >= self.settings.calls() {
            return None;
        }
        let (generation, _) = self.peers.at(index)?;
        Some(Call {
            peer: index,
            generation,
            id,
        })
    }

    /// Answers a datagram of a call that is not new, if it has an answer.
    #[cold]
    fn answer_again(&mut self, index: u32, asked: &Header) {
        let id = CallId::from(asked.id);
        let again = asked.flags.intersection(Flags::AGAIN);
        let Some((_, peer)) = self.peers.at(index) else {
            return;
        };
        let (token, to) = (peer.token, peer.address);
        let (kind, code) = match peer.state(id) {
            CallState::New | CallState::Old => return,
            CallState::Answered(answer) => {
                self.output.push_again(answer, to, again);
                return;
            }
            CallState::Open => (Kind::ACCEPT, 0),
            CallState::Forgotten => (Kind::FAULT, FaultCode::INTERNAL.0),
        };
        let header = Header {
            code,
            flags: again,
            ..Header::new(kind, asked.id)
        };
        self.output.push_header(token, &header, to);
    }

    /// Cancels a call that is open. One that has not arrived yet is answered, so that it will not be begun.
    #[cold]
    fn take_cancel<'a>(
        &mut self,
        now: Time,
        index: u32,
        frame: &Frame<'_>,
    ) -> Option<Event<'a, O, T>> {
        let call = self.call_of(index, frame)?;
        let again = frame.header.flags.intersection(Flags::AGAIN);
        let (_, peer) = self.peers.at(index)?;
        match peer.state(call.id) {
            CallState::Open => {
                let context = peer.open_mut(call.id).and_then(|entry| {
                    entry.again = again;
                    entry.context.take()
                });
                self.fault(now, call, Fault::new(FaultCode::CANCELLED), b"");
                Some(Event::Cancelled(call, context))
            }
            CallState::New => {
                if self.begin(now, call, Time::NEVER, (0, again)) {
                    let unstarted = Fault::unstarted(FaultCode::CANCELLED);
                    self.fault(now, call, unstarted, b"");
                }
                None
            }
            _ => {
                self.answer_again(index, &frame.header);
                None
            }
        }
    }
}
