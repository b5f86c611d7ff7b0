//! What REST protocols share: the HTTP bindings of Smithy, both ways.
//!
//! A [`Rest`] is a whole protocol but for what its [`Format`] decides: how
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
mod format;
mod header;
mod pattern;
mod payload;
mod route;
mod scalar;
mod server;

use polywire_schema::{Error, ErrorKind, Operation, Service};

pub(crate) use binding::{Bindings, Payload, Prepared};
pub(crate) use body::{Parts, Side};
pub(crate) use decode::HeadDecoder;
pub(crate) use encode::HeadEncoder;
pub(crate) use format::Format;
pub use pattern::{Pattern, PatternError, Segment};
pub(crate) use route::{Found, Router};

use crate::protocol::MountError;

/// A REST protocol for one service.
#[derive(Debug)]
pub(crate) struct Rest<F> {
    pub(crate) format: F,
    router: Router,
    /// By the index of the operation; none for operations of other services.
    operations: Vec<Option<Prepared>>,
}

impl<F: Format> Rest<F> {
    /// The protocol for a service.
    pub(crate) fn new(service: Service<'_>, format: F) -> Result<Self, MountError> {
        let mut router = Router::default();
        let mut operations = Vec::new();
        for operation in service.operations() {
            let mut prepared = Prepared::of(operation)?;
            format.prepare(operation, &mut prepared);
            router.add(operation, &prepared)?;
            let index = operation.index() as usize;
            operations.resize_with(operations.len().max(index + 1), || None);
            operations[index] = Some(prepared);
        }
        Ok(Self {
            format,
            router,
            operations,
        })
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
