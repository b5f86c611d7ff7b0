//! The user information of a URL (RFC 3986, section 3.2.1).

use std::fmt;

use http::HeaderValue;
use polywire_text::base64;

use super::percent_decoded;

/// A user and a password. `Debug` shows neither.
#[derive(Clone)]
pub(crate) struct UserInfo {
    pub(crate) user: String,
    pub(crate) password: String,
}

impl UserInfo {
    /// Reads `user:password` or `user`, percent-encoded.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (user, password) = text.split_once(':').unwrap_or((text, ""));
        let decoded = |text: &str| {
            let bytes = percent_decoded(text)?;
            let text = String::from_utf8(bytes).ok()?;
            (!text.chars().any(char::is_control)).then_some(text)
        };
        let (Some(user), Some(password)) = (decoded(user), decoded(password)) else {
            return Err("the user or password is not percent-encoded UTF-8".to_owned());
        };
        if user.contains(':') {
            return Err("HTTP cannot represent a user that contains a colon".to_owned());
        }
        Ok(Self { user, password })
    }

    /// The header value `Basic ...` of RFC 7617, in UTF-8.
    pub(crate) fn basic(&self) -> HeaderValue {
        let pair = format!("{}:{}", self.user, self.password);
        let mut text = b"Basic ".to_vec();
        base64::push(&mut text, pair.as_bytes());
        let value = HeaderValue::from_maybe_shared(bytes::Bytes::from(text));
        #[expect(clippy::expect_used, reason = "base64 is ASCII without controls")]
        let mut value = value.expect("base64 in a header");
        value.set_sensitive(true);
        value
    }
}

impl fmt::Debug for UserInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserInfo(..)")
    }
}
