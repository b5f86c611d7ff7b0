//! Calls of generated clients.
//!
//! Generic functions are compiled once per operation, so they are small. They call functions over messages and sinks.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::response;
use polywire_codec::{Message, NoFormats, Sink, Slot, Typed};
use polywire_protocol::Outcome;
use polywire_schema::{Body, DecodeStructure, Error, ErrorKind, MissingMember, Schema};

use super::framed::ExchangeFuture;
use super::{Client, NO_OBSERVER, ResponseMode};
use crate::CallError;
use crate::generated::{Operation, OperationError};

/// A response with a modelled error.
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

    /// Decodes the structure.
    ///
    /// # Errors
    ///
    /// The response does not have the structure.
    pub fn read<T>(&self) -> Result<T, CallError>
    where
        T: for<'de> DecodeStructure<'de>,
    {
        // Errors are rare, so they are not decoded by code for each format.
        let mut slot = Slot::<T, NoFormats>::with_formats();
        self.read_into(&mut slot)?;
        slot.into_value().ok_or_else(unfinished)
    }

    fn read_into<'de>(&'de self, sink: &mut dyn Sink<'de>) -> Result<(), CallError> {
        let inner = &*self.client.inner;
        inner
            .protocol
            .decode_error(self.shape, self.head, self.body, &inner.limits, sink)
            .map_err(CallError::decode)
    }

    /// The error with its members by name.
    #[must_use]
    pub fn fault(&self) -> CallError {
        self.client.modelled(self.shape, self.head, self.body)
    }
}

/// A call of a generated client. Awaiting it sends the request and returns the output of the operation, or one of its
/// errors.
///
/// It is not an `async fn`, which would be compiled once per operation and be much larger. The code that depends on the
/// operation is behind a function pointer, so that it is compiled in the crate of the client.
#[must_use = "nothing is sent before it is awaited"]
pub struct OperationRequest<O: Operation> {
    client: Client,
    exchange: ExchangeFuture,
    read: Read<O>,
}

type Read<O> = fn(
    &Client,
    &response::Parts,
    &Body,
) -> Result<<O as Operation>::Output, <O as Operation>::Error>;

impl<O: Operation> fmt::Debug for OperationRequest<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperationRequest").finish_non_exhaustive()
    }
}

impl<O: Operation> Future for OperationRequest<O> {
    type Output = Result<O::Output, O::Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (head, body) = ready!(self.exchange.as_mut().poll(context))?;
        Poll::Ready((self.read)(&self.client, &head, &body))
    }
}

impl Client {
    /// Calls an operation of generated code.
    #[doc(hidden)]
    pub fn call_generated<O: Operation>(
        &self,
        input: Result<O::Input, MissingMember>,
    ) -> OperationRequest<O> {
        let exchange = match input {
            Ok(input) => self.begin(O::INDEX, Ok(&Typed::<_, O::Formats>::with_formats(input))),
            Err(missing) => self.begin(O::INDEX, Err(missing)),
        };
        OperationRequest {
            client: self.clone(),
            exchange,
            read: Self::generated_output::<O>,
        }
    }

    /// Encodes a request, and returns the future that sends it.
    fn begin(&self, operation: u32, input: Result<&dyn Message, MissingMember>) -> ExchangeFuture {
        let request = match input {
            Ok(input) => self.request(self.inner.service.operation(operation), input),
            Err(missing) => {
                let error = Error::new(ErrorKind::Missing);
                let error = error.expected(missing.member).at_path(missing.shape);
                Err(CallError::encode(error))
            }
        };
        let client = self.clone();
        Box::pin(async move {
            let mode = ResponseMode::Streaming;
            client
                .exchange(operation, request?, mode, NO_OBSERVER)
                .await
        })
    }

    fn generated_output<O: Operation>(
        &self,
        head: &response::Parts,
        body: &Body,
    ) -> Result<O::Output, O::Error> {
        let mut slot = Slot::<O::Output, O::Formats>::with_formats();
        match self.read_answer(O::INDEX, head, body, &mut slot) {
            Ok(None) => Ok(slot.into_value().ok_or_else(unfinished)?),
            Ok(Some(answer)) => Err(O::Error::read(&answer)),
            Err(error) => Err(error.into()),
        }
    }

    /// Decodes an output. Returns the response if it has a modelled error instead.
    fn read_answer<'de>(
        &'de self,
        operation: u32,
        head: &'de response::Parts,
        body: &'de Body,
        sink: &mut dyn Sink<'de>,
    ) -> Result<Option<Answer<'de>>, CallError> {
        let inner = &*self.inner;
        let operation = inner.service.operation(operation);
        match self.outcome(operation, head, body)? {
            Outcome::Output => {}
            Outcome::Foreign(what) => return Err(CallError::protocol(what)),
            Outcome::Fault(fault) => {
                return Err(CallError::from(fault.with_head(&head.headers)));
            }
            Outcome::Error(shape) => {
                return Ok(Some(Answer {
                    client: self,
                    shape,
                    head,
                    body,
                }));
            }
        }
        inner
            .protocol
            .decode_output(operation, head, body, &inner.limits, sink)
            .map_err(CallError::decode)?;
        Ok(None)
    }
}

#[cold]
fn unfinished() -> CallError {
    let error = Error::new(ErrorKind::Internal);
    CallError::decode(error.expected("a protocol that finishes the structure"))
}
