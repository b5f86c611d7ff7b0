//! The baseline: the costs of polywire's subjects at some commit.

use crate::measurement::{GroupReport, Skipped};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A change for the worse of more than this percentage is printed.
const NOTED: f64 = 3.0;
/// A change for the worse of more than this percentage fails.
const FAILS: f64 = 15.0;

/// Costs by `group/case`, sorted, so that the diff of a refreshed file is small.
#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct Baseline {
    cases: BTreeMap<String, Costs>,
}

/// The figures that repeat from run to run. Time does not.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
struct Costs {
    instructions: u64,
    allocations: u64,
    bytes_allocated: u64,
}

/// The part of a baseline that a run covers.
pub(crate) struct Scope<'a> {
    pub(crate) groups: &'a [String],
    pub(crate) filter: Option<&'a str>,
    /// Cases and other parts that were skipped, as `group/name`.
    pub(crate) skipped: &'a [Skipped],
}

impl Scope<'_> {
    fn covers(&self, name: &str) -> bool {
        let group = name.split_once('/').map_or(name, |(group, _)| group);
        self.groups.iter().any(|selected| selected == group)
            && self.filter.is_none_or(|text| name.contains(text))
    }

    /// Whether a part of the case's group was skipped, which may be the case. A skipped part is
    /// reported apart, and fails the run in CI.
    fn may_be_skipped(&self, name: &str) -> bool {
        let group = |name: &str| name.split_once('/').map(|(group, _)| group.to_owned());
        self.skipped
            .iter()
            .any(|skipped| group(&skipped.name) == group(name))
    }
}

/// The result of a comparison, as lines for the terminal.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Comparison {
    pub(crate) lines: Vec<String>,
    pub(crate) fails: bool,
}

impl Baseline {
    /// The costs of polywire's subjects. An error if there are no instruction counts.
    pub(crate) fn of(groups: &[GroupReport]) -> Result<Self, String> {
        let mut cases = BTreeMap::new();
        for group in groups {
            for case in &group.cases {
                let Some(ours) = case.polywire() else {
                    continue;
                };
                let Some((instructions, allocations)) = ours.instructions.zip(ours.allocations)
                else {
                    return Err(format!(
                        "{}/{} has no instruction count",
                        group.name, case.name
                    ));
                };
                let costs = Costs {
                    instructions: instructions.count.round() as u64,
                    allocations: allocations.count,
                    bytes_allocated: allocations.bytes,
                };
                cases.insert(format!("{}/{}", group.name, case.name), costs);
            }
        }
        Ok(Self { cases })
    }

    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("baseline {}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("baseline {}: {error}", path.display()))
    }

    pub(crate) fn save(&self, path: &Path) -> crate::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        std::fs::write(path, text)
            .map_err(|error| format!("baseline {}: {error}", path.display()))?;
        Ok(())
    }

    /// Replaces what the run covers and keeps the rest.
    pub(crate) fn refresh(&mut self, measured: Self, scope: &Scope<'_>) {
        self.cases.retain(|name, _| !scope.covers(name));
        self.cases.extend(measured.cases);
    }

    /// Compares a run with this baseline.
    pub(crate) fn compare(&self, measured: &Self, scope: &Scope<'_>, path: &Path) -> Comparison {
        let mut found = Comparison::default();
        let mut improved = false;
        for (name, now) in &measured.cases {
            let Some(before) = self.cases.get(name) else {
                found
                    .lines
                    .push(format!("new, not in the baseline: {name}"));
                continue;
            };
            for (what, before, now) in before.beside(now) {
                let change = change(before, now);
                let figures = format!("{name}: {what} {before} -> {now} ({change:+.1}%)");
                if change > FAILS {
                    found.fails = true;
                    found
                        .lines
                        .push(format!("FAILS, over {FAILS}% worse: {figures}"));
                } else if change > NOTED {
                    found.lines.push(format!("worse: {figures}"));
                } else if change < -NOTED {
                    improved = true;
                    found.lines.push(format!("better: {figures}"));
                }
            }
        }
        for name in self.cases.keys().filter(|name| scope.covers(name)) {
            if !measured.cases.contains_key(name) && !scope.may_be_skipped(name) {
                found.fails = true;
                found
                    .lines
                    .push(format!("FAILS, in the baseline, but not measured: {name}"));
            }
        }
        if improved {
            found.lines.push(format!(
                "to keep the improvements, refresh the baseline: the same command with --save {}",
                path.display()
            ));
        }
        found
    }
}

impl Costs {
    fn beside(self, now: &Self) -> [(&'static str, u64, u64); 3] {
        [
            ("instructions", self.instructions, now.instructions),
            ("allocations", self.allocations, now.allocations),
            ("bytes allocated", self.bytes_allocated, now.bytes_allocated),
        ]
    }
}

/// The change in percent; above zero is worse. From zero to something is infinite.
fn change(before: u64, now: u64) -> f64 {
    match (before, now) {
        (0, 0) => 0.0,
        (0, _) => f64::INFINITY,
        // The subtraction first, because it is exact.
        _ => (now as f64 - before as f64) * 100.0 / before as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(cases: &[(&str, u64, u64, u64)]) -> Baseline {
        let costs =
            |&(name, instructions, allocations, bytes_allocated): &(&str, u64, u64, u64)| {
                (
                    name.to_owned(),
                    Costs {
                        instructions,
                        allocations,
                        bytes_allocated,
                    },
                )
            };
        Baseline {
            cases: cases.iter().map(costs).collect(),
        }
    }

    fn compare(before: &Baseline, now: &Baseline, filter: Option<&str>) -> Comparison {
        let groups = ["a".to_owned()];
        let scope = Scope {
            groups: &groups,
            filter,
            skipped: &[],
        };
        before.compare(now, &scope, Path::new("bench/gate/baseline.json"))
    }

    #[test]
    fn up_to_three_percent_is_silent() {
        let before = baseline(&[("a/x", 1000, 10, 100)]);
        assert_eq!(
            compare(&before, &baseline(&[("a/x", 1030, 10, 97)]), None)
                .lines
                .len(),
            0
        );
    }

    #[test]
    fn over_three_percent_is_printed_and_over_fifteen_fails() {
        let before = baseline(&[("a/x", 1000, 0, 100)]);
        let worse = compare(&before, &baseline(&[("a/x", 1150, 0, 100)]), None);
        assert_eq!(
            worse.lines,
            ["worse: a/x: instructions 1000 -> 1150 (+15.0%)"]
        );
        assert!(!worse.fails);
        let worse = compare(&before, &baseline(&[("a/x", 1151, 0, 100)]), None);
        assert!(worse.fails);
        assert!(compare(&before, &baseline(&[("a/x", 1000, 1, 100)]), None).fails);
    }

    #[test]
    fn improvements_come_with_a_hint() {
        let before = baseline(&[("a/x", 1000, 10, 100)]);
        let better = compare(&before, &baseline(&[("a/x", 900, 10, 100)]), None);
        assert_eq!(
            better.lines[0],
            "better: a/x: instructions 1000 -> 900 (-10.0%)"
        );
        assert!(better.lines[1].ends_with("--save bench/gate/baseline.json"));
        assert!(!better.fails);
    }

    #[test]
    fn cases_missing_on_either_side_are_printed_within_the_scope() {
        let before = baseline(&[("a/old", 1, 1, 1), ("b/other group", 1, 1, 1)]);
        let now = baseline(&[("a/new", 1, 1, 1)]);
        let found = compare(&before, &now, None);
        assert_eq!(
            found.lines,
            [
                "new, not in the baseline: a/new",
                "FAILS, in the baseline, but not measured: a/old"
            ]
        );
        assert!(found.fails);
        assert_eq!(compare(&before, &now, Some("new")).lines.len(), 1);
    }

    #[test]
    fn a_case_whose_data_is_missing_does_not_fail() {
        let before = baseline(&[("a/old", 1, 1, 1)]);
        let groups = ["a".to_owned()];
        let skipped = |name: &str| Skipped {
            name: name.to_owned(),
            reason: String::new(),
        };
        for (name, fails) in [("a/the manifest", false), ("b/other", true)] {
            let scope = Scope {
                groups: &groups,
                filter: None,
                skipped: &[skipped(name)],
            };
            let path = Path::new("baseline.json");
            let found = before.compare(&Baseline::default(), &scope, path);
            assert_eq!(found.fails, fails, "{name}");
        }
    }

    #[test]
    fn a_refresh_keeps_other_groups() {
        let mut saved = baseline(&[("a/old", 1, 1, 1), ("b/x", 2, 2, 2)]);
        let groups = ["a".to_owned()];
        let scope = Scope {
            groups: &groups,
            filter: None,
            skipped: &[],
        };
        saved.refresh(baseline(&[("a/new", 3, 3, 3)]), &scope);
        assert_eq!(saved, baseline(&[("a/new", 3, 3, 3), ("b/x", 2, 2, 2)]));
    }

    #[test]
    fn the_file_is_sorted_and_reads_back() {
        let saved = baseline(&[("b/x", 1, 2, 3), ("a/x", 4, 5, 6)]);
        let text = serde_json::to_string_pretty(&saved).unwrap();
        assert!(text.find("a/x") < text.find("b/x"));
        assert_eq!(serde_json::from_str::<Baseline>(&text).unwrap(), saved);
    }
}
