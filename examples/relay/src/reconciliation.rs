//! Reconciliation of sets of events (NIP-77).

use polywire_nostr::Filter;
use polywire_nostr::message::{Prefix, relay};
use polywire_nostr::negentropy::{Record, Records, Responder};

use crate::connection::Connection;
use crate::outbox::{Name, text};
use crate::policy::{Rejection, rejection};

/// A reconciliation in progress: the events that matched when it began.
pub(crate) type Reconciliation = Responder<Records>;

/// The reconciliations of one connection.
const MOST: usize = 4;

/// The code of a reconciliation of too many events.
const TOO_MANY: &str = "records";

impl Connection<'_> {
    pub(crate) async fn neg_open(
        &mut self,
        id: &Name,
        filter: Filter,
        message: &[u8],
    ) -> Result<(), Rejection> {
        self.reconciliations.remove(id);
        if self.reconciliations.len() >= MOST {
            let reason = format!("no more than {MOST} reconciliations at once");
            return Err(rejection("reconciliations", Prefix::Blocked, reason));
        }
        self.check_request(std::slice::from_ref(&filter))?;
        let records = self.records(filter).await?;
        self.reconciliations
            .insert(id.clone(), Responder::new(records));
        self.respond(id, message)
    }

    pub(crate) fn neg_msg(&self, id: &Name, message: &[u8]) -> Result<(), Rejection> {
        self.admit(false)?;
        self.respond(id, message)
    }

    fn respond(&self, id: &Name, message: &[u8]) -> Result<(), Rejection> {
        let reconciliation = self.reconciliations.get(id).ok_or_else(|| {
            rejection(
                "reconciliation",
                Prefix::Closed,
                "there is no such reconciliation",
            )
        })?;
        let answer = reconciliation
            .respond(message)
            .map_err(|error| rejection("reconciliation", Prefix::Invalid, error.to_string()))?;
        self.outbox
            .push(text(|out| relay::push_neg_msg(out, id, &answer)));
        Ok(())
    }

    /// Ends a reconciliation that has failed.
    pub(crate) fn neg_end(&mut self, id: &Name, result: Result<(), Rejection>) {
        if let Err(rejection) = result {
            self.reconciliations.remove(id);
            self.relay.metrics.rejected(rejection.code);
            let most = (rejection.code == TOO_MANY).then_some(self.relay.options.max_records);
            self.outbox.neg_err(id, &rejection.reason, most);
        }
    }

    /// The stored events that match.
    async fn records(&self, filter: Filter) -> Result<Records, Rejection> {
        let most = self.relay.options.max_records;
        let last = self.relay.store.snapshot().last;
        let mut query = self.query(filter, most.saturating_add(1), last);
        let mut records = Vec::new();
        while let Some(page) = self.page(&mut query).await? {
            let events = page.iter().map(|(_, event)| event.as_ref());
            // No event is as late as the time that is reserved.
            records.extend(
                events.filter_map(|event| Record::new(event.created_at(), *event.id()).ok()),
            );
        }
        if records.len() as u64 > most {
            let reason = format!("no more than {most} events are reconciled at once");
            return Err(rejection(TOO_MANY, Prefix::Blocked, reason));
        }
        Ok(records.into_iter().collect())
    }
}
