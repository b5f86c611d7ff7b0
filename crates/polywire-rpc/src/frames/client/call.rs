//! Calls of clients of a model, and the code that all calls share.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use polywire_schema::Limits;

use super::state::CallTemplate;
use super::{CallOptions, Client};
use crate::error::CallError;
use crate::frames::link::Write;
use crate::frames::payload::Payload;
use crate::frames::request::RequestKind;

impl Client {
    /// Makes a call. `write` writes the input, once for each attempt. `read` reads the payload of the reply.
    pub(crate) fn ask<'a, R, F>(
        &'a self,
        call: &'a CallTemplate<'a>,
        write: &'a mut Write<'a>,
        read: F,
    ) -> impl Future<Output = Result<R, CallError>> + 'a
    where
        F: FnOnce(Payload<'_>) -> Result<R, CallError> + Copy + Send + 'a,
        R: 'a,
    {
        self.inner.state.ask(call, write, read)
    }

    /// Calls an operation of a model.
    pub(crate) async fn call_payload(
        &self,
        operation: &str,
        payload: &[u8],
        metadata: &[(&str, &[u8])],
        options: CallOptions<'_>,
    ) -> Result<Bytes, CallError> {
        let mut write = |out: &mut Vec<u8>| {
            out.extend_from_slice(payload);
            Ok(())
        };
        let pairs = self.pairs(metadata);
        let call = self.call_of(operation, &pairs, options);
        let read = |payload: Payload<'_>| Ok(payload.into_bytes());
        self.ask(&call, &mut write, read).await
    }

    fn call_of<'a>(
        &self,
        operation: &'a str,
        metadata: &'a [(&'a str, &'a [u8])],
        mut options: CallOptions<'a>,
    ) -> CallTemplate<'a> {
        options.idempotent |= self.idempotent;
        CallTemplate {
            options,
            ..self.template(RequestKind::Call, operation, metadata)
        }
    }

    /// The time limit of calls.
    pub(crate) const fn deadline(&self) -> Duration {
        self.timeout
    }

    /// The limits of replies.
    pub(crate) fn limits(&self) -> Limits {
        self.inner.limits
    }

    pub(super) fn template<'a>(
        &self,
        kind: RequestKind,
        operation: &'a str,
        metadata: &'a [(&'a str, &'a [u8])],
    ) -> CallTemplate<'a> {
        CallTemplate {
            kind,
            operation,
            timeout: self.timeout,
            stream_timeout: self.stream_timeout,
            metadata,
            trace: self.trace(),
            options: CallOptions {
                idempotent: self.idempotent,
                retryable: &[],
            },
        }
    }
}
