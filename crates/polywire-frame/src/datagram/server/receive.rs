//! What a client's datagrams mean to a server.

use std::hash::BuildHasher;

use super::super::peer::{Peer, Seen};
use super::super::{Address, TOKEN};
use super::{Call, Event, Fault, Server};
use crate::frames::Frame;
use crate::header::{From, header};
use crate::{CallId, FaultCode, Flags, Frames, HEADER, Header, Kind, Time};

impl<O, T, H, A> Server<O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Address,
{
    /// What a datagram from that address means, if anything: what is an error on a stream means
    /// nothing here. `resolve` says what the name of an operation stands for.
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
        // Of all frames, so that the answer to none is longer than it.
        let head = Header::read(bytes.first_chunk::<HEADER>()?);
        let known = self.peers.find(from);
        let place = known.filter(|place| {
            let peer = self.peers.at(*place);
            token != 0 && peer.is_some_and(|(_, peer)| peer.token == token)
        });
        let place = match place {
            Some(place) => place,
            None if token == 0 => {
                self.greet(now, from, datagram.len(), bytes);
                return None;
            }
            None => self.join(now, from, token, head.kind, known)?,
        };
        let frame = Frames::whole(From::Client, &self.settings, true, bytes)?;
        let (_, peer) = self.peers.at(place)?;
        peer.heard = now;
        if peer.left {
            return None;
        }
        self.take(now, place, &frame, resolve)
    }

    /// What a frame of a client means.
    #[inline]
    fn take<'a>(
        &mut self,
        now: Time,
        place: u32,
        frame: &Frame<'a>,
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Event<'a, O, T>> {
        let Header {
            kind, id, value, ..
        } = frame.header;
        match kind {
            Kind::CALL => self.take_call(now, place, frame, resolve),
            Kind::ONEWAY => {
                if self.stops.is_some() {
                    return None;
                }
                let operation = self.operation(place, frame, resolve)??;
                self.tally.one_ways = self.tally.one_ways.wrapping_add(1);
                Some(Event::OneWay {
                    operation,
                    deadline: now.after_millis(value),
                    extension: frame.fields(),
                    payload: frame.payload,
                })
            }
            Kind::CANCEL => self.take_cancel(now, place, CallId::from(id), frame),
            Kind::PING => {
                let (_, peer) = self.peers.at(place)?;
                let start = self.output.begin(peer.token);
                let pong = Header {
                    value,
                    ..header(Kind::PONG, id)
                };
                self.output.buffer.bytes.extend_from_slice(&pong.bytes());
                self.output.end(start, peer.address);
                None
            }
            Kind::GOAWAY => {
                let (_, peer) = self.peers.at(place)?;
                self.open -= peer.open as usize;
                self.peers.change(place, Peer::leave);
                None
            }
            _ => None,
        }
    }

    /// What the operation of a call is: nothing if the call means nothing, and nothing inside if there
    /// is no such operation.
    #[inline]
    fn operation(
        &mut self,
        place: u32,
        frame: &Frame<'_>,
        mut resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Option<O>> {
        let number = frame.header.code;
        let named = self.peers.at(place)?.1.named(number);
        let Some(name) = frame.fields().operation else {
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
                self.peers.change(place, |peer| {
                    let fits = peer.needs_for_name() <= room;
                    fits.then(|| peer.name(number, operation))
                })??;
                self.peers.fit(place, &limits);
            }
            _ => {}
        }
        Some(resolved)
    }

    #[inline]
    fn take_call<'a>(
        &mut self,
        now: Time,
        place: u32,
        frame: &Frame<'a>,
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Event<'a, O, T>> {
        let id = CallId::from(frame.header.id);
        if u32::from(id.slot()) >= self.settings.calls() {
            return None;
        }
        let (generation, peer) = self.peers.at(place)?;
        let call = Call {
            place,
            generation,
            id,
        };
        let again = frame.header.flags.and(Flags::AGAIN);
        match peer.seen(id) {
            Seen::New => {}
            Seen::Old => return None,
            Seen::Open => {
                let (token, to) = (peer.token, peer.address);
                self.at_work(token, to, &frame.header);
                return None;
            }
            Seen::Answered(answer) => {
                self.output.push_again(answer, peer.address, again);
                return None;
            }
            Seen::Forgotten => {
                let (token, to) = (peer.token, peer.address);
                self.forgotten(token, to, &frame.header);
                return None;
            }
        }
        let full = peer.open_bytes >= self.settings.bytes().into();
        let operation = self.operation(place, frame, resolve)?;
        let deadline = now.after_millis(frame.header.value);
        if !self.begin(now, call, deadline, (frame.header.length, again)) {
            return None;
        }
        let fault = if self.stops.is_some() {
            FaultCode::UNAVAILABLE
        } else if frame.header.flags.has(Flags::OPEN) {
            FaultCode::UNSUPPORTED
        } else if full {
            FaultCode::OVERLOADED
        } else {
            return Some(match operation {
                Some(operation) => Event::Call {
                    call,
                    operation,
                    deadline,
                    extension: frame.fields(),
                    payload: frame.payload,
                },
                None => Event::Unknown {
                    call,
                    name: frame.fields().operation,
                },
            });
        };
        self.fault(now, call, Fault::unstarted(fault), b"");
        None
    }

    /// Bytes that may be taken beyond what is, once all answers are forgotten.
    #[inline]
    fn room(&self) -> usize {
        (self.limits.memory + self.peers.kept()).saturating_sub(self.peers.memory())
    }

    /// Takes the slot of a call that is new; false if there is no room for it.
    #[inline]
    fn begin(&mut self, now: Time, call: Call, deadline: Time, body: (u32, Flags)) -> bool {
        let (limits, room) = (self.limits, self.room());
        let begun = self.peers.change(call.place, |peer| {
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
        self.tally.calls = self.tally.calls.wrapping_add(1);
        self.earliest = self.earliest.min(deadline);
        self.peers.fit(call.place, &limits);
        true
    }

    /// Tells who asks for an answer that there is none yet.
    #[cold]
    fn at_work(&mut self, token: u64, to: A, asked: &Header) {
        let start = self.output.begin(token);
        let accept = Header {
            flags: asked.flags.and(Flags::AGAIN),
            ..header(Kind::ACCEPT, asked.id)
        };
        self.output.buffer.bytes.extend_from_slice(&accept.bytes());
        self.output.end(start, to);
    }

    /// The answer to a call whose answer is not there any more.
    #[cold]
    fn forgotten(&mut self, token: u64, to: A, asked: &Header) {
        let start = self.output.begin(token);
        let fault = Header {
            code: FaultCode::INTERNAL.0,
            flags: asked.flags.and(Flags::AGAIN),
            ..header(Kind::FAULT, asked.id)
        };
        self.output.buffer.bytes.extend_from_slice(&fault.bytes());
        self.output.end(start, to);
    }

    /// Ends a call that is open, or that has not come yet: then it will not be begun.
    #[cold]
    fn take_cancel<'a>(
        &mut self,
        now: Time,
        place: u32,
        id: CallId,
        frame: &Frame<'_>,
    ) -> Option<Event<'a, O, T>> {
        let again = frame.header.flags.and(Flags::AGAIN);
        if u32::from(id.slot()) >= self.settings.calls() {
            return None;
        }
        let (generation, peer) = self.peers.at(place)?;
        let call = Call {
            place,
            generation,
            id,
        };
        let cancelled = Fault::new(FaultCode::CANCELLED);
        match peer.seen(id) {
            Seen::Open => {
                let context = peer.open_mut(id).and_then(|entry| {
                    entry.again = again;
                    entry.context.take()
                });
                self.fault(now, call, cancelled, b"");
                Some(Event::Cancelled(call, context))
            }
            Seen::New => {
                if self.begin(now, call, Time::NEVER, (0, again)) {
                    let unstarted = Fault::unstarted(FaultCode::CANCELLED);
                    self.fault(now, call, unstarted, b"");
                }
                None
            }
            Seen::Answered(answer) => {
                self.output.push_again(answer, peer.address, again);
                None
            }
            Seen::Forgotten => {
                let (token, to) = (peer.token, peer.address);
                self.forgotten(token, to, &frame.header);
                None
            }
            Seen::Old => None,
        }
    }
}
