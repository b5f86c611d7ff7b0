//! Answers in gzip.

use std::convert::Infallible;
use std::future::Future;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE,
    ETAG, VARY,
};
use http::{HeaderMap, HeaderValue, Request, StatusCode, response};
use http_body::Body;
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use tower::{Layer, Service};

use crate::server::{BodyError, HttpResponse, HttpService};

/// A layer around HTTP requests that compresses answers for callers that take gzip.
///
/// Only bodies of at least 1 KiB, and of types that become shorter: text, JSON, XML,
/// forms and CBOR. What is encoded already, a part of something, or has an `ETag`
/// stays as it is.
///
/// A server has no such layer unless it is told to, for two reasons. It costs some
/// 10 ms of a processor a MiB, which pays only where the network is slow. And over
/// TLS the length of an answer that holds both a secret and something that the
/// caller chose tells of the secret when it is compressed.
#[derive(Clone, Copy, Debug)]
pub struct Gzip {
    least: usize,
}

impl Default for Gzip {
    fn default() -> Self {
        Self::new()
    }
}

impl Gzip {
    /// With the default.
    #[must_use]
    pub const fn new() -> Self {
        Self { least: 1024 }
    }

    /// Sets how many bytes a body needs to be compressed.
    #[must_use]
    pub const fn least(mut self, least: usize) -> Self {
        self.least = least;
        self
    }

    fn wants(self, head: &response::Parts, len: u64) -> bool {
        let headers = &head.headers;
        len >= self.least as u64
            && head.status != StatusCode::PARTIAL_CONTENT
            && [CONTENT_ENCODING, CONTENT_RANGE, ETAG]
                .iter()
                .all(|name| !headers.contains_key(name))
            && !tokens(headers, &CACHE_CONTROL).any(|token| token == "no-transform")
            && headers.get(CONTENT_TYPE).is_some_and(becomes_shorter)
    }
}

fn becomes_shorter(media: &HeaderValue) -> bool {
    let Ok(media) = media.to_str() else {
        return false;
    };
    let media = media.split(';').next().unwrap_or_default().trim();
    let media = media.to_ascii_lowercase();
    media.starts_with("text/")
        || ["json", "xml", "cbor", "x-www-form-urlencoded"]
            .iter()
            .any(|end| media.ends_with(end))
        || media.starts_with("application/x-amz-json")
}

/// The members of a list in headers of a name.
fn tokens<'h>(
    headers: &'h HeaderMap,
    name: &http::HeaderName,
) -> impl Iterator<Item = String> + use<'h> {
    let values = headers.get_all(name).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let tokens = values.flat_map(|value| value.split(','));
    tokens.map(|token| token.trim().to_ascii_lowercase())
}

/// Whether a caller takes gzip, RFC 9110, section 12.5.3.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let mut any = false;
    for token in tokens(headers, &ACCEPT_ENCODING) {
        let (name, rest) = token.split_once(';').unwrap_or((&token, ""));
        let quality = rest.trim().strip_prefix("q=").map(str::trim);
        let takes = quality.is_none_or(|quality| quality.parse::<f32>().is_ok_and(|q| q > 0.0));
        match name.trim() {
            "gzip" | "x-gzip" => return takes,
            "*" => any = takes,
            _ => {}
        }
    }
    any
}

fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let out = Vec::with_capacity(bytes.len() / 4);
    // Half of the time of the usual level, for a tenth more bytes.
    let mut encoder = GzEncoder::new(out, Compression::new(3));
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// More than this is compressed on a thread of its own: others wait here.
const LONG: usize = 64 * 1024;

async fn compressed(bytes: Bytes) -> (Bytes, bool) {
    let whole = bytes.clone();
    let compressed = if bytes.len() > LONG {
        let task = tokio::task::spawn_blocking(move || compress(&bytes));
        task.await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
    } else {
        compress(&bytes)
    };
    match compressed {
        Ok(shorter) if shorter.len() < whole.len() => (shorter.into(), true),
        _ => (whole, false),
    }
}

impl Layer<HttpService> for Gzip {
    type Service = Compressing;

    fn layer(&self, inner: HttpService) -> Compressing {
        Compressing { inner, gzip: *self }
    }
}

/// A service whose answers are compressed.
#[derive(Clone)]
pub struct Compressing {
    inner: HttpService,
    gzip: Gzip,
}

impl Service<Request<BoxBody<Bytes, BodyError>>> for Compressing {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<BoxBody<Bytes, BodyError>>) -> Self::Future {
        let takes = takes_gzip(request.headers());
        let answer = self.inner.call(request);
        let gzip = self.gzip;
        Box::pin(async move {
            let (mut head, body) = answer.await?.into_parts();
            let len = body.size_hint().lower();
            if !gzip.wants(&head, len) {
                return Ok(HttpResponse::from_parts(head, body));
            }
            // What a cache keeps depends on what the caller takes.
            let vary = HeaderValue::from_static("accept-encoding");
            head.headers.append(VARY, vary);
            if !takes {
                return Ok(HttpResponse::from_parts(head, body));
            }
            let Ok(body) = body.collect().await;
            let (body, shorter) = compressed(body.to_bytes()).await;
            if shorter {
                head.headers.remove(CONTENT_LENGTH);
                let gzip = HeaderValue::from_static("gzip");
                head.headers.insert(CONTENT_ENCODING, gzip);
            }
            Ok(HttpResponse::from_parts(head, Full::new(body)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_gzip() {
        for (value, takes) in [
            ("gzip", true),
            ("GZIP", true),
            ("deflate, gzip;q=0.5, br", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0, *", false),
            ("*", true),
            ("*;q=0", false),
            ("br", false),
            ("", false),
            ("gzip;q=x", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
            assert_eq!(takes_gzip(&headers), takes, "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
