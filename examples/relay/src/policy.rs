//! Which events are accepted, and who may read and delete them.

use polywire_nostr::message::MachineReadablePrefix as Prefix;
use polywire_nostr::{Error, EventRef, PublicKey, TagLetter, auth};

use crate::options::Options;
use crate::store::StoreError;

/// Why a message is rejected: the `reason` label of the metrics, and the text for the client.
#[derive(Clone, Debug)]
pub(crate) struct Rejection {
    pub(crate) code: &'static str,
    pub(crate) reason: String,
}

pub(crate) type Result<T, E = Rejection> = std::result::Result<T, E>;

/// A rejection with a prefix of NIP-01.
pub(crate) fn rejection(code: &'static str, prefix: Prefix, reason: impl AsRef<str>) -> Rejection {
    let reason = prefix.with(reason.as_ref());
    Rejection { code, reason }
}

/// The code of [`duplicate`].
pub(crate) const DUPLICATE: &str = "duplicate";

/// The event is stored already. NIP-01 answers `OK true`.
pub(crate) fn duplicate() -> Rejection {
    rejection(DUPLICATE, Prefix::Duplicate, "the event is stored already")
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        let (code, reason) = (error.reason.code(), error.to_string());
        Self { code, reason }
    }
}

impl From<StoreError> for Rejection {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the database failed");
        rejection("storage", Prefix::Error, error.to_string())
    }
}

/// Checks an event before its signature is verified.
pub(crate) fn check(event: &EventRef<'_>, options: &Options, now: u64) -> Result<()> {
    let invalid = |code, reason: &str| Err(rejection(code, Prefix::Invalid, reason));
    let max = options.max_future;
    if event.kind() == auth::KIND {
        return invalid("auth-event", "events of kind 22242 are sent with AUTH");
    }
    if event.is_expired(now) {
        return invalid("expired", "the event has expired");
    }
    if event.created_at() > now.saturating_add(max) {
        let reason = format!("created_at is more than {max} seconds in the future");
        return invalid("future", &reason);
    }
    Ok(())
}

/// The kind of gift wraps (NIP-59).
const GIFT_WRAP: u16 = 1059;

/// Kinds that only their authors and recipients may read: direct messages (NIP-04) and gift wraps.
pub(crate) const PRIVATE_KINDS: [u16; 2] = [4, GIFT_WRAP];

/// Whether a client that has authenticated with some keys may read an event (NIP-17, NIP-40).
pub(crate) fn may_read(event: &EventRef<'_>, keys: &[PublicKey], now: u64) -> bool {
    let is_public = !PRIVATE_KINDS.contains(&event.kind());
    let is_party =
        || keys.contains(event.pubkey()) || recipients(event).any(|key| keys.contains(&key));
    !event.is_expired(now) && (is_public || is_party())
}

/// Returns the public keys that may delete an event (NIP-09): its author, and the recipients of a gift wrap, because
/// gift wraps are signed with random keys.
pub(crate) fn deleters(event: &EventRef<'_>) -> impl Iterator<Item = PublicKey> {
    let recipients = (event.kind() == GIFT_WRAP).then(|| recipients(event));
    std::iter::once(*event.pubkey()).chain(recipients.into_iter().flatten())
}

/// Returns the public keys of the `p` tags.
fn recipients<'a>(event: &EventRef<'a>) -> impl Iterator<Item = PublicKey> + use<'a> {
    let tags = event.letter_tags();
    let values = tags.filter(|(letter, _)| *letter == TagLetter::P);
    values.filter_map(|(_, value)| value.parse().ok())
}
