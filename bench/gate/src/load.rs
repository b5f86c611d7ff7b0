//! Loads: systems with threads and sockets that run for a while, such as "TCP, 2 clients with
//! 100 calls in flight each".
//!
//! A load has subjects and targets, like a case. A subject runs for a span of time and returns
//! [`Figures`]. The subjects run in turn, several times, and the table has the median of each
//! figure. The figures do not repeat, so the baseline does not contain them. Only `bench/peers`
//! has loads.

mod figure;
mod report;
mod target;

use std::time::Duration;

pub use figure::{Figure, Figures};
pub(crate) use report::{LoadReport, write as write_report};
use target::{Bound, LoadTarget};

/// How long a subject is run.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Before the measurement.
    pub warm_up: Duration,
    /// The measurement.
    pub measured: Duration,
}

/// The number of runs, and the length of each.
#[derive(Clone, Copy)]
pub(crate) struct LoadEffort {
    pub(crate) runs: usize,
    pub(crate) span: Span,
}

impl LoadEffort {
    /// For figures that are published.
    pub(crate) const FULL: Self = Self {
        runs: 3,
        span: Span {
            warm_up: Duration::from_millis(500),
            measured: Duration::from_secs(3),
        },
    };
    /// To see that everything works.
    pub(crate) const QUICK: Self = Self {
        runs: 1,
        span: Span {
            warm_up: Duration::from_millis(50),
            measured: Duration::from_millis(250),
        },
    };
}

type Trial = Box<dyn FnMut(Span) -> Result<Figures, String>>;

/// Systems under one kind of load. Made by [`Group::load`](crate::Group::load); the
/// methods chain.
pub struct Load {
    pub(crate) name: String,
    layout: String,
    subjects: Vec<(String, Trial)>,
    targets: Vec<LoadTarget>,
}

impl Load {
    pub(crate) const fn new(name: String) -> Self {
        Self {
            name,
            layout: String::new(),
            subjects: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// A description of the threads and their work, printed below the table.
    pub fn layout(&mut self, words: impl Into<String>) -> &mut Self {
        self.layout = words.into();
        self
    }

    /// Our own subject. An error, such as a wrong answer, fails the run. Failed calls are no
    /// error but a figure.
    pub fn polywire(
        &mut self,
        trial: impl FnMut(Span) -> Result<Figures, String> + 'static,
    ) -> &mut Self {
        self.peer(crate::POLYWIRE, trial)
    }

    /// A competitor.
    pub fn peer(
        &mut self,
        name: impl Into<String>,
        trial: impl FnMut(Span) -> Result<Figures, String> + 'static,
    ) -> &mut Self {
        let name = name.into();
        assert!(
            self.subjects.iter().all(|(earlier, _)| *earlier != name),
            "load {} has two subjects called {name}",
            self.name
        );
        self.subjects.push((name, Box::new(trial)));
        self
    }

    /// Our figure is at least this.
    pub fn target_at_least(&mut self, figure: Figure, limit: f64) -> &mut Self {
        self.target(LoadTarget::limit(figure, Bound::AtLeast(limit)))
    }

    /// Our figure is at most this.
    pub fn target_at_most(&mut self, figure: Figure, limit: f64) -> &mut Self {
        self.target(LoadTarget::limit(figure, Bound::AtMost(limit)))
    }

    /// Our figure is at least `times` times the peer's.
    pub fn target_at_least_times(&mut self, figure: Figure, times: f64, peer: &str) -> &mut Self {
        self.target(LoadTarget::times_peer(figure, Bound::AtLeast(times), peer))
    }

    /// Our figure is at most `times` times the peer's.
    pub fn target_at_most_times(&mut self, figure: Figure, times: f64, peer: &str) -> &mut Self {
        self.target(LoadTarget::times_peer(figure, Bound::AtMost(times), peer))
    }

    fn target(&mut self, target: LoadTarget) -> &mut Self {
        self.targets.push(target);
        self
    }

    /// Runs one subject alone and returns its calls per second, if it exists.
    pub(crate) fn repeat(
        &mut self,
        subject: &str,
        measured: Duration,
    ) -> crate::Result<Option<f64>> {
        let Some((_, trial)) = self.subjects.iter_mut().find(|(name, _)| name == subject) else {
            return Ok(None);
        };
        let span = Span {
            warm_up: Duration::ZERO,
            measured,
        };
        let figures =
            trial(span).map_err(|reason| format!("{} by {subject}: {reason}", self.name))?;
        Ok(figures.get(Figure::Rate))
    }

    /// Targets that can never be judged: their peer is unknown, or our own subject is missing.
    pub(crate) fn mistakes(&self) -> Vec<String> {
        let has = |name: &str| self.subjects.iter().any(|(subject, _)| subject == name);
        let unknown = self.targets.iter().filter_map(|target| {
            let known = has(crate::POLYWIRE) && target.peer().is_none_or(has);
            let name = &self.name;
            (!known).then(|| format!("a target of {name} names no subject: {}", target.words()))
        });
        unknown.collect()
    }
}

/// Runs the loads of a group. Errors are added to `wrong` and do not stop the other subjects.
pub(crate) fn measure(
    loads: &mut [Load],
    effort: LoadEffort,
    wrong: &mut Vec<String>,
) -> Vec<LoadReport> {
    let mut reports = Vec::with_capacity(loads.len());
    for load in loads {
        let mut runs = vec![Vec::with_capacity(effort.runs); load.subjects.len()];
        for _ in 0..effort.runs {
            for ((name, trial), runs) in load.subjects.iter_mut().zip(&mut runs) {
                match trial(effort.span) {
                    Ok(figures) => runs.push(figures),
                    Err(reason) => wrong.push(format!("{} by {name}: {reason}", load.name)),
                }
            }
        }
        let subjects = load.subjects.iter().zip(&runs);
        let mut report = LoadReport {
            name: load.name.clone(),
            layout: load.layout.clone(),
            subjects: subjects
                .map(|((name, _), runs)| (name.clone(), Figures::medians(runs)))
                .collect(),
            targets: Vec::new(),
        };
        let judged = load.targets.iter().map(|target| target.judge(&report));
        report.targets = judged.collect();
        reports.push(report);
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    const EFFORT: LoadEffort = LoadEffort {
        runs: 2,
        span: Span {
            warm_up: Duration::ZERO,
            measured: Duration::ZERO,
        },
    };

    #[test]
    fn subjects_run_in_turn_and_an_error_does_not_stop_the_others() {
        let turns = Rc::new(RefCell::new(String::new()));
        let subject = |name: char, result: Result<f64, &'static str>| {
            let turns = Rc::clone(&turns);
            move |_: Span| {
                turns.borrow_mut().push(name);
                let figures = result.map(|rate| Figures::default().with(Figure::Rate, rate));
                figures.map_err(str::to_owned)
            }
        };
        let mut load = Load::new("load".to_owned());
        load.polywire(subject('a', Ok(2.0)))
            .peer("b", subject('b', Err("a wrong answer")))
            .peer("c", subject('c', Ok(1.0)))
            .target_at_least_times(Figure::Rate, 2.0, "c");
        let mut wrong = Vec::new();
        let reports = measure(&mut [load], EFFORT, &mut wrong);
        assert_eq!(*turns.borrow(), "abcabc");
        assert_eq!(wrong, ["load by b: a wrong answer"; 2]);
        assert_eq!(reports[0].targets[0].actual, Some(2.0));
    }

    #[test]
    fn targets_without_a_subject_are_mistakes() {
        let nothing = |_: Span| Ok(Figures::default());
        let mut load = Load::new("load".to_owned());
        load.peer("peer", nothing)
            .target_at_least(Figure::Rate, 1.0);
        assert_eq!(load.mistakes().len(), 1);
        load.polywire(nothing)
            .target_at_most_times(Figure::P50, 1.0, "pear");
        assert_eq!(load.mistakes().len(), 1);
    }
}
