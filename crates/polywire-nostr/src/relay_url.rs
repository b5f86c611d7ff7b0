//! URLs of relays.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// The normalized URL of a relay: equal URLs name the same relay.
///
/// Scheme and host are in lower case. Default ports (80 for `ws`, 443 for `wss`), trailing slashes of
/// the path, trailing dots of the host, and the fragment are removed. An IPv6 address has its shortest
/// form (RFC 5952). Path and query are unchanged, including their percent-encoding.
///
/// A URL has at most [`MAX_LEN`](Self::MAX_LEN) bytes. The host is an IPv6 address in brackets, or
/// consists of ASCII letters, digits, `-`, `.` and `_`; write internationalized names in punycode.
///
/// ```
/// use polywire_nostr::RelayUrl;
///
/// let url = RelayUrl::parse("WSS://Relay.Example.com:443/")?;
/// assert_eq!(url.as_str(), "wss://relay.example.com");
/// assert_eq!(url, RelayUrl::parse("wss://relay.example.com")?);
/// let error = RelayUrl::parse("https://relay.example.com").unwrap_err();
/// assert_eq!(error.to_string(), "relay URL: expected the scheme ws:// or wss://");
/// # Ok::<(), polywire_nostr::InvalidRelayUrl>(())
/// ```
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RelayUrl(Box<str>);

impl RelayUrl {
    /// The maximum length in bytes.
    pub const MAX_LEN: usize = 2048;

    /// Parses and normalizes a URL. ASCII white space around it is ignored.
    ///
    /// # Errors
    ///
    /// The text is not a URL with the scheme `ws` or `wss` and a valid host; it contains user
    /// information, white space or a control character; or the port is not a number up to 65535.
    pub fn parse(text: &str) -> Result<Self, InvalidRelayUrl> {
        normalize(text.trim_ascii()).map_err(InvalidRelayUrl)
    }

    /// Returns the normalized text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Splits a URL by RFC 3986 and puts it together again. The error says what was expected.
fn normalize(text: &str) -> Result<RelayUrl, &'static str> {
    if text.len() > RelayUrl::MAX_LEN {
        return Err("at most 2048 bytes");
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("no white space or control characters");
    }
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let (scheme, default_port) = match scheme {
        _ if scheme.eq_ignore_ascii_case("wss") => ("wss", 443),
        _ if scheme.eq_ignore_ascii_case("ws") => ("ws", 80),
        _ => return Err("the scheme ws:// or wss://"),
    };
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let (authority, path_and_query) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let query_at = path_and_query.find('?').unwrap_or(path_and_query.len());
    let (path, query) = path_and_query.split_at(query_at);
    if authority.contains('@') {
        return Err("no user information");
    }
    // An IPv6 address contains colons.
    let host_end = match authority.find(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(host_end);
    let host = normalize_host(host).ok_or("a host name or an IP address")?;
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => default_port,
        Some("") => default_port,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse::<u16>().map_err(|_| "a port up to 65535")?
        }
        _ => return Err("a port up to 65535"),
    };
    let port = match port {
        _ if port == default_port => String::new(),
        port => format!(":{port}"),
    };
    let path = path.trim_end_matches('/');
    let url = format!("{scheme}://{host}{port}{path}{query}");
    // An IPv6 address can become longer.
    if url.len() > RelayUrl::MAX_LEN {
        return Err("at most 2048 bytes");
    }
    Ok(RelayUrl(url.into()))
}

fn normalize_host(host: &str) -> Option<String> {
    if let Some(address) = host.strip_prefix('[') {
        let address: Ipv6Addr = address.strip_suffix(']')?.parse().ok()?;
        return Some(format!("[{address}]"));
    }
    let host = host.trim_end_matches('.');
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    (!host.is_empty() && host.bytes().all(valid)).then(|| host.to_ascii_lowercase())
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

/// The error of [`RelayUrl::parse`]. Its text says what was expected; it does not repeat the input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidRelayUrl(&'static str);

impl fmt::Display for InvalidRelayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "relay URL: expected {}", self.0)
    }
}

impl std::error::Error for InvalidRelayUrl {}

#[cfg(test)]
mod tests {
    use super::RelayUrl;

    #[test]
    fn urls_of_one_relay() {
        for (text, normalized) in [
            ("wss://relay.example.com", "wss://relay.example.com"),
            ("WSS://Relay.Example.COM:443", "wss://relay.example.com"),
            ("wss://relay.example.com.//", "wss://relay.example.com"),
            ("wss://relay.example.com..", "wss://relay.example.com"),
            ("wss://relay.example.com/#top", "wss://relay.example.com"),
            ("wss://relay.example.com:/", "wss://relay.example.com"),
            (" ws://h:443/A/?B=c#d ", "ws://h:443/A?B=c"),
            ("ws://h?b=/", "ws://h?b=/"),
            ("ws://h/?", "ws://h?"),
            ("ws://h:00081/a/b", "ws://h:81/a/b"),
            ("ws://[::1]:80/a/", "ws://[::1]/a"),
            ("ws://[0:0:0::1]", "ws://[::1]"),
            ("ws://127.0.0.1:7447/", "ws://127.0.0.1:7447"),
        ] {
            let url = RelayUrl::parse(text).unwrap();
            assert_eq!(url.as_str(), normalized, "{text}");
            assert_eq!(RelayUrl::parse(normalized), Ok(url));
        }
    }

    #[test]
    fn invalid_urls() {
        let long = format!("wss://h/{}", "a".repeat(2041));
        let mapped = format!("wss://[::ffff:ffff:ffff]/{}", "a".repeat(2023));
        assert_eq!(mapped.len(), RelayUrl::MAX_LEN);
        for (text, expected) in [
            ("", "the scheme ws:// or wss://"),
            ("relay.example.com", "the scheme ws:// or wss://"),
            ("https://relay.example.com/", "the scheme ws:// or wss://"),
            ("wss://a b", "no white space or control characters"),
            ("wss://a\u{0}", "no white space or control characters"),
            ("wss://u@h", "no user information"),
            (
                "wss://relay.example.com@evil.example/",
                "no user information",
            ),
            ("ws://h:65536", "a port up to 65535"),
            ("ws://h:+443", "a port up to 65535"),
            ("ws://[::1]a", "a port up to 65535"),
            ("wss:///", "a host name or an IP address"),
            ("wss://?a", "a host name or an IP address"),
            ("wss://.", "a host name or an IP address"),
            ("wss://[::1", "a host name or an IP address"),
            ("wss://[h]", "a host name or an IP address"),
            ("wss://h\u{e4}fen", "a host name or an IP address"),
            ("wss://a,b", "a host name or an IP address"),
            (&long, "at most 2048 bytes"),
            (&mapped, "at most 2048 bytes"),
        ] {
            let error = RelayUrl::parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("relay URL: expected {expected}"), "{text}");
        }
    }

    #[test]
    fn urls_of_other_relays() {
        let relay = RelayUrl::parse("wss://relay.example.com/").unwrap();
        for url in [
            "ws://relay.example.com/",
            "wss://relay.example.com.evil.example/",
            "wss://relay.example.com:80/",
            "wss://evil.example/?wss://relay.example.com/",
            "wss://relay.example.com/chat",
            "wss://relay.example.com/?a",
        ] {
            assert_ne!(RelayUrl::parse(url).as_ref(), Ok(&relay), "{url}");
        }
    }
}
