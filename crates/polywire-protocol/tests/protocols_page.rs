//! Checks that the tests and cases in the tables of `docs/protocols.md` exist.
//!
//! Official cases are looked up in the suites, if these are present.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and says what it counts"
)]

use std::collections::HashSet;
use std::path::Path;

use polywire_model::{Loader, Model, Node};
use polywire_protocol::ProtocolKind;
use test_data::{Missing, suite};

test_data::tests! {
    every_protocol_is_on_the_page,
    tests_exist,
    cases_exist,
}

/// The columns after the feature: the side that runs a case, the traits with cases, and the name of
/// the side in the list of exceptions.
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

type Column = (&'static str, &'static [&'static str], &'static str);

/// A cell with the name of a case or, with `::`, of a test.
struct Cell {
    kind: ProtocolKind,
    column: Column,
    name: String,
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The cells of all tables, without empty ones.
fn cells() -> Vec<Cell> {
    let page = std::fs::read_to_string(root().join("docs/protocols.md")).unwrap();
    let mut kind = None;
    let mut found = Vec::new();
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
            found.push(Cell {
                kind: kind.unwrap(),
                column,
                name: name.to_owned(),
            });
        }
    }
    found
}

fn every_protocol_is_on_the_page() {
    let told: HashSet<ProtocolKind> = cells().iter().map(|cell| cell.kind).collect();
    for kind in ProtocolKind::ALL {
        assert!(told.contains(&kind), "nothing is said of {kind}");
    }
}

fn tests_exist() {
    let cells = cells();
    let tests = cells.iter().filter_map(|cell| cell.name.split_once("::"));
    for (file, function) in tests {
        is_a_test(root(), file, function);
    }
    println!("{} cells", cells.len());
}

fn is_a_test(root: &Path, file: &str, function: &str) {
    let path = match file.starts_with("tests/") {
        true => root.join(file),
        false => root.join("crates").join(file),
    };
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

/// The cases are in the suites and not in the list of exceptions. Older suites lack the cases of
/// Smithy protocols.
fn cases_exist() -> Result<(), Missing> {
    let cells = cells();
    let named = cells.iter().filter(|cell| !cell.name.contains("::"));
    let exceptions = include_str!("conformance/exceptions.txt");
    for Cell { kind, column, name } in named.clone() {
        let excepted = format!("{kind} | {} | {name} |", column.2);
        assert!(
            !exceptions.contains(&excepted),
            "{excepted} is an exception"
        );
    }
    let load = |folder| Loader::new().add_dir(folder).assemble().unwrap().model;
    let models = [load(suite("aws")?), load(suite("smithy")?)];
    let is_old = !cases(&models, &["httpRequestTests"])
        .any(|case| is(case, "protocol", ProtocolKind::RpcV2Json.id()));
    let (mut found, mut absent) = (0, 0);
    for Cell { kind, column, name } in named {
        let (side, traits, what) = *column;
        let has_case = cases(&models, traits).any(|case| {
            is(case, "id", name)
                && is(case, "protocol", kind.id())
                && (case.get("appliesTo").is_none() || is(case, "appliesTo", side))
        });
        match has_case {
            true => found += 1,
            false if is_old && kind.id().starts_with("smithy.protocols#") => absent += 1,
            false => panic!("{kind} has no case {name} for {what}"),
        }
    }
    println!("{found} cases");
    match absent {
        0 => Ok(()),
        _ => Err(Missing::part(format!(
            "the suites are too old to have {absent} of the cases"
        ))),
    }
}

/// Returns whether a member of a case is this text.
fn is(case: &Node, member: &str, text: &str) -> bool {
    case.get(member).and_then(Node::as_str) == Some(text)
}

/// Returns the cases in traits of shapes.
fn cases<'m>(models: &'m [Model], traits: &'m [&str]) -> impl Iterator<Item = &'m Node> {
    let shapes = models.iter().flat_map(Model::shapes);
    shapes.flat_map(move |shape| {
        let ids = traits.iter().map(|name| format!("smithy.test#{name}"));
        let nodes = ids.filter_map(|id| shape.traits().get(&id));
        nodes.flat_map(|node| node.as_array().unwrap_or_default())
    })
}
