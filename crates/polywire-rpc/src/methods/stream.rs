//! Methods with streams of items.

use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use polywire_protocol::{Fault, FaultKind};
use polywire_schema::Limits;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{Answering, MethodFuture};
use super::function::IntoResult;
use super::parameters::Source;
use crate::Context;
use crate::call::admission::{MemoryUse, Rejection};
use crate::frames::payload;
use crate::server::{Pipe, SendError};

/// A call of a method with streams: the items that the client sends, and where those for it go.
///
/// Items that nobody has read are bounded, and so are those that the client has no room for: the
/// sender of either waits. When the call has ended before the handler (it was cancelled, its
/// connection is gone), the handler is dropped. That a connection is to end it is told ahead:
/// [`ending`](Self::ending).
pub struct StreamCall {
    incoming: ItemReceiver,
    outgoing: ItemSender,
    context: Context,
}

/// The items that a client sends within a call.
pub struct ItemReceiver {
    pipe: Arc<Pipe>,
    limits: Limits,
    number: u64,
}

/// Where items for a client go within a call. Clones send on the same stream.
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

    /// Who calls, and how.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// The next item of the client; nothing, when it has finished.
    ///
    /// # Errors
    ///
    /// The item is not of that type: a fault for the caller.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Fault> {
        self.incoming.next().await
    }

    /// Sends an item to the client, once there is room for it.
    ///
    /// # Errors
    ///
    /// As of [`ItemSender::send`].
    pub async fn send(&mut self, item: impl Serialize) -> Result<(), Fault> {
        self.outgoing.send(item).await
    }

    /// As [`ItemSender::ending`].
    pub async fn ending(&self) {
        self.outgoing.ending().await;
    }

    /// Both directions, to be used at the same time.
    #[must_use]
    pub fn split(self) -> (ItemReceiver, ItemSender) {
        (self.incoming, self.outgoing)
    }
}

impl ItemReceiver {
    /// The next item of the client; nothing, when it has finished.
    ///
    /// # Errors
    ///
    /// The item is not of that type: a fault for the caller, which says which item it is.
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

    /// The next item as the bytes that it is; nothing, when the client has finished.
    pub async fn next_bytes(&mut self) -> Option<Bytes> {
        let item = poll_fn(|context| self.pipe.poll_next(context)).await;
        self.number += u64::from(item.is_some());
        item
    }
}

impl ItemSender {
    /// Sends an item to the client, once there is room for it.
    ///
    /// # Errors
    ///
    /// The item cannot be written, or is larger than the client takes, or it is larger than 64 KiB and there is no
    /// memory for it ([`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory)); or the call has ended, and
    /// nobody will see the fault.
    pub async fn send(&self, item: impl Serialize) -> Result<(), Fault> {
        let mut bytes = Vec::new();
        payload::write(&item, &mut bytes).map_err(Fault::internal)?;
        self.send_bytes(bytes.into()).await
    }

    /// Waits until the connection is to end, since the server stops or the connection is old; or until the call
    /// has ended.
    ///
    /// A handler that would go on for ever, such as one that tells of changes, may answer then, so that its caller
    /// gets all of it and calls anew. What has not been answered when the time for that is over
    /// ([`Timeouts::shutdown`](crate::Timeouts)) ends in the fault `unavailable`, and its handler is dropped.
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
    ///             () = out.ending() => return Ok::<_, Fault>(count),
    ///             _ = ticks.tick() => out.send(count).await?,
    ///         }
    ///         count += 1;
    ///     }
    /// });
    /// # let _ = methods;
    /// ```
    pub async fn ending(&self) {
        poll_fn(|context| self.pipe.poll_closing(context)).await;
    }

    /// Sends an item that is these bytes.
    ///
    /// # Errors
    ///
    /// As of [`Self::send`].
    pub async fn send_bytes(&self, mut item: Bytes) -> Result<(), Fault> {
        let len = item.len();
        let sent = poll_fn(|context| self.pipe.poll_send(&mut item, context)).await;
        sent.map_err(|refused| match refused {
            SendError::Ended => Fault::internal("the call has ended"),
            SendError::NoMemory => Rejection::NoMemory(MemoryUse::Items).fault(),
            SendError::TooLarge(most) => Fault::new(
                FaultKind::TooLarge,
                format!("an item of {len} bytes, and the client takes {most}"),
            ),
        })
    }
}

impl fmt::Debug for StreamCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamCall")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ItemReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemReceiver").finish_non_exhaustive()
    }
}

impl fmt::Debug for ItemSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemSender").finish_non_exhaustive()
    }
}

/// What is called under the name of a method with streams.
pub(crate) trait StreamMethod: Send + Sync + 'static {
    /// Reads the parameters and begins.
    fn call(
        &self,
        source: Source<'_>,
        call: StreamCall,
        answer: Answering,
    ) -> Result<MethodFuture, Fault>;
}

/// A function over types and streams.
pub(crate) struct Streaming<F, M>(F, PhantomData<fn() -> M>);

impl<F, M> Streaming<F, M> {
    pub(crate) const fn new(function: F) -> Self {
        Self(function, PhantomData)
    }
}

impl<F, P, R, K> StreamMethod for Streaming<F, (P, K)>
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
        answer: Answering,
    ) -> Result<MethodFuture, Fault> {
        let future = (self.0)(source.decode()?, call);
        Ok(Box::pin(async move {
            let result = future.await.into_result()?;
            answer.serialize(&result)
        }))
    }
}
