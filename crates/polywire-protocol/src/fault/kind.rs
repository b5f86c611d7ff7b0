//! Kinds of faults, and their status codes and names.

use http::StatusCode;

use crate::error_info::kind_of_status;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The call exceeded its deadline.
    DeadlineExceeded,
    /// The caller is not allowed to make this call.
    Forbidden,
    /// An error inside the server.
    Internal,
    /// A value of the input violates a constraint of the model.
    Invalid,
    /// The request could not be decoded.
    Malformed,
    /// The path exists, but not with this method.
    MethodNotAllowed,
    /// A modelled error.
    Modelled,
    /// An error with a name that the model does not define: [`Fault::named`](super::Fault::named).
    Named,
    /// The caller does not accept the media type of the response.
    NotAcceptable,
    /// The call was rejected before its handler started, because the server is overloaded.
    Overloaded,
    /// The request did not arrive in time.
    RequestTimeout,
    /// The request exceeds a size limit.
    TooLarge,
    /// The call has no credentials or invalid ones.
    Unauthenticated,
    /// The operation does not exist.
    UnknownOperation,
    /// The protocol does not use the media type of the request.
    UnsupportedMediaType,
}

impl FaultKind {
    /// Returns the HTTP status of faults of this kind. Modelled and named errors have a status of
    /// their own.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Internal | Self::Modelled | Self::Named => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Invalid | Self::Malformed => StatusCode::BAD_REQUEST,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Self::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::UnknownOperation => StatusCode::NOT_FOUND,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }

    /// Returns the name of faults of this kind in Smithy protocols.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeadlineExceeded => "DeadlineExceededException",
            Self::Forbidden => "AccessDeniedException",
            Self::Internal | Self::Modelled | Self::Named => "InternalFailureException",
            Self::Invalid => "ValidationException",
            Self::Malformed => "SerializationException",
            Self::MethodNotAllowed => "MethodNotAllowedException",
            Self::NotAcceptable => "NotAcceptableException",
            Self::Overloaded => "ServiceUnavailableException",
            Self::RequestTimeout => "RequestTimeoutException",
            Self::TooLarge => "RequestEntityTooLargeException",
            Self::Unauthenticated => "UnauthorizedException",
            Self::UnknownOperation => "UnknownOperationException",
            Self::UnsupportedMediaType => "UnsupportedMediaTypeException",
        }
    }

    /// Returns the kind with a name in Smithy protocols.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [FaultKind; 13] = [
            FaultKind::DeadlineExceeded,
            FaultKind::Forbidden,
            FaultKind::Internal,
            FaultKind::Invalid,
            FaultKind::Malformed,
            FaultKind::MethodNotAllowed,
            FaultKind::NotAcceptable,
            FaultKind::Overloaded,
            FaultKind::RequestTimeout,
            FaultKind::TooLarge,
            FaultKind::Unauthenticated,
            FaultKind::UnknownOperation,
            FaultKind::UnsupportedMediaType,
        ];
        ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the kind for a response of which only the status is known.
    ///
    /// ```
    /// use http::StatusCode;
    /// use polywire_protocol::FaultKind;
    ///
    /// let kind = FaultKind::from_status(StatusCode::TOO_MANY_REQUESTS);
    /// assert_eq!(kind, FaultKind::Overloaded);
    /// ```
    #[must_use]
    pub fn from_status(status: StatusCode) -> Self {
        kind_of_status(status, "")
    }
}
