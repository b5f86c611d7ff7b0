//! Decoding and checking the bodies of requests before anything else reads them.

use std::sync::Arc;

use bytes::Bytes;
use http::request;
use http_body_util::combinators::BoxBody;
use polywire_protocol::Fault;
use polywire_schema::Operation;

use super::body::RequestBody;
use super::response::BodyError;
use crate::auth::Identity;
use crate::call::{Engine, catch_panic};

/// The body of a request, as a [`BodyFilter`] gets it.
pub type HttpBody = BoxBody<Bytes, BodyError>;

/// The head of a request whose body is filtered.
#[derive(Debug)]
pub struct FilteredHead<'a> {
    /// The head. A filter that changes the body changes the headers that describe it.
    pub head: &'a mut request::Parts,
    /// The operation, if the head tells it.
    pub operation: Option<Operation<'a>>,
    /// The caller, if the server has authenticators.
    pub identity: Option<&'a Identity>,
}

/// Decodes or checks the body of a request while it is read: an encoding, a checksum, a signature.
///
/// A filter runs after authentication and routing, and before the body is read. It returns the body that the server and
/// the handler read. If a check fails at the end of the body, the filter ends it with
/// [`BodyError::new`]`(fault)`: a body that is read into memory never reaches the handler then, and a
/// [`ByteStream`](polywire_schema::ByteStream) ends with the fault as its error.
pub trait BodyFilter: Send + Sync + 'static {
    /// Whether this filter has to see the body. Called for each request over HTTP, so it is cheap.
    fn applies(&self, head: &request::Parts, identity: Option<&Identity>) -> bool;

    /// Whether this filter verifies [claimed identities](Identity::claimed): it ends the body with an error unless the
    /// caller is who it claims to be.
    fn verifies_callers(&self) -> bool {
        false
    }

    /// Replaces the body.
    ///
    /// # Errors
    ///
    /// The head describes a body that cannot be accepted. The call ends with this fault.
    fn filter(&self, head: FilteredHead<'_>, body: HttpBody) -> Result<HttpBody, Fault>;
}

/// The filters of a server.
#[derive(Default)]
pub(super) struct BodyFilters(Vec<Box<dyn BodyFilter>>);

impl BodyFilters {
    pub(super) fn add(&mut self, filter: impl BodyFilter) {
        self.0.push(Box::new(filter));
    }

    /// Passes the body through all filters that apply.
    pub(super) fn filter(
        &self,
        engine: &Engine,
        operation: Option<u32>,
        identity: Option<&Identity>,
        head: &mut Arc<request::Parts>,
        body: &mut RequestBody,
    ) -> Result<(), Fault> {
        let is_claimed = identity.is_some_and(Identity::is_claimed);
        if is_claimed && !self.0.iter().any(|filter| filter.verifies_callers()) {
            return Err(Fault::internal(
                "no body filter verifies the claimed identity",
            ));
        }
        for filter in &self.0 {
            if !filter.applies(head, identity) {
                continue;
            }
            let head = Arc::make_mut(head);
            let own = std::mem::replace(body, RequestBody::empty());
            let (timeout, deadline) = own.times();
            let filtered = FilteredHead {
                head,
                operation: operation.map(|index| engine.service.operation(index)),
                identity,
            };
            let own = super::http_service::boxed(own);
            let filtered = catch_panic(|| filter.filter(filtered, own))?;
            *body = RequestBody::layered(head, filtered, timeout);
            body.set_deadline(deadline);
        }
        Ok(())
    }
}
