//! Calls with streams of items, and subscriptions: the public API.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use polywire_frame::Output;
use polywire_schema::Limits;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::client::OpenRequest;
use super::items::Item;
use super::link::LinkHandle;
use super::payload::{self, Payload};
use super::tickets::Ticket;
use crate::error::{CallError, CallErrorKind};

/// An open call with streams of items. Dropping it cancels the call.
///
/// The window of the connection limits the unread items: the server waits for the reader. In the same way
/// [`send`](Self::send) waits for the server.
///
/// If the server rejects the call before any item was sent or received, the call is opened again, like other calls are
/// retried, until its deadline for opening.
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
    /// Opens the call again. None after an item was sent or received.
    opening: Option<Box<OpenRequest>>,
}

/// The items that the server sends in a call with streams.
#[derive(Debug)]
pub struct Incoming {
    open: Arc<CallHandle>,
    limits: Limits,
}

/// The items that the client sends in a call with streams. Dropping this ends the stream.
pub struct Outgoing {
    open: Arc<CallHandle>,
    space: Vec<u8>,
    finished: bool,
}

// Without the buffer, whose contents may be secret.
impl_debug!(Outgoing { finished });

/// A subscription to a topic. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    incoming: Incoming,
}

/// A message of a topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Message<T> {
    /// The number of messages that were dropped before this one, because the subscriber was slow.
    pub missed: u32,
    /// The message.
    pub value: T,
}

/// An open call. Dropping it cancels the call.
#[derive(Debug)]
pub(super) struct CallHandle {
    pub(super) link: Arc<LinkHandle>,
    pub(super) ticket: Ticket,
}

impl CallHandle {
    /// Waits until a subscription is accepted.
    pub(super) async fn accepted(&self) -> Result<(), CallError> {
        let Self { link, ticket } = self;
        poll_fn(|context| link.0.poll_accepted(*ticket, context)).await
    }
}

impl Drop for CallHandle {
    fn drop(&mut self) {
        self.link.0.drop_call(self.ticket);
    }
}

impl CallStream {
    pub(super) fn new(open: CallHandle, opening: OpenRequest, limits: Limits) -> Self {
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

    /// Opens the call again, if no item was sent or received and the call may be repeated.
    async fn reopen(&mut self, error: CallError) -> Result<(), CallError> {
        let Some(opening) = &mut self.opening else {
            return Err(error);
        };
        let opened = Box::pin(opening.reopen(error)).await;
        let open = Arc::new(opened.inspect_err(|_| self.opening = None)?);
        self.outgoing.open = Arc::clone(&open);
        self.incoming.open = open;
        if self.outgoing.finished {
            self.outgoing.finish();
        }
        Ok(())
    }

    /// The next item of the server. None when the server has replied.
    ///
    /// # Errors
    ///
    /// The call did not end with a reply, or the item is not of this type.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, CallError> {
        match self.next_bytes().await? {
            Some(item) => self.incoming.read(&item).map(Some),
            None => Ok(None),
        }
    }

    /// The bytes of the next item.
    ///
    /// # Errors
    ///
    /// The call did not end with a reply.
    pub async fn next_bytes(&mut self) -> Result<Option<Vec<u8>>, CallError> {
        loop {
            match self.incoming.next_bytes().await {
                Ok(item) => {
                    self.opening = None;
                    return Ok(item);
                }
                Err(error) => self.reopen(error).await?,
            }
        }
    }

    /// Sends an item as soon as the server accepts it.
    ///
    /// # Errors
    ///
    /// As [`Outgoing::send`].
    pub async fn send(&mut self, item: impl Serialize) -> Result<(), CallError> {
        let mut space = self.outgoing.write(&item)?;
        let sent = self.send_bytes(&space).await;
        space.clear();
        self.outgoing.space = space;
        sent
    }

    /// Sends an item with these bytes as soon as the server accepts it.
    ///
    /// # Errors
    ///
    /// As [`Outgoing::send`].
    pub async fn send_bytes(&mut self, item: &[u8]) -> Result<(), CallError> {
        loop {
            match self.outgoing.send_bytes(item).await {
                Ok(()) => {
                    self.opening = None;
                    return Ok(());
                }
                // Nothing was sent.
                Err(error) if error.kind() == CallErrorKind::Encode => return Err(error),
                Err(error) => self.reopen(error).await?,
            }
        }
    }

    /// Ends the stream of the client: no more items are sent.
    pub fn finish(&mut self) {
        self.outgoing.finish();
    }

    /// The reply of the server. Ends the stream of the client, and discards the items that are still received.
    ///
    /// # Errors
    ///
    /// The call did not end with a reply, or the reply is not of this type.
    pub async fn result<R: DeserializeOwned>(mut self) -> Result<R, CallError> {
        let answer = self.answer().await?;
        self.incoming.read_answer(answer)
    }

    /// The bytes of the reply, like [`result`](Self::result).
    ///
    /// # Errors
    ///
    /// The call did not end with a reply.
    pub async fn result_bytes(mut self) -> Result<Vec<u8>, CallError> {
        self.answer().await.map(Vec::from)
    }

    async fn answer(&mut self) -> Result<Bytes, CallError> {
        self.finish();
        // The server may wait until its items are read.
        while self.next_bytes().await?.is_some() {}
        self.incoming.answer().await
    }

    /// Both directions, for concurrent use. The call is cancelled when both are dropped. It is not opened again after
    /// this.
    #[must_use]
    pub fn split(self) -> (Outgoing, Incoming) {
        (self.outgoing, self.incoming)
    }
}

impl Incoming {
    /// The next item. None when the server has replied.
    ///
    /// # Errors
    ///
    /// The call did not end with a reply, or the item is not of this type.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, CallError> {
        match self.next_item().await? {
            Some(item) => self.read(&item.payload).map(Some),
            None => Ok(None),
        }
    }

    /// The bytes of the next item.
    ///
    /// # Errors
    ///
    /// The call did not end with a reply.
    pub async fn next_bytes(&mut self) -> Result<Option<Vec<u8>>, CallError> {
        Ok(self.next_item().await?.map(|item| item.payload))
    }

    async fn next_item(&mut self) -> Result<Option<Item>, CallError> {
        let CallHandle { link, ticket } = &*self.open;
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

    /// The reply of the server. Discards the items that are still received.
    ///
    /// # Errors
    ///
    /// The call did not end with a reply, or the reply is not of this type.
    pub async fn result<R: DeserializeOwned>(self) -> Result<R, CallError> {
        let answer = self.answer().await?;
        self.read_answer(answer)
    }

    /// The bytes of the reply, like [`result`](Self::result).
    ///
    /// # Errors
    ///
    /// The call did not end with a reply.
    pub async fn result_bytes(self) -> Result<Vec<u8>, CallError> {
        self.answer().await.map(Vec::from)
    }

    async fn answer(&self) -> Result<Bytes, CallError> {
        let CallHandle { link, ticket } = &*self.open;
        // The server may wait until its items are read.
        while poll_fn(|context| link.0.poll_item(*ticket, context))
            .await
            .is_some()
        {}
        poll_fn(|context| link.0.poll_end(*ticket, context)).await?;
        Ok(link.0.take_answer(*ticket))
    }
}

impl Outgoing {
    /// Sends an item as soon as the server accepts it.
    ///
    /// # Errors
    ///
    /// The call has ended, the call does not send items or its stream was ended, the item cannot be written, or it is
    /// larger than the server accepts. In the last two cases the stream can still be used.
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

    /// Sends an item with these bytes as soon as the server accepts it.
    ///
    /// # Errors
    ///
    /// As [`Self::send`].
    pub async fn send_bytes(&mut self, item: &[u8]) -> Result<(), CallError> {
        let CallHandle { link, ticket } = &*self.open;
        poll_fn(|context| link.0.poll_send(*ticket, item, context)).await
    }

    /// Ends the stream of the client: no more items are sent.
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
    pub(super) fn new(open: CallHandle, limits: Limits) -> Self {
        let open = Arc::new(open);
        Self {
            incoming: Incoming { open, limits },
        }
    }

    /// The next message. None when the subscription has ended without an error.
    ///
    /// # Errors
    ///
    /// The server has ended the subscription, the connection has ended, or the message is not of this type.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<Message<T>>, CallError> {
        let Some(item) = self.incoming.next_item().await? else {
            return Ok(None);
        };
        Ok(Some(Message {
            missed: item.missed,
            value: self.incoming.read(&item.payload)?,
        }))
    }

    /// The bytes of the next message.
    ///
    /// # Errors
    ///
    /// The server has ended the subscription, or the connection has ended.
    pub async fn next_bytes(&mut self) -> Result<Option<Message<Vec<u8>>>, CallError> {
        let item = self.incoming.next_item().await?;
        Ok(item.map(|item| Message {
            missed: item.missed,
            value: item.payload,
        }))
    }

    /// Ends the subscription. [`next`](Self::next) still returns the messages that are on their way, and then none.
    pub fn unsubscribe(&mut self) {
        let CallHandle { link, ticket } = &*self.incoming.open;
        link.0.unsubscribe(*ticket);
    }
}
