//! The reasons of ended connections.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::connect::TransportError;

/// The reason for the end of a connection, or for not making one: a text, and the error behind it if there is one.
/// Clones share both.
#[derive(Clone)]
pub(crate) struct Cause(Arc<Inner>);

struct Inner {
    text: Box<str>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Cause {
    /// An error with its text.
    pub(crate) fn of(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            text: error.to_string().into(),
            source: Some(Box::new(error)),
        }))
    }

    /// The error itself.
    pub(crate) fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.0.source.as_deref()?;
        Some(source)
    }
}

impl From<TransportError> for Cause {
    fn from(error: TransportError) -> Self {
        Self(Arc::new(Inner {
            text: error.text_without_url().into(),
            source: Some(Box::new(error)),
        }))
    }
}

impl From<&str> for Cause {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Cause {
    fn from(text: String) -> Self {
        Self(Arc::new(Inner {
            text: text.into(),
            source: None,
        }))
    }
}

impl Deref for Cause {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
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
