//! Functions as methods.
//!
//! A method is any function of parameters, or of parameters and a
//! [`Context`], that returns a future of a value or of a `Result`. Which of
//! these it is, the compiler finds out by the marker types below: a trait with
//! a parameter may be implemented for functions once a marker.

use std::future::Future;
use std::sync::Arc;

use polywire_protocol::Fault;
use polywire_schema::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{Answering, MethodFuture};
use super::parameters::Source;
use crate::Context;
use crate::blocking::BlockingPool;
use crate::call::catch_panic;

/// What is called under a name.
pub(crate) trait Method: Send + Sync + 'static {
    /// Reads the parameters and begins.
    fn call(
        &self,
        source: Source<'_>,
        context: Context,
        answer: Answering,
    ) -> Result<MethodFuture, Fault>;

    /// Tells it where to run if it blocks.
    fn run_in(&mut self, _: &BlockingPool) {}
}

/// Marks a function that returns a value.
#[derive(Debug)]
pub struct Plain;
/// Marks a function that returns a `Result` whose error can be a [`Fault`].
#[derive(Debug)]
pub struct Fallible;
/// Marks a function of the parameters alone.
#[derive(Debug)]
pub struct WithoutContext;
/// Marks a function of the parameters and the context.
#[derive(Debug)]
pub struct WithContext;

/// What a method returns: a value that serde can write, or a `Result` of one.
/// The marker `M` tells which.
pub trait IntoResult<M> {
    /// The value.
    type Value: Serialize + Send;

    /// The value or the fault.
    ///
    /// # Errors
    ///
    /// It is a fault.
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
/// - the parameters: a tuple of types that serde can read, `()` if there are
///   none, a `Vec` or an array if they are all of one type;
/// - and, if it wants to know who calls, a [`Context`].
///
/// What it returns is a value that serde can write, or a `Result` of one whose error turns
/// into a [`Fault`]; one that does not block returns a future of that.
pub trait MethodFunction<M>: Send + Sync + 'static {
    /// The parameters.
    type Parameters: DeserializeOwned + Send + 'static;
    /// What it returns.
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

/// A function over types.
pub(crate) struct Typed<F, M>(F, std::marker::PhantomData<fn() -> M>);

/// A function over types that blocks.
pub(crate) struct Blocking<F, M> {
    function: Arc<F>,
    pool: BlockingPool,
    marker: std::marker::PhantomData<fn() -> M>,
}

/// A function over values.
pub(crate) struct Values<F>(F);

impl<F, M> Typed<F, M> {
    pub(crate) const fn new(function: F) -> Self {
        Self(function, std::marker::PhantomData)
    }
}

impl<F, M> Blocking<F, M> {
    pub(crate) fn new(function: F, pool: BlockingPool) -> Self {
        Self {
            function: Arc::new(function),
            pool,
            marker: std::marker::PhantomData,
        }
    }
}

impl<F> Values<F> {
    pub(crate) const fn new(function: F) -> Self {
        Self(function)
    }
}

impl<M, K, F> Method for Typed<F, (M, K)>
where
    M: 'static,
    K: 'static,
    F: MethodFunction<M, Output: Future<Output: IntoResult<K>>>,
{
    fn call(
        &self,
        source: Source<'_>,
        context: Context,
        answer: Answering,
    ) -> Result<MethodFuture, Fault> {
        let future = self.0.run(source.decode()?, context);
        Ok(Box::pin(async move {
            let result = future.await.into_result()?;
            answer.serialize(&result)
        }))
    }
}

impl<M, K, F> Method for Blocking<F, (M, K)>
where
    M: 'static,
    K: 'static,
    F: MethodFunction<M, Output: IntoResult<K>>,
{
    fn call(
        &self,
        source: Source<'_>,
        context: Context,
        answer: Answering,
    ) -> Result<MethodFuture, Fault> {
        let parameters = source.decode()?;
        let function = Arc::clone(&self.function);
        let pool = self.pool.clone();
        Ok(Box::pin(async move {
            // Written there too: what takes long to compute may be long.
            let work = move || {
                catch_panic(|| {
                    let result = function.run(parameters, context).into_result()?;
                    answer.serialize(&result)
                })
            };
            pool.run(work).await?
        }))
    }

    fn run_in(&mut self, pool: &BlockingPool) {
        self.pool = pool.clone();
    }
}

impl<F, R> Method for Values<F>
where
    F: Fn(Vec<Value>, Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, Fault>> + Send + 'static,
{
    fn call(
        &self,
        source: Source<'_>,
        context: Context,
        answer: Answering,
    ) -> Result<MethodFuture, Fault> {
        let future = (self.0)(source.values()?, context);
        Ok(Box::pin(async move { answer.value(&future.await?) }))
    }
}
