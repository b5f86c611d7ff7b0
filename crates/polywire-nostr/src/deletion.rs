//! Deletion requests (NIP-09).

use std::borrow::Cow;

use crate::{EventId, EventRef, KindClass, PublicKey};

/// The target of a deletion request (NIP-09).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Deletion<'a> {
    /// An event by its id. Delete it only if its author is the author of the request; the caller
    /// must look it up. For gift wraps (kind 1059), NIP-09 also accepts a request of the recipient.
    Event(EventId),
    /// All versions of a replaceable or addressable event by the author of the request, up to the
    /// `created_at` of the request.
    Address {
        /// The kind.
        kind: u16,
        /// The value of the tag `d`; empty for replaceable events.
        identifier: Cow<'a, str>,
    },
}

impl<'a> EventRef<'a> {
    /// Returns the targets of the `e` and `a` tags of a deletion request (kind 5, NIP-09). Empty
    /// for other kinds.
    ///
    /// Skips invalid tags, addresses of other authors, and kinds that have no address.
    ///
    /// ```
    /// use polywire_nostr::{Deletion, EventRef};
    ///
    /// let json = r#"{"id":"17063e85b0f65a38b0cf1b5084d7fcd157b05215295290d20594b4f9d4fc355f",
    ///     "pubkey":"9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c",
    ///     "created_at":1709600104,"kind":5,"content":"","tags":[
    ///     ["a","30023:9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c:a:b"],
    ///     ["a","30023:0000000000000000000000000000000000000000000000000000000000000001:c"]],
    ///     "sig":"99c4b50194cd59315a5aec20214a283c21a8816b7844f7f9204498263c27608b7fc66546f5400564dd432d226787576951788f704368566773f39bd18016ff82"}"#;
    /// let event = EventRef::parse(json)?;
    /// let own = Deletion::Address { kind: 30023, identifier: "a:b".into() };
    /// assert_eq!(event.deletions().collect::<Vec<_>>(), [own]);
    /// # Ok::<(), polywire_nostr::Error>(())
    /// ```
    pub fn deletions(&self) -> impl Iterator<Item = Deletion<'a>> + use<'a> {
        let author = *self.pubkey();
        let tags = (self.kind() == 5).then(|| self.tags());
        tags.into_iter().flatten().filter_map(move |tag| {
            let mut items = tag.items();
            let name = items.next()?;
            match &*name {
                "e" => EventId::from_hex(&*items.next()?).ok().map(Deletion::Event),
                "a" => address(items.next()?, &author),
                _ => None,
            }
        })
    }
}

/// Parses `kind:pubkey:identifier`. `None` for other authors and for kinds that have no address.
fn address<'a>(value: Cow<'a, str>, author: &PublicKey) -> Option<Deletion<'a>> {
    let (kind, rest) = value.split_once(':')?;
    let (pubkey, identifier) = rest.split_once(':')?;
    let digits = kind.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = kind.len() > 1 && kind.starts_with('0');
    if !digits || leading_zero || PublicKey::from_hex(pubkey).ok()? != *author {
        return None;
    }
    let kind = kind.parse().ok()?;
    // Other kinds have no address. Accepting them would select all events of the kind.
    let has_address = match KindClass::of(kind) {
        KindClass::Addressable => true,
        KindClass::Replaceable => identifier.is_empty(),
        _ => false,
    };
    if !has_address {
        return None;
    }
    let start = value.len() - identifier.len();
    let identifier = match value {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
        Cow::Owned(text) => Cow::Owned(text[start..].to_owned()),
    };
    Some(Deletion::Address { kind, identifier })
}
