//! Counts and their output.

use polywire::schema::{Map, Value};
use polywire_nostr::Reason;

use super::work::Outcome;
use crate::nostr::lines::{Chunk, Inputs};
use crate::{Failure, print};

/// The counts of all lines.
#[derive(Debug, Default)]
pub(super) struct Tally {
    lines: u64,
    bytes: u64,
    blank: u64,
    valid: u64,
    /// Valid events with a repeated id.
    pub(super) repeated: u64,
    /// In the order of [`Reason::ALL`].
    reasons: Vec<Row>,
}

/// The number of invalid lines with a reason, and the first of them.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    count: u64,
    file: usize,
    line: u64,
}

impl Tally {
    /// Adds a chunk. `lines_before` is the number of lines of its file before it.
    pub(super) fn add(&mut self, outcome: &Outcome, chunk: &Chunk, lines_before: u64) {
        self.lines += outcome.lines;
        self.bytes += chunk.bytes().len() as u64;
        self.blank += outcome.blank;
        self.valid += outcome.valid;
        self.reasons.resize(Reason::ALL.len(), Row::default());
        for (row, (count, first)) in self.reasons.iter_mut().zip(&outcome.reasons) {
            if row.count == 0 {
                row.file = chunk.file();
                row.line = lines_before + first;
            }
            row.count += count;
        }
    }

    pub(super) fn invalid(&self) -> u64 {
        self.reasons.iter().map(|row| row.count).sum()
    }

    /// Returns the reasons that occurred, the most frequent first.
    fn found(&self) -> Vec<(Reason, Row)> {
        let all = Reason::ALL
            .iter()
            .copied()
            .zip(self.reasons.iter().copied());
        let mut found: Vec<_> = all.filter(|(_, row)| row.count > 0).collect();
        found.sort_by_key(|(_, row)| std::cmp::Reverse(row.count));
        found
    }

    /// Formats a table of reasons and a line of counts.
    pub(super) fn to_text(&self, inputs: &Inputs, unique: bool, shown: u64) -> String {
        let found = self.found();
        let mut text = String::new();
        if !found.is_empty() {
            let rows: Vec<[String; 4]> =
                std::iter::once(["reason", "count", "first line", "meaning"])
                    .map(|row| row.map(str::to_owned))
                    .chain(found.iter().map(|(reason, row)| {
                        [
                            reason.code().to_owned(),
                            grouped(row.count),
                            format!("{}:{}", inputs.name(row.file), row.line),
                            reason.text().to_owned(),
                        ]
                    }))
                    .collect();
            let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
            let [first, second, third] = [0, 1, 2].map(|column| width(column).unwrap_or_default());
            for [code, count, place, meaning] in &rows {
                text.push_str(&format!(
                    "{code:first$}  {count:>second$}  {place:third$}  {meaning}\n"
                ));
            }
            text.push('\n');
        }
        let mut counts = format!(
            "{} lines: {} valid, {} invalid",
            grouped(self.lines),
            grouped(self.valid),
            grouped(self.invalid()),
        );
        if self.blank > 0 {
            counts.push_str(&format!(", {} blank", grouped(self.blank)));
        }
        if unique {
            counts.push_str(&format!(", {} repeated", grouped(self.repeated)));
        }
        text.push_str(&counts);
        if shown < self.invalid() {
            text.push_str(&format!(
                "; errors of {shown} invalid lines are shown, --all shows all"
            ));
        }
        text.push('\n');
        text
    }

    /// Formats the same as one line of JSON.
    pub(super) fn to_json(&self, inputs: &Inputs, unique: bool) -> Result<String, Failure> {
        let number = |number: u64| Value::from(i64::try_from(number).unwrap_or(i64::MAX));
        let rows = self.found().into_iter().map(|(reason, row)| {
            Value::Map(Map::from_iter([
                ("reason", Value::from(reason.code())),
                ("count", number(row.count)),
                ("file", Value::from(&*inputs.name(row.file))),
                ("line", number(row.line)),
                ("meaning", Value::from(reason.text())),
            ]))
        });
        let rows: Vec<Value> = rows.collect();
        let mut object = Map::from_iter([
            ("lines", number(self.lines)),
            ("bytes", number(self.bytes)),
            ("valid", number(self.valid)),
            ("invalid", number(self.invalid())),
            ("blank", number(self.blank)),
        ]);
        if unique {
            object.insert("repeated", number(self.repeated));
        }
        object.insert("reasons", Value::List(rows));
        print::json(&Value::Map(object))
    }
}

/// Formats a number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let texts = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }
}
