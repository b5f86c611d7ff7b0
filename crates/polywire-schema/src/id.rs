//! Shape identifiers: `namespace#Name` and `namespace#Name$member`.
//!
//! An id is cheap to clone: it is a shared or static string. It implements `Borrow<str>`, because
//! its equality, order and hash are those of the text. So maps with id keys support lookups by
//! `&str`.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::error::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

/// The absolute id of a shape, or of a member of a shape.
///
/// # Examples
///
/// ```
/// use polywire_schema::ShapeId;
///
/// let id: ShapeId = "example.weather#City$name".parse().unwrap();
/// assert_eq!(id.namespace(), "example.weather");
/// assert_eq!(id.name(), "City");
/// assert_eq!(id.member(), Some("name"));
/// assert_eq!(id.root(), "example.weather#City");
///
/// static UNIT: ShapeId = ShapeId::from_static("smithy.api#Unit");
/// assert_eq!(UNIT.as_str(), "smithy.api#Unit");
/// ```
#[derive(Clone)]
pub struct ShapeId {
    text: Text,
    /// Offset of the `#`: `0 < hash < name_end <= text.len()`.
    hash: u32,
    /// Offset of the `$`, or the length of the text when there is no member.
    name_end: u32,
}

#[derive(Clone)]
enum Text {
    Shared(Arc<str>),
    Static(&'static str),
}

/// The maximum length of an id, in bytes. Real ids are shorter than 200 bytes. The limit bounds the
/// offsets and the cost of hostile models.
const MAX_LENGTH: usize = 65_535;

impl ShapeId {
    /// Creates an id from a static string.
    ///
    /// # Panics
    ///
    /// Panics if the text is not an absolute shape id. In a `static` or `const` this is a compile
    /// error.
    #[must_use]
    pub const fn from_static(text: &'static str) -> Self {
        match scan(text.as_bytes()) {
            Some((hash, name_end)) => Self {
                text: Text::Static(text),
                hash,
                name_end,
            },
            None => panic!("not an absolute shape id"),
        }
    }

    /// Parses an absolute id.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not `namespace#Name` or `namespace#Name$member` with valid
    /// identifiers, or is longer than 65,535 bytes.
    pub fn parse(text: &str) -> Result<Self, ShapeIdError> {
        match scan(text.as_bytes()) {
            Some((hash, name_end)) => Ok(Self {
                text: Text::Shared(Arc::from(text)),
                hash,
                name_end,
            }),
            None => Err(ShapeIdError::new(text)),
        }
    }

    /// Creates an id from a namespace and a shape name.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`parse`](Self::parse).
    pub fn from_parts(namespace: &str, name: &str) -> Result<Self, ShapeIdError> {
        Self::parse(&format!("{namespace}#{name}"))
    }

    /// Creates the id of a member of this shape. If this id has a member, replaces it.
    ///
    /// # Errors
    ///
    /// Returns an error if the member name is not an identifier.
    pub fn with_member(&self, member: &str) -> Result<Self, ShapeIdError> {
        let root = self.root_str();
        let mut text = String::with_capacity(root.len() + 1 + member.len());
        text.push_str(root);
        text.push('$');
        text.push_str(member);
        if !is_identifier(member) || text.len() > MAX_LENGTH {
            return Err(ShapeIdError::new(&text));
        }
        Ok(Self {
            text: Text::Shared(Arc::from(text)),
            hash: self.hash,
            name_end: self.name_end,
        })
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.text {
            Text::Shared(text) => text,
            Text::Static(text) => text,
        }
    }

    /// Returns the part before the `#`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.as_str()[..self.hash as usize]
    }

    /// Returns the name of the shape, without namespace and member.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.as_str()[self.hash as usize + 1..self.name_end as usize]
    }

    /// Returns the name of the member, if this is the id of a member.
    #[must_use]
    pub fn member(&self) -> Option<&str> {
        self.as_str().get(self.name_end as usize + 1..)
    }

    /// Returns whether this is the id of a member.
    #[must_use]
    pub fn is_member(&self) -> bool {
        self.name_end as usize != self.as_str().len()
    }

    /// Returns the id of the shape that contains the member. For a shape, returns the id itself.
    #[must_use]
    pub fn root(&self) -> Self {
        if !self.is_member() {
            return self.clone();
        }
        let text = match &self.text {
            Text::Shared(_) => Text::Shared(Arc::from(self.root_str())),
            Text::Static(text) => Text::Static(&text[..self.name_end as usize]),
        };
        Self {
            text,
            hash: self.hash,
            name_end: self.name_end,
        }
    }

    /// Returns the text of [`root`](Self::root), without creating an id.
    #[must_use]
    pub fn root_str(&self) -> &str {
        &self.as_str()[..self.name_end as usize]
    }
}

/// Returns whether the text is a Smithy identifier: letters, digits and underscores. The first
/// character must not be a digit. There must be at least one letter or digit.
#[must_use]
pub const fn is_identifier(text: &str) -> bool {
    identifier_end(text.as_bytes(), 0) == text.len() && !text.is_empty()
}

/// Returns whether the text is a namespace: identifiers separated by dots.
#[must_use]
pub const fn is_namespace(text: &str) -> bool {
    namespace_end(text.as_bytes()) == text.len() && !text.is_empty()
}

/// The error for a text that is not a shape id.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ShapeIdError {
    text: String,
}

impl ShapeIdError {
    #[cold]
    fn new(text: &str) -> Self {
        // Truncated, because the text can be large.
        Self {
            text: text.chars().take(200).collect(),
        }
    }
}

impl fmt::Display for ShapeIdError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "`{}` is not a shape id: expected `namespace#Name` or `namespace#Name$member`",
            self.text
        )
    }
}

impl Error for ShapeIdError {}

/// Returns the offsets of `#` and `$`. Without `$`, the second offset is the length of the text.
///
/// ```text
/// ShapeId    = Namespace "#" Identifier ["$" Identifier]
/// Namespace  = Identifier *("." Identifier)
/// Identifier = (ALPHA / 1*"_" (ALPHA / DIGIT)) *(ALPHA / DIGIT / "_")
/// ```
const fn scan(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.len() > MAX_LENGTH {
        return None;
    }
    let hash = namespace_end(bytes);
    if hash == 0 || hash >= bytes.len() || bytes[hash] != b'#' {
        return None;
    }
    let name_end = identifier_end(bytes, hash + 1);
    if name_end == hash + 1 {
        return None;
    }
    if name_end < bytes.len() {
        if bytes[name_end] != b'$' {
            return None;
        }
        let member_end = identifier_end(bytes, name_end + 1);
        if member_end == name_end + 1 || member_end != bytes.len() {
            return None;
        }
    }
    // Both fit, because the length is at most `MAX_LENGTH`.
    Some((hash as u32, name_end as u32))
}

/// Returns the end of the namespace at the start of the text, or 0 if there is none.
const fn namespace_end(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let end = identifier_end(bytes, at);
        if end == at {
            return 0;
        }
        if end < bytes.len() && bytes[end] == b'.' {
            at = end + 1;
        } else {
            return end;
        }
    }
}

/// Returns the end of the identifier that starts at `start`, or `start` if there is none.
const fn identifier_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() && bytes[at] == b'_' {
        at += 1;
    }
    if at >= bytes.len() {
        return start;
    }
    let first = bytes[at];
    if !(first.is_ascii_alphabetic() || (first.is_ascii_digit() && at > start)) {
        return start;
    }
    while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
        at += 1;
    }
    at
}

impl FromStr for ShapeId {
    type Err = ShapeIdError;

    fn from_str(text: &str) -> Result<Self, ShapeIdError> {
        Self::parse(text)
    }
}

impl TryFrom<&str> for ShapeId {
    type Error = ShapeIdError;

    fn try_from(text: &str) -> Result<Self, ShapeIdError> {
        Self::parse(text)
    }
}

impl AsRef<str> for ShapeId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// Lets functions that take a `&str` accept an id.
impl Deref for ShapeId {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for ShapeId {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for ShapeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ShapeId({})", self.as_str())
    }
}

impl fmt::Display for ShapeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl PartialEq for ShapeId {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl PartialEq<str> for ShapeId {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for ShapeId {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Eq for ShapeId {}

impl Ord for ShapeId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for ShapeId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for ShapeId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn parts_of_an_id() {
        let id = ShapeId::parse("a.b#C$d").unwrap();
        assert_eq!(
            (id.namespace(), id.name(), id.member()),
            ("a.b", "C", Some("d"))
        );
        assert_eq!(id.root(), "a.b#C");
        assert_eq!(id.with_member("e").unwrap(), "a.b#C$e");
        let root = ShapeId::from_static("a.b#C");
        assert_eq!((root.member(), root.is_member()), (None, false));
        assert_eq!(root.with_member("d").unwrap(), id);
        assert_eq!(ShapeId::from_static("a#B$c").root(), "a#B");
    }

    #[test]
    fn malformed_ids_are_rejected() {
        for text in [
            "", "#", "a", "a#", "#b", "a#b$", "a#b$c$d", "a..b#c", ".a#b", "a.#b", "1a#b", "a#1b",
            "a#_", "a b#c", "a#b c", "a#b.c", "ä#b", "a#b#c", "a$b#c",
        ] {
            assert!(ShapeId::parse(text).is_err(), "{text}");
        }
        for text in ["a#b", "_a._1#__b9$_c", "aws.protocols#restJson1"] {
            assert!(ShapeId::parse(text).is_ok(), "{text}");
        }
        assert!(ShapeId::parse(&format!("a#{}", "b".repeat(70_000))).is_err());
    }

    #[test]
    fn maps_look_up_by_text() {
        let map = HashMap::from([(ShapeId::from_static("a#B"), 1)]);
        assert_eq!(map.get("a#B"), Some(&1));
    }
}
