//! A call over HTTP: redirects, retries, and the check of the response.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, LOCATION, WWW_AUTHENTICATE};
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use polywire_protocol::GzipError;
use polywire_schema::Body;
use tokio::time::sleep;

use super::client::{CallSettings, Inner};
use super::error::{StatusError, beginning};
use super::{Exchange, gzip, retry};
use crate::call::CallTimeout;
use crate::connect::{ServerUrl, Step, TransportError, UrlError};
use crate::error::CallError;

/// The URL of requests to a server.
pub(super) fn uri(url: &ServerUrl, target: PathAndQuery) -> Result<Uri, UrlError> {
    let uri = Uri::builder().scheme(url.http_scheme());
    let uri = uri.authority(url.authority.clone()).path_and_query(target);
    uri.build()
        .map_err(|error| UrlError::new(url.shown(), error.to_string()))
}

/// The outcome of an attempt.
enum SendOutcome {
    /// The body of a response with status 200.
    Done(Bytes),
    /// The server redirects the call to another path of the server, with this status.
    Redirected(StatusCode, Uri),
    /// The attempt has failed.
    Failed(CallError),
}

impl Inner {
    /// Sends an encoded call, with redirects and retries, and returns the body of the response.
    pub(super) async fn send(
        &self,
        body: Bytes,
        own: &CallSettings,
        timeout: CallTimeout,
    ) -> Result<Bytes, CallError> {
        let settings = &self.settings;
        let compressed = self.compressed(&body)?;
        let (mut uri, mut redirects, mut retries) = (self.uri.clone(), 0, 0);
        loop {
            let request = self.request(&uri, &body, compressed.as_ref(), own, timeout);
            let error = match self.send_once(request, timeout).await {
                SendOutcome::Done(body) => return Ok(body),
                SendOutcome::Redirected(_, to) if redirects < settings.redirects => {
                    redirects += 1;
                    uri = to;
                    continue;
                }
                SendOutcome::Redirected(status, to) => {
                    let detail = format!(
                        "it redirects to {}, and {redirects} redirects were followed",
                        to.path()
                    );
                    return Err(self.status(status, detail, b"", None));
                }
                SendOutcome::Failed(error) => error,
            };
            if !own.idempotent || retries >= settings.retries {
                return Err(error);
            }
            let transport = error.transport();
            let pause = match error.retry_after() {
                _ if transport.is_some_and(|error| error.is_refused() || error.is_stale()) => {
                    retry::pause(retries.saturating_add(1))
                }
                Some(after) => after,
                None => return Err(error),
            };
            if !timeout.allows(pause) {
                return Err(error);
            }
            retries += 1;
            tracing::debug!(%error, retry = retries, "an idempotent call is tried again");
            sleep(pause).await;
        }
    }

    fn compressed(&self, body: &Bytes) -> Result<Option<Bytes>, CallError> {
        match self.settings.compress_from {
            Some(from) if body.len() >= from => {
                let compressed = gzip::compressed(body);
                let failed = |error| self.transport(Step::Write).with_source(error);
                Ok(Some(compressed.map_err(failed)?))
            }
            _ => Ok(None),
        }
    }

    fn request(
        &self,
        uri: &Uri,
        body: &Bytes,
        compressed: Option<&Bytes>,
        own: &CallSettings,
        timeout: CallTimeout,
    ) -> Request<Bytes> {
        let mut request = Request::new(compressed.unwrap_or(body).clone());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri.clone();
        let headers = request.headers_mut();
        headers.clone_from(&self.headers);
        if compressed.is_some() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        for (name, value) in &own.headers {
            headers.insert(name, value.clone());
        }
        if self.settings.send_deadline {
            timeout.write_header(headers);
        }
        request
    }

    fn transport(&self, step: Step) -> TransportError {
        TransportError::new(self.transport.url().shown(), step)
    }

    async fn send_once(&self, request: Request<Bytes>, timeout: CallTimeout) -> SendOutcome {
        let uri = request.uri().clone();
        let mut shown = self.settings.observer.as_ref().map(|observer| {
            let request = request.clone();
            let response = None;
            let exchange = Exchange { request, response };
            observer(&exchange);
            (observer, exchange)
        });
        let limit = self.settings.read_options.limits.bytes();
        let answer = self.transport.exchange(request, limit, timeout, None).await;
        let answer = match answer {
            Ok(answer) => self.decompress(answer, limit).await,
            Err(error) => Err(error),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return SendOutcome::Failed(error.into()),
        };
        if let Some((observer, exchange)) = &mut shown {
            exchange.response = Some(answer.clone());
            observer(exchange);
        }
        let answer = match self
            .settings
            .read_options
            .in_utf8(self.transport.url().shown(), answer)
        {
            Ok(answer) => answer,
            Err(error) => return SendOutcome::Failed(error),
        };
        if answer.status() == StatusCode::OK {
            return SendOutcome::Done(answer.into_body());
        }
        self.handle_status(&uri, answer)
    }

    /// Decompresses the body of a response.
    async fn decompress(
        &self,
        answer: Response<Bytes>,
        limit: usize,
    ) -> Result<Response<Bytes>, TransportError> {
        let coding = answer.headers().get(CONTENT_ENCODING);
        let coding = coding.map(|coding| coding.to_str().unwrap_or("?").trim());
        match coding {
            None | Some("" | "identity") => return Ok(answer),
            Some("gzip" | "x-gzip") => {}
            Some(other) => {
                let other = other.escape_debug();
                let reason = format!("the answer is compressed by `{other}`, not by gzip");
                let error = self.transport(Step::Read).invalid_response();
                return Err(error.because(reason));
            }
        }
        // RFC 9110, section 8.4.1, knows no empty gzip, but servers label answers without body so.
        if answer.body().is_empty() {
            return Ok(answer);
        }
        let (mut head, body) = answer.into_parts();
        let body = match gzip::decompressed(&body, limit).await {
            Ok(body) => Bytes::from(body),
            // The status is more useful than an error about the body.
            Err(_) if head.status != StatusCode::OK => Bytes::new(),
            Err(GzipError::Malformed(source)) => {
                let error = self.transport(Step::Read);
                return Err(error
                    .invalid_response()
                    .because("the answer is no gzip, as its head says")
                    .with_source(source));
            }
            Err(_) => return Err(crate::connect::too_large(self.transport(Step::Read), limit)),
        };
        head.headers.remove(CONTENT_ENCODING);
        head.headers.remove(CONTENT_LENGTH);
        Ok(Response::from_parts(head, body))
    }

    /// Interprets a response whose status is not 200.
    #[cold]
    fn handle_status(&self, uri: &Uri, answer: Response<Bytes>) -> SendOutcome {
        let (head, body) = answer.into_parts();
        let header = |name| {
            head.headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
        };
        let status = head.status;
        let mut detail = String::new();
        if status.is_redirection()
            && let Some(location) = header(LOCATION)
        {
            let follows = matches!(
                status,
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
            );
            match moved(uri, location) {
                Some(to) if follows && self.settings.redirects > 0 => {
                    return SendOutcome::Redirected(status, to);
                }
                _ => {
                    let to = crate::connect::without_secrets(location);
                    detail = format!(
                        "it redirects to `{}`, which is not followed; call that URL if it is right",
                        to.escape_debug()
                    );
                }
            }
        } else if status == StatusCode::UNAUTHORIZED {
            let scheme = header(WWW_AUTHENTICATE).and_then(|value| value.split(' ').next());
            detail = match self.headers.contains_key(http::header::AUTHORIZATION) {
                true => "user, password or token were not accepted".to_owned(),
                false => format!(
                    "it wants to know who calls{}",
                    scheme.map_or(String::new(), |scheme| {
                        format!(" ({})", scheme.escape_debug())
                    })
                ),
            };
        } else if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            detail = "the proxy wants to know who calls: user and password go into its URL".into();
        } else if status == StatusCode::NOT_FOUND {
            detail = format!("nothing is at the path {}", uri.path().escape_debug());
        }
        // Some servers send faults with another status.
        let after = retry::retry_after(status, &head.headers);
        let body = Body::new(body);
        if let Some(fault) = self.settings.read_options.fault(&body) {
            return SendOutcome::Failed(fault.with_retry_after(after).into());
        }
        SendOutcome::Failed(self.status(status, detail, body.as_bytes(), after))
    }

    fn status(
        &self,
        status: StatusCode,
        detail: String,
        body: &[u8],
        retry_after: Option<std::time::Duration>,
    ) -> CallError {
        CallError::status(StatusError {
            url: self.transport.url().shown().into(),
            status,
            detail,
            begins: beginning(body),
            retry_after,
        })
    }
}

/// The target of a redirect within the server. None if it leads to another server.
fn moved(from: &Uri, location: &str) -> Option<Uri> {
    let location = location.split('#').next()?;
    let to: Uri = match location {
        // Other relative references are not followed. `//host/` would be another server.
        _ if location.starts_with("//") => return None,
        _ if location.starts_with('/') => {
            let mut parts = from.clone().into_parts();
            parts.path_and_query = Some(location.parse().ok()?);
            return Uri::from_parts(parts).ok();
        }
        _ => location.parse().ok()?,
    };
    let port = |uri: &Uri| {
        let default = if uri.scheme_str() == Some("https") {
            443
        } else {
            80
        };
        uri.port_u16().unwrap_or(default)
    };
    let host = |uri: &Uri| uri.host().map(str::to_ascii_lowercase);
    let same = to.scheme() == from.scheme() && host(&to) == host(from) && port(&to) == port(from);
    let user = to.authority().is_some_and(|it| it.as_str().contains('@'));
    (same && !user).then(|| {
        let mut parts = from.clone().into_parts();
        parts.path_and_query = to.path_and_query().cloned();
        Uri::from_parts(parts).ok()
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_with_the_server() {
        let from: Uri = "http://h:8080/RPC2".parse().unwrap();
        let to = |location| moved(&from, location).map(|uri| uri.to_string());
        let within = Some("http://h:8080/x?y=1".to_owned());
        assert_eq!(to("/x?y=1"), within);
        assert_eq!(to("http://H:8080/x?y=1#z"), within);
        for other in [
            "//evil/x",
            "https://h:8080/x",
            "http://h/x",
            "http://evil:8080/x",
            "http://me@h:8080/x",
            "x",
            "",
        ] {
            assert_eq!(to(other), None, "{other}");
        }
    }
}
