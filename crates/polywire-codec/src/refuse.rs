//! What all readers refuse in the same way.

use polywire_schema::{Body, Error, ErrorKind, LimitKind, Limits};
use polywire_text::utf8;

/// Sees to it that a message is not longer than the limit. Comes before
/// everything else, so that what is too long costs nothing.
#[inline]
pub(crate) fn too_long(len: usize, limits: &Limits, format: &'static str) -> Result<(), Error> {
    if len <= limits.bytes() {
        return Ok(());
    }
    let kind = ErrorKind::Limit(LimitKind::Bytes(limits.bytes()));
    Err(Error::new(kind).in_format(format))
}

/// The text of a body, in formats whose messages are text as a whole.
pub(crate) fn text<'de>(
    body: &'de Body,
    limits: &Limits,
    format: &'static str,
) -> Result<&'de str, Error> {
    too_long(body.as_bytes().len(), limits, format)?;
    utf8::validate(body.as_bytes()).map_err(|malformed| {
        Error::malformed(ErrorKind::Characters, malformed, 0).in_format(format)
    })
}

/// The error of an end without a beginning, or the other way round, for writers:
/// a bug of a hand-written `Encode`, which must not pass for a message.
#[cold]
pub(crate) fn unbalanced(format: &'static str) -> Error {
    Error::new(ErrorKind::Internal)
        .in_format(format)
        .expected("as many ends as beginnings of structures, lists and maps")
}
