//! The URL of a service.

use http::Uri;

use crate::Failure;

/// A URL of a service, in parts.
#[derive(Debug)]
pub(crate) struct Target {
    /// `http://HOST:PORT`, or with `https`
    origin: String,
    /// What follows, with its query; empty if that is `/` alone.
    path: String,
}

impl Target {
    pub(crate) fn parse(url: &str) -> Result<Self, Failure> {
        let usage = || {
            let reason = "expected http://HOST:PORT or https://HOST:PORT";
            Failure::usage(format!("`{url}`: {reason}"))
        };
        let uri: Uri = url.parse().map_err(|_| usage())?;
        let authority = uri.authority().ok_or_else(usage)?;
        let scheme = uri
            .scheme_str()
            .filter(|it| matches!(*it, "http" | "https"));
        let scheme = scheme.ok_or_else(usage)?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            origin: format!("{scheme}://{authority}"),
            path: if path == "/" { "" } else { path }.to_owned(),
        })
    }

    /// The server, whatever follows.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The whole, without a slash at the end.
    pub(crate) fn base(&self) -> String {
        format!("{}{}", self.origin, self.path.trim_end_matches('/'))
    }

    /// What follows the server, if there is more than a slash: over XML-RPC,
    /// where everything is called.
    pub(crate) fn endpoint(&self) -> Option<&str> {
        Some(self.path.as_str()).filter(|path| !path.is_empty())
    }
}

/// What to say to a URL to listen at that wants TLS.
pub(crate) const NO_TLS: &str = "there is no TLS yet, only http://HOST:PORT";

/// Whether a URL wants TLS.
pub(crate) fn is_https(url: &str) -> bool {
    url.get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("https://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
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
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(target.base(), base);
            assert_eq!(target.endpoint(), endpoint, "{url}");
            assert!(url.starts_with(target.origin()));
        }
    }

    #[test]
    fn what_is_none() {
        for url in [
            "localhost",
            "localhost:80",
            "http://",
            "ftp://h",
            "http://a b",
            "",
        ] {
            let message = Target::parse(url).unwrap_err().message;
            assert!(message.contains("expected http://HOST:PORT"), "{message}");
        }
    }
}
