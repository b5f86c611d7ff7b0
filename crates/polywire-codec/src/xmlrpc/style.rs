//! How XML-RPC is written where there is a choice.

use polywire_text::escape::Forbidden;

/// How nothing is written.
///
/// The specification has no nil. Perl and Node read `nil` and not `ex:nil`, PHP
/// neither; Ruby reads `nil` as nothing and `ex:nil` as an error.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nil {
    /// `<nil/>`.
    #[default]
    Plain,
    /// `<ex:nil/>`, as Apache's library for Java has it. The element declares its namespace,
    /// <http://ws.apache.org/xmlrpc/namespaces/extensions>.
    Prefixed,
    /// Not at all: an error.
    Refuse,
}

/// Whether a server writes the structure of a modelled error into its fault, as a third
/// member `detail`.
///
/// The specification has two members and allows no other ("Response format"): Ruby's client
/// takes a fault with a third for a broken answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum FaultDetail {
    /// Where the head of the call asks for it, as clients with the model do.
    #[default]
    Asked,
    /// Always.
    Always,
    /// Never, and a client does not ask for it.
    Never,
}

/// What happens to a string with characters that XML 1.0 forbids.
///
/// Names of members and methods are never changed: one with such a character is an error
/// whatever is chosen here. Two names could become one else, or one become another that
/// means something to whoever reads it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum ForbiddenText {
    /// It is an error, which names the character.
    #[default]
    Refuse,
    /// The string is sent as `base64` of its UTF-8.
    Base64,
    /// Each such character becomes U+FFFD.
    Replace,
    /// Such characters are left out.
    Strip,
}

impl ForbiddenText {
    /// What the escaper is to do.
    pub(super) const fn in_text(self) -> Forbidden {
        match self {
            Self::Refuse | Self::Base64 => Forbidden::Reject,
            Self::Replace => Forbidden::Replace,
            Self::Strip => Forbidden::Strip,
        }
    }
}

/// How XML-RPC is written where there is a choice. By default it is what most
/// peers read: strings with their tag, `<nil/>`, whole seconds, and an error for text
/// that XML has no form for.
///
/// ```
/// use polywire_codec::xmlrpc::{Envelope, ForbiddenText, Style, XmlRpcEncoder};
/// use polywire_schema::{Encoder, Member};
///
/// let style = Style::DEFAULT
///     .with_untyped_strings(true)
///     .with_forbidden(ForbiddenText::Replace);
/// let mut encoder = XmlRpcEncoder::new(Envelope::Value, Vec::new()).with_style(style);
/// encoder.string(Member::DOCUMENT, "\u{1b}[1m");
/// assert_eq!(encoder.finish()?, "<value>\u{fffd}[1m</value>".as_bytes());
/// # Ok::<(), polywire_schema::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Style {
    /// Whether strings are written without their tag, as the specification allows
    /// and libiqxmlrpc can.
    pub untyped_strings: bool,
    /// How nothing is written.
    pub nil: Nil,
    /// Whether integers beyond 32 bits are written as `<ex:i8>` with its namespace, as Apache's
    /// library for Java reads them, and not as `<i8>`.
    pub prefixed_i8: bool,
    /// What happens to text that XML forbids.
    pub forbidden: ForbiddenText,
    /// Whether a fraction of a second is written. By default it is cut off, as other
    /// writers do: the form of the specification has none, and Python with
    /// `use_builtin_types` and Ruby refuse the whole message for one, PHP takes the date for
    /// a string. Where both ends are ours, or a peer is known to read it, it need not be
    /// lost; where it matters and a peer cannot read it, it is better sent as a `double` or
    /// a `string`.
    pub fractions: bool,
    /// Whether a server writes the structure of a modelled error into its fault.
    pub fault_detail: FaultDetail,
}

impl Style {
    /// What most peers read.
    pub const DEFAULT: Self = Self {
        untyped_strings: false,
        nil: Nil::Plain,
        prefixed_i8: false,
        forbidden: ForbiddenText::Refuse,
        fractions: false,
        fault_detail: FaultDetail::Asked,
    };

    /// The settings that [`with_setting`](Self::with_setting) knows, and the values of each. The
    /// first value is the default.
    pub const SETTINGS: &'static [(&'static str, &'static [&'static str])] = &[
        ("detail", &["asked", "always", "never"]),
        ("forbidden", &["refuse", "base64", "replace", "strip"]),
        ("fractions", &["no", "yes"]),
        ("i8", &["plain", "prefixed"]),
        ("nil", &["plain", "prefixed", "refuse"]),
        ("strings", &["typed", "untyped"]),
    ];

    /// Changes a setting by its name, for configurations and command lines. `None` if there is no
    /// such setting, or not with this value: see [`SETTINGS`](Self::SETTINGS).
    ///
    /// ```
    /// use polywire_codec::xmlrpc::Style;
    ///
    /// let style = Style::DEFAULT.with_setting("fractions", "yes");
    /// assert_eq!(style, Some(Style::DEFAULT.with_fractions(true)));
    /// assert_eq!(Style::DEFAULT.with_setting("fractions", "maybe"), None);
    /// ```
    #[must_use]
    pub fn with_setting(self, name: &str, value: &str) -> Option<Self> {
        Some(match (name, value) {
            ("detail", "asked") => self.with_fault_detail(FaultDetail::Asked),
            ("detail", "always") => self.with_fault_detail(FaultDetail::Always),
            ("detail", "never") => self.with_fault_detail(FaultDetail::Never),
            ("forbidden", "refuse") => self.with_forbidden(ForbiddenText::Refuse),
            ("forbidden", "base64") => self.with_forbidden(ForbiddenText::Base64),
            ("forbidden", "replace") => self.with_forbidden(ForbiddenText::Replace),
            ("forbidden", "strip") => self.with_forbidden(ForbiddenText::Strip),
            ("fractions", "no" | "yes") => self.with_fractions(value == "yes"),
            ("i8", "plain" | "prefixed") => self.with_prefixed_i8(value == "prefixed"),
            ("nil", "plain") => self.with_nil(Nil::Plain),
            ("nil", "prefixed") => self.with_nil(Nil::Prefixed),
            ("nil", "refuse") => self.with_nil(Nil::Refuse),
            ("strings", "typed" | "untyped") => self.with_untyped_strings(value == "untyped"),
            _ => return None,
        })
    }

    /// Whether strings are written without their tag.
    #[must_use]
    pub const fn with_untyped_strings(mut self, untyped: bool) -> Self {
        self.untyped_strings = untyped;
        self
    }

    /// How nothing is written.
    #[must_use]
    pub const fn with_nil(mut self, nil: Nil) -> Self {
        self.nil = nil;
        self
    }

    /// Whether integers beyond 32 bits are written as `<ex:i8>`.
    #[must_use]
    pub const fn with_prefixed_i8(mut self, prefixed: bool) -> Self {
        self.prefixed_i8 = prefixed;
        self
    }

    /// What happens to text that XML forbids.
    #[must_use]
    pub const fn with_forbidden(mut self, forbidden: ForbiddenText) -> Self {
        self.forbidden = forbidden;
        self
    }

    /// Whether a server writes the structure of a modelled error into its fault.
    #[must_use]
    pub const fn with_fault_detail(mut self, fault_detail: FaultDetail) -> Self {
        self.fault_detail = fault_detail;
        self
    }

    /// Whether a fraction of a second is written instead of cut off.
    #[must_use]
    pub const fn with_fractions(mut self, fractions: bool) -> Self {
        self.fractions = fractions;
        self
    }
}

impl Default for Style {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_has_a_default_and_changes_something() {
        for (name, values) in Style::SETTINGS {
            let style = |value| Style::DEFAULT.with_setting(name, value).unwrap();
            assert_eq!(style(values[0]), Style::DEFAULT, "{name}");
            for value in &values[1..] {
                assert_ne!(style(value), Style::DEFAULT, "{name}={value}");
            }
            assert_eq!(Style::DEFAULT.with_setting(name, ""), None);
        }
        assert_eq!(Style::DEFAULT.with_setting("numbers", "plain"), None);
    }
}
