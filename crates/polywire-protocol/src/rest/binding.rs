//! Which part of a message carries each member, computed once per service.

use http::header::{CONTENT_RANGE, CONTENT_TYPE};
use http::{Extensions, HeaderValue, Method, StatusCode};
use polywire_schema::{
    ByteStream, Direction, Error, ErrorKind, Location, Member, MemberFlags, Operation, Part,
    Schema, ShapeKind,
};
use polywire_text::percent::{self, Set};

use super::Pattern;
use super::header::{Header, HeaderKind};
use super::header_index::HeaderIndex;
use super::header_template::HeaderTemplates;
use super::payload::is_raw;
use super::target::RequestTarget;
use crate::PayloadStream;
use crate::document::Side;
use crate::event_stream::stream_member;
use crate::protocol::MountError;
use crate::size_hint::SizeHint;

/// The HTTP bindings of a structure in one direction.
#[derive(Debug)]
pub struct Bindings {
    pub(crate) direction: Direction,
    /// Whether members are bound to the head: headers, labels, the query or the status code.
    pub(crate) has_head_members: bool,
    /// Whether members of the document are host labels. Members that are bound to the head can be
    /// host labels too, and do not count here.
    pub(crate) has_document_host_labels: bool,
    /// Whether members are in the document.
    pub(crate) has_document_members: bool,
    /// The member that is the whole body (`@httpPayload`).
    pub(crate) payload: Option<Payload>,
    /// Whether a member is bound to `Content-Range`.
    pub(crate) has_content_range: bool,
    /// Whether the body is an event stream, which is not read with the head: the body that is
    /// passed with the head is then empty.
    pub(crate) has_event_stream: bool,
    /// Whether the document is the only member, without an element for the structure
    /// (`@s3UnwrappedXmlOutput`).
    pub(crate) is_unwrapped: bool,
    /// The bindings of the members, by ordinal.
    pub(crate) members: Vec<MemberBinding>,
    /// The ordinals of the members that are bound to other parts of the head than a single header:
    /// labels, query parameters, header maps and the status code; also to headers with an invalid
    /// name.
    pub(crate) other_head_members: Vec<u32>,
    /// The members that are bound to a header, by its name.
    pub(crate) header_index: HeaderIndex,
    /// Header maps of earlier messages.
    pub(crate) header_templates: HeaderTemplates,
    /// The media type of the body. `None` if the model gives one that is not a valid header value.
    pub(crate) media_type: Option<HeaderValue>,
    /// The member that is bound to `Content-Type`. Its value replaces the media type.
    pub(crate) content_type_member: Option<u32>,
    /// The size of the text in heads, in bytes.
    pub(crate) head_size: SizeHint,
    /// The size of documents, in bytes.
    pub(crate) document_size: SizeHint,
}

/// The part of a message that carries a member.
#[derive(Debug)]
pub(crate) enum MemberBinding {
    /// A single header.
    Header {
        header: Header,
        /// The name of the header as in the model, for error messages.
        name: String,
        /// Whether a string is written to the header without encoding, and to no other part.
        is_plain: bool,
    },
    /// A header whose name is invalid. Contains that name.
    InvalidHeader(String),
    /// A label of the path. `/` is not percent-encoded in a greedy label.
    Label { name: String, is_greedy: bool },
    /// A map of all headers with a prefix.
    Prefix {
        name: String,
        /// The prefix in lower case, to compare it with header names.
        lower: String,
    },
    /// A query parameter.
    Query {
        name: String,
        /// `name=`, percent-encoded.
        key: String,
    },
    /// A map of all query parameters.
    QueryParams,
    /// The status code of a response.
    StatusCode,
    /// The host prefix and the document.
    Host,
    /// The whole body, without a document format: a blob or a string.
    RawPayload,
    /// The document, or a payload in the format of the protocol.
    Document,
}

impl MemberBinding {
    fn of(member: Member<'_>, direction: Direction, pattern: Option<&Pattern>) -> Self {
        let name = member.location_name().to_owned();
        match member.location().going(direction) {
            Location::Header => match Header::new(&name) {
                Some(header) => Self::Header {
                    is_plain: header.kind == HeaderKind::Other
                        && member.media_type().is_none()
                        && !member.has(MemberFlags::HOST_LABEL),
                    header,
                    name,
                },
                None => Self::InvalidHeader(name),
            },
            Location::Label => Self::Label {
                name: member.name().to_owned(),
                is_greedy: pattern.is_some_and(|pattern| pattern.is_greedy(member.name())),
            },
            Location::PrefixHeaders => Self::Prefix {
                lower: name.to_ascii_lowercase(),
                name,
            },
            Location::Query => {
                let mut key = String::new();
                percent::push(&mut key, &name);
                key.push('=');
                Self::Query { name, key }
            }
            Location::QueryParams => Self::QueryParams,
            Location::StatusCode => Self::StatusCode,
            Location::Body if member.has(MemberFlags::HOST_LABEL) => Self::Host,
            Location::Payload if is_raw(member.kind()) => Self::RawPayload,
            _ => Self::Document,
        }
    }

    /// Returns the location that determines the form of values. A payload in the format of the
    /// protocol is in `Location::Body`, like a member of the document.
    pub(crate) const fn location(&self) -> Location {
        match self {
            Self::Header { .. } | Self::InvalidHeader(_) => Location::Header,
            Self::Label { .. } => Location::Label,
            Self::Prefix { .. } => Location::PrefixHeaders,
            Self::Query { .. } => Location::Query,
            Self::QueryParams => Location::QueryParams,
            Self::StatusCode => Location::StatusCode,
            Self::RawPayload => Location::Payload,
            Self::Host | Self::Document => Location::Body,
        }
    }

    /// Returns the header, if the member is bound to a single one.
    pub(crate) const fn single_header(&self) -> Option<&Header> {
        match self {
            Self::Header { header, .. } => Some(header),
            _ => None,
        }
    }

    /// Returns whether values are sent in headers: in a single one, or in all headers with a prefix.
    pub(crate) const fn is_in_headers(&self) -> bool {
        matches!(self, Self::Header { .. } | Self::Prefix { .. })
    }

    /// Returns the characters that are not percent-encoded.
    pub(crate) const fn unescaped(&self) -> &'static Set {
        match self {
            Self::Label {
                is_greedy: true, ..
            } => &percent::PATH,
            _ => &percent::UNRESERVED,
        }
    }

    /// Returns whether values are percent-encoded.
    pub(crate) const fn is_encoded(&self) -> bool {
        matches!(
            self,
            Self::Label { .. } | Self::Query { .. } | Self::QueryParams
        )
    }
}

/// The member that is the whole body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload {
    pub(crate) ordinal: u32,
    pub(crate) kind: ShapeKind,
    /// Whether the body is the value itself, without a document format.
    pub(crate) is_raw: bool,
    /// Whether it is a blob with `@streaming`.
    pub(crate) is_stream: bool,
}

impl Bindings {
    pub(crate) fn of(shape: Schema<'_>, direction: Direction) -> Self {
        Self::with_pattern(shape, direction, None)
    }

    fn with_pattern(shape: Schema<'_>, direction: Direction, pattern: Option<&Pattern>) -> Self {
        let bind = |member: Member<'_>| MemberBinding::of(member, direction, pattern);
        let members: Vec<MemberBinding> = shape.members().map(bind).collect();
        let mut bindings = Self {
            direction,
            has_head_members: false,
            has_document_host_labels: false,
            has_document_members: false,
            payload: None,
            has_content_range: false,
            has_event_stream: stream_member(shape).is_some(),
            is_unwrapped: false,
            header_index: HeaderIndex::new(&members),
            other_head_members: Vec::new(),
            header_templates: HeaderTemplates::default(),
            media_type: None,
            content_type_member: None,
            head_size: SizeHint::default(),
            document_size: SizeHint::default(),
            members,
        };
        for (member, binding) in shape.members().zip(&bindings.members) {
            let ordinal = member.ordinal();
            match member.location().going(direction) {
                Location::Body => bindings.has_document_members = true,
                Location::Payload => {
                    bindings.payload = Some(Payload {
                        ordinal,
                        kind: member.kind(),
                        is_raw: is_raw(member.kind()),
                        is_stream: member.kind() == ShapeKind::Blob
                            && member.has(MemberFlags::STREAMING),
                    });
                }
                _ => bindings.has_head_members = true,
            }
            match binding {
                MemberBinding::Header { header, .. } if header.name == CONTENT_TYPE => {
                    bindings.content_type_member = Some(ordinal);
                }
                MemberBinding::Header { header, .. } if header.name == CONTENT_RANGE => {
                    bindings.has_content_range = true;
                }
                MemberBinding::Host => bindings.has_document_host_labels = true,
                MemberBinding::Header { .. }
                | MemberBinding::RawPayload
                | MemberBinding::Document => {}
                _ => bindings.other_head_members.push(ordinal),
            }
        }
        bindings
    }

    /// Returns the media type of a body. Without a body there is none.
    pub(crate) fn media_type_of<B>(&self, body: Option<&B>) -> Result<Option<&HeaderValue>, Error> {
        match (body, &self.media_type) {
            (None, _) => Ok(None),
            (Some(_), Some(media_type)) => Ok(Some(media_type)),
            (Some(_), None) => Err(Error::new(ErrorKind::Internal)
                .in_format("HTTP")
                .expected("a media type that is a valid header value")),
        }
    }

    /// Returns the side that writes such a message.
    pub(crate) const fn writer(&self) -> Side {
        match self.direction {
            Direction::Request => Side::Client,
            Direction::Response => Side::Server,
        }
    }

    /// Returns the side that reads such a message.
    pub(crate) const fn reader(&self) -> Side {
        match self.direction {
            Direction::Request => Side::Server,
            Direction::Response => Side::Client,
        }
    }

    /// Returns which members are in the document.
    pub(crate) fn part(&self) -> Part {
        match self.has_head_members {
            true => Part::Body(self.direction),
            false => Part::Whole,
        }
    }

    /// Returns whether the message can have a body.
    pub(crate) const fn has_body(&self) -> bool {
        self.has_document_members || self.payload.is_some()
    }

    /// Returns whether the body, if there is one, is a document of the format.
    pub(crate) fn is_document(&self) -> bool {
        match self.payload {
            Some(payload) => !payload.is_raw,
            None => self.has_document_members,
        }
    }

    /// Returns whether the body is a blob or a string, without a document format.
    pub(crate) fn has_raw_payload(&self) -> bool {
        self.payload.is_some_and(|payload| payload.is_raw)
    }

    /// Returns whether the body is a blob with `@streaming`.
    pub(crate) fn has_stream(&self) -> bool {
        self.payload.is_some_and(|payload| payload.is_stream)
    }

    /// Returns the body of a message with this head that has not been read.
    pub(crate) fn stream_of<'a>(&self, extensions: &'a Extensions) -> Option<&'a ByteStream> {
        match self.has_stream() {
            true => PayloadStream::of(extensions),
            false => None,
        }
    }

    /// Returns whether a member is in the document.
    pub(crate) fn is_in_document(&self, member: Member<'_>) -> bool {
        member.location().going(self.direction) == Location::Body
    }
}

/// The HTTP bindings of an operation.
#[derive(Debug)]
pub struct OperationBindings {
    pub(crate) method: Method,
    pub(crate) pattern: Pattern,
    pub(crate) target: RequestTarget,
    pub(crate) input: Bindings,
    pub(crate) output: Bindings,
    /// The status code of a response with an output.
    pub(crate) status: StatusCode,
}

impl OperationBindings {
    pub(crate) fn of(operation: Operation<'_>) -> Result<Self, MountError> {
        let name = operation.name();
        let Some((method, uri, status)) = operation.http() else {
            return Err(MountError(format!(
                "{name} has no @http trait, which REST protocols require"
            )));
        };
        let pattern =
            Pattern::parse(uri).map_err(|error| MountError(format!("{name}: {error}")))?;
        let method = Method::from_bytes(method.as_bytes())
            .map_err(|_| MountError(format!("{name}: `{method}` is not an HTTP method")))?;
        let input = operation.input();
        Ok(Self {
            method,
            target: RequestTarget::new(&pattern, input),
            input: Bindings::with_pattern(input, Direction::Request, Some(&pattern)),
            pattern,
            output: Bindings::of(operation.output(), Direction::Response),
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::OK),
        })
    }
}
