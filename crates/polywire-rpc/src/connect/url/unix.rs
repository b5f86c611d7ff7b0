//! URLs of Unix sockets.
//!
//! They contain two paths, that of the socket and that of the request, and no standard says how. These spellings are
//! accepted:
//!
//! | spelling | used by | socket | path |
//! |---|---|---|---|
//! | `http+unix://%2Frun%2Fs.sock/RPC2` | Python's requests, Docker's tools | `/run/s.sock` | `/RPC2` |
//! | `http+unix:///run/s.sock:/RPC2` | nginx, got | `/run/s.sock` | `/RPC2` |
//! | `http+unix:///run/s.sock/RPC2` | command lines | `/run/s.sock` | `/RPC2` |
//! | `http+unix:///run/s` | supervisor's `unix:///run/s` | `/run/s` | none |
//!
//! Without `%2F` and `:/`, the path of the socket ends with the first segment that ends in `.sock` or `.socket`. Without
//! such a segment, the whole path is that of the socket. Only the text decides, never the file system.

use std::path::{Path, PathBuf};

use super::{Address, NO_USER, ServerUrl, UrlError, percent_decoded};

/// Splits what follows `scheme://` into the path of the socket and that of requests. The latter is empty if the URL has
/// none.
pub(super) fn parse(scheme: &str, host: &str, path: &str) -> Result<(PathBuf, String), String> {
    let (socket, target) = if host.is_empty() {
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
        return Err("the path of a socket cannot contain NUL".to_owned());
    }
    let socket = String::from_utf8(socket).map_err(|_| "the path of the socket is not UTF-8")?;
    Ok((Path::new(&socket).to_owned(), target))
}

/// Splits a path without percent-encoded slashes behind the socket.
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

/// Splits a URL into the URL of the server and the path and query of requests, for protocols that post to one path, such
/// as XML-RPC.
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
/// The URL is not valid for a client of HTTP, or it contains a user.
pub fn split(url: &str) -> Result<(String, Option<String>), UrlError> {
    let parsed = ServerUrl::for_http(url)?;
    if parsed.credentials.is_some() {
        return Err(UrlError::new(url, NO_USER));
    }
    let scheme = url.split("://").next().unwrap_or_default();
    let server = match &parsed.address {
        Address::Unix(path) => {
            let path = path.to_string_lossy();
            let encoded = path.bytes().map(|byte| match byte {
                b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
                _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                _ => format!("%{byte:02X}"),
            });
            format!("{scheme}://{}", encoded.collect::<String>())
        }
        _ => format!("{scheme}://{}", parsed.authority),
    };
    Ok((server, parsed.target.map(|target| target.to_string())))
}

/// The path of the Unix socket in a URL without a request path, for a server that listens there.
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
/// The URL is not that of a Unix socket, or it has a request path or a user.
pub fn socket_path(url: &str) -> Result<PathBuf, UrlError> {
    match ServerUrl::for_http(url)? {
        ServerUrl {
            address: Address::Unix(path),
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
