//! Choices between several representations in XML-RPC.

use polywire_text::escape::Forbidden;

/// The representation of a null.
///
/// The specification has no nil. Perl and Node accept `nil` but not `ex:nil`, PHP accepts neither.
/// Ruby accepts `nil` and rejects `ex:nil`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nil {
    /// `<nil/>`.
    #[default]
    Plain,
    /// `<ex:nil/>`, the form of Apache's library for Java. The element declares its namespace,
    /// <http://ws.apache.org/xmlrpc/namespaces/extensions>.
    Prefixed,
    /// A null is an error.
    Reject,
}

/// Whether a server adds the structure of a modelled error to its fault, as a third member `detail`.
///
/// The specification allows only two members ("Response format"). Ruby's client rejects a fault with a
/// third one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum FaultDetail {
    /// If the head of the call requests it, as clients with the model do.
    #[default]
    OnRequest,
    /// Always.
    Always,
    /// Never. Clients do not request it.
    Never,
}

/// What happens to a string with characters that XML 1.0 forbids.
///
/// In the name of a member or method, such a character is always an error. Replacing it could make
/// two names equal, or turn a name into another one that the peer knows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum ForbiddenText {
    /// The string is an error, which names the character and its offset.
    #[default]
    Reject,
    /// The string is written as `base64` of its UTF-8.
    Base64,
    /// Each such character becomes U+FFFD.
    Replace,
    /// Such characters are removed.
    Strip,
}

impl ForbiddenText {
    /// The policy for the escaper.
    pub(super) const fn escape_policy(self) -> Forbidden {
        match self {
            Self::Reject | Self::Base64 => Forbidden::Reject,
            Self::Replace => Forbidden::Replace,
            Self::Strip => Forbidden::Strip,
        }
    }
}

/// The representation of values that have several in XML-RPC.
///
/// The default is accepted by most peers: strings have a tag, a null is `<nil/>`, dates have whole
/// seconds, and text with characters that XML forbids is an error.
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
    /// Whether strings are written without a tag for their type, which the specification allows
    /// ("Scalar &lt;value>s").
    pub untyped_strings: bool,
    /// The representation of a null.
    pub nil: Nil,
    /// Whether integers of more than 32 bits are written as `<ex:i8>` with its namespace, for Apache's
    /// library for Java. Otherwise they are `<i8>`.
    pub prefixed_i8: bool,
    /// What happens to strings with characters that XML forbids.
    pub forbidden: ForbiddenText,
    /// Whether dates have a fraction of a second. By default it is cut off, because the form in the
    /// specification has none. Python with `use_builtin_types` and Ruby reject a message with a
    /// fraction, PHP reads the date as a string. For such peers, send the date as a `double` or a
    /// `string` if the fraction matters.
    pub fractions: bool,
    /// Whether a server adds the structure of a modelled error to its fault.
    pub fault_detail: FaultDetail,
}

impl Style {
    /// Accepted by most peers.
    pub const DEFAULT: Self = Self {
        untyped_strings: false,
        nil: Nil::Plain,
        prefixed_i8: false,
        forbidden: ForbiddenText::Reject,
        fractions: false,
        fault_detail: FaultDetail::OnRequest,
    };

    /// The names of the settings for [`with_setting`](Self::with_setting), and their values. The first
    /// value is the default.
    pub const SETTINGS: &'static [(&'static str, &'static [&'static str])] = &[
        ("detail", &["on-request", "always", "never"]),
        ("forbidden", &["reject", "base64", "replace", "strip"]),
        ("fractions", &["no", "yes"]),
        ("i8", &["plain", "prefixed"]),
        ("nil", &["plain", "prefixed", "reject"]),
        ("strings", &["typed", "untyped"]),
    ];

    /// Changes a setting by its name, for configurations and command lines. Returns `None` if
    /// [`SETTINGS`](Self::SETTINGS) does not contain the name and the value.
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
            ("detail", "on-request") => self.with_fault_detail(FaultDetail::OnRequest),
            ("detail", "always") => self.with_fault_detail(FaultDetail::Always),
            ("detail", "never") => self.with_fault_detail(FaultDetail::Never),
            ("forbidden", "reject") => self.with_forbidden(ForbiddenText::Reject),
            ("forbidden", "base64") => self.with_forbidden(ForbiddenText::Base64),
            ("forbidden", "replace") => self.with_forbidden(ForbiddenText::Replace),
            ("forbidden", "strip") => self.with_forbidden(ForbiddenText::Strip),
            ("fractions", "no" | "yes") => self.with_fractions(value == "yes"),
            ("i8", "plain" | "prefixed") => self.with_prefixed_i8(value == "prefixed"),
            ("nil", "plain") => self.with_nil(Nil::Plain),
            ("nil", "prefixed") => self.with_nil(Nil::Prefixed),
            ("nil", "reject") => self.with_nil(Nil::Reject),
            ("strings", "typed" | "untyped") => self.with_untyped_strings(value == "untyped"),
            _ => return None,
        })
    }

    /// Sets whether strings are written without a tag for their type.
    #[must_use]
    pub const fn with_untyped_strings(mut self, untyped: bool) -> Self {
        self.untyped_strings = untyped;
        self
    }

    /// Sets the representation of a null.
    #[must_use]
    pub const fn with_nil(mut self, nil: Nil) -> Self {
        self.nil = nil;
        self
    }

    /// Sets whether integers of more than 32 bits are written as `<ex:i8>`.
    #[must_use]
    pub const fn with_prefixed_i8(mut self, prefixed: bool) -> Self {
        self.prefixed_i8 = prefixed;
        self
    }

    /// Sets what happens to strings with characters that XML forbids.
    #[must_use]
    pub const fn with_forbidden(mut self, forbidden: ForbiddenText) -> Self {
        self.forbidden = forbidden;
        self
    }

    /// Sets whether a server adds the structure of a modelled error to its fault.
    #[must_use]
    pub const fn with_fault_detail(mut self, fault_detail: FaultDetail) -> Self {
        self.fault_detail = fault_detail;
        self
    }

    /// Sets whether dates have a fraction of a second.
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
