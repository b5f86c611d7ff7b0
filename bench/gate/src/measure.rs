//! Measures a group. The instructions come from the child processes under callgrind.

use crate::allocations;
use crate::group::Group;
use crate::measurement::{CaseReport, GroupReport, Instructions, Measurement};
use crate::subject::Work;
use crate::timing::{self, Effort};
use std::collections::HashMap;

/// Measures a group's cases and judges their targets.
pub(crate) fn measure(
    group: &mut Group,
    counts: &HashMap<String, Instructions>,
    effort: Effort,
) -> crate::Result<GroupReport> {
    let mut report = GroupReport {
        name: group.name.clone(),
        cases: Vec::new(),
        loads: Vec::new(),
    };
    for case in &mut group.cases {
        let allocated: Vec<_> = case
            .subjects
            .iter_mut()
            .map(|subject| match &mut subject.work {
                Work::Counted(work) => {
                    // After this call the buffers have their final capacity.
                    work.repeat(1);
                    Some(allocations::count(|| work.repeat(1)))
                }
                Work::SelfTimed(_) => None,
            })
            .collect();
        let times = timing::measure(&mut case.subjects, effort)
            .map_err(|reason| format!("{}/{} by {reason}", group.name, case.name))?;
        let subjects = case.subjects.iter().zip(allocated).zip(times);
        let subjects = subjects.map(|((subject, allocations), time)| Measurement {
            subject: subject.name.clone(),
            instructions: counts
                .get(&format!("{}/{}/{}", group.name, case.name, subject.name))
                .copied(),
            allocations,
            time,
        });
        report.cases.push(CaseReport {
            name: case.name.clone(),
            bytes: case.bytes,
            subjects: subjects.collect(),
            quotes: case.quotes.clone(),
            targets: Vec::new(),
        });
    }
    // After all cases, because a target may name a later case.
    let judged: Vec<_> = group
        .cases
        .iter()
        .zip(&report.cases)
        .map(|(case, measured)| {
            case.targets
                .iter()
                .map(|target| target.judge(measured, &report))
                .collect::<Vec<_>>()
        })
        .collect();
    for (case, targets) in report.cases.iter_mut().zip(judged) {
        case.targets = targets;
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataFolder;
    use crate::report::Totals;
    use std::time::Duration;

    #[test]
    fn a_group_is_measured_and_judged() {
        let mut group = Group::new("good", DataFolder::at("."));
        group
            .case("two")
            .polywire(|| 1 + 1, |answer| *answer == 2)
            .target_allocations(0);
        let count = Instructions {
            count: 7.0,
            repeats: true,
        };
        let counts = HashMap::from([("good/two/polywire".to_owned(), count)]);
        let effort = Effort {
            rounds: 2,
            share: Duration::from_micros(1),
        };
        let report = measure(&mut group, &counts, effort).unwrap();
        assert_eq!(report.cases[0].subjects[0].instructions, Some(count));
        assert_eq!(
            Totals::of(&[report]),
            Totals {
                met: 1,
                missed: 0,
                skipped: 0
            }
        );
    }
}
