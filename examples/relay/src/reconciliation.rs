//! Set reconciliation (NIP-77).

use polywire_nostr::Filter;
use polywire_nostr::message::{MachineReadablePrefix as Prefix, relay};
use polywire_nostr::negentropy::{Record, Records, Responder};

use crate::connection::Connection;
use crate::outbox::{Id, text};
use crate::policy::{Result, rejection};

/// A reconciliation over the events that matched when it was opened.
pub(crate) type Reconciliation = Responder<Records>;

/// The maximum number of open reconciliations of a connection.
const MAX_RECONCILIATIONS: usize = 4;

/// The code of a rejection because of `--max-records`.
pub(crate) const TOO_MANY_RECORDS: &str = "records";

impl Connection<'_> {
    pub(crate) async fn neg_open(&mut self, id: &Id, filter: Filter, message: &[u8]) -> Result<()> {
        self.reconciliations.remove(id);
        if self.reconciliations.len() >= MAX_RECONCILIATIONS {
            let reason = format!("no more than {MAX_RECONCILIATIONS} reconciliations at a time");
            return Err(rejection("reconciliations", Prefix::Blocked, reason));
        }
        self.check_request(std::slice::from_ref(&filter))?;
        let records = self.records(filter).await?;
        self.reconciliations
            .insert(id.clone(), Responder::new(records));
        self.respond(id, message)
    }

    pub(crate) fn neg_msg(&self, id: &Id, message: &[u8]) -> Result<()> {
        self.admit_request()?;
        self.respond(id, message)
    }

    fn respond(&self, id: &Id, message: &[u8]) -> Result<()> {
        let rejection = |prefix, reason: &str| rejection("reconciliation", prefix, reason);
        let reconciliation = self.reconciliations.get(id);
        let answer = reconciliation
            .ok_or_else(|| rejection(Prefix::Closed, "this reconciliation is not open"))?
            .respond(message)
            .map_err(|error| rejection(Prefix::Invalid, &error.to_string()))?;
        self.outbox
            .push(text(|out| relay::push_neg_msg(out, id, &answer)));
        Ok(())
    }

    /// Returns the stored events that match.
    async fn records(&self, filter: Filter) -> Result<Records> {
        let max = self.relay.options.max_records;
        let last = self.relay.store.snapshot().last;
        let mut query = self.query(filter, max.saturating_add(1), last);
        let mut records = Vec::new();
        while let Some(page) = self.page(&mut query).await? {
            let events = page.iter().map(|(_, event)| event.as_ref());
            let page = events.map(|event| Record::new(event.created_at(), *event.id()));
            // Only an event at the reserved time u64::MAX has no record.
            records.extend(page.flatten());
        }
        if records.len() as u64 > max {
            let reason = format!("no more than {max} events are reconciled at a time");
            return Err(rejection(TOO_MANY_RECORDS, Prefix::Blocked, reason));
        }
        Ok(records.into_iter().collect())
    }
}
