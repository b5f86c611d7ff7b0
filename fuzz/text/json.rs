//! As a JSON string and as bytes to escape.

pub(crate) fn any(_data: &[u8]) {}
