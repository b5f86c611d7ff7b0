//! URLs of relays.

use std::fmt;
use std::str::FromStr;

/// The URL of a relay in one spelling, so that URLs of one relay are equal.
///
/// Scheme and host are in lower case. Port 80 of `ws` and 443 of `wss`, slashes at the end of the
/// path, a dot at the end of the host, and a fragment are left out. The path and the query stay as
/// they are. [`auth::check`](crate::auth::check) compares URLs by the same rules.
///
/// ```
/// use polywire_nostr::RelayUrl;
///
/// let url = RelayUrl::parse("WSS://Relay.Example.com:443/")?;
/// assert_eq!(url.as_str(), "wss://relay.example.com");
/// assert_eq!(url, RelayUrl::parse("wss://relay.example.com")?);
/// assert!(RelayUrl::parse("https://relay.example.com").is_err());
/// # Ok::<(), polywire_nostr::InvalidRelayUrl>(())
/// ```
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RelayUrl(Box<str>);

impl RelayUrl {
    /// Reads and normalises a URL.
    ///
    /// # Errors
    ///
    /// The text is not a URL with the scheme `ws` or `wss` and a host; it contains a user, white
    /// space or a control character; or its port is not a number up to 65535.
    pub fn parse(text: &str) -> Result<Self, InvalidRelayUrl> {
        let text = text.trim_ascii();
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(InvalidRelayUrl);
        }
        let url = Url::parse(text).ok_or(InvalidRelayUrl)?;
        Ok(Self(url.normalized().into()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RelayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for RelayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelayUrl({self})")
    }
}

impl FromStr for RelayUrl {
    type Err = InvalidRelayUrl;

    fn from_str(text: &str) -> Result<Self, InvalidRelayUrl> {
        Self::parse(text)
    }
}

/// Text that is not the URL of a relay.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidRelayUrl;

impl fmt::Display for InvalidRelayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the URL of a relay: expected ws://HOST or wss://HOST")
    }
}

impl std::error::Error for InvalidRelayUrl {}

/// The parts of a URL (RFC 3986), as far as relays differ by them.
pub(crate) struct Url<'a> {
    scheme: &'a str,
    host: &'a str,
    port: u16,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Url<'a> {
    /// Splits an absolute URL. `None` with another scheme than `ws` and `wss`, without a host, with
    /// a user or with a port that is no number.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.trim_ascii().split_once("://")?;
        let default_port = match scheme {
            _ if scheme.eq_ignore_ascii_case("wss") => 443,
            _ if scheme.eq_ignore_ascii_case("ws") => 80,
            _ => return None,
        };
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return None;
        }
        // The address in brackets has colons of its own.
        let host_end = match authority.find(']') {
            Some(bracket) => bracket + 1,
            None => authority.find(':').unwrap_or(authority.len()),
        };
        let (host, port) = authority.split_at(host_end);
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => default_port,
            Some("") => default_port,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok()?
            }
            _ => return None,
        };
        let host = host.strip_suffix('.').unwrap_or(host);
        let path = path.trim_end_matches('/');
        (!host.is_empty()).then_some(Self {
            scheme,
            host,
            port,
            path,
            query,
        })
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.scheme.eq_ignore_ascii_case(other.scheme)
            && self.host.eq_ignore_ascii_case(other.host)
            && self.port == other.port
            && self.path == other.path
            && self.query == other.query
    }

    /// The spelling that URLs of one relay share.
    fn normalized(&self) -> String {
        let (scheme, default_port) = match self.scheme.eq_ignore_ascii_case("wss") {
            true => ("wss", 443),
            false => ("ws", 80),
        };
        let mut text = format!("{scheme}://{}", self.host.to_ascii_lowercase());
        if self.port != default_port {
            text.push_str(&format!(":{}", self.port));
        }
        text.push_str(self.path);
        if let Some(query) = self.query {
            text.push('?');
            text.push_str(query);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{RelayUrl, Url};

    fn same(a: &str, b: &str) -> bool {
        match (Url::parse(a), Url::parse(b)) {
            (Some(a), Some(b)) => a.is_same(&b),
            _ => false,
        }
    }

    #[test]
    fn urls_of_one_relay() {
        let relay = "wss://relay.example.com/";
        for url in [
            "wss://relay.example.com",
            "WSS://Relay.Example.COM:443",
            "wss://relay.example.com.//",
            "wss://relay.example.com/#top",
            "wss://relay.example.com:/",
        ] {
            assert!(same(url, relay), "{url}");
        }
        assert!(same("ws://[::1]:80/a/", "ws://[::1]/a"));
        assert!(same("ws://h/a?b=c", "ws://h/a/?b=c"));
    }

    #[test]
    fn one_spelling() {
        for (text, spelling) in [
            ("WSS://Relay.Example.COM:443", "wss://relay.example.com"),
            (" ws://h:443/A/?B=c#d ", "ws://h:443/A?B=c"),
            ("ws://[::1]:80/", "ws://[::1]"),
        ] {
            assert_eq!(RelayUrl::parse(text).unwrap().as_str(), spelling);
        }
        for text in [
            "",
            "relay.example.com",
            "wss://a b",
            "wss://u@h",
            "ws://h:65536",
        ] {
            assert!(RelayUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn urls_of_other_relays() {
        let relay = "wss://relay.example.com/";
        for url in [
            "",
            "relay.example.com",
            "ws://relay.example.com/",
            "https://relay.example.com/",
            "wss://relay.example.com.evil.example/",
            "wss://relay.example.com:80/",
            "wss://relay.example.com:+443/",
            "wss://relay.example.com@evil.example/",
            "wss://evil.example/?wss://relay.example.com/",
            "wss://relay.example.com/chat",
            "wss://relay.example.com/?a",
            "wss:///",
            "wss://[::1",
        ] {
            assert!(!same(url, relay), "{url}");
        }
    }
}
