//! The canonical form, whose digest is the id, and JSON output.

use polywire_text::{hex, number};
use sha2::{Digest, Sha256};

use super::EventRef;
use crate::json::{Sink, write_canonical_string, write_escaped};
use crate::{EventId, PublicKey};

/// The digest of what is put in. Collects small pieces, since each update of the digest has a cost
/// of its own.
struct Hash {
    digest: Sha256,
    buffer: [u8; Hash::CAPACITY],
    len: usize,
}

impl Hash {
    const CAPACITY: usize = 1024;

    fn new() -> Self {
        Self {
            digest: Sha256::new(),
            buffer: [0; Self::CAPACITY],
            len: 0,
        }
    }

    #[inline(never)]
    fn put_large(&mut self, bytes: &[u8]) {
        self.digest.update(&self.buffer[..self.len]);
        self.len = 0;
        if bytes.len() < Self::CAPACITY {
            self.buffer[..bytes.len()].copy_from_slice(bytes);
            self.len = bytes.len();
        } else {
            self.digest.update(bytes);
        }
    }

    fn finish(mut self) -> EventId {
        self.digest.update(&self.buffer[..self.len]);
        EventId::from_bytes(self.digest.finalize().into())
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
            None => self.put_large(bytes),
        }
    }
}

/// The id of an event.
pub(super) fn id_of(event: &EventRef<'_>) -> EventId {
    let mut hash = Hash::new();
    write(event, &mut hash);
    hash.finish()
}

/// Writes the canonical form.
pub(super) fn write(event: &EventRef<'_>, sink: &mut impl Sink) {
    write_head(sink, event.pubkey(), event.created_at(), event.kind());
    write_body(event, sink);
    sink.put(b"\"]");
}

/// Writes tags and the beginning of the content.
fn write_body(event: &EventRef<'_>, sink: &mut impl Sink) {
    if event.is_canonical() {
        sink.put(event.raw_tags().as_bytes());
        sink.put(b",\"");
        sink.put(event.raw_content().as_bytes());
        return;
    }
    write_raw_tags(event, sink);
    sink.put(b",\"");
    write_canonical_string(sink, event.raw_content());
}

fn write_raw_tags(event: &EventRef<'_>, sink: &mut impl Sink) {
    let mut open: &[u8] = b"[[";
    for tag in event.tags() {
        sink.put(open);
        let mut quote: &[u8] = b"\"";
        for item in tag.raw_items() {
            sink.put(quote);
            write_canonical_string(sink, item);
            quote = b"\",\"";
        }
        // A tag without items has no quote to close.
        sink.put(if quote == b"\"" { b"]" } else { b"\"]" });
        open = b",[";
    }
    sink.put(if open == b"[[" { b"[]" } else { b"]" });
}

/// Writes `[0,"pubkey",created_at,kind,`.
fn write_head(sink: &mut impl Sink, pubkey: &PublicKey, created_at: u64, kind: u16) {
    sink.put(b"[0,\"");
    sink.put(&pubkey.to_hex());
    sink.put(b"\",");
    write_number(sink, created_at);
    sink.put(b",");
    write_number(sink, u64::from(kind));
    sink.put(b",");
}

fn write_number(sink: &mut impl Sink, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return sink.put(&digits[at..]);
        }
    }
}

/// Computes the id of an event from its parts. Allocates nothing.
///
/// For programs that keep events in types of their own. `tags` are lists of strings.
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
    let mut hash = Hash::new();
    write_parts(&mut hash, pubkey, created_at, kind, tags, content);
    hash.finish()
}

/// Appends the canonical form of an event that is given by its parts, see [`event_id`].
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

fn write_parts<T, S>(
    sink: &mut impl Sink,
    pubkey: &PublicKey,
    created_at: u64,
    kind: u16,
    tags: T,
    content: &str,
) where
    T: IntoIterator<Item: IntoIterator<Item = S>>,
    S: AsRef<str>,
{
    write_head(sink, pubkey, created_at, kind);
    write_tags(sink, tags);
    sink.put(b",\"");
    write_escaped(sink, content);
    sink.put(b"\"]");
}

/// Writes an array of tags from their text.
pub(super) fn write_tags<T, S>(sink: &mut impl Sink, tags: T)
where
    T: IntoIterator<Item: IntoIterator<Item = S>>,
    S: AsRef<str>,
{
    let mut separator: &[u8] = b"[";
    for tag in tags {
        sink.put(separator);
        separator = b",";
        let mut empty = true;
        for item in tag {
            sink.put(if empty { b"[\"" } else { b"\",\"" });
            empty = false;
            write_escaped(sink, item.as_ref());
        }
        sink.put(if empty { b"[]" } else { b"\"]" });
    }
    sink.put(if separator == b"[" { b"[]" } else { b"]" });
}

/// Appends compact JSON.
pub(super) fn push_json(event: &EventRef<'_>, out: &mut Vec<u8>) {
    // The members beside tags and content take less than 400 bytes.
    out.reserve(400 + event.raw_tags().len() + event.raw_content().len());
    out.extend_from_slice(b"{\"id\":\"");
    hex::push(out, event.id().as_bytes());
    out.extend_from_slice(b"\",\"pubkey\":\"");
    hex::push(out, event.pubkey().as_bytes());
    out.extend_from_slice(b"\",\"created_at\":");
    number::push_u64(out, event.created_at());
    out.extend_from_slice(b",\"kind\":");
    number::push_u64(out, u64::from(event.kind()));
    out.extend_from_slice(b",\"tags\":");
    if event.is_canonical() {
        out.extend_from_slice(event.raw_tags().as_bytes());
        out.extend_from_slice(b",\"content\":\"");
        out.extend_from_slice(event.raw_content().as_bytes());
    } else {
        write_raw_tags(event, out);
        out.extend_from_slice(b",\"content\":\"");
        write_canonical_string(out, event.raw_content());
    }
    out.extend_from_slice(b"\",\"sig\":\"");
    hex::push(out, event.sig().as_bytes());
    out.extend_from_slice(b"\"}");
}
