//! What is accepted: leniencies by name, and limits.

/// Which deviations from the strict reading of NIP-01 are accepted.
///
/// [`Profile::STRICT`] is the default. Each leniency is a field of its own, so that a program can
/// accept exactly what its sources need. All text must be UTF-8, whatever the profile.
///
/// ```
/// use polywire_nostr::{EventRef, Limits, Member, Profile, Reason};
///
/// let json = r#"{"created_at":17e8}"#;
/// let error = EventRef::parse(json).unwrap_err();
/// assert_eq!((error.member, error.reason), (Some(Member::CreatedAt), Reason::NotInteger));
///
/// // With the leniency the number is read, and what is wrong is that there is nothing else.
/// let lenient = Profile { whole_floats: true, ..Profile::STRICT };
/// let error = EventRef::parse_with(json, lenient, &Limits::default()).unwrap_err();
/// assert_eq!(error.reason, Reason::Missing);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Profile {
    /// Accept `A-F` in `id`, `pubkey` and `sig`. The canonical form has lower case.
    pub upper_case_hex: bool,
    /// Accept whole numbers that are written with a fraction or an exponent, such as
    /// `1700000000.0` and `17e8`. Numbers are rounded to 64-bit floating point first, as in JavaScript.
    /// The canonical form has digits only.
    pub whole_floats: bool,
    /// Accept members that come twice; the last one counts, as in JavaScript. Each must be valid.
    pub duplicate_keys: bool,
    /// Accept escapes of half a surrogate pair. Text has U+FFFD in their place; the canonical form
    /// has the escape, as `JSON.stringify` writes it.
    pub lone_surrogates: bool,
    /// Accept control characters without an escape in strings. The canonical form escapes them.
    pub raw_control_characters: bool,
    /// Accept tags without items (`[]`).
    pub empty_tags: bool,
}

impl Profile {
    /// Accepts nothing but what NIP-01 and RFC 8259 allow.
    pub const STRICT: Self = Self {
        upper_case_hex: false,
        whole_floats: false,
        duplicate_keys: false,
        lone_surrogates: false,
        raw_control_characters: false,
        empty_tags: false,
    };

    /// Accepts all deviations that have a name here.
    pub const COMPATIBLE: Self = Self {
        upper_case_hex: true,
        whole_floats: true,
        duplicate_keys: true,
        lone_surrogates: true,
        raw_control_characters: true,
        empty_tags: true,
    };
}

/// What an event may cost. Each limit is inclusive.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the whole JSON text; at most 4 GiB whatever is set.
    pub bytes: usize,
    /// Tags of an event.
    pub tags: usize,
    /// Nested arrays and objects in unknown members, which are skipped; at most
    /// [`MAX_DEPTH`](Self::MAX_DEPTH) whatever is set.
    pub depth: usize,
}

impl Limits {
    /// The largest effective value of `depth`.
    pub const MAX_DEPTH: usize = 128;

    /// 1 MiB, 10,000 tags and 32 levels.
    pub const DEFAULT: Self = Self {
        bytes: 1 << 20,
        tags: 10_000,
        depth: 32,
    };

    /// Replaces the limit of bytes.
    #[must_use]
    pub const fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Replaces the limit of tags.
    #[must_use]
    pub const fn with_tags(mut self, tags: usize) -> Self {
        self.tags = tags;
        self
    }

    /// Replaces the limit of levels.
    #[must_use]
    pub const fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
