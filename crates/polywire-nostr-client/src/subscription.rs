//! The receiving side of subscriptions.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use polywire_nostr::{CompiledFilters, Event, Filter, RelayUrl};
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};

use crate::driver::{Command, Delivery, Feed, Sink, SourceDelivery};
use crate::options::SubscribeOptions;
use crate::verifier::SeenIds;
use crate::{Refusal, Relay};

/// The maximum number of events that [`Relay::fetch`] and [`Pool::fetch`](crate::Pool::fetch)
/// return.
pub const MAX_FETCHED_EVENTS: usize = 100_000;

/// An item of a [`Subscription`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SubscriptionItem {
    /// An event that matches a filter of the subscription, with a valid id and signature.
    Event(Event),
    /// Each relay has sent all stored events (EOSE), closed the subscription or was shut down; or
    /// [`SubscribeOptions::eose_timeout`] has elapsed. Delivered once. After a timeout, stored
    /// events can follow.
    EndOfStored,
    /// A relay closed or rejected the subscription (CLOSED). No more events of this relay follow.
    Closed {
        /// The relay.
        relay: RelayUrl,
        /// The reason.
        refusal: Refusal,
    },
}

/// A subscription on one or several relays: see [`Relay::subscribe`] and
/// [`Pool::subscribe`](crate::Pool::subscribe).
///
/// Receive items with [`Self::recv`] or as a [`Stream`]. The subscription ends when all relays have
/// closed it or were shut down. Dropping it sends CLOSE. It keeps the connections open.
///
/// # Slow receivers
///
/// No items are lost. Up to [`SubscribeOptions::buffer`] items are buffered. When the buffer is
/// full, the client stops reading from each relay that has another item for it, and TCP flow
/// control stops the relay. This also delays the answers of these relays to other requests. So do
/// not await an answer of a relay, for example in [`Relay::publish`], in the task that receives
/// from a subscription on that relay: if the buffer is full, both wait for each other until the
/// timeout. A relay can also close the connection of a slow client. The client then reconnects, and
/// the subscription continues.
///
/// # Memory
///
/// At most the buffered events, of up to
/// [`MessageLimits::event`](polywire_nostr::MessageLimits::event) bytes each, and the remembered
/// ids ([`SubscribeOptions::seen_ids`]).
pub struct Subscription {
    receiver: mpsc::Receiver<SourceDelivery>,
    sources: Vec<Source>,
    eose: Eose,
}

struct Source {
    relay: Relay,
    serial: u64,
    /// Whether the relay has sent EOSE.
    complete: bool,
    /// Whether the relay has closed the subscription or was shut down.
    ended: bool,
}

/// Whether [`SubscriptionItem::EndOfStored`] was delivered.
enum Eose {
    Pending(Option<Pin<Box<Sleep>>>),
    Delivered,
}

impl Subscription {
    pub(crate) fn begin(
        relays: impl IntoIterator<Item = Relay>,
        filters: &Arc<[Filter]>,
        options: &SubscribeOptions,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(options.buffer.max(1));
        let seen = Arc::new(SeenIds::new(options.seen_ids));
        let matcher = Arc::new(CompiledFilters::new(&**filters));
        // NIP-01 does not allow REQ without filters.
        let is_empty = filters.is_empty();
        let begin = |(source, relay): (usize, Relay)| {
            let serial = relay.shared().serial();
            let sink = Sink {
                source,
                sender: sender.clone(),
                seen: Arc::clone(&seen),
            };
            let (filters, matcher) = (Arc::clone(filters), Arc::clone(&matcher));
            let feed = Box::new(Feed::new(sink, filters, matcher, options.resume_overlap));
            let subscribe = Command::Subscribe { serial, feed };
            // An error means that the relay was shut down.
            let ended = is_empty || relay.commands.send(subscribe).is_err();
            Source {
                relay,
                serial,
                complete: false,
                ended,
            }
        };
        let sources = relays.into_iter().enumerate().map(begin).collect();
        Self {
            receiver,
            sources,
            eose: Eose::Pending(options.eose_timeout.map(|time| Box::pin(sleep(time)))),
        }
    }

    /// Receives the next item. Returns `None` after the end of the subscription.
    ///
    /// Cancel-safe.
    pub async fn recv(&mut self) -> Option<SubscriptionItem> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<SubscriptionItem>> {
        loop {
            if self.sources.iter().all(|source| source.ended) {
                return Poll::Ready(None);
            }
            let mut sources = self.sources.iter();
            if sources.all(|source| source.complete || source.ended)
                && matches!(self.eose, Eose::Pending(_))
            {
                self.eose = Eose::Delivered;
                return Poll::Ready(Some(SubscriptionItem::EndOfStored));
            }
            match self.receiver.poll_recv(cx) {
                Poll::Ready(Some(item)) => {
                    if let Some(item) = self.take(item) {
                        return Poll::Ready(Some(item));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => break,
            }
        }
        if let Eose::Pending(Some(deadline)) = &mut self.eose
            && deadline.as_mut().poll(cx).is_ready()
        {
            self.eose = Eose::Delivered;
            return Poll::Ready(Some(SubscriptionItem::EndOfStored));
        }
        Poll::Pending
    }

    fn take(&mut self, item: SourceDelivery) -> Option<SubscriptionItem> {
        let source = self.sources.get_mut(item.source)?;
        match item.delivery {
            Delivery::Event(event) => return Some(SubscriptionItem::Event(event)),
            Delivery::Eose => source.complete = true,
            Delivery::Shutdown => source.ended = true,
            Delivery::Closed(refusal) => {
                source.ended = true;
                let relay = source.relay.url().clone();
                return Some(SubscriptionItem::Closed { relay, refusal });
            }
        }
        None
    }
}

impl Stream for Subscription {
    type Item = SubscriptionItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<SubscriptionItem>> {
        self.poll_recv(cx)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        for source in self.sources.iter().filter(|source| !source.ended) {
            let serial = source.serial;
            // An error means that the relay was shut down.
            let _ = source.relay.commands.send(Command::Unsubscribe { serial });
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relays = self.sources.iter().map(|source| source.relay.url());
        f.debug_struct("Subscription")
            .field("relays", &relays.collect::<Vec<_>>())
            .field("waiting", &self.receiver.len())
            .finish_non_exhaustive()
    }
}

/// The result of [`Pool::fetch`](crate::Pool::fetch).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FetchOutcome {
    /// The events, each once, in the order of receipt.
    pub events: Vec<Event>,
    /// Whether all relays that did not reject the subscription have sent EOSE. `false` if all
    /// rejected it.
    pub is_complete: bool,
    /// Whether there were more than [`MAX_FETCHED_EVENTS`] events, and the rest was discarded.
    pub is_full: bool,
    /// The relays that closed or rejected the subscription.
    pub closed: Vec<(RelayUrl, Refusal)>,
}

impl FetchOutcome {
    pub(crate) async fn collect(
        relays: impl IntoIterator<Item = Relay>,
        filters: &Arc<[Filter]>,
        time: Duration,
    ) -> Self {
        let options = SubscribeOptions::new()
            .with_eose_timeout(None)
            .with_seen_ids(MAX_FETCHED_EVENTS);
        let mut subscription = Subscription::begin(relays, filters, &options);
        let mut outcome = Self::default();
        // After a timeout, `outcome` has the events received so far.
        let _ = tokio::time::timeout(time, outcome.fill(&mut subscription)).await;
        outcome
    }

    async fn fill(&mut self, subscription: &mut Subscription) {
        while let Some(item) = subscription.recv().await {
            match item {
                SubscriptionItem::Event(_) if self.events.len() == MAX_FETCHED_EVENTS => {
                    self.is_full = true;
                    return;
                }
                SubscriptionItem::Event(event) => self.events.push(event),
                SubscriptionItem::EndOfStored => {
                    self.is_complete = true;
                    return;
                }
                SubscriptionItem::Closed { relay, refusal } => self.closed.push((relay, refusal)),
            }
        }
    }
}
