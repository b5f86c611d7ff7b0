//! The binary storage form.
//!
//! | bytes | content |
//! |---|---|
//! | 0 | version, 1 |
//! | 1..33 | id |
//! | 33..65 | public key |
//! | 65..129 | signature |
//! | 129..137 | `created_at` |
//! | 137..139 | kind |
//! | 139..143 | number of tags |
//! | 143..147 | length of the structure section |
//! | 147..151 | length of the bytes section |
//! | 151..155 | length of the text section |
//! | 155.. | the three sections in this order; trailing bytes are an error |
//!
//! Integers in the header are little-endian. The structure section contains, for each tag, the
//! number of its items, and for each item twice its length, plus one if the item is in the bytes
//! section. These are LEB128 integers in their shortest form. The bytes section contains the items
//! that consist of at least 32 lower-case hexadecimal digits, decoded. The text section contains
//! the other items, then the content, as UTF-8 without escapes.
//!
//! All text is in one section so that one pass validates its UTF-8.

use std::fmt;

use polywire_text::hex::{self, Case};
use polywire_text::{Malformed, utf8};

use super::canonical::{self, PutItem};
use super::parse::MAX_CREATED_AT;
use super::{EventRef, Sink};
use crate::{EventId, PublicKey, Signature};

const VERSION: u8 = 1;
const HEADER: usize = 155;
/// Shorter hexadecimal items are stored as text: they are often not hexadecimal data.
const LEAST_DIGITS: usize = 32;

/// An event in the binary storage form. It borrows its bytes.
///
/// ```
/// use polywire_nostr::{BinaryEvent, EventRef};
///
/// # let json = r#"{"id":"17063e85b0f65a38b0cf1b5084d7fcd157b05215295290d20594b4f9d4fc355f","pubkey":"9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c","created_at":1709600104,"kind":1,"tags":[["t","people"],["t","coffee"]],"content":"when ship bitcoin sats morning","sig":"99c4b50194cd59315a5aec20214a283c21a8816b7844f7f9204498263c27608b7fc66546f5400564dd432d226787576951788f704368566773f39bd18016ff82"}"#;
/// let event = EventRef::parse(json)?;
/// let mut bytes = Vec::new();
/// assert!(event.push_binary(&mut bytes));
/// let stored = BinaryEvent::parse(&bytes).unwrap();
/// assert_eq!(stored.content(), event.content());
/// assert_eq!(stored.compute_id(), *event.id());
/// # Ok::<(), polywire_nostr::Error>(())
/// ```
#[derive(Clone)]
pub struct BinaryEvent<'a> {
    id: EventId,
    pubkey: PublicKey,
    sig: Signature,
    created_at: u64,
    kind: u16,
    tags: BinaryTags<'a>,
    content: &'a str,
}

impl<'a> BinaryEvent<'a> {
    /// Parses and validates the binary form. Verifies neither the id nor the signature.
    ///
    /// # Errors
    ///
    /// The version is not 1, a length is wrong, bytes follow the event, text is not UTF-8,
    /// `created_at` is above 2^53 - 1, or an integer is not in its shortest form.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((header, sections)) = bytes.split_first_chunk::<HEADER>() else {
            let expected = "an event of version 1 with a header of 155 bytes";
            return Err(Malformed::new(bytes.len(), expected));
        };
        if header[0] != VERSION {
            return Err(Malformed::new(0, "version 1"));
        }
        let [structure, data, text] = [143, 147, 151].map(|at| u32_at(header, at) as usize);
        let total = structure as u64 + data as u64 + text as u64;
        if total != sections.len() as u64 {
            return Err(Malformed::new(
                143,
                "lengths that add up to that of the sections",
            ));
        }
        let (structure, rest) = sections.split_at(structure);
        let (data, text) = rest.split_at(data);
        let text = utf8::validate(text).map_err(|error| error.shifted(bytes.len() - text.len()))?;
        let mut tags = BinaryTags {
            structure,
            data,
            text,
            count: u32_at(header, 139),
        };
        let created_at = u64::from_le_bytes(array_at(header, 129));
        if created_at > MAX_CREATED_AT {
            return Err(Malformed::new(129, "a time of at most 2^53 - 1 seconds"));
        }
        let content = tags
            .clone()
            .check()
            .map_err(|expected| Malformed::new(HEADER, expected))?;
        tags.text = &text[..text.len() - content.len()];
        Ok(Self {
            id: EventId::from_bytes(array_at(header, 1)),
            pubkey: PublicKey::from_bytes(array_at(header, 33)),
            sig: Signature::from_bytes(array_at(header, 65)),
            created_at,
            kind: u16::from_le_bytes(array_at(header, 137)),
            tags,
            content,
        })
    }

    /// Returns the identifier that the event states.
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.id
    }

    /// Returns the author's public key.
    #[must_use]
    pub fn pubkey(&self) -> &PublicKey {
        &self.pubkey
    }

    /// Returns the signature that the event states.
    #[must_use]
    pub fn sig(&self) -> &Signature {
        &self.sig
    }

    /// Returns the time of creation, in seconds since 1970-01-01 UTC; at most 2^53 - 1.
    #[must_use]
    pub fn created_at(&self) -> u64 {
        self.created_at
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> u16 {
        self.kind
    }

    /// Returns the tags in order.
    #[must_use]
    pub fn tags(&self) -> BinaryTags<'a> {
        self.tags.clone()
    }

    /// Returns the content.
    #[must_use]
    pub fn content(&self) -> &'a str {
        self.content
    }

    /// Computes the id: the SHA-256 digest of the canonical form. Allocates nothing.
    #[must_use]
    pub fn compute_id(&self) -> EventId {
        canonical::id_of_text(|hash| {
            canonical::write_parts(
                hash,
                &self.pubkey,
                self.created_at,
                self.kind,
                self.tags(),
                self.content,
            );
        })
    }

    /// Appends the event as compact JSON, with the members in the order of NIP-01.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        // Hexadecimal items take twice their bytes.
        let tags = 2 * self.tags.data.len() + self.tags.text.len() + 3 * self.tags.structure.len();
        out.reserve(400 + tags + self.content.len());
        canonical::push_head(out, &self.id, &self.pubkey, self.created_at, self.kind);
        canonical::write_tags(out, self.tags());
        out.put(b",\"content\":\"");
        out.put_escaped(self.content);
        canonical::push_tail(out, &self.sig);
    }
}

impl fmt::Debug for BinaryEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinaryEvent")
            .field("id", &self.id)
            .field("pubkey", &self.pubkey)
            .field("created_at", &self.created_at)
            .field("kind", &self.kind)
            .field("content", &self.content)
            .finish_non_exhaustive()
    }
}

fn u32_at(header: &[u8; HEADER], at: usize) -> u32 {
    u32::from_le_bytes(array_at(header, at))
}

fn array_at<const N: usize>(header: &[u8; HEADER], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&header[at..at + N]);
    array
}

/// The tags of a [`BinaryEvent`], in order.
#[derive(Clone)]
pub struct BinaryTags<'a> {
    structure: &'a [u8],
    data: &'a [u8],
    text: &'a str,
    count: u32,
}

impl<'a> BinaryTags<'a> {
    /// Validates the structure of all tags. Returns the text after their items.
    fn check(mut self) -> Result<&'a str, &'static str> {
        for _ in 0..self.count {
            let items = self.integer().ok_or("a number of items")?;
            for _ in 0..items {
                self.item().ok_or("an item of a tag within its section")?;
            }
        }
        if !self.structure.is_empty() || !self.data.is_empty() {
            return Err("as many tags as the structure has");
        }
        Ok(self.text)
    }

    /// Reads a LEB128 integer in its shortest form.
    #[inline(always)]
    fn integer(&mut self) -> Option<u64> {
        let (&first, rest) = self.structure.split_first()?;
        self.structure = rest;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        for shift in [7, 14, 21, 28] {
            let (&byte, rest) = self.structure.split_first()?;
            self.structure = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return (byte != 0).then_some(value);
            }
        }
        None
    }

    #[inline(always)]
    fn item(&mut self) -> Option<BinaryItem<'a>> {
        let code = self.integer()?;
        let len = (code >> 1) as usize;
        if code & 1 == 1 {
            let (item, rest) = self.data.split_at_checked(len)?;
            self.data = rest;
            Some(BinaryItem::Hex(item))
        } else {
            let (item, rest) = self.text.split_at_checked(len)?;
            self.text = rest;
            Some(BinaryItem::Text(item))
        }
    }
}

impl<'a> Iterator for BinaryTags<'a> {
    type Item = BinaryTag<'a>;

    #[inline]
    fn next(&mut self) -> Option<BinaryTag<'a>> {
        self.count = self.count.checked_sub(1)?;
        let items = self.integer()?;
        let mut tag = self.clone();
        // A tag has no more items than the structure has bytes.
        tag.count = items as u32;
        for _ in 0..items {
            self.item()?;
        }
        Some(BinaryTag(tag))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl ExactSizeIterator for BinaryTags<'_> {}

/// The items of a tag of a [`BinaryEvent`], starting with the name.
#[derive(Clone)]
pub struct BinaryTag<'a>(BinaryTags<'a>);

impl<'a> Iterator for BinaryTag<'a> {
    type Item = BinaryItem<'a>;

    #[inline]
    fn next(&mut self) -> Option<BinaryItem<'a>> {
        self.0.count = self.0.count.checked_sub(1)?;
        self.0.item()
    }
}

/// An item of a tag in the binary form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BinaryItem<'a> {
    /// Text.
    Text(&'a str),
    /// The bytes of lower-case hexadecimal text.
    Hex(&'a [u8]),
}

impl fmt::Display for BinaryItem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Hex(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

impl PutItem for BinaryItem<'_> {
    #[inline(always)]
    fn put_to(&self, sink: &mut impl Sink) {
        match self {
            Self::Text(text) => sink.put_escaped(text),
            Self::Hex(bytes) => {
                for bytes in bytes.chunks(32) {
                    let mut digits = [0; 64];
                    if let Some(digits) = hex::encode_to_slice(bytes, &mut digits) {
                        sink.put(digits);
                    }
                }
            }
        }
    }
}

/// Appends the binary form. Returns `false` and appends nothing if the event has escapes of lone
/// surrogates, which have no UTF-8 encoding.
pub(super) fn push(event: &EventRef<'_>, out: &mut Vec<u8>) -> bool {
    if event.has_lone_surrogates() {
        return false;
    }
    let start = out.len();
    out.resize(start + HEADER, 0);
    let (mut data, mut text) = (Vec::new(), String::new());
    for tag in event.tags() {
        push_integer(out, tag.items().count() as u64);
        for item in tag.items() {
            let before = data.len();
            let digits = item.as_bytes();
            if digits.len() >= LEAST_DIGITS
                && hex::push_decoded(&mut data, digits, Case::Lower).is_ok()
            {
                push_integer(out, ((data.len() - before) as u64) << 1 | 1);
            } else {
                push_integer(out, (item.len() as u64) << 1);
                text.push_str(&item);
            }
        }
    }
    let structure = out.len() - start - HEADER;
    text.push_str(&event.content());
    out.extend_from_slice(&data);
    out.extend_from_slice(text.as_bytes());
    let header = &mut out[start..start + HEADER];
    header[0] = VERSION;
    header[1..33].copy_from_slice(event.id().as_bytes());
    header[33..65].copy_from_slice(event.pubkey().as_bytes());
    header[65..129].copy_from_slice(event.sig().as_bytes());
    header[129..137].copy_from_slice(&event.created_at().to_le_bytes());
    header[137..139].copy_from_slice(&event.kind().to_le_bytes());
    // The JSON text is shorter than 4 GiB, and no section is longer than the text.
    let sections = [event.tags().len(), structure, data.len(), text.len()];
    for (section, at) in sections.into_iter().zip([139, 143, 147, 151]) {
        header[at..at + 4].copy_from_slice(&(section as u32).to_le_bytes());
    }
    true
}

fn push_integer(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
