//! The child process, which runs under valgrind.

use super::region::measured_region;
use super::{CALIBRATION_CALLS, calls_for};
use crate::group::Group;
use crate::subject::{Closure, Repeat, Work};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

/// Runs every region and writes a line `calls<TAB>group/case/subject` for each, in
/// the order of callgrind's parts.
pub(crate) fn measure_regions(groups: &mut [Group], labels: &Path) -> crate::Result<()> {
    let mut lines = String::new();
    let mut region = |label: &str, work: &mut dyn Repeat, calls: u64| {
        work.repeat(1);
        black_box(measured_region(work, calls));
        writeln!(lines, "{calls}\t{label}")
    };
    let mut nothing = Closure {
        state: (),
        run: |(): &mut ()| (),
        check: |(): &(), (): &()| true,
    };
    for calls in CALIBRATION_CALLS {
        region("calibration", &mut nothing, calls)?;
    }
    for group in groups {
        for case in &mut group.cases {
            let calls = case.calls.unwrap_or_else(|| calls_for(case.bytes));
            for subject in &mut case.subjects {
                if let Work::Counted(work) = &mut subject.work {
                    let label = format!("{}/{}/{}", group.name, case.name, subject.name);
                    region(&label, work.as_mut(), calls)?;
                }
            }
        }
    }
    std::fs::write(labels, lines)?;
    Ok(())
}
