//! Authentication: who signs requests, and how.
//!
//! botocore rejects a service without a known authentication scheme. So in a service without
//! authentication, each operation is marked as unsigned: it is sent without credentials.

use polywire_model::{Node, Object, Shape, ids};

use super::Context;
use super::entries::texts;

const SIGV4: &str = ids::SIGV4;
const SIGV4A: &str = ids::SIGV4A;
const BEARER: &str = ids::HTTP_BEARER_AUTH;
const NONE: &str = ids::NO_AUTH;

/// The schemes that botocore supports. The first is preferred.
pub(super) struct Schemes<'m>(Vec<&'m str>);

impl Schemes<'_> {
    /// The list for the metadata. `None` if there are no schemes, because botocore does not accept
    /// `noAuth` for a service.
    pub(super) fn listed(&self) -> Option<Node> {
        (!self.0.is_empty()).then(|| texts(self.0.iter().copied()))
    }

    /// The older property with the same meaning. S3 has a variant for its encoding of paths.
    pub(super) fn signature_version(&self, context: &Context<'_>) -> &'static str {
        match self.0.first() {
            Some(&BEARER) => "bearer",
            Some(&SIGV4A) => "v4a",
            _ if context.is("S3") => "s3",
            _ => "v4",
        }
    }
}

/// The schemes of the service. Adds a note for schemes that botocore does not support.
pub(super) fn of_service<'m>(context: &mut Context<'m>) -> Schemes<'m> {
    let traits = context.service.traits();
    let model = context.model;
    let chosen = list(context.service);
    let all: Vec<&str> = match chosen {
        Some(ids) => ids,
        None => {
            let ids = traits.iter().map(|applied| applied.id().as_str());
            let is_auth = |id: &&str| {
                let definition = model.get(id);
                definition.is_some_and(|shape| shape.traits().has(ids::AUTH_DEFINITION))
            };
            let mut ids: Vec<&str> = ids.filter(is_auth).collect();
            ids.sort_unstable();
            ids
        }
    };
    let unknown: Vec<&str> = all.iter().copied().filter(|id| !is_known(id)).collect();
    if !unknown.is_empty() {
        context.notes.push(format!(
            "botocore does not support authentication with `{}`",
            unknown.join("`, `")
        ));
    }
    Schemes(all.into_iter().filter(|id| is_known(id)).collect())
}

/// Sets the authentication of an operation, if it differs from that of the service.
pub(super) fn push_operation(entry: &mut Object, service: &Schemes<'_>, operation: &Shape) {
    let traits = operation.traits();
    let own = list(operation);
    let schemes: Vec<&str> = match &own {
        Some(ids) => ids.iter().copied().filter(|id| is_known(id)).collect(),
        None => service.0.clone(),
    };
    if schemes.is_empty() || traits.has(ids::OPTIONAL_AUTH) {
        entry.push("authtype", "none");
        entry.push("auth", texts([NONE]));
        return;
    }
    if traits.has(ids::UNSIGNED_PAYLOAD) {
        entry.push("authtype", "v4-unsigned-body");
        entry.push("unsignedPayload", true);
    }
    if own.is_some() && schemes != service.0 {
        entry.push("auth", texts(schemes));
    }
}

/// `@auth` of a service or operation.
fn list(shape: &Shape) -> Option<Vec<&str>> {
    let ids = shape.traits().get(ids::AUTH)?.as_array()?;
    Some(ids.iter().filter_map(Node::as_str).collect())
}

fn is_known(id: &str) -> bool {
    matches!(id, SIGV4 | SIGV4A | BEARER)
}
