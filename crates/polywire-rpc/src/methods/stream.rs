//! Methods with streams of items.

use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use polywire_protocol::{Fault, FaultKind};
use polywire_schema::Limits;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{MethodFuture, ReplyWriter};
use super::function::{IntoResult, start};
use super::parameters::Source;
use crate::Context;
use crate::call::admission::{MemoryUse, Rejection};
use crate::call::pipe::{Pipe, SendError};
use crate::frames::payload;

/// A call of a method with streams, on the server: receives the items of the client and sends items to it.
///
/// Both directions have flow control: a sender waits while the receiver's buffer is full. The handler is dropped if the
/// call is cancelled or its connection is lost. [`going_away`](Self::going_away) announces a shutdown in advance.
pub struct StreamCall {
    incoming: ItemReceiver,
    outgoing: ItemSender,
    context: Context,
}

/// Receives the items of the client of a call.
pub struct ItemReceiver {
    pipe: Arc<Pipe>,
    limits: Limits,
    number: u64,
}

/// Sends items to the client of a call. Clones send on the same stream.
#[derive(Clone)]
pub struct ItemSender {
    pipe: Arc<Pipe>,
}

impl StreamCall {
    pub(crate) fn new(pipe: Arc<Pipe>, limits: Limits, context: Context) -> Self {
        Self {
            outgoing: ItemSender {
                pipe: Arc::clone(&pipe),
            },
            incoming: ItemReceiver {
                pipe,
                limits,
                number: 0,
            },
            context,
        }
    }

    /// The context of the call.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Receives the next item. `None` if the client has ended its stream.
    ///
    /// # Errors
    ///
    /// The item does not have this type.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Fault> {
        self.incoming.next().await
    }

    /// Sends an item. Waits while the buffer is full.
    ///
    /// # Errors
    ///
    /// Those of [`ItemSender::send`].
    pub async fn send(&mut self, item: impl Serialize) -> Result<(), Fault> {
        self.outgoing.send(item).await
    }

    /// See [`ItemSender::going_away`].
    pub async fn going_away(&self) {
        self.outgoing.going_away().await;
    }

    /// Splits the call into both directions, for concurrent use.
    #[must_use]
    pub fn split(self) -> (ItemReceiver, ItemSender) {
        (self.incoming, self.outgoing)
    }
}

impl ItemReceiver {
    /// Receives the next item. `None` if the client has ended its stream.
    ///
    /// # Errors
    ///
    /// The item does not have this type. The message contains its number, from 1.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Fault> {
        let Some(item) = self.next_bytes().await else {
            return Ok(None);
        };
        let read = payload::read(&item, &self.limits);
        read.map(Some).map_err(|error| {
            let kind = Fault::from(error.clone()).kind();
            Fault::new(kind, format!("item {}: {error}", self.number))
        })
    }

    /// Receives the next item as raw bytes. `None` if the client has ended its stream.
    pub async fn next_bytes(&mut self) -> Option<Bytes> {
        let item = poll_fn(|context| self.pipe.poll_next(context)).await;
        self.number += u64::from(item.is_some());
        item
    }
}

impl ItemSender {
    /// Sends an item. Waits while the buffer is full.
    ///
    /// # Errors
    ///
    /// The item cannot be encoded, is larger than the client accepts, or is larger than 64 KiB and exceeds
    /// [`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory); or the call has ended.
    pub async fn send(&self, item: impl Serialize) -> Result<(), Fault> {
        let mut bytes = Vec::new();
        payload::write(&item, &mut bytes).map_err(Fault::internal)?;
        self.send_bytes(bytes.into()).await
    }

    /// Waits until the connection is about to be closed, because the server stops or the connection has reached its
    /// maximum age, or until the call has ended.
    ///
    /// A handler that runs indefinitely should return then, so that its client receives all items and calls again. After
    /// [`Timeouts::shutdown`](crate::Timeouts), remaining calls end with the fault `unavailable`, and their handlers are
    /// dropped.
    ///
    /// ```
    /// use polywire_protocol::Fault;
    /// use polywire_rpc::{Methods, StreamCall};
    ///
    /// let methods = Methods::new().stream("Ticks", |(): (), call: StreamCall| async move {
    ///     let (_, out) = call.split();
    ///     let mut ticks = tokio::time::interval(std::time::Duration::from_secs(1));
    ///     let mut count = 0_u64;
    ///     loop {
    ///         tokio::select! {
    ///             () = out.going_away() => return Ok::<_, Fault>(count),
    ///             _ = ticks.tick() => out.send(count).await?,
    ///         }
    ///         count += 1;
    ///     }
    /// });
    /// # let _ = methods;
    /// ```
    pub async fn going_away(&self) {
        poll_fn(|context| self.pipe.poll_closing(context)).await;
    }

    /// Sends an item of raw bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Self::send`].
    pub async fn send_bytes(&self, mut item: Bytes) -> Result<(), Fault> {
        let len = item.len();
        let result = poll_fn(|context| self.pipe.poll_send(&mut item, context)).await;
        result.map_err(|error| match error {
            SendError::CallEnded => Fault::internal("the call has ended"),
            SendError::NoMemory => Rejection::NoMemory(MemoryUse::Items).fault(),
            SendError::TooLarge(max) => Fault::new(
                FaultKind::TooLarge,
                format!("an item of {len} bytes, and the client takes {max}"),
            ),
        })
    }
}

impl_debug!(StreamCall { context });

impl_debug!(ItemReceiver {});

impl_debug!(ItemSender {});

/// The implementation of a method with streams.
pub(crate) trait StreamMethod: Send + Sync + 'static {
    /// Decodes the parameters and starts the call.
    fn call(
        &self,
        source: Source<'_>,
        call: StreamCall,
        reply: ReplyWriter,
    ) -> Result<MethodFuture, Fault>;
}

/// An async function with typed parameters and streams.
pub(crate) struct StreamFunction<F, M>(Arc<F>, PhantomData<fn() -> M>);

impl<F, M> StreamFunction<F, M> {
    pub(crate) fn new(function: F) -> Self {
        Self(Arc::new(function), PhantomData)
    }
}

impl<F, P, R, K> StreamMethod for StreamFunction<F, (P, K)>
where
    F: Fn(P, StreamCall) -> R + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    R: Future<Output: IntoResult<K>> + Send + 'static,
    K: 'static,
{
    fn call(
        &self,
        source: Source<'_>,
        call: StreamCall,
        reply: ReplyWriter,
    ) -> Result<MethodFuture, Fault> {
        let is_large = source.is_large();
        let (function, parameters) = (Arc::clone(&self.0), source.decode()?);
        Ok(start(is_large, move || {
            let future = function(parameters, call);
            async move {
                let result = future.await.into_result()?;
                reply.serialize(&result)
            }
        }))
    }
}
