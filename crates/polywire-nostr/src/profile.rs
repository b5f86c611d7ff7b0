//! Parser leniencies and limits.

/// The deviations from NIP-01 and RFC 8259 that parsers accept.
///
/// [`Profile::STRICT`] is the default. Each leniency is a separate field, so that a program can
/// accept exactly what its sources need. Input must be UTF-8 with every profile.
///
/// ```
/// use polywire_nostr::{EventRef, Limits, Member, Profile, Reason};
///
/// let json = r#"{"created_at":17e8}"#;
/// let error = EventRef::parse(json).unwrap_err();
/// assert_eq!((error.member, error.reason), (Some(Member::CreatedAt), Reason::NotInteger));
///
/// // With `whole_floats` the number is accepted. The other members are still missing.
/// let lenient = Profile { whole_floats: true, ..Profile::STRICT };
/// let error = EventRef::parse_with(json, lenient, &Limits::default()).unwrap_err();
/// assert_eq!(error.reason, Reason::Missing);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Profile {
    /// Accept `A-F` in `id`, `pubkey` and `sig`. The canonical form uses lower case.
    pub upper_case_hex: bool,
    /// Accept whole numbers with a fraction or an exponent, such as `1700000000.0` and `17e8`. They
    /// are rounded to 64-bit floating point first, as in JavaScript. The canonical form has only
    /// digits.
    pub whole_floats: bool,
    /// Accept repeated members. The last one is used, as in JavaScript. Each must be valid.
    pub duplicate_keys: bool,
    /// Accept escapes of lone surrogates. Decoded text contains U+FFFD instead. The canonical form
    /// contains the escape, as `JSON.stringify` writes it.
    pub lone_surrogates: bool,
    /// Accept unescaped control characters in strings. The canonical form escapes them.
    pub raw_control_characters: bool,
    /// Accept tags without items (`[]`).
    pub empty_tags: bool,
}

impl Profile {
    /// Accepts only what NIP-01 and RFC 8259 allow.
    pub const STRICT: Self = Self {
        upper_case_hex: false,
        whole_floats: false,
        duplicate_keys: false,
        lone_surrogates: false,
        raw_control_characters: false,
        empty_tags: false,
    };

    /// Enables all leniencies.
    pub const COMPATIBLE: Self = Self {
        upper_case_hex: true,
        whole_floats: true,
        duplicate_keys: true,
        lone_surrogates: true,
        raw_control_characters: true,
        empty_tags: true,
    };
}

/// Limits for parsing events. Each limit is inclusive.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum length of the JSON text in bytes. Greater values than 2^32 - 1 mean 2^32 - 1.
    pub bytes: usize,
    /// The maximum number of tags of an event.
    pub tags: usize,
    /// The maximum nesting depth of arrays and objects in unknown members. Greater values than
    /// [`MAX_DEPTH`](Self::MAX_DEPTH) mean `MAX_DEPTH`.
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

    /// Sets [`bytes`](Self::bytes).
    #[must_use]
    pub const fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets [`tags`](Self::tags).
    #[must_use]
    pub const fn with_tags(mut self, tags: usize) -> Self {
        self.tags = tags;
        self
    }

    /// Sets [`depth`](Self::depth).
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
