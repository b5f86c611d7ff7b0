//! `docs/protocols.md` is true: what its tables name exists and passes.
//!
//! The official suites are looked for as the test `conformance` does; without
//! them only tests and exceptions are looked at.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and says what it skips"
)]

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use polywire_protocol::ProtocolKind;
use serde_json::Value as Json;

/// The columns behind the feature: whose side a case is tried on, which traits
/// have it, and what the list of exceptions calls it.
const COLUMNS: [(&str, &[&str], &str); 4] = [
    ("client", &["httpRequestTests"], "client request"),
    (
        "server",
        &["httpRequestTests", "httpMalformedRequestTests"],
        "server request",
    ),
    ("server", &["httpResponseTests"], "server response"),
    ("client", &["httpResponseTests"], "client response"),
];

#[test]
fn the_page_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/protocols.md")).unwrap();
    let suites = suites();
    if suites.is_none() {
        println!("skipped: whether cases exist, for there are no official suites");
    }
    let mut kind = None;
    let mut told = HashSet::new();
    let mut count = 0;
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            kind = ProtocolKind::from_name(name);
            assert!(kind.is_some(), "{name} is no protocol");
            continue;
        }
        let Some(row) = line
            .strip_prefix("| ")
            .and_then(|row| row.strip_suffix(" |"))
        else {
            continue;
        };
        let cells: Vec<&str> = row.split(" | ").collect();
        if cells[0] == "feature" {
            continue;
        }
        let kind = kind.unwrap();
        assert_eq!(cells.len(), 5, "{line}");
        assert!(cells[1..].iter().any(|cell| *cell != "—"), "{line}");
        for (cell, column) in cells[1..].iter().zip(COLUMNS) {
            if *cell == "—" {
                continue;
            }
            let name = cell
                .strip_prefix('`')
                .and_then(|cell| cell.strip_suffix('`'));
            let name = name.unwrap_or_else(|| panic!("{cell} in {line}"));
            match name.split_once("::") {
                Some((file, function)) => is_a_test(&root, file, function),
                None => is_a_case(suites.as_deref(), kind, name, column),
            }
            told.insert(kind);
            count += 1;
        }
    }
    for kind in ProtocolKind::ALL {
        assert!(told.contains(&kind), "nothing is said of {kind}");
    }
    println!("{count} cells");
}

fn is_a_test(root: &Path, file: &str, function: &str) {
    let path = root.join("crates").join(file);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (before, _) = text
        .split_once(&format!("fn {function}()"))
        .unwrap_or_else(|| panic!("no test {function} in {file}"));
    let attribute = before.trim_end().trim_end_matches("async").trim_end();
    assert!(
        attribute.ends_with("test]"),
        "{function} of {file} is no test"
    );
}

type Column = (&'static str, &'static [&'static str], &'static str);

fn is_a_case(suites: Option<&[Json]>, kind: ProtocolKind, name: &str, column: Column) {
    let (side, traits, what) = column;
    let exceptions = include_str!("conformance/exceptions.txt");
    let excepted = format!("{kind} | {what} | {name} |");
    assert!(
        !exceptions.contains(&excepted),
        "{excepted} is an exception"
    );
    let Some(suites) = suites else { return };
    let shapes = suites
        .iter()
        .filter_map(|suite| suite["shapes"].as_object());
    let found = shapes.flatten().any(|(_, shape)| {
        traits.iter().any(|own| {
            let cases = shape["traits"][format!("smithy.test#{own}")].as_array();
            cases.into_iter().flatten().any(|case| {
                case["id"] == name
                    && case["protocol"] == kind.id()
                    && case["appliesTo"].as_str().is_none_or(|own| own == side)
            })
        })
    });
    assert!(found, "{kind} has no case {name} for {what}");
}

fn suites() -> Option<Vec<Json>> {
    let folder = std::env::var_os("POLYWIRE_CONFORMANCE").map_or_else(
        || {
            PathBuf::from(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../../shared/conformance"
            ))
        },
        PathBuf::from,
    );
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    };
    ["aws-protocol-tests.json", "smithy-protocol-tests.json"]
        .into_iter()
        .map(read)
        .collect()
}
