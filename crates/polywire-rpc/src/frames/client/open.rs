//! Calls with streams, subscriptions, and calls without an answer: a connection is found for them as for
//! all, and what becomes of them then is between them and it.

use std::fmt;
use std::sync::Arc;

use polywire_frame::{FaultCode, Trace};

use super::attempts::Attempts;
use super::retry::CallOptions;
use super::state::{CallTemplate, ClientState};
use super::stats::Outcome;
use crate::call::FrameDeadline;
use crate::error::CallError;
use crate::frames::request::{CallRequest, RequestKind};
use crate::frames::streams::Open;

/// What a call with streams was opened by, to open it again if the server has turned it away.
pub(crate) struct Opening {
    state: Arc<ClientState>,
    what: RequestKind,
    operation: Box<str>,
    payload: Vec<u8>,
    /// When it has begun at the latest, and when it has ended.
    deadline: FrameDeadline,
    lasts: FrameDeadline,
    metadata: Vec<(Box<str>, Box<[u8]>)>,
    trace: Option<Trace>,
    idempotent: bool,
    /// Further ones.
    tries: u32,
    /// A try may have been carried out.
    may_have_begun: bool,
}

impl fmt::Debug for Opening {
    /// Without payload and metadata, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening")
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}

impl Opening {
    /// Opens a call with streams, or a subscription.
    pub(super) async fn begin(
        state: &Arc<ClientState>,
        call: &CallTemplate<'_>,
        payload: Vec<u8>,
    ) -> Result<(Open, Self), CallError> {
        let mut request = call.request(state.clock.now());
        let mut attempts = Attempts::new(state);
        attempts.begin(request.now)?;
        let (deadline, lasts) = (request.deadline, request.lasts);
        let open = open(&mut attempts, &mut request, &call.options, &payload).await?;
        let opening = Self {
            state: Arc::clone(state),
            what: call.what,
            operation: call.operation.into(),
            payload,
            deadline,
            lasts,
            metadata: call
                .metadata
                .iter()
                .map(|(key, value)| ((*key).into(), (*value).into()))
                .collect(),
            trace: call.trace,
            idempotent: call.options.idempotent,
            tries: attempts.tries,
            may_have_begun: attempts.may_have_begun,
        };
        Ok((open, opening))
    }

    /// Opens it again, if that is safe and there is time for it. The error is why it is to be, and what is
    /// given back if it is not.
    pub(crate) async fn again(&mut self, error: CallError) -> Result<Open, CallError> {
        let state = &*self.state;
        let pairs: Vec<_> = self.metadata.iter().map(|(k, v)| (&**k, &**v)).collect();
        let now = state.clock.now();
        if error.frame_code() == Some(FaultCode::OVERLOADED) {
            state.flow().shed(now);
        }
        let mut request = CallRequest {
            what: self.what,
            operation: &self.operation,
            now,
            deadline: self.deadline,
            lasts: self.lasts,
            metadata: &pairs,
            trace: self.trace,
        };
        let options = CallOptions {
            idempotent: self.idempotent,
            retryable: &[],
        };
        let mut attempts = Attempts::resumed(state, self.tries, self.may_have_begun);
        // Also if nobody waits for the end of this.
        self.tries += 1;
        self.may_have_begun |= !error.is_unstarted();
        attempts.again(&mut request, error, &options).await?;
        let open = open(&mut attempts, &mut request, &options, &self.payload).await;
        self.tries = self.tries.max(attempts.tries);
        self.may_have_begun |= attempts.may_have_begun;
        open
    }
}

async fn open(
    attempts: &mut Attempts<'_>,
    request: &mut CallRequest<'_>,
    options: &CallOptions<'_>,
    payload: &[u8],
) -> Result<Open, CallError> {
    let mut write = copying(payload);
    loop {
        attempts.in_time(request)?;
        let Some(current) = &attempts.current else {
            Box::pin(attempts.connect(request, &mut write)).await?;
            continue;
        };
        match current.link.open(request, payload).await {
            Ok(open) => {
                attempts.ends(Outcome::Opened);
                return Ok(open);
            }
            Err(error) => {
                Box::pin(attempts.again(request, error, options)).await?;
            }
        }
    }
}

impl ClientState {
    /// Subscribes, and waits until the server has accepted it.
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        call: &CallTemplate<'_>,
    ) -> Result<Open, CallError> {
        let (mut open, mut opening) = Opening::begin(self, call, Vec::new()).await?;
        loop {
            match opening.deadline.limit(self.clock, open.accepted()).await {
                Ok(()) => return Ok(open),
                Err(error) => open = opening.again(error).await?,
            }
        }
    }

    /// Makes a call that nobody answers.
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
            attempts.in_time(&request)?;
            let Some(current) = &attempts.current else {
                Box::pin(attempts.connect(&mut request, &mut write)).await?;
                continue;
            };
            let sent = current.link.notify(&request, payload);
            match request.deadline.limit(self.clock, sent).await {
                Ok(()) => {
                    attempts.ends(Outcome::Sent);
                    return Ok(());
                }
                Err(error) => {
                    Box::pin(attempts.again(&mut request, error, &call.options)).await?;
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
