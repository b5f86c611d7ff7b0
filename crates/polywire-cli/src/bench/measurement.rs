//! Runs a load and collects its measurements.

use std::ops::Range;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::engine::{Run, ThreadState, ThreadUsage, Threads};
use super::memory::{Memory, MemorySampler};
use super::plan::Plan;
use super::recording::Tally;
use super::wire::{Connect, Target};
use crate::Failure;
use crate::signals::Signals;

/// The result of a run.
#[derive(Debug)]
pub(super) struct Measurement {
    pub(super) tally: Tally,
    /// Relative to the start of the run.
    pub(super) window: Range<Duration>,
    /// Whether the run ended early: it was interrupted, or every call failed.
    pub(super) ended_early: bool,
    pub(super) seconds: Vec<Second>,
    pub(super) usage: ThreadUsage,
    pub(super) client: Option<Memory>,
    pub(super) server: Option<Memory>,
}

/// One second of the measured time. The last one may be shorter.
#[derive(Clone, Debug)]
pub(super) struct Second {
    /// Relative to the start of the measured time.
    pub(super) from: Duration,
    pub(super) to: Duration,
    pub(super) arrived: u64,
    pub(super) failed: u64,
    /// In microseconds.
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// The state of a run at one moment, shown while it runs.
#[derive(Debug)]
pub(super) struct Snapshot<'a> {
    /// The time since the previous snapshot.
    pub(super) span: Duration,
    /// Relative to the start of the run.
    pub(super) now: Duration,
    pub(super) window: Range<Duration>,
    /// The counts since the previous snapshot.
    pub(super) recent: &'a Tally,
    /// The counts of the whole run so far.
    pub(super) total: &'a Tally,
    pub(super) open: u64,
}

/// Receives the progress of a run.
pub(super) trait Observer {
    /// Called several times per second.
    fn snapshot(&mut self, snapshot: &Snapshot<'_>);

    /// Called once per second of the measured time. The last call includes later replies.
    fn second(&mut self, from: Duration, span: Duration, tally: &Tally) -> Result<(), Failure>;
}

/// The interval of snapshots.
const TICK: Duration = Duration::from_millis(250);

/// A run ends after this part of the measured time if every call has failed permanently.
const PERMANENT_FAILURE_TIME: Duration = Duration::from_secs(1);

/// How long to wait for open calls if a run ends early.
const EARLY_END_GRACE: Duration = Duration::from_secs(1);

/// Runs a plan against a target.
pub(super) async fn measure(
    plan: &Plan,
    target: &Target,
    server: Option<u32>,
    signals: &mut Signals,
    observer: &mut dyn Observer,
) -> Result<Measurement, Failure> {
    match target {
        Target::Frames(wire) => run(plan, wire.clone(), server, signals, observer).await,
        Target::Http(wire) => run(plan, wire.clone(), server, signals, observer).await,
        Target::XmlRpc(wire) => run(plan, wire.clone(), server, signals, observer).await,
    }
}

async fn run<C: Connect>(
    plan: &Plan,
    connect: C,
    server: Option<u32>,
    signals: &mut Signals,
    observer: &mut dyn Observer,
) -> Result<Measurement, Failure> {
    let mut threads = tokio::select! {
        threads = Threads::start(plan, connect) => threads?,
        () = signals.next() => return Err(Failure::transport("interrupted before any call was sent")),
    };
    let mut monitor = Monitor::new(&threads, server, observer);
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut interruptions = 0;
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                monitor.update()?;
                if interruptions == 0 && monitor.has_failed_permanently() {
                    threads.run.end_early(EARLY_END_GRACE);
                    interruptions += 1;
                }
            }
            () = threads.wait() => break,
            () = signals.next() => {
                // After the second Ctrl-C, do not wait for open calls.
                threads.run.end_early(if interruptions == 0 { EARLY_END_GRACE } else { Duration::ZERO });
                interruptions += 1;
            }
        }
    }
    monitor.finish()?;
    let Monitor {
        total: tally,
        seconds,
        client,
        server,
        ..
    } = monitor;
    Ok(Measurement {
        tally,
        window: threads.run.window(),
        ended_early: interruptions > 0,
        seconds,
        client: client.memory(),
        server: server.and_then(|server| server.memory()),
        usage: threads.usage()?,
    })
}

/// Collects the counters of a run.
struct Monitor<'a> {
    run: std::sync::Arc<Run>,
    states: Vec<std::sync::Arc<ThreadState>>,
    observer: &'a mut dyn Observer,
    /// A buffer for swapping the counters of a thread.
    buffer: Tally,
    recent: Tally,
    /// The counts of the current second.
    second: Tally,
    second_from: Duration,
    total: Tally,
    seconds: Vec<Second>,
    client: MemorySampler,
    server: Option<MemorySampler>,
    last: Duration,
    is_measuring: bool,
}

impl<'a> Monitor<'a> {
    fn new(threads: &Threads, server: Option<u32>, observer: &'a mut dyn Observer) -> Self {
        let mut monitor = Self {
            run: threads.run.clone(),
            states: threads.states.clone(),
            observer,
            buffer: Tally::new(),
            recent: Tally::new(),
            second: Tally::new(),
            second_from: threads.run.window().start,
            total: Tally::new(),
            seconds: Vec::new(),
            client: MemorySampler::own(),
            server: server.map(MemorySampler::process),
            last: Duration::ZERO,
            is_measuring: false,
        };
        monitor.sample_memory(true);
        monitor
    }

    /// Collects the counters of the threads.
    fn collect_counts(&mut self) -> u64 {
        self.recent.clear();
        let mut open = 0;
        for state in &self.states {
            let mut recorder = state.recorder();
            open += recorder.open().0;
            std::mem::swap(&mut recorder.tally, &mut self.buffer);
            drop(recorder);
            self.recent.merge(&self.buffer);
            self.buffer.clear();
        }
        self.second.merge(&self.recent);
        self.total.merge(&self.recent);
        open
    }

    fn sample_memory(&mut self, reset: bool) {
        self.client.sample(reset);
        if let Some(server) = &mut self.server {
            server.sample(reset);
        }
    }

    fn update(&mut self) -> Result<(), Failure> {
        let open = self.collect_counts();
        let (now, window) = (self.run.now(), self.run.window());
        let begins = !self.is_measuring && now >= window.start;
        self.is_measuring |= begins;
        self.sample_memory(begins);
        self.observer.snapshot(&Snapshot {
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

    fn has_failed_permanently(&self) -> bool {
        self.last >= self.run.window().start + PERMANENT_FAILURE_TIME
            && self.total.has_failed_permanently()
    }

    /// Ends the current second.
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
        self.observer.second(from - start, span, &self.second)?;
        self.second.clear();
        self.second_from = to.max(from);
        Ok(())
    }

    /// Collects the final counts, including calls that never ended.
    fn finish(&mut self) -> Result<(), Failure> {
        self.update()?;
        let end = self.run.window().end;
        self.end_second(end)?;
        let open = self.states.iter().map(|state| state.recorder().open().1);
        let why = "no reply before the end of the run";
        self.total.unanswered(open.sum(), why);
        Ok(())
    }
}
