//! Calls with streams, subscriptions and one-way calls. Attempts apply until the call is open or sent.

use std::sync::Arc;

use polywire_frame::{FaultCode, Trace};

use super::attempts::Attempts;
use super::retry::CallOptions;
use super::state::{CallTemplate, ClientState};
use super::stats::CallOutcome;
use crate::call::FrameDeadline;
use crate::error::CallError;
use crate::frames::request::{CallRequest, RequestKind};
use crate::frames::streams::CallHandle;

/// The parameters of a call with streams, to open it again if the server rejects it.
pub(crate) struct OpenRequest {
    state: Arc<ClientState>,
    kind: RequestKind,
    operation: Box<str>,
    payload: Vec<u8>,
    /// The deadline for opening the call.
    deadline: FrameDeadline,
    /// The deadline of the whole call.
    stream_deadline: FrameDeadline,
    metadata: Vec<(Box<str>, Box<[u8]>)>,
    trace: Option<Trace>,
    idempotent: bool,
    /// The retries so far.
    retries: u32,
    /// Whether the server may have executed an attempt.
    may_have_started: bool,
}

// Without payload and metadata, which may be secret.
impl_debug!(OpenRequest { operation });

impl OpenRequest {
    /// Opens a call with streams, or a subscription.
    pub(super) async fn begin(
        state: &Arc<ClientState>,
        call: &CallTemplate<'_>,
        payload: Vec<u8>,
    ) -> Result<(CallHandle, Self), CallError> {
        let mut request = call.request(state.clock.now());
        let mut attempts = Attempts::new(state);
        attempts.begin(request.now)?;
        let (deadline, stream_deadline) = (request.deadline, request.stream_deadline);
        let open = open(&mut attempts, &mut request, &call.options, &payload).await?;
        let opening = Self {
            state: Arc::clone(state),
            kind: call.kind,
            operation: call.operation.into(),
            payload,
            deadline,
            stream_deadline,
            metadata: call
                .metadata
                .iter()
                .map(|(key, value)| ((*key).into(), (*value).into()))
                .collect(),
            trace: call.trace,
            idempotent: call.options.idempotent,
            retries: attempts.retries,
            may_have_started: attempts.may_have_started,
        };
        Ok((open, opening))
    }

    /// Opens the call again after `error`, if that is safe and in time. Otherwise returns the error.
    pub(crate) async fn reopen(&mut self, error: CallError) -> Result<CallHandle, CallError> {
        let state = &*self.state;
        let pairs: Vec<_> = self.metadata.iter().map(|(k, v)| (&**k, &**v)).collect();
        let now = state.clock.now();
        if error.frame_code() == Some(FaultCode::OVERLOADED) {
            state.flow().record_rejection(now);
        }
        let mut request = CallRequest {
            kind: self.kind,
            operation: &self.operation,
            now,
            deadline: self.deadline,
            stream_deadline: self.stream_deadline,
            metadata: &pairs,
            trace: self.trace,
        };
        let options = CallOptions {
            idempotent: self.idempotent,
            retryable: &[],
        };
        let mut attempts = Attempts::resumed(state, self.retries, self.may_have_started);
        // Count before the await, in case this future is dropped.
        self.retries += 1;
        self.may_have_started |= !error.is_unstarted();
        attempts.retry(&mut request, error, &options).await?;
        let open = open(&mut attempts, &mut request, &options, &self.payload).await;
        self.retries = self.retries.max(attempts.retries);
        self.may_have_started |= attempts.may_have_started;
        open
    }
}

async fn open(
    attempts: &mut Attempts<'_>,
    request: &mut CallRequest<'_>,
    options: &CallOptions<'_>,
    payload: &[u8],
) -> Result<CallHandle, CallError> {
    let mut write = copying(payload);
    loop {
        attempts.check_deadline(request)?;
        let Some(attempt) = &attempts.attempt else {
            Box::pin(attempts.connect(request, &mut write)).await?;
            continue;
        };
        match attempt.link.open(request, payload).await {
            Ok(open) => {
                attempts.finish(CallOutcome::Opened);
                return Ok(open);
            }
            Err(error) => {
                Box::pin(attempts.retry(request, error, options)).await?;
            }
        }
    }
}

impl ClientState {
    /// Subscribes, and waits until the server has accepted the subscription.
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        call: &CallTemplate<'_>,
    ) -> Result<CallHandle, CallError> {
        let (mut open, mut opening) = OpenRequest::begin(self, call, Vec::new()).await?;
        loop {
            match opening.deadline.limit(self.clock, open.accepted()).await {
                Ok(()) => return Ok(open),
                Err(error) => open = opening.reopen(error).await?,
            }
        }
    }

    /// Makes a one-way call.
    pub(super) async fn notify(
        &self,
        call: &CallTemplate<'_>,
        payload: &[u8],
    ) -> Result<(), CallError> {
        let mut write = copying(payload);
        let mut request = call.request(self.clock.now());
        let mut attempts = Attempts::new(self);
        attempts.begin(request.now)?;
        loop {
            attempts.check_deadline(&request)?;
            let Some(attempt) = &attempts.attempt else {
                Box::pin(attempts.connect(&mut request, &mut write)).await?;
                continue;
            };
            let sent = attempt.link.notify(&request, payload);
            match request.deadline.limit(self.clock, sent).await {
                Ok(()) => {
                    attempts.finish(CallOutcome::Sent);
                    return Ok(());
                }
                Err(error) => {
                    Box::pin(attempts.retry(&mut request, error, &call.options)).await?;
                }
            }
        }
    }
}

fn copying(payload: &[u8]) -> impl FnMut(&mut Vec<u8>) -> Result<(), CallError> + Send {
    move |out| {
        out.extend_from_slice(payload);
        Ok(())
    }
}
