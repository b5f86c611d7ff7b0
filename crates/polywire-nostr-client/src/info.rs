//! The relay information document (NIP-11).

use std::fmt;

use http::header::ACCEPT;
use http::{HeaderValue, StatusCode};
use polywire_nostr::{Error, RelayInfo};
use polywire_rpc::connect;

use crate::Relay;

/// The maximum length of a document in bytes.
const MAX_BYTES: usize = 256 << 10;

/// The error of [`Relay::fetch_info`].
#[derive(Debug)]
#[non_exhaustive]
pub enum InfoError {
    /// The relay is unreachable, does not answer in time, or sends more than 256 KiB.
    Transport(Box<dyn std::error::Error + Send + Sync>),
    /// The status of the response is not 200.
    Status(StatusCode),
    /// The body is not a relay information document, for example an HTML page.
    Invalid(Error),
}

impl fmt::Display for InfoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Status(status) => write!(f, "the relay answered {status}"),
            Self::Invalid(error) => write!(f, "not a relay information document: {error}"),
        }
    }
}

impl std::error::Error for InfoError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Transport(error) => Some(&**error),
            Self::Invalid(error) => Some(error),
            Self::Status(_) => None,
        }
    }
}

impl Relay {
    /// Fetches the relay information document (NIP-11) over a separate HTTP connection, with the
    /// headers, TLS configuration and proxy of this relay. Waits for up to
    /// [`RelayOptions::request_timeout`](crate::RelayOptions::request_timeout). Does not follow
    /// redirects.
    ///
    /// # Errors
    ///
    /// See [`InfoError`].
    pub async fn fetch_info(&self) -> Result<RelayInfo, InfoError> {
        let options = &self.shared().options;
        // `ws` becomes `http`, and `wss` becomes `https`.
        let url = format!("http{}", &self.url().as_str()["ws".len()..]);
        let mut headers = options.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static(RelayInfo::MEDIA_TYPE));
        let (tls, proxy) = (options.tls.clone(), options.proxy.clone());
        let time = options.request_timeout;
        let answer = connect::get(&url, headers, tls, proxy, MAX_BYTES, time);
        // Boxed because the future is large.
        let answer = Box::pin(answer).await.map_err(InfoError::Transport)?;
        match answer.status() {
            StatusCode::OK => RelayInfo::parse(answer.body()).map_err(InfoError::Invalid),
            status => Err(InfoError::Status(status)),
        }
    }
}
