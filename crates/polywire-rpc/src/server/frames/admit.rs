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
    /// How long tasks of this runtime wait before they run, when that was last looked up.
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
        self.lag = self.turns.delay.get();
    }

    /// Whether a call begins now.
    ///
    /// Its queueing delay is `read`, the time since it was read, and an estimate of the time in the socket buffer:
    /// `unread`, or the scheduling delay of the runtime if that is longer. A call of a long operation will wait in a run
    /// queue besides.
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
        self.turns.delay.measure();
        self.flow.measure_load();
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

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Runtime};
    use tokio::task::yield_now;
    use tokio::time::advance;

    use super::super::limits::FrameLimits;
    use super::*;

    /// The runtimes of two threads, where time stands still unless a test moves it.
    fn runtimes() -> [Runtime; 2] {
        [(); 2].map(|()| {
            let mut builder = Builder::new_current_thread();
            builder.enable_time().start_paused(true).build().unwrap()
        })
    }

    /// A gatekeeper on each.
    fn gates(runtimes: &[Runtime; 2]) -> [Gatekeeper; 2] {
        let flow = Arc::new(Flow::new(FrameLimits::new()));
        [0, 1].map(|index| {
            runtimes[index].block_on(async { Gatekeeper::new(Arc::clone(&flow), flow.turns()) })
        })
    }

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_busy_runtime_does_not_have_an_idle_one_shed_calls() {
        let runtimes = runtimes();
        let [mut busy, mut idle] = gates(&runtimes);
        runtimes[0].block_on(async {
            advance(millis(10)).await;
            busy.look();
            yield_now().await;
            // A handler that does not give its thread back.
            advance(millis(400)).await;
            yield_now().await;
            busy.turn();
        });
        assert_eq!(busy.lag, millis(400));
        runtimes[1].block_on(async { idle.turn() });
        assert_eq!(idle.lag, Duration::ZERO);
    }

    #[test]
    fn a_blocked_runtime_does_not_stop_the_measurement_on_another() {
        let runtimes = runtimes();
        let [blocked, mut other] = gates(&runtimes);
        runtimes[0].block_on(async {
            advance(millis(10)).await;
            blocked.look();
            yield_now().await;
        });
        runtimes[1].block_on(async {
            advance(millis(10)).await;
            other.look();
            yield_now().await;
            advance(millis(7)).await;
            yield_now().await;
            other.turn();
        });
        assert_eq!(other.lag, millis(7));
    }
}
