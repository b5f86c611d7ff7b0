//! Which events are accepted, before their signatures are looked at.

use polywire_nostr::message::Prefix;
use polywire_nostr::{EventRef, auth};

use crate::options::Options;

/// Why an event is not accepted: a code for metrics, and the answer to its publisher.
pub(crate) struct Rejection {
    pub(crate) code: &'static str,
    pub(crate) reason: String,
}

impl Rejection {
    pub(crate) fn new(code: &'static str, prefix: Prefix, reason: &str) -> Self {
        let reason = prefix.with(reason);
        Self { code, reason }
    }
}

/// Checks what costs little.
pub(crate) fn check(event: &EventRef<'_>, options: &Options, now: u64) -> Result<(), Rejection> {
    let invalid = |code, reason: &str| Err(Rejection::new(code, Prefix::Invalid, reason));
    if event.kind() == auth::KIND {
        return invalid("auth-event", "events of kind 22242 are sent with AUTH");
    }
    if event.is_expired(now) {
        return invalid("expired", "the event has expired");
    }
    let most = options.max_future;
    if event.created_at() > now.saturating_add(most) {
        let reason = format!("created_at is more than {most} seconds in the future");
        return invalid("future", &reason);
    }
    Ok(())
}

/// Checks the id and then the signature.
pub(crate) fn verify(event: &EventRef<'_>) -> Result<(), Rejection> {
    event.verify().map_err(|error| Rejection {
        code: error.reason.code(),
        reason: error.to_string(),
    })
}
