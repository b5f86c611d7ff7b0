//! `docs/nostr.md` lists all reasons with their texts.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::Reason;

#[test]
fn page_lists_all_reasons() {
    let page = include_str!("../../../docs/nostr.md");
    let mut table = String::from("| code | meaning |\n|---|---|\n");
    for reason in Reason::ALL {
        table += &format!("| `{}` | {} |\n", reason.code(), reason.text());
    }
    // The next section follows the table, so it has no further rows.
    table += "\n## ";
    assert!(page.contains(&table), "the table should be:\n{table}");
}
