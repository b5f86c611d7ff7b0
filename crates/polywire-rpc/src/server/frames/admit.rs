//! Which calls of a connection begin.

use std::sync::Arc;
use std::time::Duration;

use polywire_codec::cbor;
use polywire_frame::flow::{Admission, Shed};
use polywire_frame::server::Fault as Answer;
use polywire_frame::{FaultCode, Time};
use polywire_schema::{Map, Value};

use super::flow::Flow;
use super::turns::{Cost, Turns};

/// Turns calls away when their turn comes, before anything of them begins.
#[derive(Debug)]
pub(super) struct Gatekeeper {
    flow: Arc<Flow>,
    turns: Arc<Turns>,
    admission: Admission,
    /// How long tasks wait for their turn, when it was last asked for.
    lag: Duration,
    /// Calls were turned away since it was last asked, as there are too many.
    pressed: bool,
}

/// Why a call does not begin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Refused {
    /// Nobody waits for it any more.
    Late,
    Shed(Shed),
}

impl Gatekeeper {
    pub(super) fn new(flow: Arc<Flow>, turns: Arc<Turns>) -> Self {
        let limits = &flow.limits;
        let most_load = limits.load.as_ref().map_or(f64::INFINITY, |load| load.most);
        Self {
            admission: Admission::new(limits.at_work)
                .with_target(limits.target, limits.interval)
                .with_load(most_load),
            lag: Duration::ZERO,
            pressed: false,
            flow,
            turns,
        }
    }

    /// Calls are going to have their turns, one behind the other.
    pub(super) fn turn(&mut self) {
        self.lag = self.flow.lag();
    }

    /// Whether a call begins whose turn is now.
    ///
    /// It has waited for `read` behind the others that came with it; and before that, unseen, presumably for `unread`, or for as
    /// long as tasks wait for their turn at present. What is long by its cost will wait for a turn of its own.
    #[inline]
    pub(super) fn begin(
        &mut self,
        now: Time,
        read: Duration,
        unread: Duration,
        deadline: Time,
        cost: Option<&Cost>,
    ) -> Result<(), Refused> {
        if now >= deadline {
            return Err(Refused::Late);
        }
        if self.flow.limits.load.is_some() {
            self.admission.set_load(self.flow.load());
        }
        // What its connection knows of that and what the runtime tells are two measures of the same.
        let waited = read + unread.max(self.lag);
        let begun = self.admission.admit(now, waited, self.flow.at_work());
        let begun = match cost {
            Some(cost) if cost.is_long() => {
                begun.and_then(|()| self.turns.admit(cost, deadline.since(now)))
            }
            _ => begun,
        };
        begun.map_err(|shed| {
            // A queue that is turned away here is gone; with less credit it would stand in the client,
            // where calls grow old.
            self.pressed |= shed == Shed::Calls;
            Refused::Shed(shed)
        })
    }

    /// A connection that has done nothing for so long had nothing to do.
    pub(super) fn pause(&self) -> Duration {
        Duration::from_millis(10) + self.lag * 2
    }

    /// More are open than the client may have.
    pub(super) const fn too_many(&mut self) -> Refused {
        self.pressed = true;
        Refused::Shed(Shed::Calls)
    }

    /// Calls have come: what is measured is kept up to date.
    pub(super) fn look(&self) {
        self.flow.ask();
    }

    /// Whether calls were turned away since this was last asked, as there are too many.
    pub(super) const fn was_pressed(&mut self) -> bool {
        std::mem::replace(&mut self.pressed, false)
    }

    /// What the caller is told.
    #[cold]
    pub(super) fn answer(&self, refused: Refused) -> (Answer, Vec<u8>) {
        let (code, kind, message) = match refused {
            Refused::Late => (
                FaultCode::DEADLINE,
                polywire_protocol::FaultKind::DeadlineExceeded,
                "its time was over before its turn came",
            ),
            Refused::Shed(shed) => (
                FaultCode::OVERLOADED,
                polywire_protocol::FaultKind::Overloaded,
                match shed {
                    Shed::Calls => "as many calls are at work as may be, try again later",
                    Shed::Load => "the system has too much to do, try again later",
                    _ => "calls wait too long, try again later",
                },
            ),
        };
        let retry_after = match refused {
            Refused::Late => Duration::ZERO,
            Refused::Shed(_) => self.admission.retry_after(),
        };
        let answer = Answer {
            retry_after: u32::try_from(retry_after.as_millis()).unwrap_or(u32::MAX),
            ..Answer::unstarted(code)
        };
        let details = Map::from_iter([
            ("__type", Value::from(kind.name())),
            ("message", Value::from(message)),
        ]);
        // A map of strings can always be written.
        (
            answer,
            cbor::to_vec(&Value::Map(details)).unwrap_or_default(),
        )
    }
}
