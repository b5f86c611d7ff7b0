//! Clients of a service over frames.

use std::fmt;
use std::future::Future;
use std::ops::Range;
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

/// The response of a call, or why there is none.
pub(super) type ExchangeResult = Result<(response::Parts, Body), CallError>;

pub(super) type ExchangeFuture = Pin<Box<dyn Future<Output = ExchangeResult> + Send>>;

/// Creates a client of frames.
pub(super) type OpenFrames =
    fn(&ClientBuilder, &str) -> Result<Box<dyn MessageCarrier>, ConnectError>;

/// Carries calls that are not HTTP messages.
pub(super) trait MessageCarrier: fmt::Debug + Send + Sync {
    /// Calls the operation with this index.
    fn exchange(&self, operation: u32, payload: Bytes) -> ExchangeFuture;

    /// Returns ids for the calls of a message with several.
    fn reserve_ids(&self, count: u64) -> Range<u64> {
        1..count.saturating_add(1)
    }

    /// Sends a message with the calls of these ids. Without ids the response is empty, and comes
    /// when the message is written.
    fn exchange_message(&self, ids: Range<u64>, message: Bytes) -> ExchangeFuture {
        let _ = (ids, message);
        let error = CallError::usage("each message of this connection is one call");
        Box::pin(async { Err(error) })
    }
}

/// A client of frames, with the operations of a service.
pub(super) struct FramesClient {
    client: frames::Client,
    /// The operations by index.
    operations: Vec<Option<Arc<OperationInfo>>>,
    /// The metadata of each call.
    metadata: Arc<[MetadataEntry]>,
}

/// A key of metadata and its value.
type MetadataEntry = (Box<str>, Box<[u8]>);

/// An operation of the model.
#[derive(Debug)]
struct OperationInfo {
    /// The name in frames.
    name: Box<str>,
    idempotent: bool,
    errors: Vec<ModelError>,
    /// The names of the errors that the model marks as retryable.
    retryable: Vec<Box<str>>,
}

/// An error of the model.
#[derive(Debug)]
struct ModelError {
    /// The name without the namespace.
    name: Box<str>,
    /// The index in the errors of the operation.
    index: usize,
    status: StatusCode,
    is_retryable: bool,
}

impl FramesClient {
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
            operations[index] = Some(Arc::new(OperationInfo::new(service.name(), operation)));
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

    /// Creates a client of frames with the settings of a builder.
    pub(super) fn open(
        builder: &ClientBuilder,
        url: &str,
    ) -> Result<Box<dyn MessageCarrier>, ConnectError> {
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

impl OperationInfo {
    fn new(service: &str, operation: Operation<'_>) -> Self {
        let errors = operation.errors().enumerate().filter_map(|(index, error)| {
            let traits = error.error()?;
            let status = StatusCode::from_u16(traits.status);
            Some(ModelError {
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
    fn failed(&self, error: CallError, within: Duration) -> ExchangeResult {
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

fn pairs(metadata: &[MetadataEntry]) -> Vec<(&str, &[u8])> {
    let pairs = metadata.iter();
    pairs.map(|(name, value)| (&**name, &**value)).collect()
}

// Without metadata, which may be secret.
impl_debug!(FramesClient { client });

impl MessageCarrier for FramesClient {
    fn exchange(&self, operation: u32, payload: Bytes) -> ExchangeFuture {
        let info = match self.operation(operation) {
            Ok(info) => info,
            Err(error) => return Box::pin(async { Err(error) }),
        };
        let (client, info) = (self.client.clone(), Arc::clone(info));
        let metadata = Arc::clone(&self.metadata);
        Box::pin(async move {
            let metadata = pairs(&metadata);
            let options = info.options();
            let answer = client.call_payload(&info.name, &payload, &metadata, options);
            match answer.await {
                Ok(payload) => Ok((head(), Body::new(payload))),
                Err(error) => info.failed(error, client.deadline()),
            }
        })
    }
}

impl FramesClient {
    fn operation(&self, operation: u32) -> Result<&Arc<OperationInfo>, CallError> {
        let info = self.operations.get(operation as usize);
        info.and_then(Option::as_ref).ok_or_else(|| {
            let error = Error::new(ErrorKind::Internal);
            CallError::encode(error.expected("an operation of the service"))
        })
    }
}

/// The head of a response with an output: status 200 without headers.
fn head() -> response::Parts {
    http::Response::new(()).into_parts().0
}
