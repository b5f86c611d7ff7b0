//! Handlers of operations.
//!
//! A server stores handlers as trait objects. A typed handler decodes the input into its own type with compiled codecs
//! ([`Handler::decode`]), and its [`Output`] can be encoded in every format.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use polywire_codec::{Lenient, Message, Slot, Typed};
use polywire_protocol::{Fault, ReadPlan, ServerProtocol, Validator, read_input};
use polywire_schema::{DecodeStructure, Encode, Encoder, Map, Member, Operation, Value};
use tower::util::BoxCloneSyncService;

use crate::{Context, ServiceHandle};

/// A future that a handler returns.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<Output, Fault>> + Send>>;

/// What a layer around decoded calls gets, and what it may return.
pub type CallService = BoxCloneSyncService<Call, Output, Fault>;

/// Handles the calls of one operation. Created by [`dynamic`] and [`typed`].
pub trait Handler: Send + Sync + 'static {
    /// Decodes the input of a call, and checks the constraints of the model if there is a validator.
    ///
    /// # Errors
    ///
    /// The input is malformed or violates a constraint.
    fn decode(
        &self,
        protocol: &dyn ServerProtocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: Option<&Validator>,
    ) -> Result<Input, Fault>;

    /// Whether the input has a [`ByteStream`](polywire_schema::ByteStream) that the handler reads while the body of the
    /// request arrives. Otherwise the server reads a blob with `@streaming` before it decodes the input.
    fn is_streaming(&self) -> bool {
        false
    }

    /// Handles a call.
    fn call(&self, call: Call) -> HandlerFuture;
}

/// A call with its decoded input. The request type of layers around handlers.
#[derive(Debug)]
pub struct Call {
    pub(crate) service: ServiceHandle,
    pub(crate) operation: u32,
    /// The context of the call.
    pub context: Context,
    /// The input.
    pub input: Input,
}

impl Call {
    /// The called operation.
    #[must_use]
    pub fn operation(&self) -> Operation<'_> {
        self.service.operation(self.operation)
    }
}

/// The input of a call.
pub enum Input {
    /// A structure as a map from member names to values.
    Dynamic(Map),
    /// A value of the handler's own type.
    Typed(Box<dyn Any + Send>),
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dynamic(map) => map.fmt(f),
            Self::Typed(_) => f.write_str("(typed)"),
        }
    }
}

/// The output of a call, which can be encoded in every format.
pub struct Output(Box<dyn Message + Send>);

impl Output {
    /// Creates an output from a value.
    #[must_use]
    pub fn typed<T: Encode + Send + 'static>(value: T) -> Self {
        Self(Box::new(Typed::new(value)))
    }

    /// Creates an output from a message with its own code for each format.
    #[must_use]
    pub fn of(message: impl Message + Send + 'static) -> Self {
        Self(Box::new(message))
    }

    /// The message that a protocol encodes.
    #[must_use]
    pub fn message(&self) -> &dyn Message {
        &*self.0
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

/// A structure as a map, owned or shared.
struct MapOutput<M>(M);

impl<M: AsRef<Map>> Encode for MapOutput<M> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        self.0.as_ref().encode(at, encoder);
    }
}

/// The return type of a dynamic handler.
pub trait IntoOutput {
    /// Converts the value into an output.
    fn into_output(self) -> Output;
}

impl IntoOutput for Map {
    fn into_output(self) -> Output {
        Output(Box::new(Typed::new(MapOutput(self))))
    }
}

/// An output that several calls share.
impl IntoOutput for std::sync::Arc<Map> {
    fn into_output(self) -> Output {
        Output(Box::new(Typed::new(MapOutput(self))))
    }
}

impl IntoOutput for () {
    fn into_output(self) -> Output {
        Map::new().into_output()
    }
}

impl IntoOutput for Value {
    fn into_output(self) -> Output {
        match self {
            Self::Map(map) => map.into_output(),
            Self::Null => Map::new().into_output(),
            // Encoding it as a structure returns the error.
            other => Output::typed(other),
        }
    }
}

impl IntoOutput for Output {
    fn into_output(self) -> Output {
        self
    }
}

/// A handler with a [`Map`] as input: a function of the input and the context.
pub fn dynamic<F, R, O>(function: F) -> impl Handler
where
    F: Fn(Map, Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, Fault>> + Send + 'static,
    O: IntoOutput + 'static,
{
    DynamicHandler {
        function,
        types: PhantomData,
    }
}

struct DynamicHandler<F, R> {
    function: F,
    types: PhantomData<fn() -> R>,
}

impl<F, R, O> Handler for DynamicHandler<F, R>
where
    F: Fn(Map, Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, Fault>> + Send + 'static,
    O: IntoOutput + 'static,
{
    fn decode(
        &self,
        protocol: &dyn ServerProtocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: Option<&Validator>,
    ) -> Result<Input, Fault> {
        if validator.is_none() {
            // Unlike a typed input, a map can lack required members.
            let mut input = Lenient::default();
            read_input(protocol, operation, request, &mut input, None)?;
            return Ok(Input::Dynamic(input.0));
        }
        let mut map = Map::new();
        read_input(protocol, operation, request, &mut map, validator)?;
        Ok(Input::Dynamic(map))
    }

    fn call(&self, call: Call) -> HandlerFuture {
        match call.input {
            Input::Dynamic(map) => {
                let future = (self.function)(map, call.context);
                Box::pin(async move { Ok(future.await?.into_output()) })
            }
            Input::Typed(_) => wrong_input(),
        }
    }
}

/// Makes a handler read a blob with `@streaming` itself, while the body of the request arrives: as
/// [`Value::Stream`] of a [`dynamic`] handler, or as a [`ByteStream`](polywire_schema::ByteStream) of a [`typed`] one.
///
/// ```
/// use polywire_protocol::Fault;
/// use polywire_rpc::{Context, dynamic, streaming};
/// use polywire_schema::{ByteStream, Map};
///
/// let handler = streaming(dynamic(|mut input: Map, _: Context| async move {
///     let mut body = input.remove("Body").and_then(|body| body.into_stream()).unwrap_or_default();
///     let mut count = 0;
///     while let Some(piece) = body.next().await {
///         count += piece?.len() as i64;
///     }
///     Ok::<_, Fault>(Map::from_iter([("Count", count)]))
/// }));
/// # let _ = handler;
/// ```
pub fn streaming(handler: impl Handler) -> impl Handler {
    StreamingHandler(handler)
}

struct StreamingHandler<H>(H);

impl<H: Handler> Handler for StreamingHandler<H> {
    fn decode(
        &self,
        protocol: &dyn ServerProtocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: Option<&Validator>,
    ) -> Result<Input, Fault> {
        self.0.decode(protocol, operation, request, validator)
    }

    fn is_streaming(&self) -> bool {
        true
    }

    fn call(&self, call: Call) -> HandlerFuture {
        self.0.call(call)
    }
}

/// A handler with typed input and output: a function of the input and the context. The types must match the schemas of
/// the operation. The input type implements `Encode` because validation traverses it as encoding does.
pub fn typed<I, O, F, R>(function: F) -> impl Handler
where
    I: for<'de> DecodeStructure<'de> + Encode + Send + 'static,
    O: Encode + Send + 'static,
    F: Fn(I, Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, Fault>> + Send + 'static,
{
    TypedHandler {
        function,
        types: PhantomData,
    }
}

struct TypedHandler<F, I, R> {
    function: F,
    types: PhantomData<fn(I) -> R>,
}

impl<I, O, F, R> Handler for TypedHandler<F, I, R>
where
    I: for<'de> DecodeStructure<'de> + Encode + Send + 'static,
    O: Encode + Send + 'static,
    F: Fn(I, Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, Fault>> + Send + 'static,
{
    fn decode(
        &self,
        protocol: &dyn ServerProtocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: Option<&Validator>,
    ) -> Result<Input, Fault> {
        let mut slot = Slot::<I>::new();
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
        match input.downcast::<I>() {
            Ok(input) => {
                let future = (self.function)(*input, call.context);
                Box::pin(async move { Ok(Output::typed(future.await?)) })
            }
            Err(_) => wrong_input(),
        }
    }
}

/// The fault if a layer has replaced the input by one of another type.
pub(crate) fn wrong_input() -> HandlerFuture {
    Box::pin(async { Err(Fault::internal("the input is not of the handler's type")) })
}
