//! Reconciliation of sets of events (NIP-77).

use polywire_nostr::message::{Prefix, relay};
use polywire_nostr::negentropy::{Record, Records, Responder};
use polywire_nostr::{Filter, SubscriptionId};

use crate::connection::Connection;
use crate::outbox::text;
use crate::policy::Rejection;

/// A reconciliation in progress: the events that matched when it began.
pub(crate) type Reconciliation = Responder<Records>;

/// The reconciliations of one connection.
const MOST: usize = 4;

impl Connection<'_> {
    pub(crate) async fn neg_open(
        &mut self,
        id: SubscriptionId<'static>,
        filter: Filter,
        message: &[u8],
    ) {
        self.reconciliations.remove(id.as_str());
        if self.reconciliations.len() >= MOST {
            let reason = format!("no more than {MOST} reconciliations at once");
            let rejection = Rejection::new("reconciliations", Prefix::Blocked, &reason);
            return self.neg_refuse(&id, &rejection, None);
        }
        if let Err(rejection) = self.check_request(std::slice::from_ref(&filter)) {
            return self.neg_refuse(&id, &rejection, None);
        }
        match self.records(filter).await {
            Ok(records) => {
                self.reconciliations
                    .insert(id.clone(), Responder::new(records));
                self.neg_answer(&id, message);
            }
            Err(rejection) => {
                let most = Some(self.relay.options.max_records);
                let most = most.filter(|_| rejection.code == "records");
                self.neg_refuse(&id, &rejection, most);
            }
        }
    }

    pub(crate) fn neg_msg(&mut self, id: &SubscriptionId<'_>, message: &[u8]) {
        if !self.reconciliations.contains_key(id.as_str()) {
            let rejection = Rejection::new(
                "reconciliation",
                Prefix::Closed,
                "there is no such reconciliation",
            );
            return self.neg_refuse(id, &rejection, None);
        }
        if let Err(rejection) = self.admit_request() {
            self.reconciliations.remove(id.as_str());
            return self.neg_refuse(id, &rejection, None);
        }
        self.neg_answer(id, message);
    }

    fn neg_answer(&mut self, id: &SubscriptionId<'_>, message: &[u8]) {
        let Some(responder) = self.reconciliations.get(id.as_str()) else {
            return;
        };
        match responder.respond(message) {
            Ok(answer) => self
                .outbox
                .push(text(|out| relay::push_neg_msg(out, id, &answer))),
            Err(error) => {
                self.reconciliations.remove(id.as_str());
                let rejection =
                    Rejection::new("reconciliation", Prefix::Invalid, &error.to_string());
                self.neg_refuse(id, &rejection, None);
            }
        }
    }

    fn neg_refuse(&self, id: &SubscriptionId<'_>, rejection: &Rejection, most: Option<u64>) {
        self.relay.metrics.rejected(rejection.code);
        self.outbox.neg_err(id, &rejection.reason, most);
    }

    /// The stored events that match.
    async fn records(&self, filter: Filter) -> Result<Records, Rejection> {
        let most = self.relay.options.max_records;
        let last = self.relay.store.snapshot().last;
        let mut query = self.query(filter, most.saturating_add(1), last);
        let mut records = Vec::new();
        while !query.is_done() {
            let page;
            (query, page) = self.page(query).await?;
            records.extend(page.iter().filter_map(|(_, event)| {
                let event = event.as_ref();
                // No event is as late as the time that is reserved.
                Record::new(event.created_at(), *event.id()).ok()
            }));
        }
        if records.len() as u64 > most {
            let reason = format!("no more than {most} events are reconciled at once");
            return Err(Rejection::new("records", Prefix::Blocked, &reason));
        }
        Ok(records.into_iter().collect())
    }
}
