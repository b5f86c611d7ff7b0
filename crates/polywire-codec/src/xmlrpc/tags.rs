//! Tags that the encoder writes, and that the decoder reads in plain form.

pub(super) const OPEN_CALL: &[u8; 45] = b"<?xml version=\"1.0\"?><methodCall><methodName>";
pub(super) const OPEN_PARAMS: &[u8; 21] = b"</methodName><params>";
pub(super) const END_CALL: &[u8; 30] = b"</param></params></methodCall>";
/// The start of a response with a result, up to the content of its value.
pub(super) const RESPONSE_TO_VALUE: &str =
    "<?xml version=\"1.0\"?><methodResponse><params><param><value>";
/// [`RESPONSE_TO_VALUE`] without the XML declaration.
pub(super) const UNDECLARED_RESPONSE_TO_VALUE: &str = RESPONSE_TO_VALUE
    .split_at("<?xml version=\"1.0\"?>".len())
    .1;
/// [`RESPONSE_TO_VALUE`] without `<value>`.
pub(super) const OPEN_RESPONSE: &[u8] = RESPONSE_TO_VALUE
    .split_at(RESPONSE_TO_VALUE.len() - "<value>".len())
    .0
    .as_bytes();
pub(super) const END_RESPONSE: &[u8; 34] = b"</param></params></methodResponse>";
pub(super) const FIRST_NAME: &[u8; 14] = b"<member><name>";
pub(super) const NEXT_NAME: &[u8; 23] = b"</member><member><name>";
/// The end tags of the last member, and of its struct.
pub(super) const END_STRUCT: &[u8; 26] = b"</member></struct></value>";
pub(super) const BEGIN_ARRAY: &[u8; 13] = b"<array><data>";
pub(super) const END_ARRAY: &[u8; 23] = b"</data></array></value>";
pub(super) const END_STRING: &[u8; 17] = b"</string></value>";
