//! Which failures can be retried.

/// What kind of failure an attempt had.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// A retry would fail again.
    Permanent,
    /// The caller sends too many requests.
    Throttling,
    /// There was no answer in time.
    Timeout,
    /// The service or the network failed; the next attempt can succeed.
    Transient,
}

/// What the model or the code of an error says about retries. `polywire_protocol::Fault::retry` has the codes that mean
/// throttling.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Modelled {
    /// The error is in the model, without `@retryable`.
    NotRetryable,
    /// `@retryable`
    Retryable,
    /// `@retryable(throttling: true)`, or a code that means throttling.
    Throttling,
}

/// Why an attempt has no response.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum TransportError {
    /// The connection could not be made, or ended.
    Connection,
    /// The time for connecting or for the response ended.
    Timeout,
    /// Anything else, such as a certificate that is not trusted.
    Other,
}

/// What a client knows of a failed attempt.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Outcome<'a> {
    /// The code of the error without namespace, such as `ThrottlingException`.
    pub code: Option<&'a str>,
    /// The traits of the error if it is in the model, or [`Modelled::Throttling`] if its code means that.
    pub modelled: Option<Modelled>,
    /// The HTTP status of the response.
    pub status: Option<u16>,
    /// Why there is no response.
    pub transport: Option<TransportError>,
}

/// Codes of services that have waited for the request too long.
const TRANSIENT: [&str; 3] = [
    "IDPCommunicationError",
    "RequestTimeout",
    "RequestTimeoutException",
];
const TRANSIENT_STATUSES: [u16; 4] = [500, 502, 503, 504];

impl Outcome<'_> {
    /// The kind of the failure. The model comes first, then the code, the status, and the error of the transport. The
    /// status 429 is throttling if the model does not have the error.
    ///
    /// ```
    /// use polywire_aws::retry::{Failure, Outcome};
    ///
    /// let slow = Outcome { code: Some("SlowDown"), status: Some(429), ..Outcome::default() };
    /// assert_eq!(slow.classify(), Failure::Throttling);
    /// let missing = Outcome { code: Some("NoSuchKey"), status: Some(404), ..Outcome::default() };
    /// assert_eq!(missing.classify(), Failure::Permanent);
    /// ```
    #[must_use]
    pub fn classify(&self) -> Failure {
        match self.modelled {
            Some(Modelled::Retryable) => return Failure::Transient,
            Some(Modelled::Throttling) => return Failure::Throttling,
            Some(Modelled::NotRetryable) | None => {}
        }
        if self.code.is_some_and(|code| TRANSIENT.contains(&code)) {
            return Failure::Transient;
        }
        match (self.status, self.transport) {
            (Some(429), _) if self.modelled.is_none() => Failure::Throttling,
            (Some(status), _) if TRANSIENT_STATUSES.contains(&status) => Failure::Transient,
            (_, Some(TransportError::Connection)) => Failure::Transient,
            (_, Some(TransportError::Timeout)) => Failure::Timeout,
            _ => Failure::Permanent,
        }
    }
}
