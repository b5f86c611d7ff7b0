//! The error of codecs and protocols.

use std::borrow::Cow;
use std::fmt;

use polywire_text::Malformed;

use crate::{Location, Member, MemberFlags, ShapeFlags, ShapeKind};

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
    /// [`@sensitive`](MemberFlags::SENSITIVE) data: [`Self::what_was_found`], and all of the path
    /// that is no name of a member of the model and no index of a list. What stays is the path up
    /// to the first sensitive member, map or unknown name.
    ///
    /// `root` is what the message was read as. All of the message counts, not only the member at
    /// which reading failed: in a malformed message it is not certain which member that is.
    #[cold]
    #[must_use]
    pub fn without_sensitive(mut self, root: Member<'_>) -> Self {
        if root.has(MemberFlags::SENSITIVE) || root.target().has(ShapeFlags::SENSITIVE) {
            self.0.found = Cow::Borrowed("");
            self.0.path = match self.0.format {
                // A place that the model names, such as `header x-pin`.
                "HTTP" => self.0.path,
                format => path_of_members(root, &self.0.path, format == "XML"),
            };
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

/// The part of a path that consists of names of members and of indices of lists. It shows no key
/// of a map: a key may be sensitive.
///
/// The path may begin below `root`: in the member that is the payload, in an array of one, and if
/// `is_in_element` in the element around the structure.
fn path_of_members(root: Member<'_>, path: &str, is_in_element: bool) -> String {
    let (mut at, mut rest, mut shown) = (root, path, String::new());
    if let Some(inner) = path.strip_prefix("[0]") {
        (rest, shown) = (inner, "[0]".to_owned());
    } else if is_in_element {
        let (element, inner) = first_segment(path);
        // An element with the name of a member is taken for the member.
        if below(root, element).is_none() {
            rest = inner;
        }
    }
    let mut is_named_item = false;
    while !rest.is_empty() && !at.has(MemberFlags::SENSITIVE) {
        let (segment, behind) = first_segment(rest);
        let is_index = segment.starts_with('[');
        // Which of several items it is: `colors.member[2]`.
        let counts = is_index && std::mem::take(&mut is_named_item);
        if !counts {
            let Some(member) = below(at, segment) else {
                break;
            };
            is_named_item = at.kind() == ShapeKind::List && !is_index;
            at = member;
        }
        let segment = segment.trim_start_matches('.');
        if !is_index && !shown.is_empty() {
            shown.push('.');
        }
        shown.push_str(segment);
        rest = behind;
    }
    shown
}

/// The first segment of a path, `name`, `.name` or `[3]`, and the rest.
fn first_segment(path: &str) -> (&str, &str) {
    let mut ends = path.match_indices(['.', '[']).map(|(at, _)| at);
    path.split_at(ends.find(|at| *at > 0).unwrap_or(path.len()))
}

/// What a segment of a path means below a member: a member of its structure, or the items of its
/// list. Keys of maps and documents mean nothing to the model.
fn below<'s>(at: Member<'s>, segment: &str) -> Option<Member<'s>> {
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
