//! Which events are accepted, before their signatures are looked at.

use polywire_nostr::message::Prefix;
use polywire_nostr::{Error, EventRef, auth};

use crate::options::Options;
use crate::store::StoreError;

/// Why something is not accepted: a code for metrics, and the answer to who sent it.
pub(crate) struct Rejection {
    pub(crate) code: &'static str,
    pub(crate) reason: String,
}

/// A rejection with a prefix of NIP-01.
pub(crate) fn rejection(code: &'static str, prefix: Prefix, reason: impl AsRef<str>) -> Rejection {
    let reason = prefix.with(reason.as_ref());
    Rejection { code, reason }
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

/// Checks what costs little.
pub(crate) fn check(event: &EventRef<'_>, options: &Options, now: u64) -> Result<(), Rejection> {
    let most = options.max_future;
    let (code, reason) = if event.kind() == auth::KIND {
        (
            "auth-event",
            "events of kind 22242 are sent with AUTH".into(),
        )
    } else if event.is_expired(now) {
        ("expired", "the event has expired".into())
    } else if event.created_at() > now.saturating_add(most) {
        (
            "future",
            format!("created_at is more than {most} seconds in the future"),
        )
    } else {
        return Ok(());
    };
    Err(rejection(code, Prefix::Invalid, reason))
}
