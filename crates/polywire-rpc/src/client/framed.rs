//! Calls of a service over frames.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, response};
use polywire_codec::cbor;
use polywire_frame::FaultCode;
use polywire_protocol::{Fault, FaultKind};
use polywire_schema::{Body, Error, ErrorKind, Limits, Operation, OperationFlags, Value};

use super::{CallError, ClientBuilder, ConnectError};
use crate::ServiceHandle;
use crate::frames::{self, CallOptions, FrameFault};

/// What an exchange gives.
pub(super) type Exchanged = Result<(response::Parts, Body), CallError>;

pub(super) type Exchanging = Pin<Box<dyn Future<Output = Exchanged> + Send>>;

/// Makes connections for frames.
pub(super) type OpenFrames = fn(&ClientBuilder, &str) -> Result<Box<dyn Carrier>, ConnectError>;

/// What carries calls that are no messages of HTTP.
pub(super) trait Carrier: fmt::Debug + Send + Sync {
    /// Makes a call of the operation with that index.
    fn exchange(&self, operation: u32, payload: Bytes) -> Exchanging;
}

/// A client of frames, and what it has to know of a service.
pub(super) struct Framed {
    client: frames::Client,
    /// By their indices.
    operations: Vec<Option<Arc<Called>>>,
    /// What stands beside each call.
    metadata: Arc<[Entry]>,
}

/// A key of metadata, and what stands for it.
type Entry = (Box<str>, Box<[u8]>);

/// What is known of an operation.
#[derive(Debug)]
struct Called {
    /// As frames name it.
    name: Box<str>,
    idempotent: bool,
    /// The statuses of its errors, which have names without namespaces.
    statuses: Vec<(Box<str>, StatusCode)>,
    /// The names of errors that may be gone at the next try.
    retryable: Vec<Box<str>>,
}

impl Framed {
    pub(super) fn new(
        service: &ServiceHandle,
        client: frames::Client,
        headers: &HeaderMap,
    ) -> Self {
        let service = service.service();
        let mut operations = Vec::new();
        for operation in service.operations() {
            let index = operation.index() as usize;
            operations.resize_with(operations.len().max(index + 1), || None);
            operations[index] = Some(Arc::new(Called::new(service.name(), operation)));
        }
        let metadata = headers.iter();
        let metadata =
            metadata.map(|(name, value)| (name.as_str().into(), value.as_bytes().into()));
        Self {
            client,
            operations,
            metadata: metadata.collect(),
        }
    }

    /// Makes a client of frames as a builder has it.
    pub(super) fn open(
        builder: &ClientBuilder,
        url: &str,
    ) -> Result<Box<dyn Carrier>, ConnectError> {
        if tokio::runtime::Handle::try_current().is_err() {
            let message = format!("{url}: frames need tokio's runtime, and there is none here");
            return Err(ConnectError::Url(message));
        }
        let frames = frames::Client::builder()
            .endpoint(url)
            .deadline(builder.deadline)
            .limits(builder.limits)
            .connect_timeout(builder.connection.timeout)
            .proxy(builder.connection.proxy.clone());
        #[cfg(feature = "tls")]
        let frames = frames.tls(builder.connection.tls.clone());
        let client = frames.build();
        let client = client.map_err(|error| ConnectError::Url(error.to_string()))?;
        Ok(Box::new(Self::new(
            &builder.service,
            client,
            &builder.headers,
        )))
    }

    pub(super) const fn deadline(&self) -> Duration {
        self.client.deadline()
    }

    pub(super) fn limits(&self) -> Limits {
        self.client.limits()
    }
}

impl Called {
    fn new(service: &str, operation: Operation<'_>) -> Self {
        let errors = operation.errors().filter_map(|error| {
            let traits = error.error()?;
            Some((Box::from(error.name()), traits))
        });
        let errors: Vec<(Box<str>, _)> = errors.collect();
        let again = errors
            .iter()
            .filter(|(_, traits)| traits.retryable.is_some());
        Self {
            name: format!("{service}.{}", operation.name()).into(),
            idempotent: operation.has(OperationFlags::READONLY)
                || operation.has(OperationFlags::IDEMPOTENT),
            retryable: again.map(|(name, _)| name.clone()).collect(),
            statuses: errors
                .iter()
                .map(|(name, traits)| {
                    let status = StatusCode::from_u16(traits.status);
                    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                    (name.clone(), status)
                })
                .collect(),
        }
    }

    fn options(&self) -> CallOptions<'_> {
        CallOptions {
            idempotent: self.idempotent,
            retryable: &self.retryable,
        }
    }

    /// What a call that has failed ends in.
    fn failed(&self, error: frames::CallError, within: Duration) -> Exchanged {
        Err(match error {
            frames::CallError::Fault(fault) => return self.fault(&fault),
            frames::CallError::Deadline => CallError::Deadline(within),
            frames::CallError::Invalid(what) => {
                CallError::Request(Error::new(ErrorKind::Unwritable).expected(what))
            }
            frames::CallError::Unreadable(why) => {
                CallError::Response(Error::new(ErrorKind::Structure).expected(why.to_string()))
            }
            error => CallError::Transport(Box::new(error)),
        })
    }

    /// An error of the model is an answer, and is read like one.
    fn fault(&self, fault: &FrameFault) -> Exchanged {
        let name = fault.name();
        let name = name.rsplit_once('#').map_or(name, |(_, name)| name);
        let mut known = self.statuses.iter();
        if fault.code() == FaultCode::MODELLED
            && let Some((_, status)) = known.find(|(known, _)| **known == *name)
        {
            let details = cbor::to_vec(&Value::Map(fault.details().clone()));
            let details = details.map_err(CallError::Response)?;
            let mut head = head();
            head.status = *status;
            return Ok((head, Body::new(Bytes::from(details))));
        }
        let read = read_fault(fault.code(), name, fault.message());
        Err(CallError::Fault(match fault.retry_after() {
            Some(time) => read.with_retry_after(time),
            None => read,
        }))
    }
}

fn pairs(metadata: &[Entry]) -> Vec<(&str, &[u8])> {
    let pairs = metadata.iter();
    pairs.map(|(name, value)| (&**name, &**value)).collect()
}

impl fmt::Debug for Framed {
    /// Without metadata, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Framed")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl Carrier for Framed {
    fn exchange(&self, operation: u32, payload: Bytes) -> Exchanging {
        let called = match self.called(operation) {
            Ok(called) => called,
            Err(error) => return Box::pin(async { Err(error) }),
        };
        let (client, called) = (self.client.clone(), Arc::clone(called));
        let metadata = Arc::clone(&self.metadata);
        Box::pin(async move {
            let metadata = pairs(&metadata);
            let options = called.options();
            let answer = client.call_payload(&called.name, &payload, &metadata, options);
            match answer.await {
                Ok(payload) => Ok((head(), Body::new(payload))),
                Err(error) => called.failed(error, client.deadline()),
            }
        })
    }
}

impl Framed {
    fn called(&self, operation: u32) -> Result<&Arc<Called>, CallError> {
        let called = self.operations.get(operation as usize);
        called.and_then(Option::as_ref).ok_or_else(|| {
            let error = Error::new(ErrorKind::Internal);
            CallError::Request(error.expected("an operation of the service"))
        })
    }
}

/// A head of HTTP without anything in it, which is that of an output.
fn head() -> response::Parts {
    http::Response::new(()).into_parts().0
}

/// A fault that is none of the model.
fn read_fault(code: FaultCode, name: &str, message: &str) -> Fault {
    let own_name = match name {
        "" => code.to_string(),
        name => name.to_owned(),
    };
    // Faults have no kind for these: the status tells them apart, as it does over HTTP.
    let status = match code {
        FaultCode::FORBIDDEN => StatusCode::FORBIDDEN,
        FaultCode::UNAUTHENTICATED => StatusCode::UNAUTHORIZED,
        _ => {
            let kind = FaultKind::from_name(name).unwrap_or(kind_of(code));
            return Fault::new(kind, message).with_name(own_name);
        }
    };
    Fault::named(status, own_name, message)
}

const fn kind_of(code: FaultCode) -> FaultKind {
    match code {
        FaultCode::DEADLINE => FaultKind::DeadlineExceeded,
        FaultCode::INVALID => FaultKind::Invalid,
        FaultCode::MALFORMED | FaultCode::UNSUPPORTED => FaultKind::Malformed,
        FaultCode::NAMED => FaultKind::Named,
        FaultCode::OVERLOADED | FaultCode::UNAVAILABLE => FaultKind::Overloaded,
        FaultCode::TOO_LARGE => FaultKind::TooLarge,
        FaultCode::UNKNOWN_OPERATION => FaultKind::UnknownOperation,
        _ => FaultKind::Internal,
    }
}

#[cfg(test)]
mod tests {
    use polywire_protocol::Retry;

    use super::*;

    #[test]
    fn callers_that_are_not_known_or_may_not_are_told_so() {
        for (code, status, words) in [
            (FaultCode::UNAUTHENTICATED, 401, "unauthenticated"),
            (FaultCode::FORBIDDEN, 403, "forbidden"),
        ] {
            for (name, shown) in [
                ("", words),
                ("AccessDeniedException", "AccessDeniedException"),
            ] {
                let fault = read_fault(code, name, "no");
                assert_eq!(fault.kind(), FaultKind::Named, "{code}");
                assert_eq!(fault.status().as_u16(), status, "{code}");
                assert_eq!((fault.name(), fault.message()), (shown, "no"));
                assert_eq!(fault.retry(), Retry::No);
            }
        }
        let other = read_fault(FaultCode::NAMED, "ValidationException", "no");
        assert_eq!(other.kind(), FaultKind::Invalid);
        assert_eq!(
            read_fault(FaultCode::INTERNAL, "", "").kind(),
            FaultKind::Internal
        );
    }
}
