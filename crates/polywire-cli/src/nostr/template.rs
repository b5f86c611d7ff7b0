//! Unsigned events.

use polywire_nostr::{EventBuilder, EventId, PublicKey, UnsignedEvent};
use serde::Deserialize;

/// An event to sign. Unknown members are rejected, because they would be lost.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Template {
    id: Option<String>,
    pubkey: Option<String>,
    created_at: Option<u64>,
    kind: u16,
    #[serde(default)]
    tags: Vec<Vec<String>>,
    #[serde(default)]
    content: String,
    sig: Option<String>,
}

/// The largest integer that JavaScript represents exactly.
const MAX_CREATED_AT: u64 = (1 << 53) - 1;

impl Template {
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let template: Self = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if template.tags.iter().any(Vec::is_empty) {
            return Err("tags: tag without items".to_owned());
        }
        if template
            .created_at
            .is_some_and(|time| time > MAX_CREATED_AT)
        {
            return Err("created_at: number is too large".to_owned());
        }
        Ok(template)
    }

    pub(super) fn is_signed(&self) -> bool {
        self.sig.is_some()
    }

    /// Returns the stated id.
    pub(super) fn id(&self) -> Result<Option<EventId>, String> {
        let id = self.id.as_deref().map(EventId::from_hex).transpose();
        id.map_err(|error| format!("id: {error}"))
    }

    /// Returns the stated author.
    pub(super) fn author(&self) -> Result<Option<PublicKey>, String> {
        let key = self.pubkey.as_deref().map(PublicKey::from_hex).transpose();
        key.map_err(|error| format!("pubkey: {error}"))
    }

    pub(super) fn has_time(&self) -> bool {
        self.created_at.is_some()
    }

    /// Builds the event of this author. `now` is the default of `created_at`.
    pub(super) fn build(self, author: &PublicKey, now: u64) -> UnsignedEvent {
        let created_at = self.created_at.unwrap_or(now);
        EventBuilder::new(self.kind, self.content, created_at)
            .tags(self.tags)
            .build(author)
    }
}
