//! The error of codecs and protocols.

use std::borrow::Cow;
use std::fmt;

use polywire_text::Malformed;

use crate::{Member, MemberFlags, ShapeFlags, ShapeKind};

/// Why a message could not be read or written.
///
/// One word wide, so that a `Result` of a small number fits two registers; what
/// it says lives behind it and is put together only when something fails.
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

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Bytes that the encoding of the message does not have: such that are not UTF-8.
    Characters,
    /// The same member or key came twice.
    Duplicate,
    /// The message is in an encoding that is not read.
    Encoding,
    /// Something inside Polywire, or a schema that does not fit its shape.
    Internal,
    /// A value of the right type that its type does not allow: out of range, a
    /// bad timestamp, bad base64.
    InvalidValue,
    /// A limit was reached.
    Limit(LimitKind),
    /// A required member was not there.
    Missing,
    /// Well formed, but not what the format has at this place: XML that is no XML-RPC.
    Structure,
    /// The bytes are not well formed.
    Syntax,
    /// The bytes end in the middle.
    Truncated,
    /// A member, variant or operation that the model does not have.
    Unknown,
    /// A value that the format has no form for.
    Unwritable,
    /// Well-formed data of another type.
    WrongType,
}

/// Which limit was reached, with its value.
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
    /// An error of this kind. The other methods add what is known.
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

    /// A value that a primitive refused, `base` bytes into the message.
    #[cold]
    #[must_use]
    pub fn malformed(kind: ErrorKind, malformed: Malformed, base: usize) -> Self {
        Self::new(kind)
            .expected(malformed.expected)
            .at_offset(base + malformed.offset)
    }

    /// Names the format or protocol that was being read or written.
    #[must_use]
    pub fn in_format(mut self, format: &'static str) -> Self {
        self.0.format = format;
        self
    }

    /// Says what was expected, as a noun phrase.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<Cow<'static, str>>) -> Self {
        self.0.expected = expected.into();
        self
    }

    /// Says what came instead, as a noun phrase or a short piece of the input.
    #[must_use]
    pub fn found(mut self, found: impl Into<Cow<'static, str>>) -> Self {
        self.0.found = found.into();
        self
    }

    /// Says where: bytes from the start of the body.
    #[must_use]
    pub fn at_offset(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Says in which member, such as `cities[3].name`.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.0.path = path.into();
        self
    }

    /// Removes input from the error if the message that could not be read may hold
    /// [`@sensitive`](MemberFlags::SENSITIVE) data: [`Self::what_was_found`], and the path below a
    /// sensitive member, since it may name keys of a map.
    ///
    /// `root` is what the message was read as. All of the message counts, not only the member at
    /// which reading failed: in a malformed message it is not certain which member that is.
    #[cold]
    #[must_use]
    pub fn without_sensitive(mut self, root: Member<'_>) -> Self {
        if root.has(MemberFlags::SENSITIVE) || root.target().has(ShapeFlags::SENSITIVE) {
            self.0.found = Cow::Borrowed("");
            let end = sensitive_from(root, &self.0.path);
            self.0.path.truncate(end);
        }
        self
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The offset in bytes from the start of the body, where there is one.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// The member path, such as `cities[3].name`; empty at the top.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What was expected; may be empty.
    #[must_use]
    pub fn what_was_expected(&self) -> &str {
        &self.0.expected
    }

    /// What came instead; may be empty.
    #[must_use]
    pub fn what_was_found(&self) -> &str {
        &self.0.found
    }

    /// The format or protocol; may be empty.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.0.format
    }

    /// Whether a limit was reached.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Limit(_))
    }

    /// Whether the sender of the message is to blame, rather than this side.
    #[must_use]
    pub fn is_sender_fault(&self) -> bool {
        !matches!(self.0.kind, ErrorKind::Internal | ErrorKind::Unwritable)
    }

    /// The message without the format: what was wrong and where.
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

/// How much of a path may be shown: up to the first sensitive member, or up to a list or map with
/// sensitive items, entries or keys.
fn sensitive_from(root: Member<'_>, path: &str) -> usize {
    let (mut at, mut end, mut is_resolved) = (root, 0, false);
    while end < path.len() && !at.has(MemberFlags::SENSITIVE) {
        let rest = &path[end..];
        let shape = at.target();
        let mut ends = rest.match_indices(['.', '[']).map(|(at, _)| at);
        let len = ends.find(|at| *at > 0).unwrap_or(rest.len());
        match at.kind() {
            ShapeKind::Structure | ShapeKind::Union => {
                let name = rest[..len].trim_start_matches('.');
                let named = |member: &Member<'_>| member.has_name(name);
                match shape.members().find(named) {
                    Some(member) => (at, is_resolved) = (member, true),
                    // The path is about a member that the model does not have.
                    None if is_resolved => return path.len(),
                    // An element around the structure.
                    None => {}
                }
            }
            ShapeKind::List if rest.starts_with('[') => at = shape.member(0),
            _ if shape.has(ShapeFlags::SENSITIVE) => return end,
            _ => return path.len(),
        }
        end += len;
    }
    end
}

/// A name of the sender's choice as a message may show it: short, and without
/// control characters, which must not reach a terminal or a log raw.
#[cold]
pub(crate) fn quoted(name: &str) -> String {
    const LONGEST: usize = 64;
    let shown: String = name
        .chars()
        .take(LONGEST)
        .map(|character| match character.is_control() {
            true => '\u{b7}',
            false => character,
        })
        .collect();
    let more = if name.chars().nth(LONGEST).is_some() {
        "..."
    } else {
        ""
    };
    format!("`{shown}{more}`")
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
