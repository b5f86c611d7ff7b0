//! URLs of servers: where to connect, where to post to, and as whom.
//!
//! A URL over TCP is what it is everywhere. One of a Unix socket has two paths in it,
//! that of the socket and that of the request, for which there is no standard. What
//! others write is read:
//!
//! | spelling | as in | socket | path |
//! |---|---|---|---|
//! | `http+unix://%2Frun%2Fs.sock/RPC2` | Python's requests, Docker's tools | `/run/s.sock` | `/RPC2` |
//! | `http+unix:///run/s.sock:/RPC2` | nginx, got | `/run/s.sock` | `/RPC2` |
//! | `http+unix:///run/s.sock/RPC2` | what one would type | `/run/s.sock` | `/RPC2` |
//! | `http+unix:///run/s` | supervisor's `unix:///run/s` | `/run/s` | none |
//!
//! Where neither `%2F` nor `:/` says it, the socket's path ends with the first segment
//! that ends in `.sock` or `.socket`; without such a segment all of it is the socket's.
//! The text alone decides, never what the file system holds at the moment.

use std::fmt;
use std::path::{Path, PathBuf};

use http::HeaderValue;
use http::uri::{Authority, PathAndQuery};
use polywire_text::base64;

/// Why a URL is none that a client can connect to. What it shows of the URL is
/// without password.
#[derive(Clone, Debug, Eq, PartialEq)]
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

    /// Why, without the URL.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.url.escape_debug(), self.reason)
    }
}

impl std::error::Error for UrlError {}

/// A user and a password. Shown by nothing.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
}

impl Credentials {
    /// `Basic ...` of RFC 7617, in UTF-8.
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

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wire {
    /// HTTP, by TLS or not.
    Http { tls: bool },
    /// SCGI, one connection a request.
    Scgi,
    /// Frames over a stream, with TLS or without.
    Frames { tls: bool },
    /// Frames over UDP.
    Datagrams,
    /// WebSocket, by TLS or not.
    #[cfg(feature = "websocket")]
    WebSocket { tls: bool },
}

impl Wire {
    pub(crate) const fn is_tls(self) -> bool {
        match self {
            Self::Http { tls } | Self::Frames { tls } => tls,
            #[cfg(feature = "websocket")]
            Self::WebSocket { tls } => tls,
            Self::Scgi | Self::Datagrams => false,
        }
    }

    /// The wire of a scheme in a URL for a client of WebSocket, and whether a Unix socket is meant.
    #[cfg(feature = "websocket")]
    fn of_websocket(scheme: &str) -> Result<(Self, bool), String> {
        Ok(match scheme {
            "ws" => (Self::WebSocket { tls: false }, false),
            "wss" => (Self::WebSocket { tls: true }, false),
            "ws+unix" => (Self::WebSocket { tls: false }, true),
            _ => return Err(SCHEMES_OF_WEBSOCKET.to_owned()),
        })
    }

    /// The wire of a scheme in a URL for a client of HTTP, and whether a Unix socket is meant.
    fn of_http(scheme: &str) -> Result<(Self, bool), String> {
        Ok(match scheme {
            "http" => (Self::Http { tls: false }, false),
            "https" => (Self::Http { tls: true }, false),
            "http+unix" | "unix" => (Self::Http { tls: false }, true),
            "scgi" => (Self::Scgi, false),
            "scgi+unix" => (Self::Scgi, true),
            "inproc" | "tcp" | "tcp+tls" | "udp" => {
                let reason = "a scheme of frames, which are spoken by a client of ProtocolKind::Frame or of \
                              polywire_rpc::frames";
                return Err(reason.to_owned());
            }
            _ => return Err(format!("unknown scheme; {SCHEMES}")),
        })
    }

    /// The same in a URL for a client of frames.
    fn of_frames(scheme: &str) -> Result<(Self, bool), String> {
        Ok(match scheme {
            "tcp" => (Self::Frames { tls: false }, false),
            "tcp+tls" => (Self::Frames { tls: true }, false),
            "udp" => (Self::Datagrams, false),
            "unix" => (Self::Frames { tls: false }, true),
            #[cfg(feature = "websocket")]
            "ws" | "wss" | "ws+unix" => return Self::of_websocket(scheme),
            _ => return Err(SCHEMES_OF_FRAMES.to_owned()),
        })
    }
}

/// Where a server listens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    /// A host, brackets around an IPv6 address, and a port.
    Tcp { host: String, port: u16 },
    /// A Unix socket.
    Unix(PathBuf),
}

/// A URL in parts.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) wire: Wire,
    pub(crate) place: Place,
    /// What the host of requests is: with the port, if that is not the scheme's own.
    pub(crate) authority: Authority,
    /// Path and query, if the URL has a path.
    pub(crate) target: Option<PathAndQuery>,
    pub(crate) credentials: Option<Credentials>,
    /// The URL without secrets.
    shown: String,
}

impl Endpoint {
    /// Reads a URL for a client of HTTP.
    pub(crate) fn parse(url: &str) -> Result<Self, UrlError> {
        Self::read(url, SCHEMES, Wire::of_http)
    }

    /// Reads a URL for a client of frames: it names a server and, but over WebSocket, has no request path.
    pub(crate) fn parse_frames(url: &str) -> Result<Self, UrlError> {
        let endpoint = Self::read(url, SCHEMES_OF_FRAMES, Wire::of_frames)?;
        let fail = |reason: &str| Err(UrlError::new(url, reason));
        if endpoint.credentials.is_some() {
            return fail("a URL has no user: `Client::with_authorization` sets one");
        }
        #[cfg(feature = "websocket")]
        if matches!(endpoint.wire, Wire::WebSocket { .. }) {
            return Ok(endpoint);
        }
        match (&endpoint.place, &endpoint.target) {
            (_, None) => Ok(endpoint),
            (Place::Unix(_), Some(_)) => {
                fail("expected the path of a socket and nothing behind it")
            }
            (Place::Tcp { .. }, Some(_)) => fail("expected HOST:PORT and nothing behind it"),
        }
    }

    /// Reads a URL for a client of WebSocket.
    #[cfg(feature = "websocket")]
    pub(crate) fn parse_websocket(url: &str) -> Result<Self, UrlError> {
        Self::read(url, SCHEMES_OF_WEBSOCKET, Wire::of_websocket)
    }

    fn read(
        url: &str,
        schemes: &str,
        wire_of: fn(&str) -> Result<(Wire, bool), String>,
    ) -> Result<Self, UrlError> {
        let fail = |reason: &str| UrlError::new(url, reason);
        if url
            .bytes()
            .any(|byte| byte.is_ascii_control() || byte == b' ')
        {
            return Err(fail(
                "white space and control characters have no place in a URL",
            ));
        }
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(fail(&format!("no scheme; {schemes}")));
        };
        let scheme = scheme.to_ascii_lowercase();
        let (wire, unix) = wire_of(&scheme).map_err(|it| fail(&it))?;
        // Fragments are the caller's own business.
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (head, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        // Passwords may hold an `@`, hosts never.
        let (credentials, host) = match head.rsplit_once('@') {
            None => (None, head),
            Some(("", host)) => (None, host),
            Some((user, host)) => (Some(credentials(user).map_err(|it| fail(&it))?), host),
        };
        let (place, target) = if unix {
            let (socket, target) = socket(&scheme, host, path).map_err(|it| fail(&it))?;
            (Place::Unix(socket), target)
        } else {
            let place = tcp(&scheme, host, wire).map_err(|it| fail(&it))?;
            (place, path.to_owned())
        };
        let target = match target.as_str() {
            "" => None,
            path => {
                let path = if path.starts_with('?') {
                    format!("/{path}")
                } else {
                    path.to_owned()
                };
                let path = PathAndQuery::try_from(path);
                Some(path.map_err(|error| fail(&format!("the path: {error}")))?)
            }
        };
        let authority = match &place {
            // What a socket's requests say of their host is anybody's guess; this one
            // no server takes for a stranger's.
            Place::Unix(_) => Authority::from_static("localhost"),
            Place::Tcp { host, port } => {
                let text = match default_port(wire) {
                    Some(default) if default == *port => host.clone(),
                    _ => format!("{host}:{port}"),
                };
                Authority::try_from(text).map_err(|error| fail(&format!("the host: {error}")))?
            }
        };
        let user = credentials.as_ref().map_or("", |_| "***@");
        let query = path.split_once('?');
        let (path, query) = query.map_or((path, ""), |(path, _)| (path, "?..."));
        let shown = format!("{scheme}://{user}{host}{path}{query}");
        Ok(Self {
            wire,
            place,
            authority,
            target,
            credentials,
            shown,
        })
    }

    /// The URL without user, password and query.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The scheme and host of requests, as HTTP knows them.
    pub(crate) fn scheme(&self) -> &'static str {
        match self.wire {
            Wire::Http { tls: true } => "https",
            _ => "http",
        }
    }

    /// The path and query, or another one if the URL has none.
    pub(crate) fn target_or(&self, path: &'static str) -> PathAndQuery {
        let target = self.target.clone();
        target.unwrap_or_else(|| PathAndQuery::from_static(path))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A URL in two parts: that of the server, and path and query of what is asked of it, if
/// it has any: for protocols that are called at one path, such as XML-RPC.
///
/// ```
/// use polywire_rpc::connect::split;
///
/// let (server, path) = split("http+unix:///run/a.sock/RPC2")?;
/// assert_eq!((&*server, path.as_deref()), ("http+unix://%2Frun%2Fa.sock", Some("/RPC2")));
/// let (server, path) = split("scgi://127.0.0.1:5000")?;
/// assert_eq!((&*server, path.as_deref()), ("scgi://127.0.0.1:5000", None));
/// # Ok::<(), polywire_rpc::connect::UrlError>(())
/// ```
///
/// # Errors
///
/// It is no URL that a client can connect to, or has a user in it, for which a server's
/// own URL has no place.
pub fn split(url: &str) -> Result<(String, Option<String>), UrlError> {
    let endpoint = Endpoint::parse(url)?;
    if endpoint.credentials.is_some() {
        return Err(UrlError::new(url, NO_USER));
    }
    // Parsed, so it has one.
    let scheme = url.split("://").next().unwrap_or_default();
    let server = match &endpoint.place {
        Place::Tcp { .. } => format!("{scheme}://{}", endpoint.authority),
        Place::Unix(path) => {
            let path = path.to_string_lossy();
            let encoded = path.bytes().map(|byte| match byte {
                b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
                _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                _ => format!("%{byte:02X}"),
            });
            format!("{scheme}://{}", encoded.collect::<String>())
        }
    };
    Ok((server, endpoint.target.map(|target| target.to_string())))
}

/// The path of the Unix socket that a URL names, for a server that listens there. The URL has no request path.
///
/// ```
/// use polywire_rpc::connect::socket_path;
///
/// assert_eq!(socket_path("unix:///run/my%20a.sock")?.to_str(), Some("/run/my a.sock"));
/// assert!(socket_path("http+unix:///run/a.sock/RPC2").is_err());
/// # Ok::<(), polywire_rpc::connect::UrlError>(())
/// ```
///
/// # Errors
///
/// It is not the URL of a Unix socket alone.
pub fn socket_path(url: &str) -> Result<PathBuf, UrlError> {
    match Endpoint::parse(url)? {
        Endpoint {
            place: Place::Unix(path),
            target: None,
            credentials: None,
            ..
        } => Ok(path),
        _ => Err(UrlError::new(
            url,
            "expected the URL of a Unix socket and nothing behind it",
        )),
    }
}

/// Whoever gives a user and a password in a URL wants them sent, which is not done
/// everywhere; and what errors show may be logged.
pub(crate) const NO_USER: &str = "user and password of a URL are not sent: leave them out, and \
                                  set the header authorization instead";

const SCHEMES: &str = "expected http://HOST, https://HOST, http+unix://SOCKET, scgi://HOST:PORT or scgi+unix://SOCKET";

#[cfg(not(feature = "websocket"))]
pub(crate) const SCHEMES_OF_FRAMES: &str = "expected tcp://HOST:PORT, tcp+tls://HOST:PORT, \
    udp://HOST:PORT, unix:///PATH or inproc://NAME";

#[cfg(feature = "websocket")]
pub(crate) const SCHEMES_OF_FRAMES: &str = "expected tcp://HOST:PORT, tcp+tls://HOST:PORT, \
    udp://HOST:PORT, unix:///PATH, inproc://NAME, ws://HOST/PATH, wss://HOST/PATH or ws+unix://SOCKET";

#[cfg(feature = "websocket")]
const SCHEMES_OF_WEBSOCKET: &str = "expected ws://HOST, wss://HOST or ws+unix://SOCKET";

fn default_port(wire: Wire) -> Option<u16> {
    match wire {
        Wire::Http { tls: false } => Some(80),
        Wire::Http { tls: true } => Some(443),
        #[cfg(feature = "websocket")]
        Wire::WebSocket { tls: false } => Some(80),
        #[cfg(feature = "websocket")]
        Wire::WebSocket { tls: true } => Some(443),
        Wire::Scgi | Wire::Frames { .. } | Wire::Datagrams => None,
    }
}

fn tcp(scheme: &str, text: &str, wire: Wire) -> Result<Place, String> {
    if !text.is_ascii() {
        return Err("the host has letters beyond ASCII: write it in punycode, xn--...".to_owned());
    }
    let text = text.strip_suffix(':').unwrap_or(text);
    let authority: Authority = text.parse().map_err(|_| match text {
        "" => "no host".to_owned(),
        _ => format!("not a host and a port: expected {scheme}://HOST:PORT"),
    })?;
    let host = authority.host();
    if host.is_empty() {
        return Err("no host".to_owned());
    }
    // An authority takes any digits for a port.
    let port = match &text[host.len()..] {
        "" => None,
        port => match port[1..].parse() {
            Ok(0) | Err(_) => return Err("the port is not a number from 1 to 65535".to_owned()),
            Ok(port) => Some(port),
        },
    };
    let Some(port) = port.or_else(|| default_port(wire)) else {
        return Err(format!("there is no port: expected {scheme}://HOST:PORT"));
    };
    let host = host.to_ascii_lowercase();
    Ok(Place::Tcp { host, port })
}

/// The path of a socket, and that of requests; the latter is empty if it is not there.
fn socket(scheme: &str, host: &str, path: &str) -> Result<(PathBuf, String), String> {
    let (socket, target) = if host.is_empty() {
        // Nothing but the socket may hold a query.
        let (path, query) = match path.find('?') {
            Some(at) => path.split_at(at),
            None => (path, ""),
        };
        let (socket, rest) = split_plain(path);
        (socket, format!("{rest}{query}"))
    } else {
        (host, path.to_owned())
    };
    let socket = percent_decoded(socket).ok_or("a `%` without two hex digits behind it")?;
    if !socket.starts_with(b"/") || socket.len() < 2 {
        return Err(format!(
            "expected the path of a socket, as in {scheme}:///run/name.sock or \
             {scheme}://%2Frun%2Fname.sock"
        ));
    }
    if socket.contains(&0) {
        return Err("a socket's path has no NUL in it".to_owned());
    }
    let socket = String::from_utf8(socket).map_err(|_| "the socket's path is not UTF-8")?;
    Ok((Path::new(&socket).to_owned(), target))
}

/// Tells where in a plain spelling the socket's path ends.
fn split_plain(path: &str) -> (&str, &str) {
    if let Some(at) = path.find(":/") {
        return (&path[..at], &path[at + 1..]);
    }
    if let Some(socket) = path.strip_suffix(':') {
        return (socket, "");
    }
    let mut end = 0;
    for segment in path.split_inclusive('/') {
        end += segment.len();
        let name = segment.trim_end_matches('/');
        if name.ends_with(".sock") || name.ends_with(".socket") {
            let end = end - (segment.len() - name.len());
            return path.split_at(end);
        }
    }
    (path, "")
}

fn credentials(text: &str) -> Result<Credentials, String> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let decoded = |text: &str| {
        let bytes = percent_decoded(text)?;
        let text = String::from_utf8(bytes).ok()?;
        (!text.chars().any(char::is_control)).then_some(text)
    };
    let (Some(user), Some(password)) = (decoded(user), decoded(password)) else {
        return Err("user or password is no percent-encoded UTF-8".to_owned());
    };
    if user.contains(':') {
        return Err("a user with a colon has no form in HTTP".to_owned());
    }
    Ok(Credentials { user, password })
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        decoded.push(u8::try_from(value).ok()?);
    }
    Some(decoded)
}

/// A URL, whether it is one or not, as errors and logs may show it: user and password
/// are `***`, a query is `...`.
pub(crate) fn without_secrets(url: &str) -> String {
    const LONGEST: usize = 200;
    let (scheme, rest) = match url.find("://") {
        Some(at) => url.split_at(at + 3),
        None => ("", url),
    };
    // A password with a `/` in it makes a URL wrong, and stays a password.
    let rest = match rest.rsplit_once('@') {
        Some((_, rest)) => format!("***@{rest}"),
        None => rest.to_owned(),
    };
    let rest = match rest.split_once('?') {
        Some((rest, _)) => format!("{rest}?..."),
        None => rest,
    };
    let shown: String = scheme.chars().chain(rest.chars()).take(LONGEST).collect();
    match rest.len() + scheme.len() > LONGEST {
        true => format!("{shown}..."),
        false => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(url: &str) -> (String, Option<String>) {
        let endpoint = Endpoint::parse(url).unwrap();
        let Place::Unix(path) = endpoint.place else {
            panic!("{url}: no socket");
        };
        let target = endpoint.target.map(|target| target.to_string());
        (path.to_str().unwrap().to_owned(), target)
    }

    #[test]
    fn paths_of_sockets_are_told_from_those_of_requests() {
        for (url, socket, target) in [
            ("http+unix://%2Frun%2Fa.sock/RPC2", "/run/a.sock", "/RPC2"),
            ("http+unix://%2frun%2fa", "/run/a", ""),
            ("http+unix:///run/a.sock/RPC2", "/run/a.sock", "/RPC2"),
            ("http+unix:///run/a.sock:/RPC2", "/run/a.sock", "/RPC2"),
            ("http+unix:///run/a/b:/RPC2?x=1", "/run/a/b", "/RPC2?x=1"),
            ("http+unix:///run/a.socket/", "/run/a.socket", "/"),
            ("http+unix:///run/my%20a.sock", "/run/my a.sock", ""),
            ("http+unix:///run/a", "/run/a", ""),
            ("http+unix:///run/a:", "/run/a", ""),
            ("http+unix:///run/a:b.sock", "/run/a:b.sock", ""),
            (
                "unix:///var/run/supervisor.sock",
                "/var/run/supervisor.sock",
                "",
            ),
            (
                "scgi+unix:///home/me/.rtorrent/rpc.socket",
                "/home/me/.rtorrent/rpc.socket",
                "",
            ),
            ("http+unix://me:secret@/run/a.sock/x", "/run/a.sock", "/x"),
        ] {
            let target = Some(target.to_owned()).filter(|target| !target.is_empty());
            assert_eq!(unix(url), (socket.to_owned(), target), "{url}");
        }
    }

    /// The clients of HTTP and of frames connect to the same file.
    #[test]
    fn sockets_of_frames_are_those_of_http() {
        for (url, socket) in [
            ("unix:///run/my%20a.sock", "/run/my a.sock"),
            ("unix://%2Frun%2Fmy%20a.sock", "/run/my a.sock"),
            ("unix:///run/a", "/run/a"),
            ("unix:///run/a:", "/run/a"),
            ("UNIX:///run/a:b.sock", "/run/a:b.sock"),
            ("unix:///run/a@b", "/run/a@b"),
        ] {
            assert_eq!(unix(url).0, socket, "{url}");
            let endpoint = Endpoint::parse_frames(url).unwrap();
            assert_eq!(endpoint.place, Place::Unix(socket.into()), "{url}");
            assert_eq!(endpoint.wire, Wire::Frames { tls: false });
        }
        for (url, part) in [
            ("unix:///run/a.sock/RPC2", "nothing behind it"),
            ("unix://run/a.sock", "as in unix:///run/name.sock"),
            ("unix://", "path of a socket"),
            ("tcp://h:1/x", "nothing behind it"),
            ("tcp://h", "expected tcp://HOST:PORT"),
            ("udp://h:0", "port"),
            ("http://h", "inproc://NAME"),
            ("tcp://me:hunter2@h:1", "has no user"),
        ] {
            let text = Endpoint::parse_frames(url).unwrap_err().to_string();
            assert!(text.contains(part), "{url}: {text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
        let place = |url| Endpoint::parse_frames(url).unwrap().place;
        let (host, port) = ("[::1]".to_owned(), 7);
        assert_eq!(place("udp://[::1]:7"), Place::Tcp { host, port });
    }

    #[test]
    fn hosts_and_ports() {
        for (url, host, port, authority) in [
            ("http://h", "h", 80, "h"),
            ("http://H:80/RPC2", "h", 80, "h"),
            ("https://h/", "h", 443, "h"),
            ("https://h:80", "h", 80, "h:80"),
            ("http://@h", "h", 80, "h"),
            ("scgi://127.0.0.1:5000", "127.0.0.1", 5000, "127.0.0.1:5000"),
            ("HTTP://[::1]:9001", "[::1]", 9001, "[::1]:9001"),
        ] {
            let endpoint = Endpoint::parse(url).unwrap();
            let host = host.to_owned();
            assert_eq!(endpoint.place, Place::Tcp { host, port }, "{url}");
            assert_eq!(endpoint.authority, authority, "{url}");
        }
        let target = |url| {
            Endpoint::parse(url)
                .unwrap()
                .target
                .map(|it| it.to_string())
        };
        assert_eq!(target("http://h"), None);
        assert_eq!(target("http://h/").as_deref(), Some("/"));
        assert_eq!(target("http://h?a=1").as_deref(), Some("/?a=1"));
        assert_eq!(target("http://h/a#b").as_deref(), Some("/a"));
    }

    #[test]
    fn what_is_none_says_why_and_keeps_secrets() {
        for (url, part) in [
            ("localhost:9001/RPC2", "no scheme"),
            ("ftp://h", "unknown scheme"),
            ("http://", "no host"),
            ("http://:80", "no host"),
            ("http://h:0", "port"),
            ("http://h:99999", "port"),
            ("http://h:http", "port"),
            ("http://h\u{f6}st", "punycode"),
            ("http://a b", "white space"),
            ("scgi://h", "scgi://HOST:PORT"),
            ("http+unix://run/a.sock", "path of a socket"),
            ("http+unix://", "path of a socket"),
            ("http+unix://%2", "hex digits"),
            ("http+unix:///a%00b", "NUL"),
        ] {
            let text = Endpoint::parse(url).unwrap_err().to_string();
            assert!(text.contains(part), "{url}: {text}");
        }
        for url in [
            "http://me:hunter2@",
            "http://me:hunter2@h:x/?token=hunter2",
            "me:hunter2@h",
            "http://me:hunter2/@h:1/a b",
            "http://me:%zzhunter2@h",
        ] {
            let error = Endpoint::parse(url).unwrap_err();
            assert!(
                !format!("{error} {error:?}").contains("hunter2"),
                "{url}: {error}"
            );
        }
        let endpoint = Endpoint::parse("http://me:p%40ss@h:1/RPC2?key=hunter2").unwrap();
        assert_eq!(endpoint.shown(), "http://***@h:1/RPC2?...");
        assert_eq!(format!("{endpoint:?}"), endpoint.shown());
        let credentials = endpoint.credentials.unwrap();
        assert_eq!((&*credentials.user, &*credentials.password), ("me", "p@ss"));
        assert_eq!(credentials.basic(), "Basic bWU6cEBzcw==");
    }

    #[cfg(feature = "websocket")]
    #[test]
    fn urls_of_websocket() {
        let parse = |url| Endpoint::parse_websocket(url).unwrap();
        for (url, authority, target, tls) in [
            ("ws://a", "a", "/", false),
            ("ws://a:80/b?c", "a", "/b?c", false),
            ("WSS://a:443/", "a", "/", true),
            ("wss://[::1]:9000/b", "[::1]:9000", "/b", true),
        ] {
            let endpoint = parse(url);
            assert_eq!(endpoint.wire, Wire::WebSocket { tls }, "{url}");
            assert_eq!(endpoint.authority, authority, "{url}");
            assert_eq!(endpoint.target_or("/"), target, "{url}");
            assert_eq!(Endpoint::parse_frames(url).unwrap().wire, endpoint.wire);
        }
        let endpoint = parse("ws+unix:///run/a.sock:/b");
        assert_eq!(endpoint.place, Place::Unix("/run/a.sock".into()));
        assert_eq!(endpoint.target_or("/"), "/b");
        for url in ["http://a", "tcp://a:1", "ws://", "ws:///b"] {
            assert!(Endpoint::parse_websocket(url).is_err(), "{url}");
        }
        assert!(Endpoint::parse("ws://a").is_err());
    }
}
