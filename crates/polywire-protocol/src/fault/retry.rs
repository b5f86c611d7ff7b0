//! Whether a failed call can be retried.

use http::StatusCode;

use super::{Fault, FaultKind};

/// The names of AWS errors that mean that the caller sends too many requests.
const THROTTLING: [&str; 14] = [
    "BandwidthLimitExceeded",
    "EC2ThrottledException",
    "LimitExceededException",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionInProgressException",
];

/// Whether the same call can be retried.
///
/// <https://smithy.io/2.0/spec/behavior-traits.html#retryable-trait>
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Retry {
    /// A retry would fail again.
    No,
    /// A retry can succeed.
    Yes,
    /// A retry can succeed after a delay, because the caller sends too many requests.
    Throttled,
}

impl Fault {
    /// Returns whether the same call can be retried: `@retryable` of a modelled error, or else a
    /// default for the kind, the name and the status: errors that AWS uses for throttling and the status 429 are
    /// [`Retry::Throttled`], and other errors of servers, such as 503, are [`Retry::Yes`].
    ///
    /// ```
    /// use polywire_protocol::{Fault, FaultKind, Retry};
    ///
    /// let fault = Fault::new(FaultKind::Overloaded, "try again");
    /// assert_eq!(fault.retry(), Retry::Throttled);
    /// assert_eq!(Fault::new(FaultKind::Invalid, "no").retry(), Retry::No);
    /// ```
    #[must_use]
    pub fn retry(&self) -> Retry {
        if let Some(retry) = self.0.retry {
            return retry;
        }
        if THROTTLING.contains(&self.name()) {
            return Retry::Throttled;
        }
        match self.0.kind {
            // A service that is not available has not limited this caller.
            FaultKind::Overloaded
                if self.own_status() == Some(StatusCode::SERVICE_UNAVAILABLE)
                    && self.name() != FaultKind::Overloaded.name() =>
            {
                Retry::Yes
            }
            FaultKind::Overloaded => Retry::Throttled,
            FaultKind::DeadlineExceeded | FaultKind::Internal | FaultKind::RequestTimeout => {
                Retry::Yes
            }
            FaultKind::Named => match self.status() {
                StatusCode::TOO_MANY_REQUESTS => Retry::Throttled,
                status if status.is_server_error() => Retry::Yes,
                _ => Retry::No,
            },
            _ => Retry::No,
        }
    }
}
