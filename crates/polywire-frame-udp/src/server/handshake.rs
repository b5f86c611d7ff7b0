//! The handshake: how a client becomes known.

use std::hash::BuildHasher;

use polywire_frame::{Flags, Header, Kind, Reason, Time};

use super::Server;
use super::peer::Peer;
use crate::datagrams::{nonce, write_hello};
use crate::token::TokenTime;
use crate::{Address, LEAST_HELLO};

impl<O, T, H, A> Server<O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Address,
{
    /// Answers a `HELLO`, and stores nothing of it.
    #[cold]
    pub(super) fn greet(&mut self, now: Time, from: A, length: usize, bytes: &[u8]) {
        if length < LEAST_HELLO {
            return;
        }
        let Some(frame) = self.reader.datagram(true, bytes) else {
            return;
        };
        if frame.header.kind != Kind::HELLO {
            return;
        }
        let nonce = nonce(&frame.header);
        let full = !self.peers.has_room(from, &self.limits) && self.peers.find(from).is_none();
        if let Some(reason) = self.stop_reason.or(full.then_some(Reason::FULL)) {
            return self.refuse(from, reason, nonce);
        }
        // Each token is different, even for the same address and time. Hosts that ask for too many get none.
        let Some(token) = self.mint.token(now, from, self.peers.hasher()) else {
            return;
        };
        let again = frame.header.flags.intersection(Flags::AGAIN);
        let bytes = self.output.begin(token);
        let hello = bytes.len();
        write_hello(bytes, &self.settings, nonce, again, 0);
        self.output.end(hello, from);
        // Both together are shorter than what they answer.
        self.send_limit(token, from);
    }

    /// Rejects a token or a nonce, in a frame without a body.
    fn refuse(&mut self, to: A, reason: Reason, seen: u64) {
        let header = Header {
            code: reason.0,
            value: (seen >> 32) as u32,
            ..Header::new(Kind::GOAWAY, seen as u32)
        };
        self.output.push_header(0, &header, to);
    }

    /// A datagram whose token is not that of a known client. The index of the client, if the token makes it one.
    /// `known`: the client at this address.
    #[cold]
    pub(super) fn join(
        &mut self,
        now: Time,
        from: A,
        token: u64,
        kind: Kind,
        known: Option<u32>,
    ) -> Option<u32> {
        // Frames that servers send are not answered, or two servers could answer each other forever.
        let calls = [Kind::CALL, Kind::ONEWAY, Kind::CANCEL, Kind::PING].contains(&kind);
        let token_time = TokenTime::of(token, now, from, self.peers.hasher());
        let before = known.and_then(|peer| Some(self.peers.at(peer)?.1.token_time));
        let Some(token_time) = token_time.filter(|time| before.is_none_or(|before| before < *time))
        else {
            if calls {
                self.refuse(from, Reason::TOKEN, token);
            }
            return None;
        };
        if !calls {
            return None;
        }
        match known {
            // It has begun a new connection.
            Some(peer) => self.remove(peer),
            None if self.peers.has_room(from, &self.limits) => {}
            None => {
                self.expire(now);
                if !self.peers.has_room(from, &self.limits) {
                    return None;
                }
            }
        }
        self.joined += 1;
        let peer = Peer::new(from, token, token_time, now);
        Some(self.peers.insert(peer, now.after(self.limits.idle)))
    }
}
