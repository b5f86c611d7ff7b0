//! Proxies on the way to a server.

use std::fmt;

use http::Uri;
use http::uri::Authority;
use hyper_util::client::proxy::matcher::Matcher;

use super::url::{Address, ServerUrl, UrlError, UserInfo, Wire};

/// Proxies, by the scheme of the server.
///
/// | URL of the proxy | what the proxy does |
/// |---|---|
/// | `http://HOST:PORT` | a tunnel (`CONNECT`); for `http` servers, requests with the whole URL instead |
/// | `socks5h://HOST:PORT`, `socks5://HOST:PORT` | a connection made by the proxy; with the `h` it also looks up hosts |
///
/// A proxy is used for all URLs with a host, those of frames and WebSocket included. Unix sockets and servers in this
/// process are connected to without it. A proxy cannot forward `udp://`: such a URL is an error unless
/// [`Self::except`] excludes its host.
///
/// The URL can contain a user and a password. Errors and `Debug` do not show them.
///
/// ```
/// use polywire_rpc::connect::Proxy;
///
/// let proxy = Proxy::new("socks5h://user:secret@127.0.0.1:1080")?.except("localhost, 10.0.0.0/8");
/// assert!(!format!("{proxy:?}").contains("secret"));
/// # Ok::<(), polywire_rpc::connect::UrlError>(())
/// ```
#[derive(Clone)]
pub struct Proxy {
    http: Option<Hop>,
    https: Option<Hop>,
    except: String,
}

/// One proxy.
#[derive(Clone)]
pub(crate) struct Hop {
    pub(crate) kind: HopKind,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) credentials: Option<UserInfo>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HopKind {
    Http,
    Socks5 { local_lookup: bool },
}

impl Proxy {
    /// One proxy for all servers.
    ///
    /// # Errors
    ///
    /// The URL is none, or of a kind of proxy that is not known here.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        let hop = Hop::parse(url)?;
        Ok(Self {
            http: Some(hop.clone()),
            https: Some(hop),
            except: String::new(),
        })
    }

    /// Names servers that are connected to without a proxy, apart by commas: hosts with
    /// all below them (`example.com`), addresses, networks (`10.0.0.0/8`), or `*` for all.
    #[must_use]
    pub fn except(mut self, hosts: impl Into<String>) -> Self {
        self.except = hosts.into();
        self
    }

    /// What the environment says: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`,
    /// in small letters or large. `HTTP_PROXY` in large letters is passed over where
    /// `REQUEST_METHOD` is set: in a CGI program the caller chooses it, as a header
    /// `Proxy`. `None` if no proxy is named.
    ///
    /// # Errors
    ///
    /// One of them is no URL of a proxy.
    pub fn from_environment() -> Result<Option<Self>, UrlError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, UrlError> {
        let cgi = get("REQUEST_METHOD").is_some();
        let value = |name: &str| {
            let large = name.to_ascii_uppercase();
            let large = Some(large).filter(|large| !(cgi && large == "HTTP_PROXY"));
            let value = get(name).or_else(|| get(&large?));
            value.filter(|value| !value.trim().is_empty())
        };
        let hop = |name: &str| {
            let Some(url) = value(name).or_else(|| value("all_proxy")) else {
                return Ok(None);
            };
            // curl and others take one without a scheme.
            let url = match url.contains("://") {
                true => url,
                false => format!("http://{url}"),
            };
            Hop::parse(url.trim()).map(Some)
        };
        let (http, https) = (hop("http_proxy")?, hop("https_proxy")?);
        let except = value("no_proxy").unwrap_or_default();
        let any = http.is_some() || https.is_some();
        Ok(any.then_some(Self {
            http,
            https,
            except,
        }))
    }

    /// The proxy for a server, if there is one.
    pub(crate) fn hop(&self, url: &ServerUrl) -> Option<Hop> {
        let Address::Host { host, port } = &url.address else {
            return None;
        };
        let hop = match url.wire {
            Wire::Http { tls: false } | Wire::WebSocket { tls: false } => self.http.as_ref()?,
            // A tunnel, as for HTTPS.
            Wire::Http { tls: true }
            | Wire::WebSocket { tls: true }
            | Wire::Scgi
            | Wire::Frames { .. }
            | Wire::Datagrams => self.https.as_ref()?,
        };
        let matcher = Matcher::builder()
            .all("http://proxy.invalid")
            .no(&*self.except);
        let uri = Uri::try_from(format!("http://{host}:{port}")).ok()?;
        matcher.build().intercept(&uri).map(|_| hop.clone())
    }
}

impl Hop {
    fn parse(url: &str) -> Result<Self, UrlError> {
        let fail = |reason: &str| UrlError::new(url, reason);
        let lower = url.to_ascii_lowercase();
        let (kind, default, rest) = match lower.split_once("://").map(|(scheme, _)| scheme) {
            Some("http") => (HopKind::Http, 80, &url[4..]),
            Some("socks5") => (HopKind::Socks5 { local_lookup: true }, 1080, &url[6..]),
            Some("socks5h") => (
                HopKind::Socks5 {
                    local_lookup: false,
                },
                1080,
                &url[7..],
            ),
            Some("https") => {
                return Err(fail(
                    "proxies behind TLS are not spoken to: use http:// or socks5h://",
                ));
            }
            _ => {
                return Err(fail(
                    "expected a proxy: http://, socks5:// or socks5h://HOST:PORT",
                ));
            }
        };
        // Everything but the port is as in any other URL.
        let parsed = ServerUrl::for_http(&format!("http{rest}"))?;
        let Address::Host { host, port } = parsed.address else {
            return Err(fail("no host"));
        };
        if parsed.target.is_some_and(|target| target != "/") {
            return Err(fail("a proxy has no path"));
        }
        let named = rest.trim_end_matches('/').ends_with(&format!(":{port}"));
        let port = if named { port } else { default };
        Ok(Self {
            kind,
            host,
            port,
            credentials: parsed.credentials,
        })
    }

    /// As errors show it.
    pub(crate) fn shown(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub(crate) fn uri(&self) -> Option<Uri> {
        let authority = Authority::try_from(self.shown()).ok()?;
        let uri = Uri::builder().scheme("http").authority(authority);
        uri.path_and_query("/").build().ok()
    }
}

impl fmt::Debug for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.kind, self.shown())
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("http", &self.http)
            .field("https", &self.https)
            .field("except", &self.except)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(proxy: &Proxy, url: &str) -> Option<String> {
        let hop = proxy.hop(&ServerUrl::for_http(url).unwrap())?;
        Some(format!("{hop:?}"))
    }

    #[test]
    fn the_environment_names_proxies() {
        let read = |variables: &[(&str, &str)]| {
            let find = |name: &str| variables.iter().find(|(own, _)| *own == name);
            Proxy::from_variables(|name| find(name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(read(&[("no_proxy", "a")]).unwrap().is_none());
        assert!(read(&[("http_proxy", " ")]).unwrap().is_none());
        let proxy = read(&[
            ("HTTP_PROXY", "proxy:3128"),
            ("all_proxy", "socks5h://socks"),
            ("NO_PROXY", "intern.example, 10.0.0.0/8, [::1]"),
        ]);
        let proxy = proxy.unwrap().unwrap();
        assert_eq!(shown(&proxy, "http://a").unwrap(), "Http proxy:3128");
        assert!(shown(&proxy, "https://a").unwrap().ends_with("socks:1080"));
        assert!(shown(&proxy, "scgi://a:1").unwrap().ends_with("socks:1080"));
        assert_eq!(shown(&proxy, "http+unix:///a.sock"), None);
        let frames = ServerUrl::for_frames("tcp://a:1").unwrap();
        assert_eq!(proxy.hop(&frames).unwrap().shown(), "socks:1080");
        for passed in ["http://x.intern.example", "https://10.1.2.3:8"] {
            assert_eq!(shown(&proxy, passed), None, "{passed}");
        }
        let cgi = [("HTTP_PROXY", "evil:1"), ("REQUEST_METHOD", "POST")];
        assert!(read(&cgi).unwrap().is_none());
        let error = read(&[("http_proxy", "http://me:hunter2@:1")]).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[test]
    fn kinds_and_ports() {
        for (url, expected) in [
            ("http://h", "Http h:80"),
            ("http://h:80/", "Http h:80"),
            ("socks5://h:80", "Socks5 { local_lookup: true } h:80"),
            (
                "SOCKS5H://me:pw@[::1]",
                "Socks5 { local_lookup: false } [::1]:1080",
            ),
        ] {
            assert_eq!(format!("{:?}", Hop::parse(url).unwrap()), expected);
        }
        for url in [
            "https://h",
            "socks4://h",
            "h:80",
            "http://h/path",
            "http://",
        ] {
            assert!(Hop::parse(url).is_err(), "{url}");
        }
    }
}
