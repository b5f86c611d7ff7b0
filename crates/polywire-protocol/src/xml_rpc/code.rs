//! Fault codes of XML-RPC.

use polywire_codec::xmlrpc::code;

use crate::{Fault, FaultKind};

/// Returns the code of a fault that is not a modelled error: its own, or that of the
/// [interoperability specification](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php)
/// for its kind.
///
/// ```
/// use polywire_protocol::{Fault, FaultKind, fault_code};
///
/// assert_eq!(fault_code(&Fault::new(FaultKind::UnknownOperation, "no method `x`")), -32601);
/// assert_eq!(fault_code(&Fault::coded(7, "division by zero")), 7);
/// ```
#[must_use]
pub fn fault_code(fault: &Fault) -> i64 {
    match fault.kind() {
        FaultKind::Modelled => code::APPLICATION_ERROR,
        kind => fault.code().unwrap_or_else(|| code_of(kind, fault)),
    }
}

/// Creates a fault from a code and a message. Codes from -32768 to -32000 have the kinds of the
/// [interoperability specification](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php).
/// Other codes belong to the application: [`Fault::coded`].
///
/// ```
/// use polywire_protocol::{FaultKind, fault_of_code};
///
/// assert_eq!(fault_of_code(-32601, "no method `x`").kind(), FaultKind::UnknownOperation);
/// assert_eq!(fault_of_code(7, "division by zero").kind(), FaultKind::Named);
/// ```
#[must_use]
pub fn fault_of_code(code: i64, message: impl Into<String>) -> Fault {
    match code {
        -32_768..=-32_000 => Fault::new(kind_of_code(code), message).with_code(code),
        _ => Fault::coded(code, message),
    }
}

/// Returns the code of the interoperability specification for a fault.
fn code_of(kind: FaultKind, fault: &Fault) -> i64 {
    match kind {
        FaultKind::Malformed => match fault.decode_error() {
            Some(error) => code::of(error),
            // The source is not a decoding error, so it is an error of the transport.
            None if std::error::Error::source(fault).is_some() => code::TRANSPORT_ERROR,
            None => code::INVALID_PARAMETERS,
        },
        FaultKind::Invalid => code::INVALID_PARAMETERS,
        FaultKind::RequestTimeout => code::TRANSPORT_ERROR,
        FaultKind::UnknownOperation => code::METHOD_NOT_FOUND,
        FaultKind::Named => code::APPLICATION_ERROR,
        FaultKind::Internal | FaultKind::Modelled => code::INTERNAL_ERROR,
        FaultKind::Overloaded | FaultKind::DeadlineExceeded => code::SYSTEM_ERROR,
        _ => code::INVALID_REQUEST,
    }
}

pub(super) fn kind_of_code(code: i64) -> FaultKind {
    match code {
        code::NOT_WELL_FORMED
        | code::INVALID_CHARACTER
        | code::INVALID_REQUEST
        | code::TRANSPORT_ERROR => FaultKind::Malformed,
        code::METHOD_NOT_FOUND => FaultKind::UnknownOperation,
        code::INVALID_PARAMETERS => FaultKind::Invalid,
        code::SYSTEM_ERROR => FaultKind::Overloaded,
        _ => FaultKind::Internal,
    }
}
