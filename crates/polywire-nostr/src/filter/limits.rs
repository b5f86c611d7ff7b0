//! What a filter may cost.

/// What filters may cost. Each limit is inclusive.
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
    /// Filters of one message.
    pub filters: usize,
    /// Items of all lists (`ids`, `authors`, `kinds` and tag values) of one message together.
    pub items: usize,
    /// Conditions on tags of one filter; there are at most 52 letters.
    pub tag_conditions: usize,
    /// Bytes of one value of a condition on a tag, without escapes.
    pub tag_value_bytes: usize,
    /// Bytes of the text of a search, without escapes.
    pub search_bytes: usize,
}

impl FilterLimits {
    /// 100 filters, 10,000 items, 16 conditions on tags, 1,024 bytes of a value and of a search.
    pub const DEFAULT: Self = Self {
        filters: 100,
        items: 10_000,
        tag_conditions: 16,
        tag_value_bytes: 1024,
        search_bytes: 1024,
    };

    /// Replaces the limit of filters.
    #[must_use]
    pub const fn with_filters(mut self, filters: usize) -> Self {
        self.filters = filters;
        self
    }

    /// Replaces the limit of items.
    #[must_use]
    pub const fn with_items(mut self, items: usize) -> Self {
        self.items = items;
        self
    }

    /// Replaces the limit of conditions on tags.
    #[must_use]
    pub const fn with_tag_conditions(mut self, conditions: usize) -> Self {
        self.tag_conditions = conditions;
        self
    }

    /// Replaces the limit of bytes of a value of a tag.
    #[must_use]
    pub const fn with_tag_value_bytes(mut self, bytes: usize) -> Self {
        self.tag_value_bytes = bytes;
        self
    }

    /// Replaces the limit of bytes of a search.
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
