//! The canonical form (NIP-01), whose SHA-256 digest is the id, and JSON output.

use polywire_text::{escape, hex, number, scan};

use super::EventRef;
use crate::json::{Sink, write_canonical_string};
use crate::sha256::{BLOCK, INITIAL, compress, pad, to_bytes};
use crate::{EventId, PublicKey, Signature};

/// SHA-256 (FIPS 180-4) of the bytes that are put in.
///
/// Short pieces are collected in a buffer of whole blocks. Long pieces are hashed in place. A small
/// event and its padding take one call of the compression function.
pub(super) struct Hash {
    state: [u32; 8],
    buffer: [u8; Hash::CAPACITY],
    /// The number of bytes in the buffer.
    len: usize,
    /// The number of hashed bytes.
    hashed: u64,
}

impl Hash {
    const CAPACITY: usize = 12 * BLOCK;

    #[inline(always)]
    fn new() -> Self {
        Self {
            state: INITIAL,
            buffer: [0; Self::CAPACITY],
            len: 0,
            hashed: 0,
        }
    }

    /// Fills the buffer from `bytes`, hashes it, and hashes the remaining whole blocks in place.
    #[inline(never)]
    fn overflow(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(Self::CAPACITY - self.len);
        self.buffer[self.len..].copy_from_slice(head);
        compress(&mut self.state, self.buffer.as_chunks().0);
        let (blocks, rest) = rest.as_chunks::<BLOCK>();
        compress(&mut self.state, blocks);
        self.hashed += (Self::CAPACITY + BLOCK * blocks.len()) as u64;
        self.buffer[..rest.len()].copy_from_slice(rest);
        self.len = rest.len();
    }

    /// Escapes and hashes text that does not fit in the buffer.
    #[inline(never)]
    fn escape(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            self.flush();
            let (read, written) = escape::json_to_slice(bytes, &mut self.buffer[self.len..]);
            self.len += written;
            bytes = &bytes[read..];
        }
    }

    /// Hashes the whole blocks in the buffer.
    fn flush(&mut self) {
        let (blocks, rest) = self.buffer[..self.len].as_chunks();
        compress(&mut self.state, blocks);
        let whole = self.len - rest.len();
        self.hashed += whole as u64;
        self.buffer.copy_within(whole..self.len, 0);
        self.len -= whole;
    }

    #[inline(always)]
    fn finish(&mut self) -> EventId {
        if self.len + 9 > Self::CAPACITY {
            self.flush();
        }
        let total = self.hashed + self.len as u64;
        let blocks = pad(&mut self.buffer, self.len, total);
        compress(&mut self.state, blocks);
        EventId::from_bytes(to_bytes(&self.state))
    }
}

impl Sink for Hash {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        match self.buffer.get_mut(self.len..self.len + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.overflow(bytes),
        }
    }

    #[inline(always)]
    fn put_escaped(&mut self, text: &str) {
        let bytes = text.as_bytes();
        // Usually ids and keys, which need no escapes.
        if (16..=128).contains(&bytes.len()) && scan::json_clean(bytes) == bytes.len() {
            return self.put(bytes);
        }
        let (read, written) = escape::json_to_slice(bytes, &mut self.buffer[self.len..]);
        self.len += written;
        if read < bytes.len() {
            self.escape(&bytes[read..]);
        }
    }
}

/// Hashes the text that `write` puts in.
#[inline(always)]
pub(super) fn id_of_text(write: impl FnOnce(&mut Hash)) -> EventId {
    let mut hash = Hash::new();
    write(&mut hash);
    hash.finish()
}

/// Computes the id of an event.
pub(super) fn id_of(event: &EventRef<'_>) -> EventId {
    id_of_text(|hash| write(event, hash))
}

/// Returns the canonical form before the tags, `[0,"pubkey",created_at,kind,`, and its length.
#[inline(always)]
fn head(pubkey: &PublicKey, created_at: u64, kind: u16) -> ([u8; 128], usize) {
    let mut head = [0; 128];
    head[..4].copy_from_slice(b"[0,\"");
    // The destination has exactly the required length.
    let _ = hex::encode_to_slice(pubkey.as_bytes(), &mut head[4..68]);
    head[68..70].copy_from_slice(b"\",");
    let mut len = 70;
    len += write_number(&mut head[len..], created_at);
    head[len] = b',';
    len += 1;
    len += write_number(&mut head[len..], u64::from(kind));
    head[len] = b',';
    (head, len + 1)
}

/// Writes a number to the start of `out`, which has at least 20 bytes. Returns the number of
/// digits.
#[inline(always)]
fn write_number(out: &mut [u8], mut value: u64) -> usize {
    let mut digits = [0; 20];
    let mut at = digits.len();
    // Two digits per division: each division depends on the previous one.
    while value >= 10 {
        let pair = (value % 100) as u8;
        value /= 100;
        at -= 2;
        digits[at] = b'0' + pair / 10;
        digits[at + 1] = b'0' + pair % 10;
    }
    if value > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + value as u8;
    }
    let digits = &digits[at..];
    out[..digits.len()].copy_from_slice(digits);
    digits.len()
}

/// Writes the canonical form.
pub(super) fn write(event: &EventRef<'_>, sink: &mut impl Sink) {
    let (head, len) = head(event.pubkey(), event.created_at(), event.kind());
    sink.put(&head[..len]);
    write_body(event, sink, b",\"");
    sink.put(b"\"]");
}

/// Writes tags, `separator` and the content without its closing quote.
#[inline(always)]
fn write_body(event: &EventRef<'_>, sink: &mut impl Sink, separator: &[u8]) {
    if event.is_canonical() {
        sink.put(event.raw_tags().as_bytes());
        sink.put(separator);
        sink.put(event.raw_content().as_bytes());
        return;
    }
    write_raw_tags(event, sink);
    sink.put(separator);
    write_canonical_string(sink, event.raw_content());
}

fn write_raw_tags(event: &EventRef<'_>, sink: &mut impl Sink) {
    let mut open: &[u8] = b"[[";
    for tag in event.tags() {
        sink.put(open);
        let mut quote: &[u8] = b"\"";
        for item in tag.raw_items() {
            sink.put(quote);
            write_canonical_string(sink, item.text);
            quote = b"\",\"";
        }
        // A tag without items has no quote to close.
        sink.put(if quote == b"\"" { b"]" } else { b"\"]" });
        open = b",[";
    }
    sink.put(if open == b"[[" { b"[]" } else { b"]" });
}

/// An item of a tag that can write itself as the contents of a canonical string.
pub(super) trait PutItem {
    fn put_to(&self, sink: &mut impl Sink);
}

impl<S: AsRef<str>> PutItem for S {
    #[inline(always)]
    fn put_to(&self, sink: &mut impl Sink) {
        sink.put_escaped(self.as_ref());
    }
}

/// Computes the id of an event from its parts. Allocates nothing.
///
/// For programs that have their own event types. `tags` are lists of strings.
///
/// ```
/// use polywire_nostr::{PublicKey, event_id};
///
/// let pubkey = PublicKey::from_hex("9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c")?;
/// let tags = [["t", "people"], ["t", "coffee"]];
/// let id = event_id(&pubkey, 1_709_600_104, 1, tags, "when ship bitcoin sats morning");
/// assert_eq!(id.to_string(), "17063e85b0f65a38b0cf1b5084d7fcd157b05215295290d20594b4f9d4fc355f");
/// # Ok::<(), polywire_nostr::InvalidHex>(())
/// ```
pub fn event_id<T, S>(
    pubkey: &PublicKey,
    created_at: u64,
    kind: u16,
    tags: T,
    content: &str,
) -> EventId
where
    T: IntoIterator<Item: IntoIterator<Item = S>>,
    S: AsRef<str>,
{
    id_of_text(|hash| write_parts(hash, pubkey, created_at, kind, tags, content))
}

/// As [`event_id`], with tags in canonical form.
pub(super) fn id_of_tags(
    pubkey: &PublicKey,
    created_at: u64,
    kind: u16,
    tags: &str,
    content: &str,
) -> EventId {
    id_of_text(|hash| {
        let (head, len) = head(pubkey, created_at, kind);
        hash.put(&head[..len]);
        hash.put(tags.as_bytes());
        hash.put(b",\"");
        hash.put_escaped(content);
        hash.put(b"\"]");
    })
}

/// Appends the canonical form of an event from its parts: see [`event_id`].
pub fn push_canonical<T, S>(
    out: &mut Vec<u8>,
    pubkey: &PublicKey,
    created_at: u64,
    kind: u16,
    tags: T,
    content: &str,
) where
    T: IntoIterator<Item: IntoIterator<Item = S>>,
    S: AsRef<str>,
{
    write_parts(out, pubkey, created_at, kind, tags, content);
}

/// Writes the canonical form of an event from its parts.
pub(super) fn write_parts<T>(
    sink: &mut impl Sink,
    pubkey: &PublicKey,
    created_at: u64,
    kind: u16,
    tags: T,
    content: &str,
) where
    T: IntoIterator<Item: IntoIterator<Item: PutItem>>,
{
    let (head, len) = head(pubkey, created_at, kind);
    sink.put(&head[..len]);
    write_tags(sink, tags);
    sink.put(b",\"");
    sink.put_escaped(content);
    sink.put(b"\"]");
}

/// Writes an array of tags.
pub(super) fn write_tags<T>(sink: &mut impl Sink, tags: T)
where
    T: IntoIterator<Item: IntoIterator<Item: PutItem>>,
{
    let mut any = false;
    for tag in tags {
        match any {
            false => sink.put(b"["),
            true => sink.put(b","),
        }
        any = true;
        let mut items = tag.into_iter();
        match items.next() {
            None => sink.put(b"[]"),
            Some(first) => {
                sink.put(b"[\"");
                first.put_to(sink);
                for item in items {
                    sink.put(b"\",\"");
                    item.put_to(sink);
                }
                sink.put(b"\"]");
            }
        }
    }
    match any {
        false => sink.put(b"[]"),
        true => sink.put(b"]"),
    }
}

/// Appends compact JSON.
pub(super) fn push_json(event: &EventRef<'_>, out: &mut Vec<u8>) {
    // The other members take less than 400 bytes.
    out.reserve(400 + event.raw_tags().len() + event.raw_content().len());
    push_head(
        out,
        event.id(),
        event.pubkey(),
        event.created_at(),
        event.kind(),
    );
    write_body(event, out, b",\"content\":\"");
    push_tail(out, event.sig());
}

/// Appends the JSON text of an event before the tags.
pub(super) fn push_head(
    out: &mut Vec<u8>,
    id: &EventId,
    pubkey: &PublicKey,
    created_at: u64,
    kind: u16,
) {
    out.put(b"{\"id\":\"");
    hex::push(out, id.as_bytes());
    out.put(b"\",\"pubkey\":\"");
    hex::push(out, pubkey.as_bytes());
    out.put(b"\",\"created_at\":");
    number::push_u64(out, created_at);
    out.put(b",\"kind\":");
    number::push_u64(out, u64::from(kind));
    out.put(b",\"tags\":");
}

/// Appends the JSON text of an event after the content.
pub(super) fn push_tail(out: &mut Vec<u8>, sig: &Signature) {
    out.put(b"\",\"sig\":\"");
    hex::push(out, sig.as_bytes());
    out.put(b"\"}");
}
