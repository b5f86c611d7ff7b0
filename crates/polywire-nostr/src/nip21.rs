//! `nostr:` URIs of [`nip19`] entities other than secret keys (NIP-21).

use std::fmt;

use crate::nip19::{self, Nip19, Nip19Error};

const SCHEME: &str = "nostr:";
const SECRET: &str = "nsec";

/// The error of decoding or encoding a `nostr:` URI.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nip21Error {
    /// The text does not begin with `nostr:`.
    Scheme,
    /// The entity is a secret key. URIs are shown, linked and sent to servers.
    Secret,
    /// The entity is invalid. The offset counts from the start of the URI.
    Name(Nip19Error),
}

impl fmt::Display for Nip21Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme => f.write_str("not a nostr: URI"),
            Self::Secret => f.write_str("nostr: URI of a secret key"),
            Self::Name(error) => write!(f, "nostr: URI: {error}"),
        }
    }
}

impl std::error::Error for Nip21Error {}

/// Decodes a URI. The scheme is case-insensitive (RFC 3986, section 3.1).
///
/// ```
/// use polywire_nostr::nip19::Nip19;
/// use polywire_nostr::nip21::{self, Nip21Error};
///
/// let uri = "nostr:npub1sn0wdenkukak0d9dfczzeacvhkrgz92ak56egt7vdgzn8pv2wfqqhrjdv9";
/// assert!(matches!(nip21::decode(uri)?, Nip19::PublicKey(_)));
/// assert_eq!(nip21::decode("nostr:nsec1whatever"), Err(Nip21Error::Secret));
/// # Ok::<(), Nip21Error>(())
/// ```
///
/// # Errors
///
/// The scheme is not `nostr`, the entity is an `nsec`, or it is not a valid NIP-19 entity.
pub fn decode(uri: &str) -> Result<Nip19, Nip21Error> {
    let (scheme, name) = uri
        .split_at_checked(SCHEME.len())
        .ok_or(Nip21Error::Scheme)?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return Err(Nip21Error::Scheme);
    }
    // Checked before decoding, so that the key is never decoded into memory.
    let prefix = name.rsplit_once('1').map_or("", |(prefix, _)| prefix);
    if prefix.eq_ignore_ascii_case(SECRET) {
        return Err(Nip21Error::Secret);
    }
    nip19::decode(name).map_err(|error| {
        Nip21Error::Name(Nip19Error {
            offset: SCHEME.len() + error.offset,
            ..error
        })
    })
}

/// Encodes a URI.
///
/// # Errors
///
/// [`Nip21Error::Secret`] for a secret key, or [`Nip21Error::Name`] if encoding fails.
pub fn encode(entity: &Nip19) -> Result<String, Nip21Error> {
    if matches!(entity, Nip19::SecretKey(_)) {
        return Err(Nip21Error::Secret);
    }
    let mut uri = String::from(SCHEME);
    uri.push_str(&entity.encode().map_err(Nip21Error::Name)?);
    Ok(uri)
}
