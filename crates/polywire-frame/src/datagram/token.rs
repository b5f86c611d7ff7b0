//! Tokens: what a server tells who is there, and need not remember.

use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use super::TOKEN_LIFE;
use crate::Time;

/// A token says when it was made, in steps of this.
const STEP: Duration = Duration::from_millis(1);

/// The most steps after which a token still opens a connection.
const MOST_STEPS: u16 = (TOKEN_LIFE.as_millis() / STEP.as_millis()) as u16;

/// When a token was made, in steps. Later tokens have larger ones.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Made(u64);

impl Made {
    pub(super) const fn at(now: Time) -> Self {
        Self(now.as_nanos() / STEP.as_nanos() as u64)
    }

    /// The same, or one step behind another.
    pub(super) fn later_than(self, other: Self) -> Self {
        Self(self.0.max(other.0 + 1))
    }

    /// The token for an address: 16 bits of the time, and 48 of a keyed hash of both. Never 0.
    pub(super) fn token(self, address: impl Hash, key: &impl BuildHasher) -> u64 {
        let hash = key.hash_one((address, self.0));
        let token = hash << 16 | self.0 & 0xffff;
        if token == 0 { 1 << 16 } else { token }
    }

    /// When the token was made, if it is this address's and young enough to open a connection.
    pub(super) fn of(
        token: u64,
        now: Time,
        address: impl Hash,
        key: &impl BuildHasher,
    ) -> Option<Self> {
        let now = Self::at(now).0;
        let age = (now as u16).wrapping_sub(token as u16);
        if age > MOST_STEPS {
            return None;
        }
        let made = Self(now.checked_sub(age.into())?);
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
        assert_eq!(Made::of(token, at(7_000), own, &key), Some(made));
        assert_eq!(Made::of(token, at(7_030), own, &key), Some(made));
        assert_eq!(Made::of(token, at(7_031), own, &key), None);
        assert_eq!(Made::of(token, at(6_999), own, &key), None);
        // When the 16 bits have gone round.
        assert_eq!(Made::of(token, at(7_000 + 66), own, &key), None);
        assert_eq!(Made::of(token ^ 1 << 40, at(7_000), own, &key), None);
        let other = SocketAddr::from(([127, 0, 0, 1], 8));
        assert_eq!(Made::of(token, at(7_000), other, &key), None);
        assert_eq!(Made::of(0, at(0), own, &key), None);
    }
}
