//! Support for generated clients and servers. Programs use the generated code, and [`Paginator`] and [`Items`] of this
//! module.

use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use futures_core::Stream;
use polywire_codec::{Formats, Slot, Typed};
use polywire_protocol::{
    ClientProtocol, Fault, Frame, FromService, MountError, ProtocolKind, ReadPlan, ServerProtocol,
    Validator, read_input,
};
use polywire_schema::{DecodeStructure, Encode, Value, to_value};

use crate::client::{Answer, Client, ClientBuilder};
use crate::handler::wrong_input;
use crate::{
    Call, CallError, Context, Handler, HandlerFuture, Input, Output, ServerBuilder, ServiceHandle,
};

/// Selects a protocol among those of a generated client. Generated code names each protocol, so that a program links no
/// others.
#[must_use]
#[derive(Debug)]
pub struct ClientProtocols {
    service: ServiceHandle,
    kind: ProtocolKind,
    /// The selected protocol.
    protocol: Option<Result<Box<dyn ClientProtocol>, MountError>>,
    /// All protocols of the client.
    kinds: Vec<ProtocolKind>,
    /// Configures a client builder for frames, if frames are selected.
    configure_frames: Option<fn(ClientBuilder) -> ClientBuilder>,
}

impl ClientProtocols {
    /// Selects the protocol `kind`, which [`or`](Self::or) and the other methods add.
    pub const fn new(service: ServiceHandle, kind: ProtocolKind) -> Self {
        Self {
            service,
            kind,
            protocol: None,
            kinds: Vec::new(),
            configure_frames: None,
        }
    }

    /// Adds a protocol.
    pub fn or<P: ClientProtocol + FromService + 'static>(mut self, kind: ProtocolKind) -> Self {
        if self.kind == kind {
            let protocol = P::from_service(self.service.service());
            self.protocol = Some(protocol.map(|protocol| Box::new(protocol) as _));
        }
        self.kinds.push(kind);
        self
    }

    /// Adds frames.
    pub fn or_frames(mut self) -> Self {
        if self.kind == ProtocolKind::Frame {
            self.configure_frames = Some(ClientBuilder::over_frames);
        }
        self.or::<Frame>(ProtocolKind::Frame)
    }

    /// Returns the builder of the client. If the selected protocol was not added, connecting fails.
    pub fn client(self) -> ClientBuilder {
        let left_out = || Err(MountError::left_out(self.kind, &self.kinds));
        let builder = ClientBuilder::new(self.service, self.protocol.unwrap_or_else(left_out));
        match self.configure_frames {
            Some(configure) => configure(builder),
            None => builder,
        }
    }
}

/// An operation of a generated module.
pub trait Operation: Send + Sync + 'static {
    /// The input.
    type Input: Clone + Encode + for<'de> DecodeStructure<'de> + Send + Sync + 'static;
    /// The output.
    type Output: Encode + for<'de> DecodeStructure<'de> + Send + Sync + 'static;
    /// The modelled errors, and [`CallError`].
    type Error: OperationError;
    /// The formats with generated codecs.
    type Formats: Formats;
    /// The index in the schema set.
    const INDEX: u32;
}

/// The errors of an operation.
pub trait OperationError: From<CallError> + Send + 'static {
    /// Decodes a modelled error.
    fn read(answer: &Answer<'_>) -> Self;
}

/// The errors of an operation on the server.
pub trait HandlerError: OperationError {
    /// Converts the error into the fault that the server sends.
    fn into_fault(self, service: &ServiceHandle) -> Fault;
}

/// Converts a modelled error into a fault.
pub fn fault<T: Encode>(service: &ServiceHandle, shape: &str, error: &T) -> Fault {
    let Some(schema) = service.set().find_shape(shape) else {
        return Fault::internal(format!("no shape {shape}"));
    };
    match to_value(error, schema.root()) {
        Ok(Value::Map(details)) => Fault::modelled(shape, details),
        Ok(_) => Fault::internal(format!("{shape} is no structure")),
        Err(error) => Fault::internal(error),
    }
}

/// Converts the failure of a call into a fault.
pub fn other_fault(error: CallError) -> Fault {
    error.into_fault().unwrap_or_else(Fault::internal)
}

/// Adds the handler of an operation, which calls a function of the implementation.
pub fn offer<O, S, F, R>(
    builder: ServerBuilder,
    service: &ServiceHandle,
    implementation: &Arc<S>,
    function: F,
) -> ServerBuilder
where
    O: Operation,
    O::Error: HandlerError,
    S: Send + Sync + 'static,
    F: Fn(Arc<S>, O::Input, Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O::Output, O::Error>> + Send + 'static,
{
    let name = service.operation(O::INDEX).name().to_owned();
    let handler = GeneratedHandler {
        service: service.clone(),
        implementation: Arc::clone(implementation),
        function,
        operation: PhantomData::<fn() -> O>,
    };
    builder.operation(name, handler)
}

struct GeneratedHandler<O, S, F> {
    service: ServiceHandle,
    implementation: Arc<S>,
    function: F,
    operation: PhantomData<fn() -> O>,
}

impl<O, S, F, R> Handler for GeneratedHandler<O, S, F>
where
    O: Operation,
    O::Error: HandlerError,
    S: Send + Sync + 'static,
    F: Fn(Arc<S>, O::Input, Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O::Output, O::Error>> + Send + 'static,
{
    fn decode(
        &self,
        protocol: &dyn ServerProtocol,
        operation: polywire_schema::Operation<'_>,
        request: &ReadPlan<'_>,
        validator: Option<&Validator>,
    ) -> Result<Input, Fault> {
        let mut slot = Slot::<O::Input, O::Formats>::with_formats();
        read_input(protocol, operation, request, &mut slot, validator)?;
        match slot.into_value() {
            Some(value) => Ok(Input::Typed(Box::new(value))),
            None => Err(Fault::internal("the protocol did not finish the input")),
        }
    }

    fn is_streaming(&self) -> bool {
        true
    }

    fn call(&self, call: Call) -> HandlerFuture {
        let Input::Typed(input) = call.input else {
            return wrong_input();
        };
        let Ok(input) = input.downcast::<O::Input>() else {
            return wrong_input();
        };
        let future = (self.function)(Arc::clone(&self.implementation), *input, call.context);
        let service = self.service.clone();
        Box::pin(async move {
            match future.await {
                Ok(output) => Ok(Output::of(Typed::<_, O::Formats>::with_formats(output))),
                Err(error) => Err(error.into_fault(&service)),
            }
        })
    }
}

/// An operation with paginated output.
pub trait Pages: Operation {
    /// The pagination token.
    type Token: Clone + PartialEq + Send;

    /// The token of the next page. `None` on the last page.
    fn token(output: &Self::Output) -> Option<Self::Token>;

    /// Sets the token of the page to request.
    fn set_token(input: &mut Self::Input, token: Self::Token);
}

/// An operation with paginated output whose model names the member with the items.
pub trait ItemPages: Pages {
    /// An item.
    type Item: Send;

    /// The items of a page.
    fn items(output: Self::Output) -> Vec<Self::Item>;
}

/// The pages of an operation. Each page is one call.
#[derive(Debug)]
#[must_use = "pages are requested by `next`"]
pub struct Paginator<O: Pages> {
    client: Client,
    /// The input of the next call. `None` after the last page.
    next: Option<O::Input>,
    /// The token of the last call.
    last: Option<O::Token>,
    /// The reason why the input could not be built.
    missing: Option<polywire_schema::MissingMember>,
}

impl<O: Pages> Paginator<O>
where
    O::Input: Clone,
{
    #[doc(hidden)]
    pub fn new(client: Client, input: Result<O::Input, polywire_schema::MissingMember>) -> Self {
        let (next, missing) = match input {
            Ok(input) => (Some(input), None),
            Err(missing) => (None, Some(missing)),
        };
        Self {
            client,
            next,
            last: None,
            missing,
        }
    }

    /// Requests the next page. `None` after the last page, after a failed call, and if the server returns the same token
    /// twice in a row.
    pub async fn next(&mut self) -> Option<Result<O::Output, O::Error>> {
        if let Some(missing) = self.missing.take() {
            return Some(self.client.call_generated::<O>(Err(missing)).await);
        }
        let input = self.next.take()?;
        let output = self.client.call_generated::<O>(Ok(input.clone())).await;
        if let Ok(output) = &output
            && let Some(token) = O::token(output)
            && self.last.as_ref() != Some(&token)
        {
            let mut input = input;
            O::set_token(&mut input, token.clone());
            self.next = Some(input);
            self.last = Some(token);
        }
        Some(output)
    }

    /// The pages as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<O::Output, O::Error>> + Send + Unpin {
        Unfold::new(self, |mut pages| {
            Box::pin(async { Some((pages.next().await?, pages)) })
        })
    }

    /// The items of the pages, if the model names their member.
    pub fn items(self) -> Items<O>
    where
        O: ItemPages,
    {
        Items {
            pages: self,
            items: VecDeque::new(),
        }
    }
}

/// The items of the pages of an operation.
#[must_use = "pages are requested by `next`"]
pub struct Items<O: ItemPages> {
    pages: Paginator<O>,
    items: VecDeque<O::Item>,
}

impl<O: ItemPages> Items<O>
where
    O::Input: Clone,
{
    /// The next item. Requests the next page if necessary. `None` after the last item.
    pub async fn next(&mut self) -> Option<Result<O::Item, O::Error>> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Some(Ok(item));
            }
            match self.pages.next().await? {
                Ok(page) => self.items = O::items(page).into(),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// The items as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<O::Item, O::Error>> + Send + Unpin {
        Unfold::new(self, |mut items| {
            Box::pin(async { Some((items.next().await?, items)) })
        })
    }

    /// Collects all remaining items.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub async fn collect(mut self) -> Result<Vec<O::Item>, O::Error> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await {
            items.push(item?);
        }
        Ok(items)
    }
}

/// A stream from an async function, like `futures::stream::unfold`.
struct Unfold<S, T> {
    step: fn(S) -> Step<S, T>,
    future: Option<Step<S, T>>,
}

type Step<S, T> = Pin<Box<dyn Future<Output = Option<(T, S)>> + Send>>;

impl<S, T> Unfold<S, T> {
    fn new(state: S, step: fn(S) -> Step<S, T>) -> Self {
        Self {
            step,
            future: Some(step(state)),
        }
    }
}

impl<S, T> Stream for Unfold<S, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<T>> {
        let Some(future) = &mut self.future else {
            return Poll::Ready(None);
        };
        let Poll::Ready(next) = future.as_mut().poll(context) else {
            return Poll::Pending;
        };
        let (item, state) = next.unzip();
        self.future = state.map(self.step);
        Poll::Ready(item)
    }
}
