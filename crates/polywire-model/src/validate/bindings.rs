//! The HTTP bindings of members: header, label, query, body.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ids;
use crate::model::Model;
use crate::shape::{Member, Shape};
use crate::traits::AppliedTrait;

/// The HTTP binding of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Binding<'m> {
    Header(&'m str),
    Label,
    Payload,
    PrefixHeaders(&'m str),
    Query(&'m str),
    QueryParams,
    ResponseCode,
}

/// The binding of a member with its trait. `None` for members of the body, and if the value of the
/// trait is malformed, which is reported elsewhere.
pub(super) fn of(member: &Member) -> Option<(Binding<'_>, &AppliedTrait)> {
    member.traits().iter().find_map(|applied| {
        let name = applied.id().as_str().strip_prefix(ids::HTTP)?;
        let binding = match name {
            "Header" => Binding::Header(applied.value().as_str()?),
            "Label" => Binding::Label,
            "Payload" => Binding::Payload,
            "PrefixHeaders" => Binding::PrefixHeaders(applied.value().as_str()?),
            "Query" => Binding::Query(applied.value().as_str()?),
            "QueryParams" => Binding::QueryParams,
            "ResponseCode" => Binding::ResponseCode,
            _ => return None,
        };
        Some((binding, applied))
    })
}

/// The direction of a message. Some bindings have an effect in one direction only.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Direction {
    Request,
    Response,
}

/// The members of a structure that are in the body of a message.
#[derive(Default)]
pub(super) struct BodyParts<'m> {
    /// The member with @httpPayload, which is the whole body.
    pub(super) payload: Option<&'m Member>,
    /// Members without a binding.
    pub(super) unbound: Vec<&'m Member>,
}

pub(super) fn body_of(structure: &Shape, direction: Direction) -> BodyParts<'_> {
    let mut parts = BodyParts::default();
    for member in structure.members() {
        match of(member).map(|(binding, _)| binding) {
            Some(Binding::Payload) => {
                parts.payload.get_or_insert(member);
            }
            Some(Binding::Header(_) | Binding::PrefixHeaders(_)) => {}
            Some(Binding::ResponseCode) if direction == Direction::Response => {}
            Some(Binding::Label | Binding::Query(_) | Binding::QueryParams)
                if direction == Direction::Request => {}
            _ => parts.unbound.push(member),
        }
    }
    parts
}

/// A cache for structures that operations share: thousands of operations can have the same input
/// with thousands of members.
#[derive(Default)]
pub(super) struct Messages<'m> {
    bodies: HashMap<(&'m str, Direction), Rc<BodyParts<'m>>>,
    sized_streams: HashMap<&'m str, Option<&'m Member>>,
}

impl<'m> Messages<'m> {
    pub(super) fn body(&mut self, structure: &'m Shape, direction: Direction) -> Rc<BodyParts<'m>> {
        let body = self.bodies.entry((structure.id().as_str(), direction));
        Rc::clone(body.or_insert_with(|| Rc::new(body_of(structure, direction))))
    }

    /// The member of a structure that is a stream of known length.
    pub(super) fn sized_stream(
        &mut self,
        model: &Model,
        structure: &'m Shape,
    ) -> Option<&'m Member> {
        let found = self.sized_streams.entry(structure.id().as_str());
        *found.or_insert_with(|| {
            structure.members().iter().find(|member| {
                let target = model.target(member).map(Shape::traits);
                target.is_some_and(|t| t.requires_length() && t.is_streaming())
            })
        })
    }
}
