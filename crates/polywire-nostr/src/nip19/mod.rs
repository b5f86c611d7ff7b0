//! Bech32-encoded entities for keys, events and relays: `npub1...` and others (NIP-19).
//!
//! ```text
//! entity   = prefix "1" *character 6character       bech32 (BIP-173); 5 bits per character
//! prefix   = "npub" / "nsec" / "note" / "nprofile" / "nevent" / "naddr" / "nrelay"
//! contents = 32byte                                 npub, nsec and note
//! contents = *( type length *byte )                 the others; type and length have one byte each
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
    /// `nprofile`: a public key, and relays that may have its profile.
    Profile(ProfilePointer),
    /// `nevent`: an event, and relays that may have it.
    Event(EventPointer),
    /// `naddr`: the coordinates of an addressable event.
    Address(AddressPointer),
    /// `nrelay`: the URL of a relay. Deprecated.
    Relay(String),
}

/// A public key, and relays that may have its profile.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProfilePointer {
    /// The author.
    pub public_key: PublicKey,
    /// URLs in ASCII of up to 255 bytes.
    pub relays: Vec<String>,
}

/// An event id, with hints for finding the event.
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
    /// The value of the `d` tag, up to 255 bytes. Empty for a replaceable event.
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
    /// The byte offset in the bech32 text of the invalid character, or of the start of the invalid
    /// value. When encoding, the offset at which the value would start.
    pub offset: usize,
}

/// The reason of a [`Nip19Error`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nip19Reason {
    /// The text has more than [`MAX_CHARACTERS`].
    TooLong,
    /// There is no prefix followed by `1`.
    NoSeparator,
    /// A character is not in the bech32 alphabet.
    Character,
    /// There are upper-case and lower-case letters.
    MixedCase,
    /// The checksum does not match, usually because of a typing error.
    Checksum,
    /// The prefix is unknown, or not the expected one.
    Prefix,
    /// More than four bits follow the last byte, or they are not zero (BIP-173).
    Padding,
    /// A key or id does not have 32 bytes, a kind does not have 4 bytes, or a text exceeds 255
    /// bytes.
    Length,
    /// The contents end within a value.
    Truncated,
    /// A value of this type is missing.
    Missing(u8),
    /// This type occurs twice.
    Repeated(u8),
    /// A URL is not ASCII, or an identifier is not UTF-8.
    Text,
    /// A kind is greater than 65,535.
    Kind,
    /// A secret key is zero, or not less than the order of the curve.
    SecretKey,
}

impl fmt::Display for Nip19Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Nip19Reason::TooLong => write!(f, "more than {MAX_CHARACTERS} characters"),
            Nip19Reason::NoSeparator => f.write_str("no prefix followed by 1"),
            Nip19Reason::Character => f.write_str("invalid bech32 character"),
            Nip19Reason::MixedCase => f.write_str("mixed upper and lower case"),
            Nip19Reason::Checksum => f.write_str("wrong checksum"),
            Nip19Reason::Prefix => f.write_str("unexpected prefix"),
            Nip19Reason::Padding => f.write_str("wrong padding"),
            Nip19Reason::Length => f.write_str("wrong length"),
            Nip19Reason::Truncated => f.write_str("contents end within a value"),
            Nip19Reason::Missing(kind) => write!(f, "missing value of type {kind}"),
            Nip19Reason::Repeated(kind) => write!(f, "repeated value of type {kind}"),
            Nip19Reason::Text => f.write_str("invalid text"),
            Nip19Reason::Kind => f.write_str("kind out of range"),
            Nip19Reason::SecretKey => f.write_str("secret key out of range"),
        }?;
        write!(f, ", at byte {}", self.offset)
    }
}

impl std::error::Error for Nip19Error {}

/// Decodes an entity.
///
/// # Errors
///
/// The first failed check, in the order of [`Nip19Reason`] up to [`Padding`](Nip19Reason::Padding),
/// then in the order of the contents.
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
    /// Encodes the entity. For a secret key, prefer [`SecretKey::to_nsec`], whose result is
    /// zeroized on drop.
    ///
    /// # Errors
    ///
    /// An identifier or URL is longer than 255 bytes, a URL is not ASCII, or the result would be
    /// longer than [`MAX_CHARACTERS`].
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

/// Encodes 32 bytes, which never exceeds the length limit.
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
    /// Decodes an `npub1...`.
    ///
    /// # Errors
    ///
    /// The text is not a valid entity of this type.
    pub fn from_npub(text: &str) -> Result<Self, Nip19Error> {
        read_bare(text, "npub").map(|bytes| Self::from_bytes(*bytes))
    }

    /// Encodes the key as `npub1...`.
    #[must_use]
    pub fn to_npub(&self) -> String {
        write_bare("npub", self.as_bytes())
    }
}

impl EventId {
    /// Decodes a `note1...`.
    ///
    /// # Errors
    ///
    /// The text is not a valid entity of this type.
    pub fn from_note(text: &str) -> Result<Self, Nip19Error> {
        read_bare(text, "note").map(|bytes| Self::from_bytes(*bytes))
    }

    /// Encodes the id as `note1...`.
    #[must_use]
    pub fn to_note(&self) -> String {
        write_bare("note", self.as_bytes())
    }
}

impl SecretKey {
    /// Decodes an `nsec1...`.
    ///
    /// # Errors
    ///
    /// The text is not a valid entity of this type.
    pub fn from_nsec(text: &str) -> Result<Self, Nip19Error> {
        let name = bech32::Name::read(text)?;
        if name.prefix() == "nsec" {
            secret_key(&name)
        } else {
            Err(name.other_prefix())
        }
    }

    /// Encodes the key as `nsec1...`. The result is zeroized on drop.
    #[must_use]
    pub fn to_nsec(&self) -> Zeroizing<String> {
        Zeroizing::new(write_bare("nsec", self.as_bytes()))
    }
}
