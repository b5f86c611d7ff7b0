//! Failed handshakes of clients, in terms of the caller.

use rustls::{CertificateError, Error, OtherError};

use super::TlsError;

/// Advice on a failed handshake, if there is any.
pub(crate) fn advice(error: &std::io::Error) -> Option<&'static str> {
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    match error {
        Error::InvalidCertificate(reason) if is_unsigned(reason) => Some(
            "no authority that is trusted here signed the server's certificate; trust its own \
             as a root certificate, or pin it",
        ),
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => Some("the certificate is another host's"),
        Error::InvalidMessage(_) => {
            Some("the server may speak no TLS there: http instead of https?")
        }
        _ => None,
    }
}

/// Whether the handshake failed because no trusted authority signed the certificate of the server.
pub(crate) fn is_untrusted(error: &std::io::Error) -> bool {
    let own = error.get_ref().and_then(|error| error.downcast_ref());
    matches!(own, Some(Error::InvalidCertificate(reason)) if is_unsigned(reason))
}

const fn is_unsigned(reason: &CertificateError) -> bool {
    matches!(
        reason,
        CertificateError::UnknownIssuer | CertificateError::BadSignature
    )
}

/// The cause of a failed handshake. Unwraps a [`TlsError`], which rustls would print in Rust syntax.
pub(crate) fn failure(error: std::io::Error) -> Box<dyn std::error::Error + Send + Sync> {
    let own = error.get_ref().and_then(|error| error.downcast_ref());
    match own {
        Some(Error::InvalidCertificate(CertificateError::Other(OtherError(own)))) => {
            match own.downcast_ref::<TlsError>() {
                Some(own) => own.clone().into(),
                None => error.into(),
            }
        }
        _ => error.into(),
    }
}
