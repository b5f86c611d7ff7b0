//! Checks that several formats share.

use polywire_schema::{Body, Error, ErrorKind, LimitKind, Limits};
use polywire_text::utf8;

/// Checks the length of a message. Decoders call it before they read anything.
#[inline]
pub(crate) fn message_len(len: usize, limits: &Limits, format: &'static str) -> Result<(), Error> {
    if len <= limits.bytes() {
        return Ok(());
    }
    let kind = ErrorKind::Limit(LimitKind::Bytes(limits.bytes()));
    Err(Error::new(kind).in_format(format))
}

/// Checks the length and the UTF-8 of the body of a text format.
pub(crate) fn text<'de>(
    body: &'de Body,
    limits: &Limits,
    format: &'static str,
) -> Result<&'de str, Error> {
    message_len(body.as_bytes().len(), limits, format)?;
    utf8::validate(body.as_bytes()).map_err(|malformed| {
        Error::malformed(ErrorKind::Characters, malformed, 0).in_format(format)
    })
}

/// The error of an encoder for calls of `begin` and `end` that do not match, which is a bug in a
/// hand-written implementation of `Encode`.
#[cold]
pub(crate) fn unbalanced(format: &'static str) -> Error {
    Error::new(ErrorKind::Internal)
        .in_format(format)
        .expected("one end for each start of a structure, list or map")
}
