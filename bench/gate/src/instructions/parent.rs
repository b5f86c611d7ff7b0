//! The parent process, which starts valgrind and reads its counts.

use super::scratch::Scratch;
use super::{CALIBRATION_CALLS, Overhead, part, region};
use crate::measurement::Instructions;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// The arguments with which a child selects the same cases.
pub(crate) struct Selection {
    pub(crate) groups: Vec<String>,
    pub(crate) filter: Option<String>,
}

/// The output of `valgrind --version`, or `None` if it is not installed.
pub(crate) fn valgrind_version() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Counts all subjects of a selection, by `group/case/subject`.
pub(crate) fn count(selection: &Selection) -> crate::Result<HashMap<String, Instructions>> {
    let scratch = Scratch::new()?;
    // Names of equal length: the length of an argument shifts the stack, and with it the
    // alignment of what is on it.
    let folders = ["a", "b"].map(|name| scratch.path().join(name));
    let [first, second] = std::thread::scope(|scope| {
        folders
            .each_ref()
            .map(|folder| scope.spawn(|| count_once(selection, folder)))
            .map(|child| {
                child
                    .join()
                    .unwrap_or_else(|_| Err("counting panicked".to_owned()))
            })
    });
    Ok(merge(&first?, &second?)?)
}

/// A region of one child: its label, its calls, and the instructions of all calls.
#[derive(Clone, Debug, PartialEq)]
struct Region {
    label: String,
    calls: u64,
    total: u64,
}

fn count_once(selection: &Selection, folder: &Path) -> Result<Vec<Region>, String> {
    let text = |error: std::io::Error| format!("counting instructions: {error}");
    std::fs::create_dir_all(folder).map_err(text)?;
    let (parts, labels) = (folder.join("part"), folder.join("labels"));
    let mut command = Command::new("valgrind");
    command
        .args(["--quiet", "--tool=callgrind", "--dump-line=no"])
        .arg(format!("--callgrind-out-file={}", parts.display()))
        .arg(format!("--zero-before={}", region::NAME))
        .arg(format!("--dump-after={}", region::NAME))
        .arg(std::env::current_exe().map_err(text)?)
        .arg("--measure-regions")
        .arg(&labels)
        .args(&selection.groups);
    if let Some(filter) = &selection.filter {
        command.arg("--filter").arg(filter);
    }
    // Valgrind counts a string instruction once per byte, and whether glibc uses one depends on
    // the alignment of the buffers. These thresholds make it use vector instructions.
    command.env(
        "GLIBC_TUNABLES",
        "glibc.cpu.x86_rep_movsb_threshold=1073741824:glibc.cpu.x86_rep_stosb_threshold=1073741824",
    );
    let output = command.output().map_err(text)?;
    if !output.status.success() {
        return Err(format!(
            "counting instructions: valgrind ended with {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        ));
    }
    let labels = std::fs::read_to_string(labels).map_err(text)?;
    let labels = part::labels(&labels)?;
    // Parts count from 1; the file without a number is the end of the program.
    let file = |number: usize| folder.join(format!("part.{number}"));
    if file(labels.len() + 1).exists() || !file(labels.len()).exists() {
        return Err(format!(
            "callgrind did not write {} parts: does it know the function {}?",
            labels.len(),
            region::NAME
        ));
    }
    let regions = labels.iter().enumerate().map(|(index, (calls, label))| {
        let text = std::fs::read_to_string(file(index + 1)).map_err(text)?;
        let total = part::instructions(&text).map_err(|reason| format!("{label}: {reason}"))?;
        Ok(Region {
            label: (*label).to_owned(),
            calls: *calls,
            total,
        })
    });
    regions.collect()
}

/// Combines the counts of two children.
fn merge(first: &[Region], second: &[Region]) -> Result<HashMap<String, Instructions>, String> {
    let same_regions = first.len() == second.len()
        && first
            .iter()
            .zip(second)
            .all(|(left, right)| left.label == right.label);
    let [few, many, ..] = first else {
        return Err("callgrind wrote no parts".to_owned());
    };
    if !same_regions || [few.calls, many.calls] != CALIBRATION_CALLS {
        return Err(
            "two processes measured different cases; a group must add the same ones \
                    each time"
                .to_owned(),
        );
    }
    let overhead = Overhead::from_calibration([few.total, many.total]);
    let subjects = first.iter().zip(second).skip(CALIBRATION_CALLS.len());
    Ok(subjects
        .map(|(left, right)| {
            let count = overhead.subtract_from(left.total.min(right.total), left.calls);
            let repeats = left.total == right.total;
            (left.label.clone(), Instructions { count, repeats })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(totals: [u64; 4]) -> Vec<Region> {
        let names = [
            ("calibration", 1),
            ("calibration", 1001),
            ("a", 10),
            ("b", 1),
        ];
        names
            .into_iter()
            .zip(totals)
            .map(|((label, calls), total)| Region {
                label: label.to_owned(),
                calls,
                total,
            })
            .collect()
    }

    #[test]
    fn the_lower_count_is_used_and_a_difference_is_marked() {
        let merged = merge(
            &regions([25, 5025, 1070, 125]),
            &regions([25, 5025, 1070, 126]),
        )
        .unwrap();
        assert_eq!(
            merged["a"],
            Instructions {
                count: 100.0,
                repeats: true
            }
        );
        assert_eq!(
            merged["b"],
            Instructions {
                count: 100.0,
                repeats: false
            }
        );
    }

    #[test]
    fn children_that_measured_different_cases_are_an_error() {
        let whole = regions([25, 5025, 1070, 125]);
        assert!(merge(&whole, &whole[..3]).is_err());
        assert!(merge(&[], &[]).is_err());
    }
}
