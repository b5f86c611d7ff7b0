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
pub(crate) use format::{ErrorFacts, Format};
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

/// Makes a type around a [`Rest`] a [`Protocol`](crate::Protocol), by its
/// format; or a type around another that has the methods of one, by its kind.
macro_rules! delegate {
    ($type:ty, $format:ty) => {
        $crate::rest::delegate!($type; <$format as $crate::rest::Format>::KIND);
    };
    ($type:ty; $kind:expr) => {
        impl $crate::Protocol for $type {
            fn kind(&self) -> $crate::ProtocolKind {
                $kind
            }

            fn claim(&self, head: &::http::request::Parts) -> $crate::Claim {
                self.0.claim(head)
            }

            fn route(&self, head: &::http::request::Parts) -> Result<$crate::Plan, $crate::Fault> {
                self.0.route(head)
            }

            fn decode_input<'de>(
                &self,
                operation: ::polywire_schema::Operation<'_>,
                request: &$crate::ReadPlan<'de>,
                sink: &mut dyn ::polywire_codec::Sink<'de>,
            ) -> Result<(), $crate::Fault> {
                self.0.decode_input(operation, request, sink)
            }

            fn encode_output(
                &self,
                operation: ::polywire_schema::Operation<'_>,
                output: &dyn ::polywire_codec::Message,
            ) -> Result<::http::Response<::bytes::Bytes>, ::polywire_schema::Error> {
                self.0.encode_output(operation, output)
            }

            fn encode_error(
                &self,
                error: ::polywire_schema::Schema<'_>,
                fault: &$crate::Fault,
            ) -> Result<::http::Response<::bytes::Bytes>, ::polywire_schema::Error> {
                self.0.encode_error(error, fault)
            }

            fn encode_other(&self, fault: &$crate::Fault) -> ::http::Response<::bytes::Bytes> {
                self.0.encode_other(fault)
            }

            fn encode_input(
                &self,
                operation: ::polywire_schema::Operation<'_>,
                input: &dyn ::polywire_codec::Message,
            ) -> Result<::http::Request<::bytes::Bytes>, ::polywire_schema::Error> {
                self.0.encode_input(operation, input)
            }

            fn outcome<'s>(
                &self,
                operation: ::polywire_schema::Operation<'s>,
                head: &::http::response::Parts,
                body: &::polywire_schema::Body,
                limits: &::polywire_schema::Limits,
            ) -> Result<$crate::Outcome<'s>, ::polywire_schema::Error> {
                self.0.outcome(operation, head, body, limits)
            }

            fn decode_output<'de>(
                &self,
                operation: ::polywire_schema::Operation<'_>,
                head: &'de ::http::response::Parts,
                body: &'de ::polywire_schema::Body,
                limits: &::polywire_schema::Limits,
                sink: &mut dyn ::polywire_codec::Sink<'de>,
            ) -> Result<(), ::polywire_schema::Error> {
                self.0.decode_output(operation, head, body, limits, sink)
            }

            fn decode_error<'de>(
                &self,
                error: ::polywire_schema::Schema<'_>,
                head: &'de ::http::response::Parts,
                body: &'de ::polywire_schema::Body,
                limits: &::polywire_schema::Limits,
                sink: &mut dyn ::polywire_codec::Sink<'de>,
            ) -> Result<(), ::polywire_schema::Error> {
                self.0.decode_error(error, head, body, limits, sink)
            }
        }
    };
}
pub(crate) use delegate;
