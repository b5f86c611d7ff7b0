//! A run from its beginning to its end, watched.

use std::ops::Range;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::engine::{Lane, Run, Threads, Used};
use super::memory::{Memory, Watch};
use super::plan::Plan;
use super::recording::Tally;
use super::wire::{Connect, Target};
use crate::Failure;
use crate::signals::Signals;

/// What was measured.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) tally: Tally,
    /// Counted from the beginning of the run.
    pub(super) window: Range<Duration>,
    /// Whether the run ended early: interrupted, or every call failed.
    pub(super) cut: bool,
    pub(super) seconds: Vec<Second>,
    pub(super) used: Used,
    pub(super) client: Option<Memory>,
    pub(super) server: Option<Memory>,
}

/// A part of the measured time, a second of it unless it is the last.
#[derive(Clone, Debug)]
pub(super) struct Second {
    /// Counted from the beginning of the measured time.
    pub(super) from: Duration,
    pub(super) to: Duration,
    pub(super) arrived: u64,
    pub(super) failed: u64,
    /// Microseconds.
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// The progress of a run, shown while it runs.
#[derive(Debug)]
pub(super) struct Glance<'a> {
    /// The time since the last.
    pub(super) span: Duration,
    /// Counted from the beginning of the run.
    pub(super) now: Duration,
    pub(super) window: Range<Duration>,
    /// What has happened since the last.
    pub(super) recent: &'a Tally,
    /// What has happened so far.
    pub(super) total: &'a Tally,
    pub(super) open: u64,
}

/// Who watches a run.
pub(super) trait Watcher {
    /// Some times a second.
    fn glance(&mut self, glance: &Glance<'_>);

    /// Once a second of the measured time, and with what comes behind it.
    fn second(&mut self, from: Duration, span: Duration, tally: &Tally) -> Result<(), Failure>;
}

/// Between two glances.
const TICK: Duration = Duration::from_millis(250);

/// A run ends after this part of its measured time if every call has failed permanently.
const HOPELESS: Duration = Duration::from_secs(1);

/// How long open calls have when a run ends early.
const CUT: Duration = Duration::from_secs(1);

/// Runs a plan against a target.
pub(super) async fn measure(
    plan: &Plan,
    target: &Target,
    server: Option<u32>,
    signals: &mut Signals,
    watcher: &mut dyn Watcher,
) -> Result<Measured, Failure> {
    match target {
        Target::Frames(wire) => run(plan, wire.clone(), server, signals, watcher).await,
        Target::Http(wire) => run(plan, wire.clone(), server, signals, watcher).await,
        Target::XmlRpc(wire) => run(plan, wire.clone(), server, signals, watcher).await,
    }
}

async fn run<C: Connect>(
    plan: &Plan,
    connect: C,
    server: Option<u32>,
    signals: &mut Signals,
    watcher: &mut dyn Watcher,
) -> Result<Measured, Failure> {
    let mut threads = tokio::select! {
        threads = Threads::start(plan, connect) => threads?,
        () = signals.next() => return Err(Failure::transport("ended before anything was sent")),
    };
    let mut view = View::new(&threads, server, watcher);
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut cuts = 0;
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                view.look()?;
                if cuts == 0 && view.is_hopeless() {
                    threads.run.cut(CUT);
                    cuts += 1;
                }
            }
            () = threads.ended() => break,
            () = signals.next() => {
                // The second time nothing is waited for.
                threads.run.cut(if cuts == 0 { CUT } else { Duration::ZERO });
                cuts += 1;
            }
        }
    }
    view.last()?;
    let View {
        total: tally,
        seconds,
        client,
        server,
        ..
    } = view;
    Ok(Measured {
        tally,
        window: threads.run.window(),
        cut: cuts > 0,
        seconds,
        client: client.memory(),
        server: server.and_then(|server| server.memory()),
        used: threads.used()?,
    })
}

/// What has been seen of a run.
struct View<'a> {
    run: std::sync::Arc<Run>,
    lanes: Vec<std::sync::Arc<Lane>>,
    watcher: &'a mut dyn Watcher,
    /// For what is taken away, one a thread.
    spare: Tally,
    recent: Tally,
    /// Since the last second was full.
    second: Tally,
    second_from: Duration,
    total: Tally,
    seconds: Vec<Second>,
    client: Watch,
    server: Option<Watch>,
    last: Duration,
    measuring: bool,
}

impl<'a> View<'a> {
    fn new(threads: &Threads, server: Option<u32>, watcher: &'a mut dyn Watcher) -> Self {
        let mut view = Self {
            run: threads.run.clone(),
            lanes: threads.lanes.clone(),
            watcher,
            spare: Tally::new(),
            recent: Tally::new(),
            second: Tally::new(),
            second_from: threads.run.window().start,
            total: Tally::new(),
            seconds: Vec::new(),
            client: Watch::own(),
            server: server.map(Watch::process),
            last: Duration::ZERO,
            measuring: false,
        };
        view.look_at_memory(true);
        view
    }

    /// Takes away what the threads have counted.
    fn gather(&mut self) -> u64 {
        self.recent.clear();
        let mut open = 0;
        for lane in &self.lanes {
            let mut recorder = lane.recorder();
            open += recorder.open().0;
            std::mem::swap(&mut recorder.tally, &mut self.spare);
            drop(recorder);
            self.recent.merge(&self.spare);
            self.spare.clear();
        }
        self.second.merge(&self.recent);
        self.total.merge(&self.recent);
        open
    }

    fn look_at_memory(&mut self, anew: bool) {
        self.client.look(anew);
        if let Some(server) = &mut self.server {
            server.look(anew);
        }
    }

    fn look(&mut self) -> Result<(), Failure> {
        let open = self.gather();
        let (now, window) = (self.run.now(), self.run.window());
        let begins = !self.measuring && now >= window.start;
        self.measuring |= begins;
        self.look_at_memory(begins);
        self.watcher.glance(&Glance {
            span: now.saturating_sub(self.last),
            now,
            window: window.clone(),
            recent: &self.recent,
            total: &self.total,
            open,
        });
        self.last = now;
        if now >= self.second_from + Duration::from_secs(1) {
            self.end_second(now.min(window.end))?;
        }
        Ok(())
    }

    fn is_hopeless(&self) -> bool {
        self.last >= self.run.window().start + HOPELESS && self.total.is_hopeless()
    }

    /// Ends a second there.
    fn end_second(&mut self, to: Duration) -> Result<(), Failure> {
        let (from, start) = (self.second_from, self.run.window().start);
        if to <= from && self.second.sent + self.second.latency.len() + self.second.failed() == 0 {
            return Ok(());
        }
        if to > from {
            let micros = |quantile| self.second.latency.value_at_quantile(quantile) as f64 / 1e3;
            self.seconds.push(Second {
                from: from - start,
                to: to - start,
                arrived: self.second.arrived,
                failed: self.second.failed(),
                p50: micros(0.5),
                p99: micros(0.99),
            });
        }
        let span = to.saturating_sub(from);
        self.watcher.second(from - start, span, &self.second)?;
        self.second.clear();
        self.second_from = to.max(from);
        Ok(())
    }

    /// What has happened since the last look, and what has not happened at all.
    fn last(&mut self) -> Result<(), Failure> {
        self.look()?;
        let end = self.run.window().end;
        self.end_second(end)?;
        let open = self.lanes.iter().map(|lane| lane.recorder().open().1);
        let why = "no answer, and not even its deadline, before the run was given up";
        self.total.unanswered(open.sum(), why);
        Ok(())
    }
}
