//! How results are written into a transcript.

use std::fmt::{Debug, Write as _};

use polywire_schema::Error;
use test_data::record::Transcript;

/// Writes a value, or the kind, offset, path and text of an error.
pub(crate) fn result<T: Debug>(to: &mut Transcript, label: &str, result: &Result<T, Error>) {
    match result {
        Ok(value) => writeln!(to, "{label}: {value:?}").unwrap(),
        Err(error) => writeln!(
            to,
            "{label}: {:?} at {:?} in {:?} of {:?}: {error}",
            error.kind(),
            error.offset(),
            error.path(),
            error.format(),
        )
        .unwrap(),
    }
}

/// Writes the bytes of a message, or the error.
pub(crate) fn message(to: &mut Transcript, label: &str, written: Result<Vec<u8>, Error>) {
    match written {
        Ok(bytes) => {
            write!(to, "{label}: ").unwrap();
            to.bytes(&bytes);
        }
        Err(error) => result::<()>(to, label, &Err(error)),
    }
}
