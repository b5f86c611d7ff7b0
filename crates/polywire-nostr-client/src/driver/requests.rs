//! Pending requests to a relay.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use polywire_nostr::message::{Count, client};
use polywire_nostr::{Event, EventId, Filter, SubscriptionId};
use polywire_rpc::websocket::Message;
use tokio::sync::mpsc;

use super::auth::Auth;
use super::command::{Command, Reply, SyncMessage};
use super::feed::{Delivery, Feed, SourceDelivery};
use crate::relay::PublishOutcome;
use crate::state::Shared;
use crate::verifier::Verifier;

pub(super) struct Requests {
    pub(super) shared: Arc<Shared>,
    pub(super) verifier: Arc<Verifier>,
    is_connected: bool,
    /// Messages to send that do not yet fit in the queue of the connection.
    pub(super) outbox: VecDeque<Message>,
    /// Items that do not yet fit in the buffer of their subscription. While there are any, the
    /// connection is not read.
    pub(super) blocked: VecDeque<BlockedDelivery>,
    pub(super) feeds: BTreeMap<u64, Feed>,
    pub(super) publications: HashMap<EventId, Publication>,
    pub(super) counts: BTreeMap<u64, CountRequest>,
    pub(super) syncs: HashMap<u64, mpsc::Sender<SyncMessage>>,
    pub(super) auth: Auth,
    /// The number of challenges on this connection.
    pub(super) challenges: u32,
}

pub(super) struct BlockedDelivery {
    pub(super) sender: mpsc::Sender<SourceDelivery>,
    pub(super) item: SourceDelivery,
}

/// An event to publish, with all callers that wait for the answer.
pub(super) struct Publication {
    pub(super) event: Event,
    pub(super) replies: Vec<(u64, Reply<PublishOutcome>)>,
    pub(super) after_auth: bool,
    pub(super) waits_for_auth: bool,
}

pub(super) struct CountRequest {
    pub(super) filters: Vec<Filter>,
    pub(super) reply: Reply<Count>,
    pub(super) after_auth: bool,
    pub(super) waits_for_auth: bool,
}

impl Requests {
    pub(super) fn new(shared: Arc<Shared>, verifier: Arc<Verifier>) -> Self {
        Self {
            shared,
            verifier,
            is_connected: false,
            outbox: VecDeque::new(),
            blocked: VecDeque::new(),
            feeds: BTreeMap::new(),
            publications: HashMap::new(),
            counts: BTreeMap::new(),
            syncs: HashMap::new(),
            auth: Auth::default(),
            challenges: 0,
        }
    }

    pub(super) fn handle(&mut self, command: Command) {
        match command {
            Command::Publish {
                serial,
                event,
                reply,
            } => self.publish(serial, event, reply),
            Command::CancelPublish { serial, id } => {
                if let Some(publication) = self.publications.get_mut(&id) {
                    publication.replies.retain(|(other, _)| *other != serial);
                    if publication.replies.is_empty() {
                        self.publications.remove(&id);
                    }
                }
            }
            Command::Subscribe { serial, feed } => {
                self.feeds.insert(serial, *feed);
                self.send_feed(serial);
            }
            Command::Unsubscribe { serial } => {
                if self.feeds.remove(&serial).is_some() {
                    self.send_with(|out| client::push_close(out, &wire_id(serial)));
                }
            }
            Command::Count {
                serial,
                filters,
                reply,
            } => {
                let request = CountRequest {
                    filters,
                    reply,
                    after_auth: false,
                    waits_for_auth: false,
                };
                self.counts.insert(serial, request);
                self.send_count(serial);
            }
            Command::CancelCount { serial } => {
                if self.counts.remove(&serial).is_some() {
                    self.send_with(|out| client::push_close(out, &wire_id(serial)));
                }
            }
            Command::OpenSync {
                serial,
                filter,
                message,
                replies,
            } => {
                // Without a connection, dropping `replies` reports the failure to the caller.
                if self.is_connected {
                    self.syncs.insert(serial, replies);
                    let id = wire_id(serial);
                    self.send_with(|out| client::push_neg_open(out, &id, &filter, &message));
                }
            }
            Command::ContinueSync { serial, message } => {
                if self.syncs.contains_key(&serial) {
                    self.send_with(|out| client::push_neg_msg(out, &wire_id(serial), &message));
                }
            }
            Command::CloseSync { serial } => {
                if self.syncs.remove(&serial).is_some() {
                    self.send_with(|out| client::push_neg_close(out, &wire_id(serial)));
                }
            }
            // Handled by the driver.
            Command::Shutdown => {}
        }
    }

    fn publish(&mut self, serial: u64, event: Event, reply: Reply<PublishOutcome>) {
        let id = *event.as_ref().id();
        let publication = self.publications.entry(id).or_insert(Publication {
            event,
            replies: Vec::new(),
            after_auth: false,
            waits_for_auth: false,
        });
        publication.replies.push((serial, reply));
        // If the event was already sent, its answer completes all requests.
        if publication.replies.len() == 1 {
            self.send_publication(id);
        }
    }

    pub(super) fn send_feed(&mut self, serial: u64) {
        let after_auth = self.auth.is_accepted();
        let Some(feed) = self.feeds.get_mut(&serial) else {
            return;
        };
        (feed.after_auth, feed.waits_for_auth) = (after_auth, false);
        let filters = feed.filters();
        if !filters.is_empty() {
            self.send_with(|out| client::push_req(out, &wire_id(serial), &filters));
        }
    }

    pub(super) fn send_count(&mut self, serial: u64) {
        let after_auth = self.auth.is_accepted();
        let Some(request) = self.counts.get_mut(&serial) else {
            return;
        };
        (request.after_auth, request.waits_for_auth) = (after_auth, false);
        let mut out = Vec::new();
        client::push_count(&mut out, &wire_id(serial), &request.filters);
        self.send(out);
    }

    pub(super) fn send_publication(&mut self, id: EventId) {
        let after_auth = self.auth.is_accepted();
        let Some(publication) = self.publications.get_mut(&id) else {
            return;
        };
        (publication.after_auth, publication.waits_for_auth) = (after_auth, false);
        let mut out = Vec::new();
        client::push_event(&mut out, publication.event.as_ref().as_json());
        self.send(out);
    }

    pub(super) fn send_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut out = Vec::new();
        write(&mut out);
        self.send(out);
    }

    fn send(&mut self, json: Vec<u8>) {
        if self.is_connected {
            // Only UTF-8 was written.
            let text = String::from_utf8(json).unwrap_or_default();
            self.outbox.push_back(Message::from(text));
        }
    }

    /// Sends all pending requests on a new connection.
    pub(super) fn connected(&mut self) {
        self.is_connected = true;
        self.auth = Auth::default();
        self.challenges = 0;
        let feeds: Vec<_> = self.feeds.keys().copied().collect();
        feeds.into_iter().for_each(|serial| self.send_feed(serial));
        let events: Vec<_> = self.publications.keys().copied().collect();
        events.into_iter().for_each(|id| self.send_publication(id));
        let counts: Vec<_> = self.counts.keys().copied().collect();
        counts
            .into_iter()
            .for_each(|serial| self.send_count(serial));
    }

    pub(super) fn disconnected(&mut self) {
        self.is_connected = false;
        self.outbox.clear();
        // The relay discards the state of reconciliations with the connection.
        self.syncs.clear();
    }

    /// Delivers an item to a subscription, or queues it while the buffer is full. If the receiver
    /// was dropped, the item is dropped too.
    pub(super) fn deliver(&mut self, serial: u64, delivery: Delivery) {
        let Some(feed) = self.feeds.get(&serial) else {
            return;
        };
        let item = SourceDelivery {
            source: feed.sink.source,
            delivery,
        };
        let sender = &feed.sink.sender;
        // No earlier item of this subscription is blocked: while there are blocked items, the
        // connection is not read.
        match sender.try_send(item) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
            Err(mpsc::error::TrySendError::Full(item)) => {
                let sender = sender.clone();
                self.blocked.push_back(BlockedDelivery { sender, item });
            }
        }
    }

    /// Delivers the blocked items and the end of all subscriptions, waiting for room in their
    /// buffers. Drops the other requests, which fails them.
    pub(super) async fn finish(mut self) {
        self.publications.clear();
        self.counts.clear();
        self.syncs.clear();
        for BlockedDelivery { sender, item } in self.blocked {
            // An error means that the receiver was dropped.
            let _ = sender.send(item).await;
        }
        for feed in self.feeds.into_values() {
            let shutdown = SourceDelivery {
                source: feed.sink.source,
                delivery: Delivery::Shutdown,
            };
            let _ = feed.sink.sender.send(shutdown).await;
        }
    }
}

/// Returns the subscription id of a request on the wire, which is its number.
pub(super) fn wire_id(serial: u64) -> SubscriptionId<'static> {
    #[expect(clippy::expect_used, reason = "a number has 1 to 20 digits")]
    SubscriptionId::new(serial.to_string()).expect("20 digits at most")
}

/// Returns the number of the request with this subscription id.
pub(super) fn serial_of(id: &SubscriptionId<'_>) -> Option<u64> {
    id.as_str().parse().ok()
}
