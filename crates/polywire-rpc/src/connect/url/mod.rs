//! URLs of servers: one type and one parser for all clients.
//!
//! [`scheme`] has the table of schemes, [`unix`] the spellings of Unix sockets.

use std::fmt;
use std::path::PathBuf;

use http::uri::{Authority, PathAndQuery};

mod error;
mod scheme;
#[cfg(test)]
mod tests;
mod unix;
mod user_info;

pub use error::UrlError;
pub(crate) use error::without_secrets;
pub(crate) use scheme::Wire;
use scheme::{ClientKind, Form};
pub use unix::{socket_path, split};
pub(crate) use user_info::UserInfo;

/// Where a server listens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Address {
    /// A host, with brackets around an IPv6 address, and a port: TCP or UDP.
    Host { host: String, port: u16 },
    /// The path of a Unix socket.
    Unix(PathBuf),
    /// The name of a server in this process.
    InProcess(String),
}

/// A parsed URL.
#[derive(Clone)]
pub(crate) struct ServerUrl {
    pub(crate) wire: Wire,
    pub(crate) address: Address,
    /// The `Host` of requests: host and port, without the default port of the scheme. `localhost` without a host.
    pub(crate) authority: Authority,
    /// Path and query, if the URL has a path.
    pub(crate) target: Option<PathAndQuery>,
    pub(crate) credentials: Option<UserInfo>,
    /// The URL without secrets.
    shown: String,
}

impl ServerUrl {
    /// Parses a URL for a client of HTTP or SCGI.
    pub(crate) fn for_http(url: &str) -> Result<Self, UrlError> {
        Self::parse(url, ClientKind::Http)
    }

    /// Parses a URL for a client of frames. It has no user and, except for WebSocket, no path.
    pub(crate) fn for_frames(url: &str) -> Result<Self, UrlError> {
        let parsed = Self::parse(url, ClientKind::Frames)?;
        let fail = |reason: &str| Err(UrlError::new(url, reason));
        if parsed.credentials.is_some() {
            return fail("a URL of frames has no user: use `with_authorization` of the client");
        }
        match (&parsed.address, &parsed.target) {
            _ if matches!(parsed.wire, Wire::WebSocket { .. }) => Ok(parsed),
            (_, None) => Ok(parsed),
            (Address::Host { .. }, _) => fail("expected HOST:PORT and nothing behind it"),
            _ => fail("expected the path of a socket and nothing behind it"),
        }
    }

    /// Parses a URL for a client of WebSocket.
    #[cfg(feature = "websocket")]
    pub(crate) fn for_websocket(url: &str) -> Result<Self, UrlError> {
        Self::parse(url, ClientKind::WebSocket)
    }

    fn parse(url: &str, client: ClientKind) -> Result<Self, UrlError> {
        let fail = |reason: String| UrlError::new(url, reason);
        let is_invalid = |byte: u8| byte.is_ascii_control() || byte == b' ';
        if url.bytes().any(is_invalid) {
            let reason = "a URL cannot contain white space or control characters";
            return Err(fail(reason.to_owned()));
        }
        let Some((name, rest)) = url.split_once("://") else {
            return Err(fail(format!("no scheme; {}", client.expected())));
        };
        let name = name.to_ascii_lowercase();
        let scheme = client.scheme(&name).map_err(fail)?;
        if scheme.form == Form::InProcess {
            return Self::in_process(url, rest, scheme.wire);
        }
        // A fragment is never sent.
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (head, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        // Passwords can contain an `@`, hosts cannot.
        let (credentials, host) = match head.rsplit_once('@') {
            None => (None, head),
            Some(("", host)) => (None, host),
            Some((user, host)) => (Some(UserInfo::parse(user).map_err(fail)?), host),
        };
        let (address, target) = if scheme.form == Form::Unix {
            let (socket, target) = unix::parse(&name, host, path).map_err(fail)?;
            (Address::Unix(socket), target)
        } else {
            let address = host_and_port(&name, host, scheme.wire).map_err(fail)?;
            (address, path.to_owned())
        };
        let target = match target.as_str() {
            "" => None,
            path => {
                let slash = if path.starts_with('?') { "/" } else { "" };
                let path = PathAndQuery::try_from(format!("{slash}{path}"));
                Some(path.map_err(|error| fail(format!("the path: {error}")))?)
            }
        };
        let authority = match &address {
            Address::Host { host, port } => {
                let text = match scheme.wire.default_port() {
                    Some(default) if default == *port => host.clone(),
                    _ => format!("{host}:{port}"),
                };
                Authority::try_from(text).map_err(|error| fail(format!("the host: {error}")))?
            }
            // Servers accept it as their own.
            Address::Unix(_) | Address::InProcess(_) => Authority::from_static("localhost"),
        };
        let user = credentials.as_ref().map_or("", |_| "***@");
        let query = path.split_once('?');
        let (path, query) = query.map_or((path, ""), |(path, _)| (path, "?..."));
        let shown = format!("{name}://{user}{host}{path}{query}");
        Ok(Self {
            wire: scheme.wire,
            address,
            authority,
            target,
            credentials,
            shown,
        })
    }

    fn in_process(url: &str, name: &str, wire: Wire) -> Result<Self, UrlError> {
        if !is_process_name(name) {
            return Err(UrlError::new(url, format!("the name: {PROCESS_NAME}")));
        }
        Ok(Self {
            wire,
            address: Address::InProcess(name.to_owned()),
            authority: Authority::from_static("localhost"),
            target: None,
            credentials: None,
            shown: url.to_owned(),
        })
    }

    /// The URL without user, password and query.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The scheme of requests in HTTP.
    pub(crate) fn http_scheme(&self) -> &'static str {
        match self.wire {
            Wire::Http { tls: true } => "https",
            _ => "http",
        }
    }

    /// Path and query, or `path` if the URL has none.
    pub(crate) fn target_or(&self, path: &'static str) -> PathAndQuery {
        let target = self.target.clone();
        target.unwrap_or_else(|| PathAndQuery::from_static(path))
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// The reason for rejecting a user in a URL, in clients that do not send it. Errors show URLs, so a password in them
/// could end up in a log.
pub(crate) const NO_USER: &str = "user and password of a URL are not sent: leave them out, and \
                                  set the header authorization instead";

/// What [`is_process_name`] accepts.
pub(crate) const PROCESS_NAME: &str =
    "expected visible characters without a slash, 255 bytes at most";

/// Whether a text can name a server in this process.
pub(crate) fn is_process_name(name: &str) -> bool {
    let is_visible = |character: char| !character.is_control() && !character.is_whitespace();
    (1..=255).contains(&name.len()) && name.chars().all(|one| one != '/' && is_visible(one))
}

/// Parses the host and port of a URL. The host is in lower case.
fn host_and_port(scheme: &str, text: &str, wire: Wire) -> Result<Address, String> {
    if !text.is_ascii() {
        return Err("the host is not ASCII: write it in punycode, xn--...".to_owned());
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
    // `Authority` accepts any digits as port.
    let port = match &text[host.len()..] {
        "" => None,
        port => match port[1..].parse() {
            Ok(0) | Err(_) => return Err("the port is not a number from 1 to 65535".to_owned()),
            Ok(port) => Some(port),
        },
    };
    let Some(port) = port.or_else(|| wire.default_port()) else {
        return Err(format!("there is no port: expected {scheme}://HOST:PORT"));
    };
    let host = host.to_ascii_lowercase();
    Ok(Address::Host { host, port })
}

/// Decodes `%XX`. `None` if two hexadecimal digits are missing.
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
