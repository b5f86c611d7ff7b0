//! Tokens: what a server tells who is there, and need not remember.

use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use super::TOKEN_LIFE;
use crate::Time;

/// A token says when it was made, in steps of this.
const STEP: Duration = Duration::from_micros(100);

/// The most steps after which a token still opens a connection.
const MOST_STEPS: u64 = (TOKEN_LIFE.as_micros() / STEP.as_micros()) as u64;

/// The bits of a token that say when it was made; the others are of the hash. They do not go round in
/// the life of a token.
const BITS: u32 = 20;

const MASK: u64 = (1 << BITS) - 1;

const _: () = assert!(MOST_STEPS < MASK);

/// When a token was made, in steps. No two have the same, and later ones have larger ones.
///
/// Where more are made than there are steps, they are made ahead of the time. So that is measured from
/// the last, and they are young for less long.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Made(u64);

impl Made {
    pub(super) const fn at(now: Time) -> Self {
        Self(now.as_nanos() / STEP.as_nanos() as u64)
    }

    /// The next behind this one, at that time.
    pub(super) fn next(self, now: Time) -> Self {
        Self::at(now).max(Self(self.0 + 1))
    }

    /// The token for an address: some bits of the time, and all others of a keyed hash of both. Never 0.
    pub(super) fn token(self, address: impl Hash, key: &impl BuildHasher) -> u64 {
        let hash = key.hash_one((address, self.0));
        let token = hash << BITS | self.0 & MASK;
        if token == 0 { 1 << BITS } else { token }
    }

    /// When the token was made, if it is this address's and young enough to open a connection. `last` is
    /// the last that was made.
    pub(super) fn of(
        token: u64,
        now: Time,
        last: Self,
        address: impl Hash,
        key: &impl BuildHasher,
    ) -> Option<Self> {
        let now = Self::at(now).max(last).0;
        let age = now.wrapping_sub(token) & MASK;
        if age > MOST_STEPS {
            return None;
        }
        let made = Self(now.checked_sub(age)?);
        (made.token(address, key) == token).then_some(made)
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasherDefault, DefaultHasher};
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn a_token_is_one_address_s_and_one_moment_s() {
        let key = BuildHasherDefault::<DefaultHasher>::default();
        let own = SocketAddr::from(([127, 0, 0, 1], 7));
        let at = |seconds| Time::ZERO.after(Duration::from_secs(seconds));
        let made = Made::at(at(7_000));
        let token = made.token(own, &key);
        let of = |token, now, own| Made::of(token, now, made, own, &key);
        assert_eq!(of(token, at(7_000), own), Some(made));
        assert_eq!(of(token, at(7_030), own), Some(made));
        assert_eq!(of(token, at(7_031), own), None);
        // When the bits have gone round.
        assert_eq!(of(token, at(7_105), own), None);
        assert_eq!(of(token ^ 1 << 40, at(7_000), own), None);
        let other = SocketAddr::from(([127, 0, 0, 1], 8));
        assert_eq!(of(token, at(7_000), other), None);
        assert_eq!(of(0, at(7_000), own), None);
    }

    #[test]
    fn no_two_are_the_same_although_they_come_together() {
        let key = BuildHasherDefault::<DefaultHasher>::default();
        let mut made = Made::at(Time::ZERO);
        let mut tokens = std::collections::HashSet::new();
        let mut first = None;
        for _ in 0..200_000 {
            made = made.next(Time::ZERO);
            let token = made.token((), &key);
            assert!(tokens.insert(token));
            assert_eq!(Made::of(token, Time::ZERO, made, (), &key), Some(made));
            first.get_or_insert(token);
        }
        // It is still young, since the steps have not run away with it.
        assert!(Made::of(first.unwrap(), Time::ZERO, made, (), &key).is_some());
        for _ in 0..200_000 {
            made = made.next(Time::ZERO);
        }
        assert_eq!(Made::of(first.unwrap(), Time::ZERO, made, (), &key), None);
    }
}
