//! Codes of faults, from the [Specification for Fault Code
//! Interoperability](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php).

use polywire_schema::{Error, ErrorKind};

/// The message is not well-formed XML.
pub const NOT_WELL_FORMED: i64 = -32_700;
/// The encoding of the message is not supported.
pub const UNSUPPORTED_ENCODING: i64 = -32_701;
/// The message contains bytes that are invalid in its encoding.
pub const INVALID_CHARACTER: i64 = -32_702;
/// The message is well-formed XML but not a call, or exceeds a limit.
pub const INVALID_REQUEST: i64 = -32_600;
/// There is no such method.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// The parameters do not match those of the method.
pub const INVALID_PARAMETERS: i64 = -32_602;
/// An internal error of the server.
pub const INTERNAL_ERROR: i64 = -32_603;
/// The method failed.
pub const APPLICATION_ERROR: i64 = -32_500;
/// An error outside the method, such as a limit for calls.
pub const SYSTEM_ERROR: i64 = -32_400;
/// The message is incomplete, or did not arrive in time.
pub const TRANSPORT_ERROR: i64 = -32_300;

/// The code for an error of a decoder or encoder.
///
/// ```
/// use polywire_codec::xmlrpc::{self, code};
/// use polywire_schema::Limits;
///
/// let error = xmlrpc::read_call("<methodCall>", &Limits::DEFAULT).unwrap_err();
/// assert_eq!(code::of(&error), code::NOT_WELL_FORMED);
/// let error = xmlrpc::read_call("<html></html>", &Limits::DEFAULT).unwrap_err();
/// assert_eq!(code::of(&error), code::INVALID_REQUEST);
/// ```
#[must_use]
pub fn of(error: &Error) -> i64 {
    match error.kind() {
        ErrorKind::Encoding => UNSUPPORTED_ENCODING,
        ErrorKind::Characters => INVALID_CHARACTER,
        ErrorKind::Syntax | ErrorKind::Truncated => NOT_WELL_FORMED,
        ErrorKind::Limit(_) | ErrorKind::Structure => INVALID_REQUEST,
        ErrorKind::Internal | ErrorKind::Unwritable => INTERNAL_ERROR,
        _ => INVALID_PARAMETERS,
    }
}
