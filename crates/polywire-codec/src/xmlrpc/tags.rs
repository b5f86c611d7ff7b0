//! Tags that the encoder writes, and that the decoder reads in plain form.

pub(super) const OPEN_CALL: &[u8; 45] = b"<?xml version=\"1.0\"?><methodCall><methodName>";
pub(super) const OPEN_PARAMS: &[u8; 21] = b"</methodName><params>";
pub(super) const END_CALL: &[u8; 30] = b"</param></params></methodCall>";
pub(super) const END_RESPONSE: &[u8; 34] = b"</param></params></methodResponse>";
pub(super) const FIRST_NAME: &[u8; 14] = b"<member><name>";
pub(super) const NEXT_NAME: &[u8; 23] = b"</member><member><name>";
pub(super) const END_ARRAY: &[u8; 23] = b"</data></array></value>";
pub(super) const END_STRING: &[u8; 17] = b"</string></value>";
