//! docs/COVERAGE.md counts its rows as they are, and the tests that it names exist.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../../docs/COVERAGE.md");

/// A row of one of the systems.
struct Row<'p> {
    id: &'p str,
    shown: &'p str,
}

/// The cells of a line of a table.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim().trim_matches('|');
    line.split(" | ").map(str::trim).collect()
}

fn rows() -> Vec<Row<'static>> {
    let is_id = |cell: &str| {
        let (system, number) = cell.split_once('-').unwrap_or_default();
        let letters = system.bytes().all(|byte| byte.is_ascii_uppercase());
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        !system.is_empty() && letters && !number.is_empty() && digits
    };
    let tables = PAGE.lines().filter(|line| line.starts_with("| "));
    let rows = tables.map(cells).filter(|cells| is_id(cells[0]));
    rows.map(|cells| {
        assert_eq!(cells.len(), 5, "{}", cells[0]);
        Row {
            id: cells[0],
            shown: cells[3],
        }
    })
    .collect()
}

#[test]
fn rows_are_counted_and_numbered() {
    // Rows, shown, nothing to show, open.
    let mut counts = BTreeMap::<&str, [usize; 4]>::new();
    for row in rows() {
        let (system, number) = row.id.split_once('-').unwrap();
        let count = counts.entry(system).or_default();
        count[0] += 1;
        assert_eq!(number.parse(), Ok(count[0]), "{}: numbers go on", row.id);
        let place = match row.shown {
            "–" => 2,
            shown if shown.starts_with("not yet") => 3,
            _ => 1,
        };
        count[place] += 1;
    }
    let told = |title: &str| {
        let start = format!("| {title} | ");
        let line = PAGE.lines().find(|line| line.starts_with(&start)).unwrap();
        let numbers = cells(line).into_iter().skip(1);
        let numbers = numbers.map(|cell| cell.parse().unwrap());
        numbers.collect::<Vec<usize>>()
    };
    let mut all = [0; 4];
    for (title, system) in [
        ("libiqxmlrpc", "IQ"),
        ("UVRPC", "UV"),
        ("orly", "OR"),
        ("smithy-java", "SJ"),
    ] {
        assert_eq!(told(title), counts[system], "{title}");
        for (sum, count) in all.iter_mut().zip(counts[system]) {
            *sum += count;
        }
    }
    assert_eq!(counts.len(), 4);
    assert_eq!(told("all"), all);
}

/// All Rust below a folder, and the names of its files.
fn sources(folder: &Path, out: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|end| end == "rs") {
            out.push_str(path.file_stem().unwrap().to_str().unwrap());
            out.push('\n');
            out.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn tests_that_are_named_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut read = BTreeMap::<&str, String>::new();
    let mut commands = 0;
    for row in rows() {
        for command in row
            .shown
            .split('`')
            .filter(|part| part.starts_with("cargo test"))
        {
            let mut words = command.split(' ').skip_while(|word| *word != "-p").skip(1);
            let package = words.next().unwrap();
            let folder: PathBuf = match package {
                "polywire-gate" => root.join("bench/gate"),
                "polywire-gate-nostr" => root.join("bench/gate-nostr"),
                "polywire-interop" => root.join("tests/interop"),
                package => root.join("crates").join(package),
            };
            let sources = read.entry(package).or_insert_with(|| {
                let mut text = String::new();
                sources(&folder, &mut text);
                text
            });
            commands += 1;
            // What filters, and what `--test` names: a part of the path of a test.
            let mut value_of_option = false;
            for word in words {
                if word == "--features" {
                    value_of_option = true;
                    continue;
                }
                if word.starts_with("--") || std::mem::take(&mut value_of_option) {
                    continue;
                }
                for part in word.split("::").filter(|part| !part.is_empty()) {
                    assert!(sources.contains(part), "{}: no {part} in {package}", row.id);
                }
            }
        }
    }
    assert!(commands > 50, "{commands}");
}
