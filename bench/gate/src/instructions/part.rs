//! Reads callgrind's part files.
//!
//! A part opens with lines such as
//!
//! ```text
//! part: 3
//! desc: Trigger: --dump-after=polywire_gate::instructions::region::measured_region
//! events: Ir
//! summary: 5884
//! ```
//!
//! and ends with `totals: 5884`. Both are the instructions since the counters were set to
//! zero; older versions of callgrind write only one of them.

/// The instructions that a part counted.
pub(super) fn instructions(part: &str) -> Result<u64, String> {
    let field = |name: &str| {
        part.lines()
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
    };
    if let Some(events) = field("events:")
        && events.split_whitespace().next() != Some("Ir")
    {
        return Err(format!("callgrind counted {events} instead of Ir"));
    }
    let total = field("totals:")
        .or_else(|| field("summary:"))
        .ok_or("a callgrind part without totals")?;
    let first = total.split_whitespace().next().unwrap_or_default();
    first
        .parse()
        .map_err(|_| format!("callgrind totals {total:?} are no number"))
}

/// The lines that the child wrote: the calls and the name of each region.
pub(super) fn labels(text: &str) -> Result<Vec<(u64, &str)>, String> {
    text.lines()
        .map(|line| {
            let (calls, label) = line.split_once('\t').ok_or("a label without calls")?;
            let calls = calls
                .parse()
                .map_err(|_| format!("calls {calls:?} are no number"))?;
            Ok((calls, label))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: &str = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 1\ncmd: ./m\n\
        part: 3\n\ndesc: I1 cache: \ndesc: Timerange: Basic block 1 - 2\n\
        desc: Trigger: --dump-after=m\n\npositions: line\nevents: Ir\nsummary: 5884\n\n\
        ob=(2)\nfl=(2)\nfn=(2)\n0 884\n0 5000\n\ntotals: 5884\n";

    #[test]
    fn totals_are_read() {
        assert_eq!(instructions(PART), Ok(5884));
        assert_eq!(instructions(&PART.replace("totals: 5884", "")), Ok(5884));
        assert_eq!(instructions("events: Ir Dr Dw\ntotals: 7 8 9\n"), Ok(7));
    }

    #[test]
    fn other_text_is_an_error() {
        assert!(instructions("").is_err());
        assert!(instructions("totals: many\n").is_err());
        assert!(instructions("events: Ge Ir\ntotals: 1 2\n").is_err());
    }

    #[test]
    fn labels_are_read() {
        assert_eq!(
            labels("1\ta/b c/d\n50\te/f/g\n"),
            Ok(vec![(1, "a/b c/d"), (50, "e/f/g")])
        );
        assert!(labels("no tab\n").is_err());
        assert!(labels("x\tname\n").is_err());
    }
}
