//! Handlers: what answers a call.
//!
//! A server holds handlers of all kinds side by side, so a handler is a trait
//! object. Types come back at both ends: [`Handler::decode`] of a typed
//! handler makes its own input type by codecs that were compiled for it, and
//! its output knows how to be written by every format.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use polywire_codec::{Lenient, Message, Owned, Slot};
use polywire_protocol::{Fault, ReadPlan, ServerProtocol, Validator, read_input};
use polywire_schema::{DecodeStructure, Encode, Encoder, Map, Member, Operation, Value};

use crate::{Context, ServiceHandle};

/// A future that a handler returns.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<Output, Fault>> + Send>>;

/// What answers the calls of one operation. Made by [`dynamic`] and [`typed`].
pub trait Handler: Send + Sync + 'static {
    /// Reads the input of a call, and checks it by the model's constraints if
    /// there is a validator.
    ///
    /// # Errors
    ///
    /// The request does not hold that input, or the model does not allow it.
    fn decode(
        &self,
        protocol: &dyn ServerProtocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: Option<&Validator>,
    ) -> Result<Input, Fault>;

    /// Answers a call.
    fn call(&self, call: Call) -> HandlerFuture;
}

/// A decoded call: what layers around handlers see.
#[derive(Debug)]
pub struct Call {
    pub(crate) service: ServiceHandle,
    pub(crate) operation: u32,
    /// The circumstances.
    pub context: Context,
    /// The input.
    pub input: Input,
}

impl Call {
    /// The operation that is called.
    #[must_use]
    pub fn operation(&self) -> Operation<'_> {
        self.service.operation(self.operation)
    }
}

/// The input of a call.
pub enum Input {
    /// A structure by member names.
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

/// The output of a call: something that every format can write.
pub struct Output(Box<dyn Message + Send>);

impl Output {
    /// An output of a type of its own.
    #[must_use]
    pub fn typed<T: Encode + Send + 'static>(value: T) -> Self {
        Self(Box::new(Owned(value)))
    }

    /// An output that says itself how each format writes it.
    #[must_use]
    pub fn of(message: impl Message + Send + 'static) -> Self {
        Self(Box::new(message))
    }

    /// The output as a message for a protocol.
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

/// A structure by member names, held in any way.
struct Members<M>(M);

impl<M: AsRef<Map>> Encode for Members<M> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        self.0.as_ref().encode(at, encoder);
    }
}

/// What a dynamic handler may return.
pub trait IntoOutput {
    /// The output.
    fn into_output(self) -> Output;
}

impl IntoOutput for Map {
    fn into_output(self) -> Output {
        Output(Box::new(Owned(Members(self))))
    }
}

/// An output that is there already, for as many calls as there are.
impl IntoOutput for std::sync::Arc<Map> {
    fn into_output(self) -> Output {
        Output(Box::new(Owned(Members(self))))
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
            // Writing it as a structure will say what is wrong.
            other => Output::typed(other),
        }
    }
}

impl IntoOutput for Output {
    fn into_output(self) -> Output {
        self
    }
}

/// A handler over [`Map`]s: a function of the input and the context.
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
            // Unlike a type, a map has room for an input without its required members.
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

/// A handler over types: a function of the input and the context. The types
/// must have been made for the operation's own schemas. The input is checked by
/// the walk that would write it, so it has to be one that can be written.
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

/// A layer has put another kind of input in place of the handler's own.
pub(crate) fn wrong_input() -> HandlerFuture {
    Box::pin(async { Err(Fault::internal("the input is not of the handler's type")) })
}
