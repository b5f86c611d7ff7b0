//! The REST protocols: HTTP requests and responses by Smithy's HTTP bindings.
//!
//! [`Rest`] implements everything that restJson1 and restXml share. [`RestFormat`] contains what
//! differs: the format of documents, their media type, and how a response names an error.
//!
//! An incoming message passes through these modules:
//!
//! 1. `route.rs` finds the operation of a request by its method and URI.
//! 2. `decode/` reads the members that are bound to the head: labels, query parameters, headers,
//!    and the status code of responses.
//! 3. `body.rs` passes the rest of the message to the format, or to `payload.rs` if the body is a
//!    blob or a string.
//!
//! To write a message, `encode.rs` writes the values of the head into one buffer, `body.rs` writes
//! the body, and `assemble.rs` builds the target and the headers from the buffer.
//!
//! `binding.rs` computes once per service which part of a message carries each member. `server.rs`
//! and `client.rs` implement the traits of the two sides.
//!
//! <https://smithy.io/2.0/spec/http-bindings.html>

mod assemble;
mod binding;
mod body;
mod client;
mod decode;
mod encode;
mod format;
mod header;
mod header_index;
mod header_template;
mod pattern;
mod payload;
mod route;
mod server;
mod target;
mod timestamp;

use std::collections::HashMap;

use polywire_schema::{Direction, Error, Member, Operation, Schema, Service};

pub(crate) use binding::{Bindings, OperationBindings, Payload};
pub(crate) use body::IncomingMessage;
pub(crate) use decode::HeadDecoder;
pub(crate) use encode::HeadEncoder;
pub(crate) use format::RestFormat;
pub use pattern::{Pattern, PatternError, Segment};
pub(crate) use payload::RawDecoder;
pub(crate) use route::{RouteMatch, Router};

use crate::event_stream::EventCodec;
use crate::operation_table::OperationTable;
use crate::protocol::{FromService, MountError, ProtocolInfo, ProtocolKind};

/// The error for a modelled error with `@httpPayload` in a protocol that names errors in the body.
/// restXml supports the trait only in inputs and outputs:
/// <https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#supported-traits>.
#[cold]
fn unsupported_error_payload(
    operation: Operation<'_>,
    payload: Member<'_>,
    kind: ProtocolKind,
) -> MountError {
    MountError(format!(
        "{}: {} does not support @httpPayload on the member `{}` of the error {}, because the body \
         of an error contains its name; remove the trait to write the member into that body",
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
    /// The bindings of the operations of the service.
    operations: OperationTable<OperationBindings>,
    /// The bindings of the errors of all operations, by the index of the shape.
    errors: HashMap<u32, Bindings>,
}

impl<F: RestFormat> ProtocolInfo for Rest<F> {
    fn kind(&self) -> ProtocolKind {
        F::KIND
    }

    fn event_codec(&self) -> Option<&dyn EventCodec> {
        Some(&self.format)
    }
}

impl<F: RestFormat> FromService for Rest<F> {
    fn from_service(service: Service<'_>) -> Result<Self, MountError> {
        Self::new(service)
    }
}

impl<F: RestFormat> Rest<F> {
    /// Creates the protocol for a service.
    ///
    /// # Errors
    ///
    /// An operation has no `@http` trait, or one with an invalid method or URI pattern, or with a
    /// label that is not a member of the input. Two operations have the same method and URI. With
    /// restXml, also if a member of an error has the `@httpPayload` trait.
    pub fn new(service: Service<'_>) -> Result<Self, MountError> {
        let format = F::for_service(service);
        let mut router = Router::default();
        let mut operations = OperationTable::default();
        let mut errors = HashMap::new();
        for operation in service.operations() {
            let mut operation_bindings = OperationBindings::of(operation)?;
            format.adjust_bindings(operation, &mut operation_bindings);
            operation_bindings.input.media_type =
                body::media_type::<F>(operation.input(), &operation_bindings.input);
            operation_bindings.output.media_type =
                body::media_type::<F>(operation.output(), &operation_bindings.output);
            for error in operation.errors() {
                let entry = errors.entry(error.index());
                let bindings: &mut Bindings = entry.or_insert_with(|| Self::bindings_of(error));
                if let Some(payload) = bindings.payload.filter(|_| !F::ERROR_NAME_IN_HEADER) {
                    return Err(unsupported_error_payload(
                        operation,
                        error.member(payload.ordinal),
                        F::KIND,
                    ));
                }
            }
            router.add(operation, &operation_bindings)?;
            operations.insert(operation, operation_bindings);
        }
        Ok(Self {
            format,
            router,
            operations,
            errors,
        })
    }

    /// Calls `with` with the bindings of an error. Computes them if no operation of the service
    /// lists the error.
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

    fn operation_bindings(&self, operation: Operation<'_>) -> Result<&OperationBindings, Error> {
        self.operations.get(operation, F::KIND)
    }
}
