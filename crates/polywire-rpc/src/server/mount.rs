//! Mounts: the hosts and paths at which protocols are offered.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use http::uri::PathAndQuery;
use http::{Uri, header, request};
use polywire_protocol::{ServerProtocol, detect};

/// The host and path prefix at which a protocol is offered. The default is all hosts and paths.
///
/// The most specific mount handles a request: mounts with a host before those without, then the longest path. The path
/// of the mount is removed before the protocol parses the request; handlers find the original URI as [`OriginalUri`] in
/// the extensions of the call.
///
/// ```
/// use polywire_rpc::server::Mount;
///
/// let mount: Mount = "/s3".parse()?;
/// assert_eq!(mount, Mount::path("/s3")?);
/// let mount: Mount = "//*.s3.localhost/v1".parse()?;
/// assert_eq!(mount.to_string(), "//*.s3.localhost/v1");
/// assert!("s3".parse::<Mount>().is_err());
/// # Ok::<(), polywire_rpc::server::MountPathError>(())
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Mount {
    /// In lower case, without a port. Empty means all hosts. `*.` at the start matches any labels.
    host: String,
    /// Without a slash at the end. Empty means all paths.
    path: String,
}

/// The error for a text that is not a mount.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected a mount such as /path, //host or //host/path, found `{0}`")]
pub struct MountPathError(String);

/// The URI of a request before the path of the mount was removed, in the extensions of calls to a mount with a path.
#[derive(Clone, Debug)]
pub struct OriginalUri(pub Uri);

impl Mount {
    /// Creates a mount at a path: `/s3` matches `/s3` and all paths that begin with `/s3/`.
    ///
    /// # Errors
    ///
    /// `path` is not a valid path that begins with a slash.
    pub fn path(path: &str) -> Result<Self, MountPathError> {
        let own = path.trim_end_matches('/');
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"?#\"<>\\^`{|}%".contains(&byte);
        let valid = path.starts_with('/') && own.bytes().all(plain) && !path.contains("//");
        if !valid {
            return Err(MountPathError(path.to_owned()));
        }
        Ok(Self {
            host: String::new(),
            path: own.to_owned(),
        })
    }

    /// Creates a mount for a host on any port. `*.` at the start matches all subdomains.
    ///
    /// # Errors
    ///
    /// `host` is not a valid host.
    pub fn host(host: &str) -> Result<Self, MountPathError> {
        let name = host.strip_prefix("*.").unwrap_or(host);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(MountPathError(host.to_owned()));
        }
        Ok(Self {
            host: host.to_ascii_lowercase(),
            path: String::new(),
        })
    }

    /// The path without a slash at the end. Empty means all paths.
    #[must_use]
    pub fn path_prefix(&self) -> &str {
        &self.path
    }

    /// The host in lower case, which can begin with `*.`. `None` means all hosts.
    #[must_use]
    pub fn host_name(&self) -> Option<&str> {
        Some(self.host.as_str()).filter(|host| !host.is_empty())
    }

    /// Whether the mount matches a host and path.
    fn matches(&self, host: Option<&str>, path: &str) -> bool {
        let rest = path.strip_prefix(&*self.path);
        let below = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        below && self.matches_host(host)
    }

    /// Whether the mount matches a host, for some paths.
    pub(super) fn matches_host(&self, host: Option<&str>) -> bool {
        self.host.is_empty() || host.is_some_and(|host| self.is_host(host))
    }

    fn is_host(&self, host: &str) -> bool {
        match self.host.strip_prefix('*') {
            Some(end) => {
                let at = host.len().saturating_sub(end.len());
                at > 0
                    && host
                        .get(at..)
                        .is_some_and(|own| own.eq_ignore_ascii_case(end))
            }
            None => host.eq_ignore_ascii_case(&self.host),
        }
    }

    /// The sort key: whether there is a host, whether it is without a wildcard, and the length of the path.
    pub(super) fn specificity(&self) -> (bool, bool, usize) {
        let is_exact = !self.host.starts_with('*');
        (!self.host.is_empty(), is_exact, self.path.len())
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.host, &*self.path) {
            ("", "") => f.write_str("/"),
            ("", path) => f.write_str(path),
            (host, path) => write!(f, "//{host}{path}"),
        }
    }
}

impl std::str::FromStr for Mount {
    type Err = MountPathError;

    /// Parses `/path`, `//host` or `//host/path`.
    fn from_str(text: &str) -> Result<Self, MountPathError> {
        let Some(rest) = text.strip_prefix("//") else {
            return Self::path(text);
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = Self::host(host).map_err(|_| MountPathError(text.to_owned()))?;
        let path = match path {
            "" => Self::default(),
            path => Self::path(path).map_err(|_| MountPathError(text.to_owned()))?,
        };
        Ok(Self {
            host: host.host,
            path: path.path,
        })
    }
}

/// The protocols of a server by mount, the most specific mounts first.
#[derive(Debug)]
pub(crate) struct Mounts {
    /// Shared with the [`Engine`](crate::call::Engine).
    pub(super) protocols: Arc<[Box<dyn ServerProtocol>]>,
    /// The indices of the protocols of each mount.
    mounts: Vec<(Mount, Range<usize>)>,
    /// Whether a mount names a host.
    has_hosts: bool,
}

impl Mounts {
    pub(super) fn new(mut protocols: Vec<(Mount, Box<dyn ServerProtocol>)>) -> Self {
        // A stable sort: of equal claims the first protocol wins.
        protocols.sort_by(|(one, _), (other, _)| {
            (other.specificity(), &other.host, &other.path).cmp(&(
                one.specificity(),
                &one.host,
                &one.path,
            ))
        });
        let has_hosts = protocols.iter().any(|(mount, _)| !mount.host.is_empty());
        let mut mounts: Vec<(Mount, Range<usize>)> = Vec::new();
        let mut own = Vec::new();
        for (mount, protocol) in protocols {
            let index = own.len();
            own.push(protocol);
            match mounts.last_mut() {
                Some((last, range)) if *last == mount => range.end += 1,
                _ => mounts.push((mount, index..index + 1)),
            }
        }
        Self {
            protocols: own.into(),
            mounts,
            has_hosts,
        }
    }

    /// The protocols with their mounts.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Mount, &dyn ServerProtocol)> {
        self.mounts.iter().flat_map(|(mount, range)| {
            let protocols = self.protocols[range.clone()].iter();
            protocols.map(move |protocol| (mount, &**protocol))
        })
    }

    /// Finds the index of the protocol of a request, and removes the path of its mount from the URI.
    pub(super) fn detect(&self, head: &mut request::Parts) -> Option<usize> {
        // Usually the only mount is the default one.
        let (mount, range) = match &*self.mounts {
            [(mount, range)] if mount.host.is_empty() && mount.path.is_empty() => (mount, range),
            mounts => {
                let host = self.has_hosts.then(|| host(head)).flatten();
                let path = head.uri.path();
                let (mount, range) = mounts.iter().find(|(mount, _)| mount.matches(host, path))?;
                (mount, range)
            }
        };
        if !mount.path.is_empty() {
            strip_prefix(head, mount.path.len());
        }
        detect(&self.protocols[range.clone()], head).map(|own| range.start + own)
    }
}

/// The host of a request, without the port.
pub(super) fn host(head: &request::Parts) -> Option<&str> {
    let host = match head.uri.host() {
        Some(host) => host,
        None => head.headers.get(header::HOST)?.to_str().ok()?,
    };
    host.get(..host_len(host.as_bytes()))
}

/// The length of the host in an authority with an optional port.
pub(super) fn host_len(authority: &[u8]) -> usize {
    let position = |wanted| authority.iter().position(|byte| *byte == wanted);
    // The colons of an IPv6 address are between brackets.
    let bracket = match authority.first() {
        Some(b'[') => position(b']'),
        _ => None,
    };
    match bracket {
        Some(bracket) => bracket + 1,
        None => position(b':').unwrap_or(authority.len()),
    }
}

/// Removes `len` bytes from the start of the path, and stores the [`OriginalUri`].
fn strip_prefix(head: &mut request::Parts, len: usize) {
    let mut parts = head.uri.clone().into_parts();
    let whole = parts.path_and_query.as_ref();
    let rest = whole.map_or("", |whole| whole.as_str().get(len..).unwrap_or_default());
    let rest = match rest.starts_with('/') {
        true => PathAndQuery::try_from(rest),
        false => PathAndQuery::try_from(format!("/{rest}")),
    };
    // Cannot fail: the rest of a valid path is valid.
    let Ok(rest) = rest else { return };
    parts.path_and_query = Some(rest);
    if let Ok(uri) = Uri::from_parts(parts) {
        let original = std::mem::replace(&mut head.uri, uri);
        // A layer may have changed the URI before.
        head.extensions.get_or_insert(OriginalUri(original));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching() {
        for (mount, host, path, matches) in [
            ("/s3", None, "/s3", true),
            ("/s3", None, "/s3/", true),
            ("/s3/", None, "/s3/a/b", true),
            ("/s3", None, "/s3x", false),
            ("/s3", None, "/S3", false),
            ("/", None, "/anything", true),
            ("//h", Some("H"), "/x", true),
            ("//h", Some("a.h"), "/x", false),
            ("//h", None, "/x", false),
            ("//*.h", Some("a.b.H"), "/x", true),
            ("//*.h", Some("h"), "/x", false),
            ("//*.h", Some(".h"), "/x", false),
            ("//h/p", Some("h"), "/p/x", true),
            ("//h/p", Some("h"), "/x", false),
        ] {
            let own: Mount = mount.parse().unwrap();
            assert_eq!(own.matches(host, path), matches, "{mount} {host:?} {path}");
        }
        for wrong in [
            "", "s3", "/a b", "/a?b", "//", "///a", "//h//", "/a//b", "/%41", "//a b",
        ] {
            assert!(wrong.parse::<Mount>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn strip_prefix_keeps_the_rest_of_the_uri() {
        for (target, len, left) in [
            ("/s3", 3, "/"),
            ("/s3/", 3, "/"),
            ("/s3?a=b", 3, "/?a=b"),
            ("/s3/x%2Fy/?a", 3, "/x%2Fy/?a"),
            ("http://h:1/s3/x", 3, "http://h:1/x"),
        ] {
            let (mut head, ()) = http::Request::get(target).body(()).unwrap().into_parts();
            strip_prefix(&mut head, len);
            assert_eq!(head.uri.to_string(), left);
            assert_eq!(head.extensions.get::<OriginalUri>().unwrap().0, target);
        }
    }

    #[test]
    fn hosts() {
        for (sent, own) in [
            ("h", "h"),
            ("h:1", "h"),
            ("[::1]:8", "[::1]"),
            ("[::1]", "[::1]"),
        ] {
            let request = http::Request::get("/").header("host", sent);
            let (head, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(host(&head), Some(own));
        }
        let (head, ()) = http::Request::get("http://x:1/")
            .body(())
            .unwrap()
            .into_parts();
        assert_eq!(host(&head), Some("x"));
    }
}
