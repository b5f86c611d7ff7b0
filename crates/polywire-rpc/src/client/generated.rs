//! Calls of generated clients.
//!
//! What is generic here is compiled once an operation, so it is little: the
//! way over the network is one boxed future that all operations share.

use std::future::Future;
use std::pin::Pin;

use http::{Request, response};
use polywire_codec::{Chosen, ChosenSlot, Formats};
use polywire_protocol::Outcome;
use polywire_schema::{Body, DecodeStructure, Error, ErrorKind, MissingMember, Schema};

use super::{CallError, Client, SILENT};
use crate::generated::{Operation, OperationError};

/// An answer that holds an error of the model.
#[derive(Debug)]
pub struct Answer<'a> {
    client: &'a Client,
    shape: Schema<'a>,
    head: &'a response::Parts,
    body: &'a Body,
}

impl Answer<'_> {
    /// The id of the error's structure.
    #[must_use]
    pub fn shape(&self) -> &str {
        self.shape.id()
    }

    /// Reads the structure.
    ///
    /// # Errors
    ///
    /// The answer does not hold it.
    pub fn read<T, F>(&self) -> Result<T, CallError>
    where
        T: for<'de> DecodeStructure<'de>,
        F: Formats,
    {
        let inner = &*self.client.inner;
        let mut slot = ChosenSlot::<T, F>::new();
        inner
            .protocol
            .decode_error(self.shape, self.head, self.body, &inner.limits, &mut slot)
            .map_err(CallError::Response)?;
        slot.into_value().ok_or_else(unfinished)
    }

    /// The error by member names.
    #[must_use]
    pub fn fault(&self) -> CallError {
        self.client.modelled(self.shape, self.head, self.body)
    }
}

type Exchanged = Result<(response::Parts, Body), CallError>;

impl Client {
    /// Calls an operation of generated code.
    ///
    /// # Errors
    ///
    /// The error of the model, or what a call can end in besides.
    #[doc(hidden)]
    pub async fn call_generated<O: Operation>(
        &self,
        input: Result<O::Input, MissingMember>,
    ) -> Result<O::Output, O::Error> {
        let request = self.generated_request::<O>(input)?;
        let (head, body) = self.generated_exchange(request).await?;
        self.generated_output::<O>(&head, &body)
    }

    fn generated_request<O: Operation>(
        &self,
        input: Result<O::Input, MissingMember>,
    ) -> Result<Request<bytes::Bytes>, CallError> {
        let input = input.map_err(|missing| {
            let error = Error::new(ErrorKind::Missing);
            CallError::Request(error.expected(missing.member).at_path(missing.shape))
        })?;
        let operation = self.inner.service.operation(O::INDEX);
        self.request(operation, &Chosen::<_, O::Formats>::new(&input))
    }

    fn generated_exchange(
        &self,
        request: Request<bytes::Bytes>,
    ) -> Pin<Box<dyn Future<Output = Exchanged> + Send + '_>> {
        Box::pin(self.exchange(request, SILENT))
    }

    fn generated_output<O: Operation>(
        &self,
        head: &response::Parts,
        body: &Body,
    ) -> Result<O::Output, O::Error> {
        let inner = &*self.inner;
        let operation = inner.service.operation(O::INDEX);
        let outcome = inner.protocol.outcome(operation, head, body, &inner.limits);
        match outcome.map_err(CallError::Response)? {
            Outcome::Output => {}
            Outcome::Foreign(what) => return Err(CallError::Foreign(what).into()),
            Outcome::Fault(fault) => {
                return Err(CallError::Fault(fault.with_head(&head.headers)).into());
            }
            Outcome::Error(shape) => {
                return Err(O::Error::read::<O::Formats>(&Answer {
                    client: self,
                    shape,
                    head,
                    body,
                }));
            }
        }
        let mut slot = ChosenSlot::<O::Output, O::Formats>::new();
        inner
            .protocol
            .decode_output(operation, head, body, &inner.limits, &mut slot)
            .map_err(CallError::Response)?;
        Ok(slot.into_value().ok_or_else(unfinished)?)
    }
}

fn unfinished() -> CallError {
    let error = Error::new(ErrorKind::Internal);
    CallError::Response(error.expected("a protocol that finishes the structure"))
}
