//! Calls that web pages of others have a browser make.

use std::fmt;

use http::header::{HOST, HeaderName, ORIGIN};
use http::request;
use http::uri::Authority;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Who turns away what web pages of other origins have a browser call.
///
/// Any page can have the browser of whoever looks at it send some requests to any server that
/// the browser reaches, with the passwords and cookies that it has for that server, and without
/// asking it first: a `POST` without a body, or with one of text or of a form. So it can call
/// operations that take no body, and those of protocols that don't look at the media type, of a
/// server on loopback too. The page does not see the answer, but the call is made.
///
/// Browsers say where a request comes from, and no page can change what they say:
///
/// - `Sec-Fetch-Site` other than `same-origin` and `none` (typed, or a bookmark), or
/// - without it (in a browser from before 2023, and over plain HTTP to other machines) an
///   `Origin` that is not the host that is called.
///
/// Such a request is answered `403`, in the caller's wire, before its body is read, unless its
/// origin is [allowed](CrossOrigin::allow). Those by `GET`, `HEAD` and `OPTIONS` pass, since they
/// change nothing by their definition; but over awsQuery and ec2Query, where any operation can be
/// called by `GET`, they don't. Callers that are no browsers send neither header, and are never
/// turned away.
///
/// An answer that lets other pages read what they called, and one to the question that browsers
/// ask before other requests (`OPTIONS`), are for a layer of yours. This is no defence against a
/// page whose own name is made to resolve to the server's address: its requests are of the same
/// origin. Passwords or TLS are one.
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

/// What was to be an origin and is none.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OriginError(String);

impl fmt::Display for OriginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected an origin, SCHEME://HOST or SCHEME://HOST:PORT and nothing behind it, found \
             `{}`",
            self.0.escape_debug()
        )
    }
}

impl std::error::Error for OriginError {}

impl CrossOrigin {
    /// Pages of no other origin may call.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets pages of this origin call: `https://kettle.example`, `http://localhost:3000`.
    ///
    /// # Errors
    ///
    /// It is no origin: a path stands behind it, say. Neither is `null`, which is what browsers
    /// say of pages whose origin they do not tell.
    pub fn allow(mut self, origin: &str) -> Result<Self, OriginError> {
        let origin = normal(origin).ok_or_else(|| OriginError(origin.to_owned()))?;
        self.allowed.push(origin.into());
        Ok(self)
    }

    /// Whether a browser sends this for a page of an origin that is not allowed.
    pub(crate) fn is_foreign(&self, head: &request::Parts) -> bool {
        let headers = &head.headers;
        if let Some(site) = headers.get(SEC_FETCH_SITE) {
            let own = matches!(site.as_bytes(), b"same-origin" | b"none");
            return !own && !self.allows(head);
        }
        headers.contains_key(ORIGIN) && !is_of_host(head) && !self.allows(head)
    }

    #[cold]
    fn allows(&self, head: &request::Parts) -> bool {
        let origin = head.headers.get(ORIGIN);
        let origin = origin.and_then(|origin| origin.to_str().ok());
        origin.is_some_and(|origin| self.allowed.iter().any(|own| **own == *origin))
    }
}

/// Whether the origin is the host that is called. Its scheme is not known here: behind a proxy
/// the connection says nothing of it.
#[cold]
fn is_of_host(head: &request::Parts) -> bool {
    let origin = head.headers.get(ORIGIN).map(|origin| origin.as_bytes());
    let Some(at) = origin.and_then(|origin| origin.windows(3).position(|three| three == b"://"))
    else {
        return false;
    };
    let origin = origin.map(|origin| &origin[at + 3..]);
    // HTTP/2 has it in the target.
    let target = head.uri.authority().map(|host| host.as_str().as_bytes());
    let host = target.or_else(|| head.headers.get(HOST).map(|host| host.as_bytes()));
    origin
        .zip(host)
        .is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
}

/// An origin as browsers write it: in small letters, without the port that goes without saying.
fn normal(origin: &str) -> Option<String> {
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
    let usual = match &*scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let name = authority.host().to_ascii_lowercase();
    Some(match authority.port_u16() {
        Some(port) if Some(port) != usual => format!("{scheme}://{name}:{port}"),
        // A port that is no number, or more than there are.
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
            assert_eq!(normal(text).as_deref(), Some(origin), "{text}");
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
    fn who_is_foreign() {
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
            // It counts alone, whatever the origin is.
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
            // Browsers that do not say it.
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
