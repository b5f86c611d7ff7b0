//! Headers that callers add.

use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
use http::{HeaderName, HeaderValue};

/// The value, marked as sensitive if the name says that it is a secret: what shows
/// messages leaves such values out.
pub(crate) fn guarded(name: &HeaderName, mut value: HeaderValue) -> HeaderValue {
    if [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION].contains(name) {
        value.set_sensitive(true);
    }
    value
}
