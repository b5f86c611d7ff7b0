//! Subscriptions, as their users see them.

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

use crate::driver::{Command, Delivery, Feed, Sink, Tagged};
use crate::options::SubscribeOptions;
use crate::verifier::SeenIds;
use crate::{Refusal, Relay};

/// The most events that [`Relay::fetch`] and [`Pool::fetch`](crate::Pool::fetch) return.
pub const MAX_FETCHED_EVENTS: usize = 100_000;

/// What a subscription receives.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SubscriptionItem {
    /// An event. It matches a filter of the subscription, and its id and signature are valid.
    Event(Event),
    /// Each relay of the subscription has sent all stored events (EOSE), has ended the subscription or
    /// is gone, or [`SubscribeOptions::eose_timeout`] is over. It comes once; after a timeout, stored
    /// events may still follow.
    EndOfStored,
    /// A relay ended the subscription or refused it (CLOSED). Nothing more comes from this relay.
    Closed {
        /// The relay.
        relay: RelayUrl,
        /// What it says.
        refusal: Refusal,
    },
}

/// A subscription to one relay or to several: see [`Relay::subscribe`] and
/// [`Pool::subscribe`](crate::Pool::subscribe).
///
/// It is a [`Stream`], and has [`Self::recv`]. It ends when all its relays have ended it or are shut
/// down. When it is dropped, the relays are told (CLOSE). It keeps the connections open.
///
/// # Slow receivers
///
/// Nothing is lost. Items wait in a buffer of [`SubscribeOptions::buffer`]. When it is full, the client
/// stops reading from each relay that has a further item for it, and TCP makes the relay wait. This
/// holds up all answers of these relays, those to other requests too. So do not wait for an answer of
/// a relay, such as that to [`Relay::publish`], in the task that receives from a subscription to it:
/// if the buffer is full, the answer comes only once the task receives. A relay may also close the
/// connection of a client that reads too slowly; then the client connects again, and the subscription
/// goes on.
///
/// # Memory
///
/// At most the buffered events, of [`MessageLimits::event`](polywire_nostr::MessageLimits::event) bytes
/// each, and the remembered ids ([`SubscribeOptions::seen_ids`]).
pub struct Subscription {
    receiver: mpsc::Receiver<Tagged>,
    sources: Vec<Source>,
    eose: Eose,
}

struct Source {
    relay: Relay,
    serial: u64,
    /// It has sent all stored events.
    complete: bool,
    /// Nothing more comes from it.
    ended: bool,
}

/// Whether the end of the stored events was told.
enum Eose {
    Awaited(Option<Pin<Box<Sleep>>>),
    Told,
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
        // Without filters nothing can come.
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
            eose: Eose::Awaited(options.eose_timeout.map(|time| Box::pin(sleep(time)))),
        }
    }

    /// The next item. `None` if nothing more comes.
    ///
    /// This is cancel-safe.
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
                && matches!(self.eose, Eose::Awaited(_))
            {
                self.eose = Eose::Told;
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
        if let Eose::Awaited(Some(deadline)) = &mut self.eose
            && deadline.as_mut().poll(cx).is_ready()
        {
            self.eose = Eose::Told;
            return Poll::Ready(Some(SubscriptionItem::EndOfStored));
        }
        Poll::Pending
    }

    fn take(&mut self, item: Tagged) -> Option<SubscriptionItem> {
        let source = self.sources.get_mut(item.source)?;
        match item.delivery {
            Delivery::Event(event) => return Some(SubscriptionItem::Event(event)),
            Delivery::Eose => source.complete = true,
            Delivery::Gone => source.ended = true,
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

/// What several relays had stored: see [`Pool::fetch`](crate::Pool::fetch).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Fetched {
    /// The events, each once, in the order in which they came.
    pub events: Vec<Event>,
    /// Whether all relays that did not refuse have sent all stored events. False if all refused.
    pub is_complete: bool,
    /// Whether there were more than [`MAX_FETCHED_EVENTS`], and the rest was left out.
    pub is_full: bool,
    /// The relays that ended the subscription or refused it.
    pub closed: Vec<(RelayUrl, Refusal)>,
}

impl Fetched {
    pub(crate) async fn collect(
        relays: impl IntoIterator<Item = Relay>,
        filters: &Arc<[Filter]>,
        time: Duration,
    ) -> Self {
        let options = SubscribeOptions::new()
            .with_eose_timeout(None)
            .with_seen_ids(MAX_FETCHED_EVENTS);
        let mut subscription = Subscription::begin(relays, filters, &options);
        let mut fetched = Self::default();
        // Without EOSE in time, what has come is returned.
        let _ = tokio::time::timeout(time, fetched.fill(&mut subscription)).await;
        fetched
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
