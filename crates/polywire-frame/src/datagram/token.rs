//! Tokens: what a server tells who is there, and need not remember.

use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use super::{Address, TOKEN_LIFE};
use crate::Time;

/// A token says when it was made, in steps of this.
const STEP: Duration = Duration::from_millis(1);

/// The most steps after which a token still opens a connection.
const MOST_STEPS: u64 = (TOKEN_LIFE.as_millis() / STEP.as_millis()) as u64;

/// The most steps that a token may have been made ahead of the time.
const MOST_AHEAD: u64 = 1_000;

/// The bits of a token that say when it was made; the others are of the hash, and nobody can foresee them. They do not
/// go round in the life of a token.
const BITS: u32 = 16;

const MASK: u64 = (1 << BITS) - 1;

const _: () = assert!(MOST_STEPS + MOST_AHEAD < MASK);

/// Lists of tokens that were made last.
const LISTS: usize = 512;

/// When a token was made, in steps. No two of an address have the same, and later ones have larger ones.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Made(u64);

/// Makes tokens, so that no address gets one twice.
///
/// To remember the last of each address would be to remember whoever sends a datagram. So a few hosts share a number,
/// nobody knows with whom, and where more are made than there are steps, they are made ahead of the time: up to a second.
/// Who asks for more, by whatever addresses he has or makes up, gets none, and takes them from hardly anybody else.
#[derive(Debug)]
pub(super) struct Mint {
    last: Box<[Made; LISTS]>,
}

impl Mint {
    pub(super) fn new() -> Self {
        Self {
            last: Box::new([Made(0); LISTS]),
        }
    }

    /// The next token for an address, unless there were too many.
    pub(super) fn token(
        &mut self,
        now: Time,
        address: impl Address,
        key: &impl BuildHasher,
    ) -> Option<u64> {
        let list = key.hash_one(address.host()) as usize % LISTS;
        let now = Made::at(now);
        let made = now.max(Made(self.last[list].0 + 1));
        if made.0 > now.0 + MOST_AHEAD {
            return None;
        }
        self.last[list] = made;
        Some(made.token(address, key))
    }
}

impl Made {
    /// The first step is 1, so that all are behind what there was before.
    const fn at(now: Time) -> Self {
        Self(now.as_nanos() / STEP.as_nanos() as u64 + 1)
    }

    /// The token for an address: some bits of the time, and all others of a keyed hash of both. Never 0.
    fn token(self, address: impl Hash, key: &impl BuildHasher) -> u64 {
        let hash = key.hash_one((address, self.0));
        let token = hash << BITS | self.0 & MASK;
        if token == 0 { 1 << BITS } else { token }
    }

    /// When the token was made, if it is this address's and young enough to open a connection.
    pub(super) fn of(
        token: u64,
        now: Time,
        address: impl Hash,
        key: &impl BuildHasher,
    ) -> Option<Self> {
        let latest = Self::at(now).0 + MOST_AHEAD;
        let age = latest.wrapping_sub(token) & MASK;
        if age > MOST_STEPS + MOST_AHEAD {
            return None;
        }
        let made = Self(latest.checked_sub(age)?);
        (made.token(address, key) == token).then_some(made)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasherDefault, DefaultHasher};
    use std::net::SocketAddr;

    use super::*;

    type Key = BuildHasherDefault<DefaultHasher>;

    fn at(seconds: u64) -> Time {
        Time::ZERO.after(Duration::from_secs(seconds))
    }

    fn address(host: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, host], port))
    }

    #[test]
    fn a_token_is_one_address_s_and_one_moment_s() {
        let key = Key::default();
        let own = address(1, 7);
        let token = Mint::new().token(at(7_000), own, &key).unwrap();
        let of = |token, now, own| Made::of(token, now, own, &key);
        let made = Some(Made::at(at(7_000)));
        assert_eq!(of(token, at(7_000), own), made);
        assert_eq!(of(token, at(7_030), own), made);
        assert_eq!(of(token, at(7_031), own), None);
        // When the bits have gone round.
        for later in 31..200 {
            assert_eq!(of(token, at(7_000 + later), own), None);
        }
        assert_eq!(of(token ^ 1 << 40, at(7_000), own), None);
        assert_eq!(of(token, at(7_000), address(1, 8)), None);
        assert_eq!(of(token, at(7_000), address(2, 7)), None);
        assert_eq!(of(0, at(7_000), own), None);
    }

    #[test]
    fn no_two_of_an_address_are_the_same_and_too_many_are_none() {
        let (key, mut mint) = (Key::default(), Mint::new());
        let mut tokens = HashSet::new();
        while let Some(token) = mint.token(at(5), address(1, 7), &key) {
            assert!(tokens.insert(token));
            assert!(Made::of(token, at(5), address(1, 7), &key).is_some());
        }
        assert_eq!(tokens.len(), 1_001);
        // The first and the last are as good as each other, and others of the host have none either.
        for token in &tokens {
            assert!(Made::of(*token, at(34), address(1, 7), &key).is_some());
        }
        assert_eq!(mint.token(at(5), address(1, 8), &key), None);
        let others = (2..=255).filter(|host| mint.token(at(5), address(*host, 7), &key).is_some());
        assert!(others.count() >= 250);
        assert!(mint.token(at(6), address(1, 7), &key).is_some());
    }
}
