//! docs/xmlrpc.md names what there is.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire::codec::xmlrpc::Leniency;

#[test]
fn every_leniency_has_its_row() {
    let page = include_str!("../../../docs/xmlrpc.md");
    let section = page
        .split("\n## ")
        .find(|part| part.starts_with("Leniencies"));
    let rows: Vec<&str> = section
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    assert_eq!(rows, Leniency::NAMES);
}
