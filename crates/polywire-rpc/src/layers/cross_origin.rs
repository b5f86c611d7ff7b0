//! Protection against cross-site requests of web pages.

use http::header::{HOST, HeaderName, ORIGIN};
use http::request;
use http::uri::Authority;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Rejects requests that browsers send for web pages of other origins.
///
/// A web page can make a browser send some requests to any server that the browser reaches, including servers on
/// loopback, with the cookies and passwords for that server, and without a CORS preflight: a `POST` without a body, with
/// a text, or with a form. So it can call operations without a body, and those of protocols that ignore the content
/// type. The page cannot read the response, but the call is made.
///
/// A page cannot change the headers in which browsers send its origin. A request is rejected if
///
/// - `Sec-Fetch-Site` is neither `same-origin` nor `none` (an entered URL or a bookmark), or
/// - that header is missing (browsers before 2023, and plain HTTP to other machines), and `Origin` is not the host of
///   the request.
///
/// The response is 403 in the protocol of the client, before the body is read. Requests of an
/// [allowed](CrossOrigin::allow) origin pass. `GET`, `HEAD` and `OPTIONS` pass, because they are safe methods, except
/// over awsQuery and ec2Query, where `GET` can call any operation. Clients other than browsers send neither header and
/// always pass.
///
/// For the headers that let a page read responses, and for responses to CORS preflights, add `CorsLayer` of tower-http.
/// This does not protect against DNS rebinding, where the requests have the same origin. Passwords and TLS do.
///
/// ```
/// use polywire_rpc::ServerBuilder;
/// use polywire_rpc::layers::{CrossOrigin, OriginError};
///
/// fn protect(builder: ServerBuilder) -> Result<ServerBuilder, OriginError> {
///     let pages = CrossOrigin::new().allow("https://kettle.example")?;
///     Ok(builder.cross_origin(pages))
/// }
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CrossOrigin {
    allowed: Vec<Box<str>>,
}

/// The error of a text that is not an origin.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected an origin, SCHEME://HOST or SCHEME://HOST:PORT and nothing behind it, found `{}`", .0.escape_debug())]
pub struct OriginError(String);

impl CrossOrigin {
    /// Allows no other origin.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows pages of an origin: `https://kettle.example`, `http://localhost:3000`.
    ///
    /// # Errors
    ///
    /// The text is not an origin, for instance because it has a path. `null`, which browsers send for opaque origins, is
    /// an error too.
    pub fn allow(mut self, origin: &str) -> Result<Self, OriginError> {
        let origin = normalize(origin).ok_or_else(|| OriginError(origin.to_owned()))?;
        self.allowed.push(origin.into());
        Ok(self)
    }

    /// Whether a browser sent the request for a page of an origin that is not allowed.
    pub(crate) fn is_foreign(&self, head: &request::Parts) -> bool {
        let headers = &head.headers;
        let (mut site, mut has_origin) = (None, false);
        for (name, value) in headers {
            has_origin |= *name == ORIGIN;
            if *name == SEC_FETCH_SITE {
                site = site.or(Some(value));
            }
        }
        if let Some(site) = site {
            let own = matches!(site.as_bytes(), b"same-origin" | b"none");
            return !own && !self.allows(head);
        }
        has_origin && !is_of_host(head) && !self.allows(head)
    }

    #[cold]
    fn allows(&self, head: &request::Parts) -> bool {
        let origin = head.headers.get(ORIGIN);
        let origin = origin.and_then(|origin| origin.to_str().ok());
        origin.is_some_and(|origin| self.allowed.iter().any(|own| **own == *origin))
    }
}

/// Whether the origin is the host of the request. Ignores the scheme, which is not known behind a proxy.
#[cold]
fn is_of_host(head: &request::Parts) -> bool {
    let origin = head.headers.get(ORIGIN).map(|origin| origin.as_bytes());
    let Some(at) = origin.and_then(|origin| origin.windows(3).position(|three| three == b"://"))
    else {
        return false;
    };
    let origin = origin.map(|origin| &origin[at + 3..]);
    // In HTTP/2 the host is in the target.
    let target = head.uri.authority().map(|host| host.as_str().as_bytes());
    let host = target.or_else(|| head.headers.get(HOST).map(|host| host.as_bytes()));
    origin
        .zip(host)
        .is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
}

/// Normalizes an origin as browsers do: lower case, without the default port.
fn normalize(origin: &str) -> Option<String> {
    let (scheme, host) = origin.split_once("://")?;
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if scheme.is_empty() || !scheme.bytes().all(letters) {
        return None;
    }
    let authority: Authority = host.parse().ok()?;
    if authority.host().is_empty() || host.contains('@') {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match &*scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let name = authority.host().to_ascii_lowercase();
    Some(match authority.port_u16() {
        Some(port) if Some(port) != default_port => format!("{scheme}://{name}:{port}"),
        // The port is not a number, or too large.
        None if host.len() > authority.host().len() => return None,
        _ => format!("{scheme}://{name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins() {
        for (text, origin) in [
            ("https://kettle.example", "https://kettle.example"),
            ("HTTPS://Kettle.Example:443", "https://kettle.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("https://a:80", "https://a:80"),
            ("http://[::1]:80", "http://[::1]"),
            ("chrome-extension://abc", "chrome-extension://abc"),
        ] {
            assert_eq!(normalize(text).as_deref(), Some(origin), "{text}");
        }
        for text in [
            "null",
            "*",
            "",
            "kettle.example",
            "https://",
            "https://a/",
            "https://a?b",
            "https://me@a",
            "https://a:",
            "https://a:99999",
            "://a",
            "a b://c",
        ] {
            let error = CrossOrigin::new().allow(text).unwrap_err().to_string();
            assert!(error.contains("SCHEME://HOST"), "{error}");
        }
    }

    #[test]
    fn foreign_requests() {
        let guard = CrossOrigin::new().allow("https://app.example").unwrap();
        let is_foreign = |headers: &[(&str, &str)], target: &str| {
            let mut request = http::Request::builder().method("POST").uri(target);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let (head, ()) = request.body(()).unwrap().into_parts();
            guard.is_foreign(&head)
        };
        let site = |site| ("Sec-Fetch-Site", site);
        let origin = |origin| ("Origin", origin);
        let host = ("Host", "own.example:8080");
        for (headers, foreign) in [
            (&[host][..], false),
            (&[host, site("same-origin")], false),
            (&[host, site("none")], false),
            (&[host, site("cross-site")], true),
            (&[host, site("same-site")], true),
            (&[host, site("")], true),
            // `Sec-Fetch-Site` takes precedence over `Origin`.
            (
                &[host, site("cross-site"), origin("http://own.example:8080")],
                true,
            ),
            (
                &[host, site("same-origin"), origin("http://other.example")],
                false,
            ),
            (
                &[host, site("cross-site"), origin("https://app.example")],
                false,
            ),
            (
                &[host, site("cross-site"), origin("https://app.example:1")],
                true,
            ),
            // Browsers that do not send `Sec-Fetch-Site`.
            (&[host, origin("http://own.example:8080")], false),
            (&[host, origin("https://OWN.example:8080")], false),
            (&[host, origin("http://own.example")], true),
            (&[host, origin("https://app.example")], false),
            (&[host, origin("null")], true),
            (&[host, origin("")], true),
            (&[origin("http://own.example")], true),
        ] {
            assert_eq!(is_foreign(headers, "/"), foreign, "{headers:?}");
        }
        let over_http2 = "http://own.example/";
        assert!(!is_foreign(&[origin("http://own.example")], over_http2));
        assert!(is_foreign(&[origin("http://other.example")], over_http2));
    }
}
