//! Client authentication (NIP-42).

use std::fmt;

use crate::{EventRef, RelayUrl};

/// The kind of authentication events. Relays do not forward them.
pub const KIND: u16 = 22_242;

/// The reason why an authentication event is rejected (NIP-42).
///
/// Its text can be the message of an `OK` response; it starts with the prefix `invalid: `.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum AuthError {
    /// The kind is not 22242.
    Kind,
    /// The first `challenge` tag has a different value, or there is none.
    Challenge,
    /// The first `relay` tag has a different URL, or there is none.
    Relay,
    /// The event is too old.
    TooOld,
    /// `created_at` is too far in the future.
    InFuture,
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "invalid: kind is not 22242",
            Self::Challenge => "invalid: challenge is not the one that was sent",
            Self::Relay => "invalid: URL of the relay is another one",
            Self::TooOld => "invalid: created_at is too old",
            Self::InFuture => "invalid: created_at is in the future",
        })
    }
}

impl std::error::Error for AuthError {}

/// Checks that an event answers a challenge (NIP-42).
///
/// `challenge` is the challenge that the relay sent on this connection. `relay_url` is the public
/// URL of the relay. `now` is in seconds since 1970-01-01 UTC. `max_age` is the largest allowed
/// difference between `created_at` and `now`, in seconds, in either direction; NIP-42 suggests
/// about 600.
///
/// The `relay` tag is parsed as a [`RelayUrl`] and must be equal to `relay_url`.
///
/// Does not check the id or the signature. Call [`EventRef::verify`] too, or the result means
/// nothing.
///
/// # Errors
///
/// The first of these that is wrong: kind, challenge, relay, time.
///
/// ```
/// use polywire_nostr::auth::{self, AuthError};
/// use polywire_nostr::{EventRef, RelayUrl};
///
/// let json = r#"{"id":"17063e85b0f65a38b0cf1b5084d7fcd157b05215295290d20594b4f9d4fc355f",
///     "pubkey":"9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c",
///     "created_at":1709600104,"kind":22242,"content":"",
///     "tags":[["relay","wss://Relay.example.com"],["challenge","7f3a"]],
///     "sig":"99c4b50194cd59315a5aec20214a283c21a8816b7844f7f9204498263c27608b7fc66546f5400564dd432d226787576951788f704368566773f39bd18016ff82"}"#;
/// let event = EventRef::parse(json)?;
/// let relay = RelayUrl::parse("wss://relay.example.com:443/")?;
/// assert_eq!(auth::check(&event, "7f3a", &relay, 1_709_600_200, 600), Ok(()));
/// assert_eq!(auth::check(&event, "7f3a", &relay, 1_709_700_000, 600), Err(AuthError::TooOld));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(
    event: &EventRef<'_>,
    challenge: &str,
    relay_url: &RelayUrl,
    now: u64,
    max_age: u64,
) -> Result<(), AuthError> {
    if event.kind() != KIND {
        return Err(AuthError::Kind);
    }
    let value = |name: &str| {
        let tag = event.tags().find(|tag| tag.name() == name);
        tag.and_then(|tag| tag.value())
    };
    if value("challenge").as_deref() != Some(challenge) {
        return Err(AuthError::Challenge);
    }
    let relay = value("relay").unwrap_or_default();
    if RelayUrl::parse(&relay).as_ref() != Ok(relay_url) {
        return Err(AuthError::Relay);
    }
    if event.created_at() < now.saturating_sub(max_age) {
        return Err(AuthError::TooOld);
    }
    if event.created_at() > now.saturating_add(max_age) {
        return Err(AuthError::InFuture);
    }
    Ok(())
}
