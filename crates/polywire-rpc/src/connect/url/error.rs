//! Rejected URLs, and URLs without secrets for errors and logs.

/// A URL that a client cannot connect to. Its text contains no user, password or query.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{}`: {reason}", .url.escape_debug())]
pub struct UrlError {
    url: String,
    reason: String,
}

impl UrlError {
    pub(crate) fn new(url: &str, reason: impl Into<String>) -> Self {
        let url = without_secrets(url);
        let reason = reason.into();
        Self { url, reason }
    }

    /// The URL without secrets.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The reason, without the URL.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// A URL, valid or not, for errors and logs. User and password become `***`, a query becomes `...`. Longer text than 200
/// characters is cut.
pub(crate) fn without_secrets(url: &str) -> String {
    const MAX_CHARACTERS: usize = 200;
    let (scheme, rest) = match url.find("://") {
        Some(at) => url.split_at(at + 3),
        None => ("", url),
    };
    // A `/` in a password makes the URL invalid. The password must stay hidden all the same.
    let rest = match rest.rsplit_once('@') {
        Some((_, rest)) => format!("***@{rest}"),
        None => rest.to_owned(),
    };
    let rest = match rest.split_once('?') {
        Some((rest, _)) => format!("{rest}?..."),
        None => rest,
    };
    let all = scheme.chars().chain(rest.chars());
    let shown: String = all.take(MAX_CHARACTERS).collect();
    match rest.len() + scheme.len() > MAX_CHARACTERS {
        true => format!("{shown}..."),
        false => shown,
    }
}
