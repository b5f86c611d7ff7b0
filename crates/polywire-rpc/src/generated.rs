//! What generated clients and servers are made with. Programs use what is
//! generated, and of this module [`Paginator`] and [`Items`].

use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use futures_core::Stream;
use polywire_codec::{Chosen, ChosenSlot, Formats};
use polywire_protocol::{
    ClientProtocol, Fault, Frame, MountError, ProtocolKind, ReadPlan, ServerProtocol, Validator,
    read_input,
};
use polywire_schema::{DecodeStructure, Encode, Service, Value, to_value};

use crate::client::{Answer, Client, ClientBuilder};
use crate::handler::wrong_input;
use crate::{
    Call, CallError, Context, Handler, HandlerFuture, Input, Output, ServerBuilder, ServiceHandle,
};

/// The protocols that a generated client can be told to speak. Each is named, so
/// that a program links those and no others.
#[derive(Debug)]
pub struct Speaks {
    service: ServiceHandle,
    kind: ProtocolKind,
    made: Option<Result<Box<dyn ClientProtocol>, MountError>>,
    others: Vec<ProtocolKind>,
    /// Makes a builder of clients over frames, if frames are the chosen protocol.
    frames: Option<fn(ClientBuilder) -> ClientBuilder>,
}

impl Speaks {
    /// Looks for a kind among those that follow.
    #[must_use]
    pub const fn new(service: ServiceHandle, kind: ProtocolKind) -> Self {
        Self {
            service,
            kind,
            made: None,
            others: Vec::new(),
            frames: None,
        }
    }

    /// A protocol that the client has, which carries every service.
    #[must_use]
    pub fn or<P: ClientProtocol + 'static>(
        self,
        kind: ProtocolKind,
        make: impl FnOnce(Service<'_>) -> P,
    ) -> Self {
        self.or_maybe(kind, |service| Ok(make(service)))
    }

    /// A protocol that the client has, which may not be able to carry it.
    #[must_use]
    pub fn or_maybe<P: ClientProtocol + 'static>(
        mut self,
        kind: ProtocolKind,
        make: impl FnOnce(Service<'_>) -> Result<P, MountError>,
    ) -> Self {
        if self.kind == kind {
            let made = make(self.service.service());
            self.made = Some(made.map(|made| Box::new(made) as _));
        }
        self.others.push(kind);
        self
    }

    /// Frames, which the client can speak.
    #[must_use]
    pub fn or_frames(mut self) -> Self {
        if self.kind == ProtocolKind::Frame {
            self.frames = Some(ClientBuilder::over_frames);
        }
        self.or(ProtocolKind::Frame, Frame::new)
    }

    /// Begins to build the client; one of another kind cannot be connected.
    #[must_use]
    pub fn client(self) -> ClientBuilder {
        let left_out = || Err(MountError::left_out(self.kind, &self.others));
        let builder = ClientBuilder::new(self.service, self.made.unwrap_or_else(left_out));
        match self.frames {
            Some(over_frames) => over_frames(builder),
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
    /// The errors of the model, and all others.
    type Error: OperationError;
    /// The formats that have code of their own.
    type Formats: Formats;
    /// The index in the schema set.
    const INDEX: u32;
}

/// The errors of an operation.
pub trait OperationError: From<CallError> + Send + 'static {
    /// Reads an error of the model.
    fn read(answer: &Answer<'_>) -> Self;
}

/// The errors of an operation that has a handler.
pub trait HandlerError: OperationError {
    /// The error as a server sends it.
    fn into_fault(self, service: &ServiceHandle) -> Fault;
}

/// An error of the model as a fault.
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

/// A failure of a call as a server sends it.
pub fn other_fault(error: CallError) -> Fault {
    error.into_fault().unwrap_or_else(Fault::internal)
}

/// Offers an operation of an implementation.
#[must_use]
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
        let mut slot = ChosenSlot::<O::Input, O::Formats>::new();
        read_input(protocol, operation, request, &mut slot, validator)?;
        match slot.into_value() {
            Some(value) => Ok(Input::Typed(Box::new(value))),
            None => Err(Fault::internal("the protocol did not finish the input")),
        }
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
                Ok(output) => Ok(Output::of(Chosen::<_, O::Formats>::new(output))),
                Err(error) => Err(error.into_fault(&service)),
            }
        })
    }
}

/// An operation that gives its output in pages.
pub trait Pages: Operation {
    /// What leads from one page to the next.
    type Token: Clone + PartialEq + Send;

    /// The token of the page after this one.
    fn token(output: &Self::Output) -> Option<Self::Token>;

    /// Asks for the page of a token.
    fn set_token(input: &mut Self::Input, token: Self::Token);
}

/// An operation whose model says what its pages are pages of.
pub trait ItemPages: Pages {
    /// An item.
    type Item: Send;

    /// The items of a page.
    fn items(output: Self::Output) -> Vec<Self::Item>;
}

/// The pages of an operation, one call each.
#[derive(Debug)]
#[must_use = "pages are called for one by one"]
pub struct Paginator<O: Pages> {
    client: Client,
    /// The input of the next call; `None` when there is none.
    next: Option<O::Input>,
    /// The token of the last call.
    last: Option<O::Token>,
    /// Why the first call cannot be made.
    failed: Option<polywire_schema::MissingMember>,
}

impl<O: Pages> Paginator<O>
where
    O::Input: Clone,
{
    #[doc(hidden)]
    pub fn new(client: Client, input: Result<O::Input, polywire_schema::MissingMember>) -> Self {
        let (next, failed) = match input {
            Ok(input) => (Some(input), None),
            Err(missing) => (None, Some(missing)),
        };
        Self {
            client,
            next,
            last: None,
            failed,
        }
    }

    /// The next page; `None` after the last. A call that failed ends the pages,
    /// and so does a token that leads back to the page it came with.
    pub async fn next(&mut self) -> Option<Result<O::Output, O::Error>> {
        if let Some(missing) = self.failed.take() {
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

    /// What the pages hold, one by one, where the model names it.
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

/// What the pages of an operation hold, one by one.
#[must_use = "pages are called for when they are needed"]
pub struct Items<O: ItemPages> {
    pages: Paginator<O>,
    items: VecDeque<O::Item>,
}

impl<O: ItemPages> Items<O>
where
    O::Input: Clone,
{
    /// The next item, for which a page is called if need be; `None` after the
    /// last.
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

    /// All items.
    ///
    /// # Errors
    ///
    /// A call failed.
    pub async fn collect(mut self) -> Result<Vec<O::Item>, O::Error> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await {
            items.push(item?);
        }
        Ok(items)
    }
}

/// A stream of what steps give, each of which hands on the state.
struct Unfold<S, T> {
    step: fn(S) -> Step<S, T>,
    running: Option<Step<S, T>>,
}

type Step<S, T> = Pin<Box<dyn Future<Output = Option<(T, S)>> + Send>>;

impl<S, T> Unfold<S, T> {
    fn new(state: S, step: fn(S) -> Step<S, T>) -> Self {
        Self {
            step,
            running: Some(step(state)),
        }
    }
}

impl<S, T> Stream for Unfold<S, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<T>> {
        let Some(running) = &mut self.running else {
            return Poll::Ready(None);
        };
        let Poll::Ready(done) = running.as_mut().poll(context) else {
            return Poll::Pending;
        };
        let (item, state) = done.unzip();
        self.running = state.map(self.step);
        Poll::Ready(item)
    }
}
