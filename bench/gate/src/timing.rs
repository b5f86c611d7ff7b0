//! Wall time, in rounds that interleave the subjects.
//!
//! The speed of a shared machine varies. So the subjects of a case run A B C A B C ..., a few
//! milliseconds each, and a ratio compares the best times. Time is not reliable enough to gate
//! on.

use crate::measurement::Time;
use crate::subject::{Subject, Work};
use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// The time of one subject in one round, in which it is called repeatedly.
    pub(crate) share: Duration,
}

impl Effort {
    /// For figures that are published.
    pub(crate) const FULL: Self = Self {
        rounds: 25,
        share: Duration::from_millis(4),
    };
    /// For CI, which gates on counts only.
    pub(crate) const QUICK: Self = Self {
        rounds: 5,
        share: Duration::from_millis(1),
    };
}

/// The times of all subjects of a case, in their order.
pub(crate) fn measure(subjects: &mut [Subject], effort: Effort) -> Result<Vec<Time>, String> {
    let batches: Vec<u64> = subjects
        .iter_mut()
        .map(|subject| calls_in(effort.share, &mut subject.work))
        .collect();
    let mut samples = vec![Vec::with_capacity(effort.rounds); subjects.len()];
    for _ in 0..effort.rounds {
        for ((subject, batch), samples) in subjects.iter_mut().zip(&batches).zip(&mut samples) {
            samples.push(match &mut subject.work {
                Work::Counted(work) => {
                    let start = Instant::now();
                    work.repeat(*batch);
                    start.elapsed().as_nanos() as f64 / *batch as f64
                }
                Work::SelfTimed(time) => {
                    time().map_err(|reason| format!("{}: {reason}", subject.name))?
                }
            });
        }
    }
    Ok(samples.into_iter().map(summary).collect())
}

/// How many calls fill a share. Found by doubling, which also warms the caches.
fn calls_in(share: Duration, work: &mut Work) -> u64 {
    let Work::Counted(work) = work else { return 1 };
    let mut calls = 1;
    loop {
        let start = Instant::now();
        work.repeat(calls);
        let elapsed = start.elapsed();
        if elapsed >= share {
            return calls;
        }
        if elapsed >= share / 8 {
            let fitting = calls as f64 * share.as_secs_f64() / elapsed.as_secs_f64();
            return (fitting as u64).max(1);
        }
        calls *= 2;
    }
}

fn summary(mut samples: Vec<f64>) -> Time {
    samples.sort_by(f64::total_cmp);
    Time {
        best_nanoseconds: samples.first().copied().unwrap_or_default(),
        median_nanoseconds: samples.get(samples.len() / 2).copied().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataFolder, Group};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn best_and_median() {
        let time = summary(vec![3.0, 1.0, 2.0]);
        assert_eq!(
            time,
            Time {
                best_nanoseconds: 1.0,
                median_nanoseconds: 2.0
            }
        );
    }

    #[test]
    fn subjects_take_turns() {
        let turns = Rc::new(RefCell::new(String::new()));
        let subject = |name| {
            let turns = Rc::clone(&turns);
            move || {
                turns.borrow_mut().push(name);
                Ok(f64::from(u32::from(name)))
            }
        };
        let mut group = Group::new("group", DataFolder::at("."));
        let case = group.case("case");
        case.peer_self_timed("a", subject('a'))
            .peer_self_timed("b", subject('b'));
        let effort = Effort {
            rounds: 3,
            share: Duration::from_micros(1),
        };
        let times = measure(&mut case.subjects, effort).unwrap();
        assert_eq!(*turns.borrow(), "ababab");
        assert_eq!(times[0].best_nanoseconds, 97.0);
    }

    #[test]
    fn the_error_of_a_self_timed_peer_names_it() {
        let mut group = Group::new("group", DataFolder::at("."));
        let case = group.case("case");
        case.peer_self_timed("python", || Err("no interpreter".to_owned()));
        let failure = measure(&mut case.subjects, Effort::QUICK).unwrap_err();
        assert_eq!(failure, "python: no interpreter");
    }
}
