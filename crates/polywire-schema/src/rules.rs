//! How decoders treat input that the model does not allow.

use crate::Defaults;

/// How a decoder treats nulls, missing members and other input that the model does not allow. The
/// profile of each format has these rules. Syntax errors and exceeded limits are always errors.
///
/// ```
/// use polywire_schema::{Defaults, Rules};
///
/// assert!(Rules::SERVER.strict);
/// assert!(!Rules::CLIENT.strict);
/// assert_eq!(Rules::UNCHECKED.defaults, Defaults::Ignored);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Rules {
    /// Whether nulls in lists and maps that are not sparse are skipped. Otherwise they are errors.
    /// Forms have no nulls.
    pub skip_nulls: bool,
    /// Whether violations of the model are errors: missing required members and unknown variants of
    /// unions; in JSON, XML and forms also RFC 3339 timestamps with an offset from UTC; in XML also
    /// text between elements and an unexpected root element.
    pub strict: bool,
    /// The missing members that get their default.
    pub defaults: Defaults,
}

impl Rules {
    /// The rules for requests: strict, with all defaults.
    pub const SERVER: Self = Self {
        skip_nulls: false,
        strict: true,
        defaults: Defaults::Server,
    };

    /// The rules for responses, because the server can use a newer model: nulls are skipped,
    /// nothing is strict, and members that are optional for clients get no default.
    pub const CLIENT: Self = Self {
        skip_nulls: true,
        strict: false,
        defaults: Defaults::Client,
    };

    /// The rules for values that are not messages: not strict, without defaults.
    pub const UNCHECKED: Self = Self {
        skip_nulls: false,
        strict: false,
        defaults: Defaults::Ignored,
    };
}

impl Default for Rules {
    fn default() -> Self {
        Self::SERVER
    }
}
