//! What REST protocols share: the HTTP bindings of Smithy, both ways.
//!
//! <https://smithy.io/2.0/spec/http-bindings.html>

mod decode;
mod encode;
mod header;
mod pattern;
mod payload;
mod route;
mod scalar;

use http::Method;
use polywire_schema::{Defaults, Direction, Location, Member, Operation, Schema, ShapeKind};

use crate::protocol::MountError;

pub(crate) use decode::HeadDecoder;
pub(crate) use encode::HeadEncoder;
use header::Header;
pub use pattern::{Pattern, PatternError, Segment};
pub(crate) use payload::{PayloadDecoder, PayloadEncoder, is_raw, raw_payload};
pub(crate) use route::{Found, Router};

/// Which parts of a message carry the members of a structure.
#[derive(Clone, Debug)]
pub(crate) struct Bindings {
    pub(crate) direction: Direction,
    /// Something stands in the head.
    pub(crate) head: bool,
    /// Something stands in the document.
    pub(crate) document: bool,
    /// This member is the whole body.
    pub(crate) payload: Option<(u32, ShapeKind)>,
    /// The headers of members, by ordinal.
    headers: Vec<(u32, Header)>,
}

impl Bindings {
    pub(crate) fn of(shape: Schema<'_>, direction: Direction) -> Self {
        let mut bindings = Self {
            direction,
            head: false,
            document: false,
            payload: None,
            headers: Vec::new(),
        };
        for member in shape.members() {
            match member.location().going(direction) {
                Location::Body => bindings.document = true,
                Location::Payload => bindings.payload = Some((member.ordinal(), member.kind())),
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

    /// What a profile of the document has to know: nothing, if everything
    /// stands there.
    pub(crate) fn document_only(&self) -> Option<Direction> {
        self.head.then_some(self.direction)
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
