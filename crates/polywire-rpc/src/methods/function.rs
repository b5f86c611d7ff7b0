//! Functions as methods.
//!
//! A method is a function of parameters, or of parameters and a [`Context`], that returns a future of a value or of a
//! `Result`. The marker types below are type parameters of the traits, so that each trait can have one blanket
//! implementation per kind of function.

use std::future::Future;
use std::sync::Arc;

use polywire_protocol::Fault;
use polywire_schema::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{MethodFuture, MethodReply, ReplyWriter};
use super::parameters::Source;
use crate::Context;
use crate::blocking::BlockingPool;
use crate::call::catch_panic;

/// The implementation of a method.
pub(crate) trait Method: Send + Sync + 'static {
    /// Decodes the parameters and starts the call.
    fn call(
        &self,
        source: Source<'_>,
        context: Context,
        reply: ReplyWriter,
    ) -> Result<MethodFuture, Fault>;

    /// Sets the pool of a blocking method.
    fn run_in(&mut self, _: &BlockingPool) {}
}

/// Starts the function of a method, whose parameters are decoded: at once, or at the first poll if they were large. Large
/// parameters are decoded on the pool, where a failure means that no handler has started.
#[inline]
pub(super) fn start<F, R>(is_large: bool, function: F) -> MethodFuture
where
    F: FnOnce() -> R + Send + 'static,
    R: Future<Output = Result<MethodReply, Fault>> + Send + 'static,
{
    match is_large {
        true => Box::pin(async move { function().await }),
        false => Box::pin(function()),
    }
}

/// Marks a function that returns a value.
#[derive(Debug)]
pub struct Plain;
/// Marks a function that returns a `Result` whose error can be a [`Fault`].
#[derive(Debug)]
pub struct Fallible;
/// Marks a function of the parameters only.
#[derive(Debug)]
pub struct WithoutContext;
/// Marks a function of the parameters and the context.
#[derive(Debug)]
pub struct WithContext;

/// The return type of a method: a value that implements `Serialize`, or a `Result` of one. `M` is [`Plain`] or
/// [`Fallible`].
pub trait IntoResult<M> {
    /// The value.
    type Value: Serialize + Send;

    /// Converts the error into a fault.
    ///
    /// # Errors
    ///
    /// The fault.
    fn into_result(self) -> Result<Self::Value, Fault>;
}

impl<T: Serialize + Send> IntoResult<Plain> for T {
    type Value = T;

    fn into_result(self) -> Result<T, Fault> {
        Ok(self)
    }
}

impl<T: Serialize + Send, E: Into<Fault>> IntoResult<Fallible> for Result<T, E> {
    type Value = T;

    fn into_result(self) -> Result<T, Fault> {
        self.map_err(Into::into)
    }
}

/// A function that can be a method.
///
/// Implemented for functions and closures of
///
/// - the parameters: a tuple of types that implement `Deserialize`, `()` if there are none, or a `Vec` or an array if
///   they all have one type;
/// - and optionally a [`Context`].
///
/// It returns a value that implements `Serialize`, or a `Result` of one whose error converts into a [`Fault`]. An async
/// function returns a future of that.
pub trait MethodFunction<M>: Send + Sync + 'static {
    /// The parameters.
    type Parameters: DeserializeOwned + Send + 'static;
    /// The return type.
    type Output: Send + 'static;

    /// Calls the function.
    fn run(&self, parameters: Self::Parameters, context: Context) -> Self::Output;
}

impl<F, P, R> MethodFunction<(WithoutContext, P)> for F
where
    F: Fn(P) -> R + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    R: Send + 'static,
{
    type Parameters = P;
    type Output = R;

    fn run(&self, parameters: P, _: Context) -> R {
        self(parameters)
    }
}

impl<F, P, R> MethodFunction<(WithContext, P)> for F
where
    F: Fn(P, Context) -> R + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    R: Send + 'static,
{
    type Parameters = P;
    type Output = R;

    fn run(&self, parameters: P, context: Context) -> R {
        self(parameters, context)
    }
}

/// An async function with typed parameters.
pub(crate) struct TypedMethod<F, M>(Arc<F>, std::marker::PhantomData<fn() -> M>);

/// A blocking function with typed parameters.
pub(crate) struct BlockingMethod<F, M> {
    function: Arc<F>,
    pool: BlockingPool,
    marker: std::marker::PhantomData<fn() -> M>,
}

/// An async function whose parameters are values.
pub(crate) struct ValueMethod<F>(Arc<F>);

impl<F, M> TypedMethod<F, M> {
    pub(crate) fn new(function: F) -> Self {
        Self(Arc::new(function), std::marker::PhantomData)
    }
}

impl<F, M> BlockingMethod<F, M> {
    pub(crate) fn new(function: F, pool: BlockingPool) -> Self {
        Self {
            function: Arc::new(function),
            pool,
            marker: std::marker::PhantomData,
        }
    }
}

impl<F> ValueMethod<F> {
    pub(crate) fn new(function: F) -> Self {
        Self(Arc::new(function))
    }
}

impl<M, K, F> Method for TypedMethod<F, (M, K)>
where
    M: 'static,
    K: 'static,
    F: MethodFunction<M, Output: Future<Output: IntoResult<K>>>,
{
    fn call(
        &self,
        source: Source<'_>,
        context: Context,
        reply: ReplyWriter,
    ) -> Result<MethodFuture, Fault> {
        let is_large = source.is_large();
        let (function, parameters) = (Arc::clone(&self.0), source.decode()?);
        Ok(start(is_large, move || {
            let future = function.run(parameters, context);
            async move {
                let result = future.await.into_result()?;
                reply.serialize(&result)
            }
        }))
    }
}

impl<M, K, F> Method for BlockingMethod<F, (M, K)>
where
    M: 'static,
    K: 'static,
    F: MethodFunction<M, Output: IntoResult<K>>,
{
    fn call(
        &self,
        source: Source<'_>,
        context: Context,
        reply: ReplyWriter,
    ) -> Result<MethodFuture, Fault> {
        let parameters = source.decode()?;
        let function = Arc::clone(&self.function);
        let pool = self.pool.clone();
        Ok(Box::pin(async move {
            // The result is encoded on the pool too, because it may be large.
            let work = move || {
                catch_panic(|| {
                    let result = function.run(parameters, context).into_result()?;
                    reply.serialize(&result)
                })
            };
            pool.run(work).await?
        }))
    }

    fn run_in(&mut self, pool: &BlockingPool) {
        self.pool = pool.clone();
    }
}

impl<F, R> Method for ValueMethod<F>
where
    F: Fn(Vec<Value>, Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, Fault>> + Send + 'static,
{
    fn call(
        &self,
        source: Source<'_>,
        context: Context,
        reply: ReplyWriter,
    ) -> Result<MethodFuture, Fault> {
        let is_large = source.is_large();
        let (function, parameters) = (Arc::clone(&self.0), source.values()?);
        Ok(start(is_large, move || {
            let future = function(parameters, context);
            async move {
                let result = future.await?;
                reply.value(&result)
            }
        }))
    }
}
