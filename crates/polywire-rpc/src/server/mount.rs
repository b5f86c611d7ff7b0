//! Where on a server a protocol is offered.

use std::fmt;
use std::ops::Range;

use http::uri::PathAndQuery;
use http::{Uri, header, request};
use polywire_protocol::{ServerProtocol, detect};

/// A place on a server: below a path, on a host, or both. The default is the
/// whole server.
///
/// A request belongs to the mount that says most about it: one with a host
/// before one without, then the longest path. Protocols see paths without the
/// path of their mount; handlers find what was sent as [`OriginalUri`] among the
/// extensions of the call.
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
    /// In lower case, without a port; empty for every host. `*.` in front
    /// stands for any labels.
    host: String,
    /// Without a slash at the end; empty for every path.
    path: String,
}

/// Why a text is no mount.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MountPathError(String);

impl fmt::Display for MountPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected a mount such as /path, //host or //host/path, found `{}`",
            self.0
        )
    }
}

impl std::error::Error for MountPathError {}

/// The URI of a request as it was sent, before the path of the mount was taken
/// off: among the extensions of calls to protocols below a path.
#[derive(Clone, Debug)]
pub struct OriginalUri(pub Uri);

impl Mount {
    /// Everything below a path: `/s3` is `/s3` itself and all that begins with
    /// `/s3/`.
    ///
    /// # Errors
    ///
    /// It does not begin with a slash, or is no path.
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

    /// Every path of a host, whatever the port; of all hosts that end in it, if
    /// it begins with `*.`.
    ///
    /// # Errors
    ///
    /// It is no host.
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

    /// The path, without a slash at the end; empty for every path.
    #[must_use]
    pub fn path_prefix(&self) -> &str {
        &self.path
    }

    /// The host in lower case, which may begin with `*.`; none for every host.
    #[must_use]
    pub fn host_name(&self) -> Option<&str> {
        Some(self.host.as_str()).filter(|host| !host.is_empty())
    }

    /// Whether a request belongs here: a host as it was sent, and a path.
    fn takes(&self, host: Option<&str>, path: &str) -> bool {
        let rest = path.strip_prefix(&*self.path);
        let below = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        below && self.is_on(host)
    }

    /// Whether requests with this host may belong here, by their paths.
    pub(super) fn is_on(&self, host: Option<&str>) -> bool {
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

    /// What says more comes first: hosts, whole ones before wild ones, then the
    /// length of the path.
    pub(super) fn weight(&self) -> (bool, bool, usize) {
        let whole = !self.host.starts_with('*');
        (!self.host.is_empty(), whole, self.path.len())
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

    /// Reads `/path`, `//host` or `//host/path`.
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

/// The protocols of a server by their mounts: those of a mount side by side,
/// and the mounts that say most first.
#[derive(Debug)]
pub(crate) struct Mounts {
    pub(super) protocols: Vec<Box<dyn ServerProtocol>>,
    places: Vec<(Mount, Range<usize>)>,
    /// Whether a mount names a host.
    has_hosts: bool,
}

impl Mounts {
    pub(super) fn new(mut protocols: Vec<(Mount, Box<dyn ServerProtocol>)>) -> Self {
        // Stable: of equal claims the protocol that was named first counts.
        protocols.sort_by(|(one, _), (other, _)| {
            (other.weight(), &other.host, &other.path).cmp(&(one.weight(), &one.host, &one.path))
        });
        let mut mounts = Self {
            protocols: Vec::new(),
            places: Vec::new(),
            has_hosts: false,
        };
        for (mount, protocol) in protocols {
            let index = mounts.protocols.len();
            mounts.has_hosts |= !mount.host.is_empty();
            mounts.protocols.push(protocol);
            match mounts.places.last_mut() {
                Some((last, range)) if *last == mount => range.end += 1,
                _ => mounts.places.push((mount, index..index + 1)),
            }
        }
        mounts
    }

    /// The protocols with their mounts.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Mount, &dyn ServerProtocol)> {
        self.places.iter().flat_map(|(mount, range)| {
            let protocols = self.protocols[range.clone()].iter();
            protocols.map(move |protocol| (mount, &**protocol))
        })
    }

    /// The index of the protocol of a request, and takes the path of its mount
    /// off.
    pub(super) fn detect(&self, head: &mut request::Parts) -> Option<usize> {
        // Mostly there is one mount, and it is everything.
        let (mount, range) = match &*self.places {
            [(mount, range)] if mount.host.is_empty() && mount.path.is_empty() => (mount, range),
            places => {
                let host = self.has_hosts.then(|| host(head)).flatten();
                let path = head.uri.path();
                let found = places.iter().find(|(mount, _)| mount.takes(host, path));
                let (mount, range) = found?;
                (mount, range)
            }
        };
        if !mount.path.is_empty() {
            strip(head, mount.path.len());
        }
        detect(&self.protocols[range.clone()], head).map(|own| range.start + own)
    }
}

/// The host that a request is for, without its port.
pub(super) fn host(head: &request::Parts) -> Option<&str> {
    let host = match head.uri.host() {
        Some(host) => host,
        None => head.headers.get(header::HOST)?.to_str().ok()?,
    };
    host.get(..host_len(host))
}

/// Where the host ends in a host with an optional port.
pub(super) fn host_len(authority: &str) -> usize {
    let bytes = authority.as_bytes();
    // The colons of an address of IPv6 are between brackets.
    let end = match bytes.first() {
        Some(b'[') => bytes.iter().position(|byte| *byte == b']'),
        _ => None,
    };
    match end {
        Some(bracket) => bracket + 1,
        None => {
            let colon = bytes.iter().position(|byte| *byte == b':');
            colon.unwrap_or(bytes.len())
        }
    }
}

/// Takes so many bytes off the path.
fn strip(head: &mut request::Parts, len: usize) {
    let mut parts = head.uri.clone().into_parts();
    let whole = parts.path_and_query.as_ref();
    let rest = whole.map_or("", |whole| whole.as_str().get(len..).unwrap_or_default());
    let rest = match rest.starts_with('/') {
        true => PathAndQuery::try_from(rest),
        false => PathAndQuery::try_from(format!("/{rest}")),
    };
    // The rest of a path is one too.
    let Ok(rest) = rest else { return };
    parts.path_and_query = Some(rest);
    if let Ok(uri) = Uri::from_parts(parts) {
        let sent = std::mem::replace(&mut head.uri, uri);
        head.extensions.insert(OriginalUri(sent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_paths_and_hosts() {
        for (mount, host, path, takes) in [
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
            assert_eq!(own.takes(host, path), takes, "{mount} {host:?} {path}");
        }
        for wrong in [
            "", "s3", "/a b", "/a?b", "//", "///a", "//h//", "/a//b", "/%41", "//a b",
        ] {
            assert!(wrong.parse::<Mount>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_left_of_a_target() {
        for (target, len, left) in [
            ("/s3", 3, "/"),
            ("/s3/", 3, "/"),
            ("/s3?a=b", 3, "/?a=b"),
            ("/s3/x%2Fy/?a", 3, "/x%2Fy/?a"),
            ("http://h:1/s3/x", 3, "http://h:1/x"),
        ] {
            let (mut head, ()) = http::Request::get(target).body(()).unwrap().into_parts();
            strip(&mut head, len);
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
