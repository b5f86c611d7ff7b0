//! Filters (NIP-01): parsing, building, writing and matching.

mod compiled;
mod compiled_tag;
mod limits;
mod matching;
mod parse;
#[cfg(feature = "serde")]
mod serde;
mod set;
mod tag;
mod write;

use polywire_text::Text;

pub use compiled::{CompiledFilter, CompiledFilters};
pub use limits::FilterLimits;
pub(crate) use parse::read;
pub use tag::{TagCondition, TagLetter};

use crate::{Error, EventId, EventRef, Member, Profile, PublicKey};

/// A filter of a subscription (NIP-01), including `search` (NIP-50).
///
/// An event must meet all conditions. It meets a list condition if it equals one item; prefixes do
/// not match. An empty list matches no event. NIP-01 requires at least one value, but clients send
/// `"authors":[]` for an empty follow list.
///
/// ```
/// use polywire_nostr::{Filter, PublicKey, TagLetter};
///
/// let author = PublicKey::from_hex("9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c")?;
/// let filter = Filter::new()
///     .with_authors([author])
///     .with_kinds([1, 6])
///     .with_tag(TagLetter::T, ["coffee"])?
///     .with_limit(20);
/// let json = concat!(
///     r#"{"authors":["9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c"],"#,
///     r##""kinds":[1,6],"#t":["coffee"],"limit":20}"##,
/// );
/// assert_eq!(filter.to_json(), json);
/// assert_eq!(Filter::parse(json)?, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Filter {
    ids: Option<Vec<EventId>>,
    authors: Option<Vec<PublicKey>>,
    kinds: Option<Vec<u16>>,
    /// Sorted by letter, at most one condition for each.
    tags: Vec<TagCondition>,
    since: Option<u64>,
    until: Option<u64>,
    limit: Option<u64>,
    search: Option<Text>,
}

impl Filter {
    /// The maximum of `since`, `until` and `limit`: 2^63 - 1. The `created_at` of events is at most
    /// 2^53 - 1.
    pub const MAX_NUMBER: u64 = (1 << 63) - 1;

    /// Returns a filter without conditions. It matches all events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a filter with the strict profile and the default limits.
    ///
    /// Values of `ids`, `authors`, `#e` and `#p` must be 64 lower-case hexadecimal digits. Numbers
    /// must be integers.
    ///
    /// # Errors
    ///
    /// The first error in the text. An unknown member is an error
    /// ([`Reason::UnknownMember`](crate::Reason::UnknownMember)): ignoring it could make the filter
    /// match more events than the client requested.
    ///
    /// ```
    /// use polywire_nostr::Filter;
    ///
    /// let error = Filter::parse(r#"{"kinds":[1],"genre":"jazz"}"#).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "unsupported: filter contains an unknown member, at byte 13",
    /// );
    /// ```
    pub fn parse(json: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        Self::parse_with(json, Profile::STRICT, &FilterLimits::DEFAULT)
    }

    /// Parses a filter with a profile and limits. Hexadecimal digits must be in lower case with
    /// every profile.
    ///
    /// # Errors
    ///
    /// Like [`parse`](Self::parse).
    pub fn parse_with(
        json: &(impl AsRef<[u8]> + ?Sized),
        profile: Profile,
        limits: &FilterLimits,
    ) -> Result<Self, Error> {
        parse::filter(json.as_ref(), profile, limits)
    }

    /// Sets the ids.
    #[must_use]
    pub fn with_ids(mut self, ids: impl IntoIterator<Item = EventId>) -> Self {
        self.ids = Some(ids.into_iter().collect());
        self
    }

    /// Sets the authors.
    #[must_use]
    pub fn with_authors(mut self, authors: impl IntoIterator<Item = PublicKey>) -> Self {
        self.authors = Some(authors.into_iter().collect());
        self
    }

    /// Sets the kinds.
    #[must_use]
    pub fn with_kinds(mut self, kinds: impl IntoIterator<Item = u16>) -> Self {
        self.kinds = Some(kinds.into_iter().collect());
        self
    }

    /// Sets the condition on a tag.
    ///
    /// # Errors
    ///
    /// A value of `e` or `p` is not 64 lower-case hexadecimal digits. The offset is relative to the
    /// value.
    pub fn with_tag(
        mut self,
        letter: TagLetter,
        values: impl IntoIterator<Item: AsRef<str>>,
    ) -> Result<Self, Error> {
        let mut list = Vec::new();
        for value in values {
            let value = value.as_ref();
            let error = |(reason, at)| Error::new(reason, at).in_member(Member::Tag);
            letter.check(value).map_err(error)?;
            list.push(Text::from(value));
        }
        self.set_tag(letter, list);
        Ok(self)
    }

    /// Sets the earliest `created_at`, in seconds since 1970-01-01 UTC, inclusive. Values are
    /// clamped to [`MAX_NUMBER`](Self::MAX_NUMBER).
    #[must_use]
    pub fn with_since(mut self, since: u64) -> Self {
        self.since = Some(since.min(Self::MAX_NUMBER));
        self
    }

    /// Sets the latest `created_at`, in seconds since 1970-01-01 UTC, inclusive. Values are clamped
    /// to [`MAX_NUMBER`](Self::MAX_NUMBER).
    #[must_use]
    pub fn with_until(mut self, until: u64) -> Self {
        self.until = Some(until.min(Self::MAX_NUMBER));
        self
    }

    /// Sets the maximum number of stored events. Values are clamped to
    /// [`MAX_NUMBER`](Self::MAX_NUMBER).
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit.min(Self::MAX_NUMBER));
        self
    }

    /// Removes the maximum number of stored events.
    #[must_use]
    pub fn without_limit(mut self) -> Self {
        self.limit = None;
        self
    }

    /// Sets the search text (NIP-50).
    #[must_use]
    pub fn with_search(mut self, search: &str) -> Self {
        self.search = Some(Text::from(search));
        self
    }

    /// Returns the ids. `None` without a condition on ids.
    #[must_use]
    pub fn ids(&self) -> Option<&[EventId]> {
        self.ids.as_deref()
    }

    /// Returns the authors. `None` without a condition on authors.
    #[must_use]
    pub fn authors(&self) -> Option<&[PublicKey]> {
        self.authors.as_deref()
    }

    /// Returns the kinds. `None` without a condition on kinds.
    #[must_use]
    pub fn kinds(&self) -> Option<&[u16]> {
        self.kinds.as_deref()
    }

    /// Returns the tag conditions, sorted by letter: `A-Z` before `a-z`.
    #[must_use]
    pub fn tags(&self) -> &[TagCondition] {
        &self.tags
    }

    /// Returns the condition on a tag.
    #[must_use]
    pub fn tag(&self, letter: TagLetter) -> Option<&TagCondition> {
        self.tags.iter().find(|tag| tag.letter == letter)
    }

    /// Returns the earliest `created_at`, in seconds since 1970-01-01 UTC, inclusive.
    #[must_use]
    pub fn since(&self) -> Option<u64> {
        self.since
    }

    /// Returns the latest `created_at`, in seconds since 1970-01-01 UTC, inclusive.
    #[must_use]
    pub fn until(&self) -> Option<u64> {
        self.until
    }

    /// Returns the maximum number of stored events. [`matches`](Self::matches) ignores it.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Returns the search text (NIP-50). Its meaning depends on the relay, so
    /// [`matches`](Self::matches) ignores it.
    #[must_use]
    pub fn search(&self) -> Option<&str> {
        self.search.as_deref()
    }

    /// Whether no event can match: a list is empty, or `since` is later than `until`.
    #[must_use]
    pub fn matches_nothing(&self) -> bool {
        self.ids.as_ref().is_some_and(Vec::is_empty)
            || self.authors.as_ref().is_some_and(Vec::is_empty)
            || self.kinds.as_ref().is_some_and(Vec::is_empty)
            || self.tags.iter().any(|tag| tag.values.is_empty())
            || self.since.unwrap_or(0) > self.until.unwrap_or(u64::MAX)
    }

    /// Whether an event matches. Ignores `limit` and `search`.
    ///
    /// The time is proportional to the lengths of the lists. To match many events,
    /// [`compile`](Self::compile) the filter.
    ///
    /// ```
    /// use polywire_nostr::{EventRef, Filter};
    ///
    /// let json = r#"{"id":"17063e85b0f65a38b0cf1b5084d7fcd157b05215295290d20594b4f9d4fc355f",
    ///     "pubkey":"9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c",
    ///     "created_at":1709600104,"kind":1,"tags":[["t","coffee"]],"content":"",
    ///     "sig":"99c4b50194cd59315a5aec20214a283c21a8816b7844f7f9204498263c27608b7fc66546f5400564dd432d226787576951788f704368566773f39bd18016ff82"}"#;
    /// let event = EventRef::parse(json)?;
    /// assert!(Filter::parse(r##"{"#t":["tea","coffee"],"limit":0}"##)?.matches(&event));
    /// assert!(!Filter::parse(r##"{"#t":["cof"]}"##)?.matches(&event));
    /// # Ok::<(), polywire_nostr::Error>(())
    /// ```
    #[must_use]
    pub fn matches(&self, event: &EventRef<'_>) -> bool {
        matching::matches(self, event)
    }

    /// Compiles the filter for matching many events.
    #[must_use]
    pub fn compile(&self) -> CompiledFilter {
        CompiledFilter::new(self)
    }

    /// Appends compact JSON. The order is `ids`, `authors`, `kinds`, tags by letter, `since`,
    /// `until`, `limit`, `search`.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        write::push_json(self, out);
    }

    /// Returns compact JSON, as [`push_json`](Self::push_json) writes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::json::to_string(|out| self.push_json(out))
    }

    /// Inserts or replaces a tag condition.
    fn set_tag(&mut self, letter: TagLetter, values: Vec<Text>) {
        let tag = TagCondition { letter, values };
        match self.tags.binary_search_by_key(&letter, |tag| tag.letter) {
            Ok(at) => self.tags[at] = tag,
            Err(at) => self.tags.insert(at, tag),
        }
    }
}
