//! The URL of a service.

use polywire::rpc::connect;

use crate::Failure;

/// The parts of the URL of a service.
#[derive(Debug)]
pub(crate) struct Target {
    /// The scheme and authority, such as `http://HOST:PORT`.
    origin: String,
    /// The path and query. Empty for `/`.
    path: String,
}

impl Target {
    pub(crate) fn parse(url: &str) -> Result<Self, Failure> {
        let (origin, path) = connect::split(url).map_err(|error| {
            let hint = match error.to_string().contains("header authorization") {
                true => "\nuse --user instead",
                false => "",
            };
            Failure::usage(format!("{error}{hint}"))
        })?;
        let path = path.filter(|path| path != "/").unwrap_or_default();
        Ok(Self { origin, path })
    }

    /// Returns the scheme and authority.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the host without port. Empty for Unix sockets.
    pub(crate) fn host(&self) -> &str {
        let authority = self.origin.split_once("://");
        let authority = authority.map_or("", |(_, authority)| authority);
        match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        }
    }

    /// Returns the URL without a trailing slash.
    pub(crate) fn base(&self) -> String {
        format!("{}{}", self.origin, self.path.trim_end_matches('/'))
    }

    /// Returns the path if it is not `/`. XML-RPC sends all calls to it.
    pub(crate) fn endpoint(&self) -> Option<&str> {
        Some(self.path.as_str()).filter(|path| !path.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_urls() {
        for (url, base, endpoint) in [
            ("http://h:1", "http://h:1", None),
            ("http://h:1/", "http://h:1", None),
            ("https://h/x", "https://h/x", Some("/x")),
            ("http://h/a/", "http://h/a", Some("/a/")),
            (
                "http://h/x.php?a=1",
                "http://h/x.php?a=1",
                Some("/x.php?a=1"),
            ),
            ("scgi://h:1/RPC2", "scgi://h:1/RPC2", Some("/RPC2")),
            (
                "http+unix:///run/a.sock",
                "http+unix://%2Frun%2Fa.sock",
                None,
            ),
            (
                "scgi+unix:///run/a b.sock/x".replace(' ', "%20").as_str(),
                "scgi+unix://%2Frun%2Fa%20b.sock/x",
                Some("/x"),
            ),
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(target.base(), base);
            if url.starts_with("http://h") || url.starts_with("https://h") {
                assert_eq!(target.host(), "h");
            }
            assert_eq!(target.endpoint(), endpoint, "{url}");
            assert_eq!(Target::parse(&target.base()).unwrap().base(), base);
        }
    }

    #[test]
    fn rejects_invalid_urls() {
        for (url, part) in [
            ("localhost", "no scheme"),
            ("localhost:80", "no scheme"),
            ("http://", "no host"),
            ("ftp://h", "unknown scheme"),
            ("http://a b", "white space"),
            ("scgi://h", "scgi://HOST:PORT"),
            ("http+unix://run/a.sock", "path of a socket"),
            ("http://me:secret@h", "header authorization"),
            ("", "no scheme"),
        ] {
            let message = Target::parse(url).unwrap_err().message;
            assert!(message.contains(part), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
