//! Why a connection is no more.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::connect::TransportError;

/// Why a connection has ended, or could not be made: words for people, which it is as a `str`, and
/// the error of the system behind them, where there is one. Clones are one.
///
/// ```
/// use polywire_rpc::frames::{CallError, Client};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let nobody = "tcp://127.0.0.1:1";
/// let client = Client::builder().endpoint(nobody).fail_fast(true).build()?;
/// let Err(CallError::Disconnected { why, .. }) = client.call_bytes("Add", b"").await else {
///     return Err("somebody is there".into());
/// };
/// assert!(!why.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Cause(Arc<Inner>);

struct Inner {
    words: Box<str>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Cause {
    /// An error and its own words.
    pub(super) fn of(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            words: error.to_string().into(),
            source: Some(Box::new(error)),
        }))
    }

    /// The error behind it.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.0.source.as_deref()?;
        Some(source)
    }
}

impl From<TransportError> for Cause {
    fn from(error: TransportError) -> Self {
        Self(Arc::new(Inner {
            words: error.text_without_url().into(),
            source: Some(Box::new(error)),
        }))
    }
}

impl From<&str> for Cause {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl From<String> for Cause {
    fn from(words: String) -> Self {
        Self(Arc::new(Inner {
            words: words.into(),
            source: None,
        }))
    }
}

impl Deref for Cause {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.words
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
