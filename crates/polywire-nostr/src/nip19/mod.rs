//! Bech32-encoded entities for keys, events and relays: `npub1...` and others (NIP-19).
//!
//! ```text
//! name     = prefix "1" *character 6character       bech32 (BIP-173); 5 bits a character
//! prefix   = "npub" / "nsec" / "note" / "nprofile" / "nevent" / "naddr" / "nrelay"
//! contents = 32byte                                 of npub, nsec and note
//! contents = *( type length *byte )                 of the others; type and length are a byte each
//! ```
//!
//! An encoded entity has at most [`MAX_CHARACTERS`]. Decoding is strict: each known TLV type may
//! occur once, except relays, and required types must be present. Unknown types are ignored, as
//! NIP-19 requires.
//!
//! ```
//! use polywire_nostr::nip19::{self, Nip19, ProfilePointer};
//! use polywire_nostr::PublicKey;
//!
//! let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
//! let key = PublicKey::from_npub(npub)?;
//! assert!(key.to_string().starts_with("7e7e9c42a91bfef1"));
//! assert_eq!(key.to_npub(), npub);
//!
//! let profile = Nip19::Profile(ProfilePointer {
//!     public_key: key,
//!     relays: vec!["wss://relay.example".into()],
//! });
//! assert_eq!(nip19::decode(&profile.encode()?)?, profile);
//! # Ok::<(), nip19::Nip19Error>(())
//! ```

mod bech32;
mod tlv;

use std::fmt;

use zeroize::Zeroizing;

use crate::{EventId, PublicKey, SecretKey};

/// The maximum number of characters of an encoded entity (NIP-19, "Notes").
pub const MAX_CHARACTERS: usize = 5000;

/// A decoded entity.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nip19 {
    /// `npub`: a public key.
    PublicKey(PublicKey),
    /// `nsec`: a secret key.
    SecretKey(SecretKey),
    /// `note`: the id of an event.
    EventId(EventId),
    /// `nprofile`: a public key, and where to look for its profile.
    Profile(ProfilePointer),
    /// `nevent`: an event, and where to look for it.
    Event(EventPointer),
    /// `naddr`: the coordinates of an addressable event.
    Address(AddressPointer),
    /// `nrelay`: the URL of a relay. Deprecated.
    Relay(String),
}

/// An author, and relays that may have more about them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProfilePointer {
    /// The author.
    pub public_key: PublicKey,
    /// URLs in ASCII of up to 255 bytes.
    pub relays: Vec<String>,
}

/// A pointer to an event, with hints to find it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventPointer {
    /// The event.
    pub id: EventId,
    /// URLs in ASCII of up to 255 bytes.
    pub relays: Vec<String>,
    /// The author's public key.
    pub author: Option<PublicKey>,
    /// Its kind.
    pub kind: Option<u16>,
}

/// The coordinates of an addressable event, and relays that may have it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddressPointer {
    /// The value of its `d` tag, up to 255 bytes; empty for a replaceable event.
    pub identifier: String,
    /// The author's public key.
    pub author: PublicKey,
    /// Its kind.
    pub kind: u16,
    /// URLs in ASCII of up to 255 bytes.
    pub relays: Vec<String>,
}

/// The error of decoding or encoding a NIP-19 entity. It never contains key material.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Nip19Error {
    /// The reason.
    pub reason: Nip19Reason,
    /// The byte offset in the bech32 text of the wrong character, or of the start of the wrong value.
    /// When encoding, the offset at which the value would start.
    pub offset: usize,
}

/// The reason of a [`Nip19Error`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nip19Reason {
    /// It has more than [`MAX_CHARACTERS`].
    TooLong,
    /// There is no `1` after a prefix.
    NoSeparator,
    /// A character is not in the bech32 alphabet.
    Character,
    /// There are upper-case and lower-case letters.
    MixedCase,
    /// The checksum does not match: something was mistyped.
    Checksum,
    /// The prefix is unknown, or not the expected one.
    Prefix,
    /// More than four bits follow the last byte, or they are not zero (BIP-173).
    Padding,
    /// A key or id does not have 32 bytes, a kind does not have 4 bytes, or a text exceeds 255 bytes.
    Length,
    /// The contents end within a value.
    Truncated,
    /// A value of this type is missing.
    Missing(u8),
    /// A value of this type comes again.
    Repeated(u8),
    /// A URL is not ASCII, or an identifier not UTF-8.
    Text,
    /// A kind is greater than 65,535.
    Kind,
    /// A secret key is zero, or not below the order of the curve.
    SecretKey,
}

impl fmt::Display for Nip19Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Nip19Reason::TooLong => write!(f, "more than {MAX_CHARACTERS} characters"),
            Nip19Reason::NoSeparator => f.write_str("no prefix and 1"),
            Nip19Reason::Character => f.write_str("not a character of bech32"),
            Nip19Reason::MixedCase => f.write_str("upper case and lower case"),
            Nip19Reason::Checksum => f.write_str("wrong checksum"),
            Nip19Reason::Prefix => f.write_str("another prefix"),
            Nip19Reason::Padding => f.write_str("wrong padding"),
            Nip19Reason::Length => f.write_str("wrong length"),
            Nip19Reason::Truncated => f.write_str("contents end within a value"),
            Nip19Reason::Missing(kind) => write!(f, "no value of type {kind}"),
            Nip19Reason::Repeated(kind) => write!(f, "another value of type {kind}"),
            Nip19Reason::Text => f.write_str("not text"),
            Nip19Reason::Kind => f.write_str("kind out of range"),
            Nip19Reason::SecretKey => f.write_str("secret key out of range"),
        }?;
        write!(f, ", at byte {}", self.offset)
    }
}

impl std::error::Error for Nip19Error {}

/// Reads a name.
///
/// # Errors
///
/// The first check that fails, in the order of [`Nip19Reason`] up to [`Padding`](Nip19Reason::Padding),
/// then from the left.
pub fn decode(text: &str) -> Result<Nip19, Nip19Error> {
    let name = bech32::Name::read(text)?;
    Ok(match name.prefix() {
        "npub" => Nip19::PublicKey(PublicKey::from_bytes(*name.array()?)),
        "note" => Nip19::EventId(EventId::from_bytes(*name.array()?)),
        "nsec" => Nip19::SecretKey(secret_key(&name)?),
        "nprofile" => Nip19::Profile(tlv::read_profile(&name)?),
        "nevent" => Nip19::Event(tlv::read_event(&name)?),
        "naddr" => Nip19::Address(tlv::read_address(&name)?),
        "nrelay" => Nip19::Relay(tlv::read_relay(&name)?),
        _ => return Err(name.other_prefix()),
    })
}

impl Nip19 {
    /// Writes the name. That of a secret key is better written by [`SecretKey::to_nsec`], which
    /// overwrites it when it goes.
    ///
    /// # Errors
    ///
    /// A text is longer than 255 bytes, a URL is not ASCII, or the name would be too long.
    pub fn encode(&self) -> Result<String, Nip19Error> {
        match self {
            Self::PublicKey(key) => Ok(key.to_npub()),
            Self::SecretKey(key) => Ok(key.to_nsec().to_string()),
            Self::EventId(id) => Ok(id.to_note()),
            Self::Profile(profile) => tlv::write_profile(profile),
            Self::Event(event) => tlv::write_event(event),
            Self::Address(address) => tlv::write_address(address),
            Self::Relay(relay) => tlv::write_relay(relay),
        }
    }
}

/// The name of 32 bytes under a prefix, with which it is never too long.
fn write_bare(prefix: &str, bytes: &[u8; 32]) -> String {
    bech32::write(prefix, bytes).unwrap_or_default()
}

fn read_bare(text: &str, prefix: &str) -> Result<Zeroizing<[u8; 32]>, Nip19Error> {
    let name = bech32::Name::read(text)?;
    if name.prefix() == prefix {
        name.array()
    } else {
        Err(name.other_prefix())
    }
}

fn secret_key(name: &bech32::Name<'_>) -> Result<SecretKey, Nip19Error> {
    SecretKey::from_bytes(*name.array()?).map_err(|_| name.error(Nip19Reason::SecretKey, 0))
}

impl PublicKey {
    /// Reads an `npub1...`.
    ///
    /// # Errors
    ///
    /// It is not one.
    pub fn from_npub(text: &str) -> Result<Self, Nip19Error> {
        read_bare(text, "npub").map(|bytes| Self::from_bytes(*bytes))
    }

    /// Writes an `npub1...`.
    #[must_use]
    pub fn to_npub(&self) -> String {
        write_bare("npub", self.as_bytes())
    }
}

impl EventId {
    /// Reads a `note1...`.
    ///
    /// # Errors
    ///
    /// It is not one.
    pub fn from_note(text: &str) -> Result<Self, Nip19Error> {
        read_bare(text, "note").map(|bytes| Self::from_bytes(*bytes))
    }

    /// Writes a `note1...`.
    #[must_use]
    pub fn to_note(&self) -> String {
        write_bare("note", self.as_bytes())
    }
}

impl SecretKey {
    /// Reads an `nsec1...`.
    ///
    /// # Errors
    ///
    /// It is not one.
    pub fn from_nsec(text: &str) -> Result<Self, Nip19Error> {
        let name = bech32::Name::read(text)?;
        if name.prefix() == "nsec" {
            secret_key(&name)
        } else {
            Err(name.other_prefix())
        }
    }

    /// Writes an `nsec1...`, which is overwritten when it goes.
    #[must_use]
    pub fn to_nsec(&self) -> Zeroizing<String> {
        Zeroizing::new(write_bare("nsec", self.as_bytes()))
    }
}
