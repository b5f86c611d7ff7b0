//! Matching of filters (NIP-01), over decoded values.

/// An event as plain text.
#[derive(Clone, Debug, Default)]
pub struct PlainEvent {
    /// Hexadecimal digits.
    pub id: String,
    /// Hexadecimal digits.
    pub pubkey: String,
    /// Seconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// The kind.
    pub kind: u16,
    /// Tags with decoded items.
    pub tags: Vec<Vec<String>>,
}

/// A filter as plain text.
#[derive(Clone, Debug, Default)]
pub struct PlainFilter {
    /// Hexadecimal digits.
    pub ids: Option<Vec<String>>,
    /// Hexadecimal digits.
    pub authors: Option<Vec<String>>,
    /// Kinds.
    pub kinds: Option<Vec<u16>>,
    /// Tag conditions: names without `#`, and values.
    pub tags: Vec<(String, Vec<String>)>,
    /// The earliest `created_at`, inclusive.
    pub since: Option<u64>,
    /// The latest `created_at`, inclusive.
    pub until: Option<u64>,
}

/// Whether an event meets all conditions of a filter.
#[must_use]
pub fn matches(filter: &PlainFilter, event: &PlainEvent) -> bool {
    if let Some(ids) = &filter.ids
        && !ids.contains(&event.id)
    {
        return false;
    }
    if let Some(authors) = &filter.authors
        && !authors.contains(&event.pubkey)
    {
        return false;
    }
    if let Some(kinds) = &filter.kinds
        && !kinds.contains(&event.kind)
    {
        return false;
    }
    if let Some(since) = filter.since
        && event.created_at < since
    {
        return false;
    }
    if let Some(until) = filter.until
        && event.created_at > until
    {
        return false;
    }
    for (name, values) in &filter.tags {
        let mut found = false;
        for tag in &event.tags {
            // Only the first value is compared.
            if tag.len() >= 2 && tag[0] == *name && values.contains(&tag[1]) {
                found = true;
            }
        }
        if !found {
            return false;
        }
    }
    true
}
