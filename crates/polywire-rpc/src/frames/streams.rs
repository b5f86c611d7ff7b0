//! Streams of items within calls, and subscriptions, for callers.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use polywire_frame::Output;
use polywire_schema::Limits;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::client::Opening;
use super::items::Item;
use super::link::Leaving;
use super::payload::{self, Payload};
use super::tickets::Ticket;
use crate::error::{CallError, CallErrorKind};

/// A call that is open, with streams of items. To drop it cancels the call.
///
/// Items that have come and were not read are bounded by the window of the connection, and so is
/// what the server may send: it waits for the reader. What is sent waits for the server in the same way.
///
/// A call that the server turns away before any item has gone or come is opened again, as other calls are
/// tried again, within the time that it has to begin.
///
/// ```
/// use polywire_protocol::Fault;
/// use polywire_rpc::frames::Client;
/// use polywire_rpc::{Methods, Server, StreamCall};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let methods = Methods::new().stream("Sums", |(): (), mut call: StreamCall| async move {
///     let mut sum = 0;
///     while let Some(number) = call.next::<i64>().await? {
///         sum += number;
///         call.send(sum).await?;
///     }
///     Ok::<_, Fault>(sum)
/// });
/// let server = Server::methods(methods).frames(true).build()?;
/// let running = server.listen("127.0.0.1:0".parse()?).await?;
///
/// let client = Client::connect(&format!("tcp://{}", running.address())).await?;
/// let mut sums = client.two_way("Sums", ()).await?;
/// sums.send(2).await?;
/// sums.send(3).await?;
/// assert_eq!(sums.next::<i64>().await?, Some(2));
/// assert_eq!(sums.next::<i64>().await?, Some(5));
/// assert_eq!(sums.result::<i64>().await?, 5);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct CallStream {
    incoming: Incoming,
    outgoing: Outgoing,
    /// What opens it again, as long as no item has gone or come.
    opening: Option<Box<Opening>>,
}

/// The items of a server, in a call with streams.
#[derive(Debug)]
pub struct Incoming {
    open: Arc<Open>,
    limits: Limits,
}

/// The items of a client, in a call with streams. When this is dropped, its stream is finished.
pub struct Outgoing {
    open: Arc<Open>,
    space: Vec<u8>,
    finished: bool,
}

impl fmt::Debug for Outgoing {
    /// Without what is to be sent, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("finished", &self.finished)
            .finish_non_exhaustive()
    }
}

/// A subscription to a topic. To drop it ends it.
#[derive(Debug)]
pub struct Subscription {
    incoming: Incoming,
}

/// A message of a topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Message<T> {
    /// How many messages were left out before it, since this subscriber was slow.
    pub missed: u32,
    /// The message.
    pub value: T,
}

/// A call that has a ticket.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) link: Arc<Leaving>,
    pub(super) ticket: Ticket,
}

impl Open {
    /// Waits until a subscription is accepted.
    pub(super) async fn accepted(&self) -> Result<(), CallError> {
        let Self { link, ticket } = self;
        poll_fn(|context| link.0.poll_accepted(*ticket, context)).await
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.link.0.let_go(self.ticket);
    }
}

impl CallStream {
    pub(super) fn new(open: Open, opening: Opening, limits: Limits) -> Self {
        let open = Arc::new(open);
        Self {
            outgoing: Outgoing {
                open: Arc::clone(&open),
                space: Vec::new(),
                finished: false,
            },
            incoming: Incoming { open, limits },
            opening: Some(Box::new(opening)),
        }
    }

    /// Opens the call again, if it has failed before any item and may be repeated.
    async fn again(&mut self, error: CallError) -> Result<(), CallError> {
        let Some(opening) = &mut self.opening else {
            return Err(error);
        };
        let opened = Box::pin(opening.again(error)).await;
        let open = Arc::new(opened.inspect_err(|_| self.opening = None)?);
        self.outgoing.open = Arc::clone(&open);
        self.incoming.open = open;
        if self.outgoing.finished {
            self.outgoing.finish();
        }
        Ok(())
    }

    /// The next item of the server; nothing, when it has answered.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply, or the item is not of that type.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, CallError> {
        match self.next_bytes().await? {
            Some(item) => self.incoming.read(&item).map(Some),
            None => Ok(None),
        }
    }

    /// The next item as the bytes that it is.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply.
    pub async fn next_bytes(&mut self) -> Result<Option<Vec<u8>>, CallError> {
        loop {
            match self.incoming.next_bytes().await {
                Ok(item) => {
                    self.opening = None;
                    return Ok(item);
                }
                Err(error) => self.again(error).await?,
            }
        }
    }

    /// Sends an item, once the server has room for it.
    ///
    /// # Errors
    ///
    /// As of [`Outgoing::send`].
    pub async fn send(&mut self, item: impl Serialize) -> Result<(), CallError> {
        let mut space = self.outgoing.write(&item)?;
        let sent = self.send_bytes(&space).await;
        space.clear();
        self.outgoing.space = space;
        sent
    }

    /// Sends an item that is these bytes, once the server has room for it.
    ///
    /// # Errors
    ///
    /// As of [`Outgoing::send`].
    pub async fn send_bytes(&mut self, item: &[u8]) -> Result<(), CallError> {
        loop {
            match self.outgoing.send_bytes(item).await {
                Ok(()) => {
                    self.opening = None;
                    return Ok(());
                }
                // It cannot be sent, and nothing has happened.
                Err(error) if error.kind() == CallErrorKind::Encode => return Err(error),
                Err(error) => self.again(error).await?,
            }
        }
    }

    /// No more items will be sent.
    pub fn finish(&mut self) {
        self.outgoing.finish();
    }

    /// What the server answered in the end. No more items are sent, and those that come are passed
    /// over.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply, or the reply is not of that type.
    pub async fn result<R: DeserializeOwned>(mut self) -> Result<R, CallError> {
        let answer = self.answer().await?;
        self.incoming.read_answer(answer)
    }

    /// The same as the bytes that it is.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply.
    pub async fn result_bytes(mut self) -> Result<Vec<u8>, CallError> {
        self.answer().await.map(Vec::from)
    }

    async fn answer(&mut self) -> Result<Bytes, CallError> {
        self.finish();
        // The server may wait until they are read.
        while self.next_bytes().await?.is_some() {}
        self.incoming.answer().await
    }

    /// Both directions, to be used at the same time. The call goes on while one of them is there. From
    /// then on it is not opened again, whatever becomes of it.
    #[must_use]
    pub fn split(self) -> (Outgoing, Incoming) {
        (self.outgoing, self.incoming)
    }
}

impl Incoming {
    /// The next item; nothing, when the server has answered.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply, or the item is not of that type.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, CallError> {
        match self.next_item().await? {
            Some(item) => self.read(&item.payload).map(Some),
            None => Ok(None),
        }
    }

    /// The next item as the bytes that it is.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply.
    pub async fn next_bytes(&mut self) -> Result<Option<Vec<u8>>, CallError> {
        Ok(self.next_item().await?.map(|item| item.payload))
    }

    async fn next_item(&mut self) -> Result<Option<Item>, CallError> {
        let Open { link, ticket } = &*self.open;
        if let Some(item) = poll_fn(|context| link.0.poll_item(*ticket, context)).await {
            return Ok(Some(item));
        }
        poll_fn(|context| link.0.poll_end(*ticket, context)).await?;
        Ok(None)
    }

    fn read<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, CallError> {
        payload::read(bytes, &self.limits).map_err(CallError::decode)
    }

    fn read_answer<T: DeserializeOwned>(&self, answer: Bytes) -> Result<T, CallError> {
        if answer.len() < Output::LARGE {
            return self.read(&answer);
        }
        let read = Payload::Shared(answer).read(&self.limits);
        read.map_err(CallError::decode)
    }

    /// What the server answered in the end. Items that still come are passed over.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply, or the reply is not of that type.
    pub async fn result<R: DeserializeOwned>(self) -> Result<R, CallError> {
        let answer = self.answer().await?;
        self.read_answer(answer)
    }

    /// The same as the bytes that it is.
    ///
    /// # Errors
    ///
    /// The call ended in something else than a reply.
    pub async fn result_bytes(self) -> Result<Vec<u8>, CallError> {
        self.answer().await.map(Vec::from)
    }

    async fn answer(&self) -> Result<Bytes, CallError> {
        let Open { link, ticket } = &*self.open;
        // The server may wait until they are read.
        while poll_fn(|context| link.0.poll_item(*ticket, context))
            .await
            .is_some()
        {}
        poll_fn(|context| link.0.poll_end(*ticket, context)).await?;
        Ok(link.0.take_answer(*ticket))
    }
}

impl Outgoing {
    /// Sends an item, once the server has room for it.
    ///
    /// # Errors
    ///
    /// The call has ended or sends no items (any more), or the item cannot be written or is larger than the
    /// server takes; in the last two cases the stream goes on.
    pub async fn send(&mut self, item: impl Serialize) -> Result<(), CallError> {
        let mut space = self.write(&item)?;
        let sent = self.send_bytes(&space).await;
        space.clear();
        self.space = space;
        sent
    }

    fn write(&mut self, item: &impl Serialize) -> Result<Vec<u8>, CallError> {
        let mut space = std::mem::take(&mut self.space);
        payload::write(item, &mut space)
            .map_err(|error| CallError::encode_text(error.to_string()))?;
        Ok(space)
    }

    /// Sends an item that is these bytes, once the server has room for it.
    ///
    /// # Errors
    ///
    /// As of [`Self::send`].
    pub async fn send_bytes(&mut self, item: &[u8]) -> Result<(), CallError> {
        let Open { link, ticket } = &*self.open;
        poll_fn(|context| link.0.poll_send(*ticket, item, context)).await
    }

    /// No more items will be sent.
    pub fn finish(&mut self) {
        self.finished = true;
        self.open.link.0.finish(self.open.ticket);
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Subscription {
    pub(super) fn new(open: Open, limits: Limits) -> Self {
        let open = Arc::new(open);
        Self {
            incoming: Incoming { open, limits },
        }
    }

    /// The next message; nothing, when the subscription has ended in order.
    ///
    /// # Errors
    ///
    /// The server has ended the subscription, the connection has ended, or the message is not of
    /// that type.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<Message<T>>, CallError> {
        let Some(item) = self.incoming.next_item().await? else {
            return Ok(None);
        };
        Ok(Some(Message {
            missed: item.missed,
            value: self.incoming.read(&item.payload)?,
        }))
    }

    /// The next message as the bytes that it is.
    ///
    /// # Errors
    ///
    /// As of [`Self::next`], but for types.
    pub async fn next_bytes(&mut self) -> Result<Option<Message<Vec<u8>>>, CallError> {
        let item = self.incoming.next_item().await?;
        Ok(item.map(|item| Message {
            missed: item.missed,
            value: item.payload,
        }))
    }

    /// Wants no more messages. Those that are on their way still come, and then nothing.
    pub fn unsubscribe(&mut self) {
        let Open { link, ticket } = &*self.incoming.open;
        link.0.unsubscribe(*ticket);
    }
}
