//! The targets of a case, and whether our own subject reached them.

use crate::measurement::{CaseReport, GroupReport, Measurement};
use serde::Serialize;

/// A target of a case; the methods of [`Case`](crate::Case) say what each means.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Allocations { at_most: u64 },
    InstructionsOfCase { case: String, at_most: f64 },
    InstructionsPerByte { at_most: f64 },
    NearBest { at_most: f64 },
    PeakBytes { at_most: u64 },
    RatioInstructions { peer: String, at_most: f64 },
    RatioTime { peer: String, at_least: f64 },
    Repeats,
    Time { at_most: f64 },
}

/// A target beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Judgement {
    /// The target in words, with its limit.
    pub(crate) target: String,
    /// The measured figure; `None` if it is not known.
    pub(crate) actual: Option<f64>,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Met,
    Missed,
    /// The figure is not known: valgrind is missing, or the other case was not selected.
    Skipped,
}

impl Target {
    /// Judges the target of a case. The group is for targets that name another case.
    pub(crate) fn judge(&self, case: &CaseReport, group: &GroupReport) -> Judgement {
        let actual = case
            .polywire()
            .and_then(|ours| self.actual(ours, case, group));
        let outcome = match actual {
            None => Outcome::Skipped,
            Some(actual) if self.reached_by(actual) => Outcome::Met,
            Some(_) => Outcome::Missed,
        };
        Judgement {
            target: self.words(),
            actual,
            outcome,
        }
    }

    /// The peer or quote that the target names.
    pub(crate) fn peer(&self) -> Option<&str> {
        match self {
            Self::RatioInstructions { peer, .. } | Self::RatioTime { peer, .. } => Some(peer),
            _ => None,
        }
    }

    /// The other case that the target names.
    pub(crate) fn other_case(&self) -> Option<&str> {
        match self {
            Self::InstructionsOfCase { case, .. } => Some(case),
            _ => None,
        }
    }

    fn actual(&self, ours: &Measurement, case: &CaseReport, group: &GroupReport) -> Option<f64> {
        match self {
            Self::Allocations { .. } => ours.allocations.map(|found| found.count as f64),
            Self::InstructionsOfCase { case: other, .. } => {
                let other = group.case(other)?.polywire()?;
                ratio(instructions(ours)?, instructions(other)?)
            }
            Self::InstructionsPerByte { .. } => case.per_byte(instructions(ours)?),
            Self::NearBest { .. } => near_best(ours, case),
            Self::PeakBytes { .. } => ours.allocations.map(|found| found.peak_bytes as f64),
            Self::RatioInstructions { peer, .. } => {
                let theirs = match case.subject(peer) {
                    Some(peer) => instructions(peer)?,
                    None => case.quote(peer)?.instructions_per_byte? * case.bytes as f64,
                };
                ratio(instructions(ours)?, theirs)
            }
            Self::RatioTime { peer, .. } => {
                let theirs = match case.subject(peer) {
                    Some(peer) => peer.time.best_nanoseconds,
                    None => case.quote(peer)?.nanoseconds?,
                };
                ratio(theirs, ours.time.best_nanoseconds)
            }
            Self::Repeats => ours
                .instructions
                .map(|found| f64::from(u8::from(found.repeats))),
            Self::Time { .. } => Some(ours.time.best_nanoseconds),
        }
    }

    fn reached_by(&self, actual: f64) -> bool {
        match self {
            Self::Allocations { at_most } | Self::PeakBytes { at_most } => {
                actual <= *at_most as f64
            }
            Self::InstructionsOfCase { at_most, .. }
            | Self::InstructionsPerByte { at_most }
            | Self::NearBest { at_most }
            | Self::RatioInstructions { at_most, .. }
            | Self::Time { at_most } => actual <= *at_most,
            Self::RatioTime { at_least, .. } => actual >= *at_least,
            Self::Repeats => actual == 1.0,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Allocations { at_most } => format!("allocations <= {at_most}"),
            Self::InstructionsOfCase { case, at_most } => {
                format!("instructions <= {at_most} of {case}")
            }
            Self::InstructionsPerByte { at_most } => format!("instructions per byte <= {at_most}"),
            Self::NearBest { at_most } => {
                format!("instructions or time <= {at_most} of the best peer")
            }
            Self::PeakBytes { at_most } => format!("peak bytes <= {at_most}"),
            Self::RatioInstructions { peer, at_most } => {
                format!("instructions <= {at_most} of {peer}")
            }
            Self::RatioTime { peer, at_least } => format!("times as fast as {peer} >= {at_least}"),
            Self::Repeats => "instructions repeat exactly".to_owned(),
            Self::Time { at_most } => format!("nanoseconds <= {at_most}"),
        }
    }
}

fn instructions(measurement: &Measurement) -> Option<f64> {
    measurement.instructions.map(|found| found.count)
}

/// `None` instead of an infinity or NaN if the divisor was too small to measure.
fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator > 0.0).then_some(numerator / denominator)
}

/// The smaller of two ratios: our instructions to the fewest of any peer, and our best time
/// to the best of any peer.
fn near_best(ours: &Measurement, case: &CaseReport) -> Option<f64> {
    let peers = || {
        case.subjects
            .iter()
            .filter(|subject| subject.subject != ours.subject)
    };
    let least = peers().filter_map(instructions).min_by(f64::total_cmp);
    let by_instructions = instructions(ours)
        .zip(least)
        .and_then(|(ours, least)| ratio(ours, least));
    let fastest = peers()
        .map(|peer| peer.time.best_nanoseconds)
        .min_by(f64::total_cmp);
    let by_time = fastest.and_then(|fastest| ratio(ours.time.best_nanoseconds, fastest));
    by_instructions
        .into_iter()
        .chain(by_time)
        .min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocations::Allocations;
    use crate::measurement::{Instructions, Time};
    use crate::quote::Quote;

    fn measurement(subject: &str, instructions: f64, nanoseconds: f64) -> Measurement {
        Measurement {
            subject: subject.to_owned(),
            instructions: Some(Instructions {
                count: instructions,
                repeats: true,
            }),
            allocations: Some(Allocations {
                count: 2,
                bytes: 64,
                peak_bytes: 32,
            }),
            time: Time {
                best_nanoseconds: nanoseconds,
                median_nanoseconds: nanoseconds,
            },
        }
    }

    fn group() -> GroupReport {
        let case = |name: &str, instructions| CaseReport {
            name: name.to_owned(),
            bytes: 100,
            subjects: vec![
                measurement("polywire", instructions, 50.0),
                measurement("peer", 1000.0, 100.0),
            ],
            quotes: vec![Quote::new("seed", "anchors").nanoseconds(500.0)],
            targets: Vec::new(),
        };
        GroupReport {
            name: "group".to_owned(),
            cases: vec![case("one", 400.0), case("two", 800.0)],
            loads: Vec::new(),
        }
    }

    fn judge(target: &Target) -> (Option<f64>, Outcome) {
        let group = group();
        let judgement = target.judge(&group.cases[0], &group);
        (judgement.actual, judgement.outcome)
    }

    #[test]
    fn limits_are_inclusive() {
        assert_eq!(
            judge(&Target::Allocations { at_most: 2 }),
            (Some(2.0), Outcome::Met)
        );
        assert_eq!(
            judge(&Target::Allocations { at_most: 1 }),
            (Some(2.0), Outcome::Missed)
        );
        assert_eq!(judge(&Target::PeakBytes { at_most: 31 }).1, Outcome::Missed);
        assert_eq!(
            judge(&Target::InstructionsPerByte { at_most: 4.0 }),
            (Some(4.0), Outcome::Met)
        );
        assert_eq!(judge(&Target::Repeats).1, Outcome::Met);
        assert_eq!(judge(&Target::Time { at_most: 50.0 }).1, Outcome::Met);
        assert_eq!(judge(&Target::Time { at_most: 49.0 }).1, Outcome::Missed);
    }

    #[test]
    fn ratios_are_against_a_peer_or_a_quote() {
        let time = |peer: &str, at_least| Target::RatioTime {
            peer: peer.to_owned(),
            at_least,
        };
        assert_eq!(judge(&time("peer", 2.0)), (Some(2.0), Outcome::Met));
        assert_eq!(judge(&time("peer", 2.1)).1, Outcome::Missed);
        assert_eq!(judge(&time("seed", 10.0)), (Some(10.0), Outcome::Met));
        let instructions = Target::RatioInstructions {
            peer: "peer".to_owned(),
            at_most: 0.4,
        };
        assert_eq!(judge(&instructions), (Some(0.4), Outcome::Met));
    }

    #[test]
    fn the_better_ratio_of_instructions_and_time_counts_against_the_best_peer() {
        assert_eq!(
            judge(&Target::NearBest { at_most: 0.4 }),
            (Some(0.4), Outcome::Met)
        );
    }

    #[test]
    fn a_target_can_name_another_case() {
        let target = Target::InstructionsOfCase {
            case: "two".to_owned(),
            at_most: 0.5,
        };
        assert_eq!(judge(&target), (Some(0.5), Outcome::Met));
    }

    #[test]
    fn targets_without_a_figure_are_skipped() {
        let unknown = Target::RatioTime {
            peer: "nobody".to_owned(),
            at_least: 1.0,
        };
        assert_eq!(judge(&unknown), (None, Outcome::Skipped));
        let unknown = Target::InstructionsOfCase {
            case: "three".to_owned(),
            at_most: 1.0,
        };
        assert_eq!(judge(&unknown), (None, Outcome::Skipped));
    }
}
