//! Moves the bucket of S3 requests between path and host, and accepts documents of any media type.
//!
//! The model binds the bucket to the first segment of the path. S3 and its clients prefer it as the
//! first label of the host, `Host: bucket.s3.example.com`. The requests are otherwise equal, so
//! neither the protocol nor the model distinguishes them: a client moves the bucket after it has
//! encoded a request ([`virtual_hosted`]), and a server moves it back before it routes one
//! ([`path_style`]).
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html>
//!
//! ```
//! use polywire_protocol::{HostPrefix, s3};
//!
//! let mut request = http::Request::get("/photos/2026/cat.jpg").body(())?;
//! assert!(s3::virtual_hosted(&mut request));
//! assert_eq!(request.uri(), "/2026/cat.jpg");
//! assert_eq!(request.extensions().get(), Some(&HostPrefix("photos.".to_owned())));
//!
//! let request = http::Request::get("/2026/cat.jpg").header("host", "photos.s3.example.com:80");
//! let (mut head, ()) = request.body(())?.into_parts();
//! assert!(s3::path_style(&mut head, &["s3.example.com"]));
//! assert_eq!(head.uri, "/photos/2026/cat.jpg");
//! # Ok::<(), http::Error>(())
//! ```

use http::header::HOST;
use http::{Request, Uri, request};

use crate::HostPrefix;

/// An extension of a request, for servers: the REST protocols read its body as a document whatever its `Content-Type` says,
/// and ignore its `Accept`. S3 does both, and some of its clients send documents as the media type of forms.
///
/// Without it, other media types are rejected.
///
/// ```
/// use polywire_protocol::s3::AnyMediaType;
///
/// let mut request = http::Request::put("/photos?tagging").body(())?;
/// request.extensions_mut().insert(AnyMediaType);
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AnyMediaType;

/// For clients: moves the bucket from the path of a request into a [`HostPrefix`], before an
/// existing prefix. Returns `false` without changes if the path is `/` or the bucket is not valid
/// as a host label.
///
/// A valid label consists of 3 to 63 lower-case letters, digits and hyphens, and does not start or
/// end with a hyphen. A name with dots stays in the path, because a certificate for
/// `*.s3.example.com` does not cover it.
pub fn virtual_hosted<B>(request: &mut Request<B>) -> bool {
    let target = request.uri().path_and_query();
    let Some(path) = target.and_then(|target| target.as_str().strip_prefix('/')) else {
        return false;
    };
    let end = path.find(['/', '?']).unwrap_or(path.len());
    let (bucket, rest) = path.split_at(end);
    if !is_label(bucket) {
        return false;
    }
    let Some(uri) = with_target(request.uri(), &with_slash(rest)) else {
        return false;
    };
    let mut prefix = format!("{bucket}.");
    if let Some(HostPrefix(before)) = request.extensions().get() {
        prefix.push_str(before);
    }
    *request.uri_mut() = uri;
    request.extensions_mut().insert(HostPrefix(prefix));
    true
}

/// For servers: moves the bucket from the host of a request into the path, if the host is a bucket
/// followed by one of `domains`. Returns whether the request was changed. If the host ends in
/// several domains, the longest one applies. Ports and case are ignored.
pub fn path_style(head: &mut request::Parts, domains: &[&str]) -> bool {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host.or_else(|| head.uri.host()) else {
        return false;
    };
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    // The part of the host before a domain, with the dot. Use the longest domain: `s3` is not a
    // bucket of `example.com` in `s3.example.com`.
    let before = |domain: &&str| {
        let at = host.len().checked_sub(domain.len())?;
        let (before, suffix) = host.split_at_checked(at)?;
        let is_label_boundary = before.is_empty() || before.ends_with('.');
        (is_label_boundary && suffix.eq_ignore_ascii_case(domain)).then_some(before)
    };
    let before = domains
        .iter()
        .filter_map(before)
        .min_by_key(|before| before.len());
    let bucket = before.and_then(|before| before.strip_suffix('.'));
    let Some(bucket) = bucket.map(str::to_ascii_lowercase) else {
        return false;
    };
    // Names of old buckets can contain dots and underscores.
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if bucket.is_empty() || !bucket.bytes().all(is_valid) {
        return false;
    }
    let target = head
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let Some(uri) = with_target(&head.uri, &format!("/{bucket}{target}")) else {
        return false;
    };
    head.uri = uri;
    true
}

/// Adds a slash at the start of a target, unless it has one.
fn with_slash(rest: &str) -> String {
    match rest.strip_prefix('/') {
        Some(_) => rest.to_owned(),
        None => format!("/{rest}"),
    }
}

fn with_target(uri: &Uri, target: &str) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Returns whether a bucket is valid as a host label (RFC 1123, section 2.1, and the naming rules
/// of S3).
fn is_label(bucket: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (3..=63).contains(&bucket.len())
        && bucket.bytes().all(plain)
        && !bucket.starts_with('-')
        && !bucket.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(target: &str) -> (bool, String) {
        let mut request = Request::get(target).body(()).unwrap();
        let moved = virtual_hosted(&mut request);
        (moved, request.uri().to_string())
    }

    #[test]
    fn into_the_host() {
        for (target, expected) in [
            ("/bucket", "/"),
            ("/bucket/", "/"),
            ("/bucket?list-type=2", "/?list-type=2"),
            ("/bucket//a/%20?b", "//a/%20?b"),
            ("/bucket/../a", "/../a"),
        ] {
            assert_eq!(client(target), (true, expected.to_owned()));
        }
        for target in [
            "/",
            "/?a",
            "/ab",
            "/Bucket/a",
            "/a.b.c/d",
            "/-ab/c",
            "/%41bc/d",
        ] {
            assert_eq!(client(target), (false, target.to_owned()));
        }
    }

    #[test]
    fn into_the_path() {
        let server = |host: &str, target: &str| {
            let request = Request::get(target).header(HOST, host);
            let (mut head, ()) = request.body(()).unwrap().into_parts();
            let moved = path_style(
                &mut head,
                &[
                    "example.org",
                    "s3.example.org",
                    "s3.example.com",
                    "localhost",
                ],
            );
            moved.then(|| head.uri.to_string())
        };
        let moved = |target: &str| Some(target.to_owned());
        assert_eq!(server("b.s3.example.com", "/k?v"), moved("/b/k?v"));
        assert_eq!(server("B.S3.Example.com:9000", "/"), moved("/b/"));
        assert_eq!(server("a.b.localhost:1", "//k"), moved("/a.b//k"));
        assert_eq!(server("b.example.org", "/k"), moved("/b/k"));
        assert_eq!(server("b.s3.example.org", "/k"), moved("/b/k"));
        for host in [
            "s3.example.com",
            "s3.example.org",
            "localhost:9000",
            ".localhost",
            "xlocalhost",
            "a/b.localhost",
            "example.com",
        ] {
            assert_eq!(server(host, "/k"), None, "{host}");
        }
    }
}
