//! The error of codecs and protocols.

use std::borrow::Cow;
use std::fmt;

use polywire_text::Malformed;

use crate::{Location, Member, MemberFlags, ShapeFlags, ShapeKind};

/// The error of reading or writing a message.
///
/// It has the size of a pointer, so that a `Result` with a small value fits two registers.
///
/// ```
/// use polywire_schema::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::WrongType)
///     .in_format("JSON")
///     .expected("a number")
///     .found("\"abc\"")
///     .at_offset(17)
///     .at_path("cities[3].population");
/// assert_eq!(
///     error.to_string(),
///     "JSON: wrong type: expected a number, found \"abc\", at byte 17, in cities[3].population",
/// );
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    format: &'static str,
    offset: Option<usize>,
    path: String,
    expected: Cow<'static, str>,
    found: Cow<'static, str>,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text contains bytes that are invalid in the character encoding, such as invalid UTF-8.
    Characters,
    /// A member or key occurs twice.
    Duplicate,
    /// The character encoding of the message is not supported.
    Encoding,
    /// A bug in Polywire, or a type that does not match its schema.
    Internal,
    /// A value has the right type but is invalid, such as a number out of range, a malformed
    /// timestamp or malformed base64.
    InvalidValue,
    /// The message exceeds a limit.
    Limit(LimitKind),
    /// A required member is missing.
    Missing,
    /// The message is well-formed, but its structure is invalid, such as XML that is not XML-RPC.
    Structure,
    /// The message is not well-formed.
    Syntax,
    /// The message ends too early.
    Truncated,
    /// The model does not have this member, variant or operation.
    Unknown,
    /// The format cannot represent the value.
    Unwritable,
    /// The value has the wrong type.
    WrongType,
}

/// The limit that a message exceeds, with its value.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::bytes`](crate::Limits::bytes).
    Bytes(usize),
    /// [`Limits::calls`](crate::Limits::calls).
    Calls(u32),
    /// [`Limits::depth`](crate::Limits::depth).
    Depth(u32),
    /// [`Limits::items`](crate::Limits::items).
    Items(u32),
    /// [`Limits::string`](crate::Limits::string).
    StringLength(usize),
}

const _: () = assert!(size_of::<Result<u32, Error>>() <= 16);

impl Error {
    /// Creates an error without details.
    #[cold]
    #[must_use]
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            format: "",
            offset: None,
            path: String::new(),
            expected: Cow::Borrowed(""),
            found: Cow::Borrowed(""),
        }))
    }

    /// Converts an error of the text crate. `base` is the offset of the value in the message, in
    /// bytes.
    #[cold]
    #[must_use]
    pub fn malformed(kind: ErrorKind, malformed: Malformed, base: usize) -> Self {
        Self::new(kind)
            .expected(malformed.expected)
            .at_offset(base + malformed.offset)
    }

    /// Sets the name of the format or protocol.
    #[must_use]
    pub fn in_format(mut self, format: &'static str) -> Self {
        self.0.format = format;
        self
    }

    /// Sets what was expected, as a noun phrase.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<Cow<'static, str>>) -> Self {
        self.0.expected = expected.into();
        self
    }

    /// Sets what was found, as a noun phrase or a short excerpt of the input.
    #[must_use]
    pub fn found(mut self, found: impl Into<Cow<'static, str>>) -> Self {
        self.0.found = found.into();
        self
    }

    /// Sets the position, in bytes from the start of the body.
    #[must_use]
    pub fn at_offset(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Sets the path of the member, such as `cities[3].name`.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.0.path = path.into();
        self
    }

    /// Removes input from the error if the message can contain
    /// [`@sensitive`](MemberFlags::SENSITIVE) data. `root` is the root member of the message.
    ///
    /// Clears [`Self::what_was_found`] and truncates the path at the first sensitive member, map or
    /// unknown name. The remaining path contains only member names of the model and list indices.
    ///
    /// The method checks all members of the message, not only the member at which reading failed:
    /// in a malformed message it is uncertain which member that is.
    #[cold]
    #[must_use]
    pub fn without_sensitive(mut self, root: Member<'_>) -> Self {
        if root.has(MemberFlags::SENSITIVE) || root.target().has(ShapeFlags::SENSITIVE) {
            self.0.found = Cow::Borrowed("");
            self.0.path = match self.0.format {
                // The location is a name from the model, such as `header x-pin`.
                "HTTP" | "event stream" => self.0.path,
                format => path_of_members(root, &self.0.path, format == "XML"),
            };
        }
        self
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the position in bytes from the start of the body, if it is known.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// Returns the path of the member, such as `cities[3].name`. Empty at the top of the message.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns what was expected. Can be empty.
    #[must_use]
    pub fn what_was_expected(&self) -> &str {
        &self.0.expected
    }

    /// Returns what was found. Can be empty.
    #[must_use]
    pub fn what_was_found(&self) -> &str {
        &self.0.found
    }

    /// Returns the name of the format or protocol. Can be empty.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.0.format
    }

    /// Returns whether the message exceeds a limit.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Limit(_))
    }

    /// Returns whether the sender of the message caused the error.
    #[must_use]
    pub fn is_sender_fault(&self) -> bool {
        !matches!(self.0.kind, ErrorKind::Internal | ErrorKind::Unwritable)
    }

    /// Returns the error message without the name of the format.
    #[must_use]
    pub fn message(&self) -> String {
        let mut message = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_message(&mut message);
        message
    }

    fn write_message(&self, f: &mut impl fmt::Write) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "{}", inner.kind)?;
        let mut separator = ": ";
        if !inner.expected.is_empty() {
            write!(f, "{separator}expected {}", inner.expected)?;
            separator = ", ";
        }
        if !inner.found.is_empty() {
            write!(f, "{separator}found {}", inner.found)?;
            separator = ", ";
        }
        if let Some(offset) = inner.offset {
            write!(f, "{separator}at byte {offset}")?;
            separator = ", ";
        }
        if !inner.path.is_empty() {
            write!(f, "{separator}in {}", inner.path)?;
        }
        Ok(())
    }
}

/// Returns the longest prefix of a path that consists of member names and list indices. It excludes
/// map keys, which can be sensitive.
///
/// The path can begin in the payload member, or with the index of an array with one item. If
/// `is_in_element`, it can begin with the name of the root element.
fn path_of_members(root: Member<'_>, path: &str, is_in_element: bool) -> String {
    let (mut at, mut rest, mut prefix) = (root, path, String::new());
    if let Some(inner) = path.strip_prefix("[0]") {
        (rest, prefix) = (inner, "[0]".to_owned());
    } else if is_in_element {
        let (element, inner) = first_segment(path);
        // If a member has the name of the root element, the segment is ambiguous.
        if child(root, element).is_none() {
            rest = inner;
        }
    }
    let mut is_named_item = false;
    while !rest.is_empty() && !at.has(MemberFlags::SENSITIVE) {
        let (segment, remainder) = first_segment(rest);
        let is_index = segment.starts_with('[');
        // The index in `colors.member[2]` does not go to a nested value.
        let is_item_index = is_index && std::mem::take(&mut is_named_item);
        if !is_item_index {
            let Some(member) = child(at, segment) else {
                break;
            };
            is_named_item = at.kind() == ShapeKind::List && !is_index;
            at = member;
        }
        let segment = segment.trim_start_matches('.');
        if !is_index && !prefix.is_empty() {
            prefix.push('.');
        }
        prefix.push_str(segment);
        rest = remainder;
    }
    prefix
}

/// Splits a path after its first segment: `name`, `.name` or `[3]`.
fn first_segment(path: &str) -> (&str, &str) {
    let mut ends = path.match_indices(['.', '[']).map(|(at, _)| at);
    path.split_at(ends.find(|at| *at > 0).unwrap_or(path.len()))
}

/// Returns the member that a path segment refers to: a member of a structure, or the element of a
/// list. Returns `None` for keys of maps and documents.
fn child<'s>(at: Member<'s>, segment: &str) -> Option<Member<'s>> {
    let name = segment.trim_start_matches('.');
    let named = |member: &Member<'_>| member.has_name(name);
    match at.kind() {
        ShapeKind::Structure | ShapeKind::Union => {
            let shape = at.target();
            let is_payload = |member: &Member<'_>| {
                member.location() == Location::Payload
                    && matches!(member.kind(), ShapeKind::Structure | ShapeKind::Union)
            };
            let in_payload = || {
                shape
                    .members()
                    .find(is_payload)?
                    .target()
                    .members()
                    .find(named)
            };
            let found = shape.members().find(named);
            found.or_else(|| at.is_root().then(in_payload)?)
        }
        ShapeKind::List => {
            let item = at.element();
            (segment.starts_with('[') || named(&item)).then_some(item)
        }
        _ => None,
    }
}

/// Quotes a name from a message. Truncates it, and replaces control characters, which could change
/// the display of a terminal or log.
#[cold]
pub(crate) fn quoted(name: &str) -> String {
    const MAX_CHARS: usize = 64;
    let shown: String = name
        .chars()
        .take(MAX_CHARS)
        .map(|character| match character.is_control() {
            true => '\u{b7}',
            false => character,
        })
        .collect();
    let ellipsis = match name.chars().nth(MAX_CHARS) {
        Some(_) => "...",
        None => "",
    };
    format!("`{shown}{ellipsis}`")
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Characters => "invalid characters",
            Self::Duplicate => "given twice",
            Self::Encoding => "unsupported encoding",
            Self::Internal => "internal error",
            Self::InvalidValue => "invalid value",
            Self::Limit(limit) => return write!(f, "limit reached: {limit}"),
            Self::Missing => "missing",
            Self::Structure => "out of place",
            Self::Syntax => "not well formed",
            Self::Truncated => "ends too early",
            Self::Unknown => "unknown",
            Self::Unwritable => "cannot be written",
            Self::WrongType => "wrong type",
        })
    }
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(limit) => write!(f, "more than {limit} bytes (Limits::bytes)"),
            Self::Calls(limit) => {
                write!(f, "more than {limit} calls in one (Limits::calls)")
            }
            Self::Depth(limit) => write!(f, "more than {limit} levels (Limits::depth)"),
            Self::Items(limit) => {
                write!(f, "more than {limit} items and entries (Limits::items)")
            }
            Self::StringLength(limit) => {
                write!(f, "a string of more than {limit} bytes (Limits::string)")
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.format.is_empty() {
            write!(f, "{}: ", self.0.format)?;
        }
        self.write_message(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("text", &self.to_string())
            .finish()
    }
}

impl std::error::Error for Error {}
