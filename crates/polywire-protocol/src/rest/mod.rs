//! What REST protocols share: the HTTP bindings of Smithy, both ways.
//!
//! A [`Rest`] is a whole protocol but for what its [`RestFormat`] decides: how
//! documents look, what media type they have, how a response names an error.
//! `server.rs` and `client.rs` are its two sides, and `body.rs` reads and
//! writes the parts of a message that are no head.
//!
//! <https://smithy.io/2.0/spec/http-bindings.html>

mod binding;
mod body;
mod client;
mod decode;
mod encode;
mod finish;
mod format;
mod header;
mod index;
mod layout;
mod pattern;
mod payload;
mod route;
mod scalar;
mod server;
mod target;

use std::collections::HashMap;

use polywire_schema::{Direction, Error, ErrorKind, Member, Operation, Schema, Service};

pub(crate) use binding::{Bindings, Payload, Prepared};
pub(crate) use body::{Parts, Side};
pub(crate) use decode::HeadDecoder;
pub(crate) use encode::HeadEncoder;
pub(crate) use format::RestFormat;
pub use pattern::{Pattern, PatternError, Segment};
pub(crate) use route::{Found, Router};

use crate::protocol::{FromService, MountError, OfKind, ProtocolKind};

/// Why a payload cannot be had of an error whose name stands in its body. Of restXml's traits
/// `@httpPayload` is one for inputs and outputs only:
/// <https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#supported-traits>.
#[cold]
fn no_place(operation: Operation<'_>, payload: Member<'_>, kind: ProtocolKind) -> MountError {
    MountError(format!(
        "{}: {} has no place for the @httpPayload `{}` of the error {}, since the body of its \
         errors names them; without the trait the member stands there too",
        operation.name(),
        kind.name(),
        payload.name(),
        payload.container().id(),
    ))
}

/// A REST protocol for one service.
#[derive(Debug)]
pub struct Rest<F> {
    pub(crate) format: F,
    router: Router,
    /// By the index of the operation; none for operations of other services.
    operations: Vec<Option<Prepared>>,
    /// The errors of the operations, by the index of the shape.
    errors: HashMap<u32, Bindings>,
}

impl<F: RestFormat> OfKind for Rest<F> {
    fn kind(&self) -> ProtocolKind {
        F::KIND
    }
}

impl<F: RestFormat> FromService for Rest<F> {
    fn from_service(service: Service<'_>) -> Result<Self, MountError> {
        Self::new(service)
    }
}

impl<F: RestFormat> Rest<F> {
    /// The protocol for a service.
    ///
    /// # Errors
    ///
    /// An operation has no `@http`, or two have the same. For restXml also: an error has a
    /// member that is `@httpPayload`.
    pub fn new(service: Service<'_>) -> Result<Self, MountError> {
        let format = F::for_service(service);
        let mut router = Router::default();
        let mut operations = Vec::new();
        let mut errors = HashMap::new();
        for operation in service.operations() {
            let mut prepared = Prepared::of(operation)?;
            format.prepare(operation, &mut prepared);
            prepared.input.media_type = body::media_type::<F>(operation.input(), &prepared.input);
            prepared.output.media_type =
                body::media_type::<F>(operation.output(), &prepared.output);
            for error in operation.errors() {
                let own = errors.entry(error.index());
                let own: &mut Bindings = own.or_insert_with(|| Self::bindings_of(error));
                if let Some(payload) = own.payload.filter(|_| !F::NAMES_ERRORS_IN_HEAD) {
                    return Err(no_place(operation, error.member(payload.ordinal), F::KIND));
                }
            }
            router.add(operation, &prepared)?;
            let index = operation.index() as usize;
            operations.resize_with(operations.len().max(index + 1), || None);
            operations[index] = Some(prepared);
        }
        Ok(Self {
            format,
            router,
            operations,
            errors,
        })
    }

    /// Calls `with` with the bindings of an error. Those of one that no operation
    /// has are made here.
    fn with_error<T>(&self, error: Schema<'_>, with: impl FnOnce(&Bindings) -> T) -> T {
        match self.errors.get(&error.index()) {
            Some(bindings) => with(bindings),
            None => with(&Self::bindings_of(error)),
        }
    }

    fn bindings_of(error: Schema<'_>) -> Bindings {
        let mut bindings = Bindings::of(error, Direction::Response);
        bindings.media_type = body::media_type::<F>(error, &bindings);
        bindings
    }

    fn prepared(&self, operation: Operation<'_>) -> Result<&Prepared, Error> {
        let found = self.operations.get(operation.index() as usize);
        found.and_then(Option::as_ref).ok_or_else(|| {
            Error::new(ErrorKind::Internal)
                .in_format(F::KIND.name())
                .expected("an operation of the service that the protocol was made for")
                .found(operation.id().to_owned())
        })
    }
}
