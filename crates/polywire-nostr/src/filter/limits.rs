//! Limits for parsing filters.

/// Limits for parsing filters. Each limit is inclusive.
///
/// ```
/// use polywire_nostr::{Filter, FilterLimits, Profile, Reason};
///
/// let limits = FilterLimits::default().with_items(2);
/// let error = Filter::parse_with(r#"{"kinds":[1,2,3]}"#, Profile::STRICT, &limits).unwrap_err();
/// assert_eq!(error.reason, Reason::TooManyItems);
/// assert_eq!(error.offset, 14);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct FilterLimits {
    /// The maximum number of filters in a message.
    pub filters: usize,
    /// The maximum total number of items in all lists of a message: `ids`, `authors`, `kinds` and
    /// tag values.
    pub items: usize,
    /// The maximum number of tag conditions in a filter. There are 52 letters.
    pub tag_conditions: usize,
    /// The maximum length of a tag value in bytes, after decoding.
    pub tag_value_bytes: usize,
    /// The maximum length of the search text in bytes, after decoding.
    pub search_bytes: usize,
}

impl FilterLimits {
    /// 100 filters, 10,000 items, 16 tag conditions, 1,024 bytes for each tag value and for the
    /// search.
    pub const DEFAULT: Self = Self {
        filters: 100,
        items: 10_000,
        tag_conditions: 16,
        tag_value_bytes: 1024,
        search_bytes: 1024,
    };

    /// Sets [`filters`](Self::filters).
    #[must_use]
    pub const fn with_filters(mut self, filters: usize) -> Self {
        self.filters = filters;
        self
    }

    /// Sets [`items`](Self::items).
    #[must_use]
    pub const fn with_items(mut self, items: usize) -> Self {
        self.items = items;
        self
    }

    /// Sets [`tag_conditions`](Self::tag_conditions).
    #[must_use]
    pub const fn with_tag_conditions(mut self, conditions: usize) -> Self {
        self.tag_conditions = conditions;
        self
    }

    /// Sets [`tag_value_bytes`](Self::tag_value_bytes).
    #[must_use]
    pub const fn with_tag_value_bytes(mut self, bytes: usize) -> Self {
        self.tag_value_bytes = bytes;
        self
    }

    /// Sets [`search_bytes`](Self::search_bytes).
    #[must_use]
    pub const fn with_search_bytes(mut self, bytes: usize) -> Self {
        self.search_bytes = bytes;
        self
    }
}

impl Default for FilterLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
