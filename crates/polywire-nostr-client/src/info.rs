//! What a relay says about itself (NIP-11).

use std::fmt;

use http::header::ACCEPT;
use http::{HeaderValue, StatusCode};
use polywire_nostr::{Error, RelayInfo};
use polywire_rpc::connect;

use crate::Relay;

/// The bytes of a document that are read.
const MOST_BYTES: usize = 256 << 10;

/// Why there is no document.
#[derive(Debug)]
#[non_exhaustive]
pub enum InfoError {
    /// The relay cannot be reached, does not answer in time, or answers with more than 256 KiB.
    Transport(Box<dyn std::error::Error + Send + Sync>),
    /// The relay answers with another status than 200.
    Status(StatusCode),
    /// The answer is not a document, such as a page of HTML.
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
    /// Gets the relay information document (NIP-11), over an HTTP connection of its own, with the
    /// headers, TLS and proxy of this relay. Waits for
    /// [`RelayOptions::request_timeout`](crate::RelayOptions::request_timeout). Redirects are not
    /// followed.
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
        let answer = connect::get(&url, headers, tls, proxy, MOST_BYTES, time);
        // It is large, and rare.
        let answer = Box::pin(answer).await.map_err(InfoError::Transport)?;
        match answer.status() {
            StatusCode::OK => RelayInfo::parse(answer.body()).map_err(InfoError::Invalid),
            status => Err(InfoError::Status(status)),
        }
    }
}
