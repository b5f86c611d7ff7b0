//! Requests to the HTTP endpoints of providers.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};

use crate::call::CallTimeout;
use crate::connect::{ConnectOptions, ServerUrl, Transport};

type BoxError = Box<dyn Error + Send + Sync>;

/// The largest answer of a provider, in bytes. Those of real endpoints have about 2 KiB.
const MAX_ANSWER: usize = 64 * 1024;

/// The time limit and the number of attempts of a provider.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempts {
    pub(super) count: u32,
    /// Of one attempt, with connecting.
    pub(super) timeout: Duration,
}

/// The endpoint answered with a status that is not a success.
#[derive(Debug)]
pub(super) struct StatusError(pub(super) StatusCode);

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the endpoint answered with the status {}", self.0)
    }
}

impl Error for StatusError {}

/// Sends a request without a body over a connection of its own, without a proxy. Failed connections, and the statuses
/// 429 and 5xx, are tried again after a pause.
///
/// Returns the answer with any status below 500.
pub(super) async fn request(
    method: Method,
    url: &str,
    headers: &HeaderMap,
    attempts: Attempts,
) -> Result<Response<Bytes>, BoxError> {
    let mut pause = Duration::from_millis(100);
    let mut left = attempts.count.max(1);
    loop {
        left -= 1;
        let result = attempt(method.clone(), url, headers, attempts.timeout).await;
        let is_busy = |status: StatusCode| {
            status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
        };
        match result {
            Ok(answer) if !is_busy(answer.status()) => return Ok(answer),
            Ok(answer) if left == 0 => return Err(StatusError(answer.status()).into()),
            Err(error) if left == 0 => return Err(error),
            _ => tokio::time::sleep(pause).await,
        }
        pause *= 2;
    }
}

async fn attempt(
    method: Method,
    url: &str,
    headers: &HeaderMap,
    timeout: Duration,
) -> Result<Response<Bytes>, BoxError> {
    let url = ServerUrl::for_http(url)?;
    if url.credentials.is_some() {
        return Err(crate::connect::NO_USER.into());
    }
    let mut options = ConnectOptions::new();
    options.timeout = timeout;
    let uri = Uri::builder()
        .scheme(url.http_scheme())
        .authority(url.authority.clone())
        .path_and_query(url.target_or("/"))
        .build()?;
    let mut request = Request::builder()
        .method(method)
        .uri(uri)
        .body(Bytes::new())?;
    *request.headers_mut() = headers.clone();
    let transport = Transport::new(url, &options)?;
    let answer = transport.exchange(request, MAX_ANSWER, CallTimeout::start(timeout), None);
    Ok(answer.await?)
}
