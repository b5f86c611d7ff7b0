//! Classes of event kinds (NIP-01).

/// How relays store events of a kind (NIP-01).
///
/// ```
/// use polywire_nostr::KindClass;
///
/// assert_eq!(KindClass::of(1), KindClass::Regular);
/// assert_eq!(KindClass::of(0), KindClass::Replaceable);
/// assert_eq!(KindClass::of(22242), KindClass::Ephemeral);
/// assert_eq!(KindClass::of(30023), KindClass::Addressable);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum KindClass {
    /// All events are stored. Kinds from 40,000 are also regular: NIP-01 does not define them, and
    /// storing them is safe.
    Regular,
    /// Only the newest event per author and kind is stored. If timestamps are equal, the lower id
    /// wins.
    Replaceable,
    /// Events are not stored.
    Ephemeral,
    /// Only the newest event per author, kind and `d` tag is stored. If timestamps are equal, the
    /// lower id wins.
    Addressable,
}

impl KindClass {
    /// Returns the class of a kind.
    #[must_use]
    pub const fn of(kind: u16) -> Self {
        match kind {
            0 | 3 | 10_000..20_000 => Self::Replaceable,
            20_000..30_000 => Self::Ephemeral,
            30_000..40_000 => Self::Addressable,
            _ => Self::Regular,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KindClass::{self, *};

    #[test]
    fn class_boundaries() {
        let classes = [
            (0, Replaceable),
            (1, Regular),
            (2, Regular),
            (3, Replaceable),
            (4, Regular),
            (9_999, Regular),
            (10_000, Replaceable),
            (19_999, Replaceable),
            (20_000, Ephemeral),
            (29_999, Ephemeral),
            (30_000, Addressable),
            (39_999, Addressable),
            (40_000, Regular),
            (65_535, Regular),
        ];
        for (kind, class) in classes {
            assert_eq!(KindClass::of(kind), class, "{kind}");
        }
    }
}
