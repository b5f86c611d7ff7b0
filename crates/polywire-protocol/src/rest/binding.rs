//! Which part of a message carries which member, prepared once.

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use polywire_schema::{
    Defaults, Direction, Error, ErrorKind, Location, Member, MemberFlags, Operation, Part, Schema,
    ShapeKind,
};
use polywire_text::percent::{self, Set};

use super::header::{Header, Role};
use super::index::HeaderIndex;
use super::layout::Layouts;
use super::payload::is_raw;
use super::target::Target;
use super::{Pattern, Side};
use crate::protocol::MountError;
use crate::room::Room;

/// Which parts of a message carry the members of a structure.
#[derive(Debug)]
pub struct Bindings {
    pub(crate) direction: Direction,
    /// Something stands in the head.
    pub(crate) head: bool,
    /// Something stands in the prefix of the host, and in the document too.
    pub(crate) has_host_labels: bool,
    /// Something stands in the document.
    pub(crate) document: bool,
    /// This member is the whole body.
    pub(crate) payload: Option<Payload>,
    /// The document is the only member, without a structure around it.
    pub(crate) unwrapped: bool,
    /// Where each member stands, by ordinal.
    pub(crate) places: Vec<Place>,
    /// The members that stand in the head and have no header of their own.
    pub(crate) others: Vec<u32>,
    /// The members that have a header, by its name.
    pub(crate) index: HeaderIndex,
    /// The sets of headers that have been written before.
    pub(crate) layouts: Layouts,
    /// The media type of the body.
    pub(crate) media_type: Option<HeaderValue>,
    /// The member that says another.
    pub(crate) type_member: Option<u32>,
    /// The space that texts in heads take.
    pub(crate) head_room: Room,
    /// The space that documents take.
    pub(crate) document_room: Room,
}

/// Where a member stands, with what a name there has to be.
#[derive(Debug)]
pub(crate) enum Place {
    Header {
        header: Header,
        /// As the model spells it.
        name: String,
        /// A string stands there as it is, and nowhere else.
        plain: bool,
    },
    /// In a header that cannot be: the name that it would have.
    NoHeader(String),
    /// In the path; whether slashes stay slashes there.
    Label {
        name: String,
        greedy: bool,
    },
    /// Headers with a prefix.
    Prefix {
        name: String,
        /// In lower case, as headers are.
        lower: String,
    },
    Query {
        name: String,
        /// `name=`, as it stands in a query.
        key: String,
    },
    QueryParams,
    StatusCode,
    /// In the prefix of the host, and in the document.
    Host,
    /// The whole body, as it is.
    Payload,
    /// In the body.
    Body,
}

impl Place {
    fn of(member: Member<'_>, direction: Direction, pattern: Option<&Pattern>) -> Self {
        let name = member.location_name().to_owned();
        match member.location().going(direction) {
            Location::Header => match Header::new(&name) {
                Some(header) => Self::Header {
                    plain: header.role == Role::Other
                        && member.media_type().is_none()
                        && !member.has(MemberFlags::HOST_LABEL),
                    header,
                    name,
                },
                None => Self::NoHeader(name),
            },
            Location::Label => Self::Label {
                name: member.name().to_owned(),
                greedy: pattern.is_some_and(|pattern| pattern.is_greedy(member.name())),
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
            Location::Payload if is_raw(member.kind()) => Self::Payload,
            _ => Self::Body,
        }
    }

    /// The location that it is in.
    pub(crate) const fn location(&self) -> Location {
        match self {
            Self::Header { .. } | Self::NoHeader(_) => Location::Header,
            Self::Label { .. } => Location::Label,
            Self::Prefix { .. } => Location::PrefixHeaders,
            Self::Query { .. } => Location::Query,
            Self::QueryParams => Location::QueryParams,
            Self::StatusCode => Location::StatusCode,
            Self::Payload => Location::Payload,
            Self::Host | Self::Body => Location::Body,
        }
    }

    /// The header, if it is one.
    pub(crate) const fn header(&self) -> Option<&Header> {
        match self {
            Self::Header { header, .. } => Some(header),
            _ => None,
        }
    }

    pub(crate) const fn is_header(&self) -> bool {
        matches!(self, Self::Header { .. } | Self::Prefix { .. })
    }

    /// What is not percent-encoded there.
    pub(crate) const fn plain(&self) -> &'static Set {
        match self {
            Self::Label { greedy: true, .. } => &percent::PATH,
            _ => &percent::UNRESERVED,
        }
    }

    /// Whether the parts of a value there are percent-encoded.
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
    /// It is the body as it is: no document of a format.
    pub(crate) raw: bool,
}

impl Bindings {
    pub(crate) fn of(shape: Schema<'_>, direction: Direction) -> Self {
        Self::with_pattern(shape, direction, None)
    }

    fn with_pattern(shape: Schema<'_>, direction: Direction, pattern: Option<&Pattern>) -> Self {
        let place = |member: Member<'_>| Place::of(member, direction, pattern);
        let places: Vec<Place> = shape.members().map(place).collect();
        let mut bindings = Self {
            direction,
            head: false,
            has_host_labels: false,
            document: false,
            payload: None,
            unwrapped: false,
            index: HeaderIndex::new(&places),
            others: Vec::new(),
            layouts: Layouts::default(),
            media_type: None,
            type_member: None,
            head_room: Room::default(),
            document_room: Room::default(),
            places,
        };
        for (member, place) in shape.members().zip(&bindings.places) {
            let ordinal = member.ordinal();
            match member.location().going(direction) {
                Location::Body => bindings.document = true,
                Location::Payload => {
                    bindings.payload = Some(Payload {
                        ordinal,
                        kind: member.kind(),
                        raw: is_raw(member.kind()),
                    });
                }
                _ => bindings.head = true,
            }
            match place {
                Place::Header { header, .. } if header.name == CONTENT_TYPE => {
                    bindings.type_member = Some(ordinal);
                }
                Place::Host => bindings.has_host_labels = true,
                Place::Header { .. } | Place::Payload | Place::Body => {}
                _ => bindings.others.push(ordinal),
            }
        }
        bindings
    }

    /// Which members that are not there get their default when such a message is
    /// written.
    pub(crate) const fn defaults(&self) -> Defaults {
        match self.direction {
            Direction::Request => Defaults::Client,
            Direction::Response => Defaults::Server,
        }
    }

    /// The media type of a body that has been written.
    pub(crate) fn media_type_of<B>(&self, body: Option<&B>) -> Result<Option<&HeaderValue>, Error> {
        match (body, &self.media_type) {
            (None, _) => Ok(None),
            (Some(_), Some(media_type)) => Ok(Some(media_type)),
            (Some(_), None) => Err(Error::new(ErrorKind::Internal)
                .in_format("HTTP")
                .expected("a media type that a header can hold")),
        }
    }

    /// Who writes such a message.
    pub(crate) const fn writer(&self) -> Side {
        match self.direction {
            Direction::Request => Side::Client,
            Direction::Response => Side::Server,
        }
    }

    /// Which members the document holds.
    pub(crate) fn part(&self) -> Part {
        match self.head {
            true => Part::Body(self.direction),
            false => Part::Whole,
        }
    }

    /// Whether the message has a body.
    pub(crate) const fn has_body(&self) -> bool {
        self.document || self.payload.is_some()
    }

    /// Whether the body, if there is one, is a document.
    pub(crate) fn is_document(&self) -> bool {
        match self.payload {
            Some(payload) => !payload.raw,
            None => self.document,
        }
    }

    /// Whether a member is the body as it is.
    pub(crate) fn is_raw(&self) -> bool {
        self.payload.is_some_and(|payload| payload.raw)
    }

    /// Whether a member stands in the document.
    pub(crate) fn is_in_document(&self, member: Member<'_>) -> bool {
        member.location().going(self.direction) == Location::Body
    }
}

/// What a REST protocol keeps of an operation.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) method: Method,
    pub(crate) pattern: Pattern,
    pub(crate) target: Target,
    pub(crate) input: Bindings,
    pub(crate) output: Bindings,
    /// The status of an output.
    pub(crate) code: u16,
}

impl Prepared {
    pub(crate) fn of(operation: Operation<'_>) -> Result<Self, MountError> {
        let name = operation.name();
        let Some((method, uri, code)) = operation.http() else {
            return Err(MountError(format!(
                "{name} has no @http trait, which REST needs"
            )));
        };
        let pattern =
            Pattern::parse(uri).map_err(|error| MountError(format!("{name}: {error}")))?;
        let method = Method::from_bytes(method.as_bytes())
            .map_err(|_| MountError(format!("{name}: `{method}` is no HTTP method")))?;
        let input = operation.input();
        Ok(Self {
            method,
            target: Target::new(&pattern, input),
            input: Bindings::with_pattern(input, Direction::Request, Some(&pattern)),
            pattern,
            output: Bindings::of(operation.output(), Direction::Response),
            code,
        })
    }
}
