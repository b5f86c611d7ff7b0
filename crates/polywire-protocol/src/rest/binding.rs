//! Which part of a message carries which member, prepared once.

use http::Method;
use polywire_schema::{Defaults, Direction, Location, Member, Operation, Schema, ShapeKind};

use super::header::Header;
use super::payload::is_raw;
use super::{Pattern, Side};
use crate::protocol::MountError;

/// Which parts of a message carry the members of a structure.
#[derive(Clone, Debug)]
pub(crate) struct Bindings {
    pub(crate) direction: Direction,
    /// Something stands in the head.
    pub(crate) head: bool,
    /// Something stands in the document.
    pub(crate) document: bool,
    /// This member is the whole body.
    pub(crate) payload: Option<Payload>,
    /// The document is the only member, without a structure around it.
    pub(crate) unwrapped: bool,
    /// The headers of members, by ordinal.
    headers: Vec<(u32, Header)>,
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
        let mut bindings = Self {
            direction,
            head: false,
            document: false,
            payload: None,
            unwrapped: false,
            headers: Vec::new(),
        };
        for member in shape.members() {
            match member.location().going(direction) {
                Location::Body => bindings.document = true,
                Location::Payload => {
                    bindings.payload = Some(Payload {
                        ordinal: member.ordinal(),
                        kind: member.kind(),
                        raw: is_raw(member.kind()),
                    });
                }
                _ => bindings.head = true,
            }
            if member.location() == Location::Header
                && let Some(header) = Header::new(member.location_name())
            {
                bindings.headers.push((member.ordinal(), header));
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

    /// Who writes such a message.
    pub(crate) const fn writer(&self) -> Side {
        match self.direction {
            Direction::Request => Side::Client,
            Direction::Response => Side::Server,
        }
    }

    /// What a profile of the document has to know: nothing, if everything
    /// stands there.
    pub(crate) fn document_only(&self) -> Option<Direction> {
        self.head.then_some(self.direction)
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

    /// Whether a member stands in the document.
    pub(crate) fn is_in_document(&self, member: Member<'_>) -> bool {
        member.location().going(self.direction) == Location::Body
    }

    /// The header of a member. `None` if its name cannot stand in a head.
    pub(crate) fn header(&self, member: Member<'_>) -> Option<&Header> {
        let own = member.ordinal();
        let found = self.headers.iter().find(|(ordinal, _)| *ordinal == own);
        found.map(|(_, header)| header)
    }
}

/// What a REST protocol keeps of an operation.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) method: Method,
    pub(crate) pattern: Pattern,
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
        Ok(Self {
            method,
            pattern,
            input: Bindings::of(operation.input(), Direction::Request),
            output: Bindings::of(operation.output(), Direction::Response),
            code,
        })
    }
}
