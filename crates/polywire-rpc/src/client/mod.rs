//! The client of a service with a model.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, response};
use polywire_codec::{DecodeAny, DecodeWith, Dynamic, Message, Slot, Typed};
use polywire_protocol::event_stream::stream_of;
use polywire_protocol::{
    ClientProtocol, Fault, Frame, Outcome, ProtocolKind, RequestOptions, WithToken, finish_request,
};
use polywire_schema::{
    Body, DecodeStructure, Decoder, Direction, Encode, Error, Limits, Map, Member, Operation,
    Schema, Value,
};
use uuid::Uuid;

use self::framed::{FramesClient, MessageCarrier, ModelledError};
use self::web::{Http, Servers};
use crate::{CallError, ServiceHandle};

mod batch;
mod builder;
mod endpoint;
mod error;
mod events;
mod exchange;
mod framed;
mod generated;
mod interceptor;
mod lines;
mod pages;
mod retry;
mod web;

pub use builder::ClientBuilder;
#[cfg(feature = "aws")]
pub(crate) use builder::DEFAULT_USER_AGENT;
pub use endpoint::{EndpointResolver, RequestEndpoint};
pub use error::ConnectError;
pub use generated::{Answer, OperationRequest};
pub use interceptor::{Interceptor, InterceptorFuture};
pub use pages::{DynamicPages, Pagination};
pub use retry::{Attempt, CallRetries, FailedAttempt, RetryPolicy};

/// A client of a service with a model, over one protocol. Clones share their connections.
///
/// The clients without a model are [`frames::Client`](crate::frames::Client), and
/// [`xmlrpc::Client`](crate::xmlrpc::Client) with its [blocking](crate::xmlrpc::blocking::Client) form.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    service: ServiceHandle,
    protocol: Box<dyn ClientProtocol>,
    carrier: Carrier,
    deadline: Duration,
    limits: Limits,
    options: RequestOptions,
}

/// What carries the calls.
#[derive(Debug)]
enum Carrier {
    Http(Box<Http>),
    /// Frames or lines. A trait object that only programs with one of them create, so that other programs do not link it.
    Messages(Box<dyn MessageCarrier>),
}

/// A request and its response, for observers.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The request.
    pub request: Request<Bytes>,
    /// The response, once it is received.
    pub response: Option<http::Response<Bytes>>,
}

/// What happens to a body of a response that is a blob with `@streaming`.
#[derive(Clone, Copy, Debug)]
enum ResponseMode {
    /// It is read into memory.
    Buffered,
    /// It becomes a stream.
    Streaming,
}

/// Without an observer.
const NO_OBSERVER: Option<&mut fn(&Exchange)> = None;

impl Client {
    /// Creates a builder of a client of a service over a protocol.
    pub fn builder(service: ServiceHandle, kind: ProtocolKind) -> ClientBuilder {
        let protocol = kind.client(service.service());
        let builder = ClientBuilder::new(service, protocol);
        match kind {
            ProtocolKind::Frame => builder.over_frames(),
            _ => builder,
        }
    }

    /// A client of a service over a client of frames, with its endpoints, flow control, retries and deadline.
    ///
    /// Operations that the model marks `@readonly` or `@idempotent`, and errors that it marks `@retryable`, are retried as
    /// the client of frames is configured.
    ///
    /// ```
    /// use polywire_rpc::{Client, ServiceHandle, frames};
    ///
    /// async fn weather(service: ServiceHandle) -> Result<Client, frames::ConnectError> {
    ///     let frames = frames::Client::builder()
    ///         .endpoint("tcp://a.example:7321")
    ///         .endpoint("tcp://b.example:7321")
    ///         .retries(5);
    ///     Ok(Client::over_frames(service, frames.connect().await?))
    /// }
    /// ```
    #[must_use]
    pub fn over_frames(service: ServiceHandle, frames: crate::frames::Client) -> Self {
        let framed = FramesClient::new(&service, frames, &HeaderMap::new());
        let inner = Inner {
            protocol: Box::new(Frame::new(service.service())),
            deadline: framed.deadline(),
            limits: framed.limits(),
            carrier: Carrier::Messages(Box::new(framed)),
            options: RequestOptions::DEFAULT,
            service,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Creates a builder of a client over a protocol with settings, such as XML-RPC at another path. A program that names
    /// its protocol like this, and not by its kind, does not link the other protocols.
    ///
    /// ```
    /// use polywire_protocol::{MountError, XmlRpc};
    /// use polywire_rpc::{Client, ClientBuilder, ServiceHandle};
    ///
    /// /// Calls `http://HOST/xmlrpc.php`, if it connects to `http://HOST`.
    /// fn blog(service: ServiceHandle) -> Result<ClientBuilder, MountError> {
    ///     let protocol = XmlRpc::new(service.service())?.at_path("/xmlrpc.php");
    ///     Ok(Client::builder_over(service, Box::new(protocol)))
    /// }
    /// ```
    pub fn builder_over(
        service: ServiceHandle,
        protocol: Box<dyn ClientProtocol>,
    ) -> ClientBuilder {
        ClientBuilder::new(service, Ok(protocol))
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> &ServiceHandle {
        &self.inner.service
    }

    /// Calls an operation: members by name in, members by name out.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub async fn call(&self, operation: &str, input: Map) -> Result<Value, CallError> {
        self.call_dynamic(operation, input, ResponseMode::Buffered, NO_OBSERVER)
            .await
    }

    /// Like [`Client::call`], but returns before the body of the response has arrived if it is a blob with `@streaming`.
    /// This member of the output is a [`Value::Stream`] then. An input can have a [`Value::Stream`] in each kind of call.
    ///
    /// The deadline applies until the head of the response arrives, and then to each wait for a piece. It starts again
    /// with each piece of a stream in the input.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub async fn call_streaming(&self, operation: &str, input: Map) -> Result<Value, CallError> {
        self.call_dynamic(operation, input, ResponseMode::Streaming, NO_OBSERVER)
            .await
    }

    /// Like [`Client::call`], and calls an observer with the request before it is sent, and with the response. Calls over
    /// frames are not shown.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub async fn call_showing(
        &self,
        operation: &str,
        input: Map,
        mut show: impl FnMut(&Exchange),
    ) -> Result<Value, CallError> {
        let mode = ResponseMode::Buffered;
        self.call_dynamic(operation, input, mode, Some(&mut show))
            .await
    }

    async fn call_dynamic(
        &self,
        operation: &str,
        input: Map,
        mode: ResponseMode,
        show: Option<&mut impl FnMut(&Exchange)>,
    ) -> Result<Value, CallError> {
        let operation = self.operation(operation)?;
        let input = Value::Map(input);
        let input = Dynamic(&input);
        let request = self.request(operation, &input)?;
        let (head, body) = self
            .exchange(operation.index(), request, mode, show)
            .await?;
        self.output(operation, &head, &body)
    }

    /// Returns the request that a call over HTTP sends: with URL, headers and body, before an
    /// [`Interceptor`] changes it. Over other transports it has what the protocol encodes.
    ///
    /// # Errors
    ///
    /// The input cannot be encoded, or the model has no such operation.
    pub fn encode_request(&self, operation: &str, input: Map) -> Result<Request<Bytes>, CallError> {
        let operation = self.operation(operation)?;
        self.request(operation, &Dynamic(&Value::Map(input)))
    }

    /// The output of a response, with its members by name.
    fn output(
        &self,
        operation: Operation<'_>,
        head: &response::Parts,
        body: &Body,
    ) -> Result<Value, CallError> {
        self.check(operation, head, body)?;
        let mut output = Map::new();
        let inner = &*self.inner;
        inner
            .protocol
            .decode_output(operation, head, body, &inner.limits, &mut output)
            .map_err(CallError::decode)?;
        Ok(Value::Map(output))
    }

    /// Calls an operation with types for its schemas.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub async fn call_typed<I, O>(&self, operation: &str, input: &I) -> Result<O, CallError>
    where
        I: Encode + Sync,
        O: for<'de> DecodeStructure<'de>,
    {
        let operation = self.operation(operation)?;
        let request = self.request(operation, &Typed::new(input))?;
        let mode = ResponseMode::Buffered;
        let (head, body) = self
            .exchange(operation.index(), request, mode, NO_OBSERVER)
            .await?;
        self.check(operation, &head, &body)?;
        let mut slot = Slot::<O>::new();
        let inner = &*self.inner;
        inner
            .protocol
            .decode_output(operation, &head, &body, &inner.limits, &mut slot)
            .map_err(CallError::decode)?;
        slot.into_value().ok_or_else(|| {
            let error = Error::new(polywire_schema::ErrorKind::Internal);
            CallError::decode(error.expected("a protocol that finishes the output"))
        })
    }

    fn operation(&self, name: &str) -> Result<Operation<'_>, CallError> {
        self.inner
            .service
            .find_operation(name)
            .ok_or_else(|| CallError::unknown_operation(name))
    }

    /// Sends a request and reads the answer, within the deadline.
    async fn exchange(
        &self,
        operation: u32,
        request: Request<Bytes>,
        mode: ResponseMode,
        show: Option<&mut impl FnMut(&Exchange)>,
    ) -> Result<(response::Parts, Body), CallError> {
        match &self.inner.carrier {
            Carrier::Http(http) => {
                let operation = Some(self.inner.service.operation(operation));
                self.exchange_http(http, request, operation, mode, show)
                    .await
            }
            Carrier::Messages(messages) => messages.exchange(operation, request.into_body()).await,
        }
    }

    /// The request of a call. Over HTTP it has the whole URL and all headers.
    fn request(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<Request<Bytes>, CallError> {
        let request = self.encode(operation, input)?;
        let resolver = match &self.inner.carrier {
            Carrier::Http(http) => http.servers.resolver(),
            Carrier::Messages(_) => None,
        };
        let endpoint = resolver.map(|resolver| resolver.resolve(operation, input));
        let endpoint = endpoint.transpose();
        let endpoint = endpoint.map_err(|error| CallError::encode_text(error.to_string()))?;
        let request = self.complete(&[operation], request, endpoint)?;
        match stream_of(operation, Direction::Request).is_some() {
            true => self.begin_events(operation, input, request),
            false => Ok(request),
        }
    }

    /// The request of a call as its protocol writes it.
    fn encode(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<Request<Bytes>, CallError> {
        let inner = &*self.inner;
        let request = match WithToken::is_due(operation, input) {
            false => inner.protocol.encode_input(operation, input),
            true => {
                let token = Uuid::new_v4().to_string();
                let input = WithToken::new(operation, input, &token);
                inner.protocol.encode_input(operation, &input)
            }
        };
        request.map_err(CallError::encode)
    }

    /// Adds what depends on the operations and on the server, if the request is sent over HTTP.
    fn complete(
        &self,
        operations: &[Operation<'_>],
        mut request: Request<Bytes>,
        endpoint: Option<RequestEndpoint>,
    ) -> Result<Request<Bytes>, CallError> {
        let inner = &*self.inner;
        if let Carrier::Http(http) = &inner.carrier {
            finish_request(operations, &mut request, &inner.options).map_err(CallError::encode)?;
            http.address(&mut request, endpoint)?;
        }
        Ok(request)
    }

    /// Returns an error unless the response has an output.
    fn check(
        &self,
        operation: Operation<'_>,
        head: &response::Parts,
        body: &Body,
    ) -> Result<(), CallError> {
        Err(match self.outcome(operation, head, body)? {
            Outcome::Output => return Ok(()),
            Outcome::Foreign(what) => CallError::protocol(what),
            Outcome::Fault(fault) => CallError::from(fault.with_head(&head.headers)),
            Outcome::Error(shape) => self.modelled(shape, head, body),
        })
    }

    /// What the response has. A modelled error over frames is known before its payload is decoded.
    fn outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
    ) -> Result<Outcome<'s>, CallError> {
        if let Some(ModelledError(index)) = head.extensions.get()
            && let Some(shape) = operation.errors().nth(*index)
        {
            return Ok(Outcome::Error(shape));
        }
        let inner = &*self.inner;
        let outcome = inner.protocol.outcome(operation, head, body, &inner.limits);
        outcome.map_err(CallError::decode)
    }

    /// A modelled error with its members by name.
    fn modelled(&self, shape: Schema<'_>, head: &response::Parts, body: &Body) -> CallError {
        let (protocol, limits) = (&self.inner.protocol, &self.inner.limits);
        let mut details = Details(Map::new());
        match protocol.decode_error(shape, head, body, limits, &mut details) {
            Ok(()) => {
                let fault = Fault::of_error(shape, details.0).with_status(head.status);
                CallError::from(fault.with_head(&head.headers))
            }
            Err(error) => CallError::decode(error),
        }
    }
}

/// The members of a modelled error. Errors by name are rare, so all formats share one function.
struct Details(Map);

impl<'de> DecodeAny<'de> for Details {
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.0.decode_any(at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.0.finish(at, decoder)
    }
}

impl<D> DecodeWith<'_, D> for Details {}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Client");
        shown.field("service", &self.inner.service);
        match &self.inner.carrier {
            Carrier::Http(http) => match &http.servers {
                Servers::One(transport) => shown.field("url", transport.url()),
                Servers::Resolved { resolver, .. } => shown.field("endpoints", resolver),
            },
            Carrier::Messages(messages) => shown.field("over", messages),
        };
        shown.finish_non_exhaustive()
    }
}
