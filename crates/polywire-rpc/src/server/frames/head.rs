//! The head of a call over frames: its metadata, its caller and the limits that apply before it is decoded.

use std::pin::Pin;

use polywire_frame::Extension;
use polywire_protocol::Fault;

use super::handlers::Handlers;
use crate::auth::{AuthResult, Identity};
use crate::call::admission::{Admitted, Rejection};
use crate::call::completion::SMALL;
use crate::call::memory::FREE;
use crate::call::{Deadline, InFlight};
use crate::context::Head;
use crate::peer::Peer;

/// An identity that is not known yet.
pub(super) type PendingIdentity = Pin<Box<dyn Future<Output = Result<Identity, Fault>> + Send>>;

/// What is known of a call after its head was checked.
#[derive(Default)]
pub(super) struct CheckedHead {
    /// The context of the call, if it is not that of its connection.
    pub(super) context: Option<crate::Context>,
    /// The identity of the caller, if authentication takes time. The handler starts afterwards.
    pub(super) pending: Option<PendingIdentity>,
}

impl Handlers {
    /// Checks a call by its head, and takes memory for its input of `len` bytes.
    pub(super) fn accept(
        &self,
        context: &crate::Context,
        extension: &Extension<'_>,
        operation: u32,
        len: usize,
    ) -> Result<(CheckedHead, Admitted), Fault> {
        let name = self.table.name(&self.app.engine, operation);
        let (head, in_flight) = self.check_head(context, extension, name)?;
        // A pending call takes memory also for a small input: there may be many.
        let free = if head.pending.is_some() { SMALL } else { FREE };
        let memory = self.hold(len, free).map_err(Rejection::fault)?;
        Ok((head, Admitted::new(in_flight, memory)))
    }

    /// Checks a call by its head, before its payload is decoded: limits of callers, calls in progress, of which it takes a
    /// permit, and authentication.
    #[inline]
    pub(super) fn check_head(
        &self,
        context: &crate::Context,
        extension: &Extension<'_>,
        target: &str,
    ) -> Result<(CheckedHead, Option<InFlight>), Fault> {
        let has_metadata = extension.trace().is_some() || extension.metadata().next().is_some();
        let authenticates = !self.app.authenticators.is_empty();
        if !has_metadata && !authenticates {
            let in_flight = self.app.check_call_limits(&context.call_head(target))?;
            return Ok((CheckedHead::default(), in_flight));
        }
        let mut own = context.clone();
        bring_all(&mut own, extension);
        let in_flight = self.app.check_call_limits(&own.call_head(target))?;
        let mut pending = None;
        if authenticates {
            match self.app.authenticators.authenticate(&own.call_head(target)) {
                AuthResult::Ready(identity) => own.identity = Some(identity?),
                AuthResult::Pending(future) => pending = Some(future),
            }
            own.remove_credentials();
        }
        let context = Some(own);
        Ok((CheckedHead { context, pending }, in_flight))
    }
}

/// The context of a call without metadata.
pub(super) fn context(peer: Peer) -> crate::Context {
    crate::Context {
        head: Head::default(),
        peer,
        protocol: polywire_protocol::ProtocolKind::Frame,
        mount: 0,
        deadline: Deadline::NONE,
        identity: None,
        head_with_secrets: None,
    }
}

/// Adds metadata and trace context to the headers that handlers see.
pub(super) fn bring_all(context: &mut crate::Context, extension: &Extension<'_>) {
    if extension.metadata().next().is_some() {
        bring(context, extension.metadata());
    }
    if let Some(trace) = extension.trace() {
        bring(
            context,
            std::iter::once(("traceparent", trace.to_string().as_bytes())),
        );
    }
}

/// Adds metadata to the headers that handlers see.
fn bring<'a>(context: &mut crate::Context, metadata: impl Iterator<Item = (&'a str, &'a [u8])>) {
    let headers = &mut context.head.make_mut().headers;
    for (key, value) in metadata {
        let name = http::HeaderName::from_bytes(key.as_bytes());
        let value = http::HeaderValue::from_bytes(value);
        // Entries that are no valid headers are left out.
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
}
