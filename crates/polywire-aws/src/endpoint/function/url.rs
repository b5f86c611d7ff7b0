//! `parseURL`.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::part;
use crate::endpoint::program::Key;

/// The parts of a URL of the scheme `http` or `https`.
#[derive(Clone, Debug)]
pub(in crate::endpoint) struct Url<'a> {
    scheme: Cow<'a, str>,
    /// Host and port as they were written.
    authority: Cow<'a, str>,
    path: Cow<'a, str>,
    /// The path with a slash at both ends.
    normalized_path: Cow<'a, str>,
    pub(in crate::endpoint) is_ip: bool,
}

impl<'a> Url<'a> {
    /// `None` for other schemes, a query, a fragment, and hosts or ports that cannot be. Labels of the host are not
    /// checked. User information is left out, as the specification requires.
    pub(in crate::endpoint) fn parse(text: &Cow<'a, str>) -> Option<Self> {
        let is_outside = |byte: u8| byte <= b' ' || matches!(byte, 0x7f | b'?' | b'#' | b'\\');
        if text.bytes().any(is_outside) {
            return None;
        }
        let scheme = text.find("://")?;
        if !["http", "https"].contains(&&text[..scheme]) {
            return None;
        }
        let start = scheme + 3;
        let end = text[start..]
            .find('/')
            .map_or(text.len(), |slash| start + slash);
        let host = text[start..end]
            .rfind('@')
            .map_or(start, |at| start + at + 1);
        let is_ip = check_authority(&text[host..end])?;
        let path = part(text, end..text.len());
        let normalized_path = match &*path {
            "" => Cow::Borrowed("/"),
            whole if whole.ends_with('/') => path.clone(),
            whole => Cow::Owned(format!("{whole}/")),
        };
        Some(Self {
            scheme: part(text, 0..scheme),
            authority: part(text, host..end),
            path,
            normalized_path,
            is_ip,
        })
    }

    pub(in crate::endpoint) fn text(&self, key: Key) -> Option<&Cow<'a, str>> {
        match key {
            Key::UrlAuthority => Some(&self.authority),
            Key::UrlNormalizedPath => Some(&self.normalized_path),
            Key::UrlPath => Some(&self.path),
            Key::UrlScheme => Some(&self.scheme),
            _ => None,
        }
    }
}

/// `host [ ":" port ]`. Returns whether the host is an address, or `None` if there is no host or the port is no number.
fn check_authority(authority: &str) -> Option<bool> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(inside) => {
            let (host, rest) = inside.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            (None, rest)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            (Some(&authority[..end]), &authority[end..])
        }
    };
    if let Some(port) = rest.strip_prefix(':') {
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || port.parse::<u16>().is_err() {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    match host {
        Some("") => None,
        Some(host) => Some(host.parse::<Ipv4Addr>().is_ok()),
        None => Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<String> {
        let url = Url::parse(&Cow::Borrowed(text))?;
        let parts = [&url.scheme, &url.authority, &url.path, &url.normalized_path];
        let parts: Vec<&str> = parts.iter().map(|text| &***text).collect();
        Some(format!("{} {}", parts.join(" "), url.is_ip))
    }

    #[test]
    fn urls_have_scheme_authority_and_path() {
        for (text, expected) in [
            ("https://example.com", "https example.com  / false"),
            ("https://example.com/", "https example.com / / false"),
            (
                "http://example.com:80/foo/bar",
                "http example.com:80 /foo/bar /foo/bar/ false",
            ),
            ("https://127.0.0.1", "https 127.0.0.1  / true"),
            ("https://[fe80::1]:8", "https [fe80::1]:8  / true"),
            ("https://u:p@a/b/", "https a /b/ /b/ false"),
            ("http://99_ab-.com", "http 99_ab-.com  / false"),
        ] {
            assert_eq!(parse(text).as_deref(), Some(expected));
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in [
            "",
            "example.com",
            "ftp://example.com",
            "https://",
            "https:///a",
            "https://:80",
            "https://a?b",
            "https://a#b",
            "https://a:b",
            "https://a:",
            "https://a:+1",
            "https://a:65536",
            "https://[::1",
            "https://[x]",
            "https://[::1]x",
            "https://a b",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
