//! Seals and gift wraps (NIP-59): an event without a signature, encrypted twice.
//!
//! | layer | kind | author | content |
//! |---|--:|---|---|
//! | rumor | any | the sender | the message; not signed |
//! | seal | 13 | the sender | the rumor, encrypted for the receiver |
//! | gift wrap | 1059 | a one-time key | the seal, encrypted for the receiver |
//!
//! Needs the feature `os-rng`.
//!
//! ```
//! use polywire_nostr::{EventBuilder, KeyPair, nip59};
//!
//! let (alice, bob) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
//! let now = 1_709_600_104;
//! let rumor = EventBuilder::new(14, "hello", now).build(&alice.public_key());
//! let wrap = nip59::gift_wrap(&rumor, &alice, &bob.public_key(), now)?;
//! let gift = nip59::unwrap_gift(&wrap.as_ref(), &bob)?;
//! assert_eq!(gift.sender, alice.public_key());
//! assert_eq!(gift.rumor.content(), "hello");
//! # Ok::<(), nip59::Nip59Error>(())
//! ```

use std::fmt;

use crate::key::{InvalidPublicKey, NoRandomness, fill_random};
use crate::nip44::{ConversationKey, Nip44Error};
use crate::{Error, Event, EventBuilder, EventRef, KeyPair, PublicKey, UnsignedEvent};

/// The kind of a seal.
pub const SEAL: u16 = 13;
/// The kind of a gift wrap.
pub const GIFT_WRAP: u16 = 1059;
/// The maximum, in seconds, by which [`gift_wrap`] backdates seals and gift wraps.
pub const MAX_BACKDATE: u64 = 2 * 24 * 3600;

/// The error of creating or unwrapping a gift wrap (NIP-59).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Nip59Error {
    /// The event has this kind, not 1059.
    NotGiftWrap(u16),
    /// The gift wrap cannot be encrypted or decrypted.
    Wrap(Nip44Error),
    /// The decrypted event is malformed, or its id or signature is invalid.
    Seal(Error),
    /// The decrypted event has this kind, not 13.
    NotSeal(u16),
    /// The seal cannot be encrypted or decrypted.
    SealContent(Nip44Error),
    /// The decrypted rumor is malformed, or its id is invalid.
    Rumor(Error),
    /// The author of the rumor is not the author of the seal, so the sender is forged.
    AuthorMismatch,
    /// A public key is not on the curve.
    PublicKey,
    /// The operating system returned no random bytes.
    NoRandomness,
}

impl fmt::Display for Nip59Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGiftWrap(kind) => write!(f, "kind {kind} is not a gift wrap (1059)"),
            Self::Wrap(error) => write!(f, "gift wrap: {error}"),
            Self::Seal(error) => write!(f, "seal: {error}"),
            Self::NotSeal(kind) => write!(f, "kind {kind} in a gift wrap is not a seal (13)"),
            Self::SealContent(error) => write!(f, "seal: {error}"),
            Self::Rumor(error) => write!(f, "rumor: {error}"),
            Self::AuthorMismatch => f.write_str("rumor and seal have different authors"),
            Self::PublicKey => InvalidPublicKey.fmt(f),
            Self::NoRandomness => NoRandomness.fmt(f),
        }
    }
}

impl std::error::Error for Nip59Error {}

impl From<InvalidPublicKey> for Nip59Error {
    fn from(_: InvalidPublicKey) -> Self {
        Self::PublicKey
    }
}

impl From<NoRandomness> for Nip59Error {
    fn from(_: NoRandomness) -> Self {
        Self::NoRandomness
    }
}

/// Encrypts `rumor` for `receiver` and signs the seal (NIP-59, kind 13). `created_at` is the
/// timestamp of the seal in seconds since 1970-01-01 UTC. The caller must backdate it;
/// [`gift_wrap`] does so.
///
/// # Errors
///
/// The receiver's key is not on the curve, the rumor is too long to be encrypted, or the operating
/// system returned no random bytes.
pub fn seal(
    rumor: &UnsignedEvent,
    sender: &KeyPair,
    receiver: &PublicKey,
    created_at: u64,
) -> Result<Event, Nip59Error> {
    let key = ConversationKey::derive(&sender.secret_key(), receiver)?;
    let content = key
        .encrypt(rumor.as_json())
        .map_err(Nip59Error::SealContent)?;
    Ok(EventBuilder::new(SEAL, content, created_at).sign(sender))
}

/// Encrypts a seal for `receiver` and signs the gift wrap with a new one-time key (NIP-59, kind
/// 1059). `created_at` is the timestamp of the gift wrap in seconds. The caller must backdate it.
///
/// # Errors
///
/// As [`seal`].
pub fn wrap(seal: &Event, receiver: &PublicKey, created_at: u64) -> Result<Event, Nip59Error> {
    let once = KeyPair::generate()?;
    let key = ConversationKey::derive(&once.secret_key(), receiver)?;
    let content = key
        .encrypt(seal.as_ref().as_json())
        .map_err(Nip59Error::Wrap)?;
    let builder = EventBuilder::new(GIFT_WRAP, content, created_at);
    Ok(builder.tag(["p", &receiver.to_string()]).sign(&once))
}

/// Creates a gift wrap: calls [`seal`] and [`wrap`] with timestamps that are each up to two days
/// before `now`. `now` is in seconds since 1970-01-01 UTC.
///
/// # Errors
///
/// As [`seal`] and [`wrap`].
pub fn gift_wrap(
    rumor: &UnsignedEvent,
    sender: &KeyPair,
    receiver: &PublicKey,
    now: u64,
) -> Result<Event, Nip59Error> {
    let seal = seal(rumor, sender, receiver, backdate(now)?)?;
    wrap(&seal, receiver, backdate(now)?)
}

/// Returns a random timestamp in the two days before `now`.
fn backdate(now: u64) -> Result<u64, NoRandomness> {
    let mut random = [0; 8];
    fill_random(&mut random)?;
    Ok(now.saturating_sub(u64::from_le_bytes(random) % MAX_BACKDATE))
}

/// The contents of a gift wrap.
#[derive(Clone, Debug)]
pub struct UnwrappedGift {
    /// The author of the seal and the rumor. The signature of the seal is verified.
    pub sender: PublicKey,
    /// The rumor. Its id is verified; it has no signature.
    pub rumor: UnsignedEvent,
}

/// Unwraps a gift wrap: decrypts it, verifies the seal's id and signature, decrypts the seal, and
/// checks that the rumor has a valid id and the seal's author.
///
/// The signature of the gift wrap is not verified: its one-time key does not identify the sender.
///
/// # Errors
///
/// A [`Nip59Error`] for the first failed step.
pub fn unwrap_gift(wrap: &EventRef<'_>, receiver: &KeyPair) -> Result<UnwrappedGift, Nip59Error> {
    if wrap.kind() != GIFT_WRAP {
        return Err(Nip59Error::NotGiftWrap(wrap.kind()));
    }
    let secret = receiver.secret_key();
    let key = ConversationKey::derive(&secret, wrap.pubkey())?;
    let seal = key.decrypt(&wrap.content()).map_err(Nip59Error::Wrap)?;
    let seal = EventRef::parse(&seal).map_err(Nip59Error::Seal)?;
    if seal.kind() != SEAL {
        return Err(Nip59Error::NotSeal(seal.kind()));
    }
    seal.verify().map_err(Nip59Error::Seal)?;
    let key = ConversationKey::derive(&secret, seal.pubkey())?;
    let rumor = key
        .decrypt(&seal.content())
        .map_err(Nip59Error::SealContent)?;
    let rumor = UnsignedEvent::parse(&rumor).map_err(Nip59Error::Rumor)?;
    if rumor.pubkey() != seal.pubkey() {
        return Err(Nip59Error::AuthorMismatch);
    }
    Ok(UnwrappedGift {
        sender: *seal.pubkey(),
        rumor,
    })
}
