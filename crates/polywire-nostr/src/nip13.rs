//! Proof of work: leading zero bits of an event's id (NIP-13).

use std::fmt;

use crate::{EventBuilder, EventId, PublicKey, Tags, UnsignedEvent};

/// The reason why an event has too little proof of work (NIP-13).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WorkError {
    /// The id has fewer leading zero bits than required.
    TooEasy {
        /// The number of leading zero bits of the id.
        difficulty: u32,
        /// The required number of leading zero bits.
        required: u32,
    },
    /// The committed target of the `nonce` tag is below the required difficulty.
    LowTarget {
        /// The committed target.
        committed: u32,
        /// The required number of leading zero bits.
        required: u32,
    },
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooEasy {
                difficulty,
                required,
            } => write!(
                f,
                "difficulty {difficulty} is less than the required {required}"
            ),
            Self::LowTarget {
                committed,
                required,
            } => write!(
                f,
                "committed target {committed} is less than the required {required}"
            ),
        }
    }
}

impl std::error::Error for WorkError {}

/// Counts the leading zero bits of an id, 0 to 256.
///
/// ```
/// use polywire_nostr::{EventId, nip13};
///
/// let mut id = [0xff; 32];
/// id[..3].copy_from_slice(&[0, 0, 0x0f]);
/// assert_eq!(nip13::difficulty(&EventId::from_bytes(id)), 20);
/// ```
#[must_use]
pub fn difficulty(id: &EventId) -> u32 {
    let mut bits = 0;
    for byte in id.as_bytes() {
        bits += byte.leading_zeros();
        if *byte != 0 {
            break;
        }
    }
    bits
}

/// Checks that `id` has at least `required` leading zero bits, and that the committed target is not
/// lower. `committed` is the third item of the `nonce` tag; with `None`, only the id is checked.
///
/// ```
/// use polywire_nostr::EventId;
/// use polywire_nostr::nip13::{self, WorkError};
///
/// let mut id = [0xff; 32];
/// id[..2].fill(0);
/// let id = EventId::from_bytes(id);
/// assert_eq!(nip13::check(&id, Some(16), 16), Ok(()));
/// let lucky = WorkError::LowTarget { committed: 8, required: 16 };
/// assert_eq!(nip13::check(&id, Some(8), 16), Err(lucky));
/// ```
///
/// # Errors
///
/// [`WorkError::TooEasy`] if the id has too few leading zero bits, otherwise
/// [`WorkError::LowTarget`] if the committed target is too low.
pub fn check(id: &EventId, committed: Option<u32>, required: u32) -> Result<(), WorkError> {
    let difficulty = difficulty(id);
    if difficulty < required {
        return Err(WorkError::TooEasy {
            difficulty,
            required,
        });
    }
    match committed {
        Some(committed) if committed < required => Err(WorkError::LowTarget {
            committed,
            required,
        }),
        _ => Ok(()),
    }
}

/// Reads the committed target from the tags of an event: the third item of the first `nonce` tag.
///
/// `None` without the tag, or if the item is not a number.
#[must_use]
pub fn committed(mut tags: Tags<'_>) -> Option<u32> {
    let tag = tags.find(|tag| tag.name() == "nonce")?;
    let target = tag.items().nth(2)?;
    // `parse` also accepts a plus sign.
    let digits = target.bytes().all(|byte| byte.is_ascii_digit());
    target.parse().ok().filter(|_| digits)
}

/// Searches for a nonce whose event id has at least `target` leading zero bits (NIP-13).
///
/// Appends the tag `["nonce", nonce, target]`. The draft must not have a `nonce` tag: [`committed`]
/// reads the first one. Tries `attempts` nonces, starting at `first`, with the `created_at` of the
/// draft. Each additional bit doubles the expected number of attempts. To use several threads, give
/// each thread its own range of nonces. Returns `None` if no nonce matches; then continue at `first
/// + attempts`.
///
/// ```
/// use polywire_nostr::{EventBuilder, PublicKey, nip13};
///
/// let author = PublicKey::from_bytes([7; 32]);
/// let draft = EventBuilder::new(1, "this took work", 1_764_000_000);
/// let event = nip13::mine(&draft, &author, 8, 0, 100_000).unwrap();
/// assert!(nip13::difficulty(event.id()) >= 8);
/// assert_eq!(nip13::committed(event.tags()), Some(8));
/// ```
#[must_use]
pub fn mine(
    draft: &EventBuilder,
    author: &PublicKey,
    target: u32,
    first: u64,
    attempts: u64,
) -> Option<UnsignedEvent> {
    let target_digits = target.to_string();
    (first..first.saturating_add(attempts)).find_map(|nonce| {
        let tag = ["nonce", &nonce.to_string(), &target_digits];
        let event = draft.clone().tag(tag).build(author);
        (difficulty(event.id()) >= target).then_some(event)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difficulty_from_0_to_256() {
        for bits in 0..256_usize {
            let mut id = [0; 32];
            id[bits / 8] = 0x80 >> (bits % 8);
            assert_eq!(difficulty(&EventId::from_bytes(id)), bits as u32);
            // Bits after the first set bit have no effect.
            id[bits / 8 + 1..].fill(1);
            assert_eq!(difficulty(&EventId::from_bytes(id)), bits as u32);
        }
        assert_eq!(difficulty(&EventId::from_bytes([0; 32])), 256);
    }

    #[test]
    fn example_of_nip_13() {
        let id = "000006d8c378af1779d2feebc7603a125d99eca0ccf1085959b307f64e5dd358";
        let id = EventId::from_hex(id).unwrap();
        assert_eq!(difficulty(&id), 21);
        assert_eq!(check(&id, Some(21), 21), Ok(()));
        assert_eq!(check(&id, None, 21), Ok(()));
        let easy = WorkError::TooEasy {
            difficulty: 21,
            required: 22,
        };
        assert_eq!(check(&id, Some(30), 22), Err(easy));
        let low = WorkError::LowTarget {
            committed: 20,
            required: 21,
        };
        assert_eq!(check(&id, Some(20), 21), Err(low));
    }
}
