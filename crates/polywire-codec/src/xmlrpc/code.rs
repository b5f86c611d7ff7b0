//! The codes of faults.
//!
//! What the [specification for fault code
//! interoperability](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php) sets
//! aside, so that a caller can tell by the number what went wrong.

use polywire_schema::{Error, ErrorKind};

/// The message is not well formed.
pub const NOT_WELL_FORMED: i64 = -32_700;
/// The message is in an encoding that is not read.
pub const UNSUPPORTED_ENCODING: i64 = -32_701;
/// The message holds bytes that its encoding does not have.
pub const INVALID_CHARACTER: i64 = -32_702;
/// The message is well formed and no call, or beyond a limit.
pub const INVALID_REQUEST: i64 = -32_600;
/// There is no such method.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// The parameters are not those of the method.
pub const INVALID_PARAMETERS: i64 = -32_602;
/// The server failed.
pub const INTERNAL_ERROR: i64 = -32_603;
/// What the method does failed.
pub const APPLICATION_ERROR: i64 = -32_500;
/// Something around the method failed, such as a limit of calls.
pub const SYSTEM_ERROR: i64 = -32_400;
/// The message did not come whole, or not in time.
pub const TRANSPORT_ERROR: i64 = -32_300;

/// The code of what a reader or writer of messages found.
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
