//! How an operation makes a thing of the parts of an upload.

use polywire_schema::{Location, Operation, Schema, Service, ShapeKind};

use super::{Conventions, Role, Verb, normal};

/// How an operation makes a thing of the parts of an upload.
#[derive(Debug)]
pub(crate) struct CompletePlan {
    /// The kind of the parts.
    pub(crate) parts: usize,
    /// The position of the number in the identity of a part.
    pub(crate) number: usize,
    /// The roles of the upload in the identity of its parts, and in its own.
    pub(crate) roles: Vec<(Role, Role)>,
    /// The member with the content of a part.
    pub(crate) part_content: String,
    /// The path in the input to the list of parts, and the member with their numbers.
    pub(crate) listed: Option<(Vec<String>, String)>,
    /// The kind of the thing.
    pub(crate) target: usize,
    /// The member with the content of the thing.
    pub(crate) content: String,
}

impl CompletePlan {
    /// The plan of an operation that completes uploads of a kind. `None` if there are no parts with
    /// contents, or no kind of things with the other identifiers of an upload.
    pub(super) fn of(
        conventions: &Conventions,
        service: Service<'_>,
        operation: Operation<'_>,
        upload: usize,
    ) -> Option<Self> {
        let kind = &conventions.kinds[upload];
        let puts = service.operations().filter_map(|put| {
            let action = conventions.actions.get(&put.index())?;
            let payload = payload(put.input())?;
            (action.verb == Verb::Put).then_some((action.kind, put, payload))
        });
        let puts: Vec<_> = puts.collect();
        let (parts, put, part_content) = puts.iter().find_map(|(index, put, payload)| {
            let roles = kind.parts_in(&conventions.kinds[*index]);
            (*index != upload && !roles.is_empty()).then(|| (*index, *put, payload.clone()))
        })?;
        let part = &conventions.kinds[parts];
        let roles = kind.parts_in(part);
        let mut members = put.input().members();
        let number = members.find_map(|member| {
            let is_number = matches!(member.kind(), ShapeKind::Integer | ShapeKind::Long);
            is_number.then(|| part.part(&part.role(member.name())))?
        })?;
        let (target, content) = puts.iter().find_map(|(index, _, payload)| {
            let own = &conventions.kinds[*index].identity;
            let is_known = |role: &Role| kind.part(role).is_some();
            let is_target = *index != parts && !own.is_empty();
            (is_target && own.iter().all(|own| is_known(&own.role)))
                .then(|| (*index, payload.clone()))
        })?;
        let listed = listed(
            operation.input(),
            &part.identity[number].role,
            &mut Vec::new(),
        );
        Some(Self {
            parts,
            number,
            roles,
            part_content,
            listed,
            target,
            content,
        })
    }
}

/// The member of a structure that is its body.
fn payload(input: Schema<'_>) -> Option<String> {
    let mut members = input.members();
    let payload = members
        .find(|member| member.location() == Location::Payload && member.kind() == ShapeKind::Blob);
    payload.map(|member| member.name().to_owned())
}

/// The list of parts in an input, and the member with their numbers.
fn listed(at: Schema<'_>, number: &Role, path: &mut Vec<String>) -> Option<(Vec<String>, String)> {
    for member in at.members() {
        path.push(member.name().to_owned());
        let found = match member.kind() {
            ShapeKind::List if member.element().kind() == ShapeKind::Structure => {
                let mut inner = member.element().target().members();
                let inner = inner.find(|inner| normal(inner.name()) == number.name());
                inner.map(|inner| (path.clone(), inner.name().to_owned()))
            }
            ShapeKind::Structure if path.len() < 3 => listed(member.target(), number, path),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        path.pop();
    }
    None
}
