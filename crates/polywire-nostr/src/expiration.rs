//! Expiration of events (NIP-40).

use crate::EventRef;

impl EventRef<'_> {
    /// Returns the value of the first `expiration` tag (NIP-40), in seconds since 1970-01-01 UTC.
    ///
    /// `None` if there is no such tag or its value is not a decimal number: the event does not
    /// expire.
    ///
    /// ```
    /// use polywire_nostr::EventRef;
    ///
    /// let json = r#"{"id":"17063e85b0f65a38b0cf1b5084d7fcd157b05215295290d20594b4f9d4fc355f",
    ///     "pubkey":"9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c",
    ///     "created_at":1709600104,"kind":1,"tags":[["expiration","1800000000"]],"content":"",
    ///     "sig":"99c4b50194cd59315a5aec20214a283c21a8816b7844f7f9204498263c27608b7fc66546f5400564dd432d226787576951788f704368566773f39bd18016ff82"}"#;
    /// let event = EventRef::parse(json)?;
    /// assert_eq!(event.expiration(), Some(1_800_000_000));
    /// assert!(event.is_expired(1_800_000_000));
    /// # Ok::<(), polywire_nostr::Error>(())
    /// ```
    #[must_use]
    pub fn expiration(&self) -> Option<u64> {
        let tag = self.tags().find(|tag| tag.name() == "expiration")?;
        let value = tag.value()?;
        // `parse` also accepts a plus sign.
        let digits = value.bytes().all(|byte| byte.is_ascii_digit());
        value.parse().ok().filter(|_| digits)
    }

    /// Whether the event is expired at `now`, in seconds since 1970-01-01 UTC. The expiration is
    /// inclusive.
    #[must_use]
    pub fn is_expired(&self, now: u64) -> bool {
        self.expiration()
            .is_some_and(|expiration| expiration <= now)
    }
}
