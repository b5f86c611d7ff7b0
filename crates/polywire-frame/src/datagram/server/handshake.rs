//! Greetings, and who becomes a client.

use std::hash::BuildHasher;

use super::super::peer::Peer;
use super::super::token::Made;
use super::super::{Address, LEAST_HELLO};
use super::Server;
use crate::header::{From, header};
use crate::{Flags, Frames, Header, Kind, Reason, Time};

impl<O, T, H, A> Server<O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Address,
{
    /// Answers a greeting, and keeps nothing of it.
    #[cold]
    pub(super) fn greet(&mut self, now: Time, from: A, length: usize, bytes: &[u8]) {
        if length < LEAST_HELLO {
            return;
        }
        let Some(frame) = Frames::whole(From::Client, &self.settings, false, bytes) else {
            return;
        };
        if frame.header.kind != Kind::HELLO {
            return;
        }
        let nonce = u64::from(frame.header.id) | u64::from(frame.header.value) << 32;
        let full = !self.peers.has_room(from, &self.limits) && self.peers.find(from).is_none();
        if let Some(reason) = self.stops.or(full.then_some(Reason::FULL)) {
            return self.refuse(from, reason, nonce);
        }
        // Each is another, whoever shared the address and the moment with somebody. Who asks for too many gets none.
        let Some(token) = self.mint.token(now, from, self.peers.hasher()) else {
            return;
        };
        let start = self.output.begin(token);
        let settings = self.settings;
        let again = frame.header.flags.and(Flags::AGAIN);
        settings.write_datagram(&mut self.output.buffer, nonce, again, 0);
        self.output.end(start, from);
        // Both together are still shorter than what they answer.
        self.tell_limit(token, from);
    }

    /// Tells whoever sent a token or a nonce that it is worth nothing, with as few bytes as a frame has.
    fn refuse(&mut self, to: A, reason: Reason, seen: u64) {
        let start = self.output.begin(0);
        let header = Header {
            code: reason.0,
            value: (seen >> 32) as u32,
            ..header(Kind::GOAWAY, seen as u32)
        };
        self.output.buffer.bytes.extend_from_slice(&header.bytes());
        self.output.end(start, to);
    }

    /// A token of no client that is known. The place of the client, if it is one now.
    #[cold]
    pub(super) fn join(
        &mut self,
        now: Time,
        from: A,
        token: u64,
        kind: Kind,
        known: Option<u32>,
    ) -> Option<u32> {
        // What is answered is what no server sends: two of them would never end.
        let calls = [Kind::CALL, Kind::ONEWAY, Kind::CANCEL, Kind::PING].contains(&kind);
        let made = Made::of(token, now, from, self.peers.hasher());
        let before = known.and_then(|place| Some(self.peers.at(place)?.1.made));
        let Some(made) = made.filter(|made| before.is_none_or(|before| before < *made)) else {
            if calls {
                self.refuse(from, Reason::TOKEN, token);
            }
            return None;
        };
        if !calls {
            return None;
        }
        match known {
            // It has begun anew.
            Some(place) => self.remove(place),
            None if self.peers.has_room(from, &self.limits) => {}
            None => {
                self.expire(now);
                if !self.peers.has_room(from, &self.limits) {
                    return None;
                }
            }
        }
        self.joined += 1;
        let peer = Peer::new(from, token, made, now);
        Some(self.peers.insert(peer, now.after(self.limits.idle)))
    }
}
