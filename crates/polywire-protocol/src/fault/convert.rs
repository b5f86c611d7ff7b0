//! Conversions of errors into faults.

use std::fmt;

use polywire_schema::{Error, ErrorKind, StreamError, StreamErrorKind};

use super::{Fault, FaultKind};

impl From<Error> for Fault {
    /// An error while decoding is caused by the sender, who gets its message. An error while
    /// encoding becomes an internal fault.
    fn from(error: Error) -> Self {
        if !error.is_sender_fault() {
            return Self::internal(error);
        }
        let kind = match error.kind() {
            ErrorKind::Limit(polywire_schema::LimitKind::Bytes(_)) => FaultKind::TooLarge,
            ErrorKind::Missing => FaultKind::Invalid,
            _ => FaultKind::Malformed,
        };
        Self::new(kind, error.message()).with_source(error)
    }
}

impl From<StreamError> for Fault {
    /// The stream of an input is broken by the sender, who gets the message. A fault that is the source of the error is
    /// returned.
    fn from(error: StreamError) -> Self {
        let source = std::error::Error::source(&error);
        if let Some(fault) = source.and_then(<dyn std::error::Error>::downcast_ref::<Self>) {
            return fault.clone();
        }
        let kind = match error.kind() {
            StreamErrorKind::TimedOut => FaultKind::RequestTimeout,
            StreamErrorKind::TooLarge => FaultKind::TooLarge,
            StreamErrorKind::AlreadyRead => FaultKind::Internal,
            _ => FaultKind::Malformed,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}

/// Implements `From` for errors of a handler, which become internal faults. Use [`Fault::coded`]
/// for errors that the caller should see.
macro_rules! internal {
    ($($error:ty)*) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::internal(error)
            }
        })*
    };
}

internal! {
    std::io::Error fmt::Error std::num::ParseIntError std::num::ParseFloatError
    std::num::TryFromIntError std::str::Utf8Error std::string::FromUtf8Error
    std::time::SystemTimeError std::sync::mpsc::RecvError
    Box<dyn std::error::Error + Send + Sync> crate::MountError
}

impl From<std::convert::Infallible> for Fault {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
