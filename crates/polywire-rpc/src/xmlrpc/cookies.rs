//! Cookies of one server: RFC 6265, as far as one server needs it.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use cookie::Cookie;
use cookie::time::OffsetDateTime;
use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Uri};

/// How many cookies a server may set.
const MOST: usize = 64;
/// How long a name and its value may be together.
const LONGEST: usize = 4096;

/// What a server has set. A client has one server, and nothing is ever sent to another.
#[derive(Default)]
pub(super) struct Jar(Mutex<Vec<StoredCookie>>);

struct StoredCookie {
    name: String,
    value: String,
    path: String,
    secure: bool,
    expires: Option<OffsetDateTime>,
}

impl Jar {
    /// Keeps what an answer sets, and forgets what it takes back.
    pub(super) fn read(&self, uri: &Uri, headers: &HeaderMap) {
        let now = OffsetDateTime::now_utc();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for value in headers.get_all(SET_COOKIE) {
            let Some(new) = value.to_str().ok().and_then(|text| read(uri, text, now)) else {
                continue;
            };
            kept.retain(|own| (&own.name, &own.path) != (&new.name, &new.path));
            if new.expires.is_none_or(|at| at > now) && kept.len() < MOST {
                kept.push(new);
            }
        }
    }

    /// Adds the cookies of a path to a request.
    pub(super) fn write(&self, uri: &Uri, headers: &mut HeaderMap) {
        let now = OffsetDateTime::now_utc();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|own| own.expires.is_none_or(|at| at > now));
        let secure = uri.scheme_str() == Some("https");
        let mut fitting: Vec<&StoredCookie> = kept
            .iter()
            .filter(|own| (secure || !own.secure) && is_below(uri.path(), &own.path))
            .collect();
        fitting.sort_by_key(|own| std::cmp::Reverse(own.path.len()));
        let pairs: Vec<String> = fitting
            .iter()
            .map(|own| format!("{}={}", own.name, own.value))
            .collect();
        if let Ok(mut value) = HeaderValue::try_from(pairs.join("; "))
            && !pairs.is_empty()
        {
            value.set_sensitive(true);
            headers.insert(COOKIE, value);
        }
    }
}

impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jar(..)")
    }
}

fn read(uri: &Uri, text: &str, now: OffsetDateTime) -> Option<StoredCookie> {
    if text.len() > LONGEST {
        return None;
    }
    let cookie = Cookie::parse(text.to_owned()).ok()?;
    // One for a domain is for this host too, if the host is in it; else it is not ours.
    if let Some(domain) = cookie.domain() {
        let domain = domain.trim_start_matches('.').to_ascii_lowercase();
        let host = uri.host()?.to_ascii_lowercase();
        let above = host.strip_suffix(&domain)?;
        if !(above.is_empty() || above.ends_with('.')) {
            return None;
        }
    }
    let secure = cookie.secure().unwrap_or(false);
    if secure && uri.scheme_str() != Some("https") {
        return None;
    }
    let expires = match cookie.max_age() {
        Some(age) if !age.is_positive() => Some(now),
        // What no clock can tell has no end.
        Some(age) => now.checked_add(age),
        None => cookie.expires_datetime(),
    };
    let path = match cookie.path() {
        Some(path) if path.starts_with('/') => path,
        _ => match uri.path().rfind('/') {
            None | Some(0) => "/",
            Some(at) => &uri.path()[..at],
        },
    };
    Some(StoredCookie {
        name: cookie.name().to_owned(),
        value: cookie.value().to_owned(),
        path: path.to_owned(),
        secure,
        expires,
    })
}

fn is_below(path: &str, above: &str) -> bool {
    match path.strip_prefix(above) {
        Some(rest) => rest.is_empty() || above.ends_with('/') || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(jar: &Jar, url: &str) -> String {
        let mut headers = HeaderMap::new();
        jar.write(&url.parse().unwrap(), &mut headers);
        let value = headers.get(COOKIE);
        value.map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    }

    fn set(jar: &Jar, url: &str, cookies: &[&'static str]) {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(SET_COOKIE, HeaderValue::from_static(cookie));
        }
        jar.read(&url.parse().unwrap(), &headers);
    }

    #[test]
    fn cookies_are_sent_to_their_domain_and_path() {
        let jar = Jar::default();
        set(
            &jar,
            "http://a.example/x/RPC2",
            &[
                "one=1; Path=/; HttpOnly",
                "two=2",
                "three=3; Domain=example",
                "four=4; Domain=evil.example",
                "five=5; Domain=le",
                "six=6; Secure",
                "seven=7; Max-Age=0",
                "eight=8; Expires=Sun, 06 Nov 1994 08:49:37 GMT",
                "nine",
            ],
        );
        assert_eq!(
            sent(&jar, "http://a.example/x/RPC2"),
            "two=2; three=3; one=1"
        );
        assert_eq!(sent(&jar, "http://a.example/xy"), "one=1");
        set(&jar, "http://a.example/", &["one=; Max-Age=-1; Path=/"]);
        assert_eq!(sent(&jar, "http://a.example/"), "");
        set(&jar, "https://a.example/", &["s=1; Secure"]);
        assert_eq!(sent(&jar, "http://a.example/"), "");
        assert_eq!(sent(&jar, "https://a.example/"), "s=1");
        assert!(!format!("{jar:?}").contains("s="));
        let jar = Jar::default();
        // The largest `i64`, and a larger number.
        for age in ["9223372036854775807", "99999999999999999999999"] {
            let url = "http://b.example/";
            let set_to = |age| {
                let value = HeaderValue::try_from(format!("long=1; Max-Age={age}")).unwrap();
                let headers = HeaderMap::from_iter([(SET_COOKIE, value)]);
                jar.read(&url.parse().unwrap(), &headers);
            };
            set_to(age.to_owned());
            assert_eq!(sent(&jar, url), "long=1", "{age}");
            set_to(format!("-{age}"));
            assert_eq!(sent(&jar, url), "", "{age}");
        }
    }

    #[test]
    fn stored_cookies_are_bounded() {
        let jar = Jar::default();
        for number in 0..1000 {
            let value = HeaderValue::try_from(format!("c{number}=1")).unwrap();
            let headers = HeaderMap::from_iter([(SET_COOKIE, value)]);
            jar.read(&"http://h/".parse().unwrap(), &headers);
        }
        assert_eq!(jar.0.lock().unwrap().len(), MOST);
    }
}
