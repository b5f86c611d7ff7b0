//! Why there was no answer.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The step of a call that failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Looking up the host.
    Resolve,
    /// Connecting to the server, or to its proxy.
    Connect,
    /// Opening a tunnel through the proxy.
    Proxy,
    /// The TLS handshake, which checks the certificate of the server.
    Tls,
    /// The exchange of hellos of the framed protocol.
    Handshake,
    /// Sending the request.
    Write,
    /// Reading the response.
    Read,
}

impl Step {
    /// The step in words, and the preposition before the address.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Resolve => ("resolving", ""),
            Self::Connect => ("connecting", " to"),
            Self::Proxy => ("the proxy", ""),
            Self::Tls => ("TLS", " with"),
            Self::Handshake => ("the handshake", " with"),
            Self::Write => ("sending", " to"),
            Self::Read => ("reading", " from"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, preposition) = self.words();
        write!(f, "{words}{preposition}")
    }
}

/// A failure below the protocol: which URL, which step, which address, and why.
///
/// It names no user, no password and no query of the URL. Cloning counts up.
#[derive(Clone)]
pub struct TransportError(Arc<Inner>);

struct Inner {
    url: String,
    step: Step,
    address: String,
    reason: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
    timeout: Option<Duration>,
    deadline: bool,
    refused: bool,
    stale: bool,
    untrusted: bool,
    response_invalid: bool,
}

impl TransportError {
    #[cold]
    pub(crate) fn new(url: &str, step: Step) -> Self {
        Self(Arc::new(Inner {
            url: url.to_owned(),
            step,
            address: String::new(),
            reason: None,
            source: None,
            timeout: None,
            deadline: false,
            refused: false,
            stale: false,
            untrusted: false,
            response_invalid: false,
        }))
    }

    /// Changes an error that was just created and is not shared.
    fn with(mut self, add: impl FnOnce(&mut Inner)) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            add(inner);
        }
        self
    }

    /// From or to where.
    pub(crate) fn at(self, address: impl Into<String>) -> Self {
        self.with(|inner| inner.address = address.into())
    }

    /// In words, where nothing else says it, or where it helps to say more.
    pub(crate) fn because(self, reason: impl Into<String>) -> Self {
        self.with(|inner| inner.reason = Some(reason.into()))
    }

    pub(crate) fn with_source(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let source = source.into();
        let refused = io_of(&*source)
            .is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused);
        self.with(|inner| {
            inner.refused = refused;
            inner.source = Some(source);
        })
    }

    pub(crate) fn timed_out(self, after: Duration) -> Self {
        self.with(|inner| inner.timeout = Some(after))
    }

    /// When the certificate of the server is not trusted.
    #[cfg(feature = "tls")]
    pub(crate) fn untrusted(self, untrusted: bool) -> Self {
        self.with(|inner| inner.untrusted = untrusted)
    }

    /// The response arrived, and is not a valid one.
    pub(crate) fn invalid_response(self) -> Self {
        self.with(|inner| inner.response_invalid = true)
    }

    pub(crate) fn is_response_invalid(&self) -> bool {
        self.0.response_invalid
    }

    /// When the time for all of it was over, and not only that of a step.
    pub(crate) fn past_deadline(self, after: Duration) -> Self {
        self.timed_out(after).with(|inner| inner.deadline = true)
    }

    /// On a connection that had served before, and without a byte of an answer: the
    /// server may have closed it just before the request came.
    pub(crate) fn on_stale_connection(self, stale: bool) -> Self {
        self.with(|inner| inner.stale = stale)
    }

    /// What was being done.
    #[must_use]
    pub fn step(&self) -> Step {
        self.0.step
    }

    /// The URL of the server, without user, password and query.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Where it connected to, or tried to: addresses with ports, or the path of a Unix
    /// socket. Empty if it was not known yet.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.0.address
    }

    /// Whether it took too long.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.0.timeout.is_some()
    }

    /// Whether the time for the whole call was over, and not only that for connecting.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        self.0.deadline
    }

    /// Whether the connection was refused.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.0.refused
    }

    /// Whether no authority that is trusted here signed the server's certificate. It is false for
    /// a certificate that is expired, of another host, or not one of those that were pinned.
    #[must_use]
    pub fn is_untrusted(&self) -> bool {
        self.0.untrusted
    }

    /// Whether not a byte of the request can have reached the server.
    #[must_use]
    pub fn is_before_request(&self) -> bool {
        !matches!(self.0.step, Step::Write | Step::Read)
    }

    /// The text with all causes, for an error that shows the URL itself.
    pub(crate) fn text_without_url(&self) -> String {
        struct Text<'a>(&'a TransportError);

        impl fmt::Display for Text<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_causes(f, self.0.0.to_string(), self.0.source())
            }
        }

        Text(self).to_string()
    }

    /// Whether the server closed a connection of an earlier call without a byte of an
    /// answer to this one.
    pub(crate) fn is_stale(&self) -> bool {
        self.0.stale
    }
}

/// What an input or output error is behind, if there is one.
fn io_of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e std::io::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(io) = error.downcast_ref() {
            return Some(io);
        }
        next = error.source();
    }
    None
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.url, self.0)
    }
}

impl fmt::Display for Inner {
    /// The step, the address and the reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self;
        let (words, preposition) = inner.step.words();
        f.write_str(words)?;
        if !inner.address.is_empty() {
            write!(f, "{preposition} {}", inner.address)?;
        }
        if let Some(time) = inner.timeout {
            write!(f, ": not done within {} s", time.as_secs_f64())?;
        }
        if let Some(reason) = &inner.reason {
            write!(f, ": {reason}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        f.debug_struct("TransportError")
            .field("url", &inner.url)
            .field("step", &inner.step)
            .field("address", &inner.address)
            .field("reason", &inner.reason)
            .field("timeout", &inner.timeout)
            .field("source", &inner.source)
            .finish()
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Writes an error with its causes. Leaves out causes whose text is part of what is written already.
pub(crate) fn write_chain(
    f: &mut fmt::Formatter<'_>,
    error: &(dyn Error + 'static),
) -> fmt::Result {
    write_causes(f, error.to_string(), error.source())
}

fn write_causes(
    f: &mut fmt::Formatter<'_>,
    mut text: String,
    mut source: Option<&(dyn Error + 'static)>,
) -> fmt::Result {
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = error.source();
    }
    f.write_str(&text)
}
