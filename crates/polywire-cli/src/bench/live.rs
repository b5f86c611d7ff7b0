//! Shows the progress of a run: several updated lines on a terminal, or else one line per second.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::hdr::Log;
use super::measurement::{Observer, Snapshot};
use super::numbers::{count, micros, percent, rate, sparkline};
use super::recording::Tally;
use crate::{Failure, print};

/// Shows the progress on standard error, and writes the log.
pub(super) struct ProgressDisplay<'a> {
    shown: Output,
    log: Option<Log<'a>>,
    /// The title of a run, if there are several.
    title: String,
}

enum Output {
    Nothing,
    /// The counts since the last line.
    Lines {
        since: Duration,
        tally: Box<Tally>,
    },
    Terminal {
        bar: ProgressBar,
        rates: VecDeque<f64>,
    },
}

/// The number of rates in the sparkline, which covers ten seconds.
const RATES: usize = 40;

impl<'a> ProgressDisplay<'a> {
    pub(super) fn new(quiet: bool, log: Option<Log<'a>>) -> Self {
        let shown = match quiet {
            true => Output::Nothing,
            false if std::io::stderr().is_terminal() => terminal(),
            false => Output::Lines {
                since: Duration::ZERO,
                tally: Box::new(Tally::new()),
            },
        };
        Self {
            shown,
            log,
            title: String::new(),
        }
    }

    /// Starts a run.
    pub(super) fn begin(&mut self, title: String) {
        self.title = title;
        match &mut self.shown {
            Output::Lines { since, tally } => {
                *since = Duration::ZERO;
                tally.clear();
            }
            Output::Terminal { rates, .. } => rates.clear(),
            Output::Nothing => {}
        }
    }
}

fn terminal() -> Output {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    // A template of one field is always valid.
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        bar.set_style(style);
    }
    Output::Terminal {
        bar,
        rates: VecDeque::new(),
    }
}

impl Drop for ProgressDisplay<'_> {
    fn drop(&mut self) {
        if let Output::Terminal { bar, .. } = &self.shown {
            // The report contains everything that the bar shows.
            bar.finish_and_clear();
        }
    }
}

impl Observer for ProgressDisplay<'_> {
    fn snapshot(&mut self, snapshot: &Snapshot<'_>) {
        let title = &self.title;
        match &mut self.shown {
            Output::Nothing => {}
            Output::Lines { since, tally } => {
                tally.merge(snapshot.recent);
                let span = snapshot.now.saturating_sub(*since);
                if span >= Duration::from_secs(1) {
                    print::err(format_args!("{title}{}", line(snapshot, tally, span)));
                    *since = snapshot.now;
                    tally.clear();
                }
            }
            Output::Terminal { bar, rates } => {
                if snapshot.window.contains(&snapshot.now) {
                    rates.push_back(per_second(snapshot.recent.arrived, snapshot.span));
                }
                if rates.len() > RATES {
                    rates.pop_front();
                }
                let bars = sparkline(rates.iter().copied());
                let now = line(snapshot, snapshot.recent, snapshot.span);
                let total = snapshot.total;
                bar.set_message(format!(
                    "{title}{now}\n{bars}\ntotal: {} replies, success {}, {}, {} skipped\nCtrl-C \
                     ends it with a report",
                    count(total.replied),
                    success(total),
                    latency(total),
                    count(total.skipped),
                ));
            }
        }
    }

    fn second(&mut self, from: Duration, span: Duration, tally: &Tally) -> Result<(), Failure> {
        match &mut self.log {
            Some(log) => log.write(from, span, &tally.latency),
            None => Ok(()),
        }
    }
}

fn per_second(number: u64, span: Duration) -> f64 {
    number as f64 / span.as_secs_f64().max(1e-9)
}

/// `12.0 s  200,123/s  p50 0.41 ms  p99 1.31 ms  success 100%  200 open`.
fn line(snapshot: &Snapshot<'_>, recent: &Tally, span: Duration) -> String {
    let (now, window) = (snapshot.now, &snapshot.window);
    let open = count(snapshot.open);
    if now < window.start {
        let left = (window.start - now).as_secs_f64();
        return format!("warming up for {left:.1} s more, {open} open");
    }
    let time = (now.min(window.end) - window.start).as_secs_f64();
    if now >= window.end {
        return format!("{time:.1} s  waiting for {open} calls");
    }
    format!(
        "{time:.1} s  {}/s  {}  success {}  {open} open",
        rate(per_second(recent.arrived, span)),
        latency(recent),
        success(recent),
    )
}

fn latency(tally: &Tally) -> String {
    let at = |quantile| micros(tally.latency.value_at_quantile(quantile) as f64 / 1e3);
    format!("p50 {}  p99 {}", at(0.5), at(0.99))
}

/// Counts only calls that have ended.
fn success(tally: &Tally) -> String {
    let ended = tally.replied + tally.failed();
    match ended {
        0 => "-".to_owned(),
        _ => percent(tally.replied as f64 / ended as f64),
    }
}
