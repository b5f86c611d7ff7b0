//! Authentication (NIP-42).

use std::time::{SystemTime, UNIX_EPOCH};

use polywire_nostr::message::client;
use polywire_nostr::{Event, EventBuilder, EventId, auth};

use super::requests::Requests;
use crate::Refusal;

/// The maximum number of challenges that are answered on one connection.
pub(super) const MAX_CHALLENGES: u32 = 16;

/// The authentication state of a connection.
#[derive(Debug, Default)]
pub(super) enum Auth {
    /// The relay has sent no challenge, or there is no signer.
    #[default]
    None,
    /// AUTH was sent with the event of this id, and has no answer yet.
    Sent(EventId),
    Accepted,
    Rejected,
}

/// When to send a rejected request again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Retry {
    Now,
    AfterAuth,
    Never,
}

impl Auth {
    pub(super) const fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted)
    }

    pub(super) fn retry(&self, refusal: &Refusal, after_auth: bool) -> Retry {
        match self {
            Self::Sent(_) if refusal.is_auth_required() => Retry::AfterAuth,
            Self::Accepted if refusal.is_auth_required() && !after_auth => Retry::Now,
            _ => Retry::Never,
        }
    }
}

impl Requests {
    /// Answers a challenge, if there is a signer.
    pub(super) fn challenge(&mut self, challenge: &str) {
        // A malicious relay could otherwise make the client sign events without limit.
        self.challenges += 1;
        if self.challenges > MAX_CHALLENGES {
            return;
        }
        let Some(event) = self.sign_challenge(challenge) else {
            return;
        };
        self.auth = Auth::Sent(*event.as_ref().id());
        self.send_with(|out| client::push_auth(out, event.as_ref().as_json()));
    }

    fn sign_challenge(&self, challenge: &str) -> Option<Event> {
        let relay = &self.shared.url;
        let signer = self.shared.options.signer.as_ref()?;
        let event = EventBuilder::new(auth::KIND, "", now())
            .tag(["relay", relay.as_str()])
            .tag(["challenge", challenge])
            .build(&signer.public_key());
        match signer.sign(&event) {
            Ok(sig) => Some(event.with_signature(&sig)),
            Err(error) => {
                tracing::warn!(%relay, %error, "the signer did not sign the challenge");
                None
            }
        }
    }

    /// Handles the answer to AUTH: sends the requests that waited for it again, or fails them.
    pub(super) fn authenticated(&mut self, accepted: bool, refusal: &Refusal) {
        self.auth = match accepted {
            true => Auth::Accepted,
            false => Auth::Rejected,
        };
        if !accepted {
            tracing::warn!(relay = %self.shared.url, %refusal, "the relay rejected the authentication");
        }
        let feeds = self.feeds.iter().filter(|(_, feed)| feed.waits_for_auth);
        for serial in feeds.map(|(serial, _)| *serial).collect::<Vec<_>>() {
            match accepted {
                true => self.send_feed(serial),
                false => self.end_feed(serial, refusal.clone()),
            }
        }
        let counts = self.counts.iter().filter(|(_, count)| count.waits_for_auth);
        for serial in counts.map(|(serial, _)| *serial).collect::<Vec<_>>() {
            match accepted {
                true => self.send_count(serial),
                false => self.end_count(serial, refusal.clone()),
            }
        }
        let events = self.publications.iter();
        let events = events.filter(|(_, publication)| publication.waits_for_auth);
        for id in events.map(|(id, _)| *id).collect::<Vec<_>>() {
            match accepted {
                true => self.send_publication(id),
                false => self.end_publication(&id, &Err(refusal.clone())),
            }
        }
    }
}

/// Returns the current time in seconds since 1970-01-01 UTC.
pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}
