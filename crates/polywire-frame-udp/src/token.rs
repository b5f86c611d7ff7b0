//! Tokens, by which clients prove that they receive datagrams at their address. The server does not store them.

use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use polywire_frame::Time;

use crate::{Address, TOKEN_LIFE};

/// The resolution of the time in a token.
const STEP: Duration = Duration::from_millis(1);

/// The age up to which a token opens a connection, in steps.
const MOST_STEPS: u64 = (TOKEN_LIFE.as_millis() / STEP.as_millis()) as u64;

/// How far ahead of the time a token may be made, in steps.
const MOST_AHEAD: u64 = 1_000;

/// The bits of the time in a token; the others are of the keyed hash. They do not wrap around in the life of a token.
const BITS: u32 = 16;

const MASK: u64 = (1 << BITS) - 1;

const _: () = assert!(MOST_STEPS + MOST_AHEAD < MASK);

/// The number of lists of the last token made.
const LISTS: usize = 512;

/// When a token was made, in steps. Of one address, no two tokens have the same time, and later tokens a larger one.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct TokenTime(u64);

/// Makes tokens, no two equal for one address.
///
/// Remembering the last token of each address would mean to remember every sender of a datagram. So hosts share a list, by
/// a keyed hash. If more tokens are made than there are steps, they are made ahead of the time, up to a second. A host
/// that requests more gets none, and hardly affects other hosts.
#[derive(Debug)]
pub(crate) struct TokenMint {
    last: Box<[TokenTime; LISTS]>,
}

impl TokenMint {
    pub(crate) fn new() -> Self {
        Self {
            last: Box::new([TokenTime(0); LISTS]),
        }
    }

    /// The next token for an address; `None` if there were too many.
    pub(crate) fn token(
        &mut self,
        now: Time,
        address: impl Address,
        key: &impl BuildHasher,
    ) -> Option<u64> {
        let list = key.hash_one(address.host()) as usize % LISTS;
        let now = TokenTime::at(now);
        let made = now.max(TokenTime(self.last[list].0 + 1));
        if made.0 > now.0 + MOST_AHEAD {
            return None;
        }
        self.last[list] = made;
        Some(made.token(address, key))
    }
}

impl TokenTime {
    /// The first step is 1, so that all tokens are later than the initial value 0.
    const fn at(now: Time) -> Self {
        Self(now.as_nanos() / STEP.as_nanos() as u64 + 1)
    }

    /// The token for an address: bits of the time, and of a keyed hash of the address and the time. Never 0.
    fn token(self, address: impl Hash, key: &impl BuildHasher) -> u64 {
        let hash = key.hash_one((address, self.0));
        let token = hash << BITS | self.0 & MASK;
        if token == 0 { 1 << BITS } else { token }
    }

    /// When the token was made. `None` unless it belongs to this address and may open a connection.
    pub(crate) fn of(
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
    fn a_token_is_bound_to_its_address_and_time() {
        let key = Key::default();
        let own = address(1, 7);
        let token = TokenMint::new().token(at(7_000), own, &key).unwrap();
        let of = |token, now, own| TokenTime::of(token, now, own, &key);
        let made = Some(TokenTime::at(at(7_000)));
        assert_eq!(of(token, at(7_000), own), made);
        assert_eq!(of(token, at(7_030), own), made);
        assert_eq!(of(token, at(7_031), own), None);
        // The bits of the time have wrapped around.
        for later in 31..200 {
            assert_eq!(of(token, at(7_000 + later), own), None);
        }
        assert_eq!(of(token ^ 1 << 40, at(7_000), own), None);
        assert_eq!(of(token, at(7_000), address(1, 8)), None);
        assert_eq!(of(token, at(7_000), address(2, 7)), None);
        assert_eq!(of(0, at(7_000), own), None);
    }

    #[test]
    fn tokens_of_an_address_are_unique_and_limited() {
        let (key, mut mint) = (Key::default(), TokenMint::new());
        let mut tokens = HashSet::new();
        while let Some(token) = mint.token(at(5), address(1, 7), &key) {
            assert!(tokens.insert(token));
            assert!(TokenTime::of(token, at(5), address(1, 7), &key).is_some());
        }
        assert_eq!(tokens.len(), 1_001);
        // All tokens are valid. Other ports of the host get no token, and other hosts do.
        for token in &tokens {
            assert!(TokenTime::of(*token, at(34), address(1, 7), &key).is_some());
        }
        assert_eq!(mint.token(at(5), address(1, 8), &key), None);
        let others = (2..=255).filter(|host| mint.token(at(5), address(*host, 7), &key).is_some());
        assert!(others.count() >= 250);
        assert!(mint.token(at(6), address(1, 7), &key).is_some());
    }
}
