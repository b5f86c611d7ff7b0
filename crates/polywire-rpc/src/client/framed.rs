//! Calls of a service over frames.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, response};
use polywire_frame::FaultCode;
use polywire_schema::{Body, Error, ErrorKind, Limits, Operation, OperationFlags};

use super::{ClientBuilder, ConnectError};
use crate::error::general_fault;
use crate::frames::{self, CallOptions};
use crate::{CallError, ServiceHandle};

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
    errors: Vec<KnownError>,
    /// The names of the errors that the model marks as retryable.
    retryable: Vec<Box<str>>,
}

/// An error of the model.
#[derive(Debug)]
struct KnownError {
    /// Without namespace.
    name: Box<str>,
    /// Among the errors of the operation.
    index: usize,
    status: StatusCode,
    is_retryable: bool,
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
        let errors = operation.errors().enumerate().filter_map(|(index, error)| {
            let traits = error.error()?;
            let status = StatusCode::from_u16(traits.status);
            Some(KnownError {
                name: error.name().into(),
                index,
                status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
                is_retryable: traits.retryable.is_some(),
            })
        });
        let errors: Vec<_> = errors.collect();
        let retryable = errors.iter().filter(|error| error.is_retryable);
        Self {
            name: format!("{service}.{}", operation.name()).into(),
            idempotent: operation.has(OperationFlags::READONLY)
                || operation.has(OperationFlags::IDEMPOTENT),
            retryable: retryable.map(|error| error.name.clone()).collect(),
            errors,
        }
    }

    fn options(&self) -> CallOptions<'_> {
        CallOptions {
            idempotent: self.idempotent,
            retryable: &self.retryable,
        }
    }

    /// A modelled error is a response, whose payload the protocol decodes. Other errors stay errors.
    fn failed(&self, error: CallError, within: Duration) -> Exchanged {
        let Some(fault) = error.as_frame_fault() else {
            return Err(error.within(within));
        };
        if fault.code() != FaultCode::MODELLED {
            return Err(error);
        }
        let name = fault.name().unwrap_or_default();
        let mut errors = self.errors.iter();
        let Some(known) = errors.find(|known| *known.name == *name) else {
            // The model does not list it, so it means nothing to the caller.
            let fault = general_fault(FaultCode::INTERNAL, &name, fault.fault().message());
            return Err(fault.into());
        };
        let mut head = head();
        head.status = known.status;
        head.extensions.insert(ModelledError(known.index));
        Ok((head, Body::new(Bytes::copy_from_slice(fault.payload()))))
    }
}

/// The index of the error in the operation, in the extensions of a head.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelledError(pub(super) usize);

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
            CallError::encode(error.expected("an operation of the service"))
        })
    }
}

/// A head of HTTP without anything in it, which is that of an output.
fn head() -> response::Parts {
    http::Response::new(()).into_parts().0
}
